/* Which of the collected units is taken next: the first in order, or the one that the quota policy names, queue by
 * queue.
 *
 * Cost: O(1) for each unit if units are taken in order.  If they are taken by queue: after a queue has lost a unit, the
 * quota policy compares it again with its sibling queues, at each level of the tree.  If the quota policy decides by
 * what queues are charged, it compares all queues again. */
#include <assert.h>
#include <string.h>

#include "policies/eviction/plan_rounds.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/trial.h"
#include "policies/eviction/victims.h"
#include "policies/state/sched_state.h"

static void span_queues(struct sched *sched)
{
    struct plan_scratch *plan = sched->plan;
    MEM_GROW(plan->spans, plan->span_capacity, sched->tree.count);
    MEM_GROW(plan->has_units, plan->has_units_capacity, sched->tree.count);
    memset(plan->spans, 0, sched->tree.count * sizeof *plan->spans);
    memset(plan->has_units, 0, sched->tree.count);
    plan->has_spans = true;
    for (uint32_t u = 0; u < plan->unit_count; u++) {
        struct unit_span *span = &plan->spans[plan->units[u].queue];
        if (span->count++ == 0)
            span->first = span->next = u;
        for (queue_id q = plan->units[u].queue; q != QUEUE_NONE && !plan->has_units[q];
             q = sched->tree.queues[q].parent)
            plan->has_units[q] = 1;
    }
}

void victims_arrange(struct sched *sched, const struct plan_request *request)
{
    bool by_queue =
        (sched->policy.preempt.by_queue || plan_is_by_share(sched, request)) && !sched->policy.quota->is_flat;
    if (sched->plan->is_in_order)
        victims_are_in_order(sched, request);
    else
        victims_order(sched, request, by_queue, !by_queue && !plan_is_by_share(sched, request));
    if (by_queue)
        span_queues(sched);
}

static struct unit *next_of_span(struct sched *sched, const struct plan_request *request, struct unit_span *span)
{
    for (; span->next < span->first + span->count; span->next++) {
        struct unit *unit = &sched->plan->units[span->next];
        victims_rank(sched, request, unit);
        if (victims_admit(sched, request, unit))
            return unit;
    }
    return NULL;
}

/* Of two siblings, does `a` lose its unit before `b`? */
static bool loses_first(struct sched *sched, struct contender a, struct contender b)
{
    const struct quota_policy *quota = sched->policy.quota;
    if (quota->compare_victims != NULL)
        return quota->compare_victims(&sched->tree, a, b) < 0;
    return quota->compare(&sched->tree, a, b) > 0;
}

static struct unit *next_below(struct sched *sched, const struct plan_request *request, queue_id queue);

/* The first unit of the queue that may be taken now.  Where it is another than before, the fronts above it are not
 * known any more. */
static void renew_front(struct sched *sched, const struct plan_request *request, queue_id queue)
{
    struct plan_scratch *plan = sched->plan;
    const struct unit *unit = next_of_span(sched, request, &plan->spans[queue]);
    const uint32_t own = unit == NULL ? 0 : (uint32_t)(unit - plan->units) + 1;
    if (own != plan->spans[queue].own)
        plan_forget_fronts(plan, &sched->tree, queue);
    plan->spans[queue].own = own;
}

static void renew_below(struct sched *sched, const struct plan_request *request, queue_id queue, queue_id except)
{
    renew_front(sched, request, queue);
    for (queue_id c = sched->tree.queues[queue].first_child; c != QUEUE_NONE; c = sched->tree.queues[c].next_sibling)
        if (c != except && sched->plan->has_units[c])
            renew_below(sched, request, c, QUEUE_NONE);
}

/* A unit of `loser` was taken.  Whether another queue may lose a unit depends on the charges of queues from it and from
 * the preemptor's up to below their common queue (may_take).  So it may have changed for the queues on the loser's side
 * of the queue that it has in common with the preemptor, and for those outside that queue. */
static void renew_fronts(struct sched *sched, const struct plan_request *request)
{
    const struct plan_scratch *plan = sched->plan;
    if (plan->taken_count == 0) {
        renew_below(sched, request, QUEUE_ROOT, QUEUE_NONE);
        return;
    }
    const queue_id own = sched->jobs.jobs[request->preemptor].queue;
    const queue_id loser = plan->units[plan->taken[plan->taken_count - 1]].queue;
    queue_id mine, its;
    queue_tree_below_common(&sched->tree, own, loser, &mine, &its);
    renew_below(sched, request, its, QUEUE_NONE);
    for (queue_id q = mine == its ? its : sched->tree.queues[its].parent; q != QUEUE_ROOT;
         q = sched->tree.queues[q].parent)
        renew_below(sched, request, sched->tree.queues[q].parent, q);
}

/* May units be taken whatever their queues are charged? */
static bool is_by_order_alone(const struct plan_request *request)
{
    return request->kind == PLAN_CONSOLIDATE || request->is_moving;
}

/* Which unit is taken next below a queue depends on what is charged to queues below it, and on the first unit of each
 * of them that may be taken.  So it is kept until one of them loses a unit (plan_take) or has another first unit
 * (renew_fronts), but not across rounds, nor where the charges of queues above decide. */
static bool may_keep_fronts(const struct sched *sched, const struct plan_request *request)
{
    const struct quota_policy *quota = sched->policy.quota;
    return request->round_count == 0 && (quota->compare_victims != NULL || !quota->lending.looks_above);
}

