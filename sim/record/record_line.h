/* sim/record/record_line.h -- fields of a CSV line, written at a bare cursor.
 *
 * base/buffer.h asks for room at every number; a row has some 25 of them and millions of rows are written, so here
 * the caller reserves for a whole row once and the rest are plain stores.  Each function writes its value and the
 * comma behind it and gives the place behind that; it may overwrite LINE_NUMBER_CHARS_MAX bytes.  The digits are
 * those that buffer_int and buffer_scaled give.
 *
 *   char *at = buffer_reserve(buffer, 2 * LINE_NUMBER_CHARS_MAX);
 *   at = line_uint(at, row->id);
 *   at = line_ns(at, &times[START], row->start);
 *   line_end(at, buffer);
 */
#ifndef SIM_RECORD_RECORD_LINE_H
#define SIM_RECORD_RECORD_LINE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/time.h"

enum {
    LINE_NUMBER_CHARS_MAX = 32, /* sign, 20 digits, point, comma; and bytes that are stored beyond the end */
    LINE_EIGHT_END = 100000000, /* the first number of nine digits */
};

/* Up to eight characters, the first in the lowest byte. */
struct line_piece {
    uint64_t chars;
    uint64_t length;
};

/* A time as text, kept to be written again: a job often starts when it comes, and an attempt's line holds the times of
 * its job's.  {0}: none. */
struct line_time {
    int64_t ns; /* 0: none; zero is written without this */
    uint64_t length;
    char text[LINE_NUMBER_CHARS_MAX]; /* with its comma */
};

/* Turn the last comma into the end of the line. */
static inline void line_end(char *at, struct buffer *buffer)
{
    at[-1] = '\n';
    buffer->length = (size_t)(at - buffer->bytes);
}

/* ---- digits ---- */

/* The digits of a number below 10^8, one per byte, the first in the lowest byte.  Splits into halves, quarters,
 * eighths; the products are quotients by 100 (below 10^4) and by 10 (below 100). */
static inline uint64_t line_eight(uint32_t value)
{
    uint64_t halves = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t hundreds = (halves * 10486 >> 20) & UINT64_C(0x0000007f0000007f);
    uint64_t quarters = hundreds | (halves - hundreds * 100) << 16;
    uint64_t tens = (quarters * 103 >> 10) & UINT64_C(0x000f000f000f000f);
    return tens | (quarters - tens * 10) << 8;
}

#define LINE_ZEROS UINT64_C(0x3030303030303030) /* "00000000" */

/* Without leading zeros; 0 is one digit. */
static inline struct line_piece line_whole(uint32_t value)
{
    uint64_t digits = line_eight(value);
    unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;
    return (struct line_piece){(digits | LINE_ZEROS) >> 8 * zeros, 8 - zeros};
}

/* The digits of value / 10^8, without trailing zeros; none for 0. */
static inline struct line_piece line_fraction(uint32_t value)
{
    uint64_t digits = line_eight(value);
    unsigned zeros = value == 0 ? 8 : (unsigned)__builtin_clzll(digits) / 8;
    return (struct line_piece){digits | LINE_ZEROS, 8 - zeros};
}

static inline char *line_piece(char *at, struct line_piece piece)
{
    uint64_t chars = htole64(piece.chars);
    memcpy(at, &chars, sizeof chars);
    return at + piece.length;
}

/* Write a point and the fraction, unless it is empty, and the comma. */
static inline char *line_rest(char *at, struct line_piece fraction)
{
    if (fraction.length != 0) {
        *at++ = '.';
        at = line_piece(at, fraction);
    }
    *at++ = ',';
    return at;
}

/* Write any number without a comma, with leading zeros up to `least` digits. */
static inline char *line_digits(char *at, uint64_t value, unsigned least)
{
    char text[20];
    unsigned count = 0;
    do {
        text[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0 || count < least);
    while (count > 0)
        *at++ = text[--count];
    return at;
}

/* ---- fields ---- */

static inline char *line_uint(char *at, uint64_t value)
{
    if (value < 10) {
        at[0] = (char)('0' + value);
        at[1] = ',';
        return at + 2;
    }
    at = value < LINE_EIGHT_END ? line_piece(at, line_whole((uint32_t)value)) : line_digits(at, value, 1);
    *at++ = ',';
    return at;
}

/* Write the sign; *magnitude: the number without it. */
static inline char *line_sign(char *at, int64_t value, uint64_t *magnitude)
{
    *magnitude = value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value;
    *at = '-';
    return at + (value < 0);
}

static inline char *line_int(char *at, int64_t value)
{
    uint64_t magnitude;
    at = line_sign(at, value, &magnitude);
    return line_uint(at, magnitude);
}

static inline char *line_milli(char *at, int64_t milli)
{
    uint64_t magnitude;
    at = line_sign(at, milli, &magnitude);
    at = line_uint(at, magnitude / 1000);
    if (magnitude % 1000 == 0)
        return at;
    return line_rest(at - 1, line_fraction((uint32_t)(magnitude % 1000) * 100000));
}

/* For a time with more digits than two pieces hold, or a sign. */
static inline char *line_long_ns(char *at, int64_t ns)
{
    uint64_t magnitude;
    at = line_sign(at, ns, &magnitude);
    at = line_digits(at, magnitude / TIME_NS_PER_S, 1);
    if (magnitude % TIME_NS_PER_S != 0) {
        *at++ = '.';
        at = line_digits(at, magnitude % TIME_NS_PER_S, 9);
        while (at[-1] == '0')
            at--;
    }
    *at++ = ',';
    return at;
}

/* Not inlined, so that in line_ns, which is inlined, little more than the copy of the text is left. */
static __attribute__((noinline, unused)) void line_time_set(struct line_time *time, int64_t ns)
{
    uint64_t whole = (uint64_t)ns / TIME_NS_PER_S, fraction = (uint64_t)ns % TIME_NS_PER_S;
    char *end;
    if (whole >= LINE_EIGHT_END || fraction % 10 != 0)
        end = line_long_ns(time->text, ns);
    else
        end = line_rest(line_piece(time->text, line_whole((uint32_t)whole)), line_fraction((uint32_t)(fraction / 10)));
    time->ns = ns;
    time->length = (uint64_t)(end - time->text);
}

/* Write nanoseconds (or GPU-nanoseconds) as seconds.  time: may hold this time as text; it does afterwards. */
static inline __attribute__((always_inline)) char *line_ns(char *at, struct line_time *time, int64_t ns)
{
    if (ns == 0) {
        memcpy(at, "0,", 2);
        return at + 2;
    }
    if (ns != time->ns)
        line_time_set(time, ns);
    memcpy(at, time->text, sizeof time->text);
    return at + time->length;
}

/* Write nothing for TIME_NEVER. */
static inline char *line_moment(char *at, struct line_time *time, time_ns moment)
{
    if (moment == TIME_NEVER) {
        *at++ = ',';
        return at;
    }
    return line_ns(at, time, moment);
}

/* A text that needs no quotes. */
static inline char *line_word(char *at, const char *word, size_t length)
{
    memcpy(at, word, length);
    at[length] = ',';
    return at + length + 1;
}

#endif
