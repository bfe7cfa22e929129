/* policies/drain/drain.c and policies/eviction/moves.c by single decisions: whom a drain keeps from its nodes, when it
 * ends, what becomes of it when nodes change or the scheduler is saved; what facts do to a job that is being moved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/allocate/allocate.h"
#include "policies/policy_config.h"
#include "policies/state/ranks.h"
#include "policies/state/sched_state.h"
#include "tests/support/lawful.h"
#include "tests/support/sched_case.h"

#define DRAINING(more)                                                                                                 \
    "{'order': ['priority', 'fifo'], 'blocking': 'skip', 'estimate': 'declared', "                                     \
    "'defrag': {'policy': 'drain', 'drain_nodes_ratio': 1" more "}}"
#define MOVING                                                                                                         \
    "{'order': ['priority', 'fifo'], 'blocking': 'skip', 'actions': ['allocate', "                                     \
    "'consolidation'], 'preemption': {'policy': 'checkpoint', 'grace_s': 30, "                                         \
    "'search': 'ordered'}, 'defrag': {'policy': 'consolidation', 'moves_per_h': 1}}"

static struct piece gpus_on(node_id node, uint16_t mask)
{
    return (struct piece){.node = node, .gpu_mask = mask, .gpu_milli = GPU_MILLI, .member_count = 1};
}

static bool is_kept(const struct sched_case *c, node_id node)
{
    return c->sched->ledger->is_kept[node] != 0;
}

/* Three nodes of 4: job 0 has all of node 0, job 1 one GPU of node 1, job 2 three of node 2 and ends first.  Job 3
 * asks two nodes; it is drained for in the first cycle. */
static void open_draining(struct sched_case *c, const char *policy)
{
    static const uint16_t masks[] = {0xf, 0x1, 0x7};
    sched_case_open(c, cluster_uniform_new(3, 4), queue_table_new(), policy);
    for (job_id id = 0; id < 3; id++) {
        struct job job = sched_case_job(id, 1, (uint16_t)__builtin_popcount(masks[id]), 50);
        job.estimate = SECONDS(1000 - 100 * (time_ns)id);
        sched_case_adopt(c, job, gpus_on(id, masks[id]));
    }
    sched_case_submit(c, sched_case_job(3, 2, 4, 50), SECONDS(1));
    sched_case_cycle(c, SECONDS(1));
    assert_int_equal(c->count, 0);
    assert_int_equal(sched_case_counts(c).drains, 1);
}

/* Emptiest first; a later job finds nothing, and its reason is the kept space. */
static void what_is_kept_is_given_to_nobody_else(void **state)
{
    (void)state;
    struct sched_case c;
    open_draining(&c, DRAINING(""));
    assert_true(!is_kept(&c, 0) && is_kept(&c, 1) && is_kept(&c, 2));
    sched_case_submit(&c, sched_case_job(4, 1, 1, 90), SECONDS(2));
    sched_case_cycle(&c, SECONDS(2));
    assert_int_equal(c.count, 0);
    struct explanation why = sched_case_explain(&c, 4, REASON_RESERVED_FOR_OTHER);
    assert_int_equal(why.nodes[EXPLAIN_KEPT], 2);
    assert_int_equal(why.nodes[EXPLAIN_GPUS_BUSY], 1);
    why = sched_case_explain(&c, 3, REASON_RESOURCES); /* it knows its nodes */
    assert_int_equal(why.nodes[EXPLAIN_KEPT], 0);
    sched_job_ended(c.sched, 1, JOB_END_COMPLETED, false, SECONDS(10));
    sched_case_cycle(&c, SECONDS(10));
    assert_int_equal(c.count, 0);
    why = sched_case_explain(&c, 3, REASON_RESOURCES);
    assert_int_equal(why.nodes[EXPLAIN_FITS], 1);
    assert_int_equal(why.members_fitting, 1);
    sched_job_ended(c.sched, 2, JOB_END_COMPLETED, false, SECONDS(20));
    assert_int_equal(sched_case_start(&c, SECONDS(20)), 1);
    assert_int_equal(c.decisions[0].job, 3);
    assert_true(!is_kept(&c, 1) && !is_kept(&c, 2));
    struct sched_counts counts = sched_case_counts(&c);
    assert_int_equal(counts.drains_filled, 1);
    /* 3 and 1 GPUs from 1 s on, 4 and 1 from 10 s, until 20 s */
    assert_true(counts.kept_gpu_ns == 9 * SECONDS(4) + 10 * SECONDS(5));
    sched_case_close(&c);
}

