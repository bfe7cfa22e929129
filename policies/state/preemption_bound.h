/* policies/state/preemption_bound.h -- an upper bound of what nodes could hold if every job that may ever be evicted
 * left.
 *
 * A GPU that a job uses that is never evicted is lost to plans, and so is its node for jobs that need the whole node.
 * Rule: what such a job is leaving is lost too until it has left, so no job is evicted for a preemptor that also needs
 * it.  A preemptor that needs no victim may wait for it.  Cases: the last two of tests/cases/kai_preempt.json.
 * Law: unmovable[g] counts the holdings of such jobs on GPU g; by_room[type * (NODE_GPUS_MAX + 1) + n] counts the nodes
 * of that type with n GPUs without such a holding.
 * Cost: O(GPUs of the holding) per change; a query O(types * GPUs of a node).
 */
#ifndef POLICIES_STATE_PREEMPTION_BOUND_H
#define POLICIES_STATE_PREEMPTION_BOUND_H

#include "policies/jobs/request_class.h"
#include "policies/sched.h"

struct preemption_bound {
    uint16_t *unmovable; /* by gpu_id; as many as shares fit on a GPU */
    uint8_t *room;       /* by node: GPUs without such a holding */
    uint32_t *by_room;   /* nodes by type and room */
};

void preemption_bound_init(struct preemption_bound *preemption_bound, const struct cluster *cluster);
void preemption_bound_release(struct preemption_bound *preemption_bound);

/* A job that is never evicted takes the piece (sign 1), or leaves it (-1). */
void preemption_bound_change(struct preemption_bound *preemption_bound, const struct cluster *cluster,
                             const struct piece *piece, int sign);

/* False only if no set of evictions could make room for the allocation step. */
bool preemption_bound_suffices(const struct preemption_bound *preemption_bound, const struct cluster *cluster,
                               const struct request_class *ask);

#endif
