#include "policies/placement/placement.h"

#include <assert.h>

/* The best spot found so far for one member. */
struct candidate {
    int64_t score;
    node_id node;      /* NODE_NONE: none yet */
    int32_t gpu_index; /* of the GPU a share is taken from; -1: whole GPUs, or none */
    uint32_t share;    /* milli; 0: no share */
};

struct search {
    const struct placement_policy *policy;
    struct ledger *ledger;
    const struct request *request;
    struct candidate best;
};

static bool has_cpu_and_memory(const struct search *search, node_id node)
{
    const struct node_cell *cell = &search->ledger->nodes[node];
    return cell->cpu_free >= search->request->cpu_milli &&
           cell->memory_free >= search->request->memory_mib;
}

/* Among equal scores the lowest node wins, then the lowest GPU. */
static void offer(struct search *search, int64_t score, node_id node, int32_t gpu_index,
                  uint32_t share)
{
    struct candidate *best = &search->best;
    if (best->node != NODE_NONE &&
        (score < best->score ||
         (score == best->score &&
          (node > best->node || (node == best->node && gpu_index >= best->gpu_index)))))
        return;
    *best = (struct candidate){score, node, gpu_index, share};
}

/* A spot cannot win any more: its score is lower, or equal and its first node is behind. */
static bool cannot_win(const struct search *search, int64_t score, node_id first)
{
    const struct candidate *best = &search->best;
    return best->node != NODE_NONE &&
           (score < best->score || (score == best->score && first > best->node));
}

static void search_nodes(struct search *search, uint32_t type_id, const struct type_index *index,
                         uint32_t free, uint32_t share)
{
    const struct bits *nodes = &index->whole[free];
    node_id node = bits_next(nodes, 0);
    if (node == BITS_NONE)
        return;
    struct spot spot = {.type = type_id,
                        .node_free = (int32_t)free,
                        .gpu_left = GPU_MILLI,
                        .gpus = search->request->gpus,
                        .milli = (int32_t)share};
    int64_t score = search->policy->score(&spot);
    for (; node != BITS_NONE && !cannot_win(search, score, node); node = bits_next(nodes, node + 1))
        if (has_cpu_and_memory(search, node)) {
            int32_t gpu = share != 0 ? __builtin_ctz(search->ledger->index->free_mask[node]) : -1;
            offer(search, score, node, gpu, share);
            return;
        }
}

static void search_shared(struct search *search, uint32_t type_id, const struct type_index *index,
                          uint32_t share)
{
    for (uint32_t left = node_index_share(index, share); left < GPU_MILLI;
         left = node_index_share(index, left + 1)) {
        struct spot spot = {
            .type = type_id, .node_free = -1, .gpu_left = (int32_t)left, .milli = (int32_t)share};
        int64_t score = search->policy->score(&spot);
        const struct bits *gpus = index->shared[left];
        for (gpu_id gpu = bits_next(gpus, 0); gpu != BITS_NONE; gpu = bits_next(gpus, gpu + 1)) {
            node_id node = search->ledger->index->gpu_node[gpu];
            if (cannot_win(search, score, node))
                break;
            if (!has_cpu_and_memory(search, node))
                continue;
            gpu_id first = search->ledger->cluster->nodes[node].first_gpu;
            offer(search, score, node, (int32_t)(gpu - first), share);
            break;
        }
    }
}

static void search_type(struct search *search, uint32_t type_id)
{
    const struct cluster *cluster = search->ledger->cluster;
    const struct node_type *type = &cluster->types[type_id];
    const struct type_index *index = &search->ledger->index->types[type_id];
    const struct request *request = search->request;
    uint32_t share = shape_share_milli(request, &cluster->models[type->model]);
    bool needs_gpu = request->gpus != 0 || share != 0;
    if (needs_gpu && request->gpu_models != 0 && !(request->gpu_models >> type->model & 1))
        return;
    if (share > GPU_MILLI)
        return;
    if (share != 0 && share < GPU_MILLI)
        search_shared(search, type_id, index, share);
    uint32_t least = request->gpus != 0 ? request->gpus : share != 0 ? 1 : 0;
    for (uint32_t free = least; free <= type->gpu_count; free++)
        search_nodes(search, type_id, index, free, share);
}

