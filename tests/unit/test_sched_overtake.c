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

static struct job with_cpus(struct job job, uint32_t cpus)
{
    job.first.request.cpu_milli = cpus * 1000;
    return job;
}

/* Job 1 is promised all CPUs of job 0, which has 300 s to leave, and runs for 1,000 s then: job 2 needs them too and comes
 * after it.  GPUs there are for all of them. */
static void claimed_cpus_are_nobody_elses(void **state)
{
    (void)state;
    struct sched_case c;
    struct cluster *cluster = cluster_uniform_new(1, 4);
    cluster->types[0].cpu_milli = 8000;
    sched_case_open(&c, cluster, queue_table_new(),
                    "{\"order\": [\"priority\"], \"backfill\": {\"policy\": \"easy\"}, "
                    "\"actions\": [\"allocate\", \"preempt\"], \"preemption\": {\"policy\": "
                    "\"checkpoint\", \"grace_s\": 300, \"min_runtime_s\": 0}}");
    struct job victim = with_cpus(limited(0, 1, 10, 100000), 8);
    victim.checkpoint.duration = SECONDS(300);
    sched_case_submit(&c, victim, 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, with_cpus(limited(1, 1, 90, 1000), 8), SECONDS(10));
    sched_case_cycle(&c, SECONDS(10));
    assert_int_equal(sched_case_count(&c, DECISION_RESERVE), 1);
    sched_case_submit(&c, with_cpus(limited(2, 1, 50, 100), 8), SECONDS(20));
    sched_case_submit(&c, limited(3, 1, 20, 100), SECONDS(20));
    assert_int_equal(sched_case_start(&c, SECONDS(20)), 1); /* job 3 needs no CPU */
    assert_int_equal(sched_forecast(c.sched, 2), SECONDS(10 + 300 + 1000));
    sched_case_close(&c);
}

/* Of jobs that name no user nothing is counted. */
static void nobody_is_no_user(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    "{\"order\": [\"fifo\"], \"backfill\": {\"policy\": \"slurm\", "
                    "\"per_user\": 1}}");
    sched_case_submit(&c, limited(0, 2, 50, 1000), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    for (job_id id = 1; id < 4; id++) {
        struct job job = limited(id, id == 1 ? 4 : 1, 50, 100);
        job.user = NAMES_NONE;
        sched_case_submit(&c, job, SECONDS(1));
    }
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 2);
    sched_case_close(&c);
}

/* The head is told when it will start; whoever is put before it later delays it, and that is counted. */
static void late_starts_are_counted(void **state)
{
    (void)state;
    for (int32_t priority = 10; priority <= 90; priority += 80) {
        struct sched_case c;
        sched_case_open(
            &c, cluster_uniform_new(1, 4), queue_table_new(),
            "{\"order\": [\"priority\", \"fifo\"], \"backfill\": {\"policy\": \"easy\"}}");
        sched_case_submit(&c, limited(0, 3, 50, 100), 0);
        assert_int_equal(sched_case_start(&c, 0), 1);
        sched_case_submit(&c, limited(1, 4, 50, 100), SECONDS(1));
        sched_case_submit(&c, limited(4, 1, 5, 10), SECONDS(1)); /* so that there is a pass */
        assert_int_equal(sched_case_start(&c, SECONDS(1)), 1);
        assert_int_equal(sched_forecast(c.sched, 1), SECONDS(100));
        sched_case_submit(&c, limited(2, 4, priority, 50), SECONDS(2));
        assert_int_equal(sched_case_start(&c, SECONDS(2)), 0);
        sched_job_ended(c.sched, 4, JOB_END_COMPLETED, false, SECONDS(11));
        sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(100));
        assert_int_equal(sched_case_start(&c, SECONDS(100)), 1);
        const bool is_delayed = priority > 50;
        assert_int_equal(c.decisions[0].job, is_delayed ? 2 : 1);
        if (is_delayed) {
            sched_job_ended(c.sched, 2, JOB_END_COMPLETED, false, SECONDS(150));
            assert_int_equal(sched_case_start(&c, SECONDS(150)), 1);
        }
        struct sched_counts counts = sched_case_counts(&c);
        assert_int_equal(counts.late_starts, is_delayed);
        assert_true(counts.promised_starts >= 1);
        sched_case_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overtakers_leave_the_headroom),
        cmocka_unit_test(what_is_promised_will_be_used),
        cmocka_unit_test(slurm_looks_every_interval),
        cmocka_unit_test(claimed_cpus_are_nobody_elses),
        cmocka_unit_test(nobody_is_no_user),
        cmocka_unit_test(late_starts_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
