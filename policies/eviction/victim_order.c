/* In what order victims are taken: by the policy's victim keys, then by the order chain reversed.
 *
 * Keys are computed when units are sorted.  A search node by node computes only those of the units on the nodes that it
 * looks at: few of all candidates.
 * Most plans take few of many units, so where they are taken one after another they stand in a heap, and the first of
 * it is drawn when it is needed.
 * Cost: O(holdings) a unit, O(units) to put them in a heap, O(log units) for each that is drawn; O(units log units)
 * where they are sorted: by queue, or where a job has surplus. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policies/eviction/plan_rounds.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/units.h"
#include "policies/eviction/victims.h"
#include "policies/state/candidates.h"
#include "policies/state/ranks.h"
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"

static bool is_service(struct sched *sched, uint32_t slot)
{
    return sched_request_class(sched, &sched->jobs.jobs[slot])->class == JOB_INFERENCE;
}

static void fill_view(struct sched *sched, const struct plan_request *request, const struct unit *unit,
                      struct victim_view *view)
{
    const struct sched_job *job = &sched->jobs.jobs[unit->slot];
    const struct request_class *request_class = sched_request_class(sched, job);
    *view = (struct victim_view){
        .id = job->id,
        .asks_milli = request_class->charge[QUEUE_SUM_GPU],
        .priority = job->priority,
        .class = request_class->class,
        .is_over_quota = unit->is_over_quota,
        .is_surplus = unit->holding != UNIT_CORE,
        .is_own_queue = request->preemptor != SLOT_NONE && job->queue == sched->jobs.jobs[request->preemptor].queue,
        .is_by_right = plan_is_all_by_right(sched, request, unit->queue),
        .is_for_service = request->preemptor != SLOT_NONE && is_service(sched, request->preemptor),
        .running = sched->now - job->decided,
        .leaves_in = sched_grace(sched, unit->slot),
        .loss_gpu_ns = unit_terms(sched->plan, unit)->preemption_cost.loss_gpu_ns,
        .order_rank = job->rank[0]};
    for (uint32_t i = 0; i < job->holding_count; i++) {
        if (!holding_is_in_place(sched_job_holding(job, i))) {
            view->is_evicting |= sched_job_holding(job, i)->phase == HOLDING_LEAVING;
            continue;
        }
        view->gpu_milli += piece_milli(&sched_job_holding(job, i)->piece);
        view->member_count += sched_job_holding(job, i)->piece.member_count;
    }
}

/* The charge of all that the core's job has in place. */
static void charge_whole(struct sched *sched, const struct unit *core, int64_t charge[QUEUE_SUM_COUNT])
{
    const struct sched_job *job = &sched->jobs.jobs[core->slot];
    memset(charge, 0, QUEUE_SUM_COUNT * sizeof *charge);
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (holding_is_in_place(sched_job_holding(job, i)))
            sched_add_charge(sched, core->slot, &sched_job_holding(job, i)->piece, 1, charge);
}

void victims_rank(struct sched *sched, const struct plan_request *request, struct unit *unit)
{
    const struct preemption_config *config = &sched->policy.preempt;
    const struct sched_job *job = &sched->jobs.jobs[unit->slot];
    struct victim_view view;
    uint64_t rank[ORDER_CHAIN_MAX];
    uint32_t at = 0;
    if (unit->is_ranked)
        return;
    unit->is_ranked = true;
    struct unit_terms *terms = unit->terms != 0 ? unit_terms(sched->plan, unit) : units_new_terms(sched->plan, unit);
    if (unit->holding == UNIT_CORE)
        terms->preemption_cost = candidates_cost(candidates_get(sched, unit->slot), sched->now);
    if (unit->surplus_count == 0)
        charge_whole(sched, unit, terms->charge);
    fill_view(sched, request, unit, &view);
    for (uint32_t k = 0; k < config->victim_key_count; k++) {
        view.own = sched->own.victim[k];
        terms->key[at++] = config->victims[k]->rank(&view);
    }
    /* A core is ranked as if its surplus had gone. */
    uint8_t fill = view.is_surplus || unit->surplus_count == 0 ? job->fill : FILL_MINIMUM;
    const uint64_t *kept = job->rank;
    if (fill != job->fill && !sched->ranks.are_fixed) {
        sched_rank_as(sched, unit->slot, fill, rank);
        kept = rank;
    }
    for (uint32_t r = 0; r < sched->policy.order_count; r++)
        terms->key[at++] = UINT64_MAX - kept[r];
    terms->key[at++] = UINT64_MAX - view.id;
    while (at < UNIT_KEYS)
        terms->key[at++] = 0;
}

