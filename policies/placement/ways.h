/* policies/placement/ways.h -- several ways to place a gang, and the one whose place scores best.
 *
 * A policy scores spots, one member after another, so it cannot see how far the members of a gang are from each other.
 * A policy with the hook `score_place` compares places of all members.
 *
 * Law.  The ways are, in this order: as the job asks; then, for each level of the cluster that is narrower than what
 * the job requires, from the narrowest to the widest, with that level preferred, and members dealt to its domains as
 * the policy's "topology" says, and evenly (domain_shares.h, `balanced`; not if every node is a domain).  The place
 * with the highest score is taken, among equals the first; a score of PLACE_BEST ends the search.  A job that cannot be
 * placed as it asks is not placed.
 *
 * Cost: a placement for each way, and one more if the best way was not the last.
 */
#ifndef POLICIES_PLACEMENT_WAYS_H
#define POLICIES_PLACEMENT_WAYS_H

#include "policies/placement/placing.h"

/* The GPUs of a member, of the smallest if they differ; 0: a member has a piece of a GPU, or none has a GPU. */
uint32_t ways_member_gpus(const struct request_class *request_class);

/* Does the place of this job's members matter to the policy?  The job declares communication, and its members that have
 * GPUs have whole ones, together more than one. */
bool ways_matter(const struct placement_request *asked);

/* Place all members in the best way.  False: the caller rolls back. */
bool ways_place(struct placing *placing);

#endif
