/* Which units may be evicted for a job, and in what order.
 *
 * A candidate is an eviction unit: a surplus member, a surplus set, or the core.  A plan of preemption takes from the
 * preemptor's own queue, a plan of reclaim from queues that borrow, a consolidation from all jobs that find another
 * place.  Guards protect a job: its minimum run time, the evictions per job, the disruption budget of its queue, and a
 * START or EVICT in this cycle, unless the policy allows a recall (may_recall_start). */
#include <assert.h>
#include <string.h>

#include "policies/eviction/eviction.h"
#include "policies/eviction/eviction_state.h"
#include "policies/eviction/moves.h"
#include "policies/eviction/plan.h"
#include "policies/eviction/plan_rounds.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/preemption_cost.h"
#include "policies/eviction/units.h"
#include "policies/eviction/victims.h"
#include "policies/state/candidates.h"
#include "policies/state/headroom.h"
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"

/* The minimum run time that protects a job of `queue`: set by the queue or the nearest one above it, else by the
 * policy. */
static time_ns runtime_upward(const struct sched *sched, queue_id queue, bool is_reclaim)
{
    for (queue_id q = queue; q != QUEUE_NONE; q = sched->tree.queues[q].parent) {
        const struct queue_spec *spec = queue_tree_spec(&sched->tree, q);
        time_ns own = is_reclaim ? spec->reclaim_min_runtime : spec->preempt_min_runtime;
        if (own >= 0)
            return own;
    }
    return is_reclaim ? sched->policy.preempt.reclaim_min_runtime : sched->policy.preempt.preempt_min_runtime;
}

time_ns victims_min_runtime(const struct sched *sched, queue_id preemptor, queue_id victim, enum plan_kind kind)
{
    if (kind == PLAN_CONSOLIDATE)
        return 0;
    if (kind == PLAN_HEADROOM)
        return runtime_upward(sched, victim, false);
    queue_id from = victim, unused;
    if (kind == PLAN_RECLAIM && sched->policy.preempt.resolve == RESOLVE_LCA)
        queue_tree_below_common(&sched->tree, preemptor, victim, &unused, &from);
    return runtime_upward(sched, from, kind == PLAN_RECLAIM);
}

bool victims_is_within_rule(const struct sched *sched, uint32_t preemptor, uint32_t slot)
{
    const struct sched_job *own = &sched->jobs.jobs[preemptor], *job = &sched->jobs.jobs[slot];
    const struct job_facts *own_facts = &sched->jobs.facts[preemptor], *facts = &sched->jobs.facts[slot];
    switch ((enum within_queue)sched->policy.preempt.within_queue) {
    case WITHIN_QUEUE_LOWER:
        return job->priority < own->priority;
    case WITHIN_QUEUE_LOWER_OR_NEWER:
        return job->priority < own->priority || (job->priority == own->priority && facts->submit > own_facts->submit);
    case WITHIN_QUEUE_ORDER:
        return true;
    case WITHIN_QUEUE_NEVER:
        break;
    }
    return false;
}

/* The preemptor, and the queue that is searched. */
struct victim_walk {
    const struct plan_request *request;
    uint32_t preemptor;
    enum plan_kind kind;
    job_id rival;          /* the job for which the preemptor was evicted a few cycles ago; JOB_NONE */
    time_ns protected_for; /* the minimum run time of the queue's jobs */
    bool is_over_quota;    /* the queue */
    uint32_t units_max;    /* of one queue: a search takes no more, so no more are collected where none needs a note */
};

static job_id find_rival(const struct sched *sched, uint32_t preemptor)
{
    const int64_t cycles = sched->policy.preempt.rematch_cycles;
    if (preemptor == SLOT_NONE || cycles == 0)
        return JOB_NONE;
    const struct job_facts *own = &sched->jobs.facts[preemptor];
    return sched->cycle - own->displaced_cycle > (uint64_t)cycles ? JOB_NONE : own->displaced_by;
}

