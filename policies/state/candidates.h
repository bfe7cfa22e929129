/* policies/state/candidates.h -- the jobs that may be victims, and what is asked of each again and again. */
#ifndef POLICIES_STATE_CANDIDATES_H
#define POLICIES_STATE_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "topologies/queue_table.h"

struct archive;
struct sched;

/* What an eviction throws away: now, growing so fast, and only `least` at `saved_at`, if ever. */
struct preemption_cost {
    int64_t loss_gpu_ns, growth_milli, least_gpu_ns;
    time_ns saved_at; /* TIME_NEVER: it is not saved meanwhile */
};

/* What is asked of a possible victim again and again; see candidates.c. */
struct victim_candidate {
    bool is_known;                             /* the rest holds */
    bool is_non_preemptible;                   /* cannot be preempted, or is spared */
    bool is_spent;                             /* was evicted as often as a job may be */
    bool is_claiming, is_starting, is_leaving; /* some of its holdings are */
    bool has_surplus;                          /* above its minimum */
    time_ns decided;
    uint64_t decided_cycle;
    int64_t held_milli, growth_milli;     /* of GPUs; growth: while it runs on, what it would lose grows */
    time_ns lost_at_least;                /* to save and to restart */
    time_ns unsaved_since, save_interval; /* 0: it does not save by itself */
};

struct priority_tally { /* possible victims of one priority */
    int32_t priority;
    uint32_t jobs;
};

struct queue_candidates {           /* of the jobs that may be victims */
    struct priority_tally *tallies; /* of the priorities that some have, in no order */
    size_t tally_capacity;
    uint32_t tally_count;
    uint32_t version; /* moves whenever one of them comes, or changes */
    bool is_floor_known;
    int64_t floor_gpu_ns; /* none of them loses less, from then on */
};

/* The job's holdings, their phases, its evictions or its saved work changed. */
void candidates_forget(struct sched *sched, uint32_t slot);
/* The card of a job that holds something; good until the next call. */
struct victim_candidate *candidates_get(struct sched *sched, uint32_t slot);
/* What it is given to save its work when it is evicted: what it asks for, at most what the policy grants; 0: it cannot
 * save, or nobody is let. */
time_ns sched_grace(const struct sched *sched, uint32_t slot);
struct preemption_cost candidates_cost(struct victim_candidate *candidate, time_ns now); /* if it left now */
/* The run time since its work was last safe. */
time_ns candidates_unsaved(struct victim_candidate *candidate, time_ns now);

/* The job is a possible victim now, or is none any more. */
void candidates_list(struct sched *sched, uint32_t slot, bool is_listed);
/* Is there a possible victim of lower priority in the queue?  O(distinct priorities). */
bool candidates_has_lower(const struct sched *sched, queue_id queue, int32_t priority);
/* How often the candidates of the queue came or changed. */
uint32_t candidates_version(const struct sched *sched, queue_id queue);
/* No job of the queue loses less if it is evicted, now or later; INT64_MAX: none may be.  O(1) while nothing changed.
 */
int64_t candidates_floor(struct sched *sched, queue_id queue);
void candidates_refloor(struct sched *sched, queue_id queue); /* it may have risen */
void candidates_release(struct sched *sched);
void candidates_archive(struct archive *archive, struct sched *sched);
const char *candidates_check(const struct sched *sched); /* NULL: what is on the cards is true */

#endif
