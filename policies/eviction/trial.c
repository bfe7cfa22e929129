/* The trial of a plan: units are taken in the ledger, and given back. */
#include "policies/eviction/trial.h"
#include "policies/booking/booking.h"
#include "policies/eviction/units.h"
#include "policies/ledger/ledger_tags.h"
#include "policies/state/request_classes.h"

static struct sched_job *job_of(struct sched *sched, const struct unit *unit)
{
    return &sched->jobs.jobs[unit->slot];
}

/* Apply the change of the ledger to every piece of the unit. */
static void move_unit(struct sched *sched, const struct unit *unit, ledger_move_fn *move)
{
    const struct sched_job *job = job_of(sched, unit);
    if (unit->holding < UNIT_SET) {
        sched_move(sched, unit->slot, unit->holding, move);
        return;
    }
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (unit_has(sched, unit, i))
            sched_move(sched, unit->slot, i, move);
}

void plan_charge(struct sched *sched, const struct unit *unit, int sign)
{
    const int64_t *charge = unit_terms(sched->plan, unit)->charge;
    int64_t amounts[QUEUE_SUM_COUNT];
    for (int r = 0; r < QUEUE_SUM_COUNT; r++)
        amounts[r] = sign * charge[r];
    ledger_charge(sched->ledger, unit->queue, amounts);
}

void plan_forget_fronts(struct plan_scratch *plan, const struct queue_tree *tree, queue_id queue)
{
    for (queue_id q = queue; q != QUEUE_NONE; q = tree->queues[q].parent)
        plan->spans[q].is_front_known = false;
}

void plan_take(struct sched *sched, struct unit *unit)
{
    struct plan_scratch *plan = sched->plan;
    if (unit->holding >= UNIT_SET && unit->surplus_count > 0) /* its surplus goes before it */
        for (uint32_t u = 0; u < plan->unit_count; u++)
            if (!plan->units[u].is_taken && unit_stands_on(sched, &plan->units[u], unit))
                plan_take(sched, &plan->units[u]);
    unit->is_taken = true;
    unit->round = (uint8_t)plan->round;
    MEM_GROW(plan->taken, plan->taken_capacity, (size_t)plan->taken_count + 1);
    plan->taken[plan->taken_count++] = (uint32_t)(unit - plan->units);
    if (plan->has_spans)
        plan_forget_fronts(plan, &sched->tree, unit->queue);
    move_unit(sched, unit, ledger_send_off);
    plan_charge(sched, unit, -1);
}

void plan_give_back(struct sched *sched, struct unit *unit)
{
    unit->is_taken = false;
    move_unit(sched, unit, ledger_call_back);
    plan_charge(sched, unit, 1);
}

void plan_take_again(struct sched *sched, struct unit *unit)
{
    unit->is_taken = true;
    move_unit(sched, unit, ledger_send_off);
    plan_charge(sched, unit, -1);
}

bool plan_is_core_taken(const struct sched *sched, const struct unit *unit)
{
    if (unit->holding == UNIT_CORE)
        return false;
    for (uint32_t u = 0; u < sched->plan->unit_count; u++) {
        const struct unit *other = &sched->plan->units[u];
        if (other->slot != unit->slot || other->holding < UNIT_SET)
            continue;
        if (other->is_taken && unit_stands_on(sched, unit, other))
            return true;
        if (!unit->has_sets) /* the job has no set: only its core matters */
            return false;
    }
    return false;
}

bool plan_stands_on_lost(const struct sched *sched, const struct unit *unit)
{
    const struct plan_scratch *plan = sched->plan;
    if (unit->holding == UNIT_CORE)
        return false;
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *other = &plan->units[plan->taken[t]];
        if (other->is_taken && !other->is_moved && unit_stands_on(sched, unit, other))
            return true;
    }
    return false;
}

uint32_t plan_count_jobs(const struct sched *sched)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < sched->plan->taken_count; t++) {
        const struct unit *unit = &sched->plan->units[sched->plan->taken[t]];
        count += unit->is_taken && (unit->holding == UNIT_CORE || !plan_is_core_taken(sched, unit));
    }
    return count;
}

void plan_charge_preemptor(struct sched *sched, uint32_t preemptor, int sign)
{
    const struct sched_job *own = &sched->jobs.jobs[preemptor];
    const int64_t *ask = sched_ask(sched, own)->charge;
    int64_t amounts[QUEUE_SUM_COUNT];
    for (int r = 0; r < QUEUE_SUM_COUNT; r++)
        amounts[r] = sign * ask[r];
    ledger_charge(sched->ledger, own->queue, amounts);
}

struct held_pieces plan_staying(struct sched *sched, const struct unit *unit)
{
    struct plan_scratch *plan = sched->plan;
    plan->staying.count = 0;
    for (uint32_t s = 0; s < plan->stay_count; s++) {
        if (plan->stays[s].slot != unit->slot)
            continue;
        MEM_GROW(plan->staying.pieces, plan->staying.capacity, (size_t)plan->staying.count + 1);
        plan->staying.pieces[plan->staying.count++] =
            sched_job_holding(&sched->jobs.jobs[unit->slot], plan->stays[s].holding)->piece;
    }
    return (struct held_pieces){plan->staying.pieces, plan->staying.count};
}
