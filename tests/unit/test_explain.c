/* policies/explain.h and policies/state/waits.h: a hand-made case for each reason a job waits for, each thing that
 * keeps it off a node, and each shortfall. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policies/explain.h"
#include "tests/support/sched_case.h"

#define SKIP_FIFO   "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'none'}"
#define STRICT_FIFO "{'order': ['fifo'], 'blocking': 'strict', 'quota': 'none'}"

/* Its times, and nothing else, in seconds. */
static void check_times(struct sched_case *c, job_id job, time_ns now, enum reason one, int64_t one_s,
                        enum reason other, int64_t other_s)
{
    struct wait_times times;
    assert_true(sched_waited(c->sched, job, now, &times));
    uint32_t mask = UINT32_C(1) << one | (other_s > 0 ? UINT32_C(1) << other : 0);
    assert_int_equal(times.mask, mask);
    assert_int_equal(times.of[one], SECONDS(one_s));
    if (other_s > 0)
        assert_int_equal(times.of[other], SECONDS(other_s));
    assert_int_equal(wait_times_sum(&times), SECONDS(one_s + other_s));
}

/* ---- Nodes and shortfalls ---- */

static const char ten_nodes[] =
    "{'pools': [{'name': 'down', 'nodes': 1, 'gpus_per_node': 4, 'gpu_model': 'h100-80gb'},{'name': 'other', "
    "'nodes': 1, 'gpus_per_node': 4, 'gpu_model': 't4-16gb'},{'name': 'tainted', 'nodes': 1, 'gpus_per_node': 4, "
    "'gpu_model': 'h100-80gb', 'taints': ['a=b:NoSchedule']},{'name': 'small', 'nodes': 1, 'gpus_per_node': 1, "
    "'gpu_model': 'h100-80gb'},{'name': 'busy', 'nodes': 1, 'gpus_per_node': 4, 'gpu_model': 'h100-80gb'},"
    "{'name': 'parts', 'nodes': 1, 'gpus_per_node': 4, 'gpu_model': 'h100-80gb'},{'name': 'cpus', 'nodes': 1, "
    "'gpus_per_node': 4, 'gpu_model': 'h100-80gb', 'cpus': 16, 'memory_gb': 64},{'name': 'memory', 'nodes': 1, "
    "'gpus_per_node': 4, 'gpu_model': 'h100-80gb', 'cpus': 16, 'memory_gb': 64},{'name': 'tasks', 'nodes': 1, "
    "'gpus_per_node': 4, 'gpu_model': 'h100-80gb', 'max_tasks': 1},{'name': 'free', 'nodes': 1, 'gpus_per_node': 4, "
    "'gpu_model': 'h100-80gb'}]}";

enum { DOWN, OTHER, TAINTED, SMALL, BUSY, PARTS, CPUS, MEMORY, TASKS, FREE };

/* What runs there before the job comes, which asks 3 members of 2 GPUs, 4 CPUs and 8 GB each. */
static void fill_ten_nodes(struct sched_case *c)
{
    job_id id = 0;
    sched_case_adopt(c, sched_case_job(id++, 1, 4, 50), (struct piece){.node = BUSY, .gpu_mask = 0xf});
    for (int g = 0; g < 4; g++) {
        struct job share = sched_case_job(id++, 1, 0, 50);
        share.first.request.gpu_milli = 500;
        sched_case_adopt(c, share, (struct piece){.node = PARTS, .gpu_mask = (uint16_t)(1u << g), .gpu_milli = 500});
    }
    struct job hungry = sched_case_job(id++, 1, 1, 50);
    hungry.first.request.cpu_milli = 13500;
    sched_case_adopt(c, hungry, (struct piece){.node = CPUS, .gpu_mask = 1});
    hungry = sched_case_job(id++, 1, 1, 50);
    hungry.first.request.memory_mib = 60 * 1024;
    sched_case_adopt(c, hungry, (struct piece){.node = MEMORY, .gpu_mask = 1});
    sched_case_adopt(c, sched_case_job(id++, 1, 1, 50), (struct piece){.node = TASKS, .gpu_mask = 1});
    sched_node_changed(c->sched, DOWN, NODE_DOWN, 0);
}

