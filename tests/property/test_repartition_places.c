/* policies/repartition/repartition_places.h against a look at every GPU.
 *
 * A random cluster and policy; instances, whole GPUs and CPUs are taken and given back, GPUs cut anew, nodes go down
 * and come up, time passes, some of it in trials that are taken back.  What is found for a random request must be what
 * going through all nodes and GPUs finds, and so must the moment from which a GPU that rests may be cut. */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "policies/policy_config.h"
#include "policies/repartition/repartition_book.h"
#include "policies/repartition/repartition_places.h"
#include "policies/state/sched_state.h"
#include "tests/support/interval.h"
#include "tests/support/lawful.h"
#include "tests/support/sched_case.h"

enum { SPACES_MAX = 200, STEPS = 300, RUNS = 60 };

struct bench {
    struct sched_case c;
    struct random_stream stream;
    struct space taken[SPACES_MAX];
    uint32_t count;
};

static uint32_t below(struct bench *b, uint32_t bound)
{
    return random_below(&b->stream, bound);
}

static struct cluster *cluster_draw(struct bench *b)
{
    static const char *const cuts[] = {"", ", 'gpus_layout': [['1g.10gb','2g.20gb','3g.40gb'],[]]",
                                       ", 'gpus_layout': [['7g.80gb'],['3g.40gb','1g.20gb']]"};
    struct buffer text = {0};
    buffer_string(&text, "{'name': 'c', 'pools': [");
    for (uint32_t p = 0, pools = 1 + below(b, 4); p < pools; p++)
        buffer_format(&text,
                      "%s{'name': 'p%u', 'nodes': %u, 'gpus_per_node': 2, 'gpu_model': '%s', 'cpus': 8, "
                      "'memory_gb': 64, 'mig_recut': %s%s}",
                      p > 0 ? "," : "", p, 1 + below(b, 6), below(b, 3) == 0 ? "a100-80gb" : "h100-80gb",
                      below(b, 4) > 0 ? "true" : "false", cuts[below(b, 3)]);
    buffer_string(&text, "]}");
    struct cluster *cluster = sched_case_cluster(buffer_c_string(&text));
    buffer_release(&text);
    return cluster;
}

/* ---- What there is to do ---------------------------------------------------------------------- */

static void take_some(struct bench *b)
{
    struct ledger *ledger = b->c.sched->ledger;
    const node_id node = below(b, b->c.cluster->node_count);
    const uint32_t index = below(b, 2);
    const gpu_id gpu = b->c.cluster->nodes[node].first_gpu + index;
    struct space space = {.node = node,
                          .gpu_mask = (uint16_t)(1u << index),
                          .gpu_milli = GPU_MILLI,
                          .cpu_milli = below(b, 4) * 1000,
                          .memory_mib = below(b, 4) * 1024,
                          .owner = b->count,
                          .member_count = 1};
    if (ledger_has_layout(ledger, node, index)) {
        const uint32_t free = ledger->migs[gpu].free;
        if (free == 0)
            return;
        space.mig_start = (uint8_t)__builtin_ctz(free);
        space.mig = ledger->layouts[gpu].profile[space.mig_start];
        space.gpu_milli = (uint16_t)(mig_slices((enum mig_profile_id)(space.mig - 1)) * MIG_SLICE_MILLI);
    } else if (ledger->gpus[gpu].free < GPU_MILLI) {
        return;
    }
    if (b->count == SPACES_MAX || ledger->nodes[node].cpu_free < space.cpu_milli ||
        ledger->nodes[node].memory_free < space.memory_mib)
        return;
    ledger_take(ledger, &space);
    b->taken[b->count++] = space;
}

static void give_some(struct bench *b)
{
    if (b->count == 0)
        return;
    const uint32_t at = below(b, b->count), last = --b->count;
    ledger_give(b->c.sched->ledger, &b->taken[at]);
    b->taken[at] = b->taken[last];
}

