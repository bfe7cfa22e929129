/* base/reason.h -- why a job waits, was refused, or had to go: the words of the field (Slurm's where it has one). */
#ifndef BASE_REASON_H
#define BASE_REASON_H

enum reason {
    REASON_NONE = 0,
    REASON_RESOURCES,        /* not enough free now */
    REASON_PRIORITY,         /* something ahead of it in the order goes first */
    REASON_QUOTA_LIMIT,      /* its queue or one above is at its limit */
    REASON_NEVER_FITS,       /* no state of this cluster could hold it */
    REASON_HELD,             /* held by its submitter */
    REASON_RESERVED,         /* its space is reserved and still being freed */
    REASON_QUEUE_FULL,       /* refused: the world's queue limit */
    REASON_PREEMPTED,        /* evicted for a job of higher priority in its queue */
    REASON_RECLAIMED,        /* evicted for a queue that is owed its share */
    REASON_NODE_DOWN,        /* evicted because its node left */
    REASON_DEPENDENCY,       /* a job it depends on has not ended */
    REASON_DEPENDENCY_NEVER, /* refused: a job it depends on ended otherwise than asked */
    REASON_ARRAY_LIMIT,      /* enough elements of its array run */
    REASON_CONSOLIDATED,     /* evicted to run elsewhere, so that another fits */
    REASON_STALE_GANG,       /* evicted because its gang stayed below its minimum */
    REASON_HEADROOM,         /* evicted, or kept waiting, for the headroom of inference */
    REASON_COUNT
};

const char *reason_name(enum reason reason); /* "Resources", "NeverFits", ... */

#endif
