/* policies/state/preemption_bound.h -- what nodes could hold if everybody who may ever be evicted left them.
 *
 * A GPU on which a job sits that is never a victim is lost to plans, and with it the nodes that would be needed
 * whole.  Law: firm[g] counts the holdings of such jobs on GPU g; by_room[type * (NODE_GPUS_MAX + 1) + n] the nodes of
 * that type with n GPUs without one.  Cost: O(GPUs of the holding) per change; a question O(types * GPUs of a node).
 */
#ifndef POLICIES_STATE_PREEMPTION_BOUND_H
#define POLICIES_STATE_PREEMPTION_BOUND_H

#include "policies/jobs/request_class.h"
#include "policies/sched.h"

struct potential {
    uint8_t *firm;     /* by gpu_id */
    uint8_t *room;     /* by node: GPUs without */
    uint32_t *by_room; /* nodes by type and room */
};

void potential_init(struct potential *potential, const struct cluster *cluster);
void potential_release(struct potential *potential);
/* Save or load (policies/util/archive.h). */
struct archive;
void potential_archive(struct archive *archive, struct potential *potential,
                       const struct cluster *cluster);

/* A job that is never a victim holds the piece (sign 1), or does no more (-1). */
void potential_change(struct potential *potential, const struct cluster *cluster,
                      const struct piece *piece, int sign);

/* False only if no eviction whatever could make room for the chunk. */
bool potential_suffices(const struct potential *potential, const struct cluster *cluster,
                        const struct shape *ask);

#endif
