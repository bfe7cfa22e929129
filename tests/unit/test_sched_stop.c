/* tests/unit/test_sched_stop.c -- sched_stop_at: a cycle that is told to stop starts no more jobs; what it has decided
 * stands, and nothing that it knows is wrong afterwards. */
#include "tests/support/test.h"

#include "policies/placement/placement.h"
#include "policies/policy_config.h"
#include "tests/support/sched_case.h"

static const char fifo[] = "{\"order\": [\"fifo\"]}";

TEST(a_stopped_cycle_starts_nothing)
{
    struct sched_case c;
    volatile int stop = 0;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(), fifo);
    sched_stop_at(c.sched, &stop);
    sched_case_submit(&c, sched_case_job(0, 1, 4, 0), 0);
    assert_int_equal(sched_case_start(&c, 0), 1); /* not yet */
    sched_case_submit(&c, sched_case_job(1, 1, 4, 0), SECONDS(1));
    stop = 15;
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_START), 0);
    assert_int_equal(sched_case_count(&c, DECISION_REJECT), 0); /* it is not taken for one that never fits */
    stop = 0;
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(2)); /* its class was closed as by lack of space */
    assert_int_equal(sched_case_start(&c, SECONDS(2)), 1);
    sched_case_close(&c);
}

TEST(no_flag_is_no_stop)
{
    struct sched_case c;
    volatile int stop = 1;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), fifo);
    sched_stop_at(c.sched, &stop);
    sched_stop_at(c.sched, NULL);
    sched_case_submit(&c, sched_case_job(0, 1, 4, 0), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_close(&c);
}

/* Jobs of many members whose requests differ are placed in the empty cluster when they come, to see whether they ever
 * fit: a stop proves nothing. */
TEST(a_stop_rejects_nobody)
{
    static const struct job_group more = {.request = {.gpus = 2}, .count = 128, .min_count = 128};
    struct sched_case c;
    volatile int stop = 1;
    sched_case_open(&c, cluster_uniform_new(100, 8), queue_table_new(), fifo);
    sched_stop_at(c.sched, &stop);
    struct job job = sched_case_job(0, 128, 1, 0);
    job.group_count = 2;
    job.more = &more;
    sched_case_submit(&c, job, 0);
    sched_case_cycle(&c, 0);
    assert_int_equal(sched_case_count(&c, DECISION_REJECT), 0);
    assert_int_equal(sched_case_count(&c, DECISION_START), 0);
    sched_case_close(&c);
}

/* ---- in the middle of one placement ---- */

enum { MEMBERS = 1000, RAISED_AT = 200 };
static volatile int raised;
static int scored;

static int64_t score_and_raise(const struct spot *spot)
{
    raised = ++scored >= RAISED_AT;
    return -spot->node_free;
}

static const struct placement_policy raising = {
    .name = "raising", .version = 1, .summary = "of this test", .score = score_and_raise, .looks_at_nodes = true};

/* The placement ends soon, not with the job's last member, and takes nothing. */
TEST(a_placement_is_left)
{
    struct error error = ERROR_OK;
    struct sched_case c = {.cluster = cluster_uniform_new(MEMBERS / 8, 8), .queues = queue_table_new()};
    struct policy_config config = sched_case_policy(fifo);
    config.placement = &raising;
    c.sched = sched_new(c.cluster, c.queues, &config, &error);
    assert_non_null(c.sched);
    sched_stop_at(c.sched, &raised);
    sched_case_submit(&c, sched_case_job(0, MEMBERS, 1, 0), 0);
    sched_case_cycle(&c, 0);
    assert_int_equal(sched_case_count(&c, DECISION_START), 0);
    assert_in_range(scored, RAISED_AT, RAISED_AT + (PLACEMENT_LOOK + 1) * MEMBERS / 8);
    sched_case_close(&c);
}
