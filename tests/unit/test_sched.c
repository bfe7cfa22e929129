/* policies/sched.h: hand-made situations, each of which went wrong once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "policies/sched.h"

enum { FIXTURE_JOBS = 64 };

struct fixture {
    decision_id starts[FIXTURE_JOBS]; /* the last of each job */
    struct cluster *cluster;
    struct queue_table *queues;
    struct sched *sched;
    const struct decision *decisions;
    size_t count;
    time_ns wake_at;
};

static time_ns s(int64_t seconds)
{
    return seconds * TIME_NS_PER_S;
}

static void setup(struct fixture *f, struct cluster *cluster, struct queue_table *queues,
                  const char *text)
{
    struct json_doc *doc;
    struct policy_config policy;
    struct error error = json_doc_parse(&doc, "test", text_of(text), ERROR_CONFIG);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&policy, &root);
    assert_false(error_is(error));
    json_doc_free(doc);
    *f = (struct fixture){.cluster = cluster, .queues = queues};
    f->sched = sched_new(cluster, queues, &policy, &error);
    assert_non_null(f->sched);
}

/* A node of 4 large GPUs and one of 4 small ones. */
static struct cluster *two_models(void)
{
    struct json_doc *doc;
    struct error error =
        json_doc_parse(&doc, "test",
                       TEXT("{\"pools\": [{\"name\": \"a\", \"nodes\": 1, \"gpus_per_node\": 4,"
                            " \"gpu_model\": \"h100-80gb\", \"node_name\": \"a%u\"},"
                            " {\"name\": \"b\", \"nodes\": 1, \"gpus_per_node\": 4,"
                            " \"gpu_model\": \"t4-16gb\", \"node_name\": \"b%u\"}]}"),
                       ERROR_CONFIG);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root, NULL);
    assert_non_null(cluster);
    json_doc_free(doc);
    return cluster;
}

static void teardown(struct fixture *f)
{
    sched_free(f->sched);
    queue_table_free(f->queues);
    cluster_free(f->cluster);
}

static struct job plain(job_id id, uint32_t count, uint16_t gpus, int32_t priority)
{
    struct job job = job_default();
    job.id = id;
    job.first.count = job.first.min_count = count;
    job.first.request.gpus = gpus;
    job.priority = priority;
    return job;
}

static void submit(struct fixture *f, struct job job, time_ns now)
{
    job.submit = now;
    sched_job_submitted(f->sched, &job, now);
}

static void cycle(struct fixture *f, time_ns now)
{
    f->count = sched_cycle(f->sched, now, &f->decisions, &f->wake_at);
    for (size_t i = 0; i < f->count; i++)
        if (f->decisions[i].kind == DECISION_START && f->decisions[i].job < FIXTURE_JOBS)
            f->starts[f->decisions[i].job] = f->decisions[i].id;
    assert_null(sched_check(f->sched));
}

/* A cycle whose STARTs take effect at once, as with a decision latency of 0. */
static void cycle_and_start(struct fixture *f, time_ns now)
{
    cycle(f, now);
    for (size_t i = 0; i < f->count; i++)
        if (f->decisions[i].kind == DECISION_START)
            sched_job_started(f->sched, f->decisions[i].job, f->decisions[i].id, now);
}

static size_t count_of(const struct fixture *f, enum decision_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < f->count; i++)
        count += f->decisions[i].kind == kind;
    return count;
}

#define PREEMPTING(order, blocking, quota, placement, min_runtime, attempts)                       \
    "{\"order\": [" order "], \"blocking\": \"" blocking "\", \"quota\": \"" quota                 \
    "\", \"placement\": \"" placement "\", \"preemption\": {\"policy\": \"checkpoint\", "          \
    "\"grace_s\": 30, \"min_runtime_s\": " min_runtime ", \"attempts_per_cycle\": " attempts "}}"

