/* policies/eviction/headroom_refill.h -- space that the headroom lacks is freed by evictions. */
#ifndef POLICIES_EVICTION_HEADROOM_REFILL_H
#define POLICIES_EVICTION_HEADROOM_REFILL_H

#include "policies/state/sched_state.h"

/* Free what the headroom lacks.  True if a job was evicted. */
bool headroom_refill(struct sched *sched);

#endif