static void test_every_node_has_its_reason(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, sched_case_cluster(ten_nodes), queue_table_new(), SKIP_FIFO);
    fill_ten_nodes(&c);
    struct job job = sched_case_job(20, 3, 2, 50);
    job.first.request.gpu_models = UINT64_C(1) << cluster_model_of(c.cluster, TEXT("h100-80gb"));
    job.first.request.cpu_milli = 4000;
    job.first.request.memory_mib = 8 * 1024;
    sched_case_submit(&c, job, 0);
    assert_int_equal(sched_case_start(&c, 0), 0);
    struct explanation why = sched_case_explain(&c, 20, REASON_FRAGMENTATION);
    static const uint32_t nodes[EXPLAIN_NODE_COUNT] = {
        [EXPLAIN_NOT_UP] = 1,    [EXPLAIN_TAINT] = 1, [EXPLAIN_MISMATCH] = 1, [EXPLAIN_TOO_SMALL] = 1,
        [EXPLAIN_GPUS_BUSY] = 1, [EXPLAIN_CPUS] = 1,  [EXPLAIN_MEMORY] = 1,   [EXPLAIN_FRAGMENTED] = 1,
        [EXPLAIN_TASKS] = 1,     [EXPLAIN_FITS] = 1};
    for (int i = 0; i < EXPLAIN_NODE_COUNT; i++)
        assert_int_equal(why.nodes[i], nodes[i]);
    assert_false(why.fits_now);
    assert_int_equal(why.members, 3);
    assert_int_equal(why.members_fitting, 2);
    assert_int_equal(why.nodes_short, 1);
    assert_int_equal(why.gpu_milli_short, 2 * GPU_MILLI);
    assert_int_equal(why.cpu_milli_short, 1500);
    assert_int_equal(why.memory_mib_short, 4 * 1024);
    assert_non_null(strstr(why.text, "1 more node with 4 free GPUs, 8 CPUs and 16384 MiB is needed"));
    assert_non_null(strstr(why.text, "2 of 3 members fit now"));
    assert_non_null(strstr(why.text, "lacks only 1.5 CPUs"));
    sched_case_close(&c);
}

/* A share fits no GPU although as much is free in all; an instance is missing where there is none of its profile. */
static void test_shares_and_instances(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c,
                    sched_case_cluster("{'pools': [{'nodes': 1, 'gpus_per_node': 2, 'gpu_model': 'h100-80gb'}, "
                                       "{'nodes': 1, 'gpus_per_node': 1, 'gpu_model': 'h100-80gb', "
                                       "'gpus_layout': [['3g.40gb']]}]}"),
                    queue_table_new(), SKIP_FIFO);
    for (job_id id = 0; id < 2; id++) {
        struct job share = sched_case_job(id, 1, 0, 50);
        share.first.request.gpu_milli = 600;
        sched_case_adopt(&c, share, (struct piece){.gpu_mask = (uint16_t)(1u << id), .gpu_milli = 600});
    }
    struct job job = sched_case_job(2, 1, 0, 50);
    job.first.request.gpu_milli = 500;
    sched_case_submit(&c, job, 0);
    assert_int_equal(sched_case_start(&c, 0), 0);
    struct explanation why = sched_case_explain(&c, 2, REASON_FRAGMENTATION);
    assert_int_equal(why.nodes[EXPLAIN_FRAGMENTED], 1);
    assert_int_equal(why.nodes[EXPLAIN_TOO_SMALL], 1);
    assert_int_equal(why.gpu_milli_short, 500);
    assert_non_null(strstr(why.text, "500/1000 of a GPU free"));
    sched_case_close(&c);
}

