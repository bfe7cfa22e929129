/* policies/sched.h: what waiting is counted as, why a job waits, and how much work and how many wake-ups that costs. */
#include "tests/support/test.h"

#include "tests/support/sched_case.h"

#define STRICT_PREEMPTING                                                                                              \
    "{'order': ['priority'], 'blocking': 'strict', 'quota': 'none', 'preemption': "                                    \
    "{'policy': 'kill', 'min_runtime_s': 100}}"

/* Limits of 10, 100 and 70 s.  The second waits for 50 s and runs for 10: 90 s are left, more than 70. */
TEST(waiting_is_no_run_time)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 1), queue_table_new(), "{'order': ['srtf'], 'blocking': 'skip'}");
    static const int64_t limits_s[] = {10, 100, 70};
    struct job jobs[3];
    for (job_id id = 0; id < 3; id++) {
        jobs[id] = sched_case_job(id, 1, 1, 50);
        jobs[id].limit = SECONDS(limits_s[id]);
    }
    sched_case_submit(&c, jobs[0], 0);
    sched_case_submit(&c, jobs[1], 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    assert_int_equal(c.decisions[0].job, 0);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(50));
    assert_int_equal(sched_case_start(&c, SECONDS(50)), 1);
    assert_int_equal(c.decisions[0].job, 1);
    sched_job_leaving(c.sched, 1, MEMBERS_ALL, SECONDS(60));
    sched_job_evicted(c.sched, 1, MEMBERS_ALL, EVICT_SAVED, SECONDS(60));
    sched_case_submit(&c, jobs[2], SECONDS(60));
    assert_int_equal(sched_case_start(&c, SECONDS(60)), 1);
    assert_int_equal(c.decisions[0].job, 2);
    sched_case_close(&c);
}

/* What ran before the scheduler came counts at once, not only when the ranks are next refreshed: 499 s are left of the
 * first, 999 s of the second, so that the second is last and goes. */
TEST(what_was_adopted_has_run)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 2), queue_table_new(),
                    "{'order': ['priority', 'srtf'], 'blocking': 'skip', 'preemption': {'policy': 'kill', "
                    "'min_runtime_s': 0, 'victims': [], 'search': 'ordered'}}");
    struct job first = sched_case_job(0, 1, 1, 10), second = sched_case_job(1, 1, 1, 10);
    struct piece piece = {.gpu_mask = 1, .gpu_milli = GPU_MILLI, .member_count = 1};
    first.limit = SECONDS(1500);
    second.limit = SECONDS(1100);
    sched_case_start(&c, SECONDS(1000)); /* ranks are as of now */
    sched_job_adopted(c.sched, &first, &piece, 1, 0, SECONDS(1001));
    piece.gpu_mask = 2;
    sched_job_adopted(c.sched, &second, &piece, 1, SECONDS(900), SECONDS(1001));
    sched_case_submit(&c, sched_case_job(2, 1, 1, 90), SECONDS(1001));
    assert_int_equal(sched_case_start(&c, SECONDS(1001)), 0);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.decisions[0].kind, DECISION_EVICT);
    assert_int_equal(c.decisions[0].job, 1);
    sched_case_close(&c);
}

/* Two of an array that may have one run when the scheduler comes: a third starts when both have ended, not before. */
TEST(adopted_elements_count_whatever_the_limit)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), "{}");
    for (job_id id = 0; id < 4; id++) {
        struct job job = sched_case_job(id, 1, 1, 50);
        job.array = 1;
        job.array_max = 1;
        struct piece piece = {.gpu_mask = (uint16_t)(1 << id), .gpu_milli = 1000, .member_count = 1};
        if (id < 2)
            sched_job_adopted(c.sched, &job, &piece, 1, 0, SECONDS(1));
        else
            sched_case_submit(&c, job, SECONDS(1));
    }
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 0);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(2));
    assert_int_equal(sched_case_start(&c, SECONDS(2)), 0);
    assert_int_equal(sched_case_counts(&c).running_jobs, 1);
    assert_int_equal(sched_case_counts(&c).pending_jobs, 2);
    sched_job_ended(c.sched, 1, JOB_END_COMPLETED, false, SECONDS(3));
    assert_int_equal(sched_case_start(&c, SECONDS(3)), 1);
    assert_int_equal(c.decisions[0].job, 2);
    sched_case_close(&c);
}

