/* The scheduler library without the simulator: links libwindtunnel_sched alone and drives it as a live adaptor would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/policy_config.h"
#include "policies/sched.h"
#include "tests/support/lawful.h"

struct world {
    struct cluster *cluster;
    struct queue_table *queues;
    struct sched *sched;
    const struct decision *decisions;
    size_t count;
    time_ns wake_at;
};

static const char policy_text[] =
    "{\"name\": \"test\", \"order\": [\"priority\", \"fifo\"], \"blocking\": \"skip\","
    " \"quota\": \"none\", \"placement\": \"best_fit\","
    " \"preemption\": {\"policy\": \"checkpoint\", \"min_runtime_s\": 10, \"grace_s\": 30}}";

static struct policy_config read_policy(void)
{
    struct json_doc *doc;
    struct policy_config policy;
    struct error error = json_doc_parse(&doc, "test", text_of(policy_text), ERROR_CONFIG);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&policy, &root);
    assert_false(error_is(error));
    json_doc_free(doc);
    return policy;
}

static void open_world(struct world *world, uint32_t nodes, uint16_t gpus)
{
    struct error error;
    struct policy_config policy = read_policy();
    world->cluster = cluster_uniform_new(nodes, gpus);
    world->queues = queue_table_new();
    world->sched = sched_new(world->cluster, world->queues, &policy, &error);
    assert_non_null(world->sched);
}

static void close_world(struct world *world)
{
    sched_free(world->sched);
    queue_table_free(world->queues);
    cluster_free(world->cluster);
}

static void submit(struct world *world, job_id id, uint32_t count, uint16_t gpus, int32_t priority, time_ns now)
{
    struct job job = job_default();
    job.id = id;
    job.first.count = job.first.min_count = count;
    job.first.request.gpus = gpus;
    job.priority = priority;
    job.submit = now;
    job.checkpoint.duration = 5 * TIME_NS_PER_S; /* or it would get no grace */
    sched_job_submitted(world->sched, &job, now);
}

static void cycle(struct world *world, time_ns now)
{
    world->count = sched_cycle(world->sched, now, &world->decisions, &world->wake_at);
    assert_lawful(sched_check(world->sched));
}

static void test_places_and_frees(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 2, 8);
    submit(&world, 0, 2, 8, 50, 0); /* the whole cluster */
    submit(&world, 1, 1, 4, 50, 0);
    cycle(&world, 0);
    assert_int_equal(world.count, 1);
    assert_int_equal(world.decisions[0].kind, DECISION_START);
    assert_int_equal(world.decisions[0].piece_count, 2);
    assert_int_equal(world.decisions[0].pieces[1].gpu_mask, 0xff);
    assert_int_equal(sched_why(world.sched, 1), REASON_RESOURCES);
    sched_job_started(world.sched, 0, world.decisions[0].id, 0);
    cycle(&world, 1);
    assert_int_equal(world.count, 0);
    sched_job_ended(world.sched, 0, JOB_END_COMPLETED, false, 2);
    cycle(&world, 2);
    assert_int_equal(world.count, 1);
    assert_int_equal(world.decisions[0].job, 1);
    close_world(&world);
}

static void test_never_fits(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 2, 8);
    submit(&world, 0, 3, 8, 50, 0);
    submit(&world, 1, 1, 9, 50, 0);
    cycle(&world, 0);
    assert_int_equal(world.count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(world.decisions[i].kind, DECISION_REJECT);
        assert_int_equal(world.decisions[i].reason, REASON_NEVER_FITS);
    }
    close_world(&world);
}

/* A job of higher priority takes what it needs and no more, from those who ran long enough. */
static void test_evicts_the_least(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 2, 4);
    submit(&world, 0, 1, 4, 20, 0);
    submit(&world, 1, 1, 1, 20, 0);
    submit(&world, 2, 1, 3, 20, 0);
    cycle(&world, 0);
    assert_int_equal(world.count, 3);
    for (size_t i = 0; i < 3; i++)
        sched_job_started(world.sched, world.decisions[i].job, world.decisions[i].id, 0);
    time_ns soon = 5 * TIME_NS_PER_S, late = 20 * TIME_NS_PER_S;
    submit(&world, 3, 1, 1, 60, soon);
    cycle(&world, soon);
    assert_int_equal(world.count, 0); /* all are too young */
    assert_int_equal(world.wake_at, 10 * TIME_NS_PER_S);
    cycle(&world, late);
    assert_int_equal(world.count, 2);
    assert_int_equal(world.decisions[0].kind, DECISION_EVICT);
    assert_int_equal(world.decisions[0].job, 1); /* one GPU suffices */
    assert_int_equal(world.decisions[0].for_job, 3);
    assert_int_equal(world.decisions[0].grace, 30 * TIME_NS_PER_S);
    assert_int_equal(world.decisions[1].kind, DECISION_RESERVE);
    assert_int_equal(sched_why(world.sched, 3), REASON_RESERVED);
    cycle(&world, late + 1);
    assert_int_equal(world.count, 0);
    sched_job_evicted(world.sched, 1, MEMBERS_ALL, EVICT_SAVED, late + 2);
    cycle(&world, late + 2);
    assert_int_equal(world.count, 1);
    assert_int_equal(world.decisions[0].kind, DECISION_START);
    assert_int_equal(world.decisions[0].job, 3);
    assert_int_equal(sched_why(world.sched, 1), REASON_RESOURCES);
    close_world(&world);
}

/* Refusals undo; a node that goes takes nobody's space with it twice. */
static void test_refusals_and_nodes(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 2, 8);
    uint64_t empty = sched_hash(world.sched);
    submit(&world, 0, 1, 8, 50, 0);
    cycle(&world, 0);
    sched_decision_refused(world.sched, world.decisions[0].id, REFUSED_STALE, 0);
    assert_true(sched_hash(world.sched) == empty);
    sched_node_changed(world.sched, 0, NODE_DOWN, 1);
    cycle(&world, 1);
    assert_int_equal(world.count, 1);
    assert_int_equal(world.decisions[0].pieces[0].node, 1);
    sched_job_started(world.sched, 0, world.decisions[0].id, 1);
    sched_node_changed(world.sched, 1, NODE_DOWN, 2);
    sched_job_evicted(world.sched, 0, MEMBERS_ALL, EVICT_LOST, 2);
    cycle(&world, 2);
    assert_int_equal(world.count, 0);
    sched_node_changed(world.sched, 1, NODE_UP, 3);
    cycle(&world, 3);
    assert_int_equal(world.count, 1);
    sched_job_cancelled(world.sched, 0, 3); /* it starts: not the scheduler's to forget */
    sched_job_ended(world.sched, 0, JOB_END_CANCELLED, false, 4);
    sched_node_changed(world.sched, 0, NODE_UP, 5);
    assert_true(sched_hash(world.sched) == empty);
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_and_frees),
        cmocka_unit_test(test_never_fits),
        cmocka_unit_test(test_evicts_the_least),
        cmocka_unit_test(test_refusals_and_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