bool victims_has_rival(const struct sched *sched, uint32_t preemptor)
{
    return find_rival(sched, preemptor) != JOB_NONE;
}

/* What a plan may take of a job now, and what it notes of a job that it cannot take whole. */
struct verdict {
    enum { TAKES_NOTHING, TAKES_SURPLUS, TAKES_ALL } takes;
    bool awaits_start;   /* refused only until its START is confirmed */
    time_ns eligible_at; /* when more may be taken; TIME_NEVER: time alone changes nothing */
};

static inline struct verdict refused_until(time_ns eligible_at)
{
    return (struct verdict){.takes = TAKES_NOTHING, .eligible_at = eligible_at};
}

static void note_verdict(struct plan_scratch *plan, struct verdict verdict)
{
    plan->result.saw_starting |= verdict.awaits_start;
    if (verdict.eligible_at != TIME_NEVER)
        plan_note_eligible(plan, verdict.eligible_at);
}

/* Is the job the preemptor itself, or safe from all plans of this kind? */
static inline bool is_out_of_reach(const struct sched *sched, const struct victim_walk *walk, uint32_t slot,
                                   const struct victim_candidate *candidate)
{
    if (walk->kind == PLAN_HEADROOM && headroom_is_for(sched, slot)) /* it could take its place back */
        return true;
    return slot == walk->preemptor || candidate->is_spent || candidate->is_non_preemptible;
}

/* Does the job end too soon for a move to be worth it?  Or, in the preemptor's own queue, may the preemptor not preempt
 * it? */
static inline bool is_left_alone(struct sched *sched, const struct victim_walk *walk, uint32_t slot)
{
    if (walk->kind == PLAN_CONSOLIDATE)
        return moves_spares(sched, slot);
    return walk->kind == PLAN_PREEMPT && (!victims_is_within_rule(sched, walk->preemptor, slot) ||
                                          pending_compare(&sched->pending, walk->preemptor, slot) >= 0);
}

/* May the job be a victim of a plan of this kind although it is starting?  Yes if the policy allows it and `allocate`
 * of this cycle decided every START that is not confirmed yet; at most once a cycle.  O(holdings). */
static bool may_recall_start(const struct sched *sched, const struct plan_request *request, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    /* A plan that moves its victims must find each another place.  Running jobs would then be evicted to make a place
     * for a job that was never told to start. */
    if (request->kind == PLAN_CONSOLIDATE || request->is_moving || sched->decided.recalls_after == UINT64_MAX ||
        sched->jobs.facts[slot].displaced_cycle == sched->cycle)
        return false;
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        if (holding->phase == HOLDING_CLAIMED ||
            (holding->phase == HOLDING_STARTING && holding->decision >> 32 <= sched->decided.recalls_after))
            return false;
    }
    return true;
}

/* A job may lose all that it holds once it has run for its minimum run time, and its surplus at any time. */
static inline struct verdict judge_run_time(const struct sched *sched, const struct victim_walk *walk, uint32_t slot,
                                            const struct victim_candidate *candidate)
{
    const bool is_decided_now = candidate->decided_cycle == sched->cycle;
    const bool may_recall = is_decided_now && may_recall_start(sched, walk->request, slot);
    const time_ns eligible_at = candidate->decided + walk->protected_for;
    if (is_decided_now && !may_recall)
        return refused_until(eligible_at); /* not now, but when it has run long enough */
    if (!is_decided_now && (candidate->is_claiming || candidate->is_starting))
        return (struct verdict){.awaits_start = !candidate->is_claiming, .eligible_at = TIME_NEVER};
    /* The minimum run time does not protect a job that is recalled: it has not started. */
    if (eligible_at <= sched->now || (may_recall && sched->jobs.jobs[slot].state == SJOB_STARTING))
        return (struct verdict){.takes = TAKES_ALL, .eligible_at = TIME_NEVER};
    return (struct verdict){.takes = candidate->has_surplus ? TAKES_SURPLUS : TAKES_NOTHING,
                            .eligible_at = eligible_at};
}

