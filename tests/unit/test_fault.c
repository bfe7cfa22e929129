/* When faults strike, and whom. */
#include <math.h>

#include "tests/support/test.h"

#include "sim/job/fault.h"

#define HOUR (3600 * TIME_NS_PER_S)

/* A Poisson process: numbers and causes within five standard deviations over 20,000 jobs of 100 hours. */
TEST(rates_are_kept)
{
    const struct fault_rates rates = {{[FAULT_OUT_OF_MEMORY] = 0.01, [FAULT_FATAL] = 0.03}};
    uint64_t count[FAULT_CAUSE_COUNT] = {0}, none = 0;
    enum { JOBS = 20000 };
    for (job_id job = 0; job < JOBS; job++) {
        struct fault fault = {0};
        time_ns before = 0;
        for (fault_next(&rates, 7, job, &fault); fault.at < 100 * HOUR; fault_next(&rates, 7, job, &fault)) {
            assert_true(fault.at > before);
            before = fault.at;
            count[fault.cause]++;
        }
        none += fault.number == 1;
    }
    assert_int_equal(count[FAULT_RUNAWAY], 0);
    assert_true(fabs((double)count[FAULT_OUT_OF_MEMORY] - JOBS * 1.0) < 5 * sqrt(JOBS * 1.0));
    assert_true(fabs((double)count[FAULT_FATAL] - JOBS * 3.0) < 5 * sqrt(JOBS * 3.0));
    assert_true(fabs((double)none - JOBS * exp(-4)) < 5 * sqrt(JOBS * exp(-4)));
}

/* They follow from seed and job alone. */
TEST(the_same_job_has_the_same_faults)
{
    const struct fault_rates rates = {{0.1, 0.2, 0.3}};
    struct fault one = {0}, same = {0}, other_job = {0}, other_seed = {0};
    fault_next(&rates, 1, 5, &one);
    fault_next(&rates, 1, 5, &same);
    fault_next(&rates, 1, 6, &other_job);
    fault_next(&rates, 2, 5, &other_seed);
    assert_true(one.at == same.at && one.cause == same.cause && one.salt == same.salt);
    assert_true(one.at != other_job.at && one.at != other_seed.at);
    assert_true(fault_rates_are_set(&rates));
    assert_false(fault_rates_are_set(&(struct fault_rates){{0}}));
}

/* So rare that it is beyond simulated time. */
TEST(a_fault_may_never_come)
{
    struct fault fault = {0};
    fault_next(&(struct fault_rates){{[FAULT_FATAL] = 1e-30}}, 1, 1, &fault);
    assert_true(fault.at == TIME_NEVER);
}