/* The first unit of the queue itself that may be taken now. */
static struct unit *own_front(struct sched *sched, const struct plan_request *request, queue_id queue)
{
    struct plan_scratch *plan = sched->plan;
    struct unit_span *span = &plan->spans[queue];
    if (is_by_order_alone(request) || !may_keep_fronts(sched, request))
        return next_of_span(sched, request, span);
    struct unit *own = span->own == 0 ? NULL : &plan->units[span->own - 1];
#ifdef WINDTUNNEL_DEBUG
    assert(next_of_span(sched, request, span) == own);
#endif
    return own;
}

static struct unit *find_below(struct sched *sched, const struct plan_request *request, queue_id queue)
{
    struct plan_scratch *plan = sched->plan;
    struct unit *best = own_front(sched, request, queue);
    if (best != NULL)
        return best;
    struct contender best_contender = {.queue = QUEUE_NONE};
    for (queue_id c = sched->tree.queues[queue].first_child; c != QUEUE_NONE; c = sched->tree.queues[c].next_sibling) {
        struct unit *unit = plan->has_units[c] ? next_below(sched, request, c) : NULL;
        if (unit == NULL)
            continue;
        struct contender contender = {.queue = c,
                                      .ask = unit_terms(plan, unit)->charge,
                                      .leaf = unit->queue,
                                      .priority = sched->jobs.jobs[unit->slot].priority,
                                      .submit = sched->jobs.facts[unit->slot].submit};
        if (best == NULL || loses_first(sched, contender, best_contender)) {
            best = unit;
            best_contender = contender;
        }
    }
    return best;
}

static struct unit *next_below(struct sched *sched, const struct plan_request *request, queue_id queue)
{
    struct plan_scratch *plan = sched->plan;
    struct unit_span *span = &plan->spans[queue];
    if (!is_by_order_alone(request) && !may_keep_fronts(sched, request))
        return find_below(sched, request, queue);
    if (!span->is_front_known) {
        const struct unit *front = find_below(sched, request, queue);
        span->front = front == NULL ? 0 : (uint32_t)(front - plan->units) + 1;
        span->is_front_known = true;
    }
    struct unit *front = span->front == 0 ? NULL : &plan->units[span->front - 1];
#ifdef WINDTUNNEL_DEBUG
    assert(find_below(sched, request, queue) == front);
#endif
    return front;
}

/* ---- by share ---- */

static struct unit *first_left(struct plan_scratch *plan, queue_id queue)
{
    struct unit_span *span = &plan->spans[queue];
    if (span->round != plan->round) {
        span->round = plan->round;
        span->next = span->first;
        span->is_done = false;
    }
    for (; !span->is_done && span->next < span->first + span->count; span->next++) {
        struct unit *unit = &plan->units[span->next];
        if (!unit->is_taken && !unit->is_refused)
            return unit;
    }
    return NULL;
}

struct front { /* the unit that would be taken next in a part of the tree, and the child queue it is below */
    struct unit *unit;
    queue_id queue;
};

static bool loses_sooner(struct sched *sched, struct front a, struct front b)
{
    const struct plan_scratch *plan = sched->plan;
    struct contender x = {.queue = a.queue, .ask = unit_terms(plan, a.unit)->charge},
                     y = {.queue = b.queue, .ask = unit_terms(plan, b.unit)->charge};
    x.leaf = a.unit->queue;
    y.leaf = b.unit->queue;
    int order = sched->policy.quota->compare_victims(&sched->tree, x, y);
    return order != 0 ? order < 0 : victims_compare(plan, a.unit, b.unit) < 0;
}

static struct unit *front_below(struct sched *sched, queue_id queue)
{
    struct front best = {first_left(sched->plan, queue), queue};
    if (best.unit != NULL)
        return best.unit;
    for (queue_id c = sched->tree.queues[queue].first_child; c != QUEUE_NONE; c = sched->tree.queues[c].next_sibling) {
        struct front front = {NULL, c};
        if (sched->plan->has_units[c])
            front.unit = front_below(sched, c);
        if (front.unit != NULL && (best.unit == NULL || loses_sooner(sched, front, best)))
            best = front;
    }
    return best.unit;
}

static struct unit *next_by_share(struct sched *sched, const struct plan_request *request)
{
    struct plan_scratch *plan = sched->plan;
    const bool is_once = plan_round(plan, request)->once_a_queue;
    for (;;) {
        plan_charge_preemptor(sched, request->preemptor, 1); /* compare shares as they will be with it */
        struct unit *unit = front_below(sched, QUEUE_ROOT);
        plan_charge_preemptor(sched, request->preemptor, -1);
        if (unit == NULL)
            return NULL;
        const queue_id queue = unit->queue;
        for (; unit != NULL; unit = first_left(plan, queue)) {
            bool may = victims_admit(sched, request, unit);
            plan->spans[queue].is_done = is_once;
            if (may)
                return unit;
        }
    }
}

/* ---- in any order ---- */

struct unit *victims_next(struct sched *sched, const struct plan_request *request)
{
    struct plan_scratch *plan = sched->plan;
    if (plan->unit_count == 0)
        return NULL;
    if (plan_is_by_share(sched, request))
        return next_by_share(sched, request);
    if (sched->policy.preempt.by_queue && !sched->policy.quota->is_flat) {
        if (!is_by_order_alone(request) && may_keep_fronts(sched, request))
            renew_fronts(sched, request);
        return next_below(sched, request, QUEUE_ROOT);
    }
    for (; plan->next < plan->unit_count; plan->next++) {
        struct unit *unit = victims_at(plan, plan->next);
        victims_rank(sched, request, unit);
        if (victims_admit(sched, request, unit))
            return unit;
    }
    return NULL;
}
