/* policies/state/victim_lists.h -- the possible victims of each queue, kept in the order in which plans take them.
 *
 * Kept only where the order chain alone decides which job of a queue loses first (no victim keys), and where a plan
 * never compares jobs of two queues by it, because it asks the quota policy for the queue.  Without quotas there is one
 * list for all queues, that of the root.
 * Elsewhere each plan sorts its candidates (policies/eviction/victim_order.c).
 *
 * Law: the list of a queue holds the slots of its possible victims (sched_job.is_listed), and pending_compare puts each
 * before the next.  So the last one is the first victim, and the jobs behind a preemptor are the end of the list.
 *
 *   const struct victim_list *list = victim_lists_of(sched, queue);
 *   for (uint32_t i = list->count; i-- > victim_lists_behind(sched, queue, preemptor);) ...
 *
 * It does not rank jobs with surplus as if their surplus had gone: a plan with such jobs sorts.
 * Cost: O(log n) comparisons and a move of O(n) slots for each change; 4 bytes a job.
 */
#ifndef POLICIES_STATE_VICTIM_LISTS_H
#define POLICIES_STATE_VICTIM_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topologies/queue_table.h"

struct sched;

struct victim_list {
    uint32_t *slots; /* first in the order first */
    size_t capacity;
    uint32_t count;
};

struct victim_lists {
    bool are_kept;
    struct victim_list *of_queue; /* by queue_id */
    size_t queue_capacity;
};

/* Add a job that has become a possible victim; remove one that is a possible victim no more.  The caller also removes a
 * possible victim before its ranks change, and adds it again afterwards: removal finds the job by its old ranks. */
void victim_lists_add(struct sched *sched, uint32_t slot);
void victim_lists_remove(struct sched *sched, uint32_t slot);

/* The list of the queue; valid until the next change. */
struct victim_list victim_lists_of(const struct sched *sched, queue_id queue);
/* The index of the first job that the order puts behind the preemptor; the list's count: there is none. */
uint32_t victim_lists_behind(const struct sched *sched, queue_id queue, uint32_t preemptor);

#endif
