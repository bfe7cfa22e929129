/* policies/quota/usage.h -- what a queue has used of the cluster in the past, for time-based shares.
 *
 * Words.  The usage of a queue in a resource is
 *
 *     integral of charged(t) * 2^(-(now - t) / half_life) dt  /  the same of the cluster's capacity
 *
 * over the last `window`, in parts per million.  Without half_life nothing decays; without window everything counts.
 *
 * Laws
 *  - The integral is closed form between events and does not depend on how often usage_advance is called: weights
 *    are differences of one integer function of time, and amounts times weights are added up in 128 bits.
 *  - What enters the division is the usage at whole multiples of share_period since the start, rounded to ppm.
 *  - The far edge of a window is known to window / USAGE_BUCKETS: of the oldest bucket the part still inside counts
 *    as if it had been used evenly.  A window of 56 half-lives or more is none: beyond it nothing is left.
 *  - queue_spec.usage_ppm is what the queue used, of every resource, of a past as long as the window (with half_life:
 *    for ever), if any queue has one at the start; else there is no past, and usage is that since the start.
 *  - With neither window nor half_life nothing is integrated: usage_ppm stands for good.
 *
 * Cost: O(queues) per instant at which something happens, plus O(queues * USAGE_BUCKETS) each time a bucket of a
 * window is full; nothing at all when usage does not count (usage_weight_milli 0).
 */
#ifndef POLICIES_QUOTA_USAGE_H
#define POLICIES_QUOTA_USAGE_H

#include "policies/queues/queues.h"

enum { USAGE_BUCKETS = 56 }; /* a week in pieces of three hours */

struct usage_amounts { /* amount times weighted nanoseconds */
    __int128 of[RESOURCE_COUNT];
};

struct usage_clock {
    time_ns start, now, bucket_start;
    uint32_t slot; /* of the ring: filled next, and the oldest */
};

/* The policy's own state of a queue.  That of the root counts the cluster's capacity. */
struct usage {
    struct usage_amounts open;                /* since bucket_start, whose weight is 1 */
    struct usage_amounts closed;              /* the closed buckets but the oldest, in the weights of bucket_start */
    struct usage_amounts oldest;              /* the oldest, the same way */
    struct usage_amounts ring[USAGE_BUCKETS]; /* each as it was when it was open */
    uint32_t ppm[RESOURCE_COUNT];             /* as it enters the division */
    bool is_known;                            /* false: new, to be given its past */
    struct usage_clock clock;                 /* of the root alone */
};

/* The hooks `advance` and `archive` of policies/quota/quota.h. */
bool usage_advance(struct queue_tree *tree, time_ns now, time_ns *next);
void usage_archive(struct archive *archive, void *own);

/* As of the last step. */
int64_t usage_ppm(const struct queue_tree *tree, queue_id queue, enum resource resource);

#endif
