/* policies/eviction/plan_fit.h -- does the preemptor of a plan fit, with the units gone that are taken so far?
 *
 * Words.  Where the quota policy confines the preemptor to GPUs that its queue keeps (quota_policy.confines), the
 * nodes of these are its home.
 *
 * Law: whoever found no place, and whose members are alike and mind neither jobs elsewhere nor domains, finds none
 * before something changes at home.
 *
 *   struct misfit misfit = {.keeper = QUEUE_NONE};
 *   do plan_take(sched, ...); while (!plan_suffices_by_now(sched, preemptor, &misfit));
 *
 * Cost: a placement; by now, where nothing changed at home, O(changes).
 */
#ifndef POLICIES_EVICTION_PLAN_FIT_H
#define POLICIES_EVICTION_PLAN_FIT_H

#include "policies/state/sched_state.h"

struct misfit {       /* the preemptor found no place */
    queue_id keeper;  /* of the home where it did not; QUEUE_NONE: it was not asked, or more matters than its home */
    uint64_t changes; /* of the ledger, so far known not to matter */
};

/* Does it fit, within the limits of its queue and those above?  plan.pieces: where.  The ledger is as before. */
bool plan_suffices(struct sched *sched, uint32_t preemptor);

/* The same while victims are taken one after another; what is known of it is kept in `misfit`. */
bool plan_suffices_by_now(struct sched *sched, uint32_t preemptor, struct misfit *misfit);

/* False only if the preemptor has no room at home even when all have left it who may ever go.  O(nodes of the home). */
bool plan_home_suffices(struct sched *sched, uint32_t preemptor);

#endif
