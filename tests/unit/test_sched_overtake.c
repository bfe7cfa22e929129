/* policies/overtake.c, forecast.c: backfill beside what else holds space back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/sched_case.h"

static struct job limited(job_id id, uint16_t gpus, int32_t priority, int64_t limit_s)
{
    struct job job = sched_case_job(id, 1, gpus, priority);
    job.limit = SECONDS(limit_s);
    return job;
}

/* Of 5 free GPUs 2 are kept: of three short jobs behind a head that waits, of 1, 2 and 2 GPUs, two may overtake. */
static void overtakers_leave_the_headroom(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 8), queue_table_new(),
                    "{\"order\": [\"fifo\"], \"backfill\": {\"policy\": \"easy\"}, "
                    "\"headroom\": {\"gpus\": 2}}");
    sched_case_submit(&c, limited(0, 3, 50, 100), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, limited(1, 8, 50, 100), SECONDS(1));
    sched_case_submit(&c, limited(2, 1, 50, 10), SECONDS(1));
    sched_case_submit(&c, limited(3, 2, 50, 10), SECONDS(1));
    sched_case_submit(&c, limited(4, 2, 50, 10), SECONDS(1));
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 2);
    assert_int_equal(c.decisions[0].job, 2);
    assert_int_equal(c.decisions[1].job, 3);
    sched_case_close(&c);
}

/* Job 1 is promised 3 of 4 GPUs at 5,001 s and will have them for 1,000 s: the head, which needs all, cannot start before,
 * and who ends at 5,502 s delays nobody. */
static void what_is_promised_will_be_used(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    "{\"order\": [\"priority\"], \"backfill\": {\"policy\": \"easy\"}, "
                    "\"actions\": [\"allocate\", \"preempt\"], \"preemption\": {\"policy\": "
                    "\"checkpoint\", \"grace_s\": 300, \"min_runtime_s\": 0}}");
    struct job victim = limited(0, 2, 10, 100000);
    victim.checkpoint.duration = SECONDS(300);
    sched_case_submit(&c, victim, 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, limited(1, 3, 90, 1000), SECONDS(5001));
    sched_case_cycle(&c, SECONDS(5001));
    assert_int_equal(sched_case_count(&c, DECISION_RESERVE), 1);
    sched_case_submit(&c, limited(2, 4, 50, 100), SECONDS(5002));
    sched_case_submit(&c, limited(3, 1, 20, 500), SECONDS(5002));
    assert_int_equal(sched_case_start(&c, SECONDS(5002)), 1);
    assert_int_equal(c.decisions[0].job, 3);
    sched_case_close(&c);
}

/* A pass every 30 s: what comes in between waits for the next, which wakes the scheduler once and not again in vain. */
static void slurm_looks_every_interval(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    "{\"order\": [\"fifo\"], \"backfill\": {\"policy\": \"slurm\", "
                    "\"interval_s\": 30, \"resolution_s\": 0}}");
    sched_case_submit(&c, limited(0, 3, 50, 1000), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, limited(1, 4, 50, 100), SECONDS(1));
    sched_case_submit(&c, limited(2, 1, 50, 100), SECONDS(1));
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 1); /* the first pass */
    sched_job_ended(c.sched, 2, JOB_END_COMPLETED, false, SECONDS(11));
    sched_case_submit(&c, limited(3, 1, 50, 100), SECONDS(12));
    assert_int_equal(sched_case_start(&c, SECONDS(12)), 0);
    assert_int_equal(c.wake_at, SECONDS(31));
    assert_int_equal(sched_case_start(&c, SECONDS(31)), 1);
    sched_case_submit(&c, limited(4, 1, 50, 100), SECONDS(40));
    assert_int_equal(sched_case_start(&c, SECONDS(40)), 0); /* nothing is free */
    assert_int_equal(c.wake_at, SECONDS(61));
    assert_int_equal(sched_case_start(&c, SECONDS(61)), 0);
    assert_int_equal(c.wake_at, TIME_NEVER);
    sched_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overtakers_leave_the_headroom),
        cmocka_unit_test(what_is_promised_will_be_used),
        cmocka_unit_test(slurm_looks_every_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
