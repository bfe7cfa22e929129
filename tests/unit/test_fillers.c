/* Jobs that fill the gap before a planned start (policies/reservation/fillers.h): single situations. */
#include "tests/support/test.h"

#include "policies/backfill/backfills.h"
#include "tests/support/run.h"
#include "tests/support/sched_case.h"

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* ---- Two nodes, whole runs ---- */

enum { BUSY, GANG, FILLER, TWO_JOBS };

/* Node 0 is busy for 1,000 s, a gang waits for both nodes for which a job of 10,000 s can give way. */
static void make_two(struct run_job jobs[TWO_JOBS])
{
    jobs[BUSY] = run_job_make(0, SECONDS(1000), 1, 8);
    jobs[GANG] = run_job_make(SECONDS(10), SECONDS(3000), 2, 8);
    jobs[FILLER] = run_job_make(SECONDS(20), SECONDS(10000), 1, 8);
    for (uint32_t j = 0; j < TWO_JOBS; j++) {
        jobs[j].job.limit = jobs[j].truth.duration;
        jobs[j].job.priority = j == FILLER ? 50 : 100;
        jobs[j].job.is_preemptible = j == FILLER;
    }
    jobs[FILLER].job.checkpoint = (struct checkpoint_plan){.duration = SECONDS(20), .restart = SECONDS(60)};
}

static struct run_log *run_two(const char *preset, bool fills)
{
    struct cluster *cluster = cluster_uniform_new(2, 8);
    struct run_setup setup = run_setup_default(cluster);
    struct run_job jobs[TWO_JOBS];
    setup.policy = run_preset(preset);
    if (!setup.policy.backfill_config.overtakes) {
        setup.policy.backfill = &backfill_easy;
        setup.policy.backfill_config = backfill_easy.defaults;
    }
    setup.policy.backfill_config.fills_gaps = fills;
    make_two(jobs);
    struct run_log *log = run_jobs(&setup, jobs, TWO_JOBS);
    cluster_free(cluster);
    return log;
}

/* Without fillers the gang starts at 1,000 s.  With them it starts a checkpoint of 20 s later, and the filler has
 * worked since 20 s; under slurm since the pass that comes within 30 s. */
TEST(a_gang_gets_both_nodes_a_checkpoint_after_the_first_is_free)
{
    static const char *const presets[] = {"windtunnel", "slurm", "kai", "kueue"};
    for (uint32_t p = 0; p < COUNT_OF(presets); p++) {
        struct run_log *log = run_two(presets[p], true);
        assert_in_range(log->jobs[FILLER].start, SECONDS(20), SECONDS(50));
        assert_int_equal(log->jobs[FILLER].source, SOURCE_GAP);
        assert_int_equal(run_attempt(log, FILLER, 0)->reason, REASON_GAP);
        assert_int_equal(log->jobs[GANG].start, SECONDS(1020));
        assert_in_range(log->jobs[FILLER].end, SECONDS(1020 + 3000 + 60 + 10000 - 980),
                        SECONDS(1020 + 3000 + 60 + 10000 - 950));
        run_log_free(log);
    }
}

TEST(without_the_switch_the_free_node_idles)
{
    static const char *const presets[] = {"windtunnel", "slurm"};
    for (uint32_t p = 0; p < COUNT_OF(presets); p++) {
        struct run_log *log = run_two(presets[p], false);
        assert_int_equal(log->jobs[GANG].start, SECONDS(1000));
        assert_int_equal(log->jobs[FILLER].start, SECONDS(4000));
        run_log_free(log);
    }
}

/* ---- Which jobs, and whether it is worth it ---- */

#define EASY                                                                                                           \
    "{'order': ['priority', 'fifo'], 'blocking': 'strict', 'actions': ['allocate', 'preempt'], "                       \
    "'backfill': {'policy': 'easy', 'fills_gaps': true}, "                                                             \
    "'preemption': {'policy': 'checkpoint', 'victims': ['priority'], 'grace_s': 60, 'min_runtime_s': 100, "            \
    "'evictions_per_job_max': 1, 'delay_s': 100000}}"

static struct job limited(job_id id, uint32_t count, int32_t priority, int64_t limit_s)
{
    struct job job = sched_case_job(id, count, 4, priority);
    job.limit = SECONDS(limit_s);
    job.is_preemptible = true;
    job.checkpoint.duration = SECONDS(10);
    return job;
}

/* Node 0 is busy for `gap_s`; a gang of priority 100 waits for it and node 1. */
static void open_with_gap(struct sched_case *c, int64_t gap_s)
{
    sched_case_open(c, cluster_uniform_new(2, 4), queue_table_new(), EASY);
    sched_case_submit(c, limited(0, 1, 100, gap_s), 0);
    assert_int_equal(sched_case_start(c, 0), 1);
    sched_case_submit(c, limited(1, 2, 100, 500), 0);
    assert_int_equal(sched_case_start(c, 0), 0);
}

static bool fills(struct job job, int64_t gap_s)
{
    struct sched_case c;
    open_with_gap(&c, gap_s);
    sched_case_submit(&c, job, 0);
    const bool does = sched_case_start(&c, 0) > 0;
    if (does)
        assert_int_equal(c.decisions[0].source, SOURCE_GAP);
    sched_case_close(&c);
    return does;
}

