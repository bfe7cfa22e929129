/* policies/placement/slices.h -- members in slices of equal size, each slice inside one domain of a level.
 *
 * Which member is of which slice is not said (struct job_group): in every domain of the level stands a multiple of
 * slice_members of the group's.
 *
 * Laws
 *  - Of the domains with room for a slice it goes to the one with the least room that holds all that are left, else to
 *    the one with the most; among equals to the lowest number.  So the slices are in the fewest domains, and the last
 *    of these is the fullest that will do. That is best_fit of the policy's topology.domains; the others deal them
 *    first (domain_shares.h).
 *  - A group alone in a region is placed if any placement of it exists.
 *  - Members that are there already and make no whole slices (a part of a gang was lost) are made whole first.
 *
 * Source: Kueue, topology-aware scheduling, podset slices (its best fit); Slurm, topology/block, --segment.
 * Cost: O(nodes of the region) to learn the rooms, then O(domains) a slice. */
#ifndef POLICIES_PLACEMENT_SLICES_H
#define POLICIES_PLACEMENT_SLICES_H

#include "policies/placement/domains.h"

/* The level of the group's slices; it has some, and the cluster has the level. */
static inline const struct cluster_level *slices_level(const struct placing *placing, uint32_t group)
{
    return &placing->ledger->cluster->levels[placing->request_class->groups[group].slice_level - 1];
}

/* By domain of their level, members of the group that the region has room for: whole slices, and what torn ones there
 * lack if there is room for it.  In the scratch arena. */
uint32_t *slices_rooms(const struct placing *placing, uint32_t group, const struct region *region);

/* Place as many of the members left as fit the region in whole slices; how many. */
uint32_t slices_place(struct placing *placing, uint16_t group, uint32_t left, const struct region *region);

/* Complete the slices that held members leave torn, as far as the members left go; how many were placed. */
uint32_t slices_mend(struct placing *placing, uint16_t group, uint32_t left, const struct region *region);

#endif
