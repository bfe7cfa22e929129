/* policies/placement/draw.c -- counts the nodes with room, and takes the one whose number was drawn. */
#include "policies/placement/draw.h"

#include <assert.h>

/* The GPUs of the node with room for the share or the instance; for whole GPUs those that are free and may be used. */
static uint16_t gpus_with_room(const struct search *search, node_id node, uint32_t share)
{
    const struct ledger *ledger = search->ledger;
    const struct request *request = search->request;
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    const gpu_id first = ledger->cluster->nodes[node].first_gpu;
    uint16_t out = 0;
    if (request->mig == 0 && share == 0)
        return ledger_usable(ledger, node, search->spot.allowed);
    for (uint32_t g = 0; g < type->gpu_count; g++) {
        const bool has_room = request->mig != 0
                                  ? ledger_mig_starts(ledger, node, g, (enum mig_profile_id)(request->mig - 1)) != 0
                                  : !ledger_has_layout(ledger, node, g) && ledger->gpus[first + g].free >= share &&
                                        ledger_gpu_admits(ledger, first + g, request);
        out |= (uint16_t)((unsigned)has_room << g);
    }
    return out & allowed_gpus(search->spot.allowed, node);
}

static uint32_t share_on(const struct search *search, node_id node)
{
    const struct cluster *cluster = search->ledger->cluster;
    return request_class_share_milli(search->request, &cluster->models[cluster_node_type(cluster, node)->model]);
}

bool draw_has_room(const struct search *search, node_id node)
{
    const struct ledger *ledger = search->ledger;
    const struct request *request = search->request;
    const struct node_cell *cell = &ledger->nodes[node];
    if (!ledger->index->is_listed[node] || cell->cpu_free < request->cpu_milli ||
        cell->memory_free < request->memory_mib || cell->tasks_free == 0 ||
        !request_takes_type(request, ledger->cluster, ledger->cluster->nodes[node].type) ||
        !ledger_node_admits(ledger, node, request, search->spot.allowed))
        return false;
    const uint32_t share = share_on(search, node);
    const bool asks_part = share != 0 || request->mig != 0;
    if (!asks_part && request->gpus == 0)
        return true;
    const uint16_t gpus = gpus_with_room(search, node, share);
    return asks_part ? gpus != 0
                     : request_class_members_in(request, cluster_node_type(ledger->cluster, node), gpus) > 0;
}

uint32_t draw_node(struct search *search, uint32_t count)
{
    search->spot.node = NODE_NONE;
    const uint32_t drawn = search->policy->draw(&search->spot, count);
    assert(drawn < count);
    return drawn;
}

void draw_take(struct search *search, node_id node)
{
    const struct request *request = search->request;
    const uint32_t share = share_on(search, node);
    search->best = (struct candidate){.node = node, .gpu_index = -1};
    if (request->mig == 0 && share == 0)
        return;
    uint16_t gpus = gpus_with_room(search, node, share);
    const unsigned count = bits_count16(gpus);
    search->spot.node = node;
    for (uint32_t skip = count > 1 ? search->policy->draw(&search->spot, count) : 0; skip > 0; skip--)
        gpus &= (uint16_t)(gpus - 1);
    assert(gpus != 0);
    search->best.gpu_index = __builtin_ctz(gpus);
    search->best.milli =
        request->mig == 0 ? share : mig_slices((enum mig_profile_id)(request->mig - 1)) * MIG_SLICE_MILLI;
}

/* The node of that number, from 0, among the nodes of the region with room; NODE_NONE: there are fewer, and *count is
 * how many. */
static node_id node_of_number(const struct search *search, uint32_t number, uint32_t *count)
{
    const struct region *region = &search->region;
    *count = 0;
    for (node_id n = region->first; n <= region->last; n++)
        if (region_contains(region, n) && draw_has_room(search, n) && (*count)++ == number)
            return n;
    return NODE_NONE;
}

bool draw_best(struct search *search)
{
    uint32_t count;
    node_of_number(search, UINT32_MAX, &count);
    if (count == 0)
        return false;
    draw_take(search, node_of_number(search, draw_node(search, count), &count));
    return true;
}
