/* Repartitions of GPUs: each takes its time after the decision, and is then told as done. */
#include "sim/engine/engine_state.h"

static struct gpu_cut cut_of(const struct cluster *cluster, node_id node, uint32_t gpu_index)
{
    const struct node_type *type = cluster_node_type(cluster, node);
    struct gpu_cut cut = {.is_partitioned = type->layout_mask >> gpu_index & 1};
    if (cut.is_partitioned)
        cut.layout = type->layouts[gpu_index];
    return cut;
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
    engine->gpus[gpu].cut = after;
    engine_hash(engine, 0x40, (uint64_t)gpu << 16 | decision->layout);
    event_queue_push(&engine->events, engine->now + duration, EVENT_NODE, gpu, 0);
}

void engine_gpu_done(struct engine *engine, gpu_id gpu)
{
    const struct sim_gpu *own = &engine->gpus[gpu];
    const mig_layout_id layout = own->cut.is_partitioned ? mig_layout_of(&own->cut.layout) : MIG_LAYOUT_WHOLE;
    engine_hash(engine, EVENT_NODE, gpu);
    port_gpu_changed(&engine->port, own->node, gpu - engine->config->cluster->nodes[own->node].first_gpu, layout,
                     engine->now);
}
