#include "policies/config/digest.h"

#include "base/hash.h"
#include "policies/defrag/defrag.h"
#include "policies/gang/gang.h"
#include "policies/idle/idle.h"
#include "policies/order/order.h"
#include "policies/placement/placement.h"
#include "policies/plugin.h"
#include "policies/preemption/preemption.h"
#include "policies/quota/quota.h"
#include "policies/util/archive.h"

static uint64_t close_digest(struct buffer *bytes)
{
    uint64_t digest = hash_bytes(bytes->bytes, bytes->length, 0);
    buffer_release(bytes);
    return digest;
}

/* ---- The cluster ---- */

static void archive_type(struct archive *archive, struct node_type type)
{
    ARCHIVE_KNOWS(struct node_type, 64);
    ARCHIVE_KNOWS(struct gpu_layout, MIG_SLICES);
    ARCHIVE(archive, type.gpu_count);
    ARCHIVE(archive, type.model);
    ARCHIVE(archive, type.cpu_milli);
    ARCHIVE(archive, type.memory_mib);
    ARCHIVE(archive, type.max_tasks);
    ARCHIVE(archive, type.taint_count);
    for (uint32_t i = 0; i < type.taint_count; i++) {
        uint8_t effect = type.taints[i].effect;
        archive_text(archive, type.taints[i].key);
        archive_text(archive, type.taints[i].value);
        ARCHIVE(archive, effect);
    }
    ARCHIVE(archive, type.label_count);
    for (uint32_t i = 0; i < type.label_count; i++) {
        archive_text(archive, type.labels[i].key);
        archive_text(archive, type.labels[i].value);
    }
    ARCHIVE(archive, type.layout_mask);
    ARCHIVE(archive, type.recut_mask);
    for (uint32_t i = 0; i < type.gpu_count && type.layout_mask != 0; i++) {
        struct gpu_layout layout = type.layouts[i];
        ARCHIVE(archive, layout);
    }
}

/* NUMA nodes and NVLink islands. */
static void archive_inside(struct archive *archive, struct node_pool pool)
{
    ARCHIVE(archive, pool.first);
    ARCHIVE(archive, pool.gpu_numa);
    ARCHIVE(archive, pool.gpu_island);
}

uint64_t digest_cluster(const struct cluster *cluster)
{
    struct buffer bytes = {0};
    struct archive archive = {.out = &bytes};
    struct cluster copy = *cluster; /* ARCHIVE needs lvalues that are not const */
    ARCHIVE(&archive, copy.model_count);
    for (uint32_t m = 0; m < cluster->model_count; m++) {
        archive_text(&archive, cluster->models[m].name);
        ARCHIVE(&archive, copy.models[m].memory_mib);
    }
    ARCHIVE(&archive, copy.type_count);
    for (uint32_t t = 0; t < cluster->type_count; t++)
        archive_type(&archive, cluster->types[t]);
    ARCHIVE(&archive, copy.node_count);
    for (node_id n = 0; n < cluster->node_count; n++) {
        archive_text(&archive, cluster->nodes[n].name);
        ARCHIVE(&archive, copy.nodes[n].type);
    }
    ARCHIVE(&archive, copy.pool_count);
    for (uint32_t p = 0; p < cluster->pool_count; p++)
        archive_inside(&archive, cluster->pools[p]);
    ARCHIVE(&archive, copy.level_count);
    for (uint32_t l = 0; l < cluster->level_count; l++) {
        archive_text(&archive, cluster->levels[l].name);
        for (node_id n = 0; n < cluster->node_count; n++) {
            uint32_t domain = cluster->levels[l].domain[n];
            ARCHIVE(&archive, domain);
        }
    }
    return close_digest(&bytes);
}

/* ---- The queues ---- */

static void archive_spec(struct archive *archive, struct queue_spec spec)
{
    ARCHIVE_KNOWS(struct queue_spec, 224);
    archive_text(archive, spec.name);
    ARCHIVE(archive, spec.parent);
    ARCHIVE(archive, spec.deserved);
    ARCHIVE(archive, spec.limit);
    ARCHIVE(archive, spec.weight_milli);
    ARCHIVE(archive, spec.guarantee);
    ARCHIVE(archive, spec.borrowing_limit);
    ARCHIVE(archive, spec.lending_limit);
    ARCHIVE(archive, spec.priority);
    ARCHIVE(archive, spec.created);
    ARCHIVE(archive, spec.reclaim_min_runtime);
    ARCHIVE(archive, spec.preempt_min_runtime);
    ARCHIVE(archive, spec.preemption_delay);
    ARCHIVE(archive, spec.stale_after);
    ARCHIVE(archive, spec.usage_ppm);
    ARCHIVE(archive, spec.users);
}