/* Of all members, or of those of a set. */
static void check_one_domain(bool is_set)
{
    struct sched_case c;
    sched_case_open(&c,
                    sched_case_cluster("{'levels': ['rack', 'node'], 'pools': [{'nodes': 2, 'gpus_per_node': 4, "
                                       "'labels': {'rack': 'a'}},{'nodes': 2, 'gpus_per_node': 4, "
                                       "'labels': {'rack': 'b'}}]}"),
                    queue_table_new(), SKIP_FIFO);
    sched_case_adopt(&c, sched_case_job(0, 1, 4, 50), (struct piece){.node = 0, .gpu_mask = 0xf});
    sched_case_adopt(&c, sched_case_job(1, 1, 4, 50), (struct piece){.node = 3, .gpu_mask = 0xf});
    const struct job_set set = {.name = "", .parent = SET_NONE, .min_members = 2, .topology = {.required = 1}};
    struct job job = sched_case_job(2, 2, 4, 50);
    job.topology.required = !is_set;
    job.set_count = is_set;
    job.sets = is_set ? &set : NULL;
    sched_case_submit(&c, job, 0);
    assert_int_equal(sched_case_start(&c, 0), 0);
    struct explanation why = sched_case_explain(&c, 2, REASON_TOPOLOGY);
    assert_int_equal(why.nodes[EXPLAIN_GPUS_BUSY], 2);
    assert_int_equal(why.nodes[EXPLAIN_DOMAIN], 2);
    assert_int_equal(why.members_fitting, 1);
    assert_int_equal(why.nodes_short, 1);
    assert_non_null(strstr(why.text, "all within one rack"));
    check_times(&c, 2, SECONDS(9), REASON_TOPOLOGY, 9, REASON_NONE, 0);
    sched_case_close(&c);
}

static void test_one_domain_must_hold_it(void **state)
{
    (void)state;
    check_one_domain(false);
    check_one_domain(true);
}

/* Two of three groups are needed; the first fits, the second does not. */
static void test_not_all_groups_are_needed(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), SKIP_FIFO);
    const struct job_group more[] = {{.request = {.gpus = 1}, .count = 2, .min_count = 2},
                                     {.request = {.gpus = 1}, .count = 1, .min_count = 1}};
    struct job job = sched_case_job(1, 2, 1, 50);
    sched_case_adopt(&c, sched_case_job(0, 1, 1, 50), (struct piece){.node = 0, .gpu_mask = 1});
    job.group_count = 3;
    job.more = more;
    job.min_sets = 2;
    sched_case_submit(&c, job, 0);
    assert_int_equal(sched_case_start(&c, 0), 0);
    const struct explanation why = sched_case_explain(&c, 1, REASON_RESOURCES);
    assert_int_equal(why.members, 4);
    assert_non_null(strstr(why.text, "It needs 2 of its 3 groups of members; 0 have all that they need."));
    sched_case_close(&c);
}

/* ---- What is kept for somebody else ---- */

/* A gang of two nodes waits for one of them; what has come already is kept from the next. */
static void test_a_reservation_keeps_others_out(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(),
                    "{'order': ['priority'], 'blocking': 'skip', 'quota': 'none', "
                    "'preemption': {'policy': 'checkpoint', 'grace_s': 100}}");
    struct job low = sched_case_job(0, 1, 4, 10);
    low.checkpoint.duration = SECONDS(5); /* or it would get no grace */
    sched_case_submit(&c, low, 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, sched_case_job(1, 2, 4, 50), SECONDS(1000));
    sched_case_cycle(&c, SECONDS(1000));
    assert_int_equal(sched_case_count(&c, DECISION_RESERVE), 1);
    sched_case_submit(&c, sched_case_job(2, 1, 4, 50), SECONDS(1001));
    sched_case_cycle(&c, SECONDS(1001));
    struct explanation why = sched_case_explain(&c, 1, REASON_RESERVED);
    assert_non_null(strstr(why.text, "8 GPUs are reserved for it; jobs that are leaving still hold 4"));
    why = sched_case_explain(&c, 2, REASON_RESOURCES);
    assert_int_equal(why.nodes[EXPLAIN_KEPT], 1);
    assert_int_equal(why.nodes[EXPLAIN_GPUS_BUSY], 1);
    check_times(&c, 1, SECONDS(1007), REASON_RESERVED, 7, REASON_NONE, 0);
    check_times(&c, 2, SECONDS(1007), REASON_RESOURCES, 6, REASON_NONE, 0);
    sched_case_close(&c);
}

