/* sim/record_line.h -- fields of a CSV line, written through a bare cursor.
 *
 * base/buffer.h asks for room at every number; a row has some 25 of them and millions of rows are written, so here
 * the caller reserves for a whole row once (line_begin) and the rest are plain stores.  Each function writes
 * its value and the comma behind it.  The digits are those that buffer_int and buffer_scaled give.
 */
#ifndef SIM_RECORD_LINE_H
#define SIM_RECORD_LINE_H

#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/time.h"

enum { LINE_NUMBER_CHARS_MAX = 32 }; /* sign, 20 digits, point, comma; and what is stored ahead */

struct line {
    char *at;
    int64_t ns;          /* the last time written by line_ns, ... */
    const char *ns_text; /* ...where it stands; NULL: none yet */
    size_t ns_length;    /* ...with its comma */
};

static const char line_digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                       "25262728293031323334353637383940414243444546474849"
                                       "50515253545556575859606162636465666768697071727374"
                                       "75767778798081828384858687888990919293949596979899";

/* Room for so many numbers and so many bytes of text (quotes included). */
static inline struct line line_begin(struct buffer *buffer, size_t numbers, size_t text_bytes)
{
    return (struct line){.at =
                             buffer_reserve(buffer, numbers * LINE_NUMBER_CHARS_MAX + text_bytes)};
}

/* The last comma becomes the end of the line. */
static inline void line_end(struct line *line, struct buffer *buffer)
{
    line->at[-1] = '\n';
    buffer->length = (size_t)(line->at - buffer->bytes);
}

static inline unsigned line_digit_count(uint64_t value)
{
    unsigned count = 1;
    for (; value >= 10000; value /= 10000)
        count += 4;
    return count + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Exactly `count` digits, zeros in front. */
static inline void line_digits(char *at, uint64_t value, unsigned count)
{
    for (; count >= 2; value /= 100) {
        count -= 2;
        memcpy(at + count, line_digit_pairs + 2 * (value % 100), 2);
    }
    if (count == 1)
        *at = (char)('0' + value % 10);
}

static inline void line_uint(struct line *line, uint64_t value)
{
    unsigned count = line_digit_count(value);
    line_digits(line->at, value, count);
    line->at[count] = ',';
    line->at += count + 1;
}

static inline void line_int(struct line *line, int64_t value)
{
    uint64_t magnitude = (uint64_t)value;
    if (value < 0) {
        *line->at++ = '-';
        magnitude = UINT64_C(0) - magnitude;
    }
    line_uint(line, magnitude);
}

/* `fraction` of 10^digits behind the number just written, without trailing zeros. */
static inline void line_fraction(struct line *line, uint64_t fraction, unsigned digits)
{
    line->at[-1] = '.';
    line_digits(line->at, fraction, digits);
    line->at += digits;
    while (line->at[-1] == '0')
        line->at--;
    *line->at++ = ',';
}

static inline void line_new_ns(struct line *line, int64_t ns)
{
    uint64_t magnitude = (uint64_t)ns;
    if (ns < 0) {
        *line->at++ = '-';
        magnitude = UINT64_C(0) - magnitude;
    }
    uint64_t fraction = magnitude % TIME_NS_PER_S;
    line_uint(line, magnitude / TIME_NS_PER_S);
    if (fraction == 0)
        return;
    if (fraction % 1000 == 0)
        line_fraction(line, fraction / 1000, 6);
    else
        line_fraction(line, fraction, 9);
}

/* Nanoseconds (or GPU-nanoseconds) as seconds; most are whole microseconds, and many repeat the field before (a job
 * that started when it came, work done in one go). */
static inline void line_ns(struct line *line, int64_t ns)
{
    if (line->ns_text != NULL && line->ns == ns) {
        memcpy(line->at, line->ns_text, line->ns_length);
        line->at += line->ns_length;
        return;
    }
    line->ns = ns;
    line->ns_text = line->at;
    line_new_ns(line, ns);
    line->ns_length = (size_t)(line->at - line->ns_text);
}

static inline void line_milli(struct line *line, int64_t milli)
{
    uint64_t magnitude = (uint64_t)milli;
    if (milli < 0) {
        *line->at++ = '-';
        magnitude = UINT64_C(0) - magnitude;
    }
    line_uint(line, magnitude / 1000);
    if (magnitude % 1000 != 0)
        line_fraction(line, magnitude % 1000, 3);
}

/* Empty where it does not apply. */
static inline void line_time(struct line *line, time_ns time)
{
    if (time == TIME_NEVER)
        *line->at++ = ',';
    else
        line_ns(line, time);
}

/* A text that needs no quotes. */
static inline void line_word(struct line *line, const char *word, size_t length)
{
    memcpy(line->at, word, length);
    line->at[length] = ',';
    line->at += length + 1;
}

#endif