uint64_t digest_queues(const struct queue_table *queues, uint32_t count)
{
    struct buffer bytes = {0};
    struct archive archive = {.out = &bytes};
    for (queue_id q = 0; q < count; q++)
        archive_spec(&archive, queues->queues[q]);
    return close_digest(&bytes);
}

/* ---- The policy ---- */

static void archive_policy(struct archive *archive, const char *name, uint32_t version)
{
    archive_text(archive, name);
    ARCHIVE(archive, version);
}

/* NULL: the seam is not used. */
#define ARCHIVE_POLICY(archive, policy)                                                                                \
    archive_policy((archive), (policy) != NULL ? (policy)->name : "", (policy) != NULL ? (policy)->version : 0)

static void archive_order(struct archive *archive, struct order_config *config)
{
    ARCHIVE_KNOWS(struct order_config, 200);
    ARCHIVE(archive, config->period);
    ARCHIVE(archive, config->las_limit_count);
    ARCHIVE(archive, config->las_limit_gpu_ns);
    ARCHIVE(archive, config->las_promote_milli);
    ARCHIVE(archive, config->weight_age);
    ARCHIVE(archive, config->weight_fair_share);
    ARCHIVE(archive, config->weight_size);
    ARCHIVE(archive, config->weight_priority);
    ARCHIVE(archive, config->weight_tres);
    ARCHIVE(archive, config->age_max);
    ARCHIVE(archive, config->favors_small);
    ARCHIVE(archive, config->half_life);
    ARCHIVE(archive, config->decays_as_slurm);
    ARCHIVE(archive, config->fair_share);
    ARCHIVE(archive, config->billing_milli);
}

static void archive_quota(struct archive *archive, struct quota_config *config)
{
    ARCHIVE_KNOWS(struct quota_config, 64);
    ARCHIVE(archive, config->firm_needs_quota);
    ARCHIVE(archive, config->saturation_milli);
    ARCHIVE(archive, config->window);
    ARCHIVE(archive, config->half_life);
    ARCHIVE(archive, config->usage_weight_milli);
    ARCHIVE(archive, config->share_period);
    ARCHIVE(archive, config->fair_sharing);
    ARCHIVE(archive, config->reclaim_within_cohort);
    ARCHIVE(archive, config->borrow_within_cohort);
    ARCHIVE(archive, config->borrow_max_priority);
    ARCHIVE(archive, config->strategies);
}

static void archive_preemption(struct archive *archive, struct preemption_config *config)
{
    ARCHIVE_KNOWS(struct preemption_config, 144);
    ARCHIVE(archive, config->victim_key_count);
    for (uint32_t k = 0; k < config->victim_key_count; k++)
        archive_text(archive, config->victims[k]->name);
    ARCHIVE(archive, config->by_queue);
    ARCHIVE(archive, config->search);
    ARCHIVE(archive, config->within_queue);
    ARCHIVE(archive, config->replaces_victims);
    ARCHIVE(archive, config->victims_of_this_cycle);
    ARCHIVE(archive, config->resolve);
    ARCHIVE(archive, config->grace);
    ARCHIVE(archive, config->preempt_min_runtime);
    ARCHIVE(archive, config->reclaim_min_runtime);
    ARCHIVE(archive, config->delay);
    ARCHIVE(archive, config->attempts_per_cycle);
    ARCHIVE(archive, config->victims_max);
    ARCHIVE(archive, config->rematch_cycles);
    ARCHIVE(archive, config->evictions_per_job_max);
    ARCHIVE(archive, config->loss_ratio_milli);
    ARCHIVE(archive, config->firm_priority);
}

