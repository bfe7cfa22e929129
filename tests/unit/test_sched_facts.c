/* policies/sched.h: what a live system tells the scheduler, and what must come of it at once. */
#include <stdio.h>

#include "tests/support/test.h"

#include "tests/support/sched_case.h"

#define EVICTING                                                                                                       \
    "{'order': ['priority', 'fifo'], 'blocking': 'skip', 'preemption': {'policy': "                                    \
    "'kill', 'min_runtime_s': 0}}"

/* It failed and is tried again: it waits, and starts in the next cycle. */
TEST(test_retried_job_waits_again)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), "{}");
    sched_case_submit(&c, sched_case_job(0, 1, 4, 50), 0);
    sched_case_start(&c, 0);
    sched_job_ended(c.sched, 0, JOB_END_FAILED, true, SECONDS(1));
    assert_int_equal(sched_case_counts(&c).pending_jobs, 1);
    assert_int_equal(sched_case_counts(&c).running_jobs, 0);
    sched_case_start(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    assert_int_equal(sched_case_counts(&c).running_jobs, 1);
    sched_case_close(&c);
}

/* The world could not start it: it holds nothing, waits, and is decided again. */
TEST(test_refused_start_waits_again)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), "{}");
    sched_case_submit(&c, sched_case_job(0, 2, 2, 50), 0);
    sched_case_cycle(&c, 0);
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    sched_decision_refused(c.sched, c.decisions[0].id, REFUSED_BUSY, SECONDS(1));
    assert_int_equal(sched_case_counts(&c).pending_jobs, 1);
    assert_int_equal(sched_case_counts(&c).running_jobs, 0);
    assert_int_equal(sched_case_counts(&c).used_gpu_milli, 0);
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    sched_case_close(&c);
}

/* Somebody else evicts it: what it holds counts as being released, and it is no victim any more. */
TEST(test_leaving_counts_as_releasing)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), EVICTING);
    sched_case_submit(&c, sched_case_job(0, 1, 4, 10), 0);
    sched_case_start(&c, 0);
    sched_job_leaving(c.sched, 0, MEMBERS_ALL, SECONDS(1));
    assert_int_equal(sched_case_counts(&c).running_jobs, 0);
    assert_int_equal(sched_case_counts(&c).releasing_gpu_milli, 4000);
    sched_case_submit(&c, sched_case_job(1, 1, 4, 90), SECONDS(2));
    sched_case_cycle(&c, SECONDS(2));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 0);
    sched_job_evicted(c.sched, 0, MEMBERS_ALL, EVICT_LOST, SECONDS(3));
    sched_case_cycle(&c, SECONDS(3));
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    sched_case_close(&c);
}

/* A growth is a START of a part, the first START of a job is not. */
TEST(test_growth_is_partial)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), "{}");
    struct job job = sched_case_job(1, 2, 2, 50);
    job.first.min_count = 1;
    sched_case_submit(&c, sched_case_job(0, 1, 2, 90), 0);
    sched_case_start(&c, 0);
    sched_case_submit(&c, job, SECONDS(1));
    sched_case_start(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    assert_false(c.decisions[0].is_partial);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(2));
    sched_case_start(&c, SECONDS(2));
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    assert_true(c.decisions[0].is_partial);
    sched_case_close(&c);
}

/* An eviction is one of a part if the job keeps something. */
TEST(test_shrink_is_partial)
{
    for (uint16_t gpus = 2; gpus <= 4; gpus += 2) {
        struct sched_case c;
        sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), EVICTING);
        struct job job = sched_case_job(0, 2, 2, 10);
        job.first.min_count = 1;
        sched_case_submit(&c, job, 0);
        sched_case_start(&c, 0);
        sched_case_start(&c, SECONDS(1));
        sched_case_submit(&c, sched_case_job(1, 1, gpus, 90), SECONDS(2));
        sched_case_cycle(&c, SECONDS(2));
        assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
        assert_int_equal(c.decisions[0].kind, DECISION_EVICT);
        assert_int_equal(c.decisions[0].is_partial, gpus == 2);
        sched_case_close(&c);
    }
}

/* Two preemptors wait for a victim each, on two nodes; only who waits for the refused one loses its reservation. */
TEST(test_refused_eviction_spares_other_claims)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(), EVICTING);
    sched_case_submit(&c, sched_case_job(0, 1, 4, 10), 0);
    sched_case_submit(&c, sched_case_job(1, 1, 4, 10), 0);
    sched_case_start(&c, 0);
    sched_case_submit(&c, sched_case_job(2, 1, 4, 90), SECONDS(1));
    sched_case_submit(&c, sched_case_job(3, 1, 4, 90), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 2);
    assert_int_equal(sched_case_counts(&c).reserved_jobs, 2);
    for (size_t i = 0; i < c.count; i++)
        if (c.decisions[i].kind == DECISION_EVICT) {
            sched_decision_refused(c.sched, c.decisions[i].id, REFUSED_BUSY, SECONDS(2));
            break;
        }
    assert_int_equal(sched_case_counts(&c).reserved_jobs, 1);
    assert_int_equal(sched_case_counts(&c).running_jobs, 1);
    sched_case_cycle(&c, SECONDS(2));
    assert_int_equal(sched_case_count(&c, DECISION_RELEASE), 1); /* told once */
    sched_case_cycle(&c, SECONDS(3));
    assert_int_equal(sched_case_count(&c, DECISION_RELEASE), 0);
    sched_case_close(&c);
}

