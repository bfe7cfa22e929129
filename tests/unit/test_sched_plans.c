/* policies/eviction/plan.c, node_search.c, headroom.c: a plan after another in one cycle, nodes with more victims than
 * are looked at, and a consolidation that must not be sought node by node. */
#include "tests/support/test.h"

#include "tests/support/sched_case.h"

/* A share of a GPU. */
static struct job share_job(job_id id, uint16_t gpu_milli, int32_t priority)
{
    struct job job = sched_case_job(id, 1, 0, priority);
    job.first.request.gpu_milli = gpu_milli;
    return job;
}

static size_t evicted_for(const struct sched_case *c, job_id preemptor)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        count += c->decisions[i].kind == DECISION_EVICT && c->decisions[i].for_job == preemptor;
    return count;
}

#define KEEPING_FOUR(action, more)                                                                                     \
    "{'order': ['priority'], 'blocking': 'skip', 'quota': 'none', 'actions': "                                         \
    "['allocate', '" action "'], 'headroom': {'gpus': 4}, 'preemption': {'policy': "                                   \
    "'kill', 'victims': ['priority'], " more "}}"

/* Two nodes of 4 are full when the scheduler comes, at 1000 s.  Job 0 has the first since ever, others have 1, 1 and 2
 * of the second since 950 s; 4 GPUs are to stay free for inference. */
static void setup_full(struct sched_case *c, const char *policy)
{
    static const uint16_t masks[] = {0xf, 0x1, 0x2, 0xc};
    sched_case_open(c, cluster_uniform_new(2, 4), queue_table_new(), policy);
    for (job_id id = 0; id < 4; id++) {
        struct job job = sched_case_job(id, 1, (uint16_t)__builtin_popcount(masks[id]), 20);
        struct piece piece = {
            .node = id == 0 ? 0 : 1, .gpu_mask = masks[id], .gpu_milli = GPU_MILLI, .member_count = 1};
        time_ns started = id == 0 ? 0 : SECONDS(950);
        sched_job_adopted(c->sched, &job, &piece, 1, started, SECONDS(1000));
    }
}

/* Inference takes 4 GPUs by a plan, and in the same cycle 4 more are freed: everybody goes once.  The preemptor gets
 * the node that loses less, whose three jobs are young, and job 0 goes for nobody. */
TEST(what_a_plan_takes_is_freed_again_at_once)
{
    struct sched_case c;
    setup_full(&c, KEEPING_FOUR("preempt", "\"min_runtime_s\": 0"));
    struct job preemptor = sched_case_job(4, 1, 4, 90);
    preemptor.class = JOB_INFERENCE;
    sched_case_submit(&c, preemptor, SECONDS(1000));
    sched_case_cycle(&c, SECONDS(1000));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 4);
    assert_int_equal(sched_case_count(&c, DECISION_RESERVE), 1);
    assert_int_equal(evicted_for(&c, 4), 3);
    assert_int_equal(sched_case_counts(&c).releasing_gpu_milli, 8 * GPU_MILLI);
    sched_case_close(&c);
}

/* A consolidation tries to move everybody, and there is nowhere to go.  Then the headroom is freed: by job 0 alone,
 * for the others are too young for that, and what the plan wanted of them is nothing to it. */
TEST(what_a_failed_plan_took_stays)
{
    struct sched_case c;
    setup_full(&c, KEEPING_FOUR("consolidation", "'min_runtime_s': 100, 'search': 'ordered'}, "
                                                 "'defrag': {'policy': 'consolidation', 'moves_per_plan': -1"));
    sched_case_submit(&c, sched_case_job(4, 1, 4, 90), SECONDS(1000));
    sched_case_cycle(&c, SECONDS(1000));
    assert_int_equal(sched_case_counts(&c).plans_tried, 1);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.decisions[0].kind, DECISION_EVICT);
    assert_int_equal(c.decisions[0].job, 0);
    assert_int_equal(c.decisions[0].reason, REASON_HEADROOM);
    sched_case_close(&c);
}

/* Of 16 GPUs 15 hold 17 shares each, and the last two.  A job that asks all 16 needs 257 to go: one more than are
 * looked at on a node.  When one of them has ended, the 256 go. */
TEST(no_more_than_256_leave_a_node)
{
    enum { SHARES = 257 };
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 16), queue_table_new(),
                    "{'order': ['priority', 'fifo'], 'blocking': 'skip', 'quota': 'none', 'actions': ['allocate', "
                    "'preempt'], 'preemption': {'policy': 'kill', 'min_runtime_s': 0, 'search': 'node', "
                    "'victims_max': 1000}}");
    for (job_id id = 0; id < SHARES; id++)
        sched_case_submit(&c, share_job(id, 58, 10), 0);
    assert_int_equal(sched_case_start(&c, 0), SHARES);
    sched_case_submit(&c, sched_case_job(1000, 1, 16, 90), SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_counts(&c).plans_tried, 1);
    assert_int_equal(c.count, 0);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(2));
    sched_job_cancelled(c.sched, 1, SECONDS(2));
    sched_case_cycle(&c, SECONDS(2));
    assert_int_equal(evicted_for(&c, 1000), SHARES - 1);
    sched_case_close(&c);
}

#define MOVING_ONE(search)                                                                                             \
    "{'order': ['priority', 'fifo'], 'blocking': 'skip', 'placement': 'worst_fit', "                                   \
    "'quota': 'none', 'actions': ['allocate', 'consolidation'], 'preemption': "                                        \
    "{'policy': 'kill', 'min_runtime_s': 0, 'victims': ['priority'], 'search': "                                       \
    "'" search "'}, 'defrag': {'policy': 'consolidation', 'moves_per_plan': 1}}"

/* Three nodes of 4, of which the first has a job of 3 and the others one of 2 each.  For a preemptor of 4 only one may
 * move.  In order that is the first, for whom there is no other place; node by node it is one of the others. */
static size_t moved_for_four(const char *policy)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(3, 4), queue_table_new(), policy);
    sched_case_submit(&c, sched_case_job(0, 1, 3, 10), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    for (job_id id = 1; id < 3; id++) {
        sched_case_submit(&c, sched_case_job(id, 1, 2, 20), SECONDS(1));
        assert_int_equal(sched_case_start(&c, SECONDS(1)), 1);
    }
    sched_case_submit(&c, sched_case_job(3, 1, 4, 50), SECONDS(2));
    sched_case_cycle(&c, SECONDS(2));
    assert_int_equal(sched_case_counts(&c).plans_tried, 1);
    size_t moved = evicted_for(&c, 3);
    for (size_t i = 0; i < c.count; i++)
        assert_true(c.decisions[i].kind != DECISION_EVICT || c.decisions[i].job != 0);
    sched_case_close(&c);
    return moved;
}

TEST(who_moves_is_sought_in_the_order_told)
{
    assert_int_equal(moved_for_four(MOVING_ONE("node")), 1);
    assert_int_equal(moved_for_four(MOVING_ONE("ordered")), 0);
}