static uint16_t lowest_bits(uint16_t mask, uint32_t count)
{
    uint16_t out = 0;
    for (; count > 0 && mask != 0; count--) {
        out |= (uint16_t)(mask & -mask);
        mask &= (uint16_t)(mask - 1);
    }
    return out;
}

static void append(struct piece_list *out, struct piece piece)
{
    if (out->count > 0) {
        struct piece *last = &out->pieces[out->count - 1];
        if (last->node == piece.node && last->group == piece.group &&
            piece.gpu_milli == GPU_MILLI && last->gpu_milli == GPU_MILLI &&
            last->member_count < UINT16_MAX) {
            last->gpu_mask |= piece.gpu_mask;
            last->member_count++;
            return;
        }
    }
    MEM_GROW(out->pieces, out->capacity, out->count + 1);
    out->pieces[out->count++] = piece;
}

static bool place_member(struct search *search, uint16_t group, uint32_t owner,
                         struct piece_list *out)
{
    search->best.node = NODE_NONE;
    for (uint32_t t = 0; t < search->ledger->cluster->type_count; t++)
        search_type(search, t);
    const struct candidate *best = &search->best;
    if (best->node == NODE_NONE)
        return false;
    uint16_t free = search->ledger->index->free_mask[best->node];
    struct piece piece = {
        .node = best->node, .group = group, .member_count = 1, .gpu_milli = GPU_MILLI};
    if (search->request->gpus != 0)
        piece.gpu_mask = lowest_bits(free, search->request->gpus);
    else if (best->gpu_index >= 0)
        piece.gpu_mask = (uint16_t)(1u << best->gpu_index);
    if (best->share != 0)
        piece.gpu_milli = (uint16_t)best->share;
    struct space space = {.node = piece.node,
                          .gpu_mask = piece.gpu_mask,
                          .gpu_milli = piece.gpu_milli,
                          .cpu_milli = search->request->cpu_milli,
                          .memory_mib = search->request->memory_mib,
                          .owner = owner};
    ledger_take(search->ledger, &space);
    append(out, piece);
    return true;
}

/* An upper bound that costs a few counts per type: members of a group the free whole GPUs could hold. */
static bool may_fit(const struct ledger *ledger, const struct job_group *group)
{
    if (group->request.gpus == 0)
        return group->request.mig == 0;
    uint64_t room = 0;
    for (uint32_t t = 0; t < ledger->cluster->type_count; t++)
        for (uint32_t n = group->request.gpus; n <= ledger->cluster->types[t].gpu_count; n++) {
            room +=
                (uint64_t)ledger->index->types[t].whole[n].member_count * (n / group->request.gpus);
            if (room >= group->count)
                return true;
        }
    return false;
}

bool placement_place(const struct placement_policy *policy, struct ledger *ledger,
                     const struct shape *shape, uint32_t owner, struct piece_list *out)
{
    out->count = 0;
    for (uint32_t g = 0; g < shape->group_count; g++)
        if (!may_fit(ledger, &shape->groups[g]))
            return false;
    for (uint32_t i = 0; i < shape->group_count; i++) {
        uint16_t g = shape->order[i];
        struct search search = {
            .policy = policy, .ledger = ledger, .request = &shape->groups[g].request};
        for (uint32_t m = 0; m < shape->groups[g].count; m++)
            if (!place_member(&search, g, owner, out))
                return false;
    }
    return true;
}

struct space placement_space(const struct shape *shape, const struct piece *piece, uint32_t owner)
{
    const struct request *request = &shape->groups[piece->group].request;
    return (struct space){.node = piece->node,
                          .gpu_mask = piece->gpu_mask,
                          .gpu_milli = piece->gpu_milli,
                          .cpu_milli = request->cpu_milli * piece->member_count,
                          .memory_mib = request->memory_mib * piece->member_count,
                          .owner = owner};
}
