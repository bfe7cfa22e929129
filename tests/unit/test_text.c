/* tests/unit/test_text.c -- pieces of text and the numbers in them. */
#include "tests/support/test.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"

static const char *const no_numbers[] = {
    "",   " ", "-",  "+1", " 1",   "1 ",    "12abc", "0x10",     "1_000", "1,5", "nan",      "inf", "--1", "1e",  "1e+",
    "e5", ".", ".5", "5.", "1.e5", "1.2.3", "NaN",   "INFINITY", "1e5.5", "1 2", "\xd9\xa1", "1\t", "1d",  "0b1", "-e1",
};

TEST(test_of_equal_is_trim)
{
    assert_int_equal(text_of(NULL).length, 0);
    assert_int_equal(text_of("gang").length, 4);
    assert_true(text_equal(TEXT("ab"), TEXT("ab")));
    assert_false(text_equal(TEXT("ab"), TEXT("ac")));
    assert_false(text_equal(TEXT("ab"), TEXT("a")));
    assert_true(text_equal((struct text){NULL, 0}, TEXT("")));
    assert_true(text_is(TEXT("fifo"), "fifo"));
    assert_false(text_is(TEXT("fifo"), "fif"));
    assert_false(text_is(TEXT("fif"), "fifo"));
    assert_true(text_is(text_trim(TEXT(" \t a b\r")), "a b"));
    assert_true(text_is(text_trim(TEXT(" \r\t")), ""));
    assert_true(text_is(text_trim(TEXT("")), ""));
}

static void assert_cut(const char *line, size_t count, const char *const *pieces)
{
    struct text rest = text_of(line);
    struct text piece;
    for (size_t i = 0; i < count; i++) {
        assert_true(text_cut(&rest, ',', &piece));
        assert_true(text_is(piece, pieces[i]));
        assert_int_equal(rest.at == NULL, i + 1 == count);
    }
    assert_false(text_cut(&rest, ',', &piece));
}

TEST(test_cut)
{
    assert_cut("a,,b", 3, (const char *[]){"a", "", "b"});
    assert_cut("", 1, (const char *[]){""});
    assert_cut(",", 2, (const char *[]){"", ""});
    assert_cut("one", 1, (const char *[]){"one"});
    assert_cut("a,b,", 3, (const char *[]){"a", "b", ""});
}

TEST(test_int64)
{
    int64_t value = 5;
    assert_true(text_to_int64(TEXT("0"), 0, 0, &value));
    assert_int_equal(value, 0);
    assert_true(text_to_int64(TEXT("-0"), 0, 0, &value));
    assert_true(text_to_int64(TEXT("007"), 0, 10, &value));
    assert_int_equal(value, 7);
    assert_true(text_to_int64(TEXT("9223372036854775807"), INT64_MIN, INT64_MAX, &value));
    assert_true(value == INT64_MAX);
    assert_true(text_to_int64(TEXT("-9223372036854775808"), INT64_MIN, INT64_MAX, &value));
    assert_true(value == INT64_MIN);
    value = 5;
    assert_false(text_to_int64(TEXT("9223372036854775808"), INT64_MIN, INT64_MAX, &value));
    assert_false(text_to_int64(TEXT("-9223372036854775809"), INT64_MIN, INT64_MAX, &value));
    assert_false(text_to_int64(TEXT("18446744073709551617"), INT64_MIN, INT64_MAX, &value));
    assert_false(text_to_int64(TEXT("17"), 1, 16, &value));
    assert_false(text_to_int64(TEXT("0"), 1, 16, &value));
    assert_false(text_to_int64(TEXT("1.0"), 1, 16, &value));
    assert_false(text_to_int64(TEXT("1e1"), 1, 16, &value));
    assert_false(text_to_int64((struct text){NULL, 0}, 0, 9, &value));
    for (size_t i = 0; i < sizeof no_numbers / sizeof no_numbers[0]; i++)
        assert_false(text_to_int64(text_of(no_numbers[i]), INT64_MIN, INT64_MAX, &value));
    assert_int_equal(value, 5);
}

