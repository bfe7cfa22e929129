/* sim/network/network.h -- the jobs on the links of the fabric, and the bandwidth that they leave each other.
 *
 * Words.  A flow is the traffic of a job.  Its rates are bytes per second of one of its GPUs, in one direction; on a
 * link it sends with `senders` GPUs at once.  Its demand is its mean rate when it is alone; its peak is the most that
 * it can get alone.
 *
 * Law.
 *  - Mean rates are max-min fair (sim/network/max_min.h): no flow gets more than its demand, no link carries more than
 *    its capacity, and a flow below its demand crosses a full link on which no other flow has a higher rate.
 *  - A job does not send all the time.  Its burst is the rate that it has while it sends.  On each link that it crosses
 *    it competes with the other flows, which demand their mean rates, and gets its max-min share of the capacity.  The
 *    burst is the least of these shares, and at most its peak (sim/network/burst.h).  A job that is alone has its peak.
 *    Beside flows that send a fifth of the time it loses to them a fifth of their rate.  On a full link it has its
 *    max-min share, also if it seldom sends.
 *  - The rates depend on the set of flows and their slots, not on the order of joins and leaves.  (The slots decide the
 *    order of additions, so they matter in the last bits.)  A change touches only flows that share links with it,
 *    directly or through others.
 *
 *   network_join(network, slot, &flow);
 *   const uint32_t count = network_settle(network, &changed);
 *   for (uint32_t i = 0; i < count; i++)
 *       network_burst(network, changed[i])
 *
 * It does not model: ECMP collisions, congestion control, the phases of jobs against each other; see docs/network.md.
 */
#ifndef SIM_NETWORK_NETWORK_H
#define SIM_NETWORK_NETWORK_H

#include "topologies/gang_place.h"

struct network;

/* Links are numbered from 0; bytes_per_s: their capacity in one direction, above 0; copied. */
struct network *network_new(const double *bytes_per_s, uint32_t link_count);
void network_free(struct network *network);

struct flow {
    double demand, peak; /* above 0; demand at most peak, but for rounding */
    const struct fabric_use *uses;
    uint32_t use_count; /* 1 and up */
};

/* A slot holds one flow at a time.  The uses are copied. */
void network_join(struct network *network, uint32_t slot, const struct flow *flow);
void network_leave(struct network *network, uint32_t slot);
bool network_has(const struct network *network, uint32_t slot);

/* Solve what joins and leaves since the last call touch.  Returns the number of flows whose burst is another now, in
 * the order of their slots, new ones included; *changed is borrowed until the next call. */
uint32_t network_settle(struct network *network, const uint32_t **changed);

double network_burst(const struct network *network, uint32_t slot); /* of a flow that is settled */
double network_mean(const struct network *network, uint32_t slot);

/* How many flows were solved so far: each settling counts those of the components that it touched. */
uint64_t network_solved(const struct network *network);

#endif
