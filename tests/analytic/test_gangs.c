/* Gangs, elastic jobs, dependencies and arrays under the real scheduler, against closed forms: when two gangs that
 * take what they find block each other, when a job that grows or shrinks ends, when chains and arrays are over. */
#include "tests/support/test.h"

#include "policies/gang/gangs.h"
#include "policies/order/orders.h"
#include "policies/preemption/preemptions.h"
#include "policies/sched.h"
#include "tests/support/run.h"

#define S(seconds)      ((seconds)*TIME_NS_PER_S)
#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

enum { HOUR_S = 3600, LOW = 10, HIGH = 90 };

static struct run_setup open_setup(uint32_t nodes)
{
    struct run_setup setup = run_setup_default(cluster_uniform_new(nodes, 8));
    setup.policy.is_strict = false;
    return setup;
}

static void close_setup(struct run_setup *setup, struct run_log *log)
{
    run_log_free(log);
    cluster_free((struct cluster *)(uintptr_t)setup->cluster);
}

/* ---- Two gangs of 256 GPUs ---------------------------------------------------------------------- */

/* Member by member, the job that holds least next: as pods of both come to a scheduler that knows no gangs. */
static struct run_setup open_hoard(uint32_t nodes)
{
    struct run_setup setup = open_setup(nodes);
    setup.policy.order[0] = &order_drf;
    setup.policy.order[1] = &order_fifo;
    setup.policy.order_count = 2;
    setup.policy.gang = &gang_hoard;
    setup.policy.guarantees = 0;
    setup.policy.stale_after = TIME_NEVER;
    return setup;
}

/* On 32 to 62 nodes each takes half of them, waits for the other's, and idles until the run is cut off. */
TEST(test_deadlock)
{
    const struct run_job jobs[] = {run_job_make(0, S(4 * HOUR_S), 32, 8), run_job_make(0, S(4 * HOUR_S), 32, 8)};
    for (uint32_t nodes = 32; nodes <= 62; nodes += 10) {
        struct run_setup setup = open_hoard(nodes);
        setup.world.end = S(10 * HOUR_S);
        struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
        for (job_id id = 0; id < 2; id++) {
            assert_int_equal(log->jobs[id].state, END_PENDING);
            assert_int_equal(log->jobs[id].start, TIME_NEVER);
            assert_int_equal(log->jobs[id].wait, S(10 * HOUR_S));
            assert_int_equal(log->jobs[id].run, 0);
            assert_int_equal(run_attempt(log, id, 0)->gpu_milli, nodes / 2 * 8 * GPU_MILLI);
            assert_true(run_attempt(log, id, 0)->is_partial);
        }
        const struct timeline_row *last = run_last_sample(log);
        assert_true(last->partial_gang_gpu_s == 10.0 * HOUR_S * nodes * 8);
        assert_true(last->reserved_gpu_s == last->partial_gang_gpu_s);
        assert_true(last->allocated_gpu_s == 0);
        close_setup(&setup, log);
    }
}

/* From 63 nodes on the first gets its last member, runs, and leaves its nodes to the second. */
TEST(test_no_deadlock_with_one_more)
{
    const struct run_job jobs[] = {run_job_make(0, S(4 * HOUR_S), 32, 8), run_job_make(0, S(4 * HOUR_S), 32, 8)};
    struct run_setup setup = open_hoard(63);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(log->jobs[0].end, S(4 * HOUR_S));
    assert_int_equal(log->jobs[1].start, S(4 * HOUR_S));
    assert_int_equal(log->jobs[1].end, S(8 * HOUR_S));
    assert_true(run_last_sample(log)->partial_gang_gpu_s == 4.0 * HOUR_S * 31 * 8);
    close_setup(&setup, log);
}

/* All or nothing: one after the other, and no GPU is held in vain. */
TEST(test_all_or_nothing)
{
    const struct run_job jobs[] = {run_job_make(0, S(4 * HOUR_S), 32, 8), run_job_make(0, S(4 * HOUR_S), 32, 8)};
    struct run_setup setup = open_setup(40);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(log->jobs[0].end, S(4 * HOUR_S));
    assert_int_equal(log->jobs[1].end, S(8 * HOUR_S));
    assert_true(run_last_sample(log)->partial_gang_gpu_s == 0);
    close_setup(&setup, log);
}

/* ---- Elastic jobs ------------------------------------------------------------------------------- */

/* 4 members of 8 GPUs, at least 2. */
static struct run_job elastic(time_ns duration)
{
    struct run_job made = run_job_make(0, duration, 4, 8);
    made.job.first.min_count = 2;
    made.job.priority = LOW;
    return made;
}

