/* base/buffer.h -- bytes that grow at the end, with fast formatting of numbers.
 *
 * Law: formatting does not depend on locale; a double is printed with the fewest
 * digits that read back to the same value.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

struct buffer {
    char *bytes; /* owned; not NUL-terminated (see buffer_c_string) */
    size_t length;
    size_t capacity;
}; /* {0} is empty */

static inline char *buffer_reserve(struct buffer *buffer, size_t bytes)
{
    if (buffer->length + bytes > buffer->capacity)
        MEM_GROW(buffer->bytes, buffer->capacity, buffer->length + bytes);
    return buffer->bytes + buffer->length;
}

static inline void buffer_char(struct buffer *buffer, char c)
{
    *buffer_reserve(buffer, 1) = c;
    buffer->length++;
}

static inline void buffer_bytes(struct buffer *buffer, const void *bytes, size_t length)
{
    if (length != 0)
        memcpy(buffer_reserve(buffer, length), bytes, length);
    buffer->length += length;
}

static inline void buffer_text(struct buffer *buffer, struct text text)
{
    buffer_bytes(buffer, text.at, text.length);
}

void buffer_string(struct buffer *buffer, const char *c_string);
void buffer_int(struct buffer *buffer, int64_t value);
void buffer_format(struct buffer *buffer, const char *format, ...) LIKE_PRINTF(2, 3);

/* `value` / `scale` (a power of ten) as a decimal without trailing zeros: 1500/1000 -> "1.5". */
void buffer_scaled(struct buffer *buffer, int64_t value, int64_t scale);

/* Shortest decimal that reads back to `value`; infinities and NaN become "null". */
void buffer_double(struct buffer *buffer, double value);

/* The bits of a set that is not empty, as "0-3,6". */
void buffer_indices(struct buffer *buffer, uint16_t set);

/* A JSON string with quotes; '<' is escaped too, so that it may stand inside HTML. */
void buffer_json(struct buffer *buffer, struct text text);

/* A piece of JSON: ' stands for a quotation mark; %s is a string, escaped and quoted (NULL: null), %g a number as
 * buffer_double writes it, %zu %llu %lld %u %d integers, %.9lld such as buffer_scaled writes it (here billionths),
 * %hhd a truth value.  The compiler checks the types.  Right behind { or [ a comma at the beginning, and a space behind
 * it, are left out, so that the first member or item is written like the others.
 *   buffer_members(out, "{'name': %s, 'mean': %g, 'n': %zu, 'of': [", name, mean, n);
 *   for (size_t i = 0; i < count; i++)
 *       buffer_members(out, ", %s", names[i]); */
void buffer_members(struct buffer *buffer, const char *json, ...) LIKE_PRINTF(2, 3);

/* Each format has one function for the names that stand in it, and no writer escapes them itself:
 *   JSON buffer_json; CSV buffer_csv, and line_text (sim/record/record_text.h) with the same bytes; HTML, XML and SVG
 *   buffer_html; OpenMetrics buffer_label; a line of another text file, such as SWF's comments, buffer_visible; a
 *   terminal buffer_shown; a command line of a shell buffer_shell.  SQL gets values, not text.
 * tests/cli/names.sh writes names of all kinds in all formats and reads them back. */

/* As text_visible: no control character, and UTF-8. */
void buffer_visible(struct buffer *buffer, struct text text);

/* One word of a command line for sh: as it is, or in single quotes. */
void buffer_shell(struct buffer *buffer, struct text word);

/* One CSV field after RFC 4180, quoted where needed, and visible. */
void buffer_csv(struct buffer *buffer, struct text text);

/* A label's value in OpenMetrics, with its quotes. */
void buffer_label(struct buffer *buffer, struct text text);

/* Text for HTML and XML: & < > " ' escaped, and visible, but for newlines and tabs. */
void buffer_html(struct buffer *buffer, struct text text);

/* Text for a terminal: names from strangers may hold characters that control it.  These become '?', but for newlines
 * and tabs (text_shown_bytes). */
void buffer_shown(struct buffer *buffer, struct text text);

/* The bytes with a NUL behind them (borrowed until the next change). */
const char *buffer_c_string(struct buffer *buffer);
void buffer_release(struct buffer *buffer);

#endif