static inline struct verdict judge(struct sched *sched, const struct victim_walk *walk, uint32_t slot,
                                   const struct victim_candidate *candidate)
{
    if (is_out_of_reach(sched, walk, slot, candidate))
        return refused_until(TIME_NEVER);
    if (walk->rival != JOB_NONE && walk->rival == sched->jobs.jobs[slot].id)
        return refused_until(sched->now + SCHED_PATIENCE_MIN); /* try again next cycle */
    if (is_left_alone(sched, walk, slot))
        return refused_until(TIME_NEVER);
    return judge_run_time(sched, walk, slot, candidate);
}

/* Does the queue count as over quota?  A reclaim takes from such queues only, a preemption from none; for the other
 * kinds the queue's charge decides. */
static bool does_borrow(const struct sched *sched, queue_id queue, enum plan_kind kind)
{
    if (kind != PLAN_HEADROOM && kind != PLAN_CONSOLIDATE)
        return kind == PLAN_RECLAIM;
    int64_t deserved = queue_tree_spec(&sched->tree, queue)->deserved[RESOURCE_GPU];
    return deserved != QUOTA_UNLIMITED && queue_tree_charged(&sched->tree, queue, RESOURCE_GPU) > deserved;
}

/* The GPU-ns that victims may lose for the preemptor at most.  No bound (INT64_MAX) except in a reclaim by a preemptor
 * that is over quota. */
int64_t victims_loss_bound(const struct sched *sched, const struct plan_request *request)
{
    int64_t ratio = sched->policy.preempt.loss_ratio_milli;
    if (ratio == 0 || request->kind != PLAN_RECLAIM)
        return INT64_MAX;
    const struct sched_job *own = &sched->jobs.jobs[request->preemptor];
    const int64_t *ask = sched->request_classes.at[own->ask].charge;
    int64_t deserved = queue_tree_spec(&sched->tree, own->queue)->deserved[RESOURCE_GPU];
    if (deserved == QUOTA_UNLIMITED ||
        queue_tree_charged(&sched->tree, own->queue, RESOURCE_GPU) + ask[QUEUE_SUM_GPU] <= deserved)
        return INT64_MAX;
    return preemption_cost_of_wait(sched, request->preemptor);
}

/* Add the units of the job that the plan may take: none of its core if that is too young, or would lose more than the
 * preemptor's wait is worth. */
static inline void add_job(struct sched *sched, const struct victim_walk *walk, uint32_t slot,
                           struct victim_candidate *candidate, bool is_young)
{
    const bool is_bounded = walk->request->loss_bound != INT64_MAX;
    const struct preemption_cost cost =
        is_bounded ? candidates_cost(candidate, sched->now) : (struct preemption_cost){0};
    const bool is_too_costly = is_bounded && cost.loss_gpu_ns > walk->request->loss_bound;
    uint32_t first = sched->plan->unit_count;
    if (is_too_costly && !is_young)
        preemption_cost_note(sched, walk->preemptor, &cost);
    if ((is_young || is_too_costly) && !candidate->has_surplus)
        return;
    if (candidate->has_surplus) {
        units_add_surplus(sched, slot, walk->is_over_quota);
        sched->plan->is_in_order = false; /* a core is ranked as if its surplus had gone */
    }
    uint32_t surplus = sched->plan->unit_count - first;
    if (!is_young && !is_too_costly)
        units_add_core(sched, slot, walk->is_over_quota, candidate, first);
    for (uint32_t u = first; surplus > 0 && u < sched->plan->unit_count; u++)
        sched->plan->units[u].surplus_count = surplus;
}

