/* base/text.c -- see base/text.h. */
#include "base/text.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct text text_of(const char *c_string)
{
    if (c_string == NULL)
        return TEXT("");
    return (struct text){c_string, strlen(c_string)};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

struct text text_trim(struct text text)
{
    while (text.length != 0 && is_blank(text.at[0])) {
        text.at++;
        text.length--;
    }
    while (text.length != 0 && is_blank(text.at[text.length - 1]))
        text.length--;
    return text;
}

bool text_cut(struct text *rest, char separator, struct text *piece)
{
    if (rest->at == NULL)
        return false;
    piece->at = rest->at;
    const char *found = rest->length != 0 ? memchr(rest->at, separator, rest->length) : NULL;
    if (found == NULL) {
        piece->length = rest->length;
        *rest = (struct text){NULL, 0};
        return true;
    }
    piece->length = (size_t)(found - rest->at);
    rest->at = found + 1;
    rest->length -= piece->length + 1;
    return true;
}

size_t text_utf8_bytes(struct text text)
{
    if (text.length == 0)
        return 0;
    const unsigned char *at = (const unsigned char *)text.at;
    if (at[0] < 0x80)
        return 1;
    /* RFC 3629, section 4: the lead byte restricts the second byte, which excludes over-long forms, surrogates and
     * characters above U+10FFFF. */
    size_t bytes;
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    if (at[0] >= 0xC2 && at[0] <= 0xDF) {
        bytes = 2;
    } else if (at[0] >= 0xE0 && at[0] <= 0xEF) {
        bytes = 3;
        low = at[0] == 0xE0 ? 0xA0 : low;
        high = at[0] == 0xED ? 0x9F : high;
    } else if (at[0] >= 0xF0 && at[0] <= 0xF4) {
        bytes = 4;
        low = at[0] == 0xF0 ? 0x90 : low;
        high = at[0] == 0xF4 ? 0x8F : high;
    } else {
        return 0;
    }
    if (text.length < bytes || at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < bytes; i++)
        if (at[i] < 0x80 || at[i] > 0xBF)
            return 0;
    return bytes;
}

size_t text_shown_bytes(struct text text, bool *is_shown)
{
    const size_t bytes = text_utf8_bytes(text);
    const unsigned char first = (unsigned char)text.at[0];
    /* 0xC2 0x80..0x9F are the C1 controls U+0080..U+009F */
    const bool is_c1 = bytes == 2 && first == 0xC2 && (unsigned char)text.at[1] < 0xA0;
    *is_shown = bytes != 0 && first >= 0x20 && first != 0x7F && !is_c1;
    return bytes != 0 ? bytes : 1;
}

size_t text_plain_bytes(struct text text)
{
    size_t bytes = 0;
    for (; bytes < text.length; bytes++) {
        const char c = text.at[bytes];
        if (c < ' ' || c > '~' || c == '&' || c == '<' || c == '>' || c == '"' || c == '\'')
            break;
    }
    return bytes;
}

struct text text_visible(struct text text, size_t *bytes, char room[4])
{
    bool is_shown;
    const unsigned char first = (unsigned char)text.at[0];
    *bytes = text_shown_bytes(text, &is_shown);
    const bool is_no_character =
        *bytes == 3 && memcmp(text.at, "\xef\xbf", 2) == 0 && (unsigned char)text.at[2] >= 0xBE;
    if (is_shown && !is_no_character) /* U+FFFE and U+FFFF: XML cannot hold them */
        return (struct text){text.at, *bytes};
    const bool is_c0 = *bytes == 1 && (first < 0x20 || first == 0x7F);
    memcpy(room, is_c0 ? "\xe2\x90" : "\xef\xbf\xbd", is_c0 ? 2 : 3);
    if (is_c0)
        room[2] = (char)(0x80 + (first == 0x7F ? 0x21 : first));
    return (struct text){room, 3};
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Above 9: it is no digit. */
static inline unsigned digit_of(char c)
{
    return (unsigned)(unsigned char)c - '0';
}

/* Four characters, the first in the lowest byte. */
static inline uint64_t four_at(const char *at)
{
    uint32_t four;
    memcpy(&four, at, sizeof four);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    four = __builtin_bswap32(four);
#endif
    return four;
}

enum { DIGITS_FIT = 18 }; /* a number of 18 digits always fits an int64_t */

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The number of 4 to 8 digits, without a loop: the characters move to the upper end of a word, neighbours are joined to
 * bytes of 0..99, and these to the number.  A twentieth of the cost of reading a row is saved.  False: another
 * character is among them. */
static inline bool digits_four_to_eight(const char *at, size_t length, int64_t *out)
{
    const unsigned missing_bits = 8 * (8 - (unsigned)length);
    const uint64_t both = four_at(at + length - 4) << 32 | four_at(at) << missing_bits;
    uint64_t digits = both ^ (EACH_BYTE('0') << missing_bits); /* 0..9 of digits, and of nothing else */
    if (((digits | (digits + EACH_BYTE(0x80 - 10))) & EACH_BYTE(0x80)) != 0)
        return false;
    digits = digits * 10 + (digits >> 8); /* bytes 0, 2, 4, 6 are pairs, the first one the highest */
    const uint64_t pairs = UINT64_C(0x000000ff000000ff);
    *out = (int64_t)(((digits & pairs) * (100 + (UINT64_C(1000000) << 32)) +
                      (digits >> 16 & pairs) * (1 + (UINT64_C(10000) << 32))) >>
                     32);
    return true;
}

/* The number of up to 18 digits without a sign.  False: the text is something else. */
static inline bool digits_few(struct text text, size_t length_max, int64_t *out)
{
    const char *at = text.at;
    int64_t value = 0, last;
    if (text.length - 1 >= length_max) /* none, or more */
        return false;
    if (text.length >= 4) {
        for (; text.length > 8; text.length--, at++) {
            if (digit_of(*at) > 9)
                return false;
            value = value * 10 + digit_of(*at);
        }
        if (!digits_four_to_eight(at, text.length, &last))
            return false;
        *out = value * 100000000 + last;
        return true;
    }
    do {
        if (digit_of(*at) > 9)
            return false;
        value = value * 10 + digit_of(*at++);
    } while (--text.length != 0);
    *out = value;
    return true;
}

/* An integer of any length, with or without a sign.  Not inline, so that its caller needs no registers to be saved. */
static __attribute__((noinline)) bool int64_any(struct text text, int64_t low, int64_t high, int64_t *out)
{
    if (text.length == 0)
        return false; /* at may be NULL then */
    const char *at = text.at;
    const char *end = at + text.length;
    bool is_negative = *at == '-';
    at += is_negative;
    if (at == end)
        return false;
    int64_t value = 0; /* negative, because INT64_MIN has no positive counterpart */
    for (; at != end; at++) {
        if (!is_digit(*at))
            return false;
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, *at - '0', &value))
            return false;
    }
    if (!is_negative && __builtin_sub_overflow(0, value, &value))
        return false;
    if (value < low || value > high)
        return false;
    *out = value;
    return true;
}

