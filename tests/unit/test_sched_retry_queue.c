/* policies/state/retry_queue.c, attempts.c: who is woken, and by what; how many class queues are looked at meanwhile;
 * which plans are not even counted as tried. */
#include "tests/support/test.h"

#include "policies/allocate/allocate.h"
#include "policies/state/sched_state.h"
#include "tests/support/sched_case.h"

#define WITH(order, actions, quota, more)                                                                              \
    "{'order': [" order "], 'blocking': 'skip', 'placement': 'worst_fit', 'quota': '" quota                            \
    "', 'actions': ['allocate', '" actions "'], 'preemption': {'policy': "                                             \
    "'kill', 'victims': [], 'search': 'ordered', " more "}}"
#define PRIORITY "'priority', 'fifo'"

static uint64_t tried(const struct sched_case *c)
{
    return sched_case_counts(c).plans_tried;
}

/* Facts that count as changes and are none, for no such decision was taken of the job: how many until the next plan is
 * tried, a cycle after each; 0: more than `most`. */
static uint32_t changes_by_until_tried(struct sched_case *c, job_id job, time_ns now, uint32_t most)
{
    uint64_t before = tried(c);
    for (uint32_t i = 1; i <= most; i++) {
        sched_job_cancelled(c->sched, job, now);
        sched_case_cycle(c, now);
        if (tried(c) != before)
            return i;
    }
    return 0;
}

static uint32_t changes_until_tried(struct sched_case *c, time_ns now, uint32_t most)
{
    return changes_by_until_tried(c, 0, now, most);
}

/* Six class queues: four are tried in the first cycle, as preemption_config.h says by default, the others in the next.
 */
TEST(four_plans_a_cycle_unless_told_otherwise)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 6), queue_table_new(),
                    WITH(PRIORITY, "preempt", "none", "\"min_runtime_s\": 0"));
    sched_case_submit(&c, sched_case_job(0, 1, 6, 90), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    for (job_id id = 1; id <= 6; id++)
        sched_case_submit(&c, sched_case_job(id, 1, (uint16_t)id, 10), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(tried(&c), 4);
    assert_true(c.wake_at == SECONDS(1) + 1);
    sched_case_cycle(&c, c.wake_at);
    assert_int_equal(tried(&c), 6);
    assert_true(c.wake_at == TIME_NEVER);
    sched_case_close(&c);
}

/* Two nodes of 4 are half full.  For a head of 4, patient at 90 s, somebody would move; it goes away, and who is
 * behind it in the class queue is patient at 60 s. */
TEST(a_consolidation_waits_for_the_head_there_is)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(),
                    WITH(PRIORITY, "consolidation", "none",
                         "'min_runtime_s': 0, 'delay_s': 50}, 'defrag': {'policy': 'consolidation', "
                         "'moves_per_plan': 1"));
    sched_case_submit(&c, sched_case_job(0, 1, 2, 50), 0);
    sched_case_submit(&c, sched_case_job(1, 1, 2, 50), 0);
    assert_int_equal(sched_case_start(&c, 0), 2);
    sched_case_submit(&c, sched_case_job(2, 1, 4, 50), SECONDS(10));
    sched_case_submit(&c, sched_case_job(3, 1, 4, 60), SECONDS(40));
    sched_case_cycle(&c, SECONDS(45));
    assert_true(c.wake_at == SECONDS(90));
    sched_job_cancelled(c.sched, 3, SECONDS(50));
    sched_case_cycle(&c, SECONDS(50));
    assert_int_equal(tried(&c), 0);
    assert_true(c.wake_at == SECONDS(60));
    sched_case_cycle(&c, SECONDS(60));
    assert_int_equal(tried(&c), 1);
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    assert_int_equal(c.decisions[0].reason, REASON_CONSOLIDATED);
    sched_case_close(&c);
}

/* Eight GPUs, of which `lends` deserves 4 and holds all.  What its jobs lose grows as fast as the wait of the job
 * that would take two back, so that no plan is ever worth it: one that failed after a wait of 1000 s is looked at again
 * after as long. */
static void setup_dear(struct sched_case *c)
{
    struct queue_table *queues = queue_table_new();
    queue_id lends = queue_table_add(queues, TEXT("lends"), QUEUE_ROOT),
             asks = queue_table_add(queues, TEXT("asks"), QUEUE_ROOT);
    queues->queues[lends].deserved[RESOURCE_GPU] = 4 * GPU_MILLI;
    queues->queues[asks].deserved[RESOURCE_GPU] = 0;
    sched_case_open(c, cluster_uniform_new(1, 8), queues,
                    WITH("'priority', 'srtf'", "reclaim", "fairshare", "'min_runtime_s': 0, 'loss_ratio': 0.125"));
    for (job_id id = 0; id < 4; id++) {
        struct job job = sched_case_job(id, 1, 2, 50);
        job.queue = lends;
        sched_case_submit(c, job, 0);
        assert_int_equal(sched_case_start(c, 0), 1);
    }
    struct job borrower = sched_case_job(4, 1, 2, 50);
    borrower.queue = asks;
    sched_case_submit(c, borrower, 0);
}

