/* sim/job/job_pieces.h -- what a job holds: its pieces, and its members counted by set.
 *
 * A job is complete, and may work, while as many of its sets as it needs are satisfied (workloads/job.h): without sets
 * each group is a set of its own.
 *
 * Law: the members counted are those of the pieces.  Storage is kept when it is planned for another job.
 *
 * It does not: know time or decisions.
 */
#ifndef SIM_JOB_JOB_PIECES_H
#define SIM_JOB_JOB_PIECES_H

#include "base/mem.h"
#include "policies/sched.h"

struct held_set {
    uint32_t min_members, held;
};

struct job_pieces {
    struct piece one; /* the only piece, while `more` is NULL: a plain job needs no other memory */
    uint32_t piece_count;
    struct piece *more; /* all of them, else; in the order in which they came */
    size_t piece_capacity;
    uint32_t member_count; /* the job has in all */
    uint32_t held_count;   /* of them here */
    uint32_t short_count;  /* sets below their minimum */
    uint32_t needed_count; /* sets that have one: of a job that holds nothing all of them are below */
    uint32_t set_count;
    uint16_t min_sets;     /* of the job; used where may_lack */
    bool may_lack;         /* not all sets are needed */
    bool has_tree;         /* else each group is a set of its own; used where may_lack */
    struct held_set only;  /* if set_count is 1, so that a plain job has its counts at hand */
    struct held_set *sets; /* else */
    size_t set_capacity;
    struct job_set *tree; /* the job's sets, without names, if has_tree */
    size_t tree_capacity;
    uint16_t *set_of; /* by group of the job; not used if set_count is 1 */
    size_t group_capacity;
}; /* {0} holds nothing */

static inline struct held_set *job_pieces_set(struct job_pieces *held, uint32_t set)
{
    return held->set_count == 1 ? &held->only : &held->sets[set];
}

static inline uint32_t job_pieces_set_of(const struct job_pieces *held, uint32_t group)
{
    return held->set_count == 1 ? 0 : held->set_of[group];
}

static inline const struct piece *job_pieces_all(const struct job_pieces *held)
{
    return held->more != NULL ? held->more : &held->one;
}

/* For this job; empty. */
void job_pieces_plan(struct job_pieces *held, const struct job *job);
void job_pieces_release(struct job_pieces *held);
void job_pieces_clear(struct job_pieces *held);

void job_pieces_add(struct job_pieces *held, const struct piece *pieces, uint32_t count);

/* Take away what these name: whole pieces, or parts of them.  False if one is not held; then nothing changed
 * but for the pieces before it. */
bool job_pieces_take(struct job_pieces *held, const struct piece *pieces, uint32_t count);

/* Whether it would still be complete without these. */
bool job_pieces_is_complete_without(struct job_pieces *held, const struct piece *pieces, uint32_t count);

/* Are as many sets satisfied as the job needs?  Of jobs that need all, and of others.  O(sets). */
bool job_pieces_has_enough_sets(const struct job_pieces *held);

static inline bool job_pieces_is_complete(const struct job_pieces *held)
{
    return held->short_count == 0 || (held->may_lack && job_pieces_has_enough_sets(held));
}

/* Members that work while the job is complete: those of satisfied sets, or all if none of those holds any.  O(sets). */
uint32_t job_pieces_working(const struct job_pieces *held);

int64_t pieces_gpu_milli(const struct piece *pieces, uint32_t count);
uint32_t pieces_member_count(const struct piece *pieces, uint32_t count);

#endif
