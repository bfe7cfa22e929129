/* policies/jobs/wait_clock.h -- how long jobs waited, and why: running sums, not a count per job.
 *
 * What keeps the jobs of a class queue (policies/queues/pending.h) waiting is the same for all of them, so the time is
 * counted once: each request class has a clock of one hand per reason, of which the one that holds now runs.  A class
 * queue reads the clock of its request class, unless a limit closed it, plus an offset that was set when it began to
 * read otherwise.  What a job waited under a reason is the difference of two readings of its class queue's clock; what
 * no hand tells is Priority: its turn did not come. Where space that is kept for others holds up a class queue, it
 * shows two readings: one to the jobs in front, which that space would hold, and one to the others
 * (policies/allocate/kept_space.h).
 *
 * Law: the readings of a class queue are continuous; a job's times add up to the time it waited, to the nanosecond.
 * Cost: O(1) per change of a request class, a class queue or a job; nothing per cycle but for jobs that came since the
 * last.
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
    HAND_LIMIT, /* of a class queue: a quota closed it; of a request class: open to owners alone */
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

/* From now on that hand runs. */
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
    WAIT_FRESH,       /* in a class queue, and no cycle has seen it there */
    WAIT_CLASS_QUEUE, /* its class queue says why */
    WAIT_CODE,        /* `code` does */
    WAIT_FRONT /* its class queue says why, to the jobs that kept space would hold: policies/allocate/kept_space.h */
};

/* What a job waits for since when; of each job the scheduler knows. */
struct wait_mark {
    time_ns since;
    uint32_t entry; /* see waits_entry; 0: it has not waited yet */
    uint8_t kind;   /* enum wait_kind */
    uint8_t code;   /* enum reason */
    bool is_taken;  /* scratch of policies/allocate/kept_space.c: it would start */
};

/* Of a job that has waited. */
struct wait_entry {
    struct wait_times times;  /* up to the mark's `since` */
    time_ns seen[HAND_COUNT]; /* WAIT_CLASS_QUEUE, WAIT_FRONT: the reading of its class queue's clock then */
};

enum { WAIT_BLOCK_SHIFT = 6, WAIT_BLOCK = 1 << WAIT_BLOCK_SHIFT };

struct waits {
    bool is_off;                /* nobody asks for times */
    struct wait_entry **blocks; /* of WAIT_BLOCK entries each, which stay where they are */
    size_t block_capacity;
    uint32_t count;
    uint32_t *free;
    size_t free_capacity;
    uint32_t free_count;
    uint32_t *fresh; /* slots that became WAIT_FRESH since the last cycle; some are so no more */
    size_t fresh_capacity;
    uint32_t fresh_count;
    uint32_t *thin; /* class queues that a job in front left since the last cycle */
    size_t thin_capacity;
    uint32_t thin_count;
    uint64_t seen_change, looked_change; /* see kept_space_look */
    int64_t credit;
    bool has_reserved; /* the last look found class queues that reservations hold up */
};

static inline struct wait_entry *waits_entry(const struct waits *waits, uint32_t entry)
{
    return &waits->blocks[(entry - 1) >> WAIT_BLOCK_SHIFT][(entry - 1) & (WAIT_BLOCK - 1)];
}

#endif
