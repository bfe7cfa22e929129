/* Is the preemption cost of a plan worth the time that the preemptor has waited, and if not, when may it be?
 *
 * A job may cost others loss_ratio GPU-seconds for each GPU-second that it waited.  For a job in quota the cost is not
 * bounded.  What a job may cost grows with time by the GPUs that it asks; what a victim would lose grows by the GPUs
 * that it holds, until it saves.  Both together give the time of the next trial.  A plan that cost too much is not
 * searched again before that time, whatever else happens (attempts.c).
 * Known limit: a job is assumed to save at its interval.  Jobs that start meanwhile are seen at the next trial.
 * Before any candidate is looked at, a bound is tested.  No victim loses less than least_loss, the least that any job
 * seen so far could lose, and the space that headroom keeps must be freed by victims.  Until the wait is worth that
 * much, there is no plan.
 * Cost: O(1). */
#include "policies/eviction/preemption_cost.h"
#include "policies/eviction/eviction.h"
#include "policies/eviction/eviction_state.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/state/candidates.h"
#include "policies/state/headroom.h"
#include "policies/state/over_quota.h"
#include "policies/state/sched_state.h"

enum { PATIENCE_PART = 8 };
#define PATIENCE_MIN TIME_NS_PER_S
#define LOOK_EVERY   (60 * TIME_NS_PER_S)

static time_ns later(time_ns a, time_ns b)
{
    return a > b ? a : b;
}

static time_ns earlier(time_ns a, time_ns b)
{
    return a < b ? a : b;
}

static time_ns waited(const struct sched *sched, uint32_t preemptor)
{
    return sched->now - sched->jobs.facts[preemptor].waiting_since;
}

/* How many milli-GPU-ns more may be lost for each ns that the preemptor waits: its GPUs times the ratio. */
static int64_t growth_of_worth(const struct sched *sched, uint32_t preemptor)
{
    const struct request_class *ask = &sched->request_classes.at[sched->jobs.jobs[preemptor].ask];
    return ask->charge[QUEUE_SUM_GPU] * sched->policy.preempt.loss_ratio_milli / 1000;
}

int64_t preemption_cost_of_wait(const struct sched *sched, uint32_t preemptor)
{
    __int128 worth = (__int128)waited(sched, preemptor) * growth_of_worth(sched, preemptor) / GPU_MILLI;
    return worth > INT64_MAX ? INT64_MAX : (int64_t)worth;
}

/* The time in which `gap` closes at this speed, rounded up. */
static time_ns time_to_close(int64_t gap_gpu_ns, int64_t speed_milli)
{
    __int128 span = ((__int128)gap_gpu_ns * GPU_MILLI + speed_milli - 1) / speed_milli;
    return span > TIME_NEVER / 2 ? TIME_NEVER / 2 : (time_ns)span;
}

void preemption_cost_note(struct sched *sched, uint32_t preemptor, const struct preemption_cost *preemption_cost)
{
    struct plan_scratch *plan = sched->plan;
    int64_t growth = growth_of_worth(sched, preemptor), speed = growth - preemption_cost->growth_milli;
    int64_t gap = preemption_cost->loss_gpu_ns - preemption_cost_of_wait(sched, preemptor);
    plan->result.saw_too_costly = true;
    /* The product shows whether this gives an earlier time; most candidates do not, so most need no division. */
    if (speed > 0 && (plan->result.affordable_at == TIME_NEVER ||
                      (__int128)(plan->result.affordable_at - sched->now) * speed > (__int128)gap * GPU_MILLI))
        plan->result.affordable_at = earlier(plan->result.affordable_at, sched->now + time_to_close(gap, speed));
    if (growth > 0 && preemption_cost->saved_at < plan->result.affordable_at)
        plan->result.affordable_at =
            earlier(plan->result.affordable_at,
                    later(preemption_cost->saved_at, sched->jobs.facts[preemptor].waiting_since +
                                                         time_to_close(preemption_cost->least_gpu_ns, growth)));
}

time_ns preemption_cost_retry_at(const struct sched *sched, uint32_t preemptor)
{
    time_ns span = waited(sched, preemptor);
    time_ns first = sched->now + later(span / PATIENCE_PART, PATIENCE_MIN);
    time_ns last = sched->now + later(span, LOOK_EVERY);
    return earlier(later(earlier(sched->plan->result.affordable_at, sched->plan->result.eligible_at), first), last);
}