/* Node 1 has more free, node 0 is empty sooner. */
static void the_choice_is_by_use_or_by_end(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        node_id kept;
    } cases[] = {{DRAINING(""), 1}, {DRAINING(", 'drain_choice': 'soonest'"), 0}};
    for (size_t i = 0; i < 2; i++) {
        struct sched_case c;
        sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(), cases[i].policy);
        struct job two = sched_case_job(0, 1, 2, 50), three = sched_case_job(1, 1, 3, 50);
        two.estimate = SECONDS(900);
        three.estimate = SECONDS(100);
        sched_case_adopt(&c, three, gpus_on(0, 0x7));
        sched_case_adopt(&c, two, gpus_on(1, 0x3));
        sched_case_submit(&c, sched_case_job(2, 1, 4, 50), SECONDS(1));
        sched_case_cycle(&c, SECONDS(1));
        assert_int_equal(is_kept(&c, 1), cases[i].kept == 1);
        assert_int_equal(is_kept(&c, 0), cases[i].kept == 0);
        sched_case_close(&c);
    }
}

static void it_is_given_up_when_its_time_is_over(void **state)
{
    (void)state;
    struct sched_case c;
    open_draining(&c, DRAINING(", \"drain_expiry_s\": 50"));
    assert_true(c.wake_at == SECONDS(51));
    sched_case_submit(&c, sched_case_job(4, 1, 1, 50), SECONDS(50));
    sched_case_cycle(&c, SECONDS(50));
    assert_int_equal(c.count, 0);
    assert_int_equal(sched_case_start(&c, SECONDS(51)), 1);
    assert_true(!is_kept(&c, 1) && !is_kept(&c, 2));
    assert_true(c.wake_at == SECONDS(101)); /* it rests for as long */
    sched_case_cycle(&c, SECONDS(100));
    assert_int_equal(sched_case_counts(&c).drains, 1);
    sched_case_cycle(&c, SECONDS(101));
    assert_int_equal(sched_case_counts(&c).drains, 2);
    sched_case_close(&c);
}

static void it_ends_when_the_gang_goes_away(void **state)
{
    (void)state;
    struct sched_case c;
    open_draining(&c, DRAINING(""));
    sched_job_cancelled(c.sched, 3, SECONDS(5));
    sched_case_cycle(&c, SECONDS(5));
    assert_true(!is_kept(&c, 1) && !is_kept(&c, 2));
    assert_int_equal(sched_case_counts(&c).drains_filled, 0);
    sched_case_close(&c);
}

/* Node 0 comes free first: it is kept in the place of node 2, of which most is in use. */
static void a_node_that_comes_free_is_kept_instead(void **state)
{
    (void)state;
    struct sched_case c;
    open_draining(&c, DRAINING(""));
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(5));
    sched_case_cycle(&c, SECONDS(5));
    assert_true(is_kept(&c, 0) && is_kept(&c, 1) && !is_kept(&c, 2));
    sched_job_ended(c.sched, 1, JOB_END_COMPLETED, false, SECONDS(6));
    assert_int_equal(sched_case_start(&c, SECONDS(6)), 1);
    sched_case_close(&c);
}

/* A node that goes is kept no more, another takes its place; what the world said of it is known when the drain is
 * over. */
static void nodes_change_under_it(void **state)
{
    (void)state;
    struct sched_case c;
    open_draining(&c, DRAINING(""));
    sched_node_changed(c.sched, 1, NODE_CORDONED, SECONDS(5));
    assert_lawful(sched_check(c.sched));
    sched_case_cycle(&c, SECONDS(5));
    assert_true(is_kept(&c, 0) && !is_kept(&c, 1) && is_kept(&c, 2));
    sched_node_changed(c.sched, 2, NODE_CORDONED, SECONDS(6)); /* too few are left */
    sched_case_cycle(&c, SECONDS(6));
    assert_true(!is_kept(&c, 0) && !is_kept(&c, 1) && !is_kept(&c, 2));
    sched_node_changed(c.sched, 1, NODE_UP, SECONDS(7));
    sched_case_submit(&c, sched_case_job(4, 1, 1, 50), SECONDS(7));
    assert_int_equal(sched_case_start(&c, SECONDS(7)), 1);
    assert_int_equal(c.decisions[0].pieces[0].node, 1);
    sched_case_close(&c);
}

