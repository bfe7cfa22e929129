/* When plans are tried: which class queues may ask for one, in what order, how often, and when again.
 *
 * A plan that finds no victims is tried again after a number of state changes that doubles with each failure, or when
 * a victim that was too young may be evicted.  A plan that costs more than the preemptor's wait is worth is tried
 * again when it may be worth it (preemption_cost.c), or when its head is in quota.  A class queue that would surely
 * find no victims is refused without a search; that does not count as an attempt.
 * Limits: attempts_per_cycle plans per cycle and kind.
 * Cost: O(class queues due) a cycle (retry_queue.c). */
#include "policies/booking/patience.h"
#include "policies/eviction/eviction.h"
#include "policies/eviction/eviction_state.h"
#include "policies/eviction/moves.h"
#include "policies/eviction/node_search.h"
#include "policies/eviction/nominees.h"
#include "policies/eviction/plan.h"
#include "policies/eviction/plan_rounds.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/preemption_cost.h"
#include "policies/eviction/victims.h"
#include "policies/state/candidates.h"
#include "policies/state/over_quota.h"
#include "policies/state/preemption_bound.h"
#include "policies/state/retry_queue.h"
#include "policies/state/sched_state.h"

/* From when on jobs may be evicted, or moved, for the head of the class queue: it has waited long enough then. */
static time_ns patient_at(const struct sched *sched, const struct class_queue *class_queue)
{
    const uint32_t head = class_queue->heap[0].slot;
    return sched->jobs.facts[head].waiting_since + sched_delay(sched, head);
}

/* When the class queue may ask: it is due, and its head has waited long enough. */
static time_ns ask_at(const struct sched *sched, uint32_t class_queue_id, enum plan_kind kind)
{
    const struct class_queue *class_queue = &sched->pending.class_queues[class_queue_id];
    const struct plan_memo *memo = &sched->pending.memos[class_queue_id][kind];
    time_ns due = retry_queue_is_due(sched, memo) ? 0 : memo->eligible_at, patient = patient_at(sched, class_queue);
    return due > patient ? due : patient;
}

/* Under a quota policy that confines jobs, any state change may help a plan, so class queues do not back off.  A class
 * queue whose head may not evict can only claim space that evicted jobs are leaving.  While no space is leaving, its
 * attempt would fail, so none is made: that is much cheaper, and it does not count among the attempts of the cycle. */
static bool is_passed_by(struct sched *sched, uint32_t class_queue, enum plan_kind kind)
{
    return sched->policy.quota->homes.confines != NULL && sched->ledger->coming_milli == 0 &&
           !plan_request_of(sched, pending_head(&sched->pending, class_queue), kind).may_evict;
}

/* The first time one of the class queues that are awake may ask. */
static time_ns first_awake(struct sched *sched, enum plan_kind kind)
{
    const struct retry_queue *retry_queue = &sched->retry_queues[kind];
    time_ns first = TIME_NEVER;
    for (uint32_t i = 0; i < retry_queue->awake_count && first > sched->now; i++) {
        if (is_passed_by(sched, retry_queue->awake[i], kind))
            continue;
        time_ns at = ask_at(sched, retry_queue->awake[i], kind);
        if (at < first && plan_may_ask(sched, retry_queue->awake[i], kind))
            first = at;
    }
    return first;
}

time_ns plan_wake(struct sched *sched)
{
    time_ns first = TIME_NEVER;
    for (int k = 0; k < PLAN_KIND_COUNT; k++) {
        if (!sched->retry_queues[k].is_used)
            continue;
        time_ns awake = retry_queue_wake(sched, (enum plan_kind)k) ? first_awake(sched, (enum plan_kind)k) : TIME_NEVER;
        time_ns asleep = retry_queue_eligible_at(sched, (enum plan_kind)k);
        first = awake < first ? awake : first;
        first = asleep < first ? asleep : first;
    }
    return first <= sched->now ? sched->now + 1 : first; /* class queues beyond the limit ask next cycle */
}

uint32_t plan_take_best_class_queue(struct sched *sched)
{
    struct attempts *attempts = &sched->eviction->attempts;
    uint32_t best = queue_selection_best(&sched->tree, &sched->pending, attempts->class_queues,
                                         attempts->class_queue_count, &sched->queue_selection);
    for (uint32_t i = 0; i < attempts->class_queue_count; i++)
        if (attempts->class_queues[i] == best) {
            attempts->class_queues[i] = attempts->class_queues[--attempts->class_queue_count];
            break;
        }
    return best;
}

