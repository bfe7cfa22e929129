/* tests/property/test_communication_speed.c -- no place of a job is faster than its best place; no network makes a job
 * slower by being faster; links are what links_narrowest and hand-counted senders say.  On random clusters, jobs and
 * places. */
#include <math.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/json_text.h"
#include "topologies/communication.h"

enum { SEEDS = 20000, PLACES_MAX = 512, NODES_MAX = 80 };

struct trial {
    uint64_t seed;
    struct random_stream random;
    struct cluster *cluster;
    struct communication communication;
    struct link_place places[PLACES_MAX];
    uint32_t place_count, gpu_count, member_gpus;
};

static uint32_t below(struct trial *trial, uint32_t limit)
{
    return random_below(&trial->random, limit);
}

static uint32_t one_of(struct trial *trial, const uint32_t *values, uint32_t count)
{
    return values[below(trial, count)];
}

#define ONE_OF(trial, ...)                                                                                             \
    one_of(trial, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* One pool; NICs fewer than GPUs, islands, domains of several nodes, units that are not full, every tier. */
static struct cluster *random_cluster(struct trial *trial)
{
    static const char *const models[] = {"h100", "a100-80", "b200", "v100-16", "p100"};
    struct buffer text = {0};
    const uint32_t model = below(trial, 5), gpus = ONE_OF(trial, 2, 4, 8);
    buffer_format(&text, "{'name': 'c', 'pools': [{'name': 'p', 'nodes': %u, 'gpus_per_node': %u, 'gpu_model': '%s'",
                  2 + below(trial, NODES_MAX - 1), gpus, models[model]);
    if (below(trial, 2) == 0)
        buffer_format(&text, ", 'nics': %u", ONE_OF(trial, 1, 2, 4, 8));
    if (model < 4 && below(trial, 3) == 0)
        buffer_format(&text, ", 'nvlink_nodes': %u", ONE_OF(trial, 2, 3, 4, 9));
    else if (model < 4 && gpus > 2 && below(trial, 4) == 0)
        buffer_format(&text, ", 'nvlink_island': %u", gpus / 2);
    buffer_format(&text, "}], 'fabric': {'nodes_per_unit': %u, 'leaf_oversubscription': %u, 'rail_gbps': %u",
                  ONE_OF(trial, 2, 4, 8, 16, 18, 32), ONE_OF(trial, 1, 2, 4, 8), ONE_OF(trial, 25, 100, 400));
    if (below(trial, 3) == 0)
        buffer_string(&text, ", 'rails': 1");
    const bool has_cores = below(trial, 3) == 0;
    if (has_cores)
        buffer_format(&text, ", 'spine_oversubscription': %u", ONE_OF(trial, 1, 2, 4));
    buffer_string(&text, "}}");
    struct json_doc *doc = json_text_parse("cluster", buffer_c_string(&text));
    struct error error = ERROR_OK;
    const struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    if (cluster == NULL)
        fail_msg("seed %llu: %s: %s", (unsigned long long)trial->seed, error_message(&error), buffer_c_string(&text));
    if (has_cores) /* which a real fabric of so few nodes has not */
        cluster->fabric.spines = cluster->fabric.cores = 8;
    json_doc_free(doc);
    buffer_release(&text);
    return cluster;
}

static void take(struct trial *trial, uint16_t *free, node_id node)
{
    const uint32_t gpus = trial->cluster->types[0].gpu_count;
    struct link_place *place = &trial->places[trial->place_count++];
    *place = (struct link_place){node, 0};
    const uint32_t first = below(trial, 2) == 0 ? 0 : below(trial, gpus);
    for (uint32_t i = 0, left = trial->member_gpus; left > 0; i++) {
        const uint16_t bit = (uint16_t)(1u << (first + i) % gpus);
        if ((free[node] & bit) == 0)
            continue;
        free[node] &= (uint16_t)~bit;
        place->gpu_mask |= bit;
        left--;
    }
}

/* Members on nodes in their order, or anywhere; a few of them or all. */
static void random_places(struct trial *trial)
{
    const uint32_t gpus = trial->cluster->types[0].gpu_count, nodes = trial->cluster->node_count;
    uint16_t free[NODES_MAX];
    for (uint32_t i = 0; i < nodes; i++)
        free[i] = (uint16_t)((1u << gpus) - 1);
    trial->member_gpus = 1 + below(trial, gpus);
    if (below(trial, 3) == 0)
        trial->member_gpus = gpus;
    const uint32_t room = nodes * (gpus / trial->member_gpus);
    uint32_t members = 1 + below(trial, room < 300 ? room : 300);
    if (below(trial, 2) == 0 && members > 16)
        members = 16;
    const uint32_t start = below(trial, nodes), stride = below(trial, 2) == 0 ? 1 : 1 + below(trial, nodes);
    const bool is_anywhere = below(trial, 3) == 0;
    trial->place_count = 0;
    for (uint32_t i = 0, at = start; i < members; i++) {
        at = is_anywhere ? below(trial, nodes) : (at + (below(trial, 2) ? stride : 0)) % nodes;
        while ((uint32_t)__builtin_popcount(free[at]) < trial->member_gpus)
            at = (at + 1) % nodes;
        take(trial, free, at);
    }
    trial->gpu_count = members * trial->member_gpus;
}

static uint32_t random_divisor(struct trial *trial, uint32_t value, uint32_t most)
{
    uint32_t divisor = 1 + below(trial, value < most ? value : most);
    while (value % divisor != 0)
        divisor--;
    return divisor;
}

static void random_communication(struct trial *trial)
{
    struct communication *out = &trial->communication;
    *out = (struct communication){.has_plan = below(trial, 2) == 0};
    if (!out->has_plan) {
        out->sensitivity = (struct sensitivity){.name = "",
                                                .kind = (enum collective_kind)below(trial, COLLECTIVE_KIND_COUNT),
                                                .exposed_ratio = 0.95 * random_uniform(&trial->random),
                                                .hidden_ratio = 0.95 * random_uniform(&trial->random),
                                                .bytes = pow(10, 6 + 4 * random_uniform(&trial->random))};
        return;
    }
    struct training_plan *plan = &out->plan;
    plan->tp = random_divisor(trial, trial->gpu_count, 16);
    plan->pp = random_divisor(trial, trial->gpu_count / plan->tp, 16);
    plan->cp = random_divisor(trial, trial->gpu_count / plan->tp / plan->pp, 2);
    plan->dp = trial->gpu_count / plan->tp / plan->pp / plan->cp;
    plan->ep = random_divisor(trial, plan->tp * plan->cp * plan->dp, 32);
    plan->experts = plan->ep > 1 ? 2 * plan->ep : 1;
    plan->expert_load = plan->ep > 1 ? 1 + random_uniform(&trial->random) : 1;
    plan->zero = below(trial, 4);
    plan->has_reshard = below(trial, 2) == 0;
    plan->has_prefetch = below(trial, 2) == 0;
    plan->recompute = (enum training_recompute)below(trial, 3);
    plan->attention = (enum training_attention)below(trial, 2);
    plan->experts_per_token = plan->ep > 1 ? 2 : 1;
    plan->heads = plan->kv_heads = plan->tp * (1 + below(trial, 8));
    plan->head_size = 128;
    plan->hidden = plan->head_size * plan->heads;
    plan->ffn = 4 * plan->hidden;
    plan->layers = plan->pp * (1 + below(trial, 16));
    plan->virtual_stages = 1 + below(trial, plan->layers / plan->pp);
    plan->sequence = 1u << (8 + below(trial, 8));
    plan->vocabulary = 1 + below(trial, 200000);
    plan->micro_batch = 1 + below(trial, 4);
    plan->batch = plan->dp * plan->micro_batch * (1 + below(trial, 16));
}

static void trial_init(struct trial *trial, uint64_t seed)
{
    trial->seed = seed;
    random_stream_init(&trial->random, seed, "communication", 0);
    trial->cluster = random_cluster(trial);
    random_places(trial);
    random_communication(trial);
}

/* A tree's chain is shorter where a domain has fewer members, and so is the start-up of NVLS: 8 us for each member is
 * more than either.  Only an all-reduce of few MB, on many domains, is faster by that; its speed is 1. */
static bool is_by_the_start_of_a_tree(const struct communication *communication, const struct gang_place *place,
                                      const struct gang_place *best)
{
    const struct sensitivity *own = &communication->sensitivity;
    if (communication->has_plan || own->kind != COLLECTIVE_ALL_REDUCE || best->domain_count == 1)
        return false;
    const struct collective_place here = gang_place_all(place), there = gang_place_all(best);
    const double members = (double)best->gpu_count / best->domain_count;
    return collective_group_s(own->kind, &there, own->bytes) <=
           collective_group_s(own->kind, &here, own->bytes) + 8e-6 * members;
}

TEST(no_place_is_faster_than_the_best)
{
    struct trial *trial = malloc(sizeof *trial);
    uint32_t slower = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        trial_init(trial, seed);
        const struct communication *communication = &trial->communication;
        const struct gang_place place = gang_place_of(trial->cluster, trial->places, &trial->place_count);
        const struct gang_place best =
            communication_best(communication, trial->cluster, 0, trial->gpu_count, trial->member_gpus);
        const struct communication_time here =
                                            communication_time(communication, &place, &best, place.network_bytes_per_s),
                                        there =
                                            communication_time(communication, &best, &best, best.network_bytes_per_s);
        if (!(here.step_s >= there.step_s * (1 - 1e-12)) && !is_by_the_start_of_a_tree(communication, &place, &best))
            fail_msg("seed %llu: %s: %u GPUs in %u domains (least %u, gcd %u, %.4g GB/s) are faster by %g than in %u"
                     " domains (least %u, gcd %u, %.4g GB/s)",
                     (unsigned long long)seed,
                     communication->has_plan ? "plan" : collective_kind_names[communication->sensitivity.kind],
                     place.gpu_count, place.domain_count, place.domain_gpus_least, place.domain_gpus_gcd,
                     place.network_bytes_per_s / 1e9, there.step_s / here.step_s - 1, best.domain_count,
                     best.domain_gpus_least, best.domain_gpus_gcd, best.network_bytes_per_s / 1e9);
        assert_true(here.speed > 0 && here.speed <= 1);
        assert_true(there.speed >= 1);
        slower += here.speed < 0.99;
        cluster_free(trial->cluster);
    }
    assert_true(slower > SEEDS / 4);
    free(trial);
}

