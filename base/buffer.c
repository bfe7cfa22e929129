/* base/buffer.c -- see base/buffer.h. */
#include "base/buffer.h"

#include <assert.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { INT64_CHARS_MAX = 20, SCALED_CHARS_MAX = 40 };

/* "00" to "99": two digits per division */
static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

/* Write the digits of `value` so that they end before `end`; returns where they begin. */
static inline char *digits_before(char *end, uint64_t value)
{
    while (value >= 100) {
        end -= 2;
        memcpy(end, digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        end -= 2;
        memcpy(end, digit_pairs + 2 * value, 2);
        return end;
    }
    *--end = (char)('0' + value);
    return end;
}

static inline uint64_t magnitude_of(int64_t value)
{
    return value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value;
}

static void add_integer(struct buffer *buffer, bool is_negative, uint64_t magnitude)
{
    char digits[INT64_CHARS_MAX];
    char *end = digits + sizeof digits;
    char *begin = digits_before(end, magnitude);
    char *at = buffer_reserve(buffer, INT64_CHARS_MAX + 1);
    if (is_negative)
        *at++ = '-';
    size_t length = (size_t)(end - begin);
    memcpy(at, begin, length);
    buffer->length += length + is_negative;
}

void buffer_int(struct buffer *buffer, int64_t value)
{
    add_integer(buffer, value < 0, magnitude_of(value));
}

/* Quotient and rest, and the digits of the scale.  The scales of records are written out, because a division by a
 * constant is a multiplication. */
static inline uint64_t divide_scale(uint64_t value, uint64_t scale, uint64_t *rest, int *digits)
{
    switch (scale) {
    case 1000:
        *digits = 3;
        *rest = value % 1000;
        return value / 1000;
    case 1000000:
        *digits = 6;
        *rest = value % 1000000;
        return value / 1000000;
    case 1000000000:
        *digits = 9;
        *rest = value % 1000000000;
        return value / 1000000000;
    default:
        *digits = 0;
        for (uint64_t left = scale; left >= 10; left /= 10)
            ++*digits;
        *rest = value % scale;
        return value / scale;
    }
}

void buffer_scaled(struct buffer *buffer, int64_t value, int64_t scale)
{
    assert(scale >= 1);
    uint64_t fraction;
    int fraction_digits;
    uint64_t whole = divide_scale(magnitude_of(value), (uint64_t)scale, &fraction, &fraction_digits);
    char digits[SCALED_CHARS_MAX];
    char *point = digits + INT64_CHARS_MAX; /* whole digits end here */
    char *end = point;
    if (fraction != 0) {
        *point = '.';
        end = point + 1 + fraction_digits;
        char *first = digits_before(end, fraction);
        while (first > point + 1)
            *--first = '0';
        while (end[-1] == '0')
            end--;
    }
    char *begin = digits_before(point, whole);
    if (value < 0)
        *--begin = '-';
    size_t length = (size_t)(end - begin);
    char *at = buffer_reserve(buffer, SCALED_CHARS_MAX);
    memcpy(at, begin, length);
    buffer->length += length;
}

void buffer_string(struct buffer *buffer, const char *c_string)
{
    buffer_bytes(buffer, c_string, strlen(c_string));
}

/* printf uses the locale's decimal point.  Selecting "C" needs no allocation in glibc. */
static int format_plain(char *at, size_t bytes, const char *format, va_list arguments)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(plain);
    int length = vsnprintf(at, bytes, format, arguments);
    uselocale(before);
    freelocale(plain);
    assert(length >= 0); /* only an invalid format fails */
    return length;
}

/* Texts and whole numbers without printf.  False, and nothing is written, if the format has another conversion. */
static bool format_simple(struct buffer *buffer, const char *format, va_list values)
{
    const size_t length_before = buffer->length;
    for (;;) {
        const size_t plain = strcspn(format, "%");
        buffer_bytes(buffer, format, plain);
        format += plain;
        if (*format == '\0')
            return true;
        const char *text;
        const char letter = *++format;
        if (letter == 's' && (text = va_arg(values, const char *)) != NULL) {
            buffer_string(buffer, text);
        } else if (letter == 'c') {
            buffer_char(buffer, (char)va_arg(values, int));
        } else if (letter == '%') {
            buffer_char(buffer, '%');
        } else if (letter == 'd') {
            buffer_int(buffer, va_arg(values, int));
        } else if (letter == 'u') {
            add_integer(buffer, false, va_arg(values, unsigned));
        } else if (letter == 'z' && format[1] == 'u') {
            add_integer(buffer, false, va_arg(values, size_t));
            format++;
        } else {
            buffer->length = length_before;
            return false;
        }
        format++;
    }
}

/* Most formats are simple: with printf for them, a run of 10,000 jobs with its record costs 3 % more instructions. */
void buffer_format(struct buffer *buffer, const char *format, ...)
{
    size_t room = 128;
    va_list values;
    va_start(values, format);
    bool is_done = format_simple(buffer, format, values);
    va_end(values);
    while (!is_done) {
        char *at = buffer_reserve(buffer, room);
        va_start(values, format);
        size_t length = (size_t)format_plain(at, room, format, values);
        va_end(values);
        is_done = length < room;
        if (is_done)
            buffer->length += length;
        room = length + 1;
    }
}

