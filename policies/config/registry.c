/* All built-in policies, by seam.  To add one, write its file, declare it in the folder's header and list it here. */
#include "policies/config/registry.h"

#include <assert.h>

#include "policies/backfill/backfills.h"
#include "policies/estimate/estimates.h"
#include "policies/gang/gangs.h"
#include "policies/geometry/geometries.h"
#include "policies/idle/idles.h"
#include "policies/order/orders.h"
#include "policies/placement/placements.h"
#include "policies/preemption/preemptions.h"
#include "policies/preemption/victim_keys.h"
#include "policies/quota/quotas.h"
#include "policies/sharing/sharings.h"

const struct order_policy *const order_policies[] = {
    &order_fifo, &order_priority, &order_elastic, &order_sjf, &order_ljf,      &order_smallest,    &order_largest,
    &order_srtf, &order_deadline, &order_las,     &order_drf, &order_fairtree, &order_multifactor, NULL};

const struct quota_policy *const quota_policies[] = {&quota_none,       &quota_limits, &quota_fairshare,
                                                     &quota_cohort,     &quota_drf,    &quota_capacity,
                                                     &quota_proportion, &quota_cells,  NULL};

const struct backfill_policy *const backfill_policies[] = {&backfill_none, &backfill_easy, &backfill_conservative,
                                                           &backfill_slurm, NULL};

const struct geometry_policy *const geometry_policies[] = {&geometry_static, &geometry_on_demand, NULL};

const struct idle_policy *const idle_policies[] = {&idle_none, &idle_tell, &idle_reclaim, NULL};

const struct sharing_policy *const sharing_policies[] = {&sharing_as_asked,  &sharing_whole, &sharing_mig, &sharing_mps,
                                                         &sharing_timeslice, &sharing_trust, NULL};

const struct estimate_policy *const estimate_policies[] = {&estimate_limit, &estimate_declared, &estimate_history,
                                                           NULL};

const struct gang_policy *const gang_policies[] = {&gang_all_or_nothing, &gang_hoard, NULL};

const struct placement_policy *const placement_policies[] = {&placement_best_fit,
                                                             &placement_gather,
                                                             &placement_first_fit,
                                                             &placement_worst_fit,
                                                             &placement_binpack,
                                                             &placement_buddy,
                                                             &placement_pack,
                                                             &placement_strict_pack,
                                                             &placement_spread,
                                                             &placement_strict_spread,
                                                             &placement_random,
                                                             &placement_weighted_best_fit,
                                                             &placement_dot_product,
                                                             &placement_gpu_packing,
                                                             &placement_gpu_clustering,
                                                             &placement_fgd,
                                                             &placement_fastest,
                                                             &placement_weighted_binpack,
                                                             &placement_topology,
                                                             &placement_least_allocated,
                                                             &placement_least_allocated_gpus,
                                                             NULL};

const struct preemption_policy *const preemption_policies[] = {&preemption_none, &preemption_checkpoint,
                                                               &preemption_kill, NULL};

const struct victim_key *const victim_keys[] = {&victim_borrowers,
                                                &victim_class,
                                                &victim_priority,
                                                &victim_smallest,
                                                &victim_largest,
                                                &victim_youngest,
                                                &victim_oldest,
                                                &victim_order,
                                                &victim_cost,
                                                &victim_surplus,
                                                &victim_evicting,
                                                &victim_members,
                                                &victim_other_queues,
                                                &victim_own_queue,
                                                &victim_by_right,
                                                &victim_at_once,
                                                NULL};

const void *policy_registry_builtin(enum plugin_seam seam)
{
    switch (seam) {
    case PLUGIN_ORDER:
        return order_policies;
    case PLUGIN_QUOTA:
        return quota_policies;
    case PLUGIN_PLACEMENT:
        return placement_policies;
    case PLUGIN_GANG:
        return gang_policies;
    case PLUGIN_ESTIMATE:
        return estimate_policies;
    case PLUGIN_VICTIM:
        return victim_keys;
    case PLUGIN_PREEMPTION:
        return preemption_policies;
    case PLUGIN_BACKFILL:
        return backfill_policies;
    case PLUGIN_NONE:
    case PLUGIN_SEAM_COUNT:
        break;
    }
    assert(false && "no seam for plug-ins");
    return NULL;
}

void policy_registry_fill(struct policy_registry *registry, const struct plugin_set *plugins)
{
    *registry = (struct policy_registry){0};
    for (enum plugin_seam seam = PLUGIN_NONE + 1; seam < PLUGIN_SEAM_COUNT; seam++) {
        const void *const *built_in = policy_registry_builtin(seam);
        uint32_t count = 0;
        for (; built_in[count] != NULL; count++)
            registry->entries[seam][count] = built_in[count];
        for (uint32_t p = 0; plugins != NULL && p < plugins->count; p++)
            if (plugins->plugins[p]->seam == seam)
                registry->entries[seam][count++] = plugins->plugins[p]->policy;
        assert(count < REGISTRY_ENTRIES_MAX);
    }
}
