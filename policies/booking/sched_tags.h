/* policies/booking/sched_tags.h -- rules of tags (struct job_tags) where jobs and the ledger
 * (policies/ledger/ledger_tags.h) meet. */
#ifndef POLICIES_BOOKING_SCHED_TAGS_H
#define POLICIES_BOOKING_SCHED_TAGS_H

#include "policies/ledger/ledger_tags.h"
#include "policies/state/sched_state.h"

/* Evaluate all nodes for the job; its own members do not count.  Returns false without evaluating any if no rule can
 * exclude a node.  Else ledger_tags_met answers for each node. */
bool tags_match(struct sched *sched, uint32_t slot);

/* Do rules of tags keep the job from its claimed space?  Jobs that it must be near may have left since. */
bool tags_shut_claims(struct sched *sched, uint32_t slot);

/* NULL: the tag counts agree with the members on the nodes. */
const char *tags_check(const struct sched *sched);

#endif