/* Released while it still waits for another job: it is not held again when that one has ended. */
TEST(test_released_before_its_turn)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), "{}");
    struct job job = sched_case_job(1, 1, 4, 50);
    struct job_after after = {.job = 0, .kind = AFTER_ANY};
    job.is_held = true;
    job.after_count = 1;
    job.after = &after;
    sched_case_submit(&c, sched_case_job(0, 1, 4, 50), 0);
    sched_case_submit(&c, job, 0);
    sched_case_start(&c, 0);
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    sched_job_released(c.sched, 1, SECONDS(1));
    assert_int_equal(sched_case_counts(&c).pending_jobs, 1);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(2));
    sched_case_start(&c, SECONDS(2));
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    assert_int_equal(sched_case_counts(&c).running_jobs, 1);
    assert_int_equal(sched_case_counts(&c).pending_jobs, 0);
    sched_case_close(&c);
}

/* It waits for the success of a job that fails: it is rejected, and waits no more. */
TEST(test_hopeless_job_counts_no_more)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), "{}");
    struct job job = sched_case_job(1, 1, 4, 50);
    struct job_after after = {.job = 0, .kind = AFTER_OK};
    job.after_count = 1;
    job.after = &after;
    sched_case_submit(&c, sched_case_job(0, 1, 4, 50), 0);
    sched_case_submit(&c, job, 0);
    sched_case_start(&c, 0);
    assert_int_equal(sched_case_counts(&c).pending_jobs, 1);
    sched_job_ended(c.sched, 0, JOB_END_FAILED, false, SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_REJECT), 1);
    assert_int_equal(c.decisions[0].reason, REASON_DEPENDENCY_NEVER);
    assert_int_equal(sched_case_counts(&c).pending_jobs, 0);
    sched_case_close(&c);
}

TEST(test_released_counts_once)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), "{}");
    struct job job = sched_case_job(0, 1, 4, 50);
    job.is_held = true;
    sched_case_submit(&c, job, 0);
    sched_case_cycle(&c, 0);
    assert_int_equal(sched_case_counts(&c).pending_jobs, 1);
    sched_job_released(c.sched, 0, SECONDS(1));
    assert_int_equal(sched_case_counts(&c).pending_jobs, 1);
    sched_case_start(&c, SECONDS(1));
    assert_int_equal(sched_case_counts(&c).pending_jobs, 0);
    assert_int_equal(sched_case_counts(&c).running_jobs, 1);
    sched_case_close(&c);
}

/* Half of a gang is lost with its node: when its grace (60 s unless a policy says so) is over, the
 * rest goes, and the decision says from where. */
TEST(test_stale_gang_goes_whole)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(), "{'actions': ['allocate', 'stale_gang']}");
    sched_case_submit(&c, sched_case_job(0, 2, 4, 50), 0);
    sched_case_start(&c, 0);
    sched_node_changed(c.sched, 1, NODE_DOWN, SECONDS(1));
    sched_job_evicted(c.sched, 0, (struct members){0, 1}, EVICT_LOST, SECONDS(1));
    sched_case_cycle(&c, SECONDS(60));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 0);
    sched_case_cycle(&c, SECONDS(61));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    assert_int_equal(c.decisions[0].reason, REASON_STALE_GANG);
    assert_int_equal(c.decisions[0].piece_count, 1);
    assert_int_equal(c.decisions[0].pieces[0].node, 0);
    sched_case_close(&c);
}

/* What an ended job asked is asked no more: of 6 GPUs two queues deserve 3 each, not 2 as with a third one. */
TEST(test_ended_job_asks_nothing)
{
    struct sched_case c;
    struct queue_table *queues = queue_table_new();
    queue_id gone = queue_table_add(queues, TEXT("gone"), QUEUE_ROOT),
             holds = queue_table_add(queues, TEXT("holds"), QUEUE_ROOT),
             asks = queue_table_add(queues, TEXT("asks"), QUEUE_ROOT);
    for (queue_id q = gone; q <= asks; q++)
        queues->queues[q].deserved[RESOURCE_GPU] = 0;
    sched_case_open(&c, cluster_uniform_new(1, 6), queues,
                    "{'blocking': 'skip', 'quota': 'fairshare', 'preemption': {'policy': 'kill', 'min_runtime_s': 0, "
                    "'attempts_per_cycle': 10}}");
    struct job job = sched_case_job(0, 6, 1, 50);
    job.queue = gone;
    sched_case_submit(&c, job, 0);
    sched_case_start(&c, 0);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(1));
    for (job_id id = 1; id <= 9; id++) {
        job = sched_case_job(id, 1, 1, 50);
        job.queue = id <= 6 ? holds : asks;
        sched_case_submit(&c, job, id <= 6 ? SECONDS(1) : SECONDS(2));
        if (id == 6)
            sched_case_start(&c, SECONDS(1));
    }
    assert_int_equal(sched_case_counts(&c).running_jobs, 6);
    sched_case_cycle(&c, SECONDS(2));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 3);
    sched_case_close(&c);
}

/* It is said to leave, but waits for another to end: nothing of it is there. */
TEST(test_leaving_of_one_that_waits_is_nothing)
{
    struct sched_case c;
    struct job_after after = {.job = 0, .kind = AFTER_ANY};
    struct job waiting = sched_case_job(1, 1, 4, 50);
    waiting.after_count = 1;
    waiting.after = &after;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), EVICTING);
    sched_case_submit(&c, sched_case_job(0, 1, 2, 50), 0);
    sched_case_start(&c, 0);
    sched_case_submit(&c, waiting, 0);
    sched_job_leaving(c.sched, 1, (struct members){0, 0}, SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_START), 0);
    assert_int_equal(sched_case_counts(&c).pending_jobs, 1);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(2));
    sched_case_start(&c, SECONDS(2));
    assert_int_equal(sched_case_count(&c, DECISION_START), 1);
    assert_int_equal(sched_case_counts(&c).pending_jobs, 0);
    sched_case_close(&c);
}
