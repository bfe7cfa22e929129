/* policies/sched.h: facts that break a precondition are counted, and change nothing. */
#include "tests/support/test.h"

#include "tests/support/sched_case.h"
#include "tests/support/state_text.h"

#define MIXED                                                                                                          \
    "{'levels': ['rack'], 'pools': [{'nodes': 2, 'gpus_per_node': 4, 'labels': {'rack': 'r'}}, {'name': 'm', "         \
    "'node_name': 'm%u', 'nodes': 1, 'gpus_per_node': 2, 'gpu_model': 'h100-80gb', "                                   \
    "'gpus_layout': [['1g.10gb', '3g.40gb'], []]}]}"

enum { MIG_NODE = 2, NODES = 3 };

static void open_mixed(struct sched_case *c)
{
    sched_case_open(c, sched_case_cluster(MIXED), queue_table_new(), "{\"blocking\": \"skip\"}");
    sched_case_submit(c, sched_case_job(0, 1, 4, 50), SECONDS(10));
    sched_case_start(c, SECONDS(10));
    assert_int_equal(sched_refused(c->sched)->count, 0);
    assert_int_equal(sched_refused(c->sched)->last, WRONG_NOTHING);
}

/* The state must be what it was, but for the count. */
static void expect_refused(struct sched_case *c, struct buffer *before, enum wrong_fact wrong)
{
    struct buffer after = state_text(c->sched);
    assert_int_equal(sched_refused(c->sched)->last, wrong);
    assert_true(state_text_is_same(before, &after));
    assert_null(sched_check(c->sched));
    buffer_release(&after);
}

/* Evaluates the fact once. */
#define REFUSED(c, wrong, fact)                                                                                        \
    do {                                                                                                               \
        struct buffer before_ = state_text((c)->sched);                                                                \
        const uint64_t count_ = sched_refused((c)->sched)->by[wrong];                                                  \
        fact;                                                                                                          \
        expect_refused((c), &before_, (wrong));                                                                        \
        assert_int_equal(sched_refused((c)->sched)->by[wrong], count_ + 1);                                            \
        buffer_release(&before_);                                                                                      \
    } while (0)

TEST(unknown_ids_are_refused)
{
    struct sched_case c;
    const struct members nowhere = {0, NODES};
    open_mixed(&c);
    REFUSED(&c, WRONG_NODE, sched_node_changed(c.sched, NODES, NODE_DOWN, SECONDS(10)));
    REFUSED(&c, WRONG_NODE, sched_node_changed(c.sched, NODE_NONE, NODE_UP, SECONDS(10)));
    REFUSED(&c, WRONG_NODE, sched_gpu_changed(c.sched, NODES, 0, MIG_LAYOUT_WHOLE, SECONDS(10)));
    REFUSED(&c, WRONG_GPU, sched_gpu_changed(c.sched, MIG_NODE, 2, MIG_LAYOUT_WHOLE, SECONDS(10)));
    REFUSED(&c, WRONG_LAYOUT, sched_gpu_changed(c.sched, MIG_NODE, 1, MIG_LAYOUT_COUNT, SECONDS(10)));
    REFUSED(&c, WRONG_LAYOUT, sched_gpu_changed(c.sched, 0, 1, 0, SECONDS(10)));
    REFUSED(&c, WRONG_NODE, sched_job_leaving(c.sched, 0, nowhere, SECONDS(10)));
    REFUSED(&c, WRONG_NODE, sched_job_evicted(c.sched, 0, nowhere, EVICT_LOST, SECONDS(10)));
    REFUSED(&c, WRONG_VALUE, sched_job_evicted(c.sched, 0, MEMBERS_ALL, (enum evict_end)2, SECONDS(10)));
    REFUSED(&c, WRONG_VALUE, sched_job_ended(c.sched, 0, (enum job_end)4, false, SECONDS(10)));
    REFUSED(&c, WRONG_VALUE, sched_node_changed(c.sched, 0, (enum node_state)5, SECONDS(10)));
    REFUSED(&c, WRONG_VALUE, sched_decision_refused(c.sched, 1, (enum refusal)3, SECONDS(10)));
    sched_case_close(&c);
}

TEST(time_does_not_go_back)
{
    struct sched_case c;
    const struct decision *decisions;
    time_ns wake_at;
    open_mixed(&c);
    const struct job job = sched_case_job(1, 1, 1, 50);
    REFUSED(&c, WRONG_TIME, sched_job_submitted(c.sched, &job, SECONDS(10) - 1));
    REFUSED(&c, WRONG_TIME, sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(9)));
    REFUSED(&c, WRONG_TIME, sched_node_changed(c.sched, 0, NODE_DOWN, SCHED_TIME_MAX + 1));
    REFUSED(&c, WRONG_TIME, assert_int_equal(sched_cycle(c.sched, 0, &decisions, &wake_at), 0));
    assert_true(wake_at == SECONDS(10));
    sched_job_submitted(c.sched, &job, SECONDS(10));
    assert_int_equal(sched_case_start(&c, SECONDS(10)), 1);
    sched_case_close(&c);
}

TEST(jobs_are_new_and_valid)
{
    struct sched_case c;
    open_mixed(&c);
    struct job job = sched_case_job(0, 1, 1, 50);
    REFUSED(&c, WRONG_JOB_ID, sched_job_submitted(c.sched, &job, SECONDS(10)));
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(10));
    REFUSED(&c, WRONG_JOB_ID, sched_job_submitted(c.sched, &job, SECONDS(10)));
    job.id = SCHED_JOB_ID_MAX + 1u;
    REFUSED(&c, WRONG_JOB_ID, sched_job_submitted(c.sched, &job, SECONDS(10)));
    job.id = 1;
    job.queue = 1;
    REFUSED(&c, WRONG_QUEUE, sched_job_submitted(c.sched, &job, SECONDS(10)));
    job.queue = QUEUE_ROOT;

