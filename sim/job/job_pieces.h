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
    struct piece *more; /* otherwise all pieces, in the order in which they came */
    size_t piece_capacity;
    uint32_t member_count; /* members of the job */
    uint32_t held_count;   /* members that it holds */
    uint32_t short_count;  /* sets below their minimum */
    uint32_t needed_count; /* sets with a minimum above 0: all of them are short when the job holds nothing */
    uint32_t set_count;
    uint16_t min_sets;     /* of the job; used where may_lack */
    bool may_lack;         /* the job can run without some sets */
    bool has_tree;         /* false: each group is a set of its own; used where may_lack */
    struct held_set only;  /* if set_count is 1: a plain job needs no other memory */
    struct held_set *sets; /* otherwise */
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

/* Prepare for this job; it holds nothing. */
void job_pieces_plan(struct job_pieces *held, const struct job *job);
void job_pieces_release(struct job_pieces *held);
void job_pieces_clear(struct job_pieces *held);

void job_pieces_add(struct job_pieces *held, const struct piece *pieces, uint32_t count);

/* Remove these pieces, which may be parts of held pieces.  False if one is not held; the pieces before it are then
 * removed. */
bool job_pieces_take(struct job_pieces *held, const struct piece *pieces, uint32_t count);

/* Would the job still be complete without these pieces? */
bool job_pieces_is_complete_without(struct job_pieces *held, const struct piece *pieces, uint32_t count);

/* Are as many sets satisfied as the job needs?  Correct for every job; needed only where may_lack.  O(sets). */
bool job_pieces_has_enough_sets(const struct job_pieces *held);

static inline bool job_pieces_is_complete(const struct job_pieces *held)
{
    return held->short_count == 0 || (held->may_lack && job_pieces_has_enough_sets(held));
}

/* The members that work while the job is complete: those of satisfied sets, or all members if no satisfied set holds
 * any.  O(sets). */
uint32_t job_pieces_working(const struct job_pieces *held);

int64_t pieces_gpu_milli(const struct piece *pieces, uint32_t count);
uint32_t pieces_member_count(const struct piece *pieces, uint32_t count);

#endif
