/* policies/placement/prefer_warm.h -- a node that is warm for a job, in place of the best one: `warm_weight`.
 *
 * Law.  The placement policy has chosen a node for a member.  Each node where an object of the job is remembered
 * (policies/jobs/warm.h) and that has room for the member too is compared with it by
 *
 *    warm_weight x (bytes remembered there / bytes of all objects of the job)
 *      - 1000 x (difference of its free GPUs from those of the chosen node / GPUs of a node)
 *
 * in thousandths, where the first part is rounded down to a thousandth of the weight.  The highest takes the member;
 * among equals the chosen node, then the one with the higher score of the policy, then the lowest.  So with weight 1 a
 * node is only exchanged for one with as many free GPUs, and with weight 1000 a node that has everything is always as
 * good.  Weight 0, a job without objects, and a policy that draws nodes: nothing is compared.  A member that comes to a
 * node where the job has members already stays there.  Topology, tags and quotas confine the nodes first.
 *
 * Source: Kubernetes' score plug-in ImageLocality adds up the sizes of a pod's images that a node has, each times the
 * part of the nodes that have it, and scales from 23 MB to 1000 MB per container to 0..100
 * (pkg/scheduler/framework/plugins/imagelocality/image_locality.go).  Departures: the bytes count in proportion, since
 * weights are larger by far than 1000 MB, and without the part of the nodes, which the scheduler does not know.
 *
 * Cost: O(objects x WARM_NODES) nodes scored for a member; nothing if warm_weight is 0.
 */
#ifndef POLICIES_PLACEMENT_PREFER_WARM_H
#define POLICIES_PLACEMENT_PREFER_WARM_H

#include "policies/placement/search.h"

/* search->best: the node that the policy has chosen; may become another. */
void prefer_warm(const struct placement_request *asked, struct search *search);

#endif