/* Ranks that move are computed anew every 300 s.  They may make a good plan of a dear one, whatever was noted of it. */
TEST(new_ranks_end_a_wait_for_worth)
{
    struct sched_case c;
    setup_dear(&c);
    sched_case_cycle(&c, SECONDS(1000)); /* all ranks are as of now */
    assert_int_equal(tried(&c), 1);
    assert_int_equal(c.count, 0);
    assert_int_equal(changes_until_tried(&c, SECONDS(1299), 10), 0);
    sched_case_cycle(&c, SECONDS(1300));
    assert_int_equal(tried(&c), 2);
    assert_int_equal(c.count, 0);
    sched_case_close(&c);
}

/* Five plans in a row failed, and the next may be tried after 32 changes or when the victim is ripe, at 100 s.  Then
 * one comes to something; its class queue has no jobs for a while, and who comes to it finds the 32 changes not over.
 */
TEST(a_lane_keeps_its_back_off_while_it_is_empty)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    WITH(PRIORITY, "preempt", "none", "\"min_runtime_s\": 100"));
    sched_case_submit(&c, sched_case_job(0, 2, 2, 10), 0); /* of another request class */
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, sched_case_job(1, 1, 4, 90), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    for (uint32_t i = 1; i < 5; i++)
        assert_int_equal(changes_until_tried(&c, SECONDS(1), 100), 1u << i);
    sched_case_cycle(&c, SECONDS(100));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(101));
    assert_int_equal(sched_case_start(&c, SECONDS(101)), 1);
    sched_case_submit(&c, sched_case_job(2, 1, 4, 95), SECONDS(102));
    sched_case_cycle(&c, SECONDS(102));
    assert_int_equal(tried(&c), 6);
    /* Changes were the EVICT and its RESERVE, the end, the START and its effect, and the submission. */
    assert_int_equal(changes_by_until_tried(&c, 1, SECONDS(102), 100), 32 - 6);
    sched_case_close(&c);
}

/* Who waits for a START to be confirmed sleeps until one is: no cycle looks at the class queue before. */
TEST(no_look_before_the_start_is_told)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    WITH(PRIORITY, "preempt", "none", "\"min_runtime_s\": 0"));
    sched_case_submit(&c, sched_case_job(1, 1, 4, 10), 0);
    sched_case_cycle(&c, 0);
    sched_case_submit(&c, sched_case_job(2, 1, 4, 90), SECONDS(1));
    for (int64_t at = 1; at < 5; at++) {
        sched_case_cycle(&c, SECONDS(at));
        assert_int_equal(c.sched->retry_queues[PLAN_PREEMPT].awake_count, 0);
        assert_int_equal(tried(&c), 1);
    }
    sched_job_started(c.sched, 1, c.starts[1], SECONDS(5));
    sched_case_cycle(&c, SECONDS(5));
    assert_int_equal(tried(&c), 2);
    sched_case_close(&c);
}

/* `poor` deserves nothing and may take nothing back, so that its job can only wait for what leaves.  Of a job without
 * GPUs nothing comes: no plan; then one, for what half of the GPUs leave, and it comes to something when the other
 * half does. */
TEST(nothing_to_wait_for_is_no_plan)
{
    struct sched_case c;
    struct queue_table *queues = queue_table_new();
    queue_id rich = queue_table_add(queues, TEXT("rich"), QUEUE_ROOT),
             poor = queue_table_add(queues, TEXT("poor"), QUEUE_ROOT);
    queues->queues[rich].deserved[RESOURCE_GPU] = 4 * GPU_MILLI;
    queues->queues[poor].deserved[RESOURCE_GPU] = 0;
    sched_case_open(&c, cluster_uniform_new(1, 4), queues,
                    WITH(PRIORITY, "reclaim", "fairshare", "\"min_runtime_s\": 0"));
    struct job jobs[] = {sched_case_job(0, 1, 0, 50), sched_case_job(1, 1, 2, 50), sched_case_job(2, 1, 2, 50),
                         sched_case_job(3, 1, 4, 50)};
    jobs[0].first.request.cpu_milli = 1000;
    for (job_id id = 0; id < 4; id++)
        jobs[id].queue = id < 3 ? rich : poor;
    for (job_id id = 0; id < 3; id++)
        sched_case_submit(&c, jobs[id], 0);
    assert_int_equal(sched_case_start(&c, 0), 3);
    sched_case_submit(&c, jobs[3], SECONDS(1));
    sched_job_leaving(c.sched, 0, MEMBERS_ALL, SECONDS(1));
    assert_int_equal(changes_until_tried(&c, SECONDS(1), 40), 0);
    sched_job_leaving(c.sched, 1, MEMBERS_ALL, SECONDS(2));
    assert_int_not_equal(changes_until_tried(&c, SECONDS(2), 100), 0);
    assert_int_equal(c.count, 0);
    sched_job_leaving(c.sched, 2, MEMBERS_ALL, SECONDS(3));
    assert_int_not_equal(changes_until_tried(&c, SECONDS(3), 200), 0);
    assert_int_equal(sched_case_count(&c, DECISION_RESERVE), 1);
    sched_case_close(&c);
}
