/* policies/eviction/attempts.c, retry_queue.c: when a plan that came to nothing is tried again, counted in plans tried.
 * All in one cluster that somebody fills; facts that change nothing else stand for whatever else happens. */
#include "tests/support/test.h"

#include "tests/support/sched_case.h"

#define PREEMPTING(quota, blocking, more)                                                                              \
    "{'order': ['priority', 'fifo'], 'blocking': '" blocking "', 'quota': '" quota                                     \
    "', 'actions': ['allocate', 'preempt'], 'preemption': {'policy': 'kill', "                                         \
    "'victims': [], 'search': 'ordered', " more "}}"
#define AT_ONCE "'min_runtime_s': 0"

static uint64_t tried(const struct sched_case *c)
{
    return sched_case_counts(c).plans_tried;
}

/* A fact that counts as a change and is none: a job that runs is not cancelled, but ends. */
static void change_by(struct sched_case *c, job_id job, time_ns now)
{
    sched_job_cancelled(c->sched, job, now);
}

static void change(struct sched_case *c, time_ns now)
{
    change_by(c, 0, now);
}

/* Job 0 runs on all 4 GPUs and goes before all others. */
static void setup(struct sched_case *c, const char *policy)
{
    sched_case_open(c, cluster_uniform_new(1, 4), queue_table_new(), policy);
    sched_case_submit(c, sched_case_job(0, 1, 4, 90), 0);
    assert_int_equal(sched_case_start(c, 0), 1);
}

/* Changes until the next plan is tried, a cycle after each; 0: more than `most`. */
static uint32_t changes_by_until_tried(struct sched_case *c, job_id job, time_ns now, uint32_t most)
{
    uint64_t before = tried(c);
    for (uint32_t i = 1; i <= most; i++) {
        change_by(c, job, now);
        sched_case_cycle(c, now);
        assert_int_equal(c->count, 0);
        if (tried(c) != before) {
            assert_int_equal(tried(c), before + 1);
            return i;
        }
    }
    return 0;
}

static uint32_t changes_until_tried(struct sched_case *c, time_ns now, uint32_t most)
{
    return changes_by_until_tried(c, 0, now, most);
}