/* The head will start when the first has ended; the third would still run then. */
static void test_a_forecast_keeps_others_out(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    "{'order': ['fifo'], 'blocking': 'strict', 'quota': 'none', 'backfill': {'policy': 'easy', "
                    "'reservations': 1}}");
    struct job job = sched_case_job(0, 1, 3, 50);
    job.limit = SECONDS(100);
    sched_case_submit(&c, job, 0);
    job = sched_case_job(1, 1, 4, 50);
    job.limit = SECONDS(100);
    sched_case_submit(&c, job, 0);
    job = sched_case_job(2, 1, 1, 50);
    job.limit = SECONDS(500);
    sched_case_submit(&c, job, 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    struct explanation why = sched_case_explain(&c, 2, REASON_PRIORITY);
    assert_int_equal(why.nodes[EXPLAIN_KEPT], 1);
    assert_int_equal(why.ahead, 1);
    assert_int_equal(why.first, 1);
    assert_true(why.fits_now);
    assert_non_null(strstr(why.text, "kept for others"));
    sched_job_cancelled(c.sched, 1, SECONDS(1)); /* nobody needs it any more */
    assert_true(sched_explain(c.sched, 2, &why));
    assert_int_equal(why.nodes[EXPLAIN_KEPT], 0);
    assert_int_equal(why.nodes[EXPLAIN_FITS], 1);
    sched_case_submit(&c, sched_case_job(3, 1, 2, 50), SECONDS(1)); /* nor in its place */
    assert_true(sched_explain(c.sched, 2, &why));
    assert_int_equal(why.nodes[EXPLAIN_FITS], 1);
    sched_case_close(&c);
}

/* Between passes what was planned start in the last is not what it was: nothing is said to be kept. */
static void test_an_old_forecast_keeps_nobody_out(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(),
                    "{'order': ['fifo'], 'backfill': {'policy': 'slurm', 'interval_s': 30, 'resolution_s': 0}}");
    const uint16_t gpus[] = {3, 4, 1};
    for (job_id id = 0; id < 3; id++) {
        struct job job = sched_case_job(id, 1, gpus[id], 50);
        job.limit = SECONDS(id == 2 ? 500 : 100);
        sched_case_submit(&c, job, 0);
    }
    assert_int_equal(sched_case_start(&c, 0), 1);
    assert_int_equal(sched_case_explain(&c, 2, REASON_PRIORITY).nodes[EXPLAIN_KEPT], 1);
    assert_int_equal(sched_case_start(&c, SECONDS(5)), 0);
    assert_int_equal(sched_case_explain(&c, 2, REASON_PRIORITY).nodes[EXPLAIN_KEPT], 0);
    sched_case_close(&c);
}

/* Under conservative backfill all that wait have a planned start; each is kept out by those of others, not by its own.
 */
static void test_its_own_forecast_is_no_hindrance(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(),
                    "{'order': ['fifo'], 'blocking': 'strict', 'quota': 'none', "
                    "'backfill': {'policy': 'conservative'}}");
    const uint32_t members[] = {1, 2, 1};
    for (job_id id = 0; id < 3; id++) {
        struct job job = sched_case_job(id, members[id], 4, 50);
        job.limit = SECONDS(id == 0 ? 100 : 500);
        sched_case_submit(&c, job, 0);
    }
    assert_int_equal(sched_case_start(&c, 0), 1);
    assert_int_equal(sched_planned_start(c.sched, 1), SECONDS(100));
    assert_int_equal(sched_planned_start(c.sched, 2), SECONDS(600));
    struct explanation why = sched_case_explain(&c, 1, REASON_RESOURCES);
    assert_int_equal(why.nodes[EXPLAIN_GPUS_BUSY], 1);
    assert_int_equal(why.nodes[EXPLAIN_FITS], 1);
    why = sched_case_explain(&c, 2, REASON_PRIORITY);
    assert_int_equal(why.nodes[EXPLAIN_GPUS_BUSY], 1);
    assert_int_equal(why.nodes[EXPLAIN_KEPT], 1);
    assert_int_equal(sched_planned_start(c.sched, 1), SECONDS(100)); /* asking changed nothing */
    sched_case_close(&c);
}

