/* workloads/readers/held.h -- jobs held in memory, to be sorted by submission.
 *
 * Law: jobs of equal submission keep the order in which they came.
 */
#ifndef WORKLOADS_READERS_HELD_H
#define WORKLOADS_READERS_HELD_H

#include "workloads/job.h"
#include "workloads/job_truth.h"

struct held_job {
    struct job job;
    struct job_truth truth;
};

struct held {
    struct held_job *jobs; /* in the order in which they were added */
    size_t count, capacity;
    uint64_t *order; /* after held_sort: indices of the jobs by submission; NULL before */
    size_t next;
};

void held_add(struct held *held, const struct job *job, const struct job_truth *truth);
/* Sort by submission.  Dependencies are renumbered, in memory that the holder may write to.  O(n log n); needs 24 more
 * bytes per job while it runs. */
void held_sort(struct held *held);

/* The next job in the order, or as added if not sorted; false at the end. */
bool held_next(struct held *held, struct job *job, struct job_truth *truth);

/* The index in `jobs` of the job that comes next; 0 at the end. */
static inline uint64_t held_place(const struct held *held)
{
    return held->next == held->count ? 0 : held->order != NULL ? held->order[held->next] : held->next;
}
void held_release(struct held *held);

#endif
