/* policies/quota/cohort_reclaim.h -- evictions under the `cohort` quota policy (cohort.c): from which queues a job may
 * take back what its queue lent, and in which rounds victims are searched.
 *
 * Classical.  If a job's request alone exceeds its queue's nominal quota in a resource that the quota lacks, no job is
 * evicted for it, unless a cohort below the top has room for it within its quota or borrow_within_cohort allows it.
 * Rounds:
 *   borrowing  The queue may borrow in the after-state.  The job takes what a cohort above it is entitled to from
 *              outside, and what borrow_within_cohort allows.
 *   within     The queue may not borrow in the after-state.  The job takes from every borrower.
 * There is only `borrowing` if no other queue borrows what the job lacks, or if borrow_within_cohort forbids the rest
 * and the queue has used up its nominal quota.  `within` comes first if borrow_within_cohort forbids and no cohort
 * below the top is entitled; else `borrowing` comes first.
 *
 * Fair sharing.  The strategies in their order; the second goes on with the victims of the first, and looks at one unit
 * of each queue.
 *
 * Kept quota.  If a job that might evict others has to wait because its quota is lent, that quota is kept for it: jobs
 * behind it get nothing of what is left up to its queue's nominal quota, or, if it would borrow, up to the borrowing
 * limit.  If reclaim_within_cohort is `any`, nothing is kept, since the job can take it back.
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
