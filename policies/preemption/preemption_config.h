/* policies/preemption/preemption_config.h -- the guards and manners of eviction, as a policy file gives them;
 * docs/policies.md has the table.  Law: all budgets count steps, never time spent. */
#ifndef POLICIES_PREEMPTION_CONFIG_H
#define POLICIES_PREEMPTION_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

enum { VICTIM_CHAIN_MAX = 6 };
struct victim_key;

enum victim_search {
    SEARCH_ORDERED, /* victims one by one in their order, until the preemptor fits */
    SEARCH_NODE,    /* where the least GPU time asked must go */
};

/* Of one's own line: nobody; those of lower priority; those also of equal priority that came later; all that
 * the order puts behind. */
enum within_queue { WITHIN_NEVER, WITHIN_LOWER, WITHIN_LOWER_OR_NEWER, WITHIN_ORDER };
enum runtime_resolve { RESOLVE_LCA, RESOLVE_QUEUE };

struct preemption_config {
    const struct victim_key *victims[VICTIM_CHAIN_MAX]; /* the order they are taken in */
    uint32_t victim_key_count;
    bool by_queue;               /* before the keys: from the queue that the quota policy names first */
    uint8_t search;              /* enum victim_search */
    uint8_t within_queue;        /* enum within_queue */
    bool replaces_victims;       /* a victim that fits elsewhere does not count against the quota */
    bool victims_of_this_cycle;  /* what `allocate` started in this cycle may be reclaimed or preempted in it */
    uint8_t resolve;             /* enum runtime_resolve: of reclaim minimum run times in the queue tree */
    time_ns grace;               /* given to a victim to save its work */
    time_ns preempt_min_runtime; /* unless the victim's queue says otherwise; counts from its START */
    time_ns reclaim_min_runtime;
    time_ns delay;                 /* a job waits so long before anybody is evicted for it */
    int64_t attempts_per_cycle;    /* plans tried in one cycle */
    int64_t victims_max;           /* jobs evicted by one plan */
    int64_t evictions_per_cycle;   /* jobs evicted in one cycle; 0: no bound */
    int64_t rematch_cycles;        /* so long nothing is taken from a job for those it displaced */
    int64_t evictions_per_job_max; /* a job evicted so often is no victim any more */
    int64_t evictions_per_queue_h; /* disruption budget: jobs of one queue evicted in any hour; 0: no bound */
    int64_t loss_ratio_milli;      /* GPU time thrown away per GPU time the preemptor has waited; 0: any */
    bool spares_inference;         /* latency-critical inference gives way only for what its queue borrowed */
};

#endif
