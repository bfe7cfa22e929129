/* policies/placement/slices.h -- places members in slices of equal size, each slice inside one domain of a level.
 *
 * Members are not assigned to slices (struct job_group): every domain of the level holds a multiple of slice_members
 * members of the group.
 *
 * Laws
 *  - A slice goes to the domain with the least room that holds all members left; if there is none, to the domain with
 *    the most room; among equals to the lowest number.  So the slices are in the fewest domains, and the last of these
 *    is the fullest one that suffices.  That is best_fit of the policy's topology.domains; other ways deal the slices
 *    first (domain_shares.h).
 *  - A group alone in a region is placed if any placement of it exists.
 *  - If held members leave a slice incomplete (part of a gang was lost), it is completed first.
 *
 * Source: Kueue, topology-aware scheduling, podset slices (its best fit); Slurm, topology/block, --segment.
 * Cost: O(nodes of the region) to learn the rooms, then O(domains) a slice. */
#ifndef POLICIES_PLACEMENT_SLICES_H
#define POLICIES_PLACEMENT_SLICES_H

#include "policies/placement/placing.h"

/* The level of the group's slices.  The group has slices, and the cluster has that level. */
static inline const struct cluster_level *slices_level(const struct placing *placing, uint32_t group)
{
    return &placing->ledger->cluster->levels[placing->asked->request_class->groups[group].slice_level - 1];
}

/* By domain of the slices' level: how many members of the group the region has room for.  Counts whole slices, and the
 * members that an incomplete slice lacks if all of them fit.  In the scratch arena. */
uint32_t *slices_rooms(const struct placing *placing, uint32_t group, const struct region *region);

/* Place as many of the members left as fit in the region in whole slices.  Returns how many. */
uint32_t slices_place(struct placing *placing, uint16_t group, uint32_t left, const struct region *region);

/* Complete the incomplete slices of held members, as far as the members left suffice.  Returns how many were placed. */
uint32_t slices_mend(struct placing *placing, uint16_t group, uint32_t left, const struct region *region);

#endif
