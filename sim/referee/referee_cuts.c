/* The referee's checks of repartitions; see sim/referee/referee_books.h. */
#include "sim/referee/referee_books.h"

bool referee_allows_cut(struct referee *referee, const struct decision *decision)
{
    const struct piece *piece = &decision->pieces[0];
    const uint32_t index = (uint32_t)__builtin_ctz(piece->gpu_mask);
    struct referee_gpu *gpu = &referee->gpus[referee->cluster->nodes[piece->node].first_gpu + index];
    const struct gpu_cut *cut = &gpu->cut;
    struct gpu_cut next = {.is_partitioned = decision->layout != MIG_LAYOUT_WHOLE};
    uint8_t kept = 0;
    if (!(cluster_node_type(referee->cluster, piece->node)->recut_mask >> index & 1))
        return referee_says(referee, "GPU %u of node %s may not be cut anew", index,
                            referee->cluster->nodes[piece->node].name);
    if (gpu->cutting != 0)
        return referee_says(referee, "GPU %u of node %s is being cut already", index,
                            referee->cluster->nodes[piece->node].name);
    if (next.is_partitioned)
        next.layout = mig_layout_get(decision->layout);
    for (uint32_t s = 0; cut->is_partitioned && next.is_partitioned && s < MIG_SLICES; s++)
        if (cut->layout.profile[s] != 0 && cut->layout.profile[s] == next.layout.profile[s])
            kept |= mig_mask((enum mig_profile_id)(cut->layout.profile[s] - 1), s);
    if ((gpu->used_slices & ~kept) != 0 || (gpu->used_milli > 0 && !cut->is_partitioned))
        return referee_says(referee, "GPU %u of node %s is in use where it is to be cut", index,
                            referee->cluster->nodes[piece->node].name);
    gpu->cutting = decision->id;
    gpu->next = next;
    return true;
}

bool referee_outlives_cut(struct referee *referee, const struct request *request, const struct piece *piece)
{
    const struct node *node = &referee->cluster->nodes[piece->node];
    for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1) {
        const uint32_t index = (uint32_t)__builtin_ctz(mask);
        const struct referee_gpu *gpu = &referee->gpus[node->first_gpu + index];
        if (gpu->cutting != 0 && (request->mig == 0 || !gpu->next.is_partitioned ||
                                  gpu->next.layout.profile[piece->mig_start] != request->mig))
            return referee_says(referee, "GPU %u of node %s is being cut otherwise", index, node->name);
    }
    return true;
}

void referee_cut_done(struct referee *referee, const struct fact *fact)
{
    struct referee_gpu *gpu = &referee->gpus[referee->cluster->nodes[fact->node].first_gpu + fact->gpu];
    gpu->cutting = 0;
    gpu->cut.is_partitioned = fact->layout != MIG_LAYOUT_WHOLE;
    if (gpu->cut.is_partitioned)
        gpu->cut.layout = mig_layout_get(fact->layout);
}

void referee_cut_refused(struct referee *referee, decision_id decision)
{
    for (gpu_id g = 0; g < referee->cluster->gpu_count; g++)
        if (referee->gpus[g].cutting != 0 && decision_number(referee->gpus[g].cutting) == decision_number(decision))
            referee->gpus[g].cutting = 0;
}
