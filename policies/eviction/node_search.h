/* policies/eviction/node_search.h -- victims sought node by node. */
#ifndef POLICIES_EVICTION_NODE_SEARCH_H
#define POLICIES_EVICTION_NODE_SEARCH_H

#include "policies/eviction/plan.h"

void offers_init(struct sched *sched);
void offers_release(struct offer_scratch *offers);
/* Can victims for this chunk be sought node by node? */
bool offers_suit(const struct sched *sched, const struct shape *ask);
/* Take, in the trial, units that make room for one more member where that costs least; false: nowhere.  Between
 * victims_collect and offers_end. */
bool offers_take(struct sched *sched, uint32_t gainer, const struct request *request,
                 enum plan_kind kind);
void offers_end(struct sched *sched);

#endif
