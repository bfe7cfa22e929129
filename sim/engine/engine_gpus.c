/* Repartitions of GPUs, a part: each takes its time after the decision, and is then told as done.
 *
 * It also counts the parts of partitioned GPUs that are in no instance.  It is configured if the cluster has such GPUs,
 * and from the first repartition on. */
#include "sim/engine/engine_gpus.h"

#include "policies/jobs/request_class.h"
#include "sim/engine/engine_nodes.h"

/* The part of a GPU that a member with that request holds. */
int64_t engine_member_milli(const struct engine *engine, const struct request *request)
{
    const struct cluster *cluster = engine->config->cluster;
    if (request->mig != 0)
        return mig_slices((enum mig_profile_id)(request->mig - 1)) * MIG_SLICE_MILLI;
    return request_class_most_milli(request, cluster);
}

static struct gpu_cut cut_of(const struct cluster *cluster, node_id node, uint32_t gpu_index)
{
    const struct node_type *type = cluster_node_type(cluster, node);
    struct gpu_cut cut = {.is_partitioned = type->layout_mask >> gpu_index & 1};
    if (cut.is_partitioned)
        cut.layout = type->layouts[gpu_index];
    return cut;
}

/* Thousandths of the GPU in instances; other: only in those that it has too, if not NULL. */
static int64_t covered_milli(const struct gpu_cut *cut, const struct gpu_cut *other)
{
    int64_t milli = 0;
    if (!cut->is_partitioned)
        return other == NULL || !other->is_partitioned ? GPU_MILLI : 0;
    for (uint32_t s = 0; s < MIG_SLICES; s++) {
        const uint8_t profile = cut->layout.profile[s];
        if (profile != 0 && (other == NULL || (other->is_partitioned && other->layout.profile[s] == profile)))
            milli += mig_slices((enum mig_profile_id)(profile - 1)) * MIG_SLICE_MILLI;
    }
    return milli;
}

struct gpus {
    struct sim_gpu *of; /* by gpu_id; NULL: no GPU was repartitioned yet */
};

static struct gpus *gpus_of(const struct engine *engine)
{
    return engine->states[PART_gpus];
}

const struct sim_gpu *engine_gpus_cut(const struct engine *engine)
{
    return gpus_of(engine) != NULL ? gpus_of(engine)->of : NULL;
}

static void *begin(struct engine *engine, uint32_t needs)
{
    const struct cluster *cluster = engine->config->cluster;
    bool has_any = needs != 0;
    for (uint32_t t = 0; t < cluster->type_count; t++)
        has_any |= cluster->types[t].layout_mask != 0;
    for (node_id n = 0; n < cluster->node_count && has_any; n++)
        for (uint32_t i = 0; i < cluster_node_gpus(cluster, n); i++) {
            const struct gpu_cut cut = cut_of(cluster, n, i);
            engine_level(engine, LEVEL_UNCOVERED, GPU_MILLI - covered_milli(&cut, NULL));
        }
    return has_any ? mem_zalloc(1, sizeof(struct gpus)) : NULL;
}

static void release(struct engine *engine)
{
    mem_free(gpus_of(engine)->of);
    mem_free(gpus_of(engine));
}

/* Thousandths of the GPU that are in no instance; 0 while it is being repartitioned: LEVEL_RECUT counts it then. */
static int64_t uncovered_milli(const struct engine *engine, node_id node, uint32_t gpu_index)
{
    const struct cluster *cluster = engine->config->cluster;
    if (gpus_of(engine)->of == NULL) {
        const struct gpu_cut cut = cut_of(cluster, node, gpu_index);
        return GPU_MILLI - covered_milli(&cut, NULL);
    }
    const struct sim_gpu *gpu = &gpus_of(engine)->of[cluster->nodes[node].first_gpu + gpu_index];
    return gpu->recut_milli > 0 ? 0 : GPU_MILLI - covered_milli(&gpu->cut, NULL);
}

