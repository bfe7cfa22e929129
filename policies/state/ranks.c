/* The ranks of jobs by the order policies of the chain, now or in a state that is considered. */
#include <string.h>

#include "policies/order/order.h"
#include "policies/state/accounts.h"
#include "policies/state/ranks.h"
#include "policies/state/request_classes.h"
#include "policies/state/retry_queue.h"

/* Does the order policy never change the rank of a job that waits and holds nothing? */
static bool rests_waiting(const struct order_policy *policy, const struct order_config *config)
{
    return !policy->needs_accounts &&
           (!policy->moves || (policy->rests_waiting != NULL && policy->rests_waiting(config)));
}

/* Note how the ranks of the policy's chain can change, and which data they read. */
void sched_study_orders(struct sched *sched)
{
    sched->ranks.are_fixed = sched->ranks.are_by_fill = sched->ranks.rest_waiting = true;
    for (uint32_t r = 0; r < sched->policy.order_count; r++) {
        sched->ranks.are_moving |= sched->policy.order[r]->moves;
        sched->ranks.rest_waiting &= rests_waiting(sched->policy.order[r], &sched->policy.order_config);
        sched->ranks.need_accounts |= sched->policy.order[r]->needs_accounts;
        sched->ranks.are_fixed &= sched->policy.order[r]->is_constant;
        sched->ranks.are_by_fill &= sched->policy.order[r]->is_constant || sched->policy.order[r]->is_by_fill;
    }
    /* A reclaim may move victims under any defrag policy (policies/eviction/plan_members.c). */
    sched->ranks.need_service = !sched->ranks.are_by_fill || sched->policy.defrag_config.moves_per_plan != 0 ||
                                (sched->policy.preempt.replaces_victims && sched->policy.defrag_config.spares_ending);
}

time_ns sched_ran(const struct sched *sched, uint32_t slot)
{
    const struct job_facts *facts = &sched->jobs.facts[slot];
    return facts->ran + (facts->is_serving ? sched->now - facts->attained_at : 0);
}

/* The fields that change while the job waits and runs. */
static void fill_history(const struct sched *sched, uint32_t slot, struct order_view *view)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct job_facts *facts = &sched->jobs.facts[slot];
    view->ran = sched_ran(sched, slot);
    view->attained_gpu_ns = attained_gpu_ns(facts, sched->now);
    int64_t holds[QUEUE_SUM_COUNT] = {0};
    for (uint32_t i = 0; i < job->holding_count; i++)
        sched_add_charge(sched, slot, &sched_job_holding(job, i)->piece, 1, holds);
    for (int r = 0; r < RESOURCE_COUNT; r++)
        view->holds[r] = holds[r];
    if (sched->ranks.need_accounts)
        view->fair_share_ppm = accounts_fair_share(&sched->accounts, job->queue, facts->user);
}

static void fill_view(const struct sched *sched, uint32_t slot, struct order_view *view)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct job_facts *facts = &sched->jobs.facts[slot];
    const struct request_class *request_class = &sched->request_classes.at[job->request_class];
    view->now = sched->now;
    view->submit = facts->submit;
    view->priority = job->priority;
    view->class = request_class->class;
    view->is_running = job->is_booked;
    view->user = facts->user;
    view->queue = job->queue;
    view->member_count = request_class->member_count;
    view->node_count = sched->cluster->node_count;
    view->limit = facts->limit;
    view->estimate = facts->estimate;
    view->deadline = facts->deadline;
    view->waiting_since = facts->waiting_since;
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        view->asks[r] = request_class->charge[r];
        view->capacity[r] = sched->tree.capacity[r];
        view->holds[r] = 0;
    }
    view->ran = view->attained_gpu_ns = 0;
    view->fair_share_ppm = 0;
    view->own = NULL;
    if (!sched->ranks.are_by_fill)
        fill_history(sched, slot, view);
}

void sched_rank_as(const struct sched *sched, uint32_t slot, uint8_t fill, uint64_t rank[ORDER_CHAIN_MAX])
{
    sched_rank_with(sched, slot, fill, NULL, rank);
}

void sched_rank_with(const struct sched *sched, uint32_t slot, uint8_t fill, const int64_t more[QUEUE_SUM_COUNT],
                     uint64_t rank[ORDER_CHAIN_MAX])
{
    struct order_view view;
    fill_view(sched, slot, &view);
    view.fill = fill;
    for (int r = 0; r < RESOURCE_COUNT && more != NULL; r++)
        view.holds[r] += more[r];
    for (uint32_t r = 0; r < sched->policy.order_count; r++) {
        view.own = sched->own.order[r];
        rank[r] = sched->policy.order[r]->rank(&view, &sched->policy.order_config);
    }
}

void sched_view(struct sched *sched, uint32_t slot, struct order_view *view)
{
    fill_view(sched, slot, view);
    view->fill = sched->jobs.jobs[slot].fill;
    if (sched->ranks.are_by_fill)
        fill_history(sched, slot, view);
}

/* The ranks of a possible victim decide its place in a list. */
static void rank_listed(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    uint64_t rank[ORDER_CHAIN_MAX];
    memcpy(rank, job->rank, sizeof rank);
    sched_rank_as(sched, slot, job->fill, rank);
    if (memcmp(rank, job->rank, sizeof rank) == 0)
        return;
    victim_lists_remove(sched, slot);
    memcpy(job->rank, rank, sizeof rank);
    victim_lists_add(sched, slot);
}

void sched_rank(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    if (sched->ranks.are_by_fill && job->ranked_fill == job->fill)
        return;
    if (sched->victim_lists.are_kept && job->is_listed)
        rank_listed(sched, slot);
    else
        sched_rank_as(sched, slot, job->fill, job->rank);
    job->ranked_fill = job->fill;
}

/* Is the job's rank known to be what it was? */
static bool is_at_rest(const struct sched *sched, const struct sched_job *job)
{
    return job->state == SJOB_NONE ||
           (sched->ranks.rest_waiting && job->state == SJOB_PENDING && job->holding_count == 0);
}

void sched_rank_all(struct sched *sched)
{
    bool has_news = sched->ranks.change != sched->changes, is_reordered = !sched->ranks.rest_waiting;
    sched->ranks.at = sched->now;
    sched->ranks.change = sched->changes;
    if (sched->ranks.need_accounts)
        accounts_refresh(&sched->accounts, sched->now);
    for (uint32_t slot = 0; slot < sched->jobs.used; slot++) {
        struct sched_job *job = &sched->jobs.jobs[slot];
        uint64_t rank[ORDER_CHAIN_MAX];
        if (is_at_rest(sched, job))
            continue;
        memcpy(rank, job->rank, sizeof rank);
        sched_rank(sched, slot);
        const bool is_other = memcmp(rank, job->rank, sizeof rank) != 0;
        has_news |= is_other;
        is_reordered |= is_other && job->class_queue != CLASS_QUEUE_NONE;
    }
    if (is_reordered)
        pending_reorder(&sched->pending);
    if (has_news) /* without news a plan that failed would fail again */
        sched_void_memos(sched);
    queue_tree_all_stale(&sched->tree);
}
