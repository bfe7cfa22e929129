/* policies/state/listeners.h -- what plug-ins' policies have of their own in a scheduler, and what they are told of
 * its jobs. */
#ifndef POLICIES_STATE_LISTENERS_H
#define POLICIES_STATE_LISTENERS_H

#include "policies/state/sched_state.h"

/* What plug-ins' policies have of their own, where the policy puts them. */
void listeners_init(struct sched *sched);
/* Tell the plug-ins that want to know.  event: enum plugin_event. */
void listeners_tell(struct sched *sched, uint32_t slot, int event);
static inline void sched_tell_plugins(struct sched *sched, uint32_t slot, int event)
{
    if (sched->owns.listener_count > 0)
        listeners_tell(sched, slot, event);
}
/* Does the backfill policy give the job a planned start? */
bool planned_start_is_wanted(struct sched *sched, uint32_t slot);
/* All that an order policy may look at. */
void sched_view(struct sched *sched, uint32_t slot, struct order_view *view);

#endif