/* Nor is the speed, as the network gets slower. */
TEST(a_faster_network_makes_no_job_slower)
{
    struct trial *trial = malloc(sizeof *trial);
    for (uint64_t seed = 0; seed < SEEDS / 4; seed++) {
        trial_init(trial, seed);
        const struct gang_place place = gang_place_of(trial->cluster, trial->places, &trial->place_count);
        const struct gang_place best =
            communication_best(&trial->communication, trial->cluster, 0, trial->gpu_count, trial->member_gpus);
        double last = communication_time(&trial->communication, &place, &best, place.network_bytes_per_s).speed;
        for (double network = place.network_bytes_per_s; network > 1e6; network /= 1.7) {
            const struct communication_time time = communication_time(&trial->communication, &place, &best, network);
            if (!(time.speed > 0 && time.speed <= last * (1 + 1e-12)) ||
                !(time.exposed_ratio >= 0 && time.exposed_ratio <= 1) ||
                !(time.network_ratio >= 0 && time.network_ratio <= 1))
                fail_msg("seed %llu: %g GB/s: speed %g after %g, exposed %g, network %g", (unsigned long long)seed,
                         network / 1e9, time.speed, last, time.exposed_ratio, time.network_ratio);
            if (place.domain_count == 1)
                assert_true(time.network_ratio <= 0 && time.speed >= last);
            last = time.speed;
        }
        cluster_free(trial->cluster);
    }
    free(trial);
}

