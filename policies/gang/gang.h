/* policies/gang/gang.h -- the seam "what starts together".
 *
 * A job asks in chunks: the members that must start in one instant, next.  A policy names the next chunk from
 * what the job holds; the engine places all of it or nothing.
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
    const struct policy_own
        *own; /* of a plug-in's policy; NULL: it is built in, or nobody asks it */
};

struct gang_policy {
    const char *name;
    uint32_t version;
    const char *summary;
    bool is_all_or_nothing; /* nothing starts below the minimum */
    /* Write how many members of each group come next; false if the job wants no more.  Called when the job
     * comes to wait and after each growth; pure. */
    bool (*next)(const struct gang_view *view, uint32_t chunk[]);
};

extern const struct gang_policy *const gang_policies[]; /* NULL-terminated */

/* Members that set `set` holds, and those it must hold to run. */
uint32_t gang_held(const struct gang_view *view, uint32_t set);
uint32_t gang_minimum(const struct gang_view *view, uint32_t set);

/* The members of each group that still lack to the minimum; false if none does. */
bool gang_minimum_chunk(const struct gang_view *view, uint32_t chunk[]);

/* FILL_BELOW, FILL_MINIMUM or FILL_ABOVE of the whole job (policies/order/order.h). */
uint8_t gang_fill(const struct gang_view *view);

/* How many members of each group leave next when the job must give something back: one of a set above its
 * minimum, the last set and group first; or all, when none is.  True if the job can go on without them. */
bool gang_shrink(const struct gang_view *view, uint32_t chunk[]);

#endif
