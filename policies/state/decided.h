/* policies/state/decided.h -- the decisions of this cycle, and what the next cycle has to tell.
 *
 * Law: policies/booking/decide.c alone writes them.
 */
#ifndef POLICIES_STATE_DECIDED_H
#define POLICIES_STATE_DECIDED_H

#include "policies/jobs/wait_clock.h"
#include "policies/placement/placement.h"
#include "policies/sched.h"

struct refusal_note { /* a REJECT that is not issued yet */
    job_id job;
    enum reason reason;
    uint32_t request_class; /* of the job */
    queue_id queue;
    time_ns at;
    struct wait_times waited; /* up to the rejection; on issue, in total */
};

struct decided {
    struct decision *decisions; /* of this cycle */
    size_t capacity;
    uint32_t count;
    struct piece_list pieces; /* of these decisions, one after another */
    uint64_t sequence;        /* of the last decision */
    uint64_t told_before;     /* of the last decision before this cycle */
    uint64_t recalls_after;   /* a START of a later sequence may be recalled; UINT64_MAX: none */
    struct refusal_note *rejects;
    size_t reject_capacity;
    uint32_t reject_count;
    job_id *releases; /* jobs whose reservations were given up */
    size_t release_capacity;
    uint32_t release_count;
};

#endif