/* After 2 changes, then 4, and so on up to 4096. */
TEST(twice_as_many_changes_each_time)
{
    struct sched_case c;
    setup(&c, PREEMPTING("none", "skip", AT_ONCE));
    sched_case_submit(&c, sched_case_job(1, 1, 4, 10), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(tried(&c), 1);
    assert_true(c.wake_at == TIME_NEVER);
    for (uint32_t i = 1; i <= 14; i++)
        assert_int_equal(changes_until_tried(&c, SECONDS(1), 5000), 1u << (i < 12 ? i : 12));
    sched_case_close(&c);
}

/* Cycles without changes try nothing, whatever the time. */
TEST(time_alone_tries_nothing)
{
    struct sched_case c;
    setup(&c, PREEMPTING("none", "skip", AT_ONCE));
    sched_case_submit(&c, sched_case_job(1, 1, 4, 10), SECONDS(1));
    for (int64_t at = 1; at < 100; at++)
        sched_case_cycle(&c, SECONDS(at));
    assert_int_equal(tried(&c), 1);
    sched_case_close(&c);
}

/* Six plans in a row failed: the next waits for 64 changes.  One of its kind starts: half of that is forgotten, and the
 * fourth in a row waits for 16. */
TEST(a_start_halves_it)
{
    struct sched_case c;
    setup(&c, PREEMPTING("none", "skip", AT_ONCE));
    sched_case_submit(&c, sched_case_job(1, 1, 4, 20), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    for (uint32_t i = 1; i <= 5; i++)
        assert_int_equal(changes_until_tried(&c, SECONDS(1), 100), 1u << i);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(2));
    sched_case_submit(&c, sched_case_job(2, 1, 4, 10), SECONDS(2));
    assert_int_equal(sched_case_start(&c, SECONDS(2)), 1);
    /* Four changes were the end, the submission, the START and its effect. */
    assert_int_equal(changes_by_until_tried(&c, 1, SECONDS(2), 100), 64 - 4);
    assert_int_equal(changes_by_until_tried(&c, 1, SECONDS(2), 100), 16);
    assert_int_equal(changes_by_until_tried(&c, 1, SECONDS(2), 100), 32);
    sched_case_close(&c);
}

/* The class queue sleeps, and wakes with another head, who may take job 0's place. */
TEST(a_new_head_wakes_with_its_class_queue)
{
    struct sched_case c;
    setup(&c, PREEMPTING("none", "skip", AT_ONCE));
    sched_case_submit(&c, sched_case_job(1, 1, 4, 20), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    for (uint32_t i = 1; i <= 5; i++)
        assert_int_equal(changes_until_tried(&c, SECONDS(1), 100), 1u << i);
    sched_case_submit(&c, sched_case_job(2, 1, 4, 95), SECONDS(2));
    for (int i = 1; i < 64; i++) { /* its submission was the first of 64 changes */
        assert_int_equal(sched_case_count(&c, DECISION_EVICT), 0);
        change(&c, SECONDS(2));
        sched_case_cycle(&c, SECONDS(2));
    }
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    assert_int_equal(sched_case_count(&c, DECISION_RESERVE), 1);
    uint64_t after = tried(&c);
    sched_job_evicted(c.sched, 0, MEMBERS_ALL, EVICT_LOST, SECONDS(3));
    assert_int_equal(sched_case_start(&c, SECONDS(3)), 1);
    assert_int_equal(tried(&c), after);
    sched_case_close(&c);
}

/* One plan a cycle, three class queues: the others go on in the next, at once. */
TEST(the_budget_is_per_cycle)
{
    struct sched_case c;
    setup(&c, PREEMPTING("none", "skip", AT_ONCE ", \"attempts_per_cycle\": 1"));
    for (job_id id = 1; id <= 3; id++)
        sched_case_submit(&c, sched_case_job(id, 1, (uint16_t)id, 10), SECONDS(1));
    time_ns now = SECONDS(1);
    for (uint64_t plans = 1; plans <= 3; plans++) {
        sched_case_cycle(&c, now);
        assert_int_equal(tried(&c), plans);
        assert_true(c.wake_at == (plans < 3 ? now + 1 : TIME_NEVER));
        now = c.wake_at;
    }
    sched_case_close(&c);
}

/* All class queues that are due are tried in one cycle when the budget lets them, each once. */
TEST(each_lane_once_a_cycle)
{
    struct sched_case c;
    setup(&c, PREEMPTING("none", "skip", AT_ONCE ", \"attempts_per_cycle\": 10"));
    for (job_id id = 1; id <= 6; id++)
        sched_case_submit(&c, sched_case_job(id, id > 3 ? 2 : 1, (uint16_t)(id > 3 ? id - 3 : id), 10), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    /* 1, 2 and 3 GPUs, and twice 1 and twice 2; twice 3 never fit and were sent away. */
    assert_int_equal(sched_case_count(&c, DECISION_REJECT), 1);
    assert_int_equal(tried(&c), 5);
    assert_true(c.wake_at == TIME_NEVER);
    sched_case_close(&c);
}

/* Nobody is evicted for a head that has waited less than the delay. */
TEST(patience_comes_first)
{
    struct sched_case c;
    setup(&c, PREEMPTING("none", "skip", AT_ONCE ", \"delay_s\": 50"));
    sched_case_submit(&c, sched_case_job(1, 1, 4, 95), SECONDS(10));
    sched_case_cycle(&c, SECONDS(10));
    assert_true(c.wake_at == SECONDS(60));
    change(&c, SECONDS(59));
    sched_case_cycle(&c, SECONDS(59));
    assert_int_equal(tried(&c), 0);
    assert_true(c.wake_at == SECONDS(60));
    sched_case_cycle(&c, SECONDS(60));
    assert_int_equal(tried(&c), 1);
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    sched_case_close(&c);
}

/* The head would be patient at 90 s and goes away; who is behind it in the class queue has waited longer, and is at 60
 * s. */
TEST(the_next_head_has_its_own_patience)
{
    struct sched_case c;
    setup(&c, PREEMPTING("none", "skip", AT_ONCE ", \"delay_s\": 50"));
    sched_case_submit(&c, sched_case_job(1, 1, 4, 95), SECONDS(10));
    sched_case_submit(&c, sched_case_job(2, 1, 4, 99), SECONDS(40));
    sched_case_cycle(&c, SECONDS(45));
    assert_true(c.wake_at == SECONDS(90));
    sched_job_cancelled(c.sched, 2, SECONDS(50));
    sched_case_cycle(&c, SECONDS(50));
    assert_true(c.wake_at == SECONDS(60));
    sched_case_cycle(&c, SECONDS(60));
    assert_int_equal(tried(&c), 1);
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    sched_case_close(&c);
}

/* Ten victims of one GPU each, ripe at 1000, 1100, ... 1900 s; all must go.  The first six plans look again when the
 * next is ripe; then only when the last is. */
TEST(who_fails_often_waits_for_the_last)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 10), queue_table_new(),
                    PREEMPTING("none", "skip", "\"min_runtime_s\": 1000"));
    for (job_id id = 0; id < 10; id++) {
        sched_case_submit(&c, sched_case_job(id, 1, 1, 10), SECONDS(100 * id));
        assert_int_equal(sched_case_start(&c, SECONDS(100 * id)), 1);
    }
    sched_case_submit(&c, sched_case_job(10, 1, 10, 90), SECONDS(950));
    static const int64_t wakes_s[] = {950, 1000, 1100, 1200, 1300, 1400, 1500, 1900};
    for (uint64_t i = 0; i < 8; i++) {
        sched_case_cycle(&c, SECONDS(wakes_s[i]));
        assert_int_equal(tried(&c), i + 1);
        assert_int_equal(sched_case_count(&c, DECISION_EVICT), i == 7 ? 10 : 0);
        if (i < 7)
            assert_int_equal(c.wake_at, SECONDS(wakes_s[i + 1]));
    }
    sched_case_close(&c);
}

