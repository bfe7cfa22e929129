/* policies/ledger/ledger_check.c -- the ledger's hash, and a check of its laws against its cells. */
#include "base/hash.h"
#include "policies/ledger/ledger_tags.h"

uint64_t ledger_hash(const struct ledger *ledger)
{
    const struct cluster *cluster = ledger->cluster;
    uint64_t hash = hash_bytes(ledger->gpus, cluster->gpu_count * sizeof *ledger->gpus, 1);
    if (ledger->migs != NULL) {
        hash = hash_bytes(ledger->migs, cluster->gpu_count * sizeof *ledger->migs, hash);
        hash = hash_bytes(ledger->layouts, cluster->gpu_count * sizeof *ledger->layouts, hash);
        hash = hash_bytes(ledger->layout_mask, cluster->node_count * sizeof *ledger->layout_mask, hash);
    }
    if (ledger->shares != NULL)
        hash = hash_bytes(ledger->shares, cluster->gpu_count * sizeof *ledger->shares, hash);
    for (gpu_id g = 0; g < cluster->gpu_count && ledger->excess != NULL; g++)
        if (ledger_gpu_excess(ledger, g) != 0) /* none at all is the same as no array */
            hash = hash_mix(hash_mix(hash, g), (uint64_t)ledger->excess[g].held << 32 | ledger->excess[g].coming);
    if (ledger->node_shares != NULL)
        hash = hash_bytes(ledger->node_shares, cluster->node_count * sizeof *ledger->node_shares, hash);
    hash = hash_bytes(ledger->owner, cluster->gpu_count * sizeof *ledger->owner, hash);
    hash = hash_bytes(ledger->nodes, cluster->node_count * sizeof *ledger->nodes, hash);
    hash = hash_bytes(ledger->node_state, cluster->node_count, hash);
    hash = hash_bytes(ledger->is_kept, cluster->node_count, hash);
    hash = hash_bytes(ledger->sums, ledger->queue_count * sizeof *ledger->sums, hash);
    for (node_id n = 0; n < cluster->node_count; n++)
        hash = hash_mix(hash, ledger->index->free_mask[n]);
    return ledger->tags == NULL ? hash : ledger_tags_hash(ledger, hash);
}

struct sums {
    int64_t used, coming, claimed, not_up;
};

/* Do the cells of a partitioned GPU agree with each other and with the index? */
static const char *check_mig(const struct ledger *ledger, node_id node, uint32_t gpu_index)
{
    const struct node *entry = &ledger->cluster->nodes[node];
    gpu_id gpu = entry->first_gpu + gpu_index;
    const struct gpu_layout *layout = &ledger->layouts[gpu];
    const struct mig_cell *mig = &ledger->migs[gpu];
    const struct gpu_cell *cell = &ledger->gpus[gpu];
    uint32_t free = GPU_MILLI, coming = 0, claimed = 0;
    uint8_t covered = 0;
    if ((mig->free & mig->coming) | (mig->free & mig->claimed) | (mig->coming & mig->claimed) |
            ((mig->free | mig->coming | mig->claimed | mig->making) & ~gpu_layout_all(layout)) ||
        (mig->making & mig->free))
        return "a MIG instance is in two states, or is not there";
    for (uint32_t s = 0; s < MIG_SLICES; s++) {
        if (layout->profile[s] == 0)
            continue;
        enum mig_profile_id profile = (enum mig_profile_id)(layout->profile[s] - 1);
        if (!(mig_fit(covered, profile) >> s & 1))
            return "a GPU's MIG instances overlap, or one lies where none of its profile may";
        covered |= mig_mask(profile, s);
        uint32_t milli = mig_slices(profile) * MIG_SLICE_MILLI;
        coming += mig->coming >> s & 1 ? milli : 0;
        claimed += mig->claimed >> s & 1 ? milli : 0;
        free -= mig->free >> s & 1 ? 0 : milli;
        for (uint32_t e = 0; e <= MIG_SLICES; e++)
            if ((ledger->index->types[entry->type].mig != NULL &&
                 bits_test(&ledger->index->types[entry->type].mig->open[profile][e], gpu)) !=
                (ledger->index->is_listed[node] && cell->free / MIG_SLICE_MILLI == e &&
                 ledger_mig_starts(ledger, node, gpu_index, profile) != 0))
                return "the node index is wrong about a MIG instance";
    }
    if (cell->free != free || cell->coming != coming || cell->claimed != claimed)
        return "a partitioned GPU's shares are not those of its instances";
    return NULL;
}

