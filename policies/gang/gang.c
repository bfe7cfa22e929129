/* What gang policies share: sets, how full a job is, and the way back.
 *
 * The minimum of a job are its core sets, each at its own minimum.  A set beyond those is surplus as a whole: it comes
 * with all that it needs in one allocation step, and leaves so.
 * Above the minimum a job grows by its sets in order: what a set lacks to be satisfied, then one member at a time of
 * the first group with members left.  Shrinking is the exact reverse.  What holds nothing is below its minimum, even
 * if no set asks for anything.
 * Source: KAI-Scheduler's elastic pod groups, which give back one surplus pod or the whole job; minSubGroup.
 * Departures: when the job lacks its minimum all of it goes, though a set may have a surplus: it does not run anyway.
 * Core sets that have not started are the first in order, whether or not there is space for them now.
 * Cost: O(sets * groups), at most 64 * 64. */
#include "policies/gang/gangs.h"

#include <string.h>

#include "policies/order/order.h"

uint32_t gang_set_count(const struct gang_view *view)
{
    return view->sets != NULL ? view->set_count : view->group_count;
}

bool gang_in_set(const struct gang_view *view, uint32_t group, uint32_t set)
{
    return (view->sets != NULL ? view->groups[group].set : group) == set;
}

uint32_t gang_held(const struct gang_view *view, uint32_t set)
{
    uint32_t held = 0;
    for (uint32_t g = 0; g < view->group_count; g++)
        held += gang_in_set(view, g, set) ? view->held[g] : 0;
    return held;
}

uint32_t gang_minimum(const struct gang_view *view, uint32_t set)
{
    return view->sets != NULL ? view->sets[set].min_members : view->groups[set].min_count;
}

/* How the sets of a job stand. */
struct standing {
    uint32_t held[JOB_PARTS_MAX]; /* members, by set: of its own groups */
    bool satisfied[JOB_PARTS_MAX];
    bool is_chosen[JOB_PARTS_MAX]; /* by what it is directly in, to be satisfied; core if that is too */
    bool is_enough;                /* the job has the sets that it needs */
};

static uint16_t parent_of(const struct gang_view *view, uint32_t set)
{
    return view->sets != NULL ? view->sets[set].parent : SET_NONE;
}

static bool needs_all_sets(const struct gang_view *view)
{
    bool needs_all = view->min_sets == 0;
    for (uint32_t s = 0; view->sets != NULL && s < view->set_count && needs_all; s++)
        needs_all = view->sets[s].min_sets == 0;
    return needs_all;
}

/* Of the sets directly in `parent`, as many as it needs: the best first. */
static void choose_in(const struct gang_view *view, uint16_t parent, uint32_t needed, const uint8_t rank[],
                      bool is_chosen[])
{
    for (uint8_t r = 0; r <= 2; r++)
        for (uint32_t s = 0; s < gang_set_count(view) && needed > 0; s++)
            if (parent_of(view, s) == parent && rank[s] == r) {
                is_chosen[s] = true;
                needed--;
            }
}

static void choose(const struct gang_view *view, struct standing *standing)
{
    const uint32_t count = gang_set_count(view);
    uint8_t rank[JOB_PARTS_MAX];
    bool holds[JOB_PARTS_MAX] = {false}; /* it or a set in it */
    for (uint32_t s = count; s-- > 0;) {
        holds[s] |= standing->held[s] > 0;
        if (parent_of(view, s) != SET_NONE)
            holds[parent_of(view, s)] |= holds[s];
        rank[s] = standing->satisfied[s] ? 0 : holds[s] ? 1 : 2;
        standing->is_chosen[s] = false;
    }
    choose_in(view, SET_NONE, view->min_sets > 0 ? view->min_sets : count, rank, standing->is_chosen);
    for (uint32_t s = 0; view->sets != NULL && s < count; s++)
        choose_in(view, (uint16_t)s, view->sets[s].min_sets > 0 ? view->sets[s].min_sets : count, rank,
                  standing->is_chosen);
}

static void stand(const struct gang_view *view, struct standing *standing)
{
    const uint32_t count = gang_set_count(view);
    memset(standing->held, 0, count * sizeof standing->held[0]);
    for (uint32_t g = 0; g < view->group_count; g++)
        standing->held[view->sets != NULL ? view->groups[g].set : g] += view->held[g];
    for (uint32_t s = 0; s < count; s++)
        standing->satisfied[s] = standing->held[s] >= gang_minimum(view, s);
    standing->is_enough = sets_settle(view->sets, count, view->min_sets, standing->satisfied);
    if (needs_all_sets(view))
        memset(standing->is_chosen, true, count * sizeof standing->is_chosen[0]);
    else
        choose(view, standing);
}

/* The sets that `top` needs to be satisfied, itself included; SET_NONE: that the job needs. */
static void core_of(const struct gang_view *view, const struct standing *standing, uint32_t top, bool is_core[])
{
    for (uint32_t s = 0; s < gang_set_count(view); s++) {
        const uint16_t parent = parent_of(view, s);
        is_core[s] = s == top || (standing->is_chosen[s] && (parent == SET_NONE ? top == SET_NONE : is_core[parent]));
    }
}

void gang_core(const struct gang_view *view, bool is_core[])
{
    struct standing standing;
    stand(view, &standing);
    core_of(view, &standing, SET_NONE, is_core);
}

