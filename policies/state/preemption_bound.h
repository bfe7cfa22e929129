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

struct preemption_bound {
    uint8_t *firm;     /* by gpu_id */
    uint8_t *room;     /* by node: GPUs without */
    uint32_t *by_room; /* nodes by type and room */
};

void preemption_bound_init(struct preemption_bound *preemption_bound, const struct cluster *cluster);
void preemption_bound_release(struct preemption_bound *preemption_bound);
/* Save or load (policies/util/archive.h). */
struct archive;
void preemption_bound_archive(struct archive *archive, struct preemption_bound *preemption_bound,
                              const struct cluster *cluster);

/* A job that is never a victim holds the piece (sign 1), or does no more (-1). */
void preemption_bound_change(struct preemption_bound *preemption_bound, const struct cluster *cluster,
                             const struct piece *piece, int sign);

/* False only if no eviction whatever could make room for the allocation step. */
bool preemption_bound_suffices(const struct preemption_bound *preemption_bound, const struct cluster *cluster,
                               const struct request_class *ask);

#endif
