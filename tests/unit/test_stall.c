/* The guard against runs that never end: what it counts, what begins the counts anew, and that legal runs do not trip
 * it. */
#include "tests/support/test.h"

#include "sim/engine/stall.h"
#include "tests/support/run.h"

#define S(seconds) ((time_ns)(seconds)*TIME_NS_PER_S)

TEST(test_cycles)
{
    struct stall stall = {.limit = 3};
    assert_false(stall_cycle(&stall, 1, 5, true));
    assert_false(stall_cycle(&stall, 1, 6, true));
    assert_false(stall_cycle(&stall, 1, 7, true));
    assert_true(stall_cycle(&stall, 1, 8, true));
    assert_int_equal(stall.since, 5);
    assert_false(stall_cycle(&stall, 2, 9, true)); /* a job ended */
    assert_int_equal(stall.since, 9);
}

TEST(test_time_counts_while_something_comes)
{
    struct stall stall = {.limit = 2};
    for (int cycle = 0; cycle < 100; cycle++)
        assert_false(stall_cycle(&stall, 1, S(60) * cycle, true));
    stall = (struct stall){.limit = 2};
    assert_false(stall_cycle(&stall, 1, 0, false));
    assert_false(stall_cycle(&stall, 1, S(60), false));
    assert_true(stall_cycle(&stall, 1, S(120), false));
    stall = (struct stall){.limit = 2};
    assert_false(stall_cycle(&stall, 1, 0, true));
    assert_false(stall_cycle(&stall, 1, S(30), true));
    assert_true(stall_cycle(&stall, 1, S(60) - 1, true));
}

TEST(test_evictions)
{
    struct stall stall = {.limit = 2};
    for (int cycle = 0; cycle < 100; cycle++) { /* each saves a minute */
        stall_eviction(&stall, S(60));
        assert_false(stall_cycle(&stall, 1, S(60) * cycle, true));
    }
    stall_eviction(&stall, 0);
    stall_eviction(&stall, S(59));
    assert_false(stall_cycle(&stall, 1, S(6000), true));
    stall_eviction(&stall, 0);
    assert_true(stall_cycle(&stall, 1, S(6060), true)); /* time alone does not make up for them */
    assert_false(stall_cycle(&stall, 2, S(6060), true));
    assert_int_equal(stall.evictions, 0);
}

TEST(test_no_limit)
{
    struct stall stall = {0};
    for (int cycle = 0; cycle < 1000; cycle++) {
        stall_eviction(&stall, 0);
        assert_false(stall_cycle(&stall, 1, 0, false));
    }
}

/* Jobs submitted, started and ended at one instant, far more of them than steps are allowed. */
TEST(test_one_instant)
{
    enum { JOBS = 2000 };
    static struct run_job jobs[JOBS];
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct run_setup setup = run_setup_default(cluster);
    setup.world.stall_steps = 10;
    for (int j = 0; j < JOBS; j++)
        jobs[j] = run_job_make(0, j % 2, 1, 8); /* one fits; half take no time, half a nanosecond */
    struct run_log *log = run_jobs(&setup, jobs, JOBS);
    assert_int_equal(log->result.finished, JOBS);
    run_log_free(log);
    cluster_free(cluster);
}