/* The least time that the job can lose when it is evicted.  A job that cannot save has run for the minimum run time at
 * least; a job that saves may lose the restart only. */
static time_ns least_of(const struct sched *sched, uint32_t slot)
{
    const struct checkpoint_plan *plan = &sched->jobs.facts[slot].checkpoint;
    time_ns grace = sched_grace(sched, slot);
    if (!sched->request_classes.at[sched->jobs.jobs[slot].request_class].is_rigid)
        return 0; /* its surplus goes at no cost */
    if (grace > 0 && plan->duration <= grace)
        return plan->restart + plan->duration;
    bool may_be_safe = plan->interval > 0 || sched->jobs.facts[slot].saved_at != TIME_NEVER;
    return plan->restart + (may_be_safe ? 0 : sched->eviction->reclaim_least_runtime);
}

void preemption_cost_know(struct sched *sched, uint32_t slot)
{
    time_ns least = least_of(sched, slot);
    if (least < sched->eviction->least_loss)
        sched->eviction->least_loss = least;
}

/* The GPUs that victims must free for a borrower: what it asks, less the free space beyond what is kept (for the
 * headroom and for owners), less what is coming.  0 if nothing is kept for owners. */
static int64_t must_free_milli(const struct sched *sched, const struct request_class *ask)
{
    const struct headroom *headroom = &sched->headroom;
    for (uint32_t g = 0; g < ask->group_count; g++)
        if (ask->groups[g].request.gpu_memory_mib != 0)
            return 0; /* the GPUs it needs depend on the model */
    int64_t kept = headroom->gpu_milli + headroom->owners_milli;
    int64_t to_spare = headroom_free(sched).gpu_milli - kept;
    if (headroom->owners_milli == 0)
        return 0;
    return ask->charge[QUEUE_SUM_GPU] - (to_spare > 0 ? to_spare : 0) - sched->ledger->coming_milli;
}

time_ns preemption_cost_earliest(const struct sched *sched, uint32_t preemptor)
{
    const struct request_class *ask = &sched->request_classes.at[sched->jobs.jobs[preemptor].ask];
    int64_t growth = growth_of_worth(sched, preemptor), milli = must_free_milli(sched, ask);
    if (sched->policy.preempt.loss_ratio_milli == 0 || growth == 0 || milli <= 0 || headroom_is_for(sched, preemptor) ||
        sched_is_entitled(sched, preemptor))
        return 0;
    __int128 least = (__int128)sched->eviction->least_loss * milli / GPU_MILLI;
    return sched->jobs.facts[preemptor].waiting_since +
           time_to_close(least > INT64_MAX ? INT64_MAX : (int64_t)least, growth);
}

/* ---- Events ---- */

static void *preemption_cost_init(struct sched *sched)
{
    return sched->policy.preemption->evicts ? sched->eviction : NULL;
}

static void on_enrolled(struct sched *sched, void *own, uint32_t slot, const struct job *job)
{
    (void)own, (void)job;
    preemption_cost_know(sched, slot);
}

static void on_saved(struct sched *sched, void *own, uint32_t slot)
{
    (void)own;
    preemption_cost_know(sched, slot);
}

static void on_queues(struct sched *sched, void *own, const struct queue_table *table, queue_id first)
{
    struct eviction_state *eviction = own;
    (void)table;
    if (first == 0) {
        eviction->reclaim_least_runtime = eviction->reclaim_runtime_max = sched->policy.preempt.reclaim_min_runtime;
        eviction->has_own_runtimes = false;
    }
    for (queue_id q = first; q < sched->tree.count; q++) {
        const struct queue_spec *spec = queue_tree_spec(&sched->tree, q);
        eviction->has_own_runtimes |= spec->preempt_min_runtime >= 0;
        if (spec->reclaim_min_runtime >= 0 && spec->reclaim_min_runtime < eviction->reclaim_least_runtime)
            eviction->reclaim_least_runtime = spec->reclaim_min_runtime;
        if (spec->reclaim_min_runtime > eviction->reclaim_runtime_max)
            eviction->reclaim_runtime_max = spec->reclaim_min_runtime;
    }
    if (eviction->least_loss > eviction->reclaim_least_runtime)
        eviction->least_loss = eviction->reclaim_least_runtime;
}

const struct observer preemption_cost_observer = {
    .init = preemption_cost_init, .queues_changed = on_queues, .enrolled = on_enrolled, .saved = on_saved};
