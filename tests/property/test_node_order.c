/* The order in which a cluster file lists its nodes decides nothing: with the pools of a heterogeneous cluster in any
 * order the same jobs start at the same times on the same nodes.  Each job asks memory, an instance, a share or whole
 * GPUs of one model, so that it meets the others in the quotas alone. */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/hash.h"
#include "base/random.h"
#include "tests/support/interval.h"
#include "tests/support/sched_case.h"

enum { POOLS = 4, QUEUES = 3, JOBS = 40, TICKS = 60 };

static const struct pool {
    const char *model, *json;
    uint32_t memory_gib;
} pools[POOLS] = {
    {"t4-16gb", "'nodes': 2, 'gpus_per_node': 4, 'gpu_model': 't4-16gb'", 16},
    {"h100-80gb",
     "'nodes': 2, 'gpus_per_node': 2, 'gpu_model': 'h100-80gb', 'gpus_layout': [['1g.10gb', '1g.10gb', '2g.20gb'], []]",
     80},
    {"a100-40gb", "'nodes': 1, 'gpus_per_node': 4, 'gpu_model': 'a100-40gb'", 40},
    {"a10-24gb", "'nodes': 3, 'gpus_per_node': 1, 'gpu_model': 'a10-24gb'", 24},
};

static const char policy[] = "{'order': ['priority', 'fifo'], 'blocking': 'skip', 'quota': {'policy': 'fairshare', "
                             "'firm_needs_quota': true}}";

static void shuffle(struct random_stream *stream, uint32_t order[POOLS])
{
    for (uint32_t i = 0; i < POOLS; i++) {
        const uint32_t j = random_below(stream, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

static struct cluster *cluster_of(const uint32_t order[POOLS])
{
    char text[2048] = "{'pools': [";
    for (uint32_t i = 0; i < POOLS; i++) {
        const size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s{'name': 'p%u', %s}", i > 0 ? ", " : "", order[i],
                 pools[order[i]].json);
    }
    strcat(text, "]}");
    return sched_case_cluster(text);
}

static struct queue_table *queues_of(struct random_stream *stream)
{
    struct queue_table *table = queue_table_new();
    for (uint32_t q = 0; q < QUEUES; q++) {
        char name[8];
        snprintf(name, sizeof name, "q%u", q);
        struct queue_spec *queue = &table->queues[queue_table_of(table, (struct text){name, strlen(name)})];
        queue->deserved[RESOURCE_GPU] = 500 * (int64_t)random_below(stream, 12);
        if (random_below(stream, 2) == 0)
            queue->limit[RESOURCE_GPU] = 250 + 250 * (int64_t)random_below(stream, 24);
    }
    return table;
}

struct plan {              /* of a job */
    uint32_t submit, runs; /* ticks */
    struct job job;
    uint32_t pool;
};

static void plan_jobs(struct random_stream *stream, struct plan plans[JOBS])
{
    for (uint32_t j = 0; j < JOBS; j++) {
        struct plan *plan = &plans[j];
        const uint32_t kind = random_below(stream, 5);
        plan->submit = random_below(stream, TICKS / 2);
        plan->runs = 1 + random_below(stream, TICKS / 4);
        plan->pool = random_below(stream, POOLS);
        plan->job = sched_case_job(j, 1 + random_below(stream, 2), 0, (int32_t)random_below(stream, 3));
        plan->job.queue = 1 + random_below(stream, QUEUES);
        plan->job.is_preemptible = random_below(stream, 3) > 0;
        struct request *request = &plan->job.first.request;
        if (kind == 0)
            request->gpus = 1;
        else if (kind == 1)
            request->gpu_milli = (uint16_t)(125 * (1 + random_below(stream, 7)));
        else if (kind == 2 && plan->pool == 1)
            request->mig = (uint8_t)(1 + random_below(stream, 3));
        else
            request->gpu_memory_mib = 1024 * (1 + random_below(stream, pools[plan->pool].memory_gib));
    }
}

/* A decision, whatever the numbers of the nodes. */
static uint64_t hash_decision(const struct cluster *cluster, const struct decision *decision)
{
    uint64_t hash = hash_mix(decision->kind, decision->job);
    for (uint32_t p = 0; p < decision->piece_count; p++) {
        const struct piece *piece = &decision->pieces[p];
        uint32_t pool = 0;
        while (piece->node >= cluster->pools[pool].first + cluster->pools[pool].node_count ||
               piece->node < cluster->pools[pool].first)
            pool++;
        const uint64_t number = (uint64_t)(cluster->pools[pool].name[1] - '0');
        hash = hash_mix(hash, number << 32 | (piece->node - cluster->pools[pool].first));
        hash = hash_mix(hash, (uint64_t)piece->gpu_mask << 32 | piece->gpu_milli);
    }
    return hash;
}

static void play(uint64_t seed, const uint32_t order[POOLS], uint64_t hashes[TICKS], uint32_t *started)
{
    struct random_stream stream;
    struct plan plans[JOBS];
    uint32_t ends[JOBS] = {0};
    struct sched_case c;
    random_stream_init(&stream, seed, "node_order", 0);
    sched_case_open(&c, cluster_of(order), queues_of(&stream), policy);
    plan_jobs(&stream, plans);
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        const time_ns now = SECONDS(tick);
        for (uint32_t j = 0; j < JOBS; j++) {
            if (ends[j] == tick && tick > 0)
                sched_job_ended(c.sched, j, JOB_END_COMPLETED, false, now);
            if (plans[j].submit != tick)
                continue;
            const char *model = pools[plans[j].pool].model;
            plans[j].job.first.request.gpu_models = UINT64_C(1)
                                                    << cluster_model_of(c.cluster, (struct text){model, strlen(model)});
            sched_case_submit(&c, plans[j].job, now);
        }
        sched_case_start(&c, now);
        hashes[tick] = 0;
        for (size_t d = 0; d < c.count; d++) {
            hashes[tick] = hash_mix(hashes[tick], hash_decision(c.cluster, &c.decisions[d]));
            if (c.decisions[d].kind == DECISION_START) {
                ends[c.decisions[d].job] = tick + plans[c.decisions[d].job].runs;
                (*started)++;
            }
        }
    }
    sched_case_close(&c);
}

TEST(the_order_of_nodes_decides_nothing)
{
    uint32_t started = 0;
    for (uint64_t seed = 1; seed <= (test_is_full() ? 2000 : 200); seed++) {
        struct random_stream stream;
        uint32_t plain[POOLS] = {0, 1, 2, 3}, order[POOLS];
        uint64_t hashes[2][TICKS];
        random_stream_init(&stream, seed, "pools", 0);
        shuffle(&stream, order);
        play(seed, plain, hashes[0], &started);
        play(seed, order, hashes[1], &started);
        for (uint32_t tick = 0; tick < TICKS; tick++)
            if (hashes[0][tick] != hashes[1][tick])
                fail_msg("seed %u: with the pools in the order %u %u %u %u other jobs start at %u s", (unsigned)seed,
                         order[0], order[1], order[2], order[3], tick);
    }
    assert_in_range(started, 2000, UINT32_MAX);
}