/* Spread puts a flat job's members on both nodes in turn: several pieces of one victim on one node. */
static void test_victim_with_two_pieces_on_a_node(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, cluster_uniform_new(2, 4), queue_table_new(),
          PREEMPTING("\"priority\"", "skip", "none", "worst_fit", "0", "4"));
    submit(&f, plain(0, 8, 1, 10), 0);
    cycle_and_start(&f, 0);
    assert_int_equal(count_of(&f, DECISION_START), 1);
    submit(&f, plain(1, 1, 4, 90), s(1));
    cycle(&f, s(1));
    assert_int_equal(count_of(&f, DECISION_EVICT), 1);
    assert_int_equal(count_of(&f, DECISION_RESERVE), 1);
    sched_job_evicted(f.sched, 0, MEMBERS_ALL, EVICT_LOST, s(2));
    cycle(&f, s(2));
    assert_int_equal(count_of(&f, DECISION_START), 1);
    teardown(&f);
}

/* The victim keeps its GPUs when its eviction is refused, although somebody had reserved them. */
static void test_refused_eviction(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, cluster_uniform_new(1, 4), queue_table_new(),
          PREEMPTING("\"priority\"", "skip", "none", "best_fit", "0", "4"));
    uint64_t empty = sched_hash(f.sched);
    submit(&f, plain(0, 1, 4, 10), 0);
    cycle_and_start(&f, 0);
    uint64_t before = sched_hash(f.sched);
    submit(&f, plain(1, 1, 4, 90), s(1));
    cycle(&f, s(1));
    assert_int_equal(f.decisions[0].kind, DECISION_EVICT);
    sched_decision_refused(f.sched, f.decisions[0].id, REFUSED_BUSY, s(2));
    assert_true(sched_hash(f.sched) == before);
    sched_job_cancelled(f.sched, 1, s(2));
    sched_job_ended(f.sched, 0, JOB_END_COMPLETED, false, s(3));
    assert_null(sched_check(f.sched));
    assert_true(sched_hash(f.sched) == empty);
    teardown(&f);
}

/* A full queue's job whose kind was found not to fit by another queue: evicting one of its own would make room on
 * the node, but not in the queue. */
static void test_plans_keep_limits(void **state)
{
    (void)state;
    struct fixture f;
    struct queue_table *queues = queue_table_new();
    queue_id a = queue_table_add(queues, TEXT("a"), QUEUE_ROOT),
             b = queue_table_add(queues, TEXT("b"), QUEUE_ROOT);
    queues->queues[a].limit[RESOURCE_GPU] = 2000;
    setup(&f, cluster_uniform_new(1, 4), queues,
          PREEMPTING("\"priority\"", "skip", "fairshare", "first_fit", "0", "4"));
    struct job jobs[] = {plain(0, 1, 1, 10), plain(1, 1, 1, 10), plain(2, 1, 1, 10),
                         plain(3, 1, 2, 10), plain(4, 1, 2, 90)};
    jobs[0].queue = jobs[1].queue = jobs[4].queue = a;
    jobs[2].queue = jobs[3].queue = b;
    jobs[1].is_preemptible = jobs[2].is_preemptible = false;
    for (int i = 0; i < 3; i++)
        submit(&f, jobs[i], 0);
    cycle_and_start(&f, 0);
    assert_int_equal(count_of(&f, DECISION_START), 3);
    submit(&f, jobs[3], s(1)); /* one GPU is free */
    cycle_and_start(&f, s(1));
    assert_int_equal(f.count, 0);
    submit(&f, jobs[4], s(2));
    cycle_and_start(&f, s(2));
    assert_int_equal(f.count, 0);
    teardown(&f);
}

/* The only victim starts in the same cycle: the gainer must be looked at again when it has run long enough. */
static void test_wakes_for_one_that_starts(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, cluster_uniform_new(2, 4), queue_table_new(),
          PREEMPTING("\"priority\"", "skip", "none", "best_fit", "100", "4"));
    struct job firm = plain(0, 1, 1, 10);
    firm.is_preemptible = false;
    submit(&f, firm, 0);
    cycle_and_start(&f, 0);
    submit(&f, plain(1, 2, 4, 90), s(1)); /* both nodes: only when the firm job is gone */
    submit(&f, plain(2, 1, 4, 10), s(1)); /* takes the other node meanwhile */
    cycle_and_start(&f, s(1));
    assert_int_equal(count_of(&f, DECISION_START), 1);
    sched_job_ended(f.sched, 0, JOB_END_COMPLETED, false, s(200));
    submit(&f, plain(3, 1, 4, 10), s(200));
    cycle_and_start(&f, s(200)); /* job 2 ran long enough, job 3 has its node only now */
    assert_int_equal(count_of(&f, DECISION_START), 1);
    assert_int_equal(f.wake_at, s(300));
    cycle_and_start(&f, s(300));
    assert_int_equal(count_of(&f, DECISION_EVICT), 2);
    teardown(&f);
}

