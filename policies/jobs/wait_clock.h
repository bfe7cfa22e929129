/* policies/jobs/wait_clock.h -- how long jobs waited, and why: running sums, not a count for each job.
 *
 * All jobs of a class queue (policies/queues/pending.h) wait for the same reason, so the time is counted once.  Each
 * request class has a clock with one hand per reason; the hand of the present reason runs.  A class queue reads the
 * clock of its request class plus an offset; while a limit closes it, only its HAND_LIMIT runs.  The offset keeps its
 * reading continuous when that changes.  The time that a job waited under a reason is the difference of two readings of
 * its class queue's clock.  Time that no hand counts is Priority: the job's turn did not come.
 *
 * Law: the readings of a class queue are continuous.  A job's times add up to the time it waited, to the nanosecond.
 * Cost: O(1) for each change of a request class, a class queue or a job; in a cycle only jobs that came since the last
 * cycle cost anything.
 */
#ifndef POLICIES_JOBS_WAIT_CLOCK_H
#define POLICIES_JOBS_WAIT_CLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/reason.h"
#include "base/time.h"

enum clock_hand {
    HAND_RESOURCES,
    HAND_FRAGMENTATION,
    HAND_TOPOLOGY,
    HAND_RESERVED_FOR_OTHER,
    HAND_HEADROOM,
    HAND_AFFINITY,
    HAND_LIMIT, /* of a class queue: a quota closed it; of a request class: it is open only in quota */
    HAND_COUNT,
    HAND_NONE = HAND_COUNT /* open */
};

static inline enum reason clock_reason(enum clock_hand hand)
{
    static const uint8_t reasons[HAND_COUNT + 1] = {
        [HAND_RESOURCES] = REASON_RESOURCES, [HAND_FRAGMENTATION] = REASON_FRAGMENTATION,
        [HAND_TOPOLOGY] = REASON_TOPOLOGY,   [HAND_RESERVED_FOR_OTHER] = REASON_RESERVED_FOR_OTHER,
        [HAND_HEADROOM] = REASON_HEADROOM,   [HAND_LIMIT] = REASON_QUOTA_LIMIT,
        [HAND_AFFINITY] = REASON_AFFINITY,   [HAND_NONE] = REASON_PRIORITY,
    };
    return (enum reason)reasons[hand];
}

struct wait_clock {
    time_ns ns[HAND_COUNT]; /* up to `since` */
    time_ns since;
    uint8_t hand; /* enum clock_hand: runs since then */
};

/* From `now` on this hand runs. */
static inline void wait_clock_set(struct wait_clock *clock, enum clock_hand hand, time_ns now)
{
    if (clock->since != now) {
        if (clock->hand != HAND_NONE)
            clock->ns[clock->hand] += now - clock->since;
        clock->since = now;
    }
    clock->hand = (uint8_t)hand;
}

enum wait_kind {
    WAIT_NOT,
    WAIT_FRESH,       /* in a class queue, where no cycle has seen it yet */
    WAIT_CLASS_QUEUE, /* the class queue's clock tells the reason */
    WAIT_CODE         /* `code` is the reason */
};

/* Why a job waits, and since when; one for each job that the scheduler knows. */
struct wait_mark {
    time_ns since;
    uint32_t entry; /* see waits_entry; 0: it has not waited yet */
    uint8_t kind;   /* enum wait_kind */
    uint8_t code;   /* enum reason */
};

/* The times of a job that has waited. */
struct wait_entry {
    struct wait_times times;  /* up to the mark's `since` */
    time_ns seen[HAND_COUNT]; /* WAIT_CLASS_QUEUE: the reading of its class queue's clock at the mark's `since` */
};

enum { WAIT_BLOCK_SHIFT = 6, WAIT_BLOCK = 1 << WAIT_BLOCK_SHIFT };

struct waits {
    bool is_off;                /* times are not needed */
    struct wait_entry **blocks; /* of WAIT_BLOCK entries each, which stay where they are */
    size_t block_capacity;
    uint32_t count;
    uint32_t *free;
    size_t free_capacity;
    uint32_t free_count;
    uint32_t *fresh; /* slots that became WAIT_FRESH since the last cycle; some no longer are */
    size_t fresh_capacity;
    uint32_t fresh_count;
};

static inline struct wait_entry *waits_entry(const struct waits *waits, uint32_t entry)
{
    return &waits->blocks[(entry - 1) >> WAIT_BLOCK_SHIFT][(entry - 1) & (WAIT_BLOCK - 1)];
}

#endif
