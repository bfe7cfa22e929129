/* policies/eviction/eviction_state.h -- the state of the eviction room, without the scratch of plans and searches. */
#ifndef POLICIES_EVICTION_EVICTION_STATE_H
#define POLICIES_EVICTION_EVICTION_STATE_H

#include "policies/state/sched_state.h"

struct eviction_state {
    time_ns reclaim_least_runtime; /* the least minimum run time of all queues */
    time_ns reclaim_runtime_max;   /* the greatest */
    time_ns least_loss;            /* the least run time that a victim loses, for each of its GPUs */
    uint64_t headroom_retry;       /* no eviction for the headroom before this state change */
    uint64_t plans, plans_tried;
    int64_t evicted_in_cycle;
    bool takes_both;       /* a reclaim also takes from the preemptor's own queue: plan_rounds.c */
    bool has_own_runtimes; /* some queue sets a minimum run time against preemption */
};

#endif