bool text_to_int64(struct text text, int64_t low, int64_t high, int64_t *out)
{
    int64_t value;
    if (!digits_few(text, DIGITS_FIT, &value))
        return int64_any(text, low, high, out);
    if (value < low || value > high)
        return false;
    *out = value;
    return true;
}

/* The parts of "-12.34e5", all borrowed from the text. */
struct decimal {
    bool is_negative;
    struct text whole;    /* "12", never empty */
    struct text fraction; /* "34", may be empty only if there is no point */
    int64_t exponent;     /* 5; a value above EXPONENT_MAX may be truncated */
};

/* With a larger exponent no text that fits into memory gives a number in range. */
#define EXPONENT_MAX (INT64_C(1) << 50)

static struct text take_digits(const char **at, const char *end)
{
    const char *start = *at;
    while (*at != end && is_digit(**at))
        ++*at;
    return (struct text){start, (size_t)(*at - start)};
}

static bool take_exponent(const char **at, const char *end, int64_t *exponent)
{
    bool is_negative = *at != end && **at == '-';
    if (*at != end && (**at == '-' || **at == '+'))
        ++*at;
    struct text digits = take_digits(at, end);
    if (digits.length == 0)
        return false;
    int64_t value = 0;
    for (size_t i = 0; i < digits.length && value < EXPONENT_MAX; i++)
        value = value * 10 + (digits.at[i] - '0');
    *exponent = is_negative ? -value : value;
    return true;
}

