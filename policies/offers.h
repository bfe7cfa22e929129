/* policies/offers.h -- what is known of a node while victims are sought node by node (policies/offers.c), and left clean
 * between two searches.
 */
#ifndef POLICIES_OFFERS_H
#define POLICIES_OFFERS_H

#include <stdint.h>

#define COST_STALE INT64_C(-1)

struct offer_cost { /* of the victims: GPUs they hold in all, then what they lose */
    int64_t milli, loss_gpu_ns;
};

struct node_offers {        /* of a node; all zero but while victims are sought */
    uint32_t first;         /* of the links to who may leave: index + 1, or 0 */
    int64_t milli;          /* what those hold there */
    int64_t least_milli;    /* no offer takes fewer; INT64_MAX: there is none; COST_STALE */
    struct offer_cost cost; /* of the cheapest offer; COST_STALE */
};

#endif
