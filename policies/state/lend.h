/* policies/state/lend.h -- a trial without the space of reservations: claims and the nodes that a drain keeps.
 *
 *   const size_t mark = lend_reservations(sched);
 *   ... place jobs ...
 *   lend_end(sched, mark);
 *
 * Law: after lend_end the ledger is as before.  The jobs that have the claims must not be placed in between.
 */
#ifndef POLICIES_STATE_LEND_H
#define POLICIES_STATE_LEND_H

#include "policies/state/sched_state.h"

static inline bool lend_is_any(const struct sched *sched)
{
    return sched->claims.count + sched->kept_nodes.count > 0;
}

/* O(claims + kept nodes). */
size_t lend_reservations(struct sched *sched);
void lend_end(struct sched *sched, size_t mark);
/* Would a job of the request class, which does not fit now, fit without the space of reservations?  One placement. */
bool lend_would_fit(struct sched *sched, const struct request_class *request_class);

#endif
