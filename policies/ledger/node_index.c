#include "policies/ledger/node_index.h"

#include <assert.h>

static struct mig_index *mig_index_new(struct node_index *index)
{
    struct mig_index *mig = arena_alloc_array(&index->arena, 1, struct mig_index);
    for (uint32_t p = 0; p < MIG_PROFILE_COUNT; p++)
        for (uint32_t eighths = 0; eighths <= MIG_SLICES; eighths++)
            bits_init(&mig->open[p][eighths], &index->arena, index->cluster->gpu_count);
    return mig;
}

struct node_index *node_index_new(const struct cluster *cluster)
{
    struct node_index *index = mem_zalloc(1, sizeof *index);
    index->cluster = cluster;
    index->types = arena_alloc_array(&index->arena, cluster->type_count, struct type_index);
    index->free_mask = arena_alloc_array(&index->arena, cluster->node_count, uint16_t);
    index->free_count = arena_alloc_array(&index->arena, cluster->node_count, uint8_t);
    index->is_listed = arena_alloc_array(&index->arena, cluster->node_count, uint8_t);
    index->gpu_node = arena_alloc_array(&index->arena, cluster->gpu_count, node_id);
    for (node_id n = 0; n < cluster->node_count; n++)
        for (uint32_t i = 0; i < cluster_node_gpus(cluster, n); i++)
            index->gpu_node[cluster->nodes[n].first_gpu + i] = n;
    for (uint32_t t = 0; t < cluster->type_count; t++) {
        for (uint32_t n = 0; n <= cluster->types[t].gpu_count; n++)
            bits_init(&index->types[t].whole[n], &index->arena, cluster->node_count);
    }
    for (node_id n = 0; n < cluster->node_count; n++) {
        const struct node_type *type = cluster_node_type(cluster, n);
        struct gpu_free gpus[NODE_GPUS_MAX];
        for (uint32_t i = 0; i < type->gpu_count; i++)
            gpus[i] = type->layout_mask >> i & 1
                          ? (struct gpu_free){GPU_MILLI, true, gpu_layout_all(&type->layouts[i]), type->layouts[i]}
                          : (struct gpu_free){.milli = GPU_MILLI};
        node_index_list(index, n, gpus);
    }
    return index;
}

void node_index_free(struct node_index *index)
{
    if (index == NULL)
        return;
    arena_release(&index->arena);
    mem_free(index);
}

static struct bits *share_bucket(struct node_index *index, struct type_index *type, uint16_t milli)
{
    if (type->shared[milli] == NULL) {
        type->shared[milli] = arena_alloc_array(&index->arena, 1, struct bits);
        bits_init(type->shared[milli], &index->arena, index->cluster->gpu_count);
    }
    return type->shared[milli];
}

static void share_add(struct node_index *index, struct type_index *type, gpu_id gpu, uint16_t milli)
{
    if (milli == 0 || milli == GPU_MILLI)
        return;
    bits_add(share_bucket(index, type, milli), gpu);
    type->shared_any[milli >> 6] |= UINT64_C(1) << (milli & 63);
}

static void share_remove(struct type_index *type, gpu_id gpu, uint16_t milli)
{
    if (milli == 0 || milli == GPU_MILLI)
        return;
    bits_remove(type->shared[milli], gpu);
    if (type->shared[milli]->member_count == 0)
        type->shared_any[milli >> 6] &= ~(UINT64_C(1) << (milli & 63));
}

void node_index_change_whole(struct node_index *index, node_id node, uint16_t gpu_mask, uint32_t gpu_count,
                             bool is_free)
{
    const uint32_t before = index->free_count[node];
    const uint32_t after = is_free ? before + gpu_count : before - gpu_count;
    index->free_mask[node] ^= gpu_mask;
    index->free_count[node] = (uint8_t)after;
    if (!index->is_listed[node] || gpu_count == 0)
        return;
    struct bits *whole = index->types[index->cluster->nodes[node].type].whole;
    bits_remove(&whole[before], node);
    bits_add(&whole[after], node);
}