static bool decimal_split(struct text text, struct decimal *out)
{
    if (text.length == 0)
        return false;
    const char *at = text.at;
    const char *end = at + text.length;
    *out = (struct decimal){.is_negative = *at == '-'};
    at += out->is_negative;
    out->whole = take_digits(&at, end);
    if (out->whole.length == 0)
        return false;
    if (at != end && *at == '.') {
        at++;
        out->fraction = take_digits(&at, end);
        if (out->fraction.length == 0)
            return false;
    }
    if (at != end && (*at == 'e' || *at == 'E')) {
        at++;
        if (!take_exponent(&at, end, &out->exponent))
            return false;
    }
    return at == end;
}

/* Append a digit to *value, which is negative or 0.  False on overflow. */
static bool push_digit(int64_t *value, int digit)
{
    return !__builtin_mul_overflow(*value, 10, value) && !__builtin_sub_overflow(*value, digit, value);
}

/* The decimal with its point moved `shift` places to the right, rounded toward zero. */
static bool decimal_to_int64(const struct decimal *decimal, int64_t shift, int64_t *out)
{
    int64_t kept = (int64_t)decimal->whole.length + decimal->exponent + shift;
    size_t digit_count = decimal->whole.length + decimal->fraction.length;
    int64_t value = 0;
    for (size_t i = 0; i < digit_count && (int64_t)i < kept; i++) {
        bool is_whole = i < decimal->whole.length;
        char c = is_whole ? decimal->whole.at[i] : decimal->fraction.at[i - decimal->whole.length];
        if (!push_digit(&value, c - '0'))
            return false;
    }
    for (int64_t i = (int64_t)digit_count; value != 0 && i < kept; i++)
        if (!push_digit(&value, 0))
            return false;
    if (!decimal->is_negative && __builtin_sub_overflow(0, value, &value))
        return false;
    *out = value;
    return true;
}

/* Plain "123.45" with at most 18 digits, scaled: no check for overflow is needed.  False: the text has another form,
 * and needs the general function. */
static bool scaled_quick(struct text text, int64_t scale, int64_t *out)
{
    if (text.length == 0 || text.length > DIGITS_FIT || scale > 1000000000)
        return false;
    const char *at = text.at;
    const char *end = at + text.length;
    bool is_negative = *at == '-';
    at += is_negative;
    int64_t value = 0;
    const char *start = at;
    for (; at != end && is_digit(*at); at++)
        value = value * 10 + (*at - '0');
    if (at == start)
        return false;
    if (at != end) {
        if (*at++ != '.' || at == end)
            return false;
        for (; at != end && is_digit(*at) && scale >= 10; at++) {
            value = value * 10 + (*at - '0');
            scale /= 10;
        }
        while (at != end && is_digit(*at))
            at++;
        if (at != end)
            return false;
    }
    if (__builtin_mul_overflow(value, scale, &value))
        return false;
    *out = is_negative ? -value : value;
    return true;
}

static __attribute__((noinline)) bool scaled_any(struct text text, int64_t scale, int64_t *out)
{
    struct decimal decimal;
    if (scaled_quick(text, scale, out))
        return true;
    if (!decimal_split(text, &decimal))
        return false;
    int64_t shift = 0;
    for (int64_t rest = scale; rest >= 10; rest /= 10)
        shift++;
    return decimal_to_int64(&decimal, shift, out);
}

