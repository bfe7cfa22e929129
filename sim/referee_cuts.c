/* The referee on GPUs that are cut anew; see sim/referee_books.h. */
#include "sim/referee_books.h"

bool referee_allows_cut(struct referee *referee, const struct decision *decision)
{
    const struct piece *piece = &decision->pieces[0];
    const uint32_t index = (uint32_t)__builtin_ctz(piece->gpu_mask);
    const struct referee_gpu *gpu =
        &referee->gpus[referee->cluster->nodes[piece->node].first_gpu + index];
    const struct gpu_cut *cut = &gpu->cut;
    struct gpu_cut next = {.is_partitioned = decision->layout != MIG_LAYOUT_WHOLE};
    uint8_t kept = 0;
    if (!(cluster_node_type(referee->cluster, piece->node)->recut_mask >> index & 1))
        return referee_says(referee, "GPU %u of node %s may not be cut anew", index,
                            referee->cluster->nodes[piece->node].name);
    if (next.is_partitioned)
        next.layout = mig_layout_get(decision->layout);
    for (uint32_t s = 0; cut->is_partitioned && next.is_partitioned && s < MIG_SLICES; s++)
        if (cut->layout.profile[s] != 0 && cut->layout.profile[s] == next.layout.profile[s])
            kept |= mig_mask((enum mig_profile_id)(cut->layout.profile[s] - 1), s);
    if ((gpu->used_slices & ~kept) != 0 || (gpu->used_milli > 0 && !cut->is_partitioned))
        return referee_says(referee, "GPU %u of node %s is in use where it is to be cut", index,
                            referee->cluster->nodes[piece->node].name);
    return true;
}
