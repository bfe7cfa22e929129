/* The state of the eviction room: create, release, save and check it. */
#include "policies/eviction/eviction.h"
#include "policies/eviction/eviction_state.h"
#include "policies/eviction/moves.h"
#include "policies/eviction/node_search.h"
#include "policies/eviction/nominees.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/eviction/preemption_cost.h"
#include "policies/eviction/victims.h"
#include "policies/state/retry_queue.h"

static bool has_action(const struct sched *sched, enum action action)
{
    for (uint32_t a = 0; a < sched->policy.action_count; a++)
        if (sched->policy.actions[a] == action)
            return true;
    return false;
}

static void *eviction_init(struct sched *sched)
{
    sched->eviction = mem_zalloc(1, sizeof *sched->eviction);
    sched->eviction->least_loss = TIME_NEVER;
    sched->plan = mem_zalloc(1, sizeof *sched->plan);
    if (sched->policy.preemption->evicts) {
        sched->plan->node_mark = mem_zalloc(sched->cluster->node_count, 1);
        sched->plan->returned_milli = mem_zalloc((size_t)sched->cluster->gpu_count + 1, sizeof(uint16_t));
        sched->plan->cleared = mem_zalloc(sched->cluster->node_count, 1);
        node_search_init(sched);
    }
    static const enum action actions[PLAN_KIND_COUNT] = {ACTION_CONSOLIDATION, ACTION_RECLAIM, ACTION_PREEMPT};
    for (int k = 0; k < PLAN_KIND_COUNT; k++)
        retry_queue_use(sched, (enum plan_kind)k, sched->policy.preemption->evicts && has_action(sched, actions[k]));
    sched->eviction->takes_both = sched->policy.quota->lending.rounds != NULL && !sched->policy.quota->is_flat &&
                                  sched->retry_queues[PLAN_RECLAIM].is_used &&
                                  sched->retry_queues[PLAN_PREEMPT].is_used &&
                                  sched->policy.preempt.within_queue != WITHIN_QUEUE_NEVER;
    if (sched->eviction->takes_both)
        retry_queue_use(sched, PLAN_PREEMPT, false);
    sched->plans_in_turn = sched->policy.quota->lending.rounds != NULL && !sched->policy.quota->is_flat &&
                           sched->retry_queues[PLAN_RECLAIM].is_used;
    return sched->eviction;
}

static void eviction_release(struct sched *sched, void *own)
{
    plan_release(sched->plan);
    mem_free(sched->eviction->attempts.class_queues);
    mem_free(sched->eviction->attempts.nominees);
    mem_free(sched->eviction->attempts.targets);
    mem_free(own);
}

static void eviction_count(const struct sched *sched, const void *own, struct sched_counts *counts)
{
    const struct eviction_state *eviction = own;
    (void)sched;
    counts->plans = eviction->plans;
    counts->plans_tried = eviction->plans_tried;
}

static void eviction_begin_cycle(struct sched *sched, void *own)
{
    struct eviction_state *eviction = own;
    (void)sched;
    eviction->evicted_in_cycle = eviction->attempts.turn_attempts = 0;
}

bool plan_cycle(struct sched *sched, enum plan_kind kind)
{
    bool is_booked = false;
    plan_gather_class_queues(sched, kind);
    int64_t attempts = kind == PLAN_RECLAIM ? sched->eviction->attempts.turn_attempts : 0;
    if (sched->policy.quota->lending.rounds != NULL && sched->eviction->attempts.class_queue_count > 1) {
        attempts += nominees_try_all(sched, kind, &is_booked);
        plan_gather_class_queues(sched, kind);
    }
    for (; sched->eviction->attempts.class_queue_count > 0 && attempts < sched->policy.preempt.attempts_per_cycle;
         attempts++) {
        if (!plan_attempt(sched, plan_take_best_class_queue(sched), kind, false))
            continue;
        is_booked = true;
        plan_gather_class_queues(sched, kind); /* the class queue has another head now */
    }
    return is_booked;
}

/* Are the marks of the last plan cleared? */
static const char *eviction_check(const struct sched *sched, const void *own)
{
    bool is_left = false;
    (void)own;
    for (node_id n = 0; n < sched->cluster->node_count && sched->policy.preemption->evicts; n++)
        is_left |= sched->plan->node_mark[n] != 0 || sched->plan->node_search.nodes[n].first != 0 ||
                   sched->plan->node_search.nodes[n].milli != 0;
    return is_left ? "something is left of a plan" : NULL;
}

const struct observer eviction_observer = {.init = eviction_init,
                                           .release = eviction_release,
                                           .check = eviction_check,
                                           .cycle_begins = eviction_begin_cycle,
                                           .count = eviction_count};
