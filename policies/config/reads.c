#include "policies/config/reads.h"

#include "policies/order/orders.h"
#include "policies/preemption/victim_keys.h"
#include "policies/quota/quotas.h"
#include "topologies/queue_fields.h"
#include "workloads/job_fields.h"

static bool has_action(const struct policy_config *config, enum action action)
{
    for (uint32_t a = 0; a < config->action_count; a++)
        if (config->actions[a] == action)
            return true;
    return false;
}

static bool has_victim_key(const struct policy_config *config, const struct victim_key *key)
{
    for (uint32_t k = 0; k < config->preempt.victim_key_count; k++)
        if (config->preempt.victims[k] == key)
            return true;
    return false;
}

/* A plug-in's policy that does not say what it reads may read all. */
static uint32_t said(uint32_t own, uint32_t other, const void *policy, const void *builtin)
{
    const void *const *policies = builtin;
    for (; own == 0 && other == 0 && *policies != NULL; policies++)
        if (*policies == policy)
            return 0;
    return own == 0 && other == 0 ? UINT32_MAX : own;
}

/* What each part of the policy reads.  They add to `reads`. */

static void read_by_quota(const struct policy_config *config, struct policy_reads *reads)
{
    const struct quota_policy *quota = config->quota;
    const struct quota_config *own = &config->quota_config;
    uint32_t queue = said(quota->reads_queue, quota->reads_job, quota, quota_policies);
    if (own->usage_weight_milli == 0)
        queue &= ~QUEUE_READS(QUEUE_USAGE);
    if (quota == &quota_cohort && !own->fair_sharing)
        queue &= ~QUEUE_READS_ALL(QUEUE_WEIGHT);
    if (own->firm_needs_quota && !quota->is_flat) {
        queue |= QUEUE_READS_ALL(QUEUE_QUOTA);
        reads->job |= JOB_READS(JOB_FIELD_PREEMPTIBLE);
    }
    reads->queue |= queue;
    reads->job |= said(quota->reads_job, quota->reads_queue, quota, quota_policies);
}

static void read_by_order(const struct policy_config *config, struct policy_reads *reads)
{
    for (uint32_t i = 0; i < config->order_count; i++) {
        const struct order_policy *order = config->order[i];
        uint32_t job = said(order->reads_job, order->reads_queue, order, order_policies);
        uint32_t queue = said(order->reads_queue, order->reads_job, order, order_policies);
        const bool is_weighted = config->order[i] == &order_multifactor;
        if (is_weighted && config->order_config.weight_priority == 0)
            job &= ~JOB_READS(JOB_FIELD_PRIORITY);
        if (is_weighted && config->order_config.weight_fair_share == 0)
            queue = 0;
        reads->job |= job;
        reads->queue |= queue;
    }
}

static void read_by_preemption(const struct policy_config *config, struct policy_reads *reads)
{
    const struct preemption_config *own = &config->preempt;
    const bool reclaims = has_action(config, ACTION_RECLAIM) && config->quota->may_reclaim != NULL;
    const bool preempts = (has_action(config, ACTION_PREEMPT) || config->quota->lending.rounds != NULL) &&
                          own->within_queue != WITHIN_QUEUE_NEVER;
    if (!config->preemption->evicts)
        return;
    reads->job |= JOB_READS(JOB_FIELD_PREEMPTIBLE) | JOB_READS(JOB_FIELD_CHECKPOINT);
    if (reclaims || preempts) {
        reads->job |= JOB_READS(JOB_FIELD_PREEMPTION_DELAY);
        reads->queue |= QUEUE_READS(QUEUE_PREEMPTION_DELAY);
    }
    if (reclaims)
        reads->queue |= QUEUE_READS(QUEUE_RECLAIM_MIN_RUNTIME);
    if (preempts)
        reads->queue |= QUEUE_READS(QUEUE_PREEMPT_MIN_RUNTIME);
    if ((preempts && (own->within_queue == WITHIN_QUEUE_LOWER || own->within_queue == WITHIN_QUEUE_LOWER_OR_NEWER)) ||
        has_victim_key(config, &victim_priority))
        reads->job |= JOB_READS(JOB_FIELD_PRIORITY);
    if (own->loss_ratio_milli > 0 || has_victim_key(config, &victim_borrowers))
        reads->queue |= QUEUE_READS(QUEUE_QUOTA);
}

