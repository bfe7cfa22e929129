/* How long it takes to cut a GPU: sums by hand. */
#include "tests/support/test.h"

#include "sim/engine/recut_costs.h"

#define SECONDS(n) ((time_ns)(n)*TIME_NS_PER_S)

static const struct gpu_cut whole = {.is_partitioned = false};
static const struct gpu_cut empty = {.is_partitioned = true};
static const struct gpu_cut two = {true, {{MIG_1G + 1, 0, 0, 0, MIG_3G + 1}}};
static const struct gpu_cut other = {true, {{MIG_2G + 1, 0, 0, 0, MIG_3G + 1}}};

static struct recut_costs costs(void)
{
    struct recut_costs costs = recut_costs_default();
    costs.create = SECONDS(2);
    costs.destroy = SECONDS(1);
    costs.mode_min = SECONDS(10);
    costs.mode_max = SECONDS(20);
    return costs;
}

TEST(test_driver)
{
    const struct recut_costs c = costs();
    assert_int_equal(recut_duration(&c, &empty, &two, 1, 0), SECONDS(4));
    assert_int_equal(recut_duration(&c, &two, &empty, 1, 0), SECONDS(2));
    assert_int_equal(recut_duration(&c, &two, &other, 1, 0), SECONDS(3)); /* the 3g stays */
    assert_int_equal(recut_duration(&c, &two, &two, 1, 0), 0);
}

/* Between the two, spread over them, and the same again for the same cut of a run. */
TEST(test_mode)
{
    const struct recut_costs c = costs();
    time_ns sum = 0;
    for (uint64_t nth = 0; nth < 1000; nth++) {
        const time_ns duration = recut_duration(&c, &whole, &two, 7, nth);
        assert_true(duration >= SECONDS(14) && duration <= SECONDS(24));
        assert_int_equal(duration, recut_duration(&c, &whole, &two, 7, nth));
        sum += duration;
        assert_true(recut_duration(&c, &two, &whole, 7, nth) >= SECONDS(12));
    }
    /* Mean 19 s; five standard errors of a uniform one over 10 s: 0.46 s. */
    assert_true(sum > 18540 * TIME_NS_PER_S && sum < 19460 * TIME_NS_PER_S);
    assert_true(recut_duration(&c, &whole, &two, 7, 0) != recut_duration(&c, &whole, &two, 8, 0));
}

TEST(test_operator)
{
    struct recut_costs c = costs();
    c.path = RECUT_BY_OPERATOR;
    for (uint64_t nth = 0; nth < 100; nth++) {
        const time_ns duration = recut_duration(&c, &two, &other, 1, nth);
        assert_true(duration >= SECONDS(180) && duration <= SECONDS(300));
    }
}