static void assert_scaled(const char *number, int64_t scale, int64_t expected)
{
    int64_t value = -7;
    if (!text_to_scaled(text_of(number), scale, &value))
        fail_msg("'%s' times %" PRId64 " was refused", number, scale);
    if (value != expected)
        fail_msg("'%s' times %" PRId64 " gave %" PRId64, number, scale, value);
}

TEST(test_scaled)
{
    assert_scaled("123.45", 1000, 123450);
    assert_scaled("0.25", 1000, 250);
    assert_scaled("-1e3", 1000, -1000000);
    assert_scaled("-0", 1000, 0);
    assert_scaled("0.1", 1000000000, 100000000);
    assert_scaled("0.29", 100, 29); /* 28 in floating point */
    assert_scaled("1.9999", 1000, 1999);
    assert_scaled("-1.9999", 1000, -1999);
    assert_scaled("1.9", 1, 1);
    assert_scaled("-0.9", 1, 0);
    assert_scaled("1234.5E-2", 1000, 12345);
    assert_scaled("1e-3", 1000, 1);
    assert_scaled("1e-4", 1000, 0);
    assert_scaled("0.001e+3", 1, 1);
    assert_scaled("0.0000000000000000000000000000001e31", 1, 1);
    assert_scaled("10000000000000000000000000000000e-31", 1, 1);
    assert_scaled("123456789.123456789123456789", 1000000000, 123456789123456789);
    assert_scaled("0e999999999999999999999999", 1000, 0);
    assert_scaled("1e-999999999999999999999999", 1000, 0);
    assert_scaled("1e00000000000000000000000002", 1, 100);
    assert_scaled("9223372036.854775807", 1000000000, INT64_MAX);
    assert_scaled("-9223372036.854775808", 1000000000, INT64_MIN);
    assert_scaled("-9223372036854775808", 1, INT64_MIN);
}

TEST(test_scaled_refuses)
{
    static const char *const too_large[] = {
        "9223372036.854775808",   "-9223372036.854775809", "99999999999", "1e10", "1e18446744073709551616", "1e400",
        "1e99999999999999999999",
    };
    int64_t value = 5;
    for (size_t i = 0; i < sizeof no_numbers / sizeof no_numbers[0]; i++)
        if (text_to_scaled(text_of(no_numbers[i]), 1000, &value))
            fail_msg("'%s' was taken as a number", no_numbers[i]);
    for (size_t i = 0; i < sizeof too_large / sizeof too_large[0]; i++)
        if (text_to_scaled(text_of(too_large[i]), 1000000000, &value))
            fail_msg("'%s' did not overflow", too_large[i]);
    assert_false(text_to_scaled((struct text){NULL, 0}, 1, &value));
    assert_int_equal(value, 5);
}

/* Any value printed with its point moved about reads back exactly, at every scale. */
TEST(test_scaled_reads_back_what_was_printed)
{
    const uint64_t seed = 20171009;
    print_message("seed %" PRIu64 "\n", seed);
    struct random_stream stream;
    random_stream_init(&stream, seed, "scaled", 0);
    int64_t scale = 1;
    for (int digits = 0; digits <= 9; digits++, scale *= 10) {
        for (int i = 0; i < 20000; i++) {
            uint64_t bits = (uint64_t)gsl_rng_get(random_gsl(&stream)) << 32;
            bits |= gsl_rng_get(random_gsl(&stream));
            int64_t value = (int64_t)(bits >> random_below(&stream, 63) >> 1);
            int64_t sign = random_below(&stream, 2) != 0 ? -1 : 1;
            int move = (int)random_below(&stream, 60) - 30;
            char number[128];
            /* the digits as they are, with an exponent that undoes the scale */
            snprintf(number, sizeof number, "%s%" PRId64 "e%d", sign < 0 ? "-" : "", value, -digits);
            assert_scaled(number, scale, sign * value);
            /* as a plain decimal, with digits behind that must be cut */
            snprintf(number, sizeof number, "%s%" PRId64 ".%0*" PRId64 "9", sign < 0 ? "-" : "", value / scale, digits,
                     digits != 0 ? value % scale : 0);
            if (digits == 0)
                snprintf(number, sizeof number, "%s%" PRId64 ".9", sign < 0 ? "-" : "", value);
            assert_scaled(number, scale, sign * value);
            /* zeros before or behind, undone by the exponent */
            if (move < 0)
                snprintf(number, sizeof number, "%s0.%0*d%019" PRId64 "e%d", sign < 0 ? "-" : "", -move, 0, value,
                         19 - move - digits);
            else
                snprintf(number, sizeof number, "%s%" PRId64 "%0*de%d", sign < 0 ? "-" : "", value, move + 1, 0,
                         -move - 1 - digits);
            assert_scaled(number, scale, sign * value);
        }
    }
}