bool victims_refuse_spared(struct sched *sched, const struct plan_request *request, struct unit *unit)
{
    struct victim_view view;
    if (sched->policy.preemption->spares == NULL)
        return false;
    victims_rank(sched, request, unit);
    fill_view(sched, request, unit, &view);
    view.own = sched->own.preemption;
    unit->is_refused = sched->policy.preemption->spares(&view);
    return unit->is_refused;
}

int victims_compare(const struct plan_scratch *plan, const struct unit *x, const struct unit *y)
{
    const uint64_t *left = unit_terms(plan, x)->key, *right = unit_terms(plan, y)->key;
    for (uint32_t k = 0; k < UNIT_KEYS; k++)
        if (left[k] != right[k])
            return left[k] < right[k] ? -1 : 1;
    if (x->holding == y->holding && x->holding != UNIT_SET)
        return 0;
    if (x->holding == UNIT_CORE || y->holding == UNIT_CORE) /* of one job: the core last */
        return x->holding == UNIT_CORE ? 1 : -1;
    if (x->has_sets) { /* so does y, of the same job */
        const uint32_t first = unit_terms(plan, x)->sequence, second = unit_terms(plan, y)->sequence;
        return first < second ? -1 : first > second;
    }
    return x->holding > y->holding ? -1 : 1; /* the last surplus first */
}

struct unit_order { /* what most comparisons need; much smaller than a unit */
    uint64_t key[2];
    uint32_t unit;
    queue_id queue; /* 0 when units are not ordered by queue */
};

static int compare_order(const void *a, const void *b, void *plan)
{
    const struct unit_order *x = a, *y = b;
    if (x->queue != y->queue)
        return x->queue < y->queue ? -1 : 1;
    for (int k = 0; k < 2; k++)
        if (x->key[k] != y->key[k])
            return x->key[k] < y->key[k] ? -1 : 1;
    const struct unit *units = ((struct plan_scratch *)plan)->units;
    return victims_compare(plan, &units[x->unit], &units[y->unit]);
}

/* Of a heap of `count` entries that ends at `end`: entry h stands at end[-1 - h], so the root stands last. */
static void sift_down(struct plan_scratch *plan, uint32_t count, uint32_t h, struct unit_order moved)
{
    struct unit_order *end = plan->order + plan->unit_count;
    for (uint32_t child = 2 * h + 1; child < count; child = 2 * h + 1) {
        if (child + 1 < count && compare_order(&end[-2 - (int64_t)child], &end[-1 - (int64_t)child], plan) < 0)
            child++;
        if (compare_order(&moved, &end[-1 - (int64_t)child], plan) <= 0)
            break;
        end[-1 - (int64_t)h] = end[-1 - (int64_t)child];
        h = child;
    }
    end[-1 - (int64_t)h] = moved;
}

static void make_heap(struct plan_scratch *plan)
{
    plan->drawn = 0;
    for (uint32_t h = plan->unit_count / 2; h-- > 0;)
        sift_down(plan, plan->unit_count, h, plan->order[plan->unit_count - 1 - h]);
}

/* The first of the heap goes to the end of the sorted entries: to where the last of the heap stood. */
static void draw_first(struct plan_scratch *plan)
{
    const uint32_t count = plan->unit_count - plan->drawn;
    const struct unit_order first = plan->order[plan->unit_count - 1], last = plan->order[plan->drawn];
    if (count > 1)
        sift_down(plan, count - 1, 0, last);
    plan->order[plan->drawn++] = first;
    assert(plan->drawn == 1 || compare_order(&plan->order[plan->drawn - 2], &first, plan) < 0);
}

struct unit *victims_at(struct plan_scratch *plan, uint32_t place)
{
    if (!plan->is_lazy)
        return &plan->units[place];
    while (plan->drawn <= place)
        draw_first(plan);
    return &plan->units[plan->order[place].unit];
}

static void sort_units(struct plan_scratch *plan)
{
    MEM_GROW(plan->sorted, plan->sorted_capacity, (size_t)plan->unit_count + 1);
    qsort_r(plan->order, plan->unit_count, sizeof *plan->order, compare_order, plan);
    for (uint32_t u = 0; u < plan->unit_count; u++)
        plan->sorted[u] = plan->units[plan->order[u].unit];
    struct unit *units = plan->units;
    size_t capacity = plan->unit_capacity;
    plan->units = plan->sorted;
    plan->unit_capacity = plan->sorted_capacity;
    plan->sorted = units;
    plan->sorted_capacity = capacity;
}

