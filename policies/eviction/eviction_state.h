/* policies/eviction/eviction_state.h -- the state of the eviction room, without the scratch of plans and searches. */
#ifndef POLICIES_EVICTION_EVICTION_STATE_H
#define POLICIES_EVICTION_EVICTION_STATE_H

#include "policies/state/sched_state.h"

struct nominee { /* a class queue, and the victims that its head would have if no other plan were booked */
    uint32_t class_queue, first, count; /* first, count: in attempts.targets */
};

/* Whose turn it is (policies/eviction/attempts.c, nominees.c). */
struct attempts {
    uint32_t *class_queues; /* class queues that may ask for a plan */
    size_t class_queue_capacity;
    uint32_t class_queue_count;
    struct nominee *nominees; /* of this cycle */
    size_t nominee_capacity;
    uint32_t nominee_count;
    uint32_t *targets; /* the slots of the nominees' victims */
    size_t target_capacity;
    uint32_t target_count;
    bool is_turn_stale;    /* gather the class queues that may ask again */
    int64_t turn_attempts; /* attempts in the queue selections of this cycle */
};

struct eviction_state {
    struct attempts attempts;
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
