/* Flows on links; see sim/network/network.h.
 *
 * Joins and leaves mark the links that they touch.  Settling walks from these links to all flows that share links,
 * directly or through others, and solves each such component by itself, its flows in the order of their slots. */
#include "sim/network/network.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/network/burst.h"

#define ROUNDING 1e-12 /* a rate that is so close to the peak is the peak */

struct flow_cell {
    double demand, peak, mean, burst;
    struct max_min_use *uses; /* owned; of the slot's earlier flow while there is none */
    size_t use_capacity;
    uint32_t use_count; /* 0: the slot has no flow */
    bool is_new;        /* it was not settled yet */
    bool is_found;      /* in the component that is being solved */
};

struct link_cell {
    double bytes_per_s;
    uint32_t *slots; /* of the flows that cross it, in no order */
    size_t slot_capacity;
    uint32_t slot_count;
    uint32_t number; /* in the component that is being solved */
    bool is_touched; /* by a join or leave since the last settling */
    bool is_found;
};

struct network {
    struct link_cell *links;
    uint32_t link_count;
    struct flow_cell *flows; /* by slot */
    size_t flow_capacity;
    uint32_t *touched; /* links, in the order in which they were touched */
    uint32_t touched_count;
    uint32_t *found_links, *found_slots; /* of the component */
    size_t found_slot_capacity;
    uint32_t found_link_count, found_slot_count;
    uint32_t *changed;
    size_t changed_capacity;
    uint32_t changed_count;
    uint64_t solved;                   /* flows, in all settlings */
    struct max_min_flow *solver_flows; /* of the component, by its slots */
    size_t solver_flow_capacity;
    struct max_min_use *solver_uses;
    size_t solver_use_capacity;
    struct max_min_link *solver_links;
    struct burst_order *burst_order;
    size_t burst_order_capacity;
    struct burst_rank *burst_ranks;
    size_t burst_rank_capacity;
    struct burst_link *burst_links;
};

struct network *network_new(const double *bytes_per_s, uint32_t link_count)
{
    struct network *network = mem_zalloc(1, sizeof *network);
    network->link_count = link_count;
    network->links = mem_zalloc(link_count + 1u, sizeof *network->links);
    network->touched = mem_zalloc(link_count + 1u, sizeof *network->touched);
    network->found_links = mem_zalloc(link_count + 1u, sizeof *network->found_links);
    network->solver_links = mem_zalloc(link_count + 1u, sizeof *network->solver_links);
    network->burst_links = mem_zalloc(link_count + 1u, sizeof *network->burst_links);
    for (uint32_t l = 0; l < link_count; l++)
        network->links[l].bytes_per_s = bytes_per_s[l];
    return network;
}

void network_free(struct network *network)
{
    if (network == NULL)
        return;
    for (uint32_t l = 0; l < network->link_count; l++)
        mem_free(network->links[l].slots);
    for (size_t f = 0; f < network->flow_capacity; f++)
        mem_free(network->flows[f].uses);
    mem_free(network->links);
    mem_free(network->flows);
    mem_free(network->touched);
    mem_free(network->found_links);
    mem_free(network->found_slots);
    mem_free(network->changed);
    mem_free(network->solver_flows);
    mem_free(network->solver_uses);
    mem_free(network->solver_links);
    mem_free(network->burst_order);
    mem_free(network->burst_ranks);
    mem_free(network->burst_links);
    mem_free(network);
}

/* ---- Flows come and go ---- */

static void touch(struct network *network, uint32_t link)
{
    if (network->links[link].is_touched)
        return;
    network->links[link].is_touched = true;
    network->touched[network->touched_count++] = link;
}

void network_join(struct network *network, uint32_t slot, const struct flow *flow)
{
    assert(flow->use_count > 0 && flow->demand > 0 && flow->demand * (1 - ROUNDING) <= flow->peak);
    assert(!network_has(network, slot));
    MEM_GROW(network->flows, network->flow_capacity, (size_t)slot + 1);
    struct flow_cell *cell = &network->flows[slot];
    MEM_GROW(cell->uses, cell->use_capacity, (size_t)flow->use_count);
    cell->demand = fmin(flow->demand, flow->peak);
    cell->peak = flow->peak;
    cell->use_count = flow->use_count;
    cell->is_new = true;
    for (uint32_t u = 0; u < flow->use_count; u++) {
        assert(flow->uses[u].link < network->link_count && flow->uses[u].senders > 0);
        struct link_cell *link = &network->links[flow->uses[u].link];
        cell->uses[u] = (struct max_min_use){flow->uses[u].link, flow->uses[u].senders};
        MEM_GROW(link->slots, link->slot_capacity, (size_t)link->slot_count + 1);
        link->slots[link->slot_count++] = slot;
        touch(network, flow->uses[u].link);
    }
}

void network_leave(struct network *network, uint32_t slot)
{
    assert(network_has(network, slot));
    struct flow_cell *cell = &network->flows[slot];
    for (uint32_t u = 0; u < cell->use_count; u++) {
        struct link_cell *link = &network->links[cell->uses[u].link];
        uint32_t at = 0;
        while (link->slots[at] != slot)
            at++;
        link->slots[at] = link->slots[--link->slot_count];
        touch(network, cell->uses[u].link);
    }
    cell->use_count = 0;
}

