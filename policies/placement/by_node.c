/* The best spot, node after node; see policies/placement/by_node.h. */
#include "policies/placement/by_node.h"

static void forget(struct by_node *memory)
{
    while (memory->count > 0)
        mem_free(memory->kinds[--memory->count].of);
}

/* What is remembered for such a member; of too many kinds of members all are forgotten. */
static struct node_offer *offers_for(struct by_node *memory, const struct search *search)
{
    const struct ledger *ledger = search->ledger;
    if (memory->ledger != ledger || memory->typical_version != ledger->typical_version)
        forget(memory);
    memory->ledger = ledger;
    memory->typical_version = ledger->typical_version;
    for (uint32_t i = 0; i < memory->count; i++) {
        const uint32_t k = (memory->last + i) % memory->count;
        if (memory->kinds[k].policy != search->policy ||
            !request_is_same(&memory->kinds[k].request, search->request))
            continue;
        memory->last = k;
        return memory->kinds[k].of;
    }
    if (memory->count == BY_NODE_KINDS)
        forget(memory);
    struct node_offers *kind = &memory->kinds[memory->count];
    *kind =
        (struct node_offers){search->policy, *search->request,
                             mem_zalloc(ledger->cluster->node_count, sizeof(struct node_offer))};
    memory->last = memory->count++;
    return kind->of;
}

static void offer(struct node_offer *best, int64_t score, int32_t gpu_index, uint32_t milli)
{
    if (score <= best->score)
        return;
    best->score = score;
    best->gpu_index = (int16_t)gpu_index;
    best->milli = (uint16_t)milli;
}

/* A share of each GPU that others use in part, or of the first that is free. */
static void offer_shares(struct search *search, node_id node, uint32_t share,
                         struct node_offer *best)
{
    const struct ledger *ledger = search->ledger;
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    const gpu_id first = ledger->cluster->nodes[node].first_gpu;
    const uint16_t free = ledger->index->free_mask[node];
    search->spot.milli = (int32_t)share;
    for (uint32_t g = 0; g < type->gpu_count; g++) {
        const bool is_free = free >> g & 1;
        if ((type->layout_mask >> g & 1) || ledger->gpus[first + g].free < share ||
            (is_free && (free & ((1u << g) - 1)) != 0))
            continue;
        search->spot.node_free = is_free ? ledger->index->free_count[node] : -1;
        search->spot.gpu_left = ledger->gpus[first + g].free;
        offer(best, search->policy->score(&search->spot), (int32_t)g, share);
    }
}

/* The best that the node has for such a member as it is now. */
static struct node_offer look_at(struct search *search, node_id node)
{
    const struct ledger *ledger = search->ledger;
    const struct cluster *cluster = ledger->cluster;
    const struct node_cell *cell = &ledger->nodes[node];
    const struct request *request = search->request;
    const struct node_type *type = cluster_node_type(cluster, node);
    const uint32_t share = shape_share_milli(request, &cluster->models[type->model]);
    struct node_offer best = {.score = SPOT_NEVER, .seen = ledger->node_version[node] + 1};
    const bool asks_gpu = request->gpus != 0 || share != 0;
    if (!ledger->index->is_listed[node] || cell->cpu_free < request->cpu_milli ||
        cell->memory_free < request->memory_mib || cell->tasks_free == 0 || share > GPU_MILLI ||
        ledger->index->free_count[node] < request->gpus ||
        (asks_gpu && request->gpu_models != 0 && !(request->gpu_models >> type->model & 1)))
        return best;
    search->spot.node = node;
    search->spot.type = cluster->nodes[node].type;
    search->spot.node_free = ledger->index->free_count[node];
    search->spot.gpu_left = GPU_MILLI;
    search->spot.milli = 0;
    if (share != 0)
        offer_shares(search, node, share, &best);
    else
        offer(&best, search->policy->score(&search->spot), -1, 0);
    return best;
}

bool by_node_best(struct by_node *memory, struct search *search)
{
    const struct ledger *ledger = search->ledger;
    struct node_offer *offers = offers_for(memory, search);
    struct candidate *best = &search->best;
    *best = (struct candidate){.score = SPOT_NEVER, .node = NODE_NONE, .gpu_index = -1};
    for (node_id n = search->region.first; n <= search->region.last; n++) {
        struct node_offer *offer = &offers[n];
        if (!region_contains(&search->region, n))
            continue;
        if (offer->seen != ledger->node_version[n] + 1)
            *offer = look_at(search, n);
        if (offer->score > best->score)
            *best = (struct candidate){offer->score, n, offer->gpu_index, offer->milli};
    }
    return best->node != NODE_NONE;
}

void by_node_release(struct by_node *memory)
{
    forget(memory);
}