TEST(only_a_job_that_may_be_evicted_for_the_gang_fills)
{
    struct job job = limited(2, 1, 50, 9000);
    assert_true(fills(job, 1000));
    job.priority = 100; /* within_queue is `lower` */
    assert_false(fills(job, 1000));
    job.priority = 50;
    job.is_preemptible = false;
    assert_false(fills(job, 1000));
}

/* Law 3 with 4 GPUs of the filler and 8 of the gang: with a checkpoint of 50 s the gang waits 8 x 50 = 400 GPU s more,
 * so 4 x (gap - restart) must be more than that. */
TEST(a_gap_must_gain_more_than_restart_and_checkpoint_cost)
{
    struct job job = limited(2, 1, 50, 90000);
    job.checkpoint.duration = SECONDS(50);
    job.checkpoint.restart = SECONDS(30);
    assert_true(fills(job, 131));
    assert_false(fills(job, 130)); /* 4 x 100 = 400 */
    job.checkpoint.restart = 0;
    assert_true(fills(job, 101));
    assert_false(fills(job, 100));
    job.checkpoint.restart = SECONDS(9000);
    assert_false(fills(job, 9000));
}

/* A checkpoint takes longer than the grace, so only what the job saves by itself counts. */
TEST(a_gap_must_gain_what_is_saved_by_then)
{
    struct job job = limited(2, 1, 50, 9000);
    job.checkpoint =
        (struct checkpoint_plan){.interval = SECONDS(400), .duration = SECONDS(90), .restart = SECONDS(30)};
    assert_false(fills(job, 399));
    assert_true(fills(job, 400));
    job.checkpoint.interval = 0;
    assert_false(fills(job, 5000));
}

TEST(a_gap_must_be_as_long_as_the_minimum_run_time)
{
    struct job job = limited(2, 1, 50, 9000);
    job.checkpoint.duration = SECONDS(1);
    assert_true(fills(job, 100));
    assert_false(fills(job, 99));
}

/* ---- Giving way ---- */

/* Tell that the one victim of the last cycle has left. */
static void leave(struct sched_case *c, time_ns now)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->decisions[i].kind == DECISION_EVICT)
            sched_job_evicted(c->sched, c->decisions[i].job, (struct members){c->decisions[i].id, NODE_NONE},
                              EVICT_SAVED, now);
}

/* The running job ends early: the gang does not wait for the minimum run time nor for its own delay. */
TEST(a_filler_gives_way_at_once)
{
    struct sched_case c;
    open_with_gap(&c, 1000);
    sched_case_submit(&c, limited(2, 1, 50, 9000), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(7));
    assert_int_equal(sched_case_start(&c, SECONDS(7)), 0);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.decisions[0].kind, DECISION_EVICT);
    assert_int_equal(c.decisions[0].job, 2);
    assert_int_equal(c.decisions[0].for_job, 1);
    assert_int_equal(c.decisions[0].reason, REASON_GAP);
    assert_int_equal(c.decisions[1].kind, DECISION_RESERVE);
    assert_int_equal(c.decisions[1].job, 1);
    leave(&c, SECONDS(67));
    assert_int_equal(sched_case_start(&c, SECONDS(67)), 1);
    assert_int_equal(c.decisions[0].job, 1);
    assert_int_equal(c.decisions[0].source, SOURCE_EVICTION);
    /* It was evicted as often as the policy allows, so it fills no gap again. */
    sched_case_submit(&c, limited(3, 2, 100, 500), SECONDS(70));
    assert_int_equal(sched_case_start(&c, SECONDS(70)), 0);
    sched_case_close(&c);
}

/* What comes to wait after the filler started finds an ordinary job. */
TEST(a_filler_gives_way_only_to_jobs_that_waited_before)
{
    struct sched_case c;
    open_with_gap(&c, 1000);
    sched_case_submit(&c, limited(2, 1, 50, 9000), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_job_cancelled(c.sched, 1, SECONDS(5));
    sched_case_submit(&c, limited(3, 2, 100, 500), SECONDS(6));
    assert_int_equal(sched_case_start(&c, SECONDS(6)), 0);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(7));
    assert_int_equal(sched_case_start(&c, SECONDS(7)), 0);
    assert_int_equal(c.count, 0);
    sched_case_submit(&c, limited(4, 1, 100, 20000), SECONDS(8));
    assert_int_equal(sched_case_start(&c, SECONDS(8)), 0);
    assert_int_equal(sched_planned_start(c.sched, 3), SECONDS(9000));
    sched_case_close(&c);
}

/* The gang's planned start counts the filler as leaving, so a job that would delay it still waits. */
TEST(a_planned_start_counts_its_fillers_as_leaving)
{
    struct sched_case c;
    open_with_gap(&c, 1000);
    sched_case_submit(&c, limited(2, 1, 50, 9000), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    assert_int_equal(sched_planned_start(c.sched, 1), SECONDS(1000));
    sched_case_submit(&c, limited(3, 1, 100, 50), SECONDS(1));
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 0);
    assert_int_equal(sched_planned_start(c.sched, 1), SECONDS(1000));
    sched_case_close(&c);
}