bool victims_is_queue_meant(struct sched *sched, queue_id preemptor, queue_id queue, enum plan_kind kind)
{
    bool is_flat = sched->policy.quota->is_flat;
    if (kind == PLAN_CONSOLIDATE || kind == PLAN_HEADROOM)
        return true;
    if (kind == PLAN_PREEMPT)
        return is_flat || queue == preemptor;
    if (is_flat || queue == preemptor)
        return !is_flat && sched->policy.quota->homes.confines != NULL;
    queue_id below_preemptor, below_victim;
    queue_tree_below_common(&sched->tree, preemptor, queue, &below_preemptor, &below_victim);
    return below_preemptor != below_victim; /* equal: one queue is above the other, which is no borrowing */
}

/* May the queue lose any unit?  It is asked once per queue, with a unit of charge 0: if that is refused, all are. */
static bool may_queue_lose(struct sched *sched, const struct plan_request *request, queue_id queue)
{
    static const int64_t nothing[QUEUE_SUM_COUNT] = {0};
    const struct sched_job *own = &sched->jobs.jobs[request->preemptor];
    struct taking taking = {.preemptor = own->queue,
                            .victim = queue,
                            .preemptor_ask = sched_ask(sched, own)->charge,
                            .victim_unit = nothing,
                            .preemptor_priority = own->priority,
                            .victim_priority = INT32_MIN};
    if (plan_round(sched->plan, request) == NULL)
        return sched->policy.quota->may_take(&sched->tree, &taking);
    if (plan_is_by_share(sched, request) && sched->eviction->takes_both)
        return true; /* victims of the preemptor's own queue lower its share */
    bool may = false;
    for (uint32_t r = 0; r < request->round_count && !may; r++) {
        taking.round = &request->rounds[r];
        may = sched->policy.quota->may_take(&sched->tree, &taking);
    }
    return may;
}

/* May a plan take any unit of the queue? */
static bool may_take_from(struct sched *sched, const struct victim_walk *walk, queue_id own, queue_id queue)
{
    if (!victims_is_queue_meant(sched, own, queue, walk->kind))
        return false;
    return walk->kind != PLAN_RECLAIM || walk->request->is_moving || may_queue_lose(sched, walk->request, queue);
}

bool victims_may_reclaim_from(struct sched *sched, const struct plan_request *request, queue_id queue)
{
    const struct victim_walk walk = {.request = request, .preemptor = request->preemptor, .kind = PLAN_RECLAIM};
    return may_take_from(sched, &walk, sched->jobs.jobs[request->preemptor].queue, queue);
}

/* Would every job of the queue lose more than the preemptor's wait is worth?  A cheap test, so it comes early. */
static bool is_queue_too_costly(struct sched *sched, const struct plan_request *request, queue_id queue)
{
    return request->loss_bound != INT64_MAX && candidates_floor(sched, queue) > request->loss_bound;
}

time_ns victims_eligible_at(struct sched *sched, uint32_t preemptor, uint32_t slot)
{
    const struct sched_job *own = &sched->jobs.jobs[preemptor], *job = &sched->jobs.jobs[slot];
    const struct taking taking = {.preemptor = own->queue,
                                  .victim = job->queue,
                                  .preemptor_ask = sched_ask(sched, own)->charge,
                                  .victim_unit = sched_request_class(sched, job)->charge,
                                  .preemptor_priority = own->priority,
                                  .victim_priority = job->priority};
    if (!job->is_listed || !victims_is_queue_meant(sched, own->queue, job->queue, PLAN_RECLAIM) ||
        !sched->policy.quota->may_take(&sched->tree, &taking))
        return TIME_NEVER;
    const struct victim_candidate *candidate = candidates_get(sched, slot);
    if (candidate->is_spent || candidate->is_non_preemptible)
        return TIME_NEVER;
    return time_after(candidate->decided, victims_min_runtime(sched, own->queue, job->queue, PLAN_RECLAIM));
}

