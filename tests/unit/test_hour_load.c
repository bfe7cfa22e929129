/* The GPUs that many jobs hold, hour by hour, against a sum over all jobs. */
#include <math.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "reports/hour_load.h"

enum { JOBS = 400, HOURS = 60 };

struct piece {
    time_ns start, duration;
    int64_t gpu_milli;
};

static double held_s(const struct piece *pieces, time_ns until)
{
    double sum = 0;
    for (size_t i = 0; i < JOBS; i++) {
        const time_ns end = pieces[i].start + pieces[i].duration, last = end < until ? end : until;
        if (last > pieces[i].start)
            sum += (double)pieces[i].gpu_milli / 1000 * time_to_seconds(last - pieces[i].start);
    }
    return sum;
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("got %.12g, expected %.12g", value, expected);
}

/* Starts and ends fall on whole hours, too. */
TEST(sums_of_all_jobs)
{
    struct piece pieces[JOBS];
    struct random_stream stream;
    struct hour_load load = {0};
    random_stream_init(&stream, 7, "hour_load", 0);
    for (size_t i = 0; i < JOBS; i++) {
        const time_ns grain = i % 3 == 0 ? HOUR_LOAD_NS : 7 * TIME_NS_PER_S;
        pieces[i].start = random_below(&stream, (uint32_t)(40 * HOUR_LOAD_NS / grain)) * grain;
        pieces[i].duration = random_below(&stream, (uint32_t)(20 * HOUR_LOAD_NS / grain)) * grain;
        pieces[i].gpu_milli = random_below(&stream, 9) * 500;
        hour_load_add(&load, pieces[i].start, pieces[i].duration, pieces[i].gpu_milli);
    }
    struct hour_load_walk walk = hour_load_begin(&load), steps = hour_load_begin(&load);
    for (int hour = 0; hour <= HOURS + 5; hour++)
        near(hour_load_to(&walk, hour * HOUR_LOAD_NS), held_s(pieces, hour * HOUR_LOAD_NS));
    for (int hour = 0; hour <= HOURS; hour += 7)
        near(hour_load_to(&steps, hour * HOUR_LOAD_NS), held_s(pieces, hour * HOUR_LOAD_NS));
    hour_load_release(&load);
}

/* What would reach beyond a century is cut there; what begins there is left out; nothing overflows. */
TEST(nothing_beyond_a_century)
{
    struct hour_load load = {0};
    hour_load_add(&load, INT64_MAX, INT64_MAX, 1000);
    assert_int_equal(load.count, 0);
    hour_load_add(&load, 0, INT64_MAX, 1000);
    assert_in_range(load.count, 1, 1 << 20);
    struct hour_load_walk walk = hour_load_begin(&load);
    near(hour_load_to(&walk, 10 * HOUR_LOAD_NS), 36000);
    hour_load_release(&load);
}