/* Two possible victims are slow to start and are told to run at once: the one that is ripe first counts. */
static void test_wakes_for_the_first_of_two_that_start(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, cluster_uniform_new(1, 4), queue_table_new(),
          PREEMPTING("\"priority\"", "skip", "none", "best_fit", "100", "4"));
    submit(&f, plain(0, 1, 2, 10), 0);
    cycle(&f, 0); /* ripe at 100 */
    submit(&f, plain(1, 1, 2, 10), s(40));
    cycle(&f, s(40)); /* ripe at 140 */
    submit(&f, plain(2, 1, 1, 90), s(45));
    cycle(&f, s(45));
    for (job_id id = 3; id < 12; id++) { /* some plans that come to nothing, and others that wait */
        submit(&f, plain(id, 1, 1, 50), s(45));
        cycle(&f, s(45));
    }
    sched_job_started(f.sched, 0, f.starts[0], s(50));
    sched_job_started(f.sched, 1, f.starts[1], s(50));
    cycle(&f, s(50));
    assert_int_equal(f.wake_at, s(100));
    cycle(&f, s(100));
    assert_int_equal(count_of(&f, DECISION_EVICT), 1);
    teardown(&f);
}

/* One plan a cycle: it asks to be called again for the rest. */
static void test_wakes_for_the_rest(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, cluster_uniform_new(2, 4), queue_table_new(),
          PREEMPTING("\"priority\"", "skip", "none", "best_fit", "0", "1"));
    submit(&f, plain(0, 1, 4, 10), 0);
    submit(&f, plain(1, 1, 4, 10), 0);
    cycle_and_start(&f, 0);
    submit(&f, plain(2, 1, 4, 90), s(1));
    submit(&f, plain(3, 1, 3, 90), s(1));
    cycle(&f, s(1));
    assert_int_equal(count_of(&f, DECISION_EVICT), 1);
    assert_true(f.wake_at <= s(1) + 1);
    cycle(&f, s(1) + 1);
    assert_int_equal(count_of(&f, DECISION_EVICT), 1);
    assert_int_equal(f.wake_at, s(1 + 600)); /* when the first reservation runs out */
    teardown(&f);
}

/* Two alike: the second is planned in the same cycle, or a cycle is asked for. */
static void test_plans_for_two_alike(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, cluster_uniform_new(2, 4), queue_table_new(),
          PREEMPTING("\"priority\"", "skip", "none", "best_fit", "0", "4"));
    for (job_id id = 0; id < 2; id++)
        submit(&f, plain(id, 1, 4, 10), 0);
    cycle_and_start(&f, 0);
    for (job_id id = 2; id < 4; id++)
        submit(&f, plain(id, 1, 4, 90), s(1));
    cycle(&f, s(1));
    assert_true(count_of(&f, DECISION_EVICT) == 2 || f.wake_at <= s(1) + 1);
    teardown(&f);
}

/* Memory of a GPU is a larger share on one model than on another: a victim that asks little on the large ones
 * holds most of a small one. */
static void test_plans_with_memory(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, two_models(), queue_table_new(),
          PREEMPTING("\"priority\"", "skip", "none", "first_fit", "0", "4"));
    struct job firm = plain(0, 1, 4, 50);
    firm.is_preemptible = false;
    submit(&f, firm, 0); /* the large node */
    struct job job = plain(1, 4, 0, 10);
    job.first.request = (struct request){.gpu_memory_mib = 12 << 10};
    submit(&f, job, 0); /* three quarters of each small one */
    cycle_and_start(&f, 0);
    assert_int_equal(count_of(&f, DECISION_START), 2);
    submit(&f, plain(2, 1, 4, 90), s(1));
    cycle_and_start(&f, s(1));
    assert_int_equal(count_of(&f, DECISION_EVICT), 1);
    teardown(&f);
}