void node_index_change(struct node_index *index, node_id node, uint32_t gpu_index, uint16_t before, uint16_t after)
{
    if (before == after)
        return;
    const struct node *entry = &index->cluster->nodes[node];
    struct type_index *type = &index->types[entry->type];
    if (index->is_listed[node]) {
        share_remove(type, entry->first_gpu + gpu_index, before);
        share_add(index, type, entry->first_gpu + gpu_index, after);
    }
    uint16_t bit = (uint16_t)(1u << gpu_index);
    if (before == GPU_MILLI || after == GPU_MILLI)
        node_index_change_whole(index, node, bit, 1, after == GPU_MILLI);
}

enum { SLICE_MILLI = GPU_MILLI / MIG_SLICES };

static void mig_add(struct node_index *index, struct type_index *type, gpu_id gpu, const struct gpu_free *free)
{
    if (type->mig == NULL)
        type->mig = mig_index_new(index);
    for (uint32_t s = 0; s < MIG_SLICES; s++)
        if (free->starts >> s & 1)
            bits_add(&type->mig->open[free->layout.profile[s] - 1][free->milli / SLICE_MILLI], gpu);
}

static void mig_remove(struct type_index *type, gpu_id gpu, const struct gpu_free *free)
{
    for (uint32_t s = 0; s < MIG_SLICES; s++)
        if (free->starts >> s & 1)
            bits_remove(&type->mig->open[free->layout.profile[s] - 1][free->milli / SLICE_MILLI], gpu);
}

static void gpu_add(struct node_index *index, struct type_index *type, gpu_id gpu, const struct gpu_free *free)
{
    if (free->is_partitioned)
        mig_add(index, type, gpu, free);
    else
        share_add(index, type, gpu, free->milli);
}

static void gpu_remove(struct type_index *type, gpu_id gpu, const struct gpu_free *free)
{
    if (free->is_partitioned)
        mig_remove(type, gpu, free);
    else
        share_remove(type, gpu, free->milli);
}

static bool is_whole(const struct gpu_free *free)
{
    return free->milli == GPU_MILLI && !free->is_partitioned;
}

void node_index_change_mig(struct node_index *index, node_id node, uint32_t gpu_index, const struct gpu_free *before,
                           const struct gpu_free *after)
{
    const struct node *entry = &index->cluster->nodes[node];
    struct type_index *type = &index->types[entry->type];
    if (index->is_listed[node]) {
        gpu_remove(type, entry->first_gpu + gpu_index, before);
        gpu_add(index, type, entry->first_gpu + gpu_index, after);
    }
    if (is_whole(before) != is_whole(after))
        node_index_change_whole(index, node, (uint16_t)(1u << gpu_index), 1, is_whole(after));
}

void node_index_list(struct node_index *index, node_id node, const struct gpu_free *gpus)
{
    const struct node *entry = &index->cluster->nodes[node];
    const struct node_type *kind = &index->cluster->types[entry->type];
    struct type_index *type = &index->types[entry->type];
    if (index->is_listed[node])
        return;
    uint16_t mask = 0;
    for (uint32_t i = 0; i < kind->gpu_count; i++)
        if (is_whole(&gpus[i]))
            mask |= (uint16_t)(1u << i);
    index->free_mask[node] = mask;
    index->free_count[node] = (uint8_t)bits_count16(mask);
    for (uint32_t i = 0; i < kind->gpu_count; i++)
        gpu_add(index, type, entry->first_gpu + i, &gpus[i]);
    index->is_listed[node] = 1;
    bits_add(&type->whole[index->free_count[node]], node);
}

void node_index_unlist(struct node_index *index, node_id node, const struct gpu_free *gpus)
{
    if (!index->is_listed[node])
        return;
    const struct node *entry = &index->cluster->nodes[node];
    const struct node_type *kind = &index->cluster->types[entry->type];
    struct type_index *type = &index->types[entry->type];
    for (uint32_t i = 0; i < kind->gpu_count; i++)
        gpu_remove(type, entry->first_gpu + i, &gpus[i]);
    bits_remove(&type->whole[index->free_count[node]], node);
    index->is_listed[node] = 0;
}

uint32_t node_index_share(const struct type_index *type, uint32_t from)
{
    for (uint32_t word = from >> 6; word < SHARE_WORDS; word++) {
        uint64_t bits = type->shared_any[word];
        if (word == from >> 6)
            bits &= ~UINT64_C(0) << (from & 63);
        if (bits != 0)
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    return GPU_MILLI;
}
