/* base/reason.h -- why a job waits, was refused or was evicted; the words are Slurm's where it has one. */
#ifndef BASE_REASON_H
#define BASE_REASON_H

#include "base/time.h"

enum reason {
    REASON_NONE = 0,
    REASON_RESOURCES,          /* fewer GPUs (or CPUs, or memory) are free than it asks */
    REASON_PRIORITY,           /* something ahead of it in the order goes first */
    REASON_QUOTA_LIMIT,        /* its queue or one above is at its limit */
    REASON_NEVER_FITS,         /* no state of this cluster could hold it */
    REASON_HELD,               /* held by its submitter */
    REASON_RESERVED,           /* its space is reserved and still being freed */
    REASON_QUEUE_FULL,         /* refused: the world's queue limit */
    REASON_PREEMPTED,          /* evicted for a job of higher priority in its queue */
    REASON_RECLAIMED,          /* evicted for a queue that is owed its share */
    REASON_NODE_DOWN,          /* evicted because its node left */
    REASON_DEPENDENCY,         /* a job it depends on has not ended */
    REASON_DEPENDENCY_NEVER,   /* refused: a job it depends on ended otherwise than asked */
    REASON_ARRAY_LIMIT,        /* enough elements of its array run */
    REASON_CONSOLIDATED,       /* evicted to run elsewhere, so that another fits */
    REASON_STALE_GANG,         /* evicted because its gang stayed below its minimum */
    REASON_HEADROOM,           /* evicted, or kept waiting, for the headroom of inference */
    REASON_FRAGMENTATION,      /* enough GPUs are free, but not in the shape or the places it asks for */
    REASON_TOPOLOGY,           /* they would suffice without the domain that it must stay within */
    REASON_RESERVED_FOR_OTHER, /* they would suffice with the space that reservations hold */
    REASON_SCHEDULING,         /* no cycle has looked at it since it came to wait */
    REASON_CONFIGURING,        /* its START is decided and has not taken effect */
    REASON_GANG_ON_SLICES,     /* refused: its members must run together, on pieces of GPUs */
    REASON_AFFINITY,           /* they would suffice without rules of tags, its own or those of running jobs */
    REASON_COUNT
};

const char *reason_name(enum reason reason); /* "Resources", "NeverFits", ... */
/* Which jobs are told so, where the word alone may mislead; NULL: it does not. */
const char *reason_legend(enum reason reason);

/* The time that a job waited, by reason; {0}: it did not wait. */
struct wait_times {
    uint32_t mask;            /* bit r: of[r] is there, and not 0 */
    time_ns of[REASON_COUNT]; /* by reason; not set unless its bit is */
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
