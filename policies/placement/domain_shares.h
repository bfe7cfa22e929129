/* policies/placement/domain_shares.h -- how many members go to which domain, where no domain holds them all.
 *
 *   best_fit    not dealt: one domain after another, the emptiest first
 *   nested      not dealt: as best_fit, but all domains of a wider domain before those of the next (domains.h)
 *   least_free  one after another, the one with the least room first: whole domains stay whole, members come far apart
 *   fewest      the fewest domains: the roomiest first, the last of them the fullest that holds the rest
 *   balanced    over the fewest domains, as evenly as their room allows: the smallest share is as large as can be
 *   block       domains in the order of their numbers are base blocks, and 2, 4, 8, ... of them, aligned, aggregates:
 *               into the
 *               smallest aggregates that hold all, of these into the one that needs the fewest blocks, then the fullest
 *
 * Law: pure; among equals the lowest number.  What is dealt is all, if there is room.
 * Source: Kueue, topology-aware scheduling (BestFit, LeastFreeCapacity, TASBalancedPlacement); Slurm, topology/block.
 * Departure from Kueue: `balanced` looks at one level.
 * Cost: O(n^2) for n domains. */
#ifndef POLICIES_PLACEMENT_DOMAIN_SHARES_H
#define POLICIES_PLACEMENT_DOMAIN_SHARES_H

#include <stdbool.h>
#include <stdint.h>

enum topology_domains {
    DOMAINS_BEST_FIT,
    DOMAINS_LEAST_FREE,
    DOMAINS_BALANCED,
    DOMAINS_FEWEST,
    DOMAINS_BLOCK,
    DOMAINS_NESTED
};

static inline bool domain_shares_are_dealt(enum topology_domains how)
{
    return how != DOMAINS_BEST_FIT && how != DOMAINS_NESTED;
}

struct domain_share {
    uint32_t id;
    uint32_t room;  /* members, a multiple of step */
    uint32_t quota; /* members dealt to it, likewise */
};

/* Deal `count` members, a multiple of step, and put those domains that get some first, in the order in which they are
 * to be filled; how many these are.  Where there is too little room all of it is dealt.  how: one that deals. */
uint32_t domain_shares_deal(enum topology_domains how, struct domain_share *shares, uint32_t n, uint32_t count,
                            uint32_t step);

#endif