bool network_has(const struct network *network, uint32_t slot)
{
    return slot < network->flow_capacity && network->flows[slot].use_count > 0;
}

double network_burst(const struct network *network, uint32_t slot)
{
    assert(network_has(network, slot) && !network->flows[slot].is_new);
    return network->flows[slot].burst;
}

double network_mean(const struct network *network, uint32_t slot)
{
    assert(network_has(network, slot) && !network->flows[slot].is_new);
    return network->flows[slot].mean;
}

uint64_t network_solved(const struct network *network)
{
    return network->solved;
}

/* ---- A component ---- */

static int compare_slots(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void find_link(struct network *network, uint32_t link)
{
    struct link_cell *cell = &network->links[link];
    if (cell->is_found)
        return;
    cell->is_found = true;
    network->found_links[network->found_link_count++] = link;
}

static void find_flow(struct network *network, uint32_t slot)
{
    struct flow_cell *flow = &network->flows[slot];
    if (flow->is_found)
        return;
    flow->is_found = true;
    MEM_GROW(network->found_slots, network->found_slot_capacity, (size_t)network->found_slot_count + 1);
    network->found_slots[network->found_slot_count++] = slot;
    for (uint32_t u = 0; u < flow->use_count; u++)
        find_link(network, flow->uses[u].link);
}

/* Find all links and flows that are connected with the link.  Flows are then in the order of their slots, because the
 * solver adds in it; the order of links does not matter to the solver. */
static void find_component(struct network *network, uint32_t link)
{
    network->found_link_count = network->found_slot_count = 0;
    find_link(network, link);
    for (uint32_t l = 0; l < network->found_link_count; l++) {
        const struct link_cell *cell = &network->links[network->found_links[l]];
        for (uint32_t s = 0; s < cell->slot_count; s++)
            find_flow(network, cell->slots[s]);
    }
    network->solved += network->found_slot_count;
    if (network->found_slot_count > 1)
        qsort(network->found_slots, network->found_slot_count, sizeof *network->found_slots, compare_slots);
}

/* Copy the component for the solver, which numbers its links from 0. */
static void copy_component(struct network *network)
{
    size_t use_count = 0;
    for (uint32_t l = 0; l < network->found_link_count; l++) {
        struct link_cell *link = &network->links[network->found_links[l]];
        link->number = l;
        network->solver_links[l] = (struct max_min_link){.capacity = link->bytes_per_s};
        use_count += link->slot_count;
    }
    MEM_GROW(network->solver_flows, network->solver_flow_capacity, (size_t)network->found_slot_count);
    MEM_GROW(network->solver_uses, network->solver_use_capacity, use_count);
    MEM_GROW(network->burst_order, network->burst_order_capacity, (size_t)network->found_slot_count);
    MEM_GROW(network->burst_ranks, network->burst_rank_capacity, use_count);
    struct max_min_use *uses = network->solver_uses;
    for (uint32_t f = 0; f < network->found_slot_count; f++) {
        const struct flow_cell *flow = &network->flows[network->found_slots[f]];
        network->solver_flows[f] =
            (struct max_min_flow){.demand = flow->demand, .uses = uses, .use_count = flow->use_count};
        for (uint32_t u = 0; u < flow->use_count; u++)
            *uses++ = (struct max_min_use){network->links[flow->uses[u].link].number, flow->uses[u].senders};
    }
}

/* Rounding must not take a flow that is alone below its peak: it would then run slower than the same job on a network
 * that is not shared. */
static void solve_component(struct network *network)
{
    copy_component(network);
    max_min_solve(network->solver_flows, network->found_slot_count, network->solver_links, network->found_link_count);
    burst_rank_flows(network->solver_flows, network->found_slot_count, network->burst_order, network->burst_ranks,
                     network->burst_links, network->found_link_count);
    for (uint32_t f = 0; f < network->found_slot_count; f++) {
        struct flow_cell *flow = &network->flows[network->found_slots[f]];
        const double least =
            burst_of(&network->solver_flows[f], network->solver_links, network->burst_links, flow->peak);
        const double burst = least < flow->peak * (1 - ROUNDING) ? least : flow->peak;
        if (flow->is_new || burst != flow->burst) {
            MEM_GROW(network->changed, network->changed_capacity, (size_t)network->changed_count + 1);
            network->changed[network->changed_count++] = network->found_slots[f];
        }
        flow->burst = burst;
        flow->mean = network->solver_flows[f].rate;
        flow->is_new = flow->is_found = false;
    }
    for (uint32_t l = 0; l < network->found_link_count; l++)
        network->links[network->found_links[l]].is_touched = network->links[network->found_links[l]].is_found = false;
}

uint32_t network_settle(struct network *network, const uint32_t **changed)
{
    network->changed_count = 0;
    for (uint32_t t = 0; t < network->touched_count; t++) {
        if (!network->links[network->touched[t]].is_touched)
            continue; /* in the component of one before */
        find_component(network, network->touched[t]);
        solve_component(network);
    }
    network->touched_count = 0;
    if (network->changed_count > 1)
        qsort(network->changed, network->changed_count, sizeof *network->changed, compare_slots);
    *changed = network->changed;
    return network->changed_count;
}