static void test_headroom_keeps_borrowers_out(void **state)
{
    (void)state;
    struct sched_case c;
    struct queue_table *queues = queue_table_new();
    queue_id borrower = queue_table_add(queues, TEXT("org/borrower"), QUEUE_ROOT);
    sched_case_open(&c, cluster_uniform_new(2, 4), queues,
                    "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'fairshare', 'headroom': {'owners_gpus': 3, "
                    "'gpus': 2}}");
    struct job job = sched_case_job(0, 1, 4, 50);
    job.queue = borrower;
    sched_case_submit(&c, job, 0);
    assert_int_equal(sched_case_start(&c, 0), 0);
    struct explanation why = sched_case_explain(&c, 0, REASON_HEADROOM);
    assert_int_equal(why.nodes[EXPLAIN_KEPT], 2);
    assert_int_equal(why.gpu_milli_short, GPU_MILLI);
    assert_non_null(strstr(why.text, "1 GPU more must be free, for 5 GPUs are kept"));
    assert_non_null(strstr(why.text, "queue org/borrower must hold less than its quota"));
    check_times(&c, 0, SECONDS(3), REASON_HEADROOM, 3, REASON_NONE, 0);
    sched_case_close(&c);
}

/* Guaranteed jobs stay in the cells of their queue. */
static void test_cells_of_others(void **state)
{
    (void)state;
    struct sched_case c;
    struct queue_table *queues = queue_table_new();
    for (int q = 0; q < 2; q++) {
        queue_id queue = queue_table_add(queues, q == 0 ? TEXT("a") : TEXT("b"), QUEUE_ROOT);
        queues->queues[queue].deserved[RESOURCE_GPU] = 4 * GPU_MILLI;
    }
    sched_case_open(&c, cluster_uniform_new(2, 4), queues, "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'cells'}");
    for (job_id id = 0; id < 2; id++) {
        struct job job = sched_case_job(id, 1, 2, 50);
        job.queue = 1;
        job.is_preemptible = false;
        sched_case_submit(&c, job, SECONDS(id));
        if (id == 0)
            assert_int_equal(sched_case_start(&c, 0), 1);
    }
    struct explanation why = sched_case_explain(&c, 1, REASON_SCHEDULING);
    assert_int_equal(why.nodes[EXPLAIN_CELLS], 1);
    assert_int_equal(why.nodes[EXPLAIN_FITS], 1);
    sched_case_close(&c);
}

/* ---- Queues, turns and holds ---- */

static void test_a_limit_is_told_with_its_queue(void **state)
{
    (void)state;
    struct sched_case c;
    struct queue_table *queues = queue_table_new();
    queue_id org = queue_table_add(queues, TEXT("org"), QUEUE_ROOT);
    queue_id team = queue_table_add(queues, TEXT("org/team"), org);
    queues->queues[org].limit[RESOURCE_GPU] = 6 * GPU_MILLI;
    sched_case_open(&c, cluster_uniform_new(4, 4), queues,
                    "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'fairshare'}");
    for (job_id id = 0; id < 2; id++) {
        struct job job = sched_case_job(id, 1, 4, 50);
        job.queue = team;
        sched_case_submit(&c, job, 0);
    }
    assert_int_equal(sched_case_start(&c, 0), 1);
    struct explanation why = sched_case_explain(&c, 1, REASON_QUOTA_LIMIT);
    assert_int_equal(why.over_queue, org);
    assert_int_equal(why.over_resource, RESOURCE_GPU);
    assert_int_equal(why.over_held, 4 * GPU_MILLI);
    assert_int_equal(why.over_asked, 4 * GPU_MILLI);
    assert_int_equal(why.over_bound, 6 * GPU_MILLI);
    assert_false(why.over_is_quota);
    assert_true(why.fits_now);
    assert_string_equal(why.text, "2 GPUs of queue org must end, or its limit of 6 GPUs be raised "
                                  "by as much: it holds 4 GPUs.");
    check_times(&c, 1, SECONDS(5), REASON_QUOTA_LIMIT, 5, REASON_NONE, 0);
    sched_case_close(&c);
}

