/* all_or_nothing.  What a job needs to run starts in one instant or not at all; above that it grows member by member.
 *
 * The first allocation step is, for every core set below its minimum, the members missing there, its groups in order;
 * then, for the sets in order, what a set lacks to be satisfied, or one member of its first group that has members
 * left.  A rigid job (minimum = all) is one allocation step.
 * Source: KAI-Scheduler's tasks to allocate.  Departure: a job whose sets may all be empty starts with one member.
 * Cost: O(sets * groups).
 * Known failure: a large gang waits while small jobs take each GPU that comes free; only a reservation or an eviction
 * helps it.  Growing one by one spreads an elastic job over what happens to be free. */
#include "policies/gang/gangs.h"

static bool next(const struct gang_view *view, uint32_t step[])
{
    return gang_minimum_step(view, step) || gang_surplus_step(view, step);
}

const struct gang_policy gang_all_or_nothing = {
    .name = "all_or_nothing",
    .version = 1,
    .summary = "the minimum starts in one instant, then it grows by one; large gangs wait for "
               "space to come together",
    .is_all_or_nothing = true,
    .next = next,
};
