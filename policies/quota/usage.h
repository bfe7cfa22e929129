/* policies/quota/usage.h -- how much of the cluster a queue has used in the past, for time-based shares.
 *
 * Words.  The usage of a queue in a resource is
 *
 *     integral of charged(t) * 2^(-(now - t) / half_life) dt  /  the same integral of the cluster's capacity
 *
 * over the last `window`, in parts per million.  Without half_life nothing decays; without window all of the past
 * counts.
 *
 * Laws
 *  - The integral has a closed form between events and does not depend on how often usage_advance is called: weights
 *    are differences of one integer function of time, and amounts times weights are added up in 128 bits.
 *  - The division uses the usage at whole multiples of share_period since the start, rounded to ppm.
 *  - The old end of a window is exact to window / USAGE_BUCKETS: the part of the oldest bucket that is still inside
 *    counts as if it had been used evenly.  A window of 56 half-lives or more counts as no window.
 *  - queue_spec.usage_ppm is the queue's usage of every resource in a past as long as the window (with only half_life:
 *    for ever), if any queue has one at the start.  Else usage begins at the start.
 *  - With neither window nor half_life nothing is integrated, and usage_ppm stays as it is.
 *
 * Cost: O(queues) for each instant with an event, plus O(queues * USAGE_BUCKETS) each time a bucket of a window is
 * full; nothing if usage does not count (usage_weight_milli 0).
 */
#ifndef POLICIES_QUOTA_USAGE_H
#define POLICIES_QUOTA_USAGE_H

#include "policies/queues/queues.h"

enum { USAGE_BUCKETS = 56 }; /* a week in buckets of three hours */

struct usage_amounts { /* amount times weighted nanoseconds */
    __int128 of[RESOURCE_COUNT];
};

struct usage_clock {
    time_ns start, now, bucket_start;
    uint32_t slot; /* of the ring: the oldest bucket, to be filled next */
};

/* The policy's state of a queue.  That of the root counts the cluster's capacity. */
struct usage {
    struct usage_amounts open;                /* since bucket_start, whose weight is 1 */
    struct usage_amounts closed;              /* all closed buckets but the oldest, with the weights of bucket_start */
    struct usage_amounts oldest;              /* the oldest bucket, with the weights of bucket_start */
    struct usage_amounts ring[USAGE_BUCKETS]; /* the closed buckets, each with its own weights */
    uint32_t ppm[RESOURCE_COUNT];             /* as used in the division */
    bool is_known;                            /* false: the queue is new and gets its past next */
    struct usage_clock clock;                 /* valid in the root's state only */
};

/* The hooks `advance` and `describe` of policies/quota/quota.h.  Described is the usage of GPUs. */
bool usage_advance(struct queue_tree *tree, time_ns now, time_ns *next);
void usage_describe(struct queue_tree *tree, queue_id queue, struct queue_spec *spec);

/* The usage that the division uses: as of the last step of share_period. */
int64_t usage_ppm(const struct queue_tree *tree, queue_id queue, enum resource resource);

#endif