/* The victim's START is not confirmed: when it is, the plan is tried at once, though the back-off of 2 changes is not
 * over; and no START of long ago counts. */
TEST(a_start_told_ends_the_wait)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), PREEMPTING("none", "skip", AT_ONCE));
    sched_case_submit(&c, sched_case_job(1, 1, 4, 10), 0);
    sched_case_cycle(&c, 0);
    sched_case_submit(&c, sched_case_job(2, 1, 4, 90), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(tried(&c), 1);
    sched_case_cycle(&c, SECONDS(2));
    assert_int_equal(tried(&c), 1);
    sched_job_started(c.sched, 1, c.starts[1], SECONDS(3));
    sched_case_cycle(&c, SECONDS(3));
    assert_int_equal(tried(&c), 2);
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    sched_case_close(&c);
}

/* In its queue there is nobody whom the head may evict: no plan before the queue's jobs change.  Then one, when the
 * back-off that ran on meanwhile lets it. */
TEST(nobody_is_nobody_until_they_change)
{
    struct sched_case c;
    setup(&c, PREEMPTING("fairshare", "skip", AT_ONCE));
    sched_case_submit(&c, sched_case_job(1, 1, 4, 10), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(tried(&c), 1);
    assert_int_equal(changes_until_tried(&c, SECONDS(1), 600), 0);
    sched_job_checkpointed(c.sched, 0, SECONDS(2));
    uint32_t changes = changes_until_tried(&c, SECONDS(2), 5000);
    assert_int_equal(1 + 600 + 1 + changes, (1u << 10) - 1); /* 2 + 4 + ... + 512 = 1022 */
    assert_int_equal(tried(&c), 2);
    sched_case_close(&c);
}

/* Another head is another question: nobody was found for job 1 alone. */
TEST(nobody_for_one_is_somebody_for_another)
{
    struct sched_case c;
    setup(&c, PREEMPTING("fairshare", "skip", AT_ONCE));
    sched_case_submit(&c, sched_case_job(1, 1, 4, 10), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    sched_case_submit(&c, sched_case_job(2, 1, 4, 95), SECONDS(2));
    sched_case_cycle(&c, SECONDS(2));
    assert_int_equal(tried(&c), 1); /* one change since, of two */
    change(&c, SECONDS(2));
    sched_case_cycle(&c, SECONDS(2));
    assert_int_equal(tried(&c), 3); /* and then for job 1, for somebody is leaving now */
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    sched_case_close(&c);
}

/* No plan is made where no set of evictions lets the job fit: a job that stays for ever holds a part of the node. */
TEST(no_plan_for_what_never_fits)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), PREEMPTING("none", "skip", AT_ONCE));
    struct job firm = sched_case_job(0, 1, 1, 50);
    firm.is_preemptible = false;
    sched_case_submit(&c, firm, 0);
    sched_case_submit(&c, sched_case_job(1, 1, 3, 10), 0);
    assert_int_equal(sched_case_start(&c, 0), 2);
    sched_case_submit(&c, sched_case_job(2, 1, 4, 90), SECONDS(1));
    assert_int_equal(changes_until_tried(&c, SECONDS(1), 100), 0);
    sched_case_submit(&c, sched_case_job(3, 1, 3, 90), SECONDS(2));
    sched_case_cycle(&c, SECONDS(2));
    assert_int_equal(tried(&c), 1);
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    sched_case_close(&c);
}

