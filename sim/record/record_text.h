/* sim/record/record_text.h -- a text as a field of a CSV line, written at a bare cursor (sim/record/record_line.h).
 *
 * Law: the bytes are those of buffer_csv (RFC 4180), and the comma behind them.
 *
 *   char *at = buffer_reserve(buffer, line_text_room(name) + ...);
 *   at = line_text(at, name);
 *
 * It does not: reserve.  A name of ours, which needs no quotes, is a line_word.
 */
#ifndef SIM_RECORD_RECORD_TEXT_H
#define SIM_RECORD_RECORD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* The most bytes that a text takes: quotes around it, each byte doubled, the comma. */
static inline size_t line_text_room(struct text text)
{
    return 2 * text.length + 3;
}

static inline char *line_quoted(char *at, struct text text)
{
    *at++ = '"';
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] == '"')
            *at++ = '"';
        *at++ = text.at[i];
    }
    *at++ = '"';
    *at++ = ',';
    return at;
}

static inline bool line_wants_quotes(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.at[i];
        if (c == ',' || c == '"' || c == '\n' || c == '\r')
            return true;
    }
    return false;
}

static inline char *line_text(char *at, struct text text)
{
    bool is_suspect = false; /* no character that requires quotes is larger than a comma */
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.at[i];
        at[i] = text.at[i];
        is_suspect |= c <= ',';
    }
    if (is_suspect && line_wants_quotes(text))
        return line_quoted(at, text);
    at[text.length] = ',';
    return at + text.length + 1;
}

#endif