/* Check a share cell of a GPU or a node. */
static const char *check_share(const struct share_cell *cell)
{
    if (cell->leaving > cell->clients || (cell->clients == 0 && cell->next_clients > 0) ||
        (cell->next_clients > 0 && cell->leaving != cell->clients))
        return "who stands behind those that leave a GPU or a node does not wait for them";
    if ((cell->clients == 0 && (cell->domain | cell->kind) != 0) ||
        (cell->next_clients == 0 && (cell->next_domain | cell->next_kind) != 0))
        return "nobody is on a GPU or a node, and yet it is of a kind or a domain";
    return NULL;
}

static const char *check_gpu(const struct ledger *ledger, node_id node, uint32_t gpu_index)
{
    const struct node *entry = &ledger->cluster->nodes[node];
    gpu_id gpu = entry->first_gpu + gpu_index;
    const struct gpu_cell *cell = &ledger->gpus[gpu];
    const struct bits *shared = ledger->index->types[entry->type].shared[cell->free % GPU_MILLI];
    if (cell->free + cell->coming + cell->claimed > GPU_MILLI)
        return "a GPU's free, coming and claimed shares exceed the whole";
    if (cell->free == GPU_MILLI && ledger->owner[gpu] != OWNER_NONE)
        return "a free GPU has an owner";
    if (cell->free == GPU_MILLI && ledger_gpu_excess(ledger, gpu) != 0)
        return "the memory of a free GPU is in use";
    if (ledger->shares != NULL) {
        const struct share_cell *share = &ledger->shares[gpu];
        const char *broken = check_share(share);
        if (broken != NULL)
            return broken;
        if ((cell->free == GPU_MILLI || ledger_has_layout(ledger, node, gpu_index)) && share->clients > 0)
            return "a GPU that is free or partitioned is shared";
    }
    if (ledger_has_layout(ledger, node, gpu_index))
        return check_mig(ledger, node, gpu_index);
    if (ledger->index->is_listed[node] && cell->free > 0 && cell->free < GPU_MILLI &&
        (shared == NULL || !bits_test(shared, gpu)))
        return "a shared GPU is missing from the node index";
    return NULL;
}

static const char *check_node(const struct ledger *ledger, node_id node, struct sums *sums)
{
    const struct node *entry = &ledger->cluster->nodes[node];
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    bool is_listed = ledger->node_state[node] == NODE_UP && ledger->is_kept[node] == 0;
    uint16_t mask = 0;
    for (uint32_t i = 0; i < type->gpu_count; i++) {
        const char *broken = check_gpu(ledger, node, i);
        if (broken != NULL)
            return broken;
        const struct gpu_cell *cell = &ledger->gpus[entry->first_gpu + i];
        sums->used += GPU_MILLI - cell->free - cell->coming - cell->claimed;
        sums->coming += cell->coming;
        sums->claimed += cell->claimed;
        sums->not_up += ledger->node_state[node] != NODE_UP ? GPU_MILLI - cell->free : 0;
        if (cell->free == GPU_MILLI && !ledger_has_layout(ledger, node, i))
            mask |= (uint16_t)(1u << i);
    }
    if (ledger->node_shares != NULL) {
        const char *broken = check_share(&ledger->node_shares[node]);
        if (broken != NULL)
            return broken;
    }
    const struct node_cell *cell = &ledger->nodes[node];
    uint32_t tasks_max = type->max_tasks != 0 ? type->max_tasks : UINT32_MAX;
    if ((uint64_t)cell->cpu_free + cell->cpu_coming + cell->cpu_claimed > type->cpu_milli ||
        (uint64_t)cell->memory_free + cell->memory_coming + cell->memory_claimed > type->memory_mib)
        return "a node's free CPU or memory exceeds what it has";
    if ((uint64_t)cell->tasks_free + cell->tasks_coming + cell->tasks_claimed > tasks_max)
        return "a node may take more tasks than its limit";
    if (ledger->index->is_listed[node] != is_listed ||
        (is_listed && (ledger->index->free_mask[node] != mask ||
                       !bits_test(&ledger->index->types[entry->type].whole[__builtin_popcount(mask)], node))))
        return "a node stands in the wrong bucket of the node index";
    return NULL;
}

const char *ledger_check(const struct ledger *ledger)
{
    struct sums sums = {0};
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        const char *broken = check_node(ledger, n, &sums);
        if (broken != NULL)
            return broken;
    }
    if (sums.used != ledger->used_milli || sums.coming != ledger->coming_milli ||
        sums.claimed != ledger->claimed_milli || sums.not_up != ledger->not_up_milli)
        return "the sums over GPUs differ from the totals kept";
    return ledger->tags == NULL ? NULL : ledger_tags_check(ledger);
}
