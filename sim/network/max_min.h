/* sim/network/max_min.h -- max-min fair rates of flows on links.
 *
 * Law.  With capacities C, senders w and demands d the rates r are the only ones with
 *   - 0 <= r[i] <= d[i], and for each link the sum of w[i][l] r[i] is at most C[l];
 *   - each flow below its demand crosses a full link on which no other flow has a higher rate.
 * Found by progressive filling: all rates rise together until a flow has its demand or a link is full (Bertsekas and
 * Gallager, Data Networks, 1992, 6.5.2).
 *
 * It does not: allocate, or know what flows and links are.
 */
#ifndef SIM_NETWORK_MAX_MIN_H
#define SIM_NETWORK_MAX_MIN_H

#include <stdbool.h>
#include <stdint.h>

struct max_min_use {
    uint32_t link;
    double senders; /* above 0 */
};

struct max_min_flow {
    double demand;
    const struct max_min_use *uses;
    uint32_t use_count;
    double rate; /* out */
};

struct max_min_link {
    double capacity;
    double left;         /* out: what no flow uses; 0 on a full link */
    double senders;      /* scratch: of the flows without a final rate */
    double level;        /* scratch */
    uint32_t open_count; /* scratch: the flows without a final rate */
    bool is_full;        /* scratch */
};

/* O(rounds x (uses + links)), with at most a round for each flow. */
void max_min_solve(struct max_min_flow *flows, uint32_t flow_count, struct max_min_link *links, uint32_t link_count);

#endif
