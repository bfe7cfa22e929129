/* policies/cycle/cycle_inside.h -- what facts, save and check share. */
#ifndef POLICIES_CYCLE_CYCLE_INSIDE_H
#define POLICIES_CYCLE_CYCLE_INSIDE_H

#include "policies/state/sched_state.h"

/* An error if the policy leaves a seam empty. */
struct error sched_find_gap(const struct policy_config *policy) MUST_CHECK;
/* A scheduler of the empty cluster; its queues and its table of request classes are not set up yet. */
struct sched *sched_blank_new(const struct cluster *cluster, const struct queue_table *queues,
                              const struct policy_config *policy);
/* Does every number of a loaded state that is used as an index name something?  NULL: yes.  Before anything else looks
 * at the state.  O(the state). */
const char *sched_check_loaded(const struct sched *sched);
const char *check_kept_nodes(const struct sched *sched); /* NULL: their laws hold */

#endif
