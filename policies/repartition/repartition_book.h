/* policies/repartition/repartition_book.h -- the GPUs whose layout is being changed, and the scratch of a plan of cuts.
 *
 * Private to the room. */
#ifndef POLICIES_REPARTITION_REPARTITION_BOOK_H
#define POLICIES_REPARTITION_REPARTITION_BOOK_H

#include "policies/ledger/ledger.h"
#include "policies/placement/placement.h"
#include "policies/sched.h"

struct repartition_places;

struct recut { /* a repartition that was told and is not done yet */
    decision_id decision;
    gpu_id gpu;
    struct gpu_cut before;
};

struct repartition_order { /* one cut of the plan that is being made */
    gpu_id gpu;
    struct gpu_cut cut;
};

enum { REPARTITIONS_PER_PLAN = 32 };

struct repartition_book {
    struct recut *open;
    size_t capacity;
    uint32_t count;
    time_ns *cut_at; /* by gpu_id: when it was cut last, + 1; 0: never */
    uint64_t told;   /* repartitions so far */
    struct repartition_order plan[REPARTITIONS_PER_PLAN];
    uint32_t plan_count;
    uint32_t *class_queues; /* scratch: those that may ask for a cut */
    size_t class_queue_capacity;
    struct piece_list pieces; /* scratch: the pieces of the job that GPUs are cut for */
    uint8_t *hopes;           /* scratch, by request class: enum hope */
    size_t hope_capacity;
    time_ns rested_at;                 /* when the first GPU that rests may be cut again; TIME_NEVER */
    struct repartition_places *places; /* index of the best places for a cut */
};

#endif
