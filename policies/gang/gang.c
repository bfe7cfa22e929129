/* What gang policies share: sets, how full a job is, and the way back.
 *
 * Growth above the minimum takes the first group with members left, sets in order and groups in order within them;
 * shrinking is its exact reverse.  What holds nothing is below its minimum, even if no set asks for anything.
 * Source: KAI-Scheduler's elastic pod groups, which give back one surplus pod or the whole job.
 * Departure: when one set is below its minimum the whole job goes, though another may have a surplus: it does not run
 * anyway.  Cost: O(sets * groups), at most 64 * 64. */
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

static inline uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The members that the set misses of its minimum. */
static bool fill_set(const struct gang_view *view, uint32_t set, uint32_t chunk[])
{
    uint32_t held = gang_held(view, set), minimum = gang_minimum(view, set);
    uint32_t missing = held < minimum ? minimum - held : 0;
    bool is_any = false;
    for (uint32_t g = 0; g < view->group_count && missing > 0; g++) {
        if (!gang_in_set(view, g, set))
            continue;
        chunk[g] = smaller(missing, view->groups[g].count - view->held[g]);
        missing -= chunk[g];
        is_any |= chunk[g] != 0;
    }
    return is_any;
}

bool gang_minimum_chunk(const struct gang_view *view, uint32_t chunk[])
{
    bool is_any = false;
    memset(chunk, 0, view->group_count * sizeof chunk[0]);
    for (uint32_t s = 0; s < gang_set_count(view); s++)
        is_any |= fill_set(view, s, chunk);
    return is_any;
}

static uint32_t held_by_all(const struct gang_view *view)
{
    uint32_t held = 0;
    for (uint32_t g = 0; g < view->group_count; g++)
        held += view->held[g];
    return held;
}

uint8_t gang_fill(const struct gang_view *view)
{
    uint8_t fill = held_by_all(view) == 0 ? FILL_BELOW : FILL_MINIMUM;
    for (uint32_t s = 0; s < gang_set_count(view) && fill != FILL_BELOW; s++) {
        uint32_t held = gang_held(view, s), minimum = gang_minimum(view, s);
        if (held < minimum)
            fill = FILL_BELOW;
        else if (held > minimum)
            fill = FILL_ABOVE;
    }
    return fill;
}

static bool shrink_set(const struct gang_view *view, uint32_t set, uint32_t chunk[])
{
    if (gang_held(view, set) <= gang_minimum(view, set))
        return false;
    for (uint32_t g = view->group_count; g-- > 0;)
        if (gang_in_set(view, g, set) && view->held[g] > 0) {
            chunk[g] = 1;
            return true;
        }
    return false;
}

bool gang_shrink(const struct gang_view *view, uint32_t chunk[])
{
    memset(chunk, 0, view->group_count * sizeof chunk[0]);
    if (gang_fill(view) == FILL_ABOVE && held_by_all(view) > 1)
        for (uint32_t s = gang_set_count(view); s-- > 0;)
            if (shrink_set(view, s, chunk))
                return true;
    memcpy(chunk, view->held, view->group_count * sizeof chunk[0]);
    return false;
}