/* Of a GPU that is wholly free, into what one legal layout or another says. */
static void cut_some(struct bench *b, bool is_trial)
{
    struct sched *sched = b->c.sched;
    const gpu_id gpu = below(b, b->c.cluster->gpu_count);
    const node_id node = sched->ledger->index->gpu_node[gpu];
    if (sched->ledger->gpus[gpu].free < GPU_MILLI ||
        !(cluster_node_type(b->c.cluster, node)->recut_mask >> (gpu - b->c.cluster->nodes[node].first_gpu) & 1))
        return;
    struct gpu_cut cut = {.is_partitioned = below(b, 4) > 0};
    if (cut.is_partitioned)
        cut.layout = mig_layout_get((mig_layout_id)below(b, MIG_LAYOUT_COUNT));
    ledger_repartition(sched->ledger, gpu, &cut, true);
    if (!is_trial)
        sched->repartitions->cut_at[gpu] = sched->now + 1;
}

static void act(struct bench *b)
{
    struct sched *sched = b->c.sched;
    const node_id node = below(b, b->c.cluster->node_count);
    switch (below(b, 8)) {
    case 0:
        ledger_set_node(sched->ledger, node, below(b, 3) == 0 ? NODE_DOWN : NODE_UP);
        break;
    case 1:
        sched->now += SECONDS(below(b, 30));
        break;
    case 2:
        cut_some(b, false);
        break;
    case 3:
    case 4:
        give_some(b);
        break;
    default:
        take_some(b);
    }
}

/* ---- Going through all ------------------------------------------------------------------------ */

static bool is_quiet_node(const struct ledger *ledger, node_id node)
{
    const gpu_id first = ledger->cluster->nodes[node].first_gpu;
    return ledger->gpus[first].free == GPU_MILLI && ledger->gpus[first + 1].free == GPU_MILLI;
}

static bool may_cut(struct sched *sched, node_id node, uint32_t index, time_ns *rested_at)
{
    const struct geometry_config *config = &sched->policy.geometry_config;
    const struct ledger *ledger = sched->ledger;
    const gpu_id gpu = ledger->cluster->nodes[node].first_gpu + index;
    if (!(cluster_node_type(ledger->cluster, node)->recut_mask >> index & 1) || !ledger_is_open(ledger, node) ||
        (config->needs == RECUT_GPU && ledger->gpus[gpu].free < GPU_MILLI) ||
        (config->needs == RECUT_NODE && !is_quiet_node(ledger, node)))
        return false;
    const time_ns cut_at = sched->repartitions->cut_at[gpu];
    if (cut_at == 0 || cut_at - 1 + config->rest <= sched->now)
        return true;
    *rested_at = cut_at - 1 + config->rest < *rested_at ? cut_at - 1 + config->rest : *rested_at;
    return false;
}

static int64_t score_at(struct sched *sched, gpu_id gpu, enum mig_profile_id profile, uint32_t start)
{
    const struct gpu_cut cut = ledger_cut_of(sched->ledger, gpu);
    struct cut_place place = {.profile = profile,
                              .start = start,
                              .busy = ledger_busy_slices(sched->ledger, gpu),
                              .is_whole = !cut.is_partitioned};
    for (uint32_t s = 0; cut.is_partitioned && s < MIG_SLICES; s++)
        place.destroyed +=
            cut.layout.profile[s] != 0 &&
            (mig_mask((enum mig_profile_id)(cut.layout.profile[s] - 1), s) & mig_mask(profile, start)) != 0;
    return sched->policy.geometry->score(&place);
}

static bool is_there(const struct ledger *ledger, gpu_id gpu, enum mig_profile_id profile, uint32_t start)
{
    const struct gpu_cut cut = ledger_cut_of(ledger, gpu);
    return cut.is_partitioned && cut.layout.profile[start] == profile + 1;
}

static void look_for_instance(struct sched *sched, node_id node, enum mig_profile_id profile,
                              struct repartition_spot *best, time_ns *rested_at)
{
    for (uint32_t i = 0; i < 2; i++) {
        const gpu_id gpu = sched->cluster->nodes[node].first_gpu + i;
        if (!may_cut(sched, node, i, rested_at) || ledger_mig_room(sched->ledger, gpu, profile) == 0)
            continue;
        for (uint32_t s = 0; s < MIG_SLICES; s++)
            if ((mig_fit(ledger_busy_slices(sched->ledger, gpu), profile) >> s & 1) &&
                !is_there(sched->ledger, gpu, profile, s) && score_at(sched, gpu, profile, s) > best->score)
                *best = (struct repartition_spot){score_at(sched, gpu, profile, s), gpu, s, 0};
    }
}

