/* Repartitions of GPUs: each takes its time after the decision, and is then told as done. */
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

void engine_open_layouts(struct engine *engine)
{
    const struct cluster *cluster = engine->config->cluster;
    bool has_any = false;
    for (uint32_t t = 0; t < cluster->type_count; t++)
        has_any |= cluster->types[t].layout_mask != 0;
    for (node_id n = 0; n < cluster->node_count && has_any; n++)
        for (uint32_t i = 0; i < cluster_node_gpus(cluster, n); i++) {
            const struct gpu_cut cut = cut_of(cluster, n, i);
            engine_level(engine, LEVEL_UNCOVERED, GPU_MILLI - covered_milli(&cut, NULL));
        }
}

/* Thousandths of the GPU that are in no instance; 0 while it is being repartitioned: LEVEL_RECUT counts it then. */
static int64_t uncovered_milli(const struct engine *engine, node_id node, uint32_t gpu_index)
{
    const struct cluster *cluster = engine->config->cluster;
    if (engine->gpus == NULL) {
        const struct gpu_cut cut = cut_of(cluster, node, gpu_index);
        return GPU_MILLI - covered_milli(&cut, NULL);
    }
    const struct sim_gpu *gpu = &engine->gpus[cluster->nodes[node].first_gpu + gpu_index];
    return gpu->recut_milli > 0 ? 0 : GPU_MILLI - covered_milli(&gpu->cut, NULL);
}

void engine_gpus_count(struct engine *engine, node_id node, int sign)
{
    const struct cluster *cluster = engine->config->cluster;
    for (uint32_t i = 0; i < cluster_node_gpus(cluster, node); i++) {
        const int64_t recut = engine->gpus != NULL ? engine->gpus[cluster->nodes[node].first_gpu + i].recut_milli : 0;
        engine_level(engine, LEVEL_UNCOVERED, sign * uncovered_milli(engine, node, i));
        engine_level(engine, LEVEL_RECUT, sign * recut);
    }
}

static void open_gpus(struct engine *engine)
{
    const struct cluster *cluster = engine->config->cluster;
    engine->gpus = mem_zalloc(cluster->gpu_count, sizeof *engine->gpus);
    for (node_id n = 0; n < cluster->node_count; n++)
        for (uint32_t i = 0; i < cluster_node_gpus(cluster, n); i++)
            engine->gpus[cluster->nodes[n].first_gpu + i] = (struct sim_gpu){.node = n, .cut = cut_of(cluster, n, i)};
}

void engine_recut(struct engine *engine, const struct decision *decision)
{
    const struct cluster *cluster = engine->config->cluster;
    const struct piece *piece = &decision->pieces[0];
    const gpu_id gpu = cluster->nodes[piece->node].first_gpu + (uint32_t)__builtin_ctz(piece->gpu_mask);
    struct gpu_cut after = {.is_partitioned = decision->layout != MIG_LAYOUT_WHOLE};
    if (engine->gpus == NULL)
        open_gpus(engine);
    if (after.is_partitioned)
        after.layout = mig_layout_get(decision->layout);
    const time_ns duration = recut_duration(&engine->config->world.recut, &engine->gpus[gpu].cut, &after,
                                            engine->config->seed, engine->result->facts.recuts++);
    engine->result->facts.recut_gpu_h += (double)duration / (3600.0 * TIME_NS_PER_S);
    struct sim_gpu *own = &engine->gpus[gpu];
    own->recut_milli = GPU_MILLI - covered_milli(&after, &own->cut);
    if (engine_node_is_up(engine, own->node)) {
        engine_level(engine, LEVEL_RECUT, own->recut_milli);
        engine_level(engine, LEVEL_UNCOVERED, covered_milli(&own->cut, NULL) - GPU_MILLI);
    }
    own->cut = after;
    engine_hash(engine, 0x40, (uint64_t)gpu << 16 | decision->layout);
    event_queue_push(&engine->events, engine->now + duration, EVENT_NODE, gpu, 0);
}

void engine_gpu_done(struct engine *engine, gpu_id gpu)
{
    struct sim_gpu *own = &engine->gpus[gpu];
    if (engine_node_is_up(engine, own->node)) {
        engine_level(engine, LEVEL_RECUT, -own->recut_milli);
        engine_level(engine, LEVEL_UNCOVERED, GPU_MILLI - covered_milli(&own->cut, NULL));
    }
    own->recut_milli = 0;
    const mig_layout_id layout = own->cut.is_partitioned ? mig_layout_of(&own->cut.layout) : MIG_LAYOUT_WHOLE;
    engine_hash(engine, EVENT_NODE, gpu);
    port_gpu_changed(&engine->port, own->node, gpu - engine->config->cluster->nodes[own->node].first_gpu, layout,
                     engine->now);
}
