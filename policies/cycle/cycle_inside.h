/* policies/cycle/cycle_inside.h -- what facts and checks share. */
#ifndef POLICIES_CYCLE_CYCLE_INSIDE_H
#define POLICIES_CYCLE_CYCLE_INSIDE_H

#include "policies/state/sched_state.h"

const char *check_kept_nodes(const struct sched *sched); /* NULL: their laws hold */

#endif
