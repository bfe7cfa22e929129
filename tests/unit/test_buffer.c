/* tests/unit/test_buffer.c -- growing bytes, numbers and escapes. */
#include "tests/support/test.h"
#include <float.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/random.h"

static void assert_holds(struct buffer *buffer, const char *expected)
{
    assert_string_equal(buffer_c_string(buffer), expected);
    assert_int_equal(buffer->length, strlen(expected));
    buffer->length = 0;
}

static uint64_t random_bits(struct random_stream *stream)
{
    uint64_t high = gsl_rng_get(random_gsl(stream));
    return high << 32 | gsl_rng_get(random_gsl(stream));
}

TEST(test_bytes_grow)
{
    struct buffer buffer = {0};
    assert_holds(&buffer, "");
    buffer_bytes(&buffer, NULL, 0);
    buffer_text(&buffer, (struct text){NULL, 0});
    for (int i = 0; i < 10000; i++) {
        buffer_char(&buffer, 'a');
        buffer_string(&buffer, "bc");
        buffer_text(&buffer, TEXT("d"));
    }
    assert_int_equal(buffer.length, 40000);
    for (size_t i = 0; i < buffer.length; i++)
        assert_int_equal(buffer.bytes[i], "abcd"[i % 4]);
    buffer_release(&buffer);
    assert_null(buffer.bytes);
    assert_int_equal(buffer.capacity, 0);
    buffer_release(&buffer);
}

TEST(test_int)
{
    struct buffer buffer = {0};
    struct random_stream stream;
    random_stream_init(&stream, 1, "int", 0);
    static const int64_t edges[] = {0, 1, -1, 9, 10, 11, 99, 100, -9, 101, 999, 1000, -1000, INT64_MAX, INT64_MIN};
    char expected[32];
    for (size_t i = 0; i < 200000; i++) {
        size_t edge_count = sizeof edges / sizeof edges[0];
        /* all lengths alike: shift by as many bits as there are */
        int64_t value = i < edge_count ? edges[i] : (int64_t)random_bits(&stream) >> random_below(&stream, 64);
        snprintf(expected, sizeof expected, "%" PRId64, value);
        buffer_int(&buffer, value);
        assert_holds(&buffer, expected);
    }
    buffer_release(&buffer);
}

TEST(test_scaled)
{
    static const struct {
        int64_t value;
        int64_t scale;
        const char *expected;
    } cases[] = {
        {1500, 1000, "1.5"},
        {0, 1000, "0"},
        {1, 1000, "0.001"},
        {-1, 1000, "-0.001"},
        {-1500, 1000, "-1.5"},
        {1000, 1000, "1"},
        {100, 1, "100"},
        {105, 10, "10.5"},
        {1050, 100, "10.5"},
        {66000000000, 1000000000, "66"},
        {1, 1000000000, "0.000000001"},
        {100000000, 1000000000, "0.1"},
        {123456, 1000000, "0.123456"},
        {INT64_MAX, 1000000000, "9223372036.854775807"},
        {INT64_MIN, 1000000000, "-9223372036.854775808"},
        {INT64_MIN, 1, "-9223372036854775808"},
        {INT64_MIN, 1000000000000000000, "-9.223372036854775808"},
    };
    struct buffer buffer = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buffer_scaled(&buffer, cases[i].value, cases[i].scale);
        assert_holds(&buffer, cases[i].expected);
    }
    buffer_release(&buffer);
}

TEST(test_scaled_reads_back)
{
    const uint64_t seed = 4242;
    print_message("seed %" PRIu64 "\n", seed);
    struct buffer buffer = {0};
    struct random_stream stream;
    random_stream_init(&stream, seed, "scaled", 0);
    int64_t scale = 1;
    for (int digits = 0; digits <= 9; digits++, scale *= 10) {
        for (int i = 0; i < 20000; i++) {
            int64_t value = (int64_t)random_bits(&stream) >> random_below(&stream, 64);
            buffer_scaled(&buffer, value, scale);
            struct text printed = {buffer.bytes, buffer.length};
            int64_t again = 0;
            assert_true(text_to_scaled(printed, scale, &again));
            assert_int_equal(again, value);
            /* no zero is left behind the point */
            bool has_point = memchr(buffer.bytes, '.', buffer.length) != NULL;
            assert_false(has_point && buffer.bytes[buffer.length - 1] == '0');
            buffer.length = 0;
        }
    }
    buffer_release(&buffer);
}

