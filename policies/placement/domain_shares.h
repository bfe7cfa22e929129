/* policies/placement/domain_shares.h -- how many members each domain gets, if no single domain holds them all.
 *
 *   best_fit    not dealt: one domain after another, the emptiest first
 *   nested      not dealt: as best_fit, but all domains of a wider domain before those of the next (domains.h)
 *   least_free  one domain after another, the one with the least room first: empty domains stay empty, and members are
 *               far apart
 *   fewest      the fewest domains: those with the most room first, and last the fullest that holds the rest
 *   balanced    the fewest domains, as evenly as their room allows: the smallest share is as large as possible
 *   block       each domain is a base block; 2, 4, 8, ... blocks with aligned numbers form an aggregate.  Takes the
 *               smallest aggregate that holds all members; among these the one that needs the fewest blocks, then the
 *               fullest
 *
 * Law: pure; among equals the lowest number.  All members are dealt if there is room.
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
    uint32_t quota; /* members dealt to it, a multiple of step */
};

/* Deal `count` members, a multiple of step.  Domains that get members are moved to the front of `shares`, in the order
 * in which to fill them.  Returns their number.  If there is too little room, all of it is dealt.  how: a way for which
 * domain_shares_are_dealt. */
uint32_t domain_shares_deal(enum topology_domains how, struct domain_share *shares, uint32_t n, uint32_t count,
                            uint32_t step);

#endif