#define SPOILT(field, value)                                                                                           \
    do {                                                                                                               \
        const struct job kept_ = job;                                                                                  \
        job.field = (value);                                                                                           \
        REFUSED(&c, WRONG_JOB, sched_job_submitted(c.sched, &job, SECONDS(10)));                                       \
        job = kept_;                                                                                                   \
    } while (0)
    SPOILT(group_count, 0);
    SPOILT(group_count, 2); /* `more` is NULL */
    SPOILT(first.count, 0);
    SPOILT(first.min_count, 2);
    SPOILT(first.set, 1);
    SPOILT(first.slice_level, 2);
    SPOILT(first.request.mig, 1); /* and a whole GPU */
    SPOILT(first.request.domain, 1);
    SPOILT(first.request.share, SHARE_MPS);
    SPOILT(topology.required, 2);
    SPOILT(topology.preferred, 2);
    SPOILT(class, JOB_CLASS_COUNT);
    SPOILT(limit, 0);
    SPOILT(limit, SCHED_TIME_MAX + 1);
    SPOILT(checkpoint.interval, TIME_NEVER);
    SPOILT(checkpoint.restart, TIME_NS_MAX + 1);
    SPOILT(submit, -1);
    SPOILT(grace, INT64_MIN);
    SPOILT(preemption_delay, -2);
    SPOILT(stale_after, SCHED_TIME_MAX + 1);
    SPOILT(attained_gpu_ns, -1);
    SPOILT(array, SCHED_ARRAY_MAX + 1u);
    SPOILT(sets, &(struct job_set){.name = ""});
    sched_job_submitted(c.sched, &job, SECONDS(10));
    assert_int_equal(sched_case_start(&c, SECONDS(10)), 1);
    sched_case_close(&c);
}

TEST(adopted_pieces_are_free_and_fit)
{
    struct sched_case c;
    open_mixed(&c); /* job 0 has node 0 or 1 */
    const node_id free = c.decisions[0].pieces[0].node == 0 ? 1 : 0;
    const struct job job = sched_case_job(1, 2, 1, 50);
    const struct piece good[2] = {{.node = free, .gpu_mask = 1, .gpu_milli = GPU_MILLI, .member_count = 1},
                                  {.node = free, .gpu_mask = 2, .gpu_milli = GPU_MILLI, .member_count = 1}};
    struct piece pieces[2];
    memcpy(pieces, good, sizeof pieces);
    REFUSED(&c, WRONG_PIECES, sched_job_adopted(c.sched, &job, pieces, 0, 0, SECONDS(10)));
    REFUSED(&c, WRONG_TIME, sched_job_adopted(c.sched, &job, pieces, 2, SECONDS(11), SECONDS(10)));

#define BAD_PIECE(wrong, field, value)                                                                                 \
    do {                                                                                                               \
        pieces[1].field = (value);                                                                                     \
        REFUSED(&c, wrong, sched_job_adopted(c.sched, &job, pieces, 2, 0, SECONDS(10)));                               \
        memcpy(pieces, good, sizeof pieces);                                                                           \
    } while (0)
    BAD_PIECE(WRONG_NODE, node, NODES);
    BAD_PIECE(WRONG_PIECES, node, 1 - free); /* taken */
    BAD_PIECE(WRONG_PIECES, gpu_mask, 1);    /* taken by the piece before */
    BAD_PIECE(WRONG_PIECES, gpu_mask, 0x10); /* not there */
    BAD_PIECE(WRONG_PIECES, gpu_mask, 6);    /* two */
    BAD_PIECE(WRONG_PIECES, gpu_milli, 500);
    BAD_PIECE(WRONG_PIECES, member_count, 0);
    BAD_PIECE(WRONG_PIECES, member_count, 2);
    BAD_PIECE(WRONG_PIECES, group, 1);
    BAD_PIECE(WRONG_PIECES, mig_start, 1);
    BAD_PIECE(WRONG_PIECES, share, 9);
    sched_job_adopted(c.sched, &job, pieces, 2, 0, SECONDS(10));
    assert_int_equal(sched_case_counts(&c).running_jobs, 2);
    sched_case_close(&c);
}

TEST(queues_only_grow)
{
    struct sched_case c;
    struct queue_table *queues = queue_table_new(), *fewer = queue_table_new(), *other = queue_table_new();
    queue_table_add(queues, text_of("a"), QUEUE_ROOT);
    queue_table_add(queues, text_of("b"), 1);
    queue_table_add(other, text_of("a"), QUEUE_ROOT);
    queue_table_add(other, text_of("b"), QUEUE_ROOT);
    sched_case_open(&c, cluster_uniform_new(1, 4), queues, "{}");
    REFUSED(&c, WRONG_QUEUES, sched_queues_changed(c.sched, fewer, 0));
    REFUSED(&c, WRONG_QUEUES, sched_queues_changed(c.sched, other, 0));
    struct job job = sched_case_job(0, 1, 1, 50);
    job.queue = queue_table_add(queues, text_of("c"), 1);
    REFUSED(&c, WRONG_QUEUE, sched_job_submitted(c.sched, &job, 0)); /* not reported yet */
    REFUSED(&c, WRONG_QUEUES, sched_queues_added(c.sched, fewer, 3, 0));
    sched_queues_added(c.sched, queues, 3, 0);
    sched_job_submitted(c.sched, &job, 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_close(&c);
    queue_table_free(fewer);
    queue_table_free(other);
}
