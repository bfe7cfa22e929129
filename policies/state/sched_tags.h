/* policies/state/sched_tags.h -- rules of tags (struct job_tags) where jobs and the ledger
 * (policies/ledger/ledger_tags.h) meet. */
#ifndef POLICIES_STATE_SCHED_TAGS_H
#define POLICIES_STATE_SCHED_TAGS_H

#include "policies/ledger/ledger_tags.h"
#include "policies/state/sched_state.h"

/* Look at all nodes for the job, whose own members do not count.  False, and none is looked at, if nothing can be shut
 * to it.  Else ledger_tags_met tells of each node. */
bool tags_look(struct sched *sched, uint32_t slot);

/* Do rules of tags keep the job from what it has claimed?  Those that it must be near may have left since. */
bool tags_shut_claims(struct sched *sched, uint32_t slot);

/* NULL: tags are counted where members are. */
const char *tags_check(const struct sched *sched);

#endif
