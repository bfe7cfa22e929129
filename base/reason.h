/* base/reason.h -- why a job waits, was refused or was evicted; the words are Slurm's where it has one. */
#ifndef BASE_REASON_H
#define BASE_REASON_H

#include "base/time.h"

enum reason {
    REASON_NONE = 0,
    REASON_RESOURCES,          /* fewer GPUs (or CPUs, or memory) are free than it asks for */
    REASON_PRIORITY,           /* another job goes before it in the order */
    REASON_QUOTA_LIMIT,        /* its queue or one above is at its limit */
    REASON_NEVER_FITS,         /* no state of this cluster could hold it */
    REASON_HELD,               /* held by its submitter */
    REASON_RESERVED,           /* its space is reserved and still being freed */
    REASON_QUEUE_FULL,         /* refused: the world's queue limit */
    REASON_PREEMPTED,          /* evicted for a job of its queue with a higher priority */
    REASON_RECLAIMED,          /* evicted for a queue that is owed its share */
    REASON_NODE_DOWN,          /* evicted because its node left */
    REASON_DEPENDENCY,         /* a job it depends on has not ended */
    REASON_DEPENDENCY_NEVER,   /* refused: a job it depends on ended in another way than required */
    REASON_ARRAY_LIMIT,        /* as many elements of its array run as may */
    REASON_CONSOLIDATED,       /* evicted to run elsewhere, so that another job fits */
    REASON_STALE_GANG,         /* evicted because its gang stayed below its minimum */
    REASON_HEADROOM,           /* evicted, or kept waiting, for the headroom of inference */
    REASON_FRAGMENTATION,      /* enough GPUs are free, but not in the shape or the places it asks for */
    REASON_TOPOLOGY,           /* enough GPUs are free, but not within the domain that it requires */
    REASON_RESERVED_FOR_OTHER, /* it would fit if reservations did not hold space */
    REASON_SCHEDULING,         /* no cycle has examined it since it began to wait */
    REASON_CONFIGURING,        /* its START is decided, but has not taken effect */
    REASON_GANG_ON_SLICES,     /* refused: its members must run together, on pieces of GPUs */
    REASON_AFFINITY,           /* it would fit without rules of tags, its own or those of running jobs */
    REASON_FAULT,              /* taken by a fault of its own */
    REASON_NEIGHBOUR_FAULT,    /* taken by a fault of a job on the same GPU */
    REASON_IDLE, /* told, shrunk or evicted because it held GPUs and left them idle; or it rests after that */
    REASON_GAP,  /* evicted because a job can start whose gap it filled: one that waited before it started */
    REASON_COUNT
};

const char *reason_name(enum reason reason); /* "Resources", "NeverFits", ... */

/* The time that a job waited, by reason; {0}: it did not wait. */
struct wait_times {
    uint32_t mask;            /* bit r: of[r] is set, and not 0 */
    time_ns of[REASON_COUNT]; /* by reason; only where the bit is set */
};

static inline void wait_times_add(struct wait_times *times, enum reason reason, time_ns span)
{
    const uint32_t bit = UINT32_C(1) << reason;
    if (span == 0)
        return;
    times->of[reason] = times->mask & bit ? times->of[reason] + span : span;
    times->mask |= bit;
}

time_ns wait_times_sum(const struct wait_times *times);

#endif