TEST(test_double_is_shortest)
{
    static const struct {
        double value;
        const char *expected;
    } cases[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {0.1, "0.1"},
        {0.3, "0.3"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {1, "1"},
        {-17, "-17"},
        {4000, "4000"},
        {999999999999999, "999999999999999"},
        {1e15, "1e+15"},
        {1e22, "1e+22"},
        {123.45, "123.45"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {DBL_TRUE_MIN, "5e-324"},
        {INFINITY, "null"},
        {-INFINITY, "null"},
        {NAN, "null"},
    };
    struct buffer buffer = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buffer_double(&buffer, cases[i].value);
        assert_holds(&buffer, cases[i].expected);
    }
    buffer_release(&buffer);
}

/* Decimals of few places and their neighbours: the digits are those of the first precision that reads back. */
TEST(test_short_decimals)
{
    struct buffer buffer = {0};
    struct random_stream stream;
    random_stream_init(&stream, 314159, "decimal", 0);
    for (int i = 0; i < 100000; i++) {
        static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e13, 1e15, 1e17, 1e18};
        int64_t digits = (int64_t)(random_bits(&stream) >> (random_bits(&stream) % 54 + 10));
        double value = (double)digits / powers[random_bits(&stream) % 15];
        value = i % 3 == 1 ? nextafter(value, INFINITY) : i % 3 == 2 ? -value : value;
        char expected[64];
        for (int precision = DBL_DIG; precision <= DBL_DECIMAL_DIG; precision++) {
            snprintf(expected, sizeof expected, "%.*g", precision, value);
            if (strtod(expected, NULL) == value)
                break;
        }
        if (value != 0 && fabs(value) < DBL_MIN)
            continue; /* holds fewer digits */
        buffer_double(&buffer, value);
        assert_holds(&buffer, expected);
    }
    buffer_release(&buffer);
}

/* Any bit pattern reads back, and one digit less would not. */
TEST(test_double_reads_back)
{
    const uint64_t seed = 271828;
    print_message("seed %" PRIu64 "\n", seed);
    struct buffer buffer = {0};
    struct random_stream stream;
    random_stream_init(&stream, seed, "double", 0);
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = random_bits(&stream);
        if (i % 4 == 0)
            bits &= UINT64_C(0x800fffffffffffff); /* subnormal */
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        buffer_double(&buffer, value);
        const char *printed = buffer_c_string(&buffer);
        double again = strtod(printed, NULL);
        assert_memory_equal(&again, &value, sizeof value);
        int digits = 0;
        bool has_begun = false;
        for (const char *at = printed; *at != '\0' && *at != 'e'; at++) {
            has_begun |= *at >= '1' && *at <= '9';
            digits += has_begun && *at != '.';
        }
        char shorter[400];
        snprintf(shorter, sizeof shorter, "%.*g", digits > 1 ? digits - 1 : 1, value);
        assert_true(digits == 1 || strtod(shorter, NULL) != value);
        buffer.length = 0;
    }
    buffer_release(&buffer);
}

TEST(test_format)
{
    struct buffer buffer = {0};
    buffer_format(&buffer, "%d of %s, ", 3, "four");
    buffer_format(&buffer, "%.2f", 0.125);
    assert_holds(&buffer, "3 of four, 0.12");
    for (int width = 120; width < 140; width++) { /* around the first guess of the room */
        buffer_string(&buffer, "x");
        buffer_format(&buffer, "%*d", width, 7);
        assert_int_equal(buffer.length, width + 1);
        assert_int_equal(buffer.bytes[width], '7');
        buffer.length = 0;
    }
    buffer_format(&buffer, "%5000d", 7);
    assert_int_equal(buffer.length, 5000);
    buffer_release(&buffer);
}

/* Formats that need no printf write the same, and so does one whose last conversion needs it. */
TEST(test_format_is_printf)
{
    static const int ints[] = {0, 7, -1, 99, 100, INT_MAX, INT_MIN};
    static const size_t sizes[] = {0, 10, SIZE_MAX};
    struct buffer buffer = {0};
    char expected[200];
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++) {
        snprintf(expected, sizeof expected, "%d%%%u [%s] %c", ints[i], (unsigned)ints[i], "", 'x');
        buffer_format(&buffer, "%d%%%u [%s] %c", ints[i], (unsigned)ints[i], "", 'x');
        assert_holds(&buffer, expected);
        snprintf(expected, sizeof expected, "%s %zu %zx, %.1f", "text", sizes[i % 3], sizes[i % 3], 0.25);
        buffer_format(&buffer, "%s %zu %zx, %.1f", "text", sizes[i % 3], sizes[i % 3], 0.25);
        assert_holds(&buffer, expected);
        buffer.length = 0;
    }
    buffer_release(&buffer);
}