/* From now on, jobs of this queue are judged. */
static void know_queue(struct sched *sched, struct victim_walk *walk, queue_id queue)
{
    const queue_id own = walk->preemptor == SLOT_NONE ? QUEUE_ROOT : sched->jobs.jobs[walk->preemptor].queue;
    walk->protected_for = victims_min_runtime(sched, own, queue, walk->kind);
    walk->is_over_quota = does_borrow(sched, queue, walk->kind);
}

static inline void judge_candidate(struct sched *sched, const struct victim_walk *walk, uint32_t slot)
{
    struct victim_candidate *candidate = candidates_known(sched, slot);
    const struct verdict verdict = judge(sched, walk, slot, candidate);
    note_verdict(sched->plan, verdict);
    if (verdict.takes != TAKES_NOTHING)
        add_job(sched, walk, slot, candidate, verdict.takes == TAKES_SURPLUS);
}

static void judge_all(struct sched *sched, const struct victim_walk *walk, const struct slot_list *running)
{
    for (uint32_t i = 0; i < running->count; i++) {
        if (i + CANDIDATES_AHEAD < running->count)
            candidates_foresee(sched, running->slots[i + CANDIDATES_AHEAD]);
        judge_candidate(sched, walk, running->slots[i]);
    }
}

/* May a plain candidate be taken at once, if its times allow it?  Then no guard is asked that depends on the job. */
static bool is_quick(const struct sched *sched, const struct victim_walk *walk)
{
    const bool leaves_none_alone =
        walk->kind == PLAN_CONSOLIDATE ? !sched->policy.defrag_config.spares_ending
        : walk->kind == PLAN_PREEMPT ? sched->policy.preempt.within_queue == WITHIN_QUEUE_ORDER /* see judge_in_order */
                                     : walk->kind == PLAN_RECLAIM;
    return leaves_none_alone && walk->rival == JOB_NONE && walk->request->loss_bound == INT64_MAX;
}

/* As judge_candidate, for the most common case.  False: the candidate is not settled (candidates_are_settled). */
static inline bool judge_quickly(struct sched *sched, const struct victim_walk *walk, uint32_t slot)
{
    const struct victim_candidate *candidate = candidates_known(sched, slot);
    if (candidate->is_plain && candidate->decided_cycle != sched->cycle && slot != walk->preemptor &&
        candidate->decided + walk->protected_for <= sched->now) {
        units_add(sched, walk->is_over_quota, slot, UNIT_CORE)->held_milli = candidate->held_milli;
        return true;
    }
    const bool is_settled =
        !candidate->is_starting && !candidate->has_surplus && candidate->decided_cycle != sched->cycle;
    judge_candidate(sched, walk, slot);
    return is_settled;
}

/* The largest number of units to collect from the queue.  If no guard depends on time and the candidates of the queue
 * are settled, the first units_max units in order are enough: the search takes no more. */
static uint32_t most_units(const struct sched *sched, const struct victim_walk *walk, queue_id queue)
{
    const bool are_timeless = walk->protected_for == 0 && sched->policy.preemption->spares == NULL;
    return are_timeless && !sched->policy.quota->is_flat && candidates_are_settled(sched, queue) ? walk->units_max
                                                                                                 : UINT32_MAX;
}

/* The first victims first.  A preemption leaves alone all jobs before the preemptor, and those whose priority is not
 * lower if that is the rule (is_left_alone); only of its rival it takes a note. */
