/* tests/unit/test_range.c -- what was measured and what is outside, against cases worked out by hand and a scan over
 * the rows. */
#include <math.h>
#include <string.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "topologies/range.h"

enum { AXES = 3, ROWS_MAX = 8, SEEDS = 2000 };

static const char *const axes[AXES] = {"domains", "GPUs", "bytes"};

static struct range empty_range(void)
{
    return (struct range){.what = "all-to-all", .what_axis = "collective", .axes = axes, .axis_count = AXES};
}

static void check_outside(const struct range *range, const double *values, const char *reason, double times)
{
    const struct range_verdict verdict = range_test(range, values);
    assert_false(range_is_inside(verdict));
    assert_string_equal(verdict.reason, reason);
    assert_true(verdict.times == times);
}

TEST(both_ends_are_inside)
{
    struct range range = empty_range();
    range_add(&range, (const double[]){1, 8, 1024});
    range_add(&range, (const double[]){8, 64, 4096});
    assert_true(range_is_inside(range_test(&range, (const double[]){1, 8, 1024})));
    assert_true(range_is_inside(range_test(&range, (const double[]){8, 64, 4096})));
    assert_true(range_is_inside(range_test(&range, (const double[]){1, 64, 2000})));
    assert_true(range_test(&range, (const double[]){4, 16, 2000}).times == 1);
}

TEST(the_farthest_axis_is_named)
{
    struct range range = empty_range();
    range_add(&range, (const double[]){1, 8, 1024});
    range_add(&range, (const double[]){8, 64, 4096});
    check_outside(&range, (const double[]){16, 128, 2000}, "domains", 2); /* the first of equal ones */
    check_outside(&range, (const double[]){16, 256, 2000}, "GPUs", 4);
    check_outside(&range, (const double[]){16, 256, 128}, "bytes", 8); /* below the least counts as much as above */
}

TEST(it_says_what_was_asked_and_what_was_measured)
{
    struct range range = empty_range();
    range_add(&range, (const double[]){1, 8, 1024});
    range_add(&range, (const double[]){8, 64, 4096});
    const struct range_verdict above = range_test(&range, (const double[]){4, 256, 2000}),
                               below = range_test(&range, (const double[]){4, 2, 2000});
    assert_string_equal(above.axis, "GPUs");
    assert_true(above.asked == 256 && above.measured == 64);
    assert_true(below.asked == 2 && below.measured == 8);
    range = empty_range();
    assert_string_equal(range_test(&range, (const double[]){1, 8, 1024}).axis, "collective");
}

TEST(what_was_never_measured_has_no_factor)
{
    const struct range range = empty_range();
    check_outside(&range, (const double[]){1, 8, 1024}, "all-to-all", INFINITY);
    const struct range_verdict never = range_never("precision", "fp8"), inside = {.times = 1},
                               far = {.reason = "GPUs", .times = 1000};
    assert_false(range_is_inside(never));
    assert_string_equal(range_farther(far, never).reason, "fp8");
    assert_string_equal(range_farther(never, far).reason, "fp8");
    assert_string_equal(range_farther(inside, far).reason, "GPUs");
    assert_null(range_farther(inside, inside).reason);
    assert_string_equal(range_farther(never, range_never("kind of plan", "experts")).reason, "fp8");
}

TEST(told_in_words)
{
    struct buffer text = {0};
    range_tell((struct range_verdict){.reason = "GPUs", .times = 4}, &text);
    assert_string_equal(buffer_c_string(&text), "not validated here: GPUs 4 times outside the measured rows");
    text.length = 0;
    range_tell(range_never("system", "b200"), &text);
    assert_string_equal(buffer_c_string(&text), "not validated here: no row of b200 was measured");
    buffer_release(&text);
}

/* A case is inside if and only if on each axis some row is at least as large and some row at most as large. */
TEST(as_a_scan_over_the_rows)
{
    struct random_stream random;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        random_stream_init(&random, seed, "range", 0);
        double rows[ROWS_MAX][AXES], values[AXES];
        const uint32_t count = 1 + random_below(&random, ROWS_MAX);
        struct range range = empty_range();
        for (uint32_t r = 0; r < count; r++) {
            for (int a = 0; a < AXES; a++)
                rows[r][a] = 1 + random_below(&random, 20);
            range_add(&range, rows[r]);
        }
        double farthest = 1;
        for (int a = 0; a < AXES; a++) {
            values[a] = 1 + random_below(&random, 24);
            double nearest_above = INFINITY, nearest_below = INFINITY;
            for (uint32_t r = 0; r < count; r++) {
                nearest_above = fmin(nearest_above, fmax(1, values[a] / rows[r][a]));
                nearest_below = fmin(nearest_below, fmax(1, rows[r][a] / values[a]));
            }
            farthest = fmax(farthest, fmax(nearest_above, nearest_below));
        }
        const struct range_verdict verdict = range_test(&range, values);
        if (range_is_inside(verdict) != (farthest <= 1) || verdict.times != farthest)
            fail_msg("seed %llu: %g times outside, not %g", (unsigned long long)seed, farthest, verdict.times);
    }
}