static void archive_backfill(struct archive *archive, struct backfill_config *config)
{
    ARCHIVE_KNOWS(struct backfill_config, 56);
    ARCHIVE(archive, config->reservations);
    ARCHIVE(archive, config->depth);
    ARCHIVE(archive, config->per_user);
    ARCHIVE(archive, config->window);
    ARCHIVE(archive, config->resolution);
    ARCHIVE(archive, config->interval);
    ARCHIVE(archive, config->names_gpus);
}

static void archive_defrag(struct archive *archive, struct defrag_config *config)
{
    ARCHIVE_KNOWS(struct defrag_config, 16);
    ARCHIVE(archive, config->moves_per_plan);
    ARCHIVE(archive, config->spares_ending);
    ARCHIVE(archive, config->holds_places);
}

static void archive_geometry(struct archive *archive, struct geometry_config *config)
{
    ARCHIVE_KNOWS(struct geometry_config, 24);
    ARCHIVE(archive, config->wait);
    ARCHIVE(archive, config->rest);
    ARCHIVE(archive, config->needs);
}

static void archive_idle(struct archive *archive, struct idle_config *config)
{
    ARCHIVE_KNOWS(struct idle_config, 32);
    ARCHIVE(archive, config->threshold_milli);
    ARCHIVE(archive, config->classes);
    ARCHIVE(archive, config->window);
    ARCHIVE(archive, config->grace);
    ARCHIVE(archive, config->rest);
}

static void archive_sharing(struct archive *archive, struct sharing_config *config)
{
    ARCHIVE_KNOWS(struct sharing_config, SHARE_KIND_COUNT * 2 + 4);
    ARCHIVE(archive, config->clients_max);
    ARCHIVE(archive, config->trust);
    ARCHIVE(archive, config->isolation);
    ARCHIVE(archive, config->refuses_gangs);
    ARCHIVE(archive, config->awaits_shared);
}

static void archive_plugin(struct archive *archive, struct plugin_use *use)
{
    uint64_t state_size = use->plugin->state_size;
    archive_text(archive, use->plugin->name);
    archive_text(archive, use->plugin->version);
    ARCHIVE(archive, state_size);
    archive_bytes(archive, use->params, use->plugin->param_count * sizeof *use->params);
}

uint64_t digest_policy(const struct policy_config *policy)
{
    struct buffer bytes = {0};
    struct archive archive = {.out = &bytes};
    struct policy_config config = *policy;
    ARCHIVE_KNOWS(struct policy_config, 1960);
    ARCHIVE_KNOWS(struct headroom_config, 6 * 8);
    ARCHIVE(&archive, config.order_count);
    for (uint32_t r = 0; r < config.order_count; r++)
        ARCHIVE_POLICY(&archive, config.order[r]);
    archive_order(&archive, &config.order_config);
    ARCHIVE(&archive, config.is_strict);
    ARCHIVE(&archive, config.inference_first);
    ARCHIVE_POLICY(&archive, config.quota);
    archive_quota(&archive, &config.quota_config);
    ARCHIVE_POLICY(&archive, config.estimate);
    ARCHIVE_POLICY(&archive, config.backfill);
    archive_backfill(&archive, &config.backfill_config);
    ARCHIVE_POLICY(&archive, config.defrag);
    archive_defrag(&archive, &config.defrag_config);
    ARCHIVE_POLICY(&archive, config.geometry);
    archive_geometry(&archive, &config.geometry_config);
    ARCHIVE_POLICY(&archive, config.sharing);
    archive_sharing(&archive, &config.sharing_config);
    ARCHIVE_POLICY(&archive, config.idle);
    archive_idle(&archive, &config.idle_config);
    ARCHIVE_POLICY(&archive, config.gang);
    ARCHIVE(&archive, config.stale_after);
    ARCHIVE_POLICY(&archive, config.placement);
    ARCHIVE_POLICY(&archive, config.placement_firm);
    ARCHIVE_KNOWS(struct placement_config, 24);
    ARCHIVE(&archive, config.placement_config);
    ARCHIVE_POLICY(&archive, config.preemption);
    archive_preemption(&archive, &config.preempt);
    archive_bytes(&archive, config.actions, config.action_count);
    ARCHIVE(&archive, config.action_count);
    ARCHIVE(&archive, config.reservation_expiry);
    ARCHIVE(&archive, config.headroom);
    for (uint32_t p = 0; p < config.plugin_count; p++)
        archive_plugin(&archive, &config.plugins[p]);
    return close_digest(&bytes);
}
