/* policies/state/listeners.h -- the state of plug-ins' policies in a scheduler, and the events of jobs that they
 * receive. */
#ifndef POLICIES_STATE_LISTENERS_H
#define POLICIES_STATE_LISTENERS_H

#include "policies/state/sched_state.h"

/* The state of plug-ins' policies, at the place that the policy gives. */
void listeners_init(struct sched *sched);
/* Send the event to the plug-ins that listen.  event: enum plugin_event. */
void listeners_tell(struct sched *sched, uint32_t slot, int event);
static inline void sched_tell_plugins(struct sched *sched, uint32_t slot, int event)
{
    if (sched->own.all.listener_count > 0)
        listeners_tell(sched, slot, event);
}
/* Does the backfill policy give the job a planned start? */
bool planned_start_is_wanted(struct sched *sched, uint32_t slot);
/* All that an order policy may read of the job. */
void sched_view(struct sched *sched, uint32_t slot, struct order_view *view);

#endif
