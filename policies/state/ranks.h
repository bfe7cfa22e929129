/* policies/state/ranks.h -- the order of jobs, as numbers. */
#ifndef POLICIES_STATE_RANKS_H
#define POLICIES_STATE_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "policies/ledger/ledger.h"
#include "policies/order/order.h"

struct sched;

struct ranks {
    time_ns at;         /* when all ranks were last computed */
    uint64_t change;    /* the state change at which they were computed */
    bool are_moving;    /* some rank changes with time alone... */
    bool rest_waiting;  /* ...but none of a job that waits and holds nothing */
    bool are_fixed;     /* no rank ever changes */
    bool are_by_fill;   /* a rank changes only with the fill of its job (enum job_fill) */
    bool need_accounts; /* some order policy reads the usage of users and queues */
    bool need_service;  /* some policy reads how long jobs ran */
};

void sched_study_orders(struct sched *sched);
/* Its run time over all attempts; kept where ranks change with it, or where defragmentation moves jobs. */
time_ns sched_ran(const struct sched *sched, uint32_t slot);
void sched_rank(struct sched *sched, uint32_t slot); /* compute its ranks now */
/* Its ranks with that fill (enum job_fill). */
void sched_rank_as(const struct sched *sched, uint32_t slot, uint8_t fill, uint64_t rank[ORDER_CHAIN_MAX]);
/* As above if it held `more` in addition. */
void sched_rank_with(const struct sched *sched, uint32_t slot, uint8_t fill, const int64_t more[QUEUE_SUM_COUNT],
                     uint64_t rank[ORDER_CHAIN_MAX]);
void sched_rank_all(struct sched *sched);
/* All that an order policy may read of the job. */
void sched_view(struct sched *sched, uint32_t slot, struct order_view *view);

#endif
