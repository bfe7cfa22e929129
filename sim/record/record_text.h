/* sim/record/record_text.h -- a text as a field of a CSV line, written at a bare cursor (sim/record/record_line.h).
 *
 * Law: the bytes are those of buffer_csv (RFC 4180, visible), and the comma behind them.
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
#include <string.h>

#include "base/text.h"

/* The most bytes that a text takes: quotes around it, each byte as three, the comma. */
static inline size_t line_text_room(struct text text)
{
    return 3 * text.length + 3;
}

/* With a character that is not written as it is. */
static inline char *line_escaped(char *at, struct text text)
{
    const bool is_quoted = memchr(text.at, ',', text.length) != NULL || memchr(text.at, '"', text.length) != NULL;
    char room[4];
    size_t bytes;
    if (is_quoted)
        *at++ = '"';
    for (; text.length != 0; text = (struct text){text.at + bytes, text.length - bytes}) {
        const struct text shown = text_visible(text, &bytes, room);
        if (shown.at[0] == '"')
            *at++ = '"';
        memcpy(at, shown.at, shown.length);
        at += shown.length;
    }
    if (is_quoted)
        *at++ = '"';
    *at++ = ',';
    return at;
}

static inline char *line_text(char *at, struct text text)
{
    bool is_suspect = false;
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.at[i];
        at[i] = text.at[i];
        is_suspect |= c < 0x20 || c == '"' || c == ',' || c >= 0x7F;
    }
    if (is_suspect)
        return line_escaped(at, text);
    at[text.length] = ',';
    return at + text.length + 1;
}

#endif
