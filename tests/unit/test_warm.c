/* Warm nodes by hand: what the scheduler remembers of starts, and which node it prefers for them. */
#include "tests/support/test.h"

#include "policies/jobs/warm.h"
#include "tests/support/run.h"

#define S(seconds) ((time_ns)((seconds)*TIME_NS_PER_S))

enum { GB = 1000000000 };

/* Of these objects, the bytes that are remembered on the node. */
static int64_t warm_bytes(const struct warm *warm, const struct job_objects *objects, node_id node)
{
    int64_t bytes = 0;
    for (uint32_t o = 0; o < objects->count; o++)
        bytes += warm_remembers(warm_find(warm, objects->of[o].id), node) ? objects->of[o].bytes : 0;
    return bytes;
}

TEST(the_last_nodes_are_remembered)
{
    struct warm warm = {0};
    const struct job_objects both = {.count = 2, .of = {{5, 10}, {6, 20}}}, one = {.count = 1, .of = {{6, 20}}};
    warm_open(&warm);
    warm_know(&warm, 0, &both);
    warm_know(&warm, 2, &one);
    assert_null(warm_objects(&warm, 1));
    assert_null(warm_objects(&warm, 7));
    warm_started(&warm, 0, 3);
    warm_started(&warm, 2, 4);
    warm_started(&warm, 1, 9);
    assert_int_equal(warm_bytes(&warm, &both, 3), 30);
    assert_int_equal(warm_bytes(&warm, &both, 4), 20);
    assert_int_equal(warm_bytes(&warm, &both, 9), 0);
    for (node_id n = 0; n < WARM_NODES - 1; n++)
        warm_started(&warm, 2, 100 + n);
    assert_int_equal(warm_find(&warm, 6)->nodes[0], 100 + WARM_NODES - 2);
    assert_int_equal(warm_bytes(&warm, &one, 3), 0); /* of WARM_NODES + 1 the first */
    assert_int_equal(warm_bytes(&warm, &one, 4), 20);
    warm_started(&warm, 2, 4); /* the latest again: nothing else gives way */
    assert_int_equal(warm_find(&warm, 6)->nodes[0], 4);
    assert_int_equal(warm_bytes(&warm, &one, 100), 20);
    warm_release(&warm);
}

TEST(old_objects_give_way)
{
    struct warm warm = {0};
    warm_open(&warm);
    for (uint32_t i = 0; i <= WARM_WAYS; i++) {
        const struct job_objects objects = {.count = 1, .of = {{7 + i * WARM_SETS, 1}}};
        warm_know(&warm, 0, &objects);
        warm_started(&warm, 0, i);
    }
    assert_null(warm_find(&warm, 7));
    for (uint32_t i = 1; i <= WARM_WAYS; i++)
        assert_non_null(warm_find(&warm, 7 + i * WARM_SETS));
    warm_release(&warm);
}

/* Inference pulls 20 x 10^9 bytes, 5 s of a node. */
static struct pull_rule rule = {.jobs = {.class = JOB_INFERENCE, .gpus_max = UINT32_MAX},
                                .objects = {{.bytes = INT64_C(20) * GB, .distinct = 1}}};

static struct run_job job_of(enum job_class class, time_ns submit, time_ns duration, uint16_t gpus)
{
    struct run_job made = run_job_make(submit, duration, 1, gpus);
    made.job.class = (uint8_t) class;
    return made;
}

/* While node 0 is full, a service warms node 1.  Later `kept` GPUs of node 0 are taken, and another service of 4 GPUs
 * comes: best_fit chooses node 0.  Returns the seconds until it was ready. */
static time_ns second_start(int32_t weight, uint16_t kept, int64_t *pulled)
{
    struct cluster *cluster = cluster_uniform_new(2, 8);
    struct run_setup setup = run_setup_default(cluster);
    struct run_job jobs[] = {job_of(JOB_TRAINING, 0, S(1000), kept),
                             job_of(JOB_TRAINING, 0, S(100), (uint16_t)(8 - kept)),
                             job_of(JOB_INFERENCE, S(1), S(50), 4), job_of(JOB_INFERENCE, S(200), S(50), 4)};
    setup.policy.placement_config.warm_weight = weight;
    setup.world.cold_starts = (struct pull_table){.is_on = true,
                                                  .rows = &rule,
                                                  .count = 1,
                                                  .node_bytes_per_s = INT64_C(4) * GB,
                                                  .node_cache_bytes = INT64_C(100) * GB};
    struct run_log *log = run_jobs(&setup, jobs, 4);
    const time_ns ready = log->pulls[3].ready - log->jobs[3].start;
    *pulled = 0;
    for (uint32_t j = 0; j < 4; j++)
        *pulled += log->pulls[j].bytes[RECORD_PULL_REGISTRY];
    run_log_free(log);
    cluster_free(cluster);
    return ready;
}

/* Node 0 has 4 GPUs less than node 1 free, half a node: the weight must be above 500. */
TEST(warmth_is_weighed_against_packing)
{
    int64_t pulled;
    for (int32_t weight = 0; weight <= 500; weight += 250) {
        assert_int_equal(second_start(weight, 4, &pulled), S(5));
        assert_int_equal(pulled, INT64_C(40) * GB);
    }
    assert_int_equal(second_start(501, 4, &pulled), 0);
    assert_int_equal(pulled, INT64_C(20) * GB);
    assert_int_equal(second_start(1000, 4, &pulled), 0);
    assert_int_equal(second_start(250, 2, &pulled), S(5)); /* a quarter of a node apart */
    assert_int_equal(second_start(251, 2, &pulled), 0);
}