/* Digit by digit: what the ways for few digits must give, too. */
static bool plain_int64(const char *at, size_t length, int64_t low, int64_t high, int64_t *out)
{
    __extension__ __int128 value = 0;
    const bool is_negative = length > 0 && at[0] == '-';
    for (size_t i = is_negative; i < length; i++) {
        if (at[i] < '0' || at[i] > '9')
            return false;
        value = value * 10 + (at[i] - '0');
    }
    value = is_negative ? -value : value;
    if (length == is_negative || value < low || value > high)
        return false;
    *out = (int64_t)value;
    return true;
}

/* 1 to 20 characters in memory of their own, so that a sanitizer sees a byte read beyond them.  Most are digits. */
TEST(test_numbers_of_all_lengths)
{
    static const char others[] = "-+./:;e \x00\x2f\x3a\x7f\x80\xb0\xb9\xff";
    const uint64_t seed = 271828;
    const int64_t billion = 1000000000;
    print_message("seed %" PRIu64 "\n", seed);
    struct random_stream stream;
    random_stream_init(&stream, seed, "lengths", 0);
    for (int i = 0; i < 1000000; i++) {
        const size_t length = 1 + random_below(&stream, 20);
        char *number = malloc(length);
        for (size_t c = 0; c < length; c++)
            number[c] = (char)('0' + random_below(&stream, 10));
        if (random_below(&stream, 4) == 0)
            number[random_below(&stream, (uint32_t)length)] = others[random_below(&stream, sizeof others - 1)];
        if (random_below(&stream, 4) == 0)
            number[0] = '-';
        const struct text text = {number, length};
        int64_t expected = -1, got = -1;
        const bool is_number = plain_int64(number, length, INT64_MIN, INT64_MAX, &expected);
        if (text_to_int64(text, INT64_MIN, INT64_MAX, &got) != is_number || got != expected)
            fail_msg("'%.*s' gave %" PRId64, (int)length, number, got);
        if (is_number && text_to_int64(text, -999999, 999999, &got) != (expected >= -999999 && expected <= 999999))
            fail_msg("'%.*s' is judged wrongly by its bounds", (int)length, number);
        if (is_number && llabs(expected) < billion &&
            (!text_to_scaled(text, billion, &got) || got != expected * billion))
            fail_msg("'%.*s' times 10^9 gave %" PRId64, (int)length, number, got);
        free(number);
    }
}

static void assert_double(const char *number, double expected)
{
    double value = -7;
    if (!text_to_double(text_of(number), &value))
        fail_msg("'%s' was refused", number);
    if (memcmp(&value, &expected, sizeof value) != 0)
        fail_msg("'%s' gave %.17g", number, value);
}

TEST(test_double)
{
    assert_double("0", 0.0);
    assert_double("-0", -0.0);
    assert_double("0.1", 0.1);
    assert_double("123.45", 123.45);
    assert_double("-1e3", -1000.0);
    assert_double("1E22", 1e22);
    assert_double("1e23", 1e23);
    assert_double("1e-22", 1e-22);
    assert_double("9007199254740993", 9007199254740992.0); /* a tie, to even */
    assert_double("1.7976931348623157e308", 1.7976931348623157e308);
    assert_double("4.9406564584124654e-324", 4.9406564584124654e-324);
    assert_double("1e-400", 0.0);
    assert_double("0.1000000000000000055511151231257827021181583404541015625"
                  "00000000000000000000000000000000000000000",
                  0.1); /* longer than the copy on the stack */
    double value = 5;
    for (size_t i = 0; i < sizeof no_numbers / sizeof no_numbers[0]; i++)
        if (text_to_double(text_of(no_numbers[i]), &value))
            fail_msg("'%s' was taken as a number", no_numbers[i]);
    assert_false(text_to_double(TEXT("1e400"), &value));
    assert_false(text_to_double(TEXT("-1e309"), &value));
    assert_false(text_to_double((struct text){NULL, 0}, &value));
    assert_true(value == 5);
}