static void serves(struct engine *engine, node_id node, int sign)
{
    const struct cluster *cluster = engine->config->cluster;
    for (uint32_t i = 0; i < cluster_node_gpus(cluster, node); i++) {
        const int64_t recut =
            gpus_of(engine)->of != NULL ? gpus_of(engine)->of[cluster->nodes[node].first_gpu + i].recut_milli : 0;
        engine_level(engine, LEVEL_UNCOVERED, sign * uncovered_milli(engine, node, i));
        engine_level(engine, LEVEL_RECUT, sign * recut);
    }
}

static void open_gpus(struct engine *engine)
{
    const struct cluster *cluster = engine->config->cluster;
    gpus_of(engine)->of = mem_zalloc(cluster->gpu_count, sizeof *gpus_of(engine)->of);
    for (node_id n = 0; n < cluster->node_count; n++)
        for (uint32_t i = 0; i < cluster_node_gpus(cluster, n); i++)
            gpus_of(engine)->of[cluster->nodes[n].first_gpu + i] =
                (struct sim_gpu){.node = n, .cut = cut_of(cluster, n, i)};
}

static void decided(struct engine *engine, uint32_t slot, const struct decision *decision)
{
    (void)slot;
    if (decision->kind != DECISION_REPARTITION)
        return;
    const struct cluster *cluster = engine->config->cluster;
    const struct piece *piece = &decision->pieces[0];
    const gpu_id gpu = cluster->nodes[piece->node].first_gpu + (uint32_t)__builtin_ctz(piece->gpu_mask);
    struct gpu_cut after = {.is_partitioned = decision->layout != MIG_LAYOUT_WHOLE};
    if (gpus_of(engine)->of == NULL)
        open_gpus(engine);
    if (after.is_partitioned)
        after.layout = mig_layout_get(decision->layout);
    const time_ns duration = recut_duration(&engine->config->world.recut, &gpus_of(engine)->of[gpu].cut, &after,
                                            engine->config->seed, engine->result->facts.recuts++);
    engine->result->facts.recut_gpu_h += (double)duration / (3600.0 * TIME_NS_PER_S);
    struct sim_gpu *own = &gpus_of(engine)->of[gpu];
    own->recut_milli = GPU_MILLI - covered_milli(&after, &own->cut);
    if (engine_node_is_up(engine, own->node)) {
        engine_level(engine, LEVEL_RECUT, own->recut_milli);
        engine_level(engine, LEVEL_UNCOVERED, covered_milli(&own->cut, NULL) - GPU_MILLI);
    }
    own->cut = after;
    engine_hash(engine, 0x40, (uint64_t)gpu << 16 | decision->layout);
    event_queue_push(&engine->events, engine->now + duration, EVENT_NODE, gpu, 0);
}

/* It is done. */
static void on_event(struct engine *engine, const struct event *event)
{
    const gpu_id gpu = event->subject;
    struct sim_gpu *own = &gpus_of(engine)->of[gpu];
    if (engine_node_is_up(engine, own->node)) {
        engine_level(engine, LEVEL_RECUT, -own->recut_milli);
        engine_level(engine, LEVEL_UNCOVERED, GPU_MILLI - covered_milli(&own->cut, NULL));
    }
    own->recut_milli = 0;
    const mig_layout_id layout = own->cut.is_partitioned ? mig_layout_of(&own->cut.layout) : MIG_LAYOUT_WHOLE;
    engine_hash(engine, EVENT_NODE, gpu);
    port_gpu_changed(&engine->port, own->node, gpu - engine->config->cluster->nodes[own->node].first_gpu, layout,
                     engine->now);
    engine_want_cycle(engine, engine->now);
}

const struct engine_part engine_part_gpus = {.begin = begin,
                                             .needs = NEED_REPARTITION,
                                             .release = release,
                                             .events = 1u << EVENT_NODE,
                                             .event = on_event,
                                             .serves = serves,
                                             .decided = decided};