/* What a plain quota forbids is told as that. */
static void test_a_quota_is_told_as_such(void **state)
{
    (void)state;
    struct sched_case c;
    struct queue_table *queues = queue_table_new();
    queue_id team = queue_table_add(queues, TEXT("team"), QUEUE_ROOT);
    queues->queues[team].deserved[RESOURCE_GPU] = 3 * GPU_MILLI;
    sched_case_open(&c, cluster_uniform_new(2, 4), queues,
                    "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'limits'}");
    struct job job = sched_case_job(0, 1, 4, 50);
    job.queue = team;
    sched_case_submit(&c, job, 0);
    assert_int_equal(sched_case_start(&c, 0), 0);
    struct explanation why = sched_case_explain(&c, 0, REASON_QUOTA_LIMIT);
    assert_true(why.over_is_quota);
    assert_int_equal(why.over_held + why.over_asked - why.over_bound, GPU_MILLI);
    sched_case_close(&c);
}

/* Too few GPUs at first, for whom the turn has not come then; both are counted, to the second. */
static void test_resources_and_priority(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(), STRICT_FIFO);
    sched_case_submit(&c, sched_case_job(0, 2, 4, 50), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_submit(&c, sched_case_job(1, 2, 4, 50), SECONDS(1));
    sched_case_submit(&c, sched_case_job(2, 1, 1, 50), SECONDS(2));
    sched_case_explain(&c, 1, REASON_SCHEDULING);
    assert_int_equal(sched_case_start(&c, SECONDS(3)), 0);
    struct explanation why = sched_case_explain(&c, 1, REASON_RESOURCES);
    assert_int_equal(why.nodes[EXPLAIN_GPUS_BUSY], 2);
    assert_int_equal(why.nodes_short, 2);
    assert_int_equal(why.gpu_milli_short, 8 * GPU_MILLI);
    assert_non_null(strstr(why.text, "2 more nodes with 4 free GPUs are needed"));
    why = sched_case_explain(&c, 2, REASON_PRIORITY);
    assert_int_equal(why.ahead, 1);
    assert_false(why.fits_now);
    check_times(&c, 1, SECONDS(10), REASON_SCHEDULING, 2, REASON_RESOURCES, 7);
    check_times(&c, 2, SECONDS(10), REASON_SCHEDULING, 1, REASON_PRIORITY, 7);
    sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(20));
    assert_int_equal(sched_case_start(&c, SECONDS(20)), 1);
    check_times(&c, 1, SECONDS(99), REASON_SCHEDULING, 2, REASON_RESOURCES, 17);
    assert_int_equal(sched_why(c.sched, 1), REASON_NONE);
    assert_false(sched_explain(c.sched, 1, &why));
    sched_case_close(&c);
}

/* From the decision to the effect; waits after an eviction are added. */
static void test_every_wait_counts(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), SKIP_FIFO);
    sched_case_submit(&c, sched_case_job(0, 1, 4, 50), 0);
    sched_case_cycle(&c, 0);
    sched_case_explain(&c, 0, REASON_CONFIGURING);
    sched_job_started(c.sched, 0, c.starts[0], SECONDS(3));
    check_times(&c, 0, SECONDS(50), REASON_CONFIGURING, 3, REASON_NONE, 0);
    sched_job_leaving(c.sched, 0, MEMBERS_ALL, SECONDS(60));
    check_times(&c, 0, SECONDS(65), REASON_CONFIGURING, 3, REASON_NONE, 0); /* it is still there */
    sched_job_evicted(c.sched, 0, MEMBERS_ALL, EVICT_SAVED, SECONDS(70));
    sched_case_cycle(&c, SECONDS(71));
    sched_job_started(c.sched, 0, c.starts[0], SECONDS(75));
    check_times(&c, 0, SECONDS(99), REASON_SCHEDULING, 1, REASON_CONFIGURING, 7);
    sched_case_close(&c);
}

