/* policies/repartition/repartition_book.h -- which GPUs are being cut anew, and what a plan of cuts works on.
 *
 * Private to the room. */
#ifndef POLICIES_REPARTITION_REPARTITION_BOOK_H
#define POLICIES_REPARTITION_REPARTITION_BOOK_H

#include "policies/ledger/ledger.h"
#include "policies/placement/placement.h"
#include "policies/sched.h"

struct recut_places;

struct recut { /* told to the world, not done yet */
    decision_id decision;
    gpu_id gpu;
    struct gpu_cut before;
};

struct recut_order { /* of a plan that is being made */
    gpu_id gpu;
    struct gpu_cut cut;
};

enum { RECUTS_PER_PLAN = 32 };

struct recut_book {
    struct recut *open;
    size_t capacity;
    uint32_t count;
    time_ns
        *at; /* when GPUs were cut in the last hour, the oldest first; if the policy bounds that */
    size_t at_capacity;
    uint32_t at_count;
    time_ns *cut_at; /* by gpu_id: when it was cut last, + 1; 0: never */
    uint64_t told;   /* so far */
    struct recut_order plan[RECUTS_PER_PLAN];
    uint32_t plan_count;
    uint32_t *lanes; /* scratch: that may ask */
    size_t lane_capacity;
    struct piece_list pieces; /* scratch: of the job that GPUs are cut for */
    uint8_t *hopes;           /* scratch, by shape: enum hope */
    size_t hope_capacity;
    time_ns rested_at; /* when the first GPU that was left alone may be cut again; TIME_NEVER */
    struct recut_places *places; /* where a GPU is best cut: what is kept of it; not saved */
};

#endif
