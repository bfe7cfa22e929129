/* Plug-ins' policies: their states, at the place that the policy gives them, and the events of jobs that they hear. */
#include "policies/plugin.h"
#include "policies/state/ranks.h"
#include "policies/state/sched_state.h"

static void *plugins_init(struct sched *sched)
{
    struct owns *owns = &sched->own.all;
    const struct policy_config *policy = &sched->policy;
    owns_init(owns, policy);
    if (owns->count == 0)
        return NULL;
    for (uint32_t r = 0; r < policy->order_count; r++)
        sched->own.order[r] = owns_of(owns, policy->order[r]);
    for (uint32_t k = 0; k < policy->preempt.victim_key_count; k++)
        sched->own.victim[k] = owns_of(owns, policy->preempt.victims[k]);
    sched->own.gang = owns_of(owns, policy->gang);
    sched->own.estimate = owns_of(owns, policy->estimate);
    sched->own.preemption = owns_of(owns, policy->preemption);
    sched->own.backfill = owns_of(owns, policy->backfill);
    sched->tree.policy_own = owns_of(owns, policy->quota);
    sched->ledger->owns = owns;
    return owns;
}

static void plugins_release(struct sched *sched, void *own)
{
    (void)sched;
    owns_release(own);
}

static void tell(struct sched *sched, struct owns *owns, uint32_t slot, enum plugin_event event)
{
    struct order_view view;
    if (owns->listener_count == 0)
        return;
    sched_view(sched, slot, &view);
    for (uint32_t i = 0; i < owns->count; i++) {
        const struct owned *owned = &owns->of[i];
        if (owned->plugin->on_job == NULL)
            continue;
        view.own = &owned->own;
        owned->plugin->on_job(owned->state, owned->own.params, event, &view);
    }
}

static void on_submitted(struct sched *sched, void *own, uint32_t slot)
{
    tell(sched, own, slot, PLUGIN_JOB_SUBMITTED);
}

static void on_started(struct sched *sched, void *own, uint32_t slot, time_ns at)
{
    (void)at;
    tell(sched, own, slot, PLUGIN_JOB_STARTED);
}

static void on_evicted(struct sched *sched, void *own, uint32_t slot)
{
    tell(sched, own, slot, PLUGIN_JOB_EVICTED);
}

static void on_end(struct sched *sched, void *own, uint32_t slot, bool will_retry)
{
    (void)will_retry;
    tell(sched, own, slot, PLUGIN_JOB_ENDED);
}

const struct observer plugins_observer = {.init = plugins_init,
                                          .release = plugins_release,
                                          .submitted = on_submitted,
                                          .started = on_started,
                                          .evicted = on_evicted,
                                          .ends = on_end};