/* In a strict line the next may go as soon as the first has its reservation. */
static void test_strict_goes_on_after_a_plan(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, cluster_uniform_new(2, 4), queue_table_new(),
          PREEMPTING("\"priority\"", "strict", "none", "best_fit", "0", "4"));
    submit(&f, plain(0, 1, 4, 10), 0);
    struct job firm = plain(1, 1, 3, 50);
    firm.is_preemptible = false;
    submit(&f, firm, 0); /* one GPU stays free */
    cycle_and_start(&f, 0);
    submit(&f, plain(2, 1, 4, 90), s(1)); /* in the place of job 0 */
    submit(&f, plain(3, 1, 1, 5), s(1));
    cycle(&f, s(1));
    assert_int_equal(count_of(&f, DECISION_RESERVE), 1);
    assert_int_equal(count_of(&f, DECISION_START), 1);
    teardown(&f);
}

/* Behind a head that nothing can be done for, nobody evicts his way past it. */
static void test_strict_is_not_overtaken_by_plans(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, cluster_uniform_new(2, 4), queue_table_new(),
          PREEMPTING("\"priority\"", "strict", "none", "best_fit", "0", "4"));
    struct job firm = plain(0, 1, 4, 50);
    firm.is_preemptible = false;
    submit(&f, firm, 0);
    submit(&f, plain(1, 1, 4, 10), 0);
    cycle_and_start(&f, 0);
    submit(&f, plain(2, 1, 4, 5), s(1)); /* blocks its kind */
    cycle_and_start(&f, s(1));
    submit(&f, plain(3, 2, 4, 99), s(2)); /* the whole cluster: waits for the firm job */
    submit(&f, plain(4, 1, 4, 90), s(2)); /* could have job 1's node */
    cycle_and_start(&f, s(2));
    cycle_and_start(&f, s(3));
    assert_int_equal(count_of(&f, DECISION_EVICT), 0);
    assert_int_equal(sched_why(f.sched, 4), REASON_RESOURCES);
    teardown(&f);
}

static void test_counts_held_jobs(void **state)
{
    (void)state;
    struct fixture f;
    struct sched_counts counts;
    setup(&f, cluster_uniform_new(1, 4), queue_table_new(), "{}");
    struct job job = plain(0, 1, 1, 50);
    job.is_held = true;
    submit(&f, job, 0);
    cycle(&f, 0);
    sched_count(f.sched, &counts);
    assert_int_equal(counts.pending_jobs, 1);
    sched_job_cancelled(f.sched, 0, 0);
    sched_count(f.sched, &counts);
    assert_int_equal(counts.pending_jobs, 0);
    teardown(&f);
}

/* A node is cordoned, so the whole tree holds more than there is: that is nobody's loan to the root's own jobs. */
static void test_root_takes_nothing_back(void **state)
{
    (void)state;
    struct fixture f;
    struct queue_table *queues = queue_table_new();
    queue_id a = queue_table_add(queues, TEXT("a"), QUEUE_ROOT);
    queues->queues[a].deserved[RESOURCE_GPU] = 8000;
    setup(&f, cluster_uniform_new(2, 4), queues,
          PREEMPTING("\"fifo\"", "skip", "fairshare", "best_fit", "0", "4"));
    for (job_id id = 0; id < 2; id++) {
        struct job job = plain(id, 1, 4, 50);
        job.queue = a;
        submit(&f, job, 0);
    }
    cycle_and_start(&f, 0);
    assert_int_equal(count_of(&f, DECISION_START), 2);
    sched_node_changed(f.sched, 1, NODE_CORDONED, s(1));
    submit(&f, plain(2, 1, 4, 50), s(1)); /* in the root itself */
    cycle(&f, s(1));
    assert_int_equal(f.count, 0);
    teardown(&f);
}

/* Nodes without GPUs have no model that a request for GPU memory could be measured by. */
static void test_gpu_memory_without_gpus(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, cluster_uniform_new(2, 0), queue_table_new(), "{}");
    struct job job = plain(0, 1, 0, 50);
    job.first.request.gpu_memory_mib = 1024;
    submit(&f, job, 0);
    cycle(&f, 0);
    assert_int_equal(f.count, 1);
    assert_int_equal(f.decisions[0].kind, DECISION_REJECT);
    teardown(&f);
}

