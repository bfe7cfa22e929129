/* tests/support/asked_hooks.h -- how often a policy is asked: its hooks, counted.
 *
 *   struct asked asked = {0};
 *   asked_hooks(&config, &asked);
 *   struct sched *sched = sched_new(cluster, queues, &config, &error);    asked.of[ASKED_SCORE] counts from now on
 *
 * What each hook answers stays the same, so that decisions do.  A hook that is NULL stays NULL.
 *
 * One policy at a time: the next call counts for another, and what was made before must not be used any more.
 */
#ifndef TESTS_SUPPORT_ASKED_HOOKS_H
#define TESTS_SUPPORT_ASKED_HOOKS_H

#include "policies/policy_config.h"

enum asked_hook {
    ASKED_RANK,    /* the first order of the chain, how a job ranks */
    ASKED_KEY,     /* the first victim key, how a unit ranks */
    ASKED_SCORE,   /* a placement, how good a spot is */
    ASKED_BOUND,   /* and how good at the best */
    ASKED_FORBIDS, /* the quota policy: may it be charged, */
    ASKED_COMPARE, /* which of two queues goes first, */
    ASKED_DIVIDE,  /* what queues deserve, */
    ASKED_RECLAIM, /* may it take back, */
    ASKED_TAKE,    /* this unit, */
    ASKED_VALID,   /* and what is then */
    ASKED_CHUNK,   /* the gang policy: the next allocation step */
    ASKED_LENGTH,  /* the estimate policy, how long a job runs */
    ASKED_COUNT
};

struct asked {
    uint64_t of[ASKED_COUNT];
};

void asked_hooks(struct policy_config *config, struct asked *asked);

#endif
