/* tests/support/asked_hooks.h -- counts the calls of a policy's hooks.
 *
 *   struct asked asked = {0};
 *   asked_hooks(&config, &asked);
 *   struct sched *sched = sched_new(cluster, queues, &config, &error);    asked.of[ASKED_SCORE] counts from now on
 *
 * The hooks' answers are unchanged, and so are the decisions.  A hook that is NULL stays NULL.
 *
 * One policy at a time: after the next call, which counts for another policy, the earlier one must not be used.
 */
#ifndef TESTS_SUPPORT_ASKED_HOOKS_H
#define TESTS_SUPPORT_ASKED_HOOKS_H

#include "policies/policy_config.h"

enum asked_hook {
    ASKED_RANK,    /* the first order of the chain: a job's rank */
    ASKED_KEY,     /* the first victim key: a unit's rank */
    ASKED_SCORE,   /* a placement: the score of a spot */
    ASKED_BOUND,   /* a placement: the bound of the scores */
    ASKED_FORBIDS, /* the quota policy: may the queue be charged? */
    ASKED_COMPARE, /* the quota policy: which of two queues goes first? */
    ASKED_DIVIDE,  /* the quota policy: what do queues deserve? */
    ASKED_RECLAIM, /* the quota policy: may the queue reclaim? */
    ASKED_TAKE,    /* the quota policy: may it take this unit? */
    ASKED_VALID,   /* the quota policy: is the after-state valid? */
    ASKED_CHUNK,   /* the gang policy: the next allocation step */
    ASKED_LENGTH,  /* the estimate policy: the run time of a job */
    ASKED_COUNT
};

struct asked {
    uint64_t of[ASKED_COUNT];
};

void asked_hooks(struct policy_config *config, struct asked *asked);

#endif