uint32_t gang_satisfied(const struct gang_view *view)
{
    struct standing standing;
    uint32_t count = 0;
    stand(view, &standing);
    for (uint32_t s = 0; s < gang_set_count(view); s++)
        count += standing.satisfied[s] && parent_of(view, s) == SET_NONE;
    return count;
}

uint64_t gang_groups_within(const struct gang_view *view, uint32_t set)
{
    uint64_t groups = 0;
    for (uint32_t g = 0; g < view->group_count; g++) {
        uint32_t at = view->sets != NULL ? view->groups[g].set : g;
        while (at != set && at != SET_NONE)
            at = parent_of(view, at);
        groups |= (uint64_t)(at == set) << g;
    }
    return groups;
}

static inline uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The members that the set misses of its minimum. */
static bool fill_set(const struct gang_view *view, uint32_t set, uint32_t step[])
{
    uint32_t held = gang_held(view, set), minimum = gang_minimum(view, set);
    uint32_t missing = held < minimum ? minimum - held : 0;
    bool is_any = false;
    for (uint32_t g = 0; g < view->group_count && missing > 0; g++) {
        if (!gang_in_set(view, g, set))
            continue;
        step[g] = smaller(missing, view->groups[g].count - view->held[g]);
        missing -= step[g];
        is_any |= step[g] != 0;
    }
    return is_any;
}

/* What the sets of the core miss. */
static bool fill_core(const struct gang_view *view, const bool is_core[], uint32_t step[])
{
    bool is_any = false;
    for (uint32_t s = 0; s < gang_set_count(view); s++)
        if (is_core[s])
            is_any |= fill_set(view, s, step);
    return is_any;
}

bool gang_minimum_step(const struct gang_view *view, uint32_t step[])
{
    bool is_core[JOB_PARTS_MAX];
    memset(step, 0, view->group_count * sizeof step[0]);
    gang_core(view, is_core);
    return fill_core(view, is_core, step);
}

static bool grow_set(const struct gang_view *view, uint32_t set, uint32_t step[])
{
    for (uint32_t g = 0; g < view->group_count; g++)
        if (gang_in_set(view, g, set) && view->held[g] < view->groups[g].count) {
            step[g] = 1;
            return true;
        }
    return false;
}

bool gang_surplus_step(const struct gang_view *view, uint32_t step[])
{
    struct standing standing;
    bool is_core[JOB_PARTS_MAX], is_any = false;
    memset(step, 0, view->group_count * sizeof step[0]);
    stand(view, &standing);
    for (uint32_t s = 0; s < gang_set_count(view) && !is_any; s++) {
        if (standing.satisfied[s] || !standing.is_enough) {
            is_any = grow_set(view, s, step);
            continue;
        }
        core_of(view, &standing, s, is_core);
        is_any = fill_core(view, is_core, step);
    }
    return is_any;
}

static uint32_t held_by_all(const struct gang_view *view)
{
    uint32_t held = 0;
    for (uint32_t g = 0; g < view->group_count; g++)
        held += view->held[g];
    return held;
}

/* What the set and those in it hold, by group; how many members. */
static uint32_t held_within(const struct gang_view *view, uint32_t set, uint32_t held[])
{
    const uint64_t groups = gang_groups_within(view, set);
    uint32_t members = 0;
    for (uint32_t g = 0; g < view->group_count; g++) {
        held[g] = groups >> g & 1 ? view->held[g] : 0;
        members += held[g];
    }
    return members;
}

uint8_t gang_fill(const struct gang_view *view)
{
    struct standing standing;
    uint32_t held[JOB_GROUPS_MAX];
    stand(view, &standing);
    if (held_by_all(view) == 0 || !standing.is_enough)
        return FILL_BELOW;
    for (uint32_t s = 0; s < gang_set_count(view); s++)
        if (standing.held[s] > gang_minimum(view, s) || (!standing.is_chosen[s] && held_within(view, s, held) > 0))
            return FILL_ABOVE;
    return FILL_MINIMUM;
}

/* One member of a set above its minimum; all of a set beyond those needed: *is_whole. */
static bool shrink_set(const struct gang_view *view, const struct standing *standing, uint32_t set, uint32_t step[],
                       bool *is_whole)
{
    *is_whole = standing->held[set] <= gang_minimum(view, set);
    if (*is_whole)
        return !standing->is_chosen[set] && held_within(view, set, step) > 0;
    for (uint32_t g = view->group_count; g-- > 0;)
        if (gang_in_set(view, g, set) && view->held[g] > 0) {
            step[g] = 1;
            return true;
        }
    return false;
}

static uint32_t members_of(const struct gang_view *view, const uint32_t step[])
{
    uint32_t members = 0;
    for (uint32_t g = 0; g < view->group_count; g++)
        members += step[g];
    return members;
}

bool gang_shrink(const struct gang_view *view, uint32_t step[], uint32_t *set)
{
    struct standing standing;
    bool is_whole = false;
    *set = SET_NONE;
    memset(step, 0, view->group_count * sizeof step[0]);
    if (gang_fill(view) == FILL_ABOVE) {
        stand(view, &standing);
        for (uint32_t s = gang_set_count(view); s-- > 0;)
            if (shrink_set(view, &standing, s, step, &is_whole)) {
                if (members_of(view, step) == held_by_all(view))
                    break;
                *set = is_whole ? s : SET_NONE;
                return true;
            }
    }
    memcpy(step, view->held, view->group_count * sizeof step[0]);
    return false;
}
