/* What sharing costs, against the latencies of the nos table (seconds at 1, 3, 5 and 7 tenants). */
#include <math.h>

#include "tests/support/test.h"

#include "sim/engine/sharing_speed.h"

enum { ROWS = 4 };
static const double tenants[ROWS] = {1, 3, 5, 7};
static const double alone_s = 0.0882;

static void near(double is, double measured, double tolerance)
{
    if (fabs(is / measured - 1) > tolerance)
        fail_msg("%g, measured %g", is, measured);
}

TEST(test_timeslice)
{
    static const double measured[ROWS] = {.0882, .2931, .4890, .6849};
    for (int i = 0; i < ROWS; i++)
        near(alone_s * sharing_slow_timeslice(tenants[i]), measured[i], 0.01);
    assert_true(sharing_slow_timeslice(0.4) == 1); /* four notebooks, each a tenth of the time */
}

TEST(test_mps)
{
    static const double measured[ROWS] = {.0880, .1640, .2409, .3198};
    for (int i = 0; i < ROWS; i++)
        near(alone_s * sharing_slow_mps(0.443, 0.443 * tenants[i]), measured[i], 0.01);
}

/* Flat: the number of neighbours does not enter. */
TEST(test_mig)
{
    static const double measured[ROWS] = {.3424, .3413, .3453, .3442};
    const double slow = sharing_slow_mig(sharing_small_inference, 108, 14, 1);
    for (int i = 0; i < ROWS; i++)
        near(alone_s * slow, measured[i], 0.02);
    near(sharing_slow_mig(sharing_small_inference, 132, 132, 8), 1, 1e-12);
}

/* GROMACS, which waits for memory alone: ns/day on 1, 2 and 4 of 8 slices. */
TEST(test_bandwidth)
{
    static const double slices[] = {1, 2, 4}, measured[] = {43.28, 81.2, 115.5};
    for (int i = 0; i < 3; i++)
        near(118.6 / sharing_slow_bandwidth(0.365, slices[i] / 8), measured[i], 0.07);
    assert_true(sharing_slow_bandwidth(0.9, 1) == 1);
    near(sharing_slow_bandwidth(1.5, 1), 1.5, 1e-12);
}

/* Lucid's mean speeds by the sum of what two jobs are busy.  Beyond 2 the work done in all stays. */
TEST(test_pairs)
{
    static const double busy[] = {0.2, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5, 1.7, 1.9};
    static const double measured[] = {0.99, 1.02, 0.99, 0.97, 0.93, 0.87, 0.80, 0.73, 0.68};
    for (int i = 0; i < 9; i++)
        near(1 / sharing_slow_pairs(busy[i]), measured[i], 0.05);
    near(1 / sharing_slow_pairs(2), 0.614, 1e-9);
    near(3 / sharing_slow_pairs(3), 2 / sharing_slow_pairs(2), 1e-12);
    near(sharing_slow_pairs(2 + 1e-9), sharing_slow_pairs(2), 1e-6);
}