/* Released by its submitter, an element may still be one too many of its array: that is then why it waits. */
TEST(who_is_held_twice_is_told_why)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 2), queue_table_new(), "{}");
    struct job first = sched_case_job(0, 1, 1, 50), second = sched_case_job(1, 1, 1, 50);
    first.array = second.array = 1;
    first.array_max = second.array_max = 1;
    second.is_held = true;
    sched_case_submit(&c, first, 0);
    sched_case_submit(&c, second, 0);
    assert_int_equal(sched_why(c.sched, 1), REASON_HELD);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_job_released(c.sched, 1, SECONDS(1));
    assert_int_equal(sched_why(c.sched, 1), REASON_ARRAY_LIMIT);
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 0);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(2));
    assert_int_equal(sched_case_start(&c, SECONDS(2)), 1);
    sched_case_close(&c);
}

/* The first 1 of 2: that job 1 did not fail, as the second says, is nobody's business. */
TEST(only_so_many_dependencies_count)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 2), queue_table_new(), "{}");
    const struct job_after after[] = {{0, AFTER_OK}, {1, AFTER_NOT_OK}};
    struct job waiter = sched_case_job(2, 1, 1, 50);
    waiter.after = after;
    waiter.after_count = 1;
    sched_case_submit(&c, sched_case_job(0, 1, 1, 50), 0);
    sched_case_submit(&c, sched_case_job(1, 1, 1, 50), 0);
    assert_int_equal(sched_case_start(&c, 0), 2);
    sched_job_ended(c.sched, 1, JOB_END_COMPLETED, false, SECONDS(1));
    sched_case_submit(&c, waiter, SECONDS(1));
    assert_int_equal(sched_why(c.sched, 2), REASON_DEPENDENCY);
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 0);
    assert_int_equal(c.count, 0);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(2));
    assert_int_equal(sched_case_start(&c, SECONDS(2)), 1);
    sched_case_close(&c);
}

/* A cycle is asked for when ranks that move are due to be computed again, and only while somebody waits. */
TEST(moving_ranks_are_computed_every_five_minutes)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 1), queue_table_new(), "{'order': ['srtf'], 'blocking': 'skip'}");
    sched_case_submit(&c, sched_case_job(0, 1, 1, 50), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    assert_true(c.wake_at == TIME_NEVER);
    sched_case_submit(&c, sched_case_job(1, 1, 1, 50), SECONDS(10));
    assert_int_equal(sched_case_start(&c, SECONDS(10)), 0);
    assert_int_equal(c.wake_at, SECONDS(300));
    assert_int_equal(sched_case_start(&c, SECONDS(300)), 0);
    assert_int_equal(c.wake_at, SECONDS(600));
    sched_case_close(&c);
}

/* The head waits for a victim that is ripe at 100 s.  A job behind it in a strict line has no turn, though the
 * back-off of its plan is over: nothing is tried, and no cycle is asked for, before that. */
TEST(a_strict_line_sleeps_until_its_head_may_go_on)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(), STRICT_PREEMPTING);
    struct job firm = sched_case_job(0, 1, 4, 50);
    firm.is_preemptible = false;
    sched_case_submit(&c, firm, 0);
    sched_case_submit(&c, sched_case_job(1, 1, 4, 10), 0); /* ripe at 100 s */
    assert_int_equal(sched_case_start(&c, 0), 2);
    sched_case_submit(&c, sched_case_job(2, 1, 4, 5), SECONDS(1)); /* evicts nobody: backs off for two changes */
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 0);
    sched_case_submit(&c, sched_case_job(3, 1, 3, 99), SECONDS(2)); /* the new head: backs off for two changes too */
    assert_int_equal(sched_case_start(&c, SECONDS(2)), 0);
    sched_case_submit(&c, sched_case_job(4, 1, 4, 1), SECONDS(3)); /* the second since, for job 2 */
    assert_int_equal(sched_case_start(&c, SECONDS(3)), 0);
    assert_int_equal(c.wake_at, SECONDS(100));
    uint64_t attempts = sched_case_counts(&c).attempts;
    for (int64_t at = 4; at < 10; at++) {
        assert_int_equal(sched_case_start(&c, SECONDS(at)), 0);
        assert_int_equal(c.wake_at, SECONDS(100));
    }
    assert_int_equal(sched_case_counts(&c).attempts, attempts);
    sched_case_start(&c, SECONDS(100));
    assert_int_equal(c.count, 2);
    assert_int_equal(c.decisions[0].kind, DECISION_EVICT);
    assert_int_equal(c.decisions[0].job, 1);
    assert_int_equal(c.decisions[0].for_job, 3);
    sched_case_close(&c);
}
