/* policies/quota/cohort_reclaim.h -- from whom a job may take back what its queue lent, and in which rounds victims
 * are sought: the part of the `cohort` quota policy (cohort.c) that answers for evictions.
 *
 * Classical.  A job whose request alone exceeds its queue's nominal quota, in a resource that its quota lacks, evicts
 * nobody, unless a cohort below the top has room for it within its quota or borrow_within_cohort allows it.  Rounds:
 *   borrowing  its queue may borrow in the end.  Of other queues it takes from beyond a cohort that is entitled to it,
 *              and what borrow_within_cohort allows.
 *   within     its queue may not borrow in the end.  Then it takes from every borrower.
 * Only `borrowing` where no other queue owes anything, or borrow_within_cohort forbids the rest and the queue has used
 * up its nominal quota; `within` first where that forbids and no cohort below the top is entitled; else `borrowing`
 * first.
 *   Fair sharing.  The strategies in their order, the second over what the first passed, at most one victim of a queue.
 *   A job that might evict others, and has to wait because its quota is lent, has it kept: those behind it get nothing
 *   of
 * what is left up to its queue's nominal quota, or, if it would borrow, up to the borrowing limit.  Where
 * reclaim_within_cohort is `any` it can take back what they get, and nothing is kept.
 * Source: Kueue, pkg/scheduler/preemption and pkg/scheduler/flavorassigner.
 */
#ifndef POLICIES_COHORT_RECLAIM_H
#define POLICIES_COHORT_RECLAIM_H

#include "policies/quota/cohort_tree.h"
#include "policies/quota/quota_config.h"

/* The hooks of policies/quota/quota.h. */
bool cohort_keeps(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT],
                  int64_t kept[QUEUE_SUM_COUNT]);
uint32_t cohort_rounds(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT],
                       struct quota_round rounds[QUOTA_ROUNDS_MAX]);
bool cohort_suffices(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT],
                     const struct quota_round *round);
bool cohort_may_reclaim(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT]);
bool cohort_may_take(struct queue_tree *tree, const struct taking *taking);
bool cohort_is_valid(struct queue_tree *tree, queue_id preemptor, const int64_t ask[QUEUE_SUM_COUNT],
                     const queue_id *touched, uint32_t touched_count);

#endif
