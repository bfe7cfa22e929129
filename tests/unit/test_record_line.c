/* tests/unit/test_record_line.c -- fields of a line have the digits that base/buffer.h gives. */
#include "tests/support/test.h"

#include "base/random.h"
#include "sim/record/record_line.h"

static const int64_t edges[] = {0,
                                1,
                                9,
                                10,
                                99,
                                100,
                                999,
                                1000,
                                1001,
                                9999,
                                10000,
                                12345678,
                                99999999,
                                100000000,
                                100000001,
                                999999999,
                                TIME_NS_PER_S,
                                TIME_NS_PER_S + 1,
                                TIME_NS_PER_S + 10,
                                10 * TIME_NS_PER_S - 10,
                                99999999 * TIME_NS_PER_S,
                                99999999 * TIME_NS_PER_S + 999999990,
                                100000000 * TIME_NS_PER_S,
                                100000000 * TIME_NS_PER_S - 1,
                                TIME_NS_MAX,
                                INT64_MAX - 1,
                                INT64_MAX,
                                INT64_MIN};
enum { EDGE_COUNT = sizeof edges / sizeof edges[0], RANDOM_COUNT = 300000, MARK = '#' };

/* Numbers of every length, with zeros behind and without. */
static int64_t random_number(struct random_stream *stream)
{
    uint64_t bits = random_below(stream, UINT32_MAX);
    bits = bits << 31 ^ random_below(stream, UINT32_MAX);
    int64_t value = (int64_t)(bits >> random_below(stream, 63));
    for (uint32_t zeros = random_below(stream, 10); zeros > 0 && value < INT64_MAX / 10; zeros--)
        value *= 10;
    return random_below(stream, 8) == 0 ? -value : value;
}

/* What was written from `text` to `at` is `expected` and a comma, and nothing far behind it was touched. */
static void assert_field(struct buffer *expected, const char *text, const char *at)
{
    buffer_char(expected, ',');
    assert_in_range(at - text, 2, LINE_NUMBER_CHARS_MAX);
    assert_int_equal(at - text, expected->length);
    assert_memory_equal(text, expected->bytes, expected->length);
    assert_int_equal(text[LINE_NUMBER_CHARS_MAX], MARK);
    expected->length = 0;
}

static void check(struct buffer *expected, struct line_time *time, int64_t value)
{
    char text[LINE_NUMBER_CHARS_MAX + 1];
    text[LINE_NUMBER_CHARS_MAX] = MARK;
    buffer_int(expected, value);
    assert_field(expected, text, line_int(text, value));
    buffer_scaled(expected, value, 1000);
    assert_field(expected, text, line_milli(text, value));
    struct line_time none = {0};
    for (int i = 0; i < 4; i++) { /* new; kept; kept of another; as none is kept */
        buffer_scaled(expected, value, TIME_NS_PER_S);
        assert_field(expected, text, line_ns(text, i < 2 ? &none : time, value));
    }
    if (value >= 0) {
        buffer_int(expected, value);
        assert_field(expected, text, line_uint(text, (uint64_t)value));
    }
}

TEST(test_digits)
{
    struct buffer expected = {0};
    struct line_time time = {0};
    struct random_stream stream;
    random_stream_init(&stream, 1, "line", 0);
    for (int i = 0; i < EDGE_COUNT; i++) {
        check(&expected, &time, edges[i]);
        if (edges[i] > INT64_MIN)
            check(&expected, &time, -edges[i]);
    }
    for (int i = 0; i < RANDOM_COUNT; i++)
        check(&expected, &time, random_number(&stream));
    buffer_release(&expected);
}

/* Every number of up to four digits at each of its two places: the products that stand for quotients. */
TEST(test_eight)
{
    for (uint32_t low = 0; low < 10000; low++) {
        uint64_t digits = line_eight((9999 - low) * 10000 + low);
        uint32_t value = 0;
        for (int i = 0; i < 8; i++, digits >>= 8) {
            assert_in_range(digits & 0xff, 0, 9);
            value = value * 10 + (uint32_t)(digits & 0xff);
        }
        assert_int_equal(value, (9999 - low) * 10000 + low);
    }
}

TEST(test_never)
{
    struct line_time time = {0};
    char text[LINE_NUMBER_CHARS_MAX];
    assert_ptr_equal(line_moment(text, &time, TIME_NEVER), text + 1);
    assert_memory_equal(text, ",", 1);
    assert_ptr_equal(line_moment(text, &time, TIME_NS_PER_S), text + 2);
    assert_memory_equal(text, "1,", 2);
}