static void judge_in_order(struct sched *sched, struct victim_walk *walk, queue_id queue)
{
    const struct victim_list list = victim_lists_of(sched, queue);
    const bool is_behind = walk->kind == PLAN_PREEMPT && walk->rival == JOB_NONE, quick = is_quick(sched, walk);
    const uint32_t end = is_behind ? victim_lists_behind(sched, queue, walk->preemptor) : 0;
    /* Without quotas the list holds jobs of all queues, which may protect their jobs for different times. */
    const bool by_job =
        sched->policy.quota->is_flat && (walk->kind != PLAN_PREEMPT || sched->eviction->has_own_runtimes);
    if (sched->policy.quota->is_flat)
        know_queue(sched, walk, QUEUE_ROOT);
    const uint32_t most = quick ? most_units(sched, walk, queue) : UINT32_MAX, first = sched->plan->unit_count;
    const bool is_by_lower =
        is_behind && sched->policy.preempt.within_queue == WITHIN_QUEUE_LOWER && !sched->policy.quota->is_flat;
    const int32_t priority = is_by_lower ? sched->jobs.jobs[walk->preemptor].priority : 0;
    uint32_t left = is_by_lower ? candidates_count_lower(sched, queue, priority) : UINT32_MAX;
    bool is_settled = quick && walk->units_max != UINT32_MAX;
    for (uint32_t i = list.count; i-- > end && left > 0 && sched->plan->unit_count - first < most;) {
        left -= is_by_lower && sched->jobs.jobs[list.slots[i]].priority < priority;
        if (i >= CANDIDATES_AHEAD)
            candidates_foresee(sched, list.slots[i - CANDIDATES_AHEAD]);
        if (by_job)
            know_queue(sched, walk, sched->jobs.jobs[list.slots[i]].queue);
        if (quick)
            is_settled &= judge_quickly(sched, walk, list.slots[i]);
        else
            judge_candidate(sched, walk, list.slots[i]);
    }
    if (is_settled && most == UINT32_MAX && !sched->policy.quota->is_flat)
        candidates_set_settled(sched, queue);
}

static void collect_queue(struct sched *sched, struct victim_walk *walk, queue_id queue)
{
    const uint32_t preemptor = walk->preemptor;
    const enum plan_kind kind = walk->kind;
    const struct slot_list *running = &sched->lists.running[queue];
    queue_id own = preemptor == SLOT_NONE ? QUEUE_ROOT : sched->jobs.jobs[preemptor].queue;
    uint32_t first = sched->plan->unit_count;
    if (running->count == 0 || (kind == PLAN_PREEMPT && plan_has_no_lower(sched, preemptor, queue)))
        return;
    if (is_queue_too_costly(sched, walk->request, queue)) {
        sched->plan->result.saw_too_costly |=
            candidates_floor(sched, queue) != INT64_MAX; /* else no job of it may be evicted */
        return;
    }
    if (!may_take_from(sched, walk, own, queue))
        return;
    know_queue(sched, walk, queue);
    if (sched->victim_lists.are_kept)
        judge_in_order(sched, walk, queue);
    else
        judge_all(sched, walk, running);
    if (walk->request->loss_bound != INT64_MAX && sched->plan->unit_count == first)
        candidates_refloor(sched, queue);
}

static struct victim_walk begin_walk(struct sched *sched, const struct plan_request *request)
{
    sched->plan->unit_count = sched->plan->term_count = sched->plan->next = 0;
    sched->plan->is_in_order = sched->victim_lists.are_kept;
    sched->plan->has_spans = false;
    const bool is_bounded = request->kind == PLAN_CONSOLIDATE ? sched->policy.preempt.search != SEARCH_NODE
                                                              : request->kind == PLAN_RECLAIM && request->is_moving;
    return (struct victim_walk){.request = request,
                                .preemptor = request->preemptor,
                                .kind = request->kind,
                                .rival = find_rival(sched, request->preemptor),
                                .units_max = is_bounded ? plan_job_bound(sched, PLAN_CONSOLIDATE) : UINT32_MAX};
}

/* Collect from the queue in a plan that takes from several queues. */
static void collect_other_queue(struct sched *sched, struct victim_walk *walk, enum plan_kind kind, queue_id queue)
{
    const bool takes_own = kind == PLAN_RECLAIM && plan_takes_own(sched, walk->preemptor, queue);
    walk->kind = takes_own ? PLAN_PREEMPT : kind;
    collect_queue(sched, walk, queue);
}