/* What it has kept free so far is counted in the middle of a drain, and when that expires is known. */
static void a_drain_is_counted_and_expires(void **state)
{
    (void)state;
    struct sched_case c;
    open_draining(&c, DRAINING(", \"drain_expiry_s\": 50"));
    sched_job_ended(c.sched, 1, JOB_END_COMPLETED, false, SECONDS(10));
    sched_case_cycle(&c, SECONDS(10));
    assert_true(!is_kept(&c, 0) && is_kept(&c, 1) && is_kept(&c, 2));
    assert_true(sched_case_counts(&c).kept_gpu_ns == 9 * SECONDS(4));
    sched_case_submit(&c, sched_case_job(4, 1, 1, 90), SECONDS(11));
    sched_case_cycle(&c, SECONDS(11));
    assert_int_equal(c.count, 0);
    assert_true(c.wake_at == SECONDS(51));
    sched_job_ended(c.sched, 2, JOB_END_COMPLETED, false, SECONDS(20));
    assert_int_equal(sched_case_start(&c, SECONDS(20)), 1);
    assert_int_equal(c.decisions[0].job, 3);
    assert_int_equal(sched_case_counts(&c).drains_filled, 1);
    sched_case_close(&c);
}

/* ---- Moves ---- */

/* Two nodes of 2 with a job on each.  For job 2, which asks a node, job 1 goes to node 0 with a grace; the decisions
 * of that cycle, at 100 s, stand in c. */
static void open_moving(struct sched_case *c)
{
    sched_case_open(c, cluster_uniform_new(2, 2), queue_table_new(), MOVING);
    for (job_id id = 0; id < 2; id++) {
        struct job job = sched_case_job(id, 1, 1, 50);
        job.checkpoint.duration = SECONDS(5);
        sched_case_adopt(c, job, gpus_on(id, 0x1));
    }
    sched_case_submit(c, sched_case_job(2, 1, 2, 50), SECONDS(100));
    sched_case_cycle(c, SECONDS(100));
    assert_int_equal(sched_case_count(c, DECISION_EVICT), 1);
    assert_int_equal(sched_case_count(c, DECISION_RESERVE), 2);
    assert_int_equal(c->decisions[0].job, 1);
}

/* While it saves, a faster job finds its place taken; when it has left both start. */
static void a_place_is_held_until_the_moved_has_left(void **state)
{
    (void)state;
    struct sched_case c;
    open_moving(&c);
    const decision_id eviction = c.decisions[0].id;
    sched_case_submit(&c, sched_case_job(3, 1, 1, 90), SECONDS(101));
    sched_case_cycle(&c, SECONDS(101));
    assert_int_equal(c.count, 0);
    sched_case_explain(&c, 3, REASON_RESERVED_FOR_OTHER);
    sched_job_evicted(c.sched, 1, (struct members){eviction, NODE_NONE}, EVICT_SAVED, SECONDS(120));
    assert_int_equal(sched_case_start(&c, SECONDS(120)), 2);
    assert_int_equal(c.decisions[1].job, 1);
    assert_int_equal(c.decisions[1].pieces[0].node, 0);
    assert_int_equal(c.sched->jobs.jobs[job_table_find(&c.sched->jobs, 1)].evictions, 1);
    sched_case_close(&c);
}

static void the_moved_may_end_while_it_saves(void **state)
{
    (void)state;
    struct sched_case c;
    open_moving(&c);
    sched_job_ended(c.sched, 1, JOB_END_COMPLETED, false, SECONDS(110));
    assert_lawful(sched_check(c.sched));
    assert_int_equal(sched_case_start(&c, SECONDS(110)), 1);
    assert_int_equal(c.decisions[c.count - 1].job, 2);
    assert_int_equal(sched_case_counts(&c).reserved_jobs, 0);
    assert_int_equal(sched_case_counts(&c).used_gpu_milli, 3 * GPU_MILLI);
    sched_case_close(&c);
}

