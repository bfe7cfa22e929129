/* policies/repartition/repartitions.h -- GPUs cut anew for jobs that find no place: what is under way, and how often it was done.
 *
 * Part of the scheduler's inside; the seam is policies/geometry/geometry.h.
 *
 * Laws: a GPU is cut anew only if what is destroyed is free, nothing is being made of it, and it rested.  Who a GPU is
 * cut for claims what is made.  In no hour are more cut than the policy allows.
 */
#ifndef POLICIES_REPARTITION_REPARTITIONS_H
#define POLICIES_REPARTITION_REPARTITIONS_H

#include "policies/ledger/ledger.h"

struct archive;
struct recut_places;
struct sched;

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
    uint8_t *hopes; /* scratch, by shape: enum hope */
    size_t hope_capacity;
    time_ns rested_at; /* when the first GPU that was left alone may be cut again; TIME_NEVER */
    struct recut_places *places; /* where a GPU is best cut: what is kept of it; not saved */
};

/* Cut GPUs for heads that wait for nothing but space and have waited long enough. */
void recuts_seek(struct sched *sched);
/* When somebody will have waited long enough, or another may be cut; TIME_NEVER. */
time_ns recuts_wake(struct sched *sched);
/* The world does not do it: the GPU is what it was, and who waited for it waits on.  False: no such decision is open. */
bool recuts_refused(struct sched *sched, decision_id decision, time_ns now);
/* Is the node kept until a GPU of it is cut? */
bool recuts_keep(const struct sched *sched, node_id node);
void recuts_node_changed(struct sched *sched, node_id node); /* up, or not */
void recuts_init(struct sched *sched);                       /* if the policy cuts GPUs */
void recuts_release(struct sched *sched);
void recuts_archive(struct archive *archive, struct sched *sched);

#endif