/* ---- the links, counted another way ---- */

/* GPUs of the places in that unit, on that rail (UINT32_MAX: any). */
static uint32_t senders_of(const struct trial *trial, uint32_t unit, uint32_t rail)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < trial->place_count; i++)
        for (uint32_t g = 0; g < NODE_GPUS_MAX; g++)
            count += trial->cluster->nodes[trial->places[i].node].unit == unit &&
                     (trial->places[i].gpu_mask >> g & 1) != 0 &&
                     (rail == UINT32_MAX || trial->cluster->pools[0].gpu_rail[g] == rail);
    return count;
}

TEST(links_are_those_crossed)
{
    struct trial *trial = malloc(sizeof *trial);
    uint32_t crossed = 0;
    for (uint64_t seed = 0; seed < SEEDS / 4; seed++) {
        trial_init(trial, seed);
        const struct cluster *cluster = trial->cluster;
        const struct fabric *fabric = &cluster->fabric;
        const struct gang_place place = gang_place_of(cluster, trial->places, &trial->place_count);
        struct fabric_use *uses = calloc(fabric_uses_max(cluster, trial->place_count) + 1, sizeof *uses);
        const uint32_t count = fabric_uses_of(cluster, trial->places, trial->place_count, uses);
        assert_true(count <= fabric_uses_max(cluster, trial->place_count));
        double least = place.domain_count == 1 ? INFINITY : fabric->rail_bytes_per_s, listed = least;
        for (uint32_t i = 0; i < count; i++) {
            assert_true(uses[i].link < fabric_link_count(cluster));
            assert_true(uses[i].senders > 0 && (i == 0 || uses[i].link > uses[i - 1].link));
            listed = fmin(listed, fabric_link_bytes_per_s(cluster, uses[i].link) / uses[i].senders);
        }
        for (uint32_t i = 0; place.domain_count > 1 && i < trial->place_count; i++)
            least = fmin(least, links_nic_bytes_per_s(cluster, &trial->places[i]));
        for (uint32_t u = 0; place.tier > LINK_LEAF && u < fabric->unit_count; u++) {
            const uint32_t nics = cluster->pools[0].nic_count;
            const double down = fabric->nodes_per_unit * fabric->rail_bytes_per_s / fabric->leaf_oversubscription;
            for (uint32_t r = 0; r < fabric->rails; r++)
                if (senders_of(trial, u, r) > 0 && fabric->leaf_oversubscription > 1)
                    least =
                        fmin(least, down * ((nics + fabric->rails - 1 - r) / fabric->rails) / senders_of(trial, u, r));
            if (place.tier == LINK_CORE && senders_of(trial, u, UINT32_MAX) > 0 && fabric->spine_oversubscription > 1)
                least = fmin(least, down * nics / fabric->spine_oversubscription / senders_of(trial, u, UINT32_MAX));
        }
        if (place.domain_count > 1 &&
            (fabs(listed / least - 1) > 1e-12 ||
             fabs(fmin(least, LINKS_PCIE_BYTES_PER_S) / place.network_bytes_per_s - 1) > 1e-12))
            fail_msg("seed %llu: %g GB/s of the place, %g of the links, not %g", (unsigned long long)seed,
                     place.network_bytes_per_s / 1e9, listed / 1e9, least / 1e9);
        crossed += count > 0;
        free(uses);
        cluster_free(trial->cluster);
    }
    assert_true(crossed > SEEDS / 16);
    free(trial);
}
