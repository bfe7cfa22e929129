/* What sharing costs, against the latencies of the nos table (seconds at 1, 3, 5 and 7 tenants). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/engine/sharing_speed.h"

enum { ROWS = 4 };
static const double tenants[ROWS] = {1, 3, 5, 7};
static const double alone_s = 0.0882;

static void near(double is, double measured, double tolerance)
{
    if (fabs(is / measured - 1) > tolerance)
        fail_msg("%g, measured %g", is, measured);
}

static void test_timeslice(void **state)
{
    static const double measured[ROWS] = {.0882, .2931, .4890, .6849};
    (void)state;
    for (int i = 0; i < ROWS; i++)
        near(alone_s * sharing_slow_timeslice(tenants[i]), measured[i], 0.01);
    assert_true(sharing_slow_timeslice(0.4) == 1); /* four notebooks, each a tenth of the time */
}

static void test_mps(void **state)
{
    static const double measured[ROWS] = {.0880, .1640, .2409, .3198};
    (void)state;
    for (int i = 0; i < ROWS; i++)
        near(alone_s * sharing_slow_mps(0.443, 0.443 * tenants[i]), measured[i], 0.01);
}

/* Flat: the number of neighbours does not enter. */
static void test_mig(void **state)
{
    static const double measured[ROWS] = {.3424, .3413, .3453, .3442};
    (void)state;
    const double slow = sharing_slow_mig(sharing_small_inference, 108, 14, 1);
    for (int i = 0; i < ROWS; i++)
        near(alone_s * slow, measured[i], 0.02);
    near(sharing_slow_mig(sharing_small_inference, 132, 132, 8), 1, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_timeslice), cmocka_unit_test(test_mps),
                                       cmocka_unit_test(test_mig)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
