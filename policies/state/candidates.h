/* policies/state/candidates.h -- the jobs that may be victims, and the data that plans need of each. */
#ifndef POLICIES_STATE_CANDIDATES_H
#define POLICIES_STATE_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "topologies/queue_table.h"

struct sched;

/* Preemption cost of a job: the GPU time lost now, its growth, and the loss at `saved_at`, when the work is saved. */
struct preemption_cost {
    int64_t loss_gpu_ns, growth_milli, least_gpu_ns;
    time_ns saved_at; /* TIME_NEVER: no checkpoint is due */
};

/* The data that plans need of a possible victim; see candidates.c. */
struct victim_candidate {
    bool is_known;                             /* the other fields are valid */
    bool is_non_preemptible;                   /* cannot be preempted, or is protected */
    bool is_spent;                             /* was evicted as often as the policy allows */
    bool is_claiming, is_starting, is_leaving; /* phases that some of its holdings are in */
    bool has_surplus;                          /* above its minimum */
    bool is_plain; /* none of the above but is_known: only times can protect it, and it goes as a whole */
    time_ns decided;
    uint64_t decided_cycle;
    int64_t held_milli, growth_milli;     /* of GPUs; growth of the preemption cost while the job runs */
    time_ns lost_at_least;                /* to save and to restart */
    time_ns unsaved_since, save_interval; /* 0: it does not save by itself */
};

struct priority_tally { /* possible victims of one priority */
    int32_t priority;
    uint32_t jobs;
};

struct queue_candidates {           /* of the jobs that may be victims */
    struct priority_tally *tallies; /* of the priorities that occur, in no order */
    size_t tally_capacity;
    uint32_t tally_count;
    uint32_t version; /* changes whenever a candidate is added or changes */
    bool is_floor_known;
    uint32_t settled_version; /* at this version no candidate was starting */
    int64_t floor_gpu_ns;     /* least preemption cost of all of them, now and later */
};

struct candidates {
    struct victim_candidate *of_job; /* by slot */
    size_t job_capacity;
    struct queue_candidates *of_queue; /* by queue_id */
    size_t queue_capacity;
    uint64_t changes; /* counts the changes of all versions in this process */
};

/* The candidate of a job that holds something; valid until the next call. */
struct victim_candidate *candidates_get(struct sched *sched, uint32_t slot);
/* The grace period for saving its work when it is evicted: the job's request, at most what the policy grants. 0: the
 * job cannot save, or the policy grants none. */
time_ns sched_grace(const struct sched *sched, uint32_t slot);
struct preemption_cost candidates_cost(struct victim_candidate *candidate, time_ns now); /* of an eviction now */
/* The run time since its work was last saved. */
time_ns candidates_unsaved(struct victim_candidate *candidate, time_ns now);

/* How many possible victims of lower priority are in the queue?  O(distinct priorities). */
uint32_t candidates_count_lower(const struct sched *sched, queue_id queue, int32_t priority);
/* How often the candidates of the queue were added to or changed. */
uint32_t candidates_version(const struct sched *sched, queue_id queue);
/* Is it known that no candidate of the queue is starting, or was started in this cycle?  The caller of
 * candidates_set_settled has looked at each of them; what it saw is valid until one of them changes. */
bool candidates_are_settled(const struct sched *sched, queue_id queue);
void candidates_set_settled(struct sched *sched, queue_id queue);
/* A lower bound of the preemption cost of any job of the queue, now or later; INT64_MAX: none may be evicted. O(1)
 * while nothing changed. */
int64_t candidates_floor(struct sched *sched, queue_id queue);
void candidates_refloor(struct sched *sched, queue_id queue); /* the floor may have risen */

#endif