/* More CPU-only members on a node than 16 bits count. */
static void test_many_members_on_a_node(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, cluster_uniform_new(1, 4), queue_table_new(), "{}");
    uint64_t empty = sched_hash(f.sched);
    struct job job = plain(0, 70000, 0, 50);
    job.first.request.cpu_milli = 100;
    submit(&f, job, 0);
    cycle_and_start(&f, 0);
    assert_int_equal(count_of(&f, DECISION_START), 1);
    uint64_t members = 0;
    for (uint32_t i = 0; i < f.decisions[0].piece_count; i++)
        members += f.decisions[0].pieces[i].member_count;
    assert_int_equal(members, 70000);
    sched_job_ended(f.sched, 0, JOB_END_COMPLETED, false, s(1));
    assert_true(sched_hash(f.sched) == empty);
    teardown(&f);
}

/* Group 0 takes either model, group 1 only the first: an empty cluster holds both. */
static void test_groups_leave_each_other_room(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, two_models(), queue_table_new(), "{}");
    struct job job = plain(0, 1, 4, 50);
    struct job_group second = job.first;
    second.request.gpu_models = 1; /* the first node's */
    job.group_count = 2;
    job.more = &second;
    submit(&f, job, 0);
    submit(&f, plain(1, 1, 1, 50), 0);
    cycle_and_start(&f, 0);
    assert_int_equal(count_of(&f, DECISION_START), 1);
    assert_int_equal(f.decisions[0].job, 0);
    assert_int_equal(f.decisions[0].piece_count, 2);
    teardown(&f);
}

/* What is kept free from a borrower is there for an owner who asks the same, in the cycle after. */
static void test_headroom_closes_the_borrower_alone(void **state)
{
    (void)state;
    struct fixture f;
    struct queue_table *queues = queue_table_new();
    queue_id borrower = queue_table_add(queues, TEXT("borrower"), QUEUE_ROOT);
    queue_id owner = queue_table_add(queues, TEXT("owner"), QUEUE_ROOT);
    queues->queues[owner].deserved[RESOURCE_GPU] = 4000;
    setup(&f, cluster_uniform_new(1, 4), queues,
          "{\"order\": [\"fifo\"], \"blocking\": \"skip\", \"quota\": \"fairshare\", "
          "\"placement\": \"best_fit\", \"headroom\": {\"owners_gpus\": 1}}");
    struct job job = plain(0, 1, 4, 50);
    job.queue = borrower;
    submit(&f, job, 0);
    cycle_and_start(&f, 0);
    assert_int_equal(count_of(&f, DECISION_START), 0);
    assert_int_equal(sched_why(f.sched, 0), REASON_HEADROOM);
    job = plain(1, 1, 4, 50);
    job.queue = owner;
    submit(&f, job, s(1));
    cycle_and_start(&f, s(1));
    assert_int_equal(count_of(&f, DECISION_START), 1);
    assert_int_equal(f.decisions[0].job, 1);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_victim_with_two_pieces_on_a_node),
        cmocka_unit_test(test_refused_eviction),
        cmocka_unit_test(test_plans_keep_limits),
        cmocka_unit_test(test_wakes_for_one_that_starts),
        cmocka_unit_test(test_wakes_for_the_first_of_two_that_start),
        cmocka_unit_test(test_wakes_for_the_rest),
        cmocka_unit_test(test_plans_for_two_alike),
        cmocka_unit_test(test_plans_with_memory),
        cmocka_unit_test(test_strict_goes_on_after_a_plan),
        cmocka_unit_test(test_strict_is_not_overtaken_by_plans),
        cmocka_unit_test(test_counts_held_jobs),
        cmocka_unit_test(test_root_takes_nothing_back),
        cmocka_unit_test(test_gpu_memory_without_gpus),
        cmocka_unit_test(test_many_members_on_a_node),
        cmocka_unit_test(test_groups_leave_each_other_room),
        cmocka_unit_test(test_headroom_closes_the_borrower_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
