/* policies/repartition/repartition_book.h -- which GPUs are being cut anew, and what a plan of cuts works on.
 *
 * Private to the room. */
#ifndef POLICIES_REPARTITION_REPARTITION_BOOK_H
#define POLICIES_REPARTITION_REPARTITION_BOOK_H

#include "policies/ledger/ledger.h"
#include "policies/placement/placement.h"
#include "policies/sched.h"

struct repartition_places;

struct recut { /* told to the world, not done yet */
    decision_id decision;
    gpu_id gpu;
    struct gpu_cut before;
};

struct repartition_order { /* of a plan that is being made */
    gpu_id gpu;
    struct gpu_cut cut;
};

enum { REPARTITIONS_PER_PLAN = 32 };

struct repartition_book {
    struct recut *open;
    size_t capacity;
    uint32_t count;
    time_ns *at; /* when GPUs were cut in the last hour, the oldest first; if the policy bounds that */
    size_t at_capacity;
    uint32_t at_count;
    time_ns *cut_at; /* by gpu_id: when it was cut last, + 1; 0: never */
    uint64_t told;   /* so far */
    struct repartition_order plan[REPARTITIONS_PER_PLAN];
    uint32_t plan_count;
    uint32_t *class_queues; /* scratch: that may ask */
    size_t class_queue_capacity;
    struct piece_list pieces; /* scratch: of the job that GPUs are cut for */
    uint8_t *hopes;           /* scratch, by request class: enum hope */
    size_t hope_capacity;
    time_ns rested_at;                 /* when the first GPU that was left alone may be cut again; TIME_NEVER */
    struct repartition_places *places; /* where a GPU is best cut: what is kept of it; not saved */
};

#endif
