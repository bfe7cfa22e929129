/* policies/eviction/node_search.h -- victims sought node by node. */
#ifndef POLICIES_EVICTION_NODE_SEARCH_H
#define POLICIES_EVICTION_NODE_SEARCH_H

#include "policies/eviction/plan.h"

void node_search_init(struct sched *sched);
void node_search_release(struct node_search_scratch *offers);
/* Can victims for this allocation step be sought node by node? */
bool node_search_suit(const struct sched *sched, const struct request_class *ask);
/* Take, in the trial, units that make room for one more member where that costs least; false: nowhere.  Between
 * victims_collect and node_search_end. */
bool node_search_take(struct sched *sched, uint32_t preemptor, const struct request *request, enum plan_kind kind);
void node_search_end(struct sched *sched);

#endif