static void look_for_whole(struct sched *sched, node_id node, uint32_t gpus, struct repartition_spot *best,
                           time_ns *rested_at)
{
    const struct ledger *ledger = sched->ledger;
    const gpu_id first = ledger->cluster->nodes[node].first_gpu;
    uint32_t free = 0, more = 0;
    uint16_t mask = 0;
    for (uint32_t i = 0; i < 2; i++)
        free += ledger_is_open(ledger, node) && !ledger_has_layout(ledger, node, i) &&
                ledger->gpus[first + i].free == GPU_MILLI;
    if (free >= gpus || ledger_layout_mask(ledger, node) == 0)
        return;
    for (uint32_t i = 0; i < 2; i++)
        if (may_cut(sched, node, i, rested_at) && ledger_has_layout(ledger, node, i) &&
            ledger->gpus[first + i].free == GPU_MILLI) {
            mask |= (uint16_t)(1u << i);
            more++;
        }
    if (free + more >= gpus && (int64_t)free - gpus > best->score)
        *best = (struct repartition_spot){(int64_t)free - gpus, first, 0, mask};
}

static void compare(struct bench *b)
{
    struct sched *sched = b->c.sched;
    struct request request = {.cpu_milli = below(b, 5) * 1000, .memory_mib = below(b, 3) * 20480};
    struct repartition_spot spot = {0}, best = {.score = INT64_MIN};
    time_ns rested_at = TIME_NEVER;
    if (below(b, 3) > 0)
        request.mig = (uint8_t)(1 + below(b, MIG_PROFILE_COUNT));
    else
        request.gpus = (uint16_t)(1 + below(b, 2));
    if (below(b, 4) == 0)
        request.gpu_models = UINT64_C(1) << below(b, b->c.cluster->model_count);
    for (node_id n = 0; n < b->c.cluster->node_count; n++) {
        const struct node_cell *cell = &sched->ledger->nodes[n];
        if (cell->cpu_free < request.cpu_milli || cell->memory_free < request.memory_mib ||
            (request.gpu_models != 0 && !(request.gpu_models >> cluster_node_type(b->c.cluster, n)->model & 1)))
            continue;
        if (request.mig != 0)
            look_for_instance(sched, n, (enum mig_profile_id)(request.mig - 1), &best, &rested_at);
        else
            look_for_whole(sched, n, request.gpus, &best, &rested_at);
    }
    sched->repartitions->rested_at = TIME_NEVER;
    assert_int_equal(repartition_places_best(sched, &request, &spot), best.score != INT64_MIN);
    assert_true(sched->repartitions->rested_at == rested_at);
    if (best.score == INT64_MIN)
        return;
    assert_int_equal(spot.score, best.score);
    assert_int_equal(spot.gpu, best.gpu);
    assert_int_equal(spot.start, best.start);
    assert_int_equal(spot.gpu_mask, best.gpu_mask);
}

/* In a trial that is taken back. */
static void compare_in_trial(struct bench *b)
{
    const uint32_t count = b->count;
    const size_t mark = ledger_mark(b->c.sched->ledger);
    for (uint32_t n = below(b, 4); n > 0; n--)
        cut_some(b, true);
    compare(b);
    take_some(b);
    ledger_rollback(b->c.sched->ledger, mark);
    b->count = count;
}

TEST(test_what_is_found)
{
    static const char *const needs[] = {"instances", "gpu", "node"};
    for (uint32_t run = 0; run < RUNS; run++) {
        struct bench b = {0};
        char policy[160];
        random_stream_init(&b.stream, run, "recut_places", 0);
        snprintf(policy, sizeof policy,
                 "{'order': ['fifo'], 'geometry': {'policy': 'on_demand', 'needs': '%s', 'rest_s': %u}}",
                 needs[below(&b, 3)], below(&b, 2) * 50);
        sched_case_open(&b.c, cluster_draw(&b), queue_table_new(), policy);
        if (b.c.sched->ledger->migs != NULL)
            for (uint32_t step = 0; step < STEPS; step++) {
                for (uint32_t n = below(&b, 6); n > 0; n--)
                    act(&b);
                if (below(&b, 3) == 0)
                    compare_in_trial(&b);
                compare(&b);
                assert_lawful(repartition_places_check(b.c.sched));
            }
        sched_case_close(&b.c);
    }
}