/* Two of four nodes are taken until 300 s: W = 4000 member-s, 600 of them by then, the rest by fours. */
TEST(test_grows_when_there_is_space)
{
    struct run_setup setup = open_setup(4);
    const struct run_job jobs[] = {run_job_make(0, S(300), 2, 8), elastic(S(1000))};
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(log->jobs[1].start, 0);
    assert_int_equal(log->jobs[1].end, S(300 + 3400 / 4));
    assert_int_equal(run_attempt(log, 1, 0)->end, S(300));
    assert_int_equal(run_attempt(log, 1, 0)->gpu_milli, 16 * GPU_MILLI);
    assert_int_equal(run_attempt(log, 1, 1)->gpu_milli, 32 * GPU_MILLI);
    assert_int_equal(log->attempt_count, 3);
    close_setup(&setup, log);
}

/* At 300 s two members go for a job of higher priority, after a checkpoint of 20 s; they come back when it ends, at
 * 420: 1200 member-s, 200 by twos until then, 2600 by fours. */
TEST(test_shrinks_for_others)
{
    struct run_setup setup = open_setup(4);
    struct run_job jobs[] = {elastic(S(1000)), run_job_make(S(300), S(100), 2, 8)};
    jobs[0].job.checkpoint = (struct checkpoint_plan){.duration = S(20), .restart = S(500)};
    jobs[1].job.priority = HIGH;
    setup.policy.order[0] = &order_priority;
    setup.policy.order[1] = &order_fifo;
    setup.policy.order_count = 2;
    setup.policy.preemption = &preemption_checkpoint;
    setup.policy.preempt.grace = S(60);
    setup.policy.preempt.preempt_min_runtime = setup.policy.preempt.reclaim_min_runtime = 0;
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(log->jobs[1].start, S(320));
    assert_int_equal(log->jobs[0].evictions, 0);
    assert_int_equal(log->jobs[0].resizes, 2);
    assert_int_equal(log->jobs[0].end, S(420 + 2600 / 4));
    assert_int_equal(log->jobs[0].lost_gpu_ns, S(20 * 32)); /* the checkpoint, and no restart */
    assert_int_equal(log->jobs[1].source, SOURCE_EVICTION);
    close_setup(&setup, log);
}

/* ---- Dependencies and arrays -------------------------------------------------------------------- */

TEST(test_chain)
{
    static const struct job_after ok0 = {0, AFTER_OK}, any1 = {1, AFTER_ANY}, not1 = {1, AFTER_NOT_OK},
                                  ok1 = {1, AFTER_OK};
    struct run_job jobs[5];
    for (uint32_t i = 0; i < COUNT_OF(jobs); i++)
        jobs[i] = run_job_make(S(i), S(100), 1, 8);
    jobs[1].truth.outcome = OUTCOME_FAILED;
    const struct job_after *const after[] = {NULL, &ok0, &any1, &not1, &ok1};
    for (uint32_t i = 1; i < COUNT_OF(jobs); i++) {
        jobs[i].job.after = after[i];
        jobs[i].job.after_count = 1;
    }
    struct run_setup setup = open_setup(8);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    assert_int_equal(log->jobs[1].start, S(100));
    assert_int_equal(log->jobs[1].wait, 0); /* it was not eligible before */
    assert_int_equal(log->jobs[1].state, END_FAILED);
    assert_int_equal(log->jobs[2].start, S(200));
    assert_int_equal(log->jobs[3].start, S(200));
    assert_int_equal(log->jobs[4].state, END_REJECTED);
    assert_int_equal(log->jobs[4].reason, REASON_DEPENDENCY_NEVER);
    assert_int_equal(log->jobs[4].end, S(200));
    assert_int_equal(log->result.never_fits, 0);
    close_setup(&setup, log);
}

/* Seven elements of 100 s, three at a time, on a cluster that would hold them all: 3 + 3 + 1. */
TEST(test_array)
{
    struct run_job jobs[7];
    for (uint32_t i = 0; i < COUNT_OF(jobs); i++) {
        jobs[i] = run_job_make(0, S(100), 1, 1);
        jobs[i].job.array = 1;
        jobs[i].job.array_max = 3;
    }
    struct run_setup setup = open_setup(8);
    struct run_log *log = run_jobs(&setup, jobs, COUNT_OF(jobs));
    for (uint32_t i = 0; i < COUNT_OF(jobs); i++)
        assert_int_equal(log->jobs[i].start, S(100 * (i / 3)));
    close_setup(&setup, log);
}
