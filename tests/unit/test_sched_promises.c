/* policies/sched.h: what is promised while it still leaves: to whom, for how long, and what is waited for meanwhile. */
#include "tests/support/test.h"

#include "tests/support/sched_case.h"

#define GANG_WITH_PATIENCE                                                                                             \
    "{\"order\": [\"priority\"], \"blocking\": \"skip\", \"quota\": \"none\", \"gang\": "                              \
    "{\"policy\": "                                                                                                    \
    "\"all_or_nothing\", \"stale_after_s\": 60}, \"actions\": [\"allocate\", \"preempt\", "                            \
    "\"stale_gang\"], \"preemption\": {\"policy\": \"checkpoint\", \"grace_s\": 300, "                                 \
    "\"min_runtime_s\": 0}}"

/* A gang of two that lost one of them at 10 s, and was promised the place of another job. */
static void setup_short_gang(struct sched_case *c)
{
    sched_case_open(c, cluster_uniform_new(3, 1), queue_table_new(), GANG_WITH_PATIENCE);
    struct job victim = sched_case_job(1, 1, 1, 10);
    victim.checkpoint.duration = SECONDS(300);
    sched_case_submit(c, sched_case_job(0, 2, 1, 90), 0);
    sched_case_submit(c, victim, 0);
    sched_case_start(c, 0);
    assert_int_equal(sched_case_count(c, DECISION_START), 2);
    node_id lost = c->decisions[0].pieces[1].node;
    sched_node_changed(c->sched, lost, NODE_DOWN, SECONDS(10));
    sched_job_evicted(c->sched, 0, (struct members){0, lost}, EVICT_LOST, SECONDS(10));
    sched_case_cycle(c, SECONDS(10));
    assert_int_equal(sched_case_count(c, DECISION_EVICT), 1);
    assert_int_equal(sched_case_count(c, DECISION_RESERVE), 1);
}

/* The promise is broken: it has been short since 10 s all the same. */
TEST(patience_outlasts_a_promise)
{
    struct sched_case c;
    setup_short_gang(&c);
    node_id lost = NODE_NONE;
    for (size_t i = 0; i < c.count; i++)
        if (c.decisions[i].kind == DECISION_EVICT)
            lost = c.decisions[i].pieces[0].node;
    sched_node_changed(c.sched, lost, NODE_DOWN, SECONDS(40));
    sched_job_evicted(c.sched, 1, MEMBERS_ALL, EVICT_LOST, SECONDS(40));
    sched_case_cycle(&c, SECONDS(40));
    assert_int_equal(sched_case_count(&c, DECISION_RELEASE), 1);
    assert_true(c.wake_at == SECONDS(70));
    sched_case_cycle(&c, SECONDS(70));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    assert_int_equal(c.decisions[0].reason, REASON_STALE_GANG);
    sched_case_close(&c);
}

/* Beyond its patience it waits for what it was promised, which will be told: no cycle is asked for meanwhile. */
TEST(no_wake_for_what_will_be_told)
{
    struct sched_case c;
    setup_short_gang(&c);
    sched_case_cycle(&c, SECONDS(80));
    assert_int_equal(c.count, 0);
    assert_true(c.wake_at > SECONDS(81));
    sched_case_close(&c);
}

#define PATIENT(delay)                                                                                                 \
    "{\"order\": [\"fifo\"], \"blocking\": \"skip\", \"quota\": \"fairshare\", "                                       \
    "\"preemption\": {\"policy\": \"checkpoint\", \"delay_s\": " delay "}}"

/* What comes is promised to a borrower only where nobody's patience is asked for. */
TEST(borrowers_are_promised_nothing_within_a_delay)
{
    for (int delayed = 0; delayed < 2; delayed++) {
        struct sched_case c;
        struct queue_table *queues = queue_table_new();
        queue_id borrower = queue_table_add(queues, TEXT("borrower"), QUEUE_ROOT);
        sched_case_open(&c, cluster_uniform_new(1, 1), queues, delayed ? PATIENT("5") : PATIENT("0"));
        struct job job = sched_case_job(0, 1, 1, 50);
        job.queue = borrower;
        sched_case_submit(&c, job, 0);
        sched_case_start(&c, 0);
        sched_job_leaving(c.sched, 0, MEMBERS_ALL, SECONDS(1));
        job.id = 1;
        sched_case_submit(&c, job, SECONDS(1));
        sched_case_cycle(&c, SECONDS(1));
        sched_case_cycle(&c, c.count == 0 ? SECONDS(7) : SECONDS(1));
        assert_int_equal(sched_why(c.sched, 1) == REASON_RESERVED, !delayed);
        sched_case_close(&c);
    }
}
