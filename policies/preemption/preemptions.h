/* policies/preemption/preemptions.h -- the built-in preemption policies. */
#ifndef POLICIES_PREEMPTIONS_H
#define POLICIES_PREEMPTIONS_H

#include "policies/preemption/preemption.h"

extern const struct preemption_policy preemption_checkpoint;
extern const struct preemption_policy preemption_kill;
extern const struct preemption_policy preemption_none;

#endif
