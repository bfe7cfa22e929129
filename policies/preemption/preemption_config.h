/* policies/preemption/preemption_config.h -- the guards and options of evictions in a policy file; docs/policies.md has
 * the table.  Law: all limits count attempts, jobs or simulated time, never the scheduler's own run time. */
#ifndef POLICIES_PREEMPTION_CONFIG_H
#define POLICIES_PREEMPTION_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

enum { VICTIM_CHAIN_MAX = 6 };
struct victim_key;

enum victim_search {
    SEARCH_ORDERED, /* victims one by one in their order, until the preemptor fits */
    SEARCH_NODE,    /* on the node where victims hold the fewest GPUs, then lose the least work */
};

/* Which jobs of the preemptor's own queue may be preempted: none; those of lower priority; also those of equal priority
 * that were submitted later; all that the order puts behind it. */
enum within_queue { WITHIN_QUEUE_NEVER, WITHIN_QUEUE_LOWER, WITHIN_QUEUE_LOWER_OR_NEWER, WITHIN_QUEUE_ORDER };
enum runtime_resolve { RESOLVE_LCA, RESOLVE_QUEUE };

struct preemption_config {
    const struct victim_key *victims[VICTIM_CHAIN_MAX]; /* the order in which victims are taken */
    uint32_t victim_key_count;
    bool by_queue;               /* before the keys: the queue that the quota policy names loses first */
    uint8_t search;              /* enum victim_search */
    uint8_t within_queue;        /* enum within_queue */
    bool replaces_victims;       /* a victim that fits elsewhere does not count against the quota */
    bool victims_of_this_cycle;  /* jobs that `allocate` started in this cycle may be victims in it */
    uint8_t resolve;             /* enum runtime_resolve: whose minimum run time counts in a reclaim */
    time_ns grace;               /* given to a victim to save its work */
    time_ns preempt_min_runtime; /* if no queue sets one; counts from the victim's START */
    time_ns reclaim_min_runtime;
    time_ns delay;                 /* how long a job waits before others are evicted for it */
    int64_t attempts_per_cycle;    /* plans tried in one cycle */
    int64_t victims_max;           /* jobs evicted by one plan */
    int64_t rematch_cycles;        /* cycles in which a victim may not evict its preemptor in turn */
    int64_t evictions_per_job_max; /* a job that was evicted this often is not a victim again */
    int64_t loss_ratio_milli;      /* GPU time lost per GPU time that the preemptor has waited; 0: no bound */
    int64_t firm_priority;         /* from this priority on, a job that does not say is not preemptible */
};

#endif
