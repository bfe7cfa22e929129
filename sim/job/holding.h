/* sim/job/holding.h -- what a job holds: its pieces, and its members counted by set.
 *
 * A job is complete, and may work, while as many of its sets as it needs are satisfied (workloads/job.h): without sets
 * each group is a set of its own.
 *
 * Law: the members counted are those of the pieces.  Storage is kept when a holding is planned anew.
 *
 * It does not: know time, or who decided.
 */
#ifndef SIM_JOB_HOLDING_H
#define SIM_JOB_HOLDING_H

#include "base/mem.h"
#include "policies/sched.h"

struct holding_set {
    uint32_t min_members, held;
};

struct holding {
    struct piece one; /* the only piece, while `more` is NULL: a plain job needs no other memory */
    uint32_t piece_count;
    struct piece *more; /* all of them, else; in the order in which they came */
    size_t piece_capacity;
    uint32_t member_count; /* the job has in all */
    uint32_t held_count;   /* of them here */
    uint32_t short_count;  /* sets below their minimum */
    uint32_t needed_count; /* sets that have one: of a holding that is empty all of them are below */
    uint32_t set_count;
    uint16_t min_sets;        /* of the job; used where may_lack */
    bool may_lack;            /* not all sets are needed */
    bool has_tree;            /* else each group is a set of its own; used where may_lack */
    struct holding_set only;  /* if set_count is 1, so that a plain job has its counts at hand */
    struct holding_set *sets; /* else */
    size_t set_capacity;
    struct job_set *tree; /* the job's sets, without names, if has_tree */
    size_t tree_capacity;
    uint16_t *set_of; /* by group of the job; not used if set_count is 1 */
    size_t group_capacity;
}; /* {0} holds nothing */

static inline struct holding_set *holding_set(struct holding *holding, uint32_t set)
{
    return holding->set_count == 1 ? &holding->only : &holding->sets[set];
}

static inline uint32_t holding_set_of(const struct holding *holding, uint32_t group)
{
    return holding->set_count == 1 ? 0 : holding->set_of[group];
}

static inline const struct piece *holding_pieces(const struct holding *holding)
{
    return holding->more != NULL ? holding->more : &holding->one;
}

/* For this job; empty. */
void holding_plan(struct holding *holding, const struct job *job);
void holding_release(struct holding *holding);
void holding_clear(struct holding *holding);

void holding_add(struct holding *holding, const struct piece *pieces, uint32_t count);

/* Take away what these name: whole pieces, or parts of them.  False if one is not held; then nothing changed
 * but for the pieces before it. */
bool holding_take(struct holding *holding, const struct piece *pieces, uint32_t count);

/* Whether it would still be complete without these. */
bool holding_is_complete_without(struct holding *holding, const struct piece *pieces, uint32_t count);

/* Are as many sets satisfied as the job needs?  Of jobs that need all, and of others.  O(sets). */
bool holding_has_enough_sets(const struct holding *holding);

static inline bool holding_is_complete(const struct holding *holding)
{
    return holding->short_count == 0 || (holding->may_lack && holding_has_enough_sets(holding));
}

/* Members that work while the job is complete: those of satisfied sets, or all if none of those holds any.  O(sets). */
uint32_t holding_working(const struct holding *holding);

int64_t pieces_gpu_milli(const struct piece *pieces, uint32_t count);
uint32_t pieces_member_count(const struct piece *pieces, uint32_t count);

#endif