static void read_by_others(const struct policy_config *config, struct policy_reads *reads)
{
    const struct headroom_config *headroom = &config->headroom;
    if (headroom->owners_milli > 0 || headroom->owners_ppm > 0)
        reads->queue |= QUEUE_READS_ALL(QUEUE_QUOTA);
    if (config->defrag_config.moves_per_plan != 0 && config->preemption->evicts &&
        has_action(config, ACTION_CONSOLIDATION))
        reads->job |= JOB_READS(JOB_FIELD_PREEMPTIBLE) | JOB_READS(JOB_FIELD_CHECKPOINT);
    if (config->placement_firm != config->placement)
        reads->job |= JOB_READS(JOB_FIELD_PREEMPTIBLE);
    if (has_action(config, ACTION_STALE_GANG)) {
        reads->job |= JOB_READS(JOB_FIELD_STALE_AFTER);
        reads->queue |= QUEUE_READS(QUEUE_STALE_AFTER);
    }
    if (config->backfill_config.overtakes)
        reads->job |= JOB_READS(JOB_FIELD_ESTIMATE); /* by the estimate policy, at least where there is no limit */
}

struct policy_reads policy_reads(const struct policy_config *config)
{
    struct policy_reads reads = {0};
    read_by_quota(config, &reads);
    read_by_order(config, &reads);
    read_by_preemption(config, &reads);
    read_by_others(config, &reads);
    return reads;
}

/* ---- What would read a field ---- */

/* "quota policies 'a', 'b' and 'c'"; nothing if there are none. */
struct readers {
    struct buffer names;
    uint32_t count;
};

static void add_reader(struct readers *readers, const char *name)
{
    buffer_format(&readers->names, "%s'%s'", readers->count++ > 0 ? ", " : "", name);
}

static void put_readers(struct readers *readers, const char *one, const char *several, struct buffer *out)
{
    if (readers->count > 0)
        buffer_format(out, "%s%s %s", out->length > 0 ? "; " : "", readers->count == 1 ? one : several,
                      buffer_c_string(&readers->names));
    buffer_release(&readers->names);
}

static void put_other(const char *what, struct buffer *out)
{
    buffer_format(out, "%s%s", out->length > 0 ? "; " : "", what);
}

void policy_readers_of_queue(uint32_t field, struct buffer *out)
{
    struct readers quotas = {{0}, 0}, orders = {{0}, 0};
    struct buffer text = {0};
    for (size_t i = 0; quota_policies[i] != NULL; i++)
        if (quota_policies[i]->reads_queue & QUEUE_READS(field))
            add_reader(&quotas, quota_policies[i]->name);
    for (size_t i = 0; order_policies[i] != NULL; i++)
        if (order_policies[i]->reads_queue & QUEUE_READS(field))
            add_reader(&orders, order_policies[i]->name);
    put_readers(&quotas, "quota policy", "quota policies", &text);
    put_readers(&orders, "order", "orders", &text);
    if (field == QUEUE_RECLAIM_MIN_RUNTIME)
        put_other("a policy with the action 'reclaim'", &text);
    if (field == QUEUE_PREEMPT_MIN_RUNTIME)
        put_other("a policy with the action 'preempt'", &text);
    if (field == QUEUE_PREEMPTION_DELAY)
        put_other("a policy that evicts jobs for others", &text);
    if (field == QUEUE_STALE_AFTER)
        put_other("a policy with the action 'stale_gang'", &text);
    if (field == QUEUE_USAGE)
        buffer_string(&text, " with quota.usage_weight");
    buffer_string(out, buffer_c_string(&text));
    buffer_release(&text);
}

void policy_readers_of_job(uint32_t field, struct buffer *out)
{
    struct readers quotas = {{0}, 0}, orders = {{0}, 0};
    struct buffer text = {0};
    for (size_t i = 0; order_policies[i] != NULL; i++)
        if (order_policies[i]->reads_job & JOB_READS(field))
            add_reader(&orders, order_policies[i]->name);
    for (size_t i = 0; quota_policies[i] != NULL; i++)
        if (quota_policies[i]->reads_job & JOB_READS(field))
            add_reader(&quotas, quota_policies[i]->name);
    put_readers(&orders, "order", "orders", &text);
    put_readers(&quotas, "quota policy", "quota policies", &text);
    if (field == JOB_FIELD_PRIORITY)
        put_other("preemption with within_queue 'lower'", &text);
    if (field == JOB_FIELD_PREEMPTIBLE || field == JOB_FIELD_CHECKPOINT)
        put_other("a policy that evicts or moves jobs", &text);
    if (field == JOB_FIELD_PREEMPTION_DELAY)
        put_other("a policy that evicts jobs for others", &text);
    if (field == JOB_FIELD_STALE_AFTER)
        put_other("a policy with the action 'stale_gang'", &text);
    if (field == JOB_FIELD_ESTIMATE)
        put_other("a backfill policy", &text);
    buffer_string(out, buffer_c_string(&text));
    buffer_release(&text);
}