/* Ranks that move are computed anew every 5 minutes, and all plans are void then.  A class queue that had no jobs at
 * the time knows that too when it has some again. */
TEST(who_comes_to_an_empty_lane_is_tried)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    "{'order': ['priority', 'srtf'], 'blocking': 'skip', 'preemption': {'policy': 'kill', "
                    "'min_runtime_s': 0}}");
    sched_case_submit(&c, sched_case_job(0, 1, 4, 90), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, sched_case_job(1, 1, 3, 10), SECONDS(1)); /* waits all the time */
    sched_case_submit(&c, sched_case_job(2, 1, 4, 10), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(tried(&c), 2);
    for (uint32_t i = 0; i < 30; i++) {
        change(&c, SECONDS(2));
        sched_case_cycle(&c, SECONDS(2));
    }
    uint64_t before = tried(&c);
    sched_job_cancelled(c.sched, 2, SECONDS(3));
    sched_case_cycle(&c, SECONDS(300));
    assert_int_equal(tried(&c), before + 1); /* for job 1 */
    sched_case_submit(&c, sched_case_job(3, 1, 4, 10), SECONDS(301));
    sched_case_cycle(&c, SECONDS(301));
    assert_int_equal(tried(&c), before + 2);
    sched_case_close(&c);
}

#define LENDING(ratio)                                                                                                 \
    "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'fairshare', 'actions': "                                        \
    "['allocate', 'reclaim'], 'headroom': {'owners_gpus': 8}, 'preemption': {"                                         \
    "'policy': 'kill', 'victims': [], 'search': 'ordered', 'min_runtime_s': 100, "                                     \
    "'loss_ratio': " ratio "}}"

/* 8 GPUs of a node are kept for owners, `lends` runs on 8.  A borrower asks 8: its victim has run for 100 s, so that
 * 800 GPU-s are lost, which a wait of 800 s is worth at a ratio of 1/8.  Before that no plan is tried. */
TEST(no_plan_before_the_wait_is_worth_it)
{
    struct sched_case c;
    struct queue_table *queues = queue_table_new();
    queue_id lends = queue_table_add(queues, TEXT("lends"), QUEUE_ROOT),
             borrows = queue_table_add(queues, TEXT("borrows"), QUEUE_ROOT);
    queues->queues[lends].deserved[RESOURCE_GPU] = 4 * GPU_MILLI;
    sched_case_open(&c, cluster_uniform_new(2, 8), queues, LENDING("0.125"));
    for (job_id id = 0; id < 2; id++) {
        struct job job = sched_case_job(id, 1, 4, 50);
        job.queue = lends;
        sched_case_submit(&c, job, 0);
        assert_int_equal(sched_case_start(&c, 0), 1);
    }
    struct job borrower = sched_case_job(2, 1, 8, 50);
    borrower.queue = borrows;
    sched_case_submit(&c, borrower, SECONDS(1000));
    for (int64_t at = 1000; at < 1800; at += 40) {
        sched_case_cycle(&c, SECONDS(at));
        assert_int_equal(c.count, 0);
        assert_int_equal(tried(&c), 0);
        assert_true(c.wake_at > SECONDS(at));
    }
    for (int64_t at = 1800; at < 4000 && tried(&c) == 0; at += 40)
        sched_case_cycle(&c, SECONDS(at));
    assert_int_not_equal(tried(&c), 0);
    sched_case_close(&c);
}
