/* Is what an eviction throws away worth the time the preemptor has waited, and if not, when may it be?
 *
 * A job may cost others loss_ratio GPU-seconds for each GPU-second that it waited, what its queue deserves excepted.
 * As it waits that grows by the GPUs it asks; what a victim would lose grows by those it holds, until it saves.  From
 * both follows when to look again, and nothing that merely happens meanwhile is taken for news: a plan that was too
 * dear is not sought again before (attempts.c).
 * Known limit: who saves is taken to save at its interval, and whoever starts meanwhile is found at the next look.
 * Before anybody is looked at: no victim loses less than the least that any job ever seen would, and what is kept free
 * must be freed by somebody; before the wait is worth that, there is no plan.
 * Cost: O(1). */
#include "policies/eviction/preemption_cost.h"
#include "policies/eviction/eviction.h"
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

/* GPUs times the ratio: by so much per ns grows what may be lost. */
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

/* The time it takes to make up `gap` at this speed. */
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
    plan->saw_dear = true;
    /* Most cannot beat what is known already; that takes no division to see. */
    if (speed > 0 && (plan->affordable_at == TIME_NEVER ||
                      (__int128)(plan->affordable_at - sched->now) * speed > (__int128)gap * GPU_MILLI))
        plan->affordable_at = earlier(plan->affordable_at, sched->now + time_to_close(gap, speed));
    if (growth > 0 && preemption_cost->saved_at < plan->affordable_at)
        plan->affordable_at =
            earlier(plan->affordable_at,
                    later(preemption_cost->saved_at, sched->jobs.facts[preemptor].waiting_since +
                                                         time_to_close(preemption_cost->least_gpu_ns, growth)));
}

time_ns preemption_cost_retry_at(const struct sched *sched, uint32_t preemptor)
{
    time_ns span = waited(sched, preemptor);
    time_ns first = sched->now + later(span / PATIENCE_PART, PATIENCE_MIN);
    time_ns last = sched->now + later(span, LOOK_EVERY);
    return earlier(later(earlier(sched->plan->affordable_at, sched->plan->eligible_at), first), last);
}

/* Of jobs that are spared for so long, none loses less when its turn has come; those that were told to have saved do.
 */
static time_ns least_of(const struct sched *sched, uint32_t slot)
{
    const struct checkpoint_plan *plan = &sched->jobs.facts[slot].checkpoint;
    time_ns grace = sched_grace(sched, slot);
    if (!sched->request_classes.at[sched->jobs.jobs[slot].request_class].is_rigid)
        return 0; /* what it has above its minimum goes for nothing */
    if (grace > 0 && plan->duration <= grace)
        return plan->restart + plan->duration;
    bool may_be_safe = plan->interval > 0 || sched->jobs.facts[slot].saved_at != TIME_NEVER;
    return plan->restart + (may_be_safe ? 0 : sched->reclaim_least_runtime);
}

void preemption_cost_know(struct sched *sched, uint32_t slot)
{
    time_ns least = least_of(sched, slot);
    if (least < sched->least_loss)
        sched->least_loss = least;
}

void preemption_cost_queues_changed(struct sched *sched)
{
    sched->reclaim_least_runtime = sched->policy.preempt.reclaim_min_runtime;
    for (queue_id q = 0; q < sched->tree.count; q++) {
        time_ns own = queue_tree_spec(&sched->tree, q)->reclaim_min_runtime;
        if (own >= 0 && own < sched->reclaim_least_runtime)
            sched->reclaim_least_runtime = own;
    }
    if (sched->least_loss > sched->reclaim_least_runtime)
        sched->least_loss = sched->reclaim_least_runtime;
}

/* GPUs that victims must free: what is kept free for owners a borrower finds no less of afterwards. */
static int64_t must_free_milli(const struct sched *sched, const struct request_class *ask)
{
    const struct headroom *headroom = &sched->headroom;
    for (uint32_t g = 0; g < ask->group_count; g++)
        if (ask->groups[g].request.gpu_memory_mib != 0)
            return 0; /* the model decides how much that is */
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
    __int128 least = (__int128)sched->least_loss * milli / GPU_MILLI;
    return sched->jobs.facts[preemptor].waiting_since +
           time_to_close(least > INT64_MAX ? INT64_MAX : (int64_t)least, growth);
}
