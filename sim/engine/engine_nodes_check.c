/* The laws of sim/engine/engine_nodes.h, on the jobs as they are. */
#include "sim/engine/engine_nodes.h"

const char *engine_nodes_check(const struct engine *engine)
{
    int64_t absent = 0, held = 0, starting = 0;
    for (node_id n = 0; n < engine->config->cluster->node_count; n++) {
        const struct sim_node *own = &engine_nodes_of(engine)->of[n];
        if (own->state != NODE_UP)
            absent += engine_node_unheld(engine, n);
        if (own->state == NODE_ABSENT && !engine_node_is_empty(own))
            return "a job is on a node that is absent";
        if (own->taken_milli < 0)
            return "a node has less than nothing taken";
        held += own->taken_milli;
        for (uint32_t i = 0; i < cluster_node_gpus(engine->config->cluster, n) && own->state == NODE_ABSENT; i++)
            if (engine->gpu_used[engine->config->cluster->nodes[n].first_gpu + i] > 0)
                return "a GPU of an absent node is held";
    }
    for (uint32_t slot = 0; slot < engine->job_used; slot++) {
        const struct sim_job *job = &engine->jobs[slot];
        for (uint32_t c = 0; job->state != LIFE_NONE && c < job->change_count; c++)
            if (job->changes[c].is_join)
                starting += pieces_gpu_milli(job->changes[c].pieces, job->changes[c].piece_count);
        held -= job->state != LIFE_NONE ? job->held_milli : 0;
    }
    if (held != starting)
        return "the GPUs taken on nodes differ from those of the jobs";
    return absent != engine->levels[LEVEL_ABSENT].value ? "the GPUs out of service are counted wrongly" : NULL;
}
