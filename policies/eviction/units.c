/* The eviction units of a job: which parts can be taken, and which must go together.
 *
 * A unit is a surplus member, a surplus set, or the core: all but the surplus (policies/gang/gang.h says what is
 * surplus, and in which order it leaves).  A surplus set is a unit without its members above its minimum and without
 * the surplus sets in it: those are units of their own and go before it.  All surplus goes before the core.
 * Cost: O(holdings * units of the job) for a job with surplus; a plan's units are searched for those of the job. */
#include <string.h>

#include "policies/eviction/units.h"
#include "policies/eviction/victims.h"
#include "policies/gang/gang.h"
#include "policies/state/candidates.h"
#include "policies/state/over_quota.h"
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"

/* ---- What a unit holds ---- */

struct unit_terms *units_new_terms(struct plan_scratch *plan, struct unit *unit)
{
    MEM_GROW(plan->terms, plan->term_capacity, (size_t)plan->term_count + 1);
    unit->terms = ++plan->term_count;
    struct unit_terms *terms = unit_terms(plan, unit);
    memset(terms->charge, 0, sizeof terms->charge);
    terms->groups = 0;
    terms->sequence = 0;
    terms->preemption_cost = (struct preemption_cost){.saved_at = TIME_NEVER};
    return terms;
}

/* The groups of a unit's members, as bits. */
static uint64_t groups_of(const struct sched *sched, const struct unit *unit)
{
    if (unit->holding == UNIT_CORE)
        return UINT64_MAX;
    if (unit->holding == UNIT_SET)
        return unit_terms(sched->plan, unit)->groups;
    return UINT64_C(1) << sched_job_holding(&sched->jobs.jobs[unit->slot], unit->holding)->piece.group;
}

bool unit_stands_on(const struct sched *sched, const struct unit *unit, const struct unit *base)
{
    if (unit->slot != base->slot || unit == base || unit->holding == UNIT_CORE || base->holding < UNIT_SET)
        return false;
    if (base->holding == UNIT_CORE)
        return true;
    const uint64_t groups = groups_of(sched, unit), all = groups_of(sched, base);
    return (groups & ~all) == 0 && (unit->holding != UNIT_SET || groups != all);
}

/* Is the holding not part of `base` (a core or a set): does it belong to a unit that goes before `base`, does it stay
 * while others of `base` move, or is it leaving already? */
static bool is_beyond(const struct sched *sched, const struct unit *base, uint32_t holding)
{
    const struct holding *own = sched_job_holding(&sched->jobs.jobs[base->slot], holding);
    if (!holding_is_in_place(own))
        return true;
    for (uint32_t s = 0; s < sched->plan->stay_count; s++)
        if (sched->plan->stays[s].slot == base->slot && sched->plan->stays[s].holding == holding)
            return true;
    if (base->surplus_count == 0)
        return false;
    for (uint32_t u = 0; u < sched->plan->unit_count; u++) {
        const struct unit *unit = &sched->plan->units[u];
        if (unit->slot != base->slot)
            continue;
        if (unit->holding == holding ||
            (unit->holding == UNIT_SET && unit != base && unit_stands_on(sched, unit, base) &&
             groups_of(sched, unit) >> own->piece.group & 1))
            return true;
    }
    return false;
}

bool unit_has(const struct sched *sched, const struct unit *unit, uint32_t holding)
{
    if (unit->holding < UNIT_SET)
        return unit->holding == holding;
    if (unit->holding == UNIT_SET &&
        !(groups_of(sched, unit) >> sched_job_holding(&sched->jobs.jobs[unit->slot], holding)->piece.group & 1))
        return false;
    return !is_beyond(sched, unit, holding);
}

/* ---- Units of a job ---- */

/* The last holding of the group that is not among the job's surplus units yet. */
static uint32_t last_of_group(const struct sched *sched, const struct sched_job *job, uint32_t group,
                              uint32_t first_unit)
{
    for (uint32_t i = job->holding_count; i-- > 0;) {
        const struct holding *holding = sched_job_holding(job, i);
        bool is_used = holding->piece.group != group || !holding_is_in_place(holding);
        for (uint32_t u = first_unit; u < sched->plan->unit_count && !is_used; u++)
            is_used = sched->plan->units[u].holding == i;
        if (!is_used)
            return i;
    }
    return UNIT_CORE;
}

