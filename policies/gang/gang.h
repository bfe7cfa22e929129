/* policies/gang/gang.h -- the seam "what starts together".
 *
 * A job asks in allocation steps: the members that must start in one instant, next.  A policy names the next
 * allocation step from what the job holds; the engine places all of it or nothing.
 *
 * A policy is one const struct; add it to policies/config/registry.c.
 */
#ifndef POLICIES_GANG_H
#define POLICIES_GANG_H

#include "policies/own.h"
#include "workloads/job.h"

struct gang_view {
    const struct job_group *groups;
    const struct job_set *sets; /* NULL: each group is a set of its own */
    const uint32_t *held;       /* members held, by group; not counting those on their way out */
    uint16_t group_count, set_count;
    uint16_t min_sets;            /* of the sets in no other, or of the groups, that must be satisfied; 0: all */
    const struct policy_own *own; /* of a plug-in's policy; NULL: it is built in, or nobody asks it */
};

struct gang_policy {
    const char *name;
    uint32_t version;
    const char *summary;
    bool is_all_or_nothing; /* nothing starts below the minimum */
    /* Write how many members of each group come next; false if the job wants no more.  Called when the job
     * comes to wait and after each growth; pure. */
    bool (*next)(const struct gang_view *view, uint32_t step[]);
};

extern const struct gang_policy *const gang_policies[]; /* NULL-terminated */

/* Members that set `set` holds, and those it must hold to run. */
uint32_t gang_held(const struct gang_view *view, uint32_t set);
uint32_t gang_minimum(const struct gang_view *view, uint32_t set);

/* How many sets that are in no other, or groups, are satisfied.  O(sets * groups). */
uint32_t gang_satisfied(const struct gang_view *view);

/* Which sets make up the minimum, by set.  Where fewer sets are needed than there are (struct job_set): those that are
 * satisfied first, then those that hold members, then the others; among equals in their order.  O(sets * sets). */
void gang_core(const struct gang_view *view, bool is_core[]);

/* The members of each group that still lack to the minimum; false if none does. */
bool gang_minimum_step(const struct gang_view *view, uint32_t step[]);

/* What comes next above the minimum: what the first set that is not satisfied lacks, or one member of a set before it;
 * false: the job is full. */
bool gang_surplus_step(const struct gang_view *view, uint32_t step[]);

/* The groups of the set and of the sets in it, as bits. */
uint64_t gang_groups_within(const struct gang_view *view, uint32_t set);

/* FILL_BELOW, FILL_MINIMUM or FILL_ABOVE of the whole job (policies/order/order.h). */
uint8_t gang_fill(const struct gang_view *view);

/* How many members of each group leave next when the job must give something back, the last set and group first: one of
 * a set above its minimum, all of a set (and of those in it) beyond the core; or all of the job, when there is none.
 * True if the job can go on without them.  set: which set leaves as a whole; SET_NONE: none does. */
bool gang_shrink(const struct gang_view *view, uint32_t step[], uint32_t *set);

#endif