TEST(test_double_agrees_with_the_c_library)
{
    const uint64_t seed = 314159;
    print_message("seed %" PRIu64 "\n", seed);
    struct random_stream stream;
    random_stream_init(&stream, seed, "double", 0);
    for (int i = 0; i < 200000; i++) {
        char number[64];
        double mantissa = random_uniform(&stream) * pow(10, random_below(&stream, 18));
        snprintf(number, sizeof number, "%.*fe%d", (int)random_below(&stream, 8), mantissa,
                 (int)random_below(&stream, 60) - 30);
        assert_double(number, strtod(number, NULL));
    }
    for (int i = 0; i < 1000000; i++) { /* as traces have them: up to 15 digits, with or without a point */
        char number[64];
        const double bound = pow(10, 1 + random_below(&stream, 9));
        snprintf(number, sizeof number, "%s%.*f", random_below(&stream, 8) == 0 ? "-" : "",
                 (int)random_below(&stream, 8), random_uniform(&stream) * bound);
        assert_double(number, strtod(number, NULL));
    }
}

/* A piece ends where it says, even when digits follow in the same line. */
TEST(test_numbers_end_with_their_piece)
{
    struct text piece = {"12.345678", 4};
    int64_t integer;
    double real;
    assert_true(text_to_scaled(piece, 1000, &integer));
    assert_int_equal(integer, 12300);
    assert_true(text_to_double(piece, &real));
    assert_true(real == 12.3);
    piece.length = 2;
    assert_true(text_to_int64(piece, 0, 100, &integer));
    assert_int_equal(integer, 12);
}

TEST(test_nearest)
{
    static const char *const names[] = {"nodes", "gpus", "gpu_model", "queue", "fifo", NULL};
    assert_string_equal(text_nearest(TEXT("node"), names), "nodes");
    assert_string_equal(text_nearest(TEXT("noeds"), names), "nodes"); /* a swap is one edit */
    assert_string_equal(text_nearest(TEXT("gpu"), names), "gpus");
    assert_string_equal(text_nearest(TEXT("gpumodel"), names), "gpu_model");
    assert_string_equal(text_nearest(TEXT("FIFO"), names), "fifo");
    assert_string_equal(text_nearest(TEXT("quue"), names), "queue");
    assert_null(text_nearest(TEXT("memory"), names));
    assert_null(text_nearest(TEXT("xyfo"), names)); /* two edits of four letters: too far */
    assert_null(text_nearest(TEXT(""), names));
    assert_null(text_nearest(TEXT("gpus"), (const char *const[]){NULL}));
    char longest[65];
    memset(longest, 'a', sizeof longest);
    longest[64] = '\0';
    const char *const long_names[] = {longest, NULL};
    assert_string_equal(text_nearest((struct text){longest, 64}, long_names), longest);
    assert_null(text_nearest((struct text){longest, 65}, long_names));
}

TEST(test_utf8)
{
    /* RFC 3629: the ends of each range, and what lies just outside */
    static const struct {
        const char *bytes;
        size_t expected;
    } cases[] = {
        {"", 0},
        {"a", 1},
        {"\x7f", 1},
        {"\x80", 0},
        {"\xc1\xbf", 0},
        {"\xc2\x80", 2},
        {"\xdf\xbf", 2},
        {"\xc2", 0},
        {"\xc2\xc0", 0},
        {"\xe0\x9f\xbf", 0},
        {"\xe0\xa0\x80", 3},
        {"\xed\x9f\xbf", 3},
        {"\xed\xa0\x80", 0},
        {"\xee\x80\x80", 3},
        {"\xef\xbf\xbf", 3},
        {"\xef\xbf", 0},
        {"\xef\xbf\x7f", 0},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xf0\x90\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0},
        {"\xff", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(text_utf8_bytes(text_of(cases[i].bytes)), cases[i].expected);
}