/* A plan for the head failed: note what must happen before the next attempt. */
static void note_failure(struct sched *sched, uint32_t class_queue, enum plan_kind kind)
{
    const struct plan_scratch *plan = sched->plan;
    const uint32_t preemptor = pending_head(&sched->pending, class_queue);
    struct plan_failure why = {.eligible_at = plan->result.eligible_at,
                               .eligible_last_at = plan->result.eligible_last_at,
                               .affordable_at = TIME_NEVER,
                               .awaits_start = plan->result.saw_starting,
                               .no_victim_for = JOB_NONE};
    if (plan->result.saw_too_costly)
        why.affordable_at = preemption_cost_retry_at(sched, preemptor);
    if (plan->result.saw_no_victim && sched->policy.preemption->spares == NULL && kind == PLAN_PREEMPT &&
        !sched->policy.quota->is_flat) {
        why.no_victim_for = sched->jobs.jobs[preemptor].id;
        why.no_victim_version = candidates_version(sched, sched->jobs.jobs[preemptor].queue);
    }
    retry_queue_failed(sched, class_queue, kind, &why);
}

/* Would a plan surely fail, for the same reason as the last one or for a reason that needs no search? */
static bool is_hopeless(struct sched *sched, uint32_t class_queue, enum plan_kind kind)
{
    uint32_t preemptor = pending_head(&sched->pending, class_queue);
    const struct sched_job *job = &sched->jobs.jobs[preemptor];
    const struct plan_memo *memo = &sched->pending.memos[class_queue][kind];
    if (memo->awaits_affordable && memo->eligible_at > sched->now && !sched_is_entitled(sched, preemptor))
        return true; /* state changes do not make its wait worth more */
    if (sched->lists.leaving_count > 0)
        return false; /* the space that is coming may be enough */
    if (memo->no_victim_for == job->id && memo->no_victim_until > sched->now &&
        memo->no_victim_version == candidates_version(sched, job->queue))
        return true;
    const struct request_class *ask = sched_ask(sched, job);
    return !preemption_bound_suffices(&sched->preemption_bound, sched->cluster, ask) ||
           !plan_request_of(sched, preemptor, kind).may_evict;
}

static void forget_notes(struct plan_scratch *plan)
{
    plan->result.eligible_at = plan->result.eligible_last_at = plan->result.affordable_at = TIME_NEVER;
    plan->result.saw_starting = plan->result.saw_too_costly = plan->result.saw_no_victim = false;
}

/* Has the head waited too short a time for any plan to be worth it?  Then its class queue sleeps until one may be. */
static bool await_affordable(struct sched *sched, uint32_t class_queue)
{
    uint32_t preemptor = pending_head(&sched->pending, class_queue);
    time_ns earliest = preemption_cost_earliest(sched, preemptor);
    if (earliest <= sched->now)
        return false;
    forget_notes(sched->plan);
    sched->plan->result.affordable_at = earliest;
    retry_queue_await_affordable(sched, class_queue, PLAN_RECLAIM, preemption_cost_retry_at(sched, preemptor));
    return true;
}

void plan_gather_class_queues(struct sched *sched, enum plan_kind kind)
{
    struct attempts *attempts = &sched->eviction->attempts;
    const struct retry_queue *retry_queue = &sched->retry_queues[kind];
    attempts->class_queue_count = 0;
    if (!retry_queue_wake(sched, kind))
        return;
    for (uint32_t i = 0; i < retry_queue->awake_count; i++) {
        uint32_t l = retry_queue->awake[i];
        const struct plan_memo *memo = &sched->pending.memos[l][kind];
        if (memo->tried_cycle == sched->cycle || is_passed_by(sched, l, kind) || !plan_may_ask(sched, l, kind))
            continue;
        time_ns at = ask_at(sched, l, kind);
        if (at > sched->now) {
            if (retry_queue_is_due(sched, memo))
                retry_queue_delay(sched, l, kind, at);
            continue;
        }
        if (kind == PLAN_RECLAIM && await_affordable(sched, l))
            continue;
        if (is_hopeless(sched, l, kind)) {
            retry_queue_refused(sched, l, kind);
            continue;
        }
        MEM_GROW(attempts->class_queues, attempts->class_queue_capacity, (size_t)attempts->class_queue_count + 1);
        attempts->class_queues[attempts->class_queue_count++] = l;
    }
}

bool plan_attempt(struct sched *sched, uint32_t class_queue, enum plan_kind kind, bool is_nomination)
{
    uint32_t preemptor = pending_head(&sched->pending, class_queue);
    forget_notes(sched->plan);
    retry_queue_begin_attempt(sched, class_queue, kind);
    if (is_nomination ? !plan_find(sched, preemptor, kind) : !plan_make(sched, preemptor, kind)) {
        note_failure(sched, class_queue, kind);
        return false;
    }
    if (!is_nomination)
        retry_queue_succeeded(sched, class_queue, kind);
    return true;
}