/* Neither the preemptor nor the moved keeps a promise; the moved runs where it was. */
static void a_move_may_be_refused(void **state)
{
    (void)state;
    struct sched_case c;
    open_moving(&c);
    sched_decision_refused(c.sched, c.decisions[0].id, REFUSED_STALE, SECONDS(101));
    assert_lawful(sched_check(c.sched));
    assert_int_equal(sched_case_counts(&c).reserved_jobs, 0);
    assert_int_equal(sched_case_counts(&c).running_jobs, 2);
    sched_case_close(&c);
}

/* The node it was to go to is gone: it waits like any other when it has left. */
static void its_place_may_be_lost(void **state)
{
    (void)state;
    struct sched_case c;
    open_moving(&c);
    const decision_id eviction = c.decisions[0].id;
    sched_node_changed(c.sched, 0, NODE_CORDONED, SECONDS(101));
    sched_case_cycle(&c, SECONDS(101));
    assert_int_equal(sched_case_count(&c, DECISION_RELEASE), 1);
    sched_job_evicted(c.sched, 1, (struct members){eviction, NODE_NONE}, EVICT_SAVED, SECONDS(120));
    assert_int_equal(sched_case_start(&c, SECONDS(120)), 1);
    assert_int_equal(c.decisions[0].job, 2);
    assert_int_equal(sched_why(c.sched, 1), REASON_RESOURCES);
    sched_case_close(&c);
}

/* One move an hour: who needs the next is tried again when the first is an hour old, though nothing is told. */
static void the_budget_is_there_again_after_an_hour(void **state)
{
    (void)state;
    struct sched_case c;
    open_moving(&c);
    sched_job_evicted(c.sched, 1, (struct members){c.decisions[0].id, NODE_NONE}, EVICT_SAVED, SECONDS(110));
    assert_int_equal(sched_case_start(&c, SECONDS(110)), 2);
    sched_job_ended(c.sched, 2, JOB_END_COMPLETED, false, SECONDS(120));
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(120));
    struct job job = sched_case_job(4, 1, 1, 50); /* best fit puts it beside job 1 */
    sched_case_submit(&c, job, SECONDS(120));
    assert_int_equal(sched_case_start(&c, SECONDS(120)), 1);
    sched_job_ended(c.sched, 1, JOB_END_COMPLETED, false, SECONDS(130));
    const struct job other = sched_case_job(5, 1, 1, 50);
    const struct piece piece = gpus_on(1, 0x2);
    sched_job_adopted(c.sched, &other, &piece, 1, 0, SECONDS(130));
    sched_case_submit(&c, sched_case_job(6, 1, 2, 50), SECONDS(140));
    sched_case_cycle(&c, SECONDS(140));
    assert_int_equal(c.count, 0);
    assert_true(c.wake_at == SECONDS(100 + 3600));
    sched_case_cycle(&c, SECONDS(100 + 3600));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
    sched_case_close(&c);
}

/* Whose place in line is fixed need not settle when it starts, but for those who weigh a move against what is left of
 * it. */
static void how_long_it_ran_is_known_where_jobs_move(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 2), queue_table_new(), MOVING);
    sched_case_submit(&c, sched_case_job(0, 1, 2, 50), SECONDS(1));
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 1);
    sched_case_cycle(&c, SECONDS(11));
    assert_int_equal(sched_ran(c.sched, 0), SECONDS(10));
    sched_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_given_to_nobody_else),
        cmocka_unit_test(the_choice_is_by_use_or_by_end),
        cmocka_unit_test(it_is_given_up_when_its_time_is_over),
        cmocka_unit_test(it_ends_when_the_gang_goes_away),
        cmocka_unit_test(a_node_that_comes_free_is_kept_instead),
        cmocka_unit_test(nodes_change_under_it),
        cmocka_unit_test(a_drain_is_counted_and_expires),
        cmocka_unit_test(a_place_is_held_until_the_moved_has_left),
        cmocka_unit_test(the_moved_may_end_while_it_saves),
        cmocka_unit_test(a_move_may_be_refused),
        cmocka_unit_test(its_place_may_be_lost),
        cmocka_unit_test(the_budget_is_there_again_after_an_hour),
        cmocka_unit_test(how_long_it_ran_is_known_where_jobs_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