void victims_order(struct sched *sched, const struct plan_request *request, bool by_queue, bool is_lazy)
{
    struct plan_scratch *plan = sched->plan;
    plan->is_lazy = false;
    if (plan->unit_count == 0)
        return;
    for (uint32_t u = 0; u < plan->unit_count; u++) {
        victims_rank(sched, request, &plan->units[u]);
        is_lazy &= plan->units[u].surplus_count == 0; /* the units of a job are searched in their order */
    }
    MEM_GROW(plan->order, plan->order_capacity, (size_t)plan->unit_count + 1);
    for (uint32_t u = 0; u < plan->unit_count; u++) {
        const struct unit *unit = &plan->units[u];
        const uint64_t *key = unit_terms(plan, unit)->key;
        plan->order[u] = (struct unit_order){{key[0], key[1]}, u, by_queue ? unit->queue : QUEUE_ROOT};
    }
    plan->is_lazy = is_lazy;
    if (is_lazy)
        make_heap(plan);
    else
        sort_units(plan);
}

void victims_are_in_order(struct sched *sched, const struct plan_request *request)
{
    struct plan_scratch *plan = sched->plan;
    plan->is_lazy = false;
    (void)request; /* read by the check alone */
    /* So that terms do not move when units are ranked. */
    MEM_GROW(plan->terms, plan->term_capacity, (size_t)plan->unit_count + 1);
#ifdef WINDTUNNEL_DEBUG
    const bool by_queue = !sched->policy.quota->is_flat;
    for (uint32_t u = 0; u < plan->unit_count; u++) {
        const struct unit *unit = &plan->units[u];
        victims_rank(sched, request, &plan->units[u]);
        assert(u == 0 || (by_queue && unit[-1].queue < unit->queue) ||
               ((!by_queue || unit[-1].queue == unit->queue) && victims_compare(plan, &unit[-1], unit) < 0));
    }
#endif
}

/* Add the charge of the surplus unit's members, times sign, to `amounts`. */
static void add_unit_charge(const struct sched *sched, const struct unit *unit, int sign,
                            int64_t amounts[QUEUE_SUM_COUNT])
{
    const struct sched_job *job = &sched->jobs.jobs[unit->slot];
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (unit_has(sched, unit, i))
            sched_add_charge(sched, unit->slot, &sched_job_holding(job, i)->piece, sign, amounts);
}

/* The ranks of the victim job without the unit and without its units that are taken already. */
static void rank_without(struct sched *sched, const struct unit *unit, uint64_t rank[ORDER_CHAIN_MAX])
{
    const struct plan_scratch *plan = sched->plan;
    const struct sched_job *job = &sched->jobs.jobs[unit->slot];
    int64_t less[QUEUE_SUM_COUNT] = {0};
    uint32_t taken = 1;
    if (unit->holding == UNIT_CORE) { /* nothing stays */
        for (uint32_t i = 0; i < job->holding_count; i++)
            sched_add_charge(sched, unit->slot, &sched_job_holding(job, i)->piece, -1, less);
        sched_rank_with(sched, unit->slot, FILL_BELOW, less, rank);
        return;
    }
    add_unit_charge(sched, unit, -1, less);
    for (uint32_t t = 0; t < plan->taken_count; t++) {
        const struct unit *other = &plan->units[plan->taken[t]];
        if (other->slot != unit->slot || !other->is_taken)
            continue;
        taken++;
        add_unit_charge(sched, other, -1, less);
    }
    sched_rank_with(sched, unit->slot, taken < unit->surplus_count ? FILL_ABOVE : FILL_MINIMUM, less, rank);
}

/* Does some rank depend on what a job holds, not on time alone? */
static bool depends_on_holdings(const struct policy_config *policy)
{
    for (uint32_t r = 0; r < policy->order_count; r++)
        if (!policy->order[r]->is_constant && !policy->order[r]->moves)
            return true;
    return false;
}

bool victims_keep_order(struct sched *sched, uint32_t preemptor, const struct unit *unit)
{
    const struct sched_job *own = &sched->jobs.jobs[preemptor], *job = &sched->jobs.jobs[unit->slot];
    uint64_t after[ORDER_CHAIN_MAX], victim[ORDER_CHAIN_MAX];
    if (sched->policy.preempt.within_queue != WITHIN_QUEUE_ORDER || !depends_on_holdings(&sched->policy))
        return true;
    sched_rank_with(sched, preemptor, own->fill == FILL_BELOW ? FILL_MINIMUM : FILL_ABOVE,
                    sched_ask(sched, own)->charge, after);
    rank_without(sched, unit, victim);
    for (uint32_t r = 0; r < sched->policy.order_count; r++) {
        if (sched->policy.order[r]->moves) { /* changes with time: use the current ranks */
            after[r] = own->rank[r];
            victim[r] = job->rank[r];
        }
        if (after[r] != victim[r])
            return after[r] < victim[r];
    }
    return own->id < job->id;
}