/* A decimal of DBL_DIG digits: number and power of ten are exact, so their quotient is the nearest double, and no other
 * decimal of this form gives the same double.  False, and nothing is written, if `value` is no such decimal. */
static bool short_decimal(struct buffer *buffer, double value)
{
    const int64_t scale_max = INT64_C(1000000000000000000);
    const double size = fabs(value);
    int64_t scale = 1000, step = 1000;
    for (;;) {
        double number = rint(value * (double)scale);
        if (number / (double)scale == value) {
            buffer_scaled(buffer, (int64_t)number, scale);
            return true;
        }
        while (step > 1 && (scale > scale_max / step || size * (double)(scale * step) >= 1e15))
            step /= 10;
        if (step == 1)
            return false;
        scale *= step;
    }
}

void buffer_double(struct buffer *buffer, double value)
{
    if (!isfinite(value)) {
        buffer_string(buffer, "null");
        return;
    }
    /* the same digits as %.15g, without its cost; -0.0 keeps its sign below */
    if (fabs(value) < 1e15 && value == trunc(value) && !(value == 0 && signbit(value))) {
        buffer_int(buffer, (int64_t)value);
        return;
    }
    const double size = fabs(value);
    const bool is_plain = size >= 1e-4 && size < 1e12; /* others are written with an exponent, or are rare */
    if (is_plain && short_decimal(buffer, value))
        return;
    /* Every decimal of DBL_DIG digits survives a normal double, subnormals hold fewer; DBL_DECIMAL_DIG are enough. */
    size_t length_before = buffer->length;
    int digits = is_plain ? DBL_DIG + 1 : size < DBL_MIN ? 1 : DBL_DIG;
    for (;; digits++) {
        double again;
        buffer->length = length_before;
        buffer_format(buffer, "%.*g", digits, value);
        struct text printed = {buffer->bytes + length_before, buffer->length - length_before};
        if (digits == DBL_DECIMAL_DIG || (text_to_double(printed, &again) && again == value))
            return;
    }
}

void buffer_members(struct buffer *buffer, const char *json, ...)
{
    va_list values;
    if (json[0] == ',' && buffer->length > 0 && strchr("{[", buffer->bytes[buffer->length - 1]) != NULL)
        json += json[1] == ' ' ? 2 : 1;
    va_start(values, json);
    for (; *json != '\0'; json++) {
        if (*json != '%') {
            buffer_char(buffer, *json == '\'' ? '"' : *json);
            continue;
        }
        int64_t scale = 1;
        if (*++json == '.') {
            for (int digits = json[1] - '0'; digits > 0; digits--)
                scale *= 10;
            json += 2;
        }
        const size_t letters = strcspn(json, "sgud") + 1;
        const char form = json[letters - 1];
        const char *text;
        if (form == 'g') {
            buffer_double(buffer, va_arg(values, double));
        } else if (form == 's') {
            text = va_arg(values, const char *);
            if (text != NULL)
                buffer_json(buffer, text_of(text));
            else
                buffer_string(buffer, "null");
        } else if (form == 'd' && json[0] == 'l') {
            buffer_scaled(buffer, va_arg(values, long long), scale);
        } else if (form == 'd') {
            const int value = va_arg(values, int);
            if (json[0] == 'h')
                buffer_string(buffer, value != 0 ? "true" : "false");
            else
                buffer_int(buffer, value);
        } else {
            add_integer(buffer, false,
                        json[0] == 'z'   ? va_arg(values, size_t)
                        : json[0] == 'l' ? va_arg(values, unsigned long long)
                                         : va_arg(values, unsigned));
        }
        json += letters - 1;
    }
    va_end(values);
}

static char *put_index(char *at, unsigned index)
{
    if (index >= 10) {
        *at++ = (char)('0' + index / 10);
        index %= 10;
    }
    *at++ = (char)('0' + index);
    return at;
}

void buffer_indices(struct buffer *out, uint16_t set)
{
    enum { BITS_MAX = 16, CHARS_MAX = sizeof "15," };
    uint32_t mask = set;
    char *begin = buffer_reserve(out, (size_t)BITS_MAX * CHARS_MAX), *at = begin;
    while (mask != 0) {
        unsigned first = (unsigned)__builtin_ctz(mask);
        unsigned end = first + (unsigned)__builtin_ctz(~(mask >> first)); /* a 16-bit set in 32 bits has a 0 above */
        at = put_index(at, first);
        if (end - first > 1) {
            *at++ = '-';
            at = put_index(at, end - 1);
        }
        *at++ = ',';
        mask &= ~UINT32_C(0) << end;
    }
    out->length += (size_t)(at - begin) - 1; /* without the last comma */
}