/* Is the holding leaving, or part of one of the job's surplus units from `first` to before `end`? */
static bool is_in_units(const struct sched *sched, uint32_t slot, uint32_t holding, uint32_t first, uint32_t end)
{
    const struct holding *own = sched_job_holding(&sched->jobs.jobs[slot], holding);
    bool is_in = !holding_is_in_place(own);
    for (uint32_t u = first; u < end && !is_in; u++) {
        const struct unit *unit = &sched->plan->units[u];
        is_in = unit->holding == holding ||
                (unit->holding == UNIT_SET && (unit_terms(sched->plan, unit)->groups >> own->piece.group & 1));
    }
    return is_in;
}

/* Add one unit with those members of the groups that no surplus unit of the job has yet. */
static struct unit *add_set(struct sched *sched, bool is_over_quota, uint32_t slot, uint64_t groups,
                            uint32_t first_unit)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    struct unit *unit = units_add(sched, is_over_quota, slot, UNIT_SET);
    struct unit_terms *terms = units_new_terms(sched->plan, unit);
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        if (!(groups >> holding->piece.group & 1) ||
            is_in_units(sched, slot, i, first_unit, sched->plan->unit_count - 1))
            continue;
        sched_add_charge(sched, slot, &holding->piece, 1, terms->charge);
        unit->held_milli += piece_milli(&holding->piece);
    }
    terms->groups = groups;
    return unit;
}

static struct unit *add_member(struct sched *sched, bool is_over_quota, uint32_t slot, uint32_t holding)
{
    const struct piece *piece = &sched_job_holding(&sched->jobs.jobs[slot], holding)->piece;
    struct unit *unit = units_add(sched, is_over_quota, slot, holding);
    sched_add_charge(sched, slot, piece, 1, units_new_terms(sched->plan, unit)->charge);
    unit->held_milli = piece_milli(piece);
    return unit;
}

void units_add_surplus(struct sched *sched, uint32_t slot, bool is_over_quota)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    uint32_t held[JOB_GROUPS_MAX], step[JOB_GROUPS_MAX], first = sched->plan->unit_count, set;
    struct gang_view view;
    struct unit *unit;
    bool has_sets = false;
    sched_gang_view(sched, slot, &view);
    memcpy(held, view.held, view.group_count * sizeof *held);
    view.held = held;
    while (gang_fill(&view) == FILL_ABOVE && gang_shrink(&view, step, &set)) {
        uint32_t group = 0;
        while (step[group] == 0)
            group++;
        if (set != SET_NONE) {
            unit = add_set(sched, is_over_quota, slot, gang_groups_within(&view, set), first);
            has_sets = true;
        } else {
            uint32_t holding = last_of_group(sched, job, group, first);
            if (holding == UNIT_CORE)
                break;
            unit = add_member(sched, is_over_quota, slot, holding);
        }
        unit_terms(sched->plan, unit)->sequence = sched->plan->unit_count - first;
        for (uint32_t g = group; g < view.group_count; g++)
            held[g] -= step[g];
    }
    for (uint32_t u = first; u < sched->plan->unit_count && has_sets; u++)
        sched->plan->units[u].has_sets = true;
}

void units_add_core(struct sched *sched, uint32_t slot, bool is_over_quota, const struct victim_candidate *candidate,
                    uint32_t first_surplus)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    uint32_t surplus_end = sched->plan->unit_count;
    const bool has_sets = surplus_end > first_surplus && sched->plan->units[first_surplus].has_sets;
    struct unit *core = units_add(sched, is_over_quota, slot, UNIT_CORE);
    core->has_sets = has_sets;
    if (surplus_end == first_surplus && !candidate->is_leaving) {
        core->held_milli = candidate->held_milli;
        return;
    }
    int64_t *charge = units_new_terms(sched->plan, core)->charge;
    for (uint32_t i = 0; i < job->holding_count; i++) {
        if (is_in_units(sched, slot, i, first_surplus, surplus_end))
            continue;
        sched_add_charge(sched, slot, &sched_job_holding(job, i)->piece, 1, charge);
        core->held_milli += piece_milli(&sched_job_holding(job, i)->piece);
    }
}
