/* sim/network/burst.h -- the rates of flows while they send.
 *
 * Law.  A flow sends a part of the time, and has its max-min fair rate (sim/network/max_min.h) on the mean.  While it
 * sends, it competes with the others for each link that it crosses, and they with it; they want their mean rates.  Its
 * level on the link is its max-min share there,
 *
 *      senders x level + sum over the other flows of senders x min(rate, level) = capacity
 *
 * and its burst the least of its levels.  So it is never below the mean rate, nor below capacity / all senders.
 *
 * It does not: allocate, or know what flows and links are.
 */
#ifndef SIM_NETWORK_BURST_H
#define SIM_NETWORK_BURST_H

#include "sim/network/max_min.h"

/* A flow among those of a link, the lowest rate first. */
struct burst_rank {
    double rate, sent, senders; /* sent, senders: of this flow and all before it */
};

/* The order of flows by rate. */
struct burst_order {
    double rate;
    uint32_t flow;
};

struct burst_link {
    struct burst_rank *ranks; /* in the caller's array of all ranks */
    uint32_t rank_count;
};

/* After max_min_solve() of the same flows and links.  Scratch: order has a place for each flow, ranks for each use,
 * burst_links for each link.  O(flows log flows + uses). */
void burst_rank_flows(const struct max_min_flow *flows, uint32_t flow_count, struct burst_order *order,
                      struct burst_rank *ranks, struct burst_link *burst_links, uint32_t link_count);

/* The burst, or `most` if that is less.  O(uses of the flow x log flows of a link). */
double burst_of(const struct max_min_flow *flow, const struct max_min_link *links, const struct burst_link *burst_links,
                double most);

#endif