void buffer_json(struct buffer *buffer, struct text text)
{
    static const char hex[] = "0123456789abcdef";
    buffer_char(buffer, '"');
    while (text.length != 0) {
        unsigned char c = (unsigned char)text.at[0];
        size_t bytes = text_utf8_bytes(text);
        if (bytes == 0) {
            buffer_string(buffer, "\\ufffd"); /* the replacement character: JSON must be UTF-8 */
            bytes = 1;
        } else if (c == '"' || c == '\\') {
            buffer_char(buffer, '\\');
            buffer_char(buffer, (char)c);
        } else if (c == '\n') {
            buffer_string(buffer, "\\n");
        } else if (c == '\t') {
            buffer_string(buffer, "\\t");
        } else if (bytes == 2 && c == 0xC2 && (unsigned char)text.at[1] < 0xA0) { /* U+0080 to U+009F */
            buffer_format(buffer, "\\u00%02x", (unsigned char)text.at[1]);
        } else if (c < 0x20 || c == '<' || c == 0x7F) {
            char escape[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
            buffer_bytes(buffer, escape, sizeof escape);
        } else {
            buffer_bytes(buffer, text.at, bytes);
        }
        text.at += bytes;
        text.length -= bytes;
    }
    buffer_char(buffer, '"');
}

void buffer_visible(struct buffer *buffer, struct text text)
{
    char room[4];
    size_t bytes;
    for (; text.length != 0; text = (struct text){text.at + bytes, text.length - bytes})
        buffer_text(buffer, text_visible(text, &bytes, room));
}

void buffer_shell(struct buffer *buffer, struct text word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/=:,+@%";
    bool is_plain = word.length > 0;
    for (size_t i = 0; i < word.length; i++)
        is_plain = is_plain && word.at[i] != '\0' && strchr(plain, word.at[i]) != NULL;
    if (is_plain) {
        buffer_text(buffer, word);
        return;
    }
    buffer_char(buffer, '\'');
    for (size_t i = 0; i < word.length; i++)
        if (word.at[i] == '\'')
            buffer_string(buffer, "'\\''");
        else
            buffer_char(buffer, word.at[i]);
    buffer_char(buffer, '\'');
}

void buffer_csv(struct buffer *buffer, struct text text)
{
    struct text rest = text, piece;
    if (text.length == 0)
        return;
    const bool is_quoted = memchr(text.at, ',', text.length) != NULL || memchr(text.at, '"', text.length) != NULL;
    if (is_quoted)
        buffer_char(buffer, '"');
    while (rest.length != 0 && text_cut(&rest, '"', &piece)) {
        buffer_visible(buffer, piece);
        if (piece.at + piece.length < text.at + text.length)
            buffer_string(buffer, "\"\"");
    }
    if (is_quoted)
        buffer_char(buffer, '"');
}

void buffer_label(struct buffer *buffer, struct text text)
{
    char room[4];
    size_t bytes;
    buffer_char(buffer, '"');
    for (; text.length != 0; text = (struct text){text.at + bytes, text.length - bytes}) {
        const struct text shown = text_visible(text, &bytes, room);
        if (text.at[0] == '\\' || text.at[0] == '"')
            buffer_char(buffer, '\\');
        if (text.at[0] == '\n')
            buffer_string(buffer, "\\n");
        else
            buffer_text(buffer, shown);
    }
    buffer_char(buffer, '"');
}

void buffer_shown(struct buffer *buffer, struct text text)
{
    while (text.length != 0) {
        bool is_shown;
        const size_t bytes = text_shown_bytes(text, &is_shown);
        if (is_shown || text.at[0] == '\n' || text.at[0] == '\t')
            buffer_bytes(buffer, text.at, bytes);
        else
            buffer_char(buffer, '?');
        text.at += bytes;
        text.length -= bytes;
    }
}

void buffer_html(struct buffer *buffer, struct text text)
{
    char room[4];
    size_t bytes;
    for (; text.length != 0; text = (struct text){text.at + bytes, text.length - bytes}) {
        if ((bytes = text_plain_bytes(text)) > 0) {
            buffer_bytes(buffer, text.at, bytes);
            continue;
        }
        const struct text shown = text_visible(text, &bytes, room);
        switch (text.at[0]) {
        case '\n':
        case '\t':
            buffer_char(buffer, text.at[0]);
            break;
        case '&':
            buffer_string(buffer, "&amp;");
            break;
        case '<':
            buffer_string(buffer, "&lt;");
            break;
        case '>':
            buffer_string(buffer, "&gt;");
            break;
        case '"':
            buffer_string(buffer, "&quot;");
            break;
        case '\'':
            buffer_string(buffer, "&#39;");
            break;
        default:
            buffer_text(buffer, shown);
        }
    }
}

const char *buffer_c_string(struct buffer *buffer)
{
    *buffer_reserve(buffer, 1) = '\0';
    return buffer->bytes;
}

void buffer_release(struct buffer *buffer)
{
    mem_free(buffer->bytes);
    *buffer = (struct buffer){0};
}