static void test_holds(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), SKIP_FIFO);
    const struct job_after after = {0, AFTER_OK};
    struct job first = sched_case_job(0, 1, 1, 50), waiter = sched_case_job(1, 1, 1, 50),
               held = sched_case_job(2, 1, 1, 50), element = sched_case_job(3, 1, 1, 50);
    waiter.after = &after;
    waiter.after_count = 1;
    held.is_held = true;
    first.array = element.array = 1;
    first.array_max = element.array_max = 1;
    sched_case_submit(&c, first, 0);
    sched_case_submit(&c, waiter, 0);
    sched_case_submit(&c, held, 0);
    sched_case_submit(&c, element, 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    struct explanation why = sched_case_explain(&c, 1, REASON_DEPENDENCY);
    assert_string_equal(why.text, "1 job that it depends on must end first.");
    why = sched_case_explain(&c, 2, REASON_HELD);
    assert_string_equal(why.text, "Its submitter holds it and must release it.");
    why = sched_case_explain(&c, 3, REASON_ARRAY_LIMIT);
    assert_non_null(strstr(why.text, "One of the 1 elements"));
    check_times(&c, 1, SECONDS(4), REASON_DEPENDENCY, 4, REASON_NONE, 0);
    check_times(&c, 2, SECONDS(4), REASON_HELD, 4, REASON_NONE, 0);
    sched_job_ended(c.sched, 0, JOB_END_FAILED, false, SECONDS(5));
    why = sched_case_explain(&c, 1, REASON_DEPENDENCY_NEVER);
    assert_non_null(strstr(why.text, "refused"));
    sched_case_cycle(&c, SECONDS(6));
    assert_int_equal(sched_case_count(&c, DECISION_REJECT), 1);
    const struct wait_times *waited = c.decisions[0].waited;
    assert_int_equal(waited->of[REASON_DEPENDENCY], SECONDS(5));
    assert_int_equal(waited->of[REASON_DEPENDENCY_NEVER], SECONDS(1));
    assert_int_equal(wait_times_sum(waited), SECONDS(6));
    sched_case_close(&c);
}

static void test_never_fits(void **state)
{
    (void)state;
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(), SKIP_FIFO);
    sched_case_submit(&c, sched_case_job(0, 3, 4, 50), 0);
    struct explanation why = sched_case_explain(&c, 0, REASON_NEVER_FITS);
    assert_true(why.is_never);
    assert_string_equal(why.text, "No state of this cluster could hold it: it must request fewer or "
                                  "smaller members.");
    assert_int_equal(why.nodes[EXPLAIN_FITS], 2);
    assert_int_equal(why.nodes_short, 1);
    check_times(&c, 0, SECONDS(2), REASON_NEVER_FITS, 2, REASON_NONE, 0);
    sched_case_cycle(&c, SECONDS(2));
    assert_int_equal(wait_times_sum(c.decisions[0].waited), SECONDS(2));
    assert_int_equal(sched_why(c.sched, 0), REASON_NONE);
    sched_case_close(&c);
}

/* Nobody wants the times: why is known all the same. */
static void test_times_can_be_left_out(void **state)
{
    (void)state;
    struct sched_case c;
    struct wait_times times;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), SKIP_FIFO);
    sched_count_waits(c.sched, false);
    sched_case_submit(&c, sched_case_job(0, 1, 4, 50), 0);
    sched_case_submit(&c, sched_case_job(1, 1, 4, 50), 0);
    assert_int_equal(sched_case_start(&c, 0), 1);
    sched_case_explain(&c, 1, REASON_RESOURCES);
    assert_false(sched_waited(c.sched, 1, SECONDS(9), &times));
    sched_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_node_has_its_reason),
        cmocka_unit_test(test_shares_and_instances),
        cmocka_unit_test(test_one_domain_must_hold_it),
        cmocka_unit_test(test_not_all_groups_are_needed),
        cmocka_unit_test(test_a_reservation_keeps_others_out),
        cmocka_unit_test(test_a_forecast_keeps_others_out),
        cmocka_unit_test(test_an_old_forecast_keeps_nobody_out),
        cmocka_unit_test(test_its_own_forecast_is_no_hindrance),
        cmocka_unit_test(test_headroom_keeps_borrowers_out),
        cmocka_unit_test(test_cells_of_others),
        cmocka_unit_test(test_a_limit_is_told_with_its_queue),
        cmocka_unit_test(test_a_quota_is_told_as_such),
        cmocka_unit_test(test_resources_and_priority),
        cmocka_unit_test(test_every_wait_counts),
        cmocka_unit_test(test_holds),
        cmocka_unit_test(test_never_fits),
        cmocka_unit_test(test_times_can_be_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