void victims_collect(struct sched *sched, const struct plan_request *request)
{
    struct victim_walk walk = begin_walk(sched, request);
    if (request->kind == PLAN_PREEMPT && !sched->policy.quota->is_flat)
        collect_queue(sched, &walk, sched->jobs.jobs[request->preemptor].queue);
    else if (sched->victim_lists.are_kept && sched->policy.quota->is_flat)
        judge_in_order(sched, &walk, QUEUE_ROOT); /* without quotas, no queue is out of reach as a whole */
    else
        for (queue_id q = 0; q < sched->tree.count; q++)
            collect_other_queue(sched, &walk, request->kind, q);
    sched->plan->result.saw_no_victim = sched->plan->unit_count == 0;
}

static void uncharge(struct sched *sched, const struct unit *unit)
{
    const int64_t *charge = unit_terms(sched->plan, unit)->charge;
    int64_t less[QUEUE_SUM_COUNT];
    for (int r = 0; r < QUEUE_SUM_COUNT; r++)
        less[r] = -charge[r];
    ledger_charge(sched->ledger, unit->queue, less);
}

/* With the unit gone and waiting again, would the queue order put the preemptor before it? */
static bool stays_behind(struct sched *sched, const struct plan_request *request, const struct unit *unit)
{
    struct contender a, b;
    plan_contenders(sched, request->preemptor, unit, &a, &b);
    if (plan_is_by_right(sched, request, a.queue))
        return true;
    size_t mark = ledger_mark(sched->ledger);
    uncharge(sched, unit);
    bool is_behind = sched->policy.quota->compare(&sched->tree, a, b) <= 0;
    ledger_rollback(sched->ledger, mark);
    return is_behind;
}

bool victims_is_lawful(struct sched *sched, const struct plan_request *request, const struct unit *unit)
{
    const struct sched_job *own = &sched->jobs.jobs[request->preemptor];
    struct taking taking = {.preemptor = own->queue,
                            .victim = unit->queue,
                            .preemptor_ask = sched_ask(sched, own)->charge,
                            .victim_unit = unit_terms(sched->plan, unit)->charge,
                            .preemptor_priority = own->priority,
                            .victim_priority = sched->jobs.jobs[unit->slot].priority,
                            .round = plan_round(sched->plan, request)};
    if (plan_takes_own(sched, request->preemptor, unit->queue))
        return true; /* within_queue was asked when it was collected */
    bool may = sched->policy.quota->may_take(&sched->tree, &taking);
    if (may && !sched->policy.preempt.replaces_victims)
        may = stays_behind(sched, request, unit);
    return may;
}

/* When a core (or a set) goes, its surplus that is left goes first.  May the queue lose each of these units, and then
 * the core? */
static bool may_go_with_surplus(struct sched *sched, const struct plan_request *request, const struct unit *core)
{
    bool may = true;
    size_t mark = ledger_mark(sched->ledger);
    for (uint32_t u = 0; u < sched->plan->unit_count && may; u++) {
        const struct unit *unit = &sched->plan->units[u];
        if (unit->is_taken || !unit_stands_on(sched, unit, core))
            continue;
        may = victims_is_lawful(sched, request, unit);
        uncharge(sched, unit);
    }
    may = may && victims_is_lawful(sched, request, core);
    ledger_rollback(sched->ledger, mark);
    return may;
}

bool victims_admit(struct sched *sched, const struct plan_request *request, struct unit *unit)
{
    if (unit->is_taken || unit->is_refused || victims_refuse_spared(sched, request, unit))
        return false;
    if (request->kind == PLAN_PREEMPT)
        unit->is_refused = !victims_keep_order(sched, request->preemptor, unit);
    else if (request->kind == PLAN_RECLAIM && !request->is_moving)
        unit->is_refused = unit->holding >= UNIT_SET && unit->surplus_count > 0
                               ? !may_go_with_surplus(sched, request, unit)
                               : !victims_is_lawful(sched, request, unit);
    return !unit->is_refused;
}