TEST(test_json)
{
    struct buffer buffer = {0};
    buffer_json(&buffer, TEXT("a\"b\\c\n\t\x01\x1f</script>ö\xff"));
    assert_holds(&buffer, "\"a\\\"b\\\\c\\n\\t\\u0001\\u001f\\u003c/script>ö\\ufffd\"");
    buffer_json(&buffer, (struct text){"\0x", 2});
    assert_holds(&buffer, "\"\\u0000x\"");
    buffer_json(&buffer, TEXT(""));
    assert_holds(&buffer, "\"\"");
    buffer_release(&buffer);
}

/* Whatever the bytes, a JSON parser takes the string and finds no '<' in the text. */
TEST(test_json_is_json)
{
    const uint64_t seed = 99;
    print_message("seed %" PRIu64 "\n", seed);
    struct buffer buffer = {0};
    struct random_stream stream;
    random_stream_init(&stream, seed, "json", 0);
    for (int i = 0; i < 20000; i++) {
        char bytes[24];
        size_t length = random_below(&stream, sizeof bytes + 1);
        bool is_ascii = random_below(&stream, 2) != 0;
        for (size_t j = 0; j < length; j++)
            bytes[j] = (char)(random_below(&stream, is_ascii ? 128 : 256));
        buffer_json(&buffer, (struct text){bytes, length});
        assert_null(memchr(buffer.bytes, '<', buffer.length));
        json_t *value = json_loadb(buffer.bytes, buffer.length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        assert_non_null(value);
        if (is_ascii) {
            assert_int_equal(json_string_length(value), length);
            assert_memory_equal(json_string_value(value), bytes, length);
        }
        json_decref(value);
        buffer.length = 0;
    }
    buffer_release(&buffer);
}

TEST(test_csv)
{
    struct buffer buffer = {0};
    buffer_csv(&buffer, TEXT("plain text"));
    assert_holds(&buffer, "plain text");
    buffer_csv(&buffer, TEXT("a,b"));
    assert_holds(&buffer, "\"a,b\"");
    buffer_csv(&buffer, TEXT("say \"hi\""));
    assert_holds(&buffer, "\"say \"\"hi\"\"\"");
    buffer_csv(&buffer, TEXT("two\nlines"));
    assert_holds(&buffer, "two\xe2\x90\x8alines");
    buffer_csv(&buffer, TEXT("\r"));
    assert_holds(&buffer, "\xe2\x90\x8d");
    buffer_csv(&buffer, TEXT(""));
    assert_holds(&buffer, "");
    buffer_release(&buffer);
}

TEST(test_html)
{
    struct buffer buffer = {0};
    buffer_html(&buffer, TEXT("<a href=\"x\">R&D's ö</a>"));
    assert_holds(&buffer, "&lt;a href=&quot;x&quot;&gt;R&amp;D&#39;s ö&lt;/a&gt;");
    buffer_release(&buffer);
}

TEST(test_indices)
{
    struct buffer buffer = {0};
    buffer_indices(&buffer, 1);
    buffer_char(&buffer, ' ');
    buffer_indices(&buffer, 0xffff);
    buffer_char(&buffer, ' ');
    buffer_indices(&buffer, 0x844f);
    assert_holds(&buffer, "0 0-15 0-3,6,10,15");
    buffer_release(&buffer);
}

TEST(members_are_json)
{
    const char *volatile none = NULL;
    const bool is = true;
    struct buffer out = {0};
    buffer_members(&out, "{'a': %s, 'b': %s, %s: [%g, %g], 'n': %zu, 'l': %llu, 'u': %u, 'd': %d, 'is': %hhd}", "x\"<",
                   none, "key", 0.1, (double)NAN, (size_t)7, 18446744073709551615ULL, 8U, -9, is);
    assert_string_equal(buffer_c_string(&out), "{\"a\": \"x\\\"\\u003c\", \"b\": null, \"key\": [0.1, null], "
                                               "\"n\": 7, \"l\": 18446744073709551615, \"u\": 8, \"d\": -9, "
                                               "\"is\": true}");
    out.length = 0;
    buffer_members(&out, ", 'of': [");
    for (long long i = -1; i < 2; i++)
        buffer_members(&out, ", {");
    buffer_members(&out, ",\n'ns': %.9lld, 'n': %lld}, [", -1500000000LL, -7LL);
    buffer_members(&out, ",\n%.3lld]", 250LL);
    assert_string_equal(buffer_c_string(&out), ", \"of\": [{{{\n\"ns\": -1.5, \"n\": -7}, [\n0.25]");
    buffer_release(&out);
}