bool text_to_scaled(struct text text, int64_t scale, int64_t *out)
{
    enum { WHOLE_DIGITS = 9 }; /* times 10^9 they fit an int64_t */
    int64_t whole;
    if (!digits_few(text, WHOLE_DIGITS, &whole)) /* most amounts and times are whole */
        return scaled_any(text, scale, out);
    *out = whole * scale;
    return true;
}

/* 15 digits and 10^22 are exact in a double, so one multiplication or division rounds once and correctly (Clinger, "How
 * to read floating point numbers accurately", PLDI 1990). */
static bool double_quick(const struct decimal *decimal, double *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int64_t power = decimal->exponent - (int64_t)decimal->fraction.length;
    if (decimal->whole.length + decimal->fraction.length > 15 || power < -22 || power > 22)
        return false;
    int64_t digits = 0;
    for (size_t i = 0; i < decimal->whole.length; i++)
        digits = digits * 10 + (decimal->whole.at[i] - '0');
    for (size_t i = 0; i < decimal->fraction.length; i++)
        digits = digits * 10 + (decimal->fraction.at[i] - '0');
    double value = (double)digits;
    value = power < 0 ? value / powers[-power] : value * powers[power];
    *out = decimal->is_negative ? -value : value;
    return true;
}

bool text_to_double(struct text text, double *out)
{
    struct decimal decimal;
    if (!decimal_split(text, &decimal))
        return false;
    if (double_quick(&decimal, out))
        return true;
    char local[64];
    char *copy = text.length < sizeof local ? local : mem_alloc(text.length + 1);
    memcpy(copy, text.at, text.length);
    copy[text.length] = '\0';
    /* strtod would use the locale's decimal point; selecting "C" needs no allocation */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = strtod_l(copy, NULL, plain);
    freelocale(plain);
    if (copy != local)
        mem_free(copy);
    if (!isfinite(value))
        return false;
    *out = value;
    return true;
}

enum { NEAREST_BYTES_MAX = 64 }; /* no key, verb or metric is longer */

static char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The number of edits that turn a into b: insert, delete or replace a byte, swap two neighbours.  Case does not count.
 * Both have at most NEAREST_BYTES_MAX bytes. */
static size_t edit_distance(struct text a, struct text b)
{
    size_t rows[3][NEAREST_BYTES_MAX + 1];
    size_t *above2 = rows[0];
    size_t *above = rows[1];
    size_t *row = rows[2];
    for (size_t j = 0; j <= b.length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.length; i++) {
        size_t *spare = above2;
        above2 = above;
        above = row;
        row = spare;
        row[0] = i;
        char ca = to_lower(a.at[i - 1]);
        for (size_t j = 1; j <= b.length; j++) {
            char cb = to_lower(b.at[j - 1]);
            size_t best = above[j - 1] + (ca != cb);
            best = smaller(best, smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && ca == to_lower(b.at[j - 2]) && cb == to_lower(a.at[i - 2]))
                best = smaller(best, above2[j - 2] + 1);
            row[j] = best;
        }
    }
    return row[b.length];
}

const char *text_nearest(struct text word, const char *const *names)
{
    const char *nearest = NULL;
    size_t nearest_distance = SIZE_MAX;
    if (word.length > NEAREST_BYTES_MAX)
        return NULL;
    for (; *names != NULL; names++) {
        struct text name = text_of(*names);
        if (name.length > NEAREST_BYTES_MAX)
            continue;
        size_t distance = edit_distance(word, name);
        if (distance <= name.length / 3 && distance < nearest_distance) {
            nearest = *names;
            nearest_distance = distance;
        }
    }
    return nearest;
}

bool text_is_json_path(const char *name)
{
    const size_t length = strlen(name);
    return strchr(name, '/') != NULL || (length > 5 && strcmp(name + length - 5, ".json") == 0);
}
