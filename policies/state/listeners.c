/* State of plug-ins' policies, and the events they receive. */
#include "policies/state/listeners.h"
#include "policies/plugin.h"

void listeners_init(struct sched *sched)
{
    struct owns *owns = &sched->own.all;
    const struct policy_config *policy = &sched->policy;
    owns_init(owns, policy);
    for (uint32_t r = 0; r < policy->order_count; r++)
        sched->own.order[r] = owns_of(owns, policy->order[r]);
    for (uint32_t k = 0; k < policy->preempt.victim_key_count; k++)
        sched->own.victim[k] = owns_of(owns, policy->preempt.victims[k]);
    sched->own.gang = owns_of(owns, policy->gang);
    sched->own.estimate = owns_of(owns, policy->estimate);
    sched->own.preemption = owns_of(owns, policy->preemption);
    sched->own.backfill = owns_of(owns, policy->backfill);
    sched->tree.policy_own = owns_of(owns, policy->quota);
    sched->ledger->owns = owns->count > 0 ? owns : NULL;
}

void listeners_tell(struct sched *sched, uint32_t slot, int event)
{
    struct order_view view;
    sched_view(sched, slot, &view);
    for (uint32_t i = 0; i < sched->own.all.count; i++) {
        const struct owned *owned = &sched->own.all.of[i];
        if (owned->plugin->on_job == NULL)
            continue;
        view.own = &owned->own;
        owned->plugin->on_job(owned->state, owned->own.params, (enum plugin_event)event, &view);
    }
}

bool planned_start_is_wanted(struct sched *sched, uint32_t slot)
{
    const struct backfill_policy *backfill = sched->policy.backfill;
    struct order_view view;
    if (request_class_is_surplus(sched_ask(sched, &sched->jobs.jobs[slot])))
        return false; /* it runs already, and stops nobody: policies/queues/pending.h */
    if (backfill->reserves == NULL)
        return true;
    sched_view(sched, slot, &view);
    view.own = sched->own.backfill;
    return backfill->reserves(&view);
}
