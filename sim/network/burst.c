/* Levels of flows on links; see sim/network/burst.h. */
#include "sim/network/burst.h"

#include <math.h>
#include <stdlib.h>

static int compare_rates(const void *a, const void *b)
{
    const struct burst_order *x = a, *y = b;
    if (x->rate < y->rate || x->rate > y->rate)
        return x->rate < y->rate ? -1 : 1;
    return x->flow < y->flow ? -1 : x->flow > y->flow;
}

/* Give each link its part of the array. */
static void divide_ranks(const struct max_min_flow *flows, uint32_t flow_count, struct burst_rank *ranks,
                         struct burst_link *burst_links, uint32_t link_count)
{
    for (uint32_t l = 0; l < link_count; l++)
        burst_links[l].rank_count = 0;
    for (uint32_t f = 0; f < flow_count; f++)
        for (uint32_t u = 0; u < flows[f].use_count; u++)
            burst_links[flows[f].uses[u].link].rank_count++;
    for (uint32_t l = 0; l < link_count; l++) {
        burst_links[l].ranks = ranks;
        ranks += burst_links[l].rank_count;
        burst_links[l].rank_count = 0;
    }
}

void burst_rank_flows(const struct max_min_flow *flows, uint32_t flow_count, struct burst_order *order,
                      struct burst_rank *ranks, struct burst_link *burst_links, uint32_t link_count)
{
    divide_ranks(flows, flow_count, ranks, burst_links, link_count);
    for (uint32_t f = 0; f < flow_count; f++)
        order[f] = (struct burst_order){flows[f].rate, f};
    if (flow_count > 1)
        qsort(order, flow_count, sizeof *order, compare_rates);
    for (uint32_t i = 0; i < flow_count; i++) {
        const struct max_min_flow *flow = &flows[order[i].flow];
        for (uint32_t u = 0; u < flow->use_count; u++) {
            struct burst_link *link = &burst_links[flow->uses[u].link];
            struct burst_rank rank = {.rate = flow->rate};
            if (link->rank_count > 0)
                rank = link->ranks[link->rank_count - 1];
            rank.rate = flow->rate;
            rank.sent += flow->uses[u].senders * flow->rate;
            rank.senders += flow->uses[u].senders;
            link->ranks[link->rank_count++] = rank;
        }
    }
}

/* What the link would carry if the flow had the rate `next`, that of the rank after this one, and no other more. */
static double load_at_next(const struct burst_rank *rank, double own, double senders, double all)
{
    return rank->sent - own + rank[1].rate * (senders + all - rank->senders);
}

/* The level of a flow of that rate.  If it is surely `enough`, something that is. */
static double level_of(const struct burst_link *link, const struct max_min_link *filled, double rate, double senders,
                       double enough)
{
    uint32_t low = 0, high = link->rank_count - 1;
    const double beside = rate + filled->left / senders; /* the level if all others keep their rates */
    if (beside >= enough || rate >= link->ranks[high].rate)
        return beside; /* on a full link, exactly its rate */
    const double own = senders * rate, all = link->ranks[high].senders;
    while (low < high) { /* the first rank whose next has a rate above the level; not below its own, which is less */
        const uint32_t middle = low + (high - low) / 2;
        const struct burst_rank *rank = &link->ranks[middle];
        if (rank[1].rate > rate && load_at_next(rank, own, senders, all) >= filled->capacity)
            high = middle;
        else
            low = middle + 1;
    }
    const struct burst_rank *rank = &link->ranks[low];
    if (low == link->rank_count - 1)
        return beside;
    return fmax(rate, (filled->capacity - (rank->sent - own)) / (senders + all - rank->senders));
}

double burst_of(const struct max_min_flow *flow, const struct max_min_link *links, const struct burst_link *burst_links,
                double most)
{
    for (uint32_t u = 0; u < flow->use_count; u++) {
        const uint32_t link = flow->uses[u].link;
        most = fmin(most, level_of(&burst_links[link], &links[link], flow->rate, flow->uses[u].senders, most));
    }
    return most;
}
