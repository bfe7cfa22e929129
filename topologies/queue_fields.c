#include "topologies/queue_fields.h"

static const char *const names[QUEUE_FIELD_COUNT] = {
    [QUEUE_QUOTA] = "quota_gpus",
    [QUEUE_QUOTA + RESOURCE_CPU] = "quota_cpus",
    [QUEUE_QUOTA + RESOURCE_MEMORY] = "quota_memory_gb",
    [QUEUE_GUARANTEE] = "guarantee_gpus",
    [QUEUE_GUARANTEE + RESOURCE_CPU] = "guarantee_cpus",
    [QUEUE_GUARANTEE + RESOURCE_MEMORY] = "guarantee_memory_gb",
    [QUEUE_BORROWING] = "borrowing_limit_gpus",
    [QUEUE_BORROWING + RESOURCE_CPU] = "borrowing_limit_cpus",
    [QUEUE_BORROWING + RESOURCE_MEMORY] = "borrowing_limit_memory_gb",
    [QUEUE_LENDING] = "lending_limit_gpus",
    [QUEUE_LENDING + RESOURCE_CPU] = "lending_limit_cpus",
    [QUEUE_LENDING + RESOURCE_MEMORY] = "lending_limit_memory_gb",
    [QUEUE_WEIGHT] = "over_quota_weight",
    [QUEUE_WEIGHT + RESOURCE_CPU] = "over_quota_weight_cpus",
    [QUEUE_WEIGHT + RESOURCE_MEMORY] = "over_quota_weight_memory",
    [QUEUE_PRIORITY] = "priority",
    [QUEUE_AGE] = "age_s",
    [QUEUE_RECLAIM_MIN_RUNTIME] = "reclaim_min_runtime_s",
    [QUEUE_PREEMPT_MIN_RUNTIME] = "preempt_min_runtime_s",
    [QUEUE_PREEMPTION_DELAY] = "preemption_delay_s",
    [QUEUE_STALE_AFTER] = "stale_after_s",
    [QUEUE_USAGE] = "usage_ratio",
    [QUEUE_USERS] = "users",
};

const char *queue_field_name(enum queue_field field)
{
    return names[field];
}

static uint32_t differ(const int64_t amounts[RESOURCE_COUNT], const int64_t usual[RESOURCE_COUNT],
                       enum queue_field first)
{
    uint32_t set = 0;
    for (int r = 0; r < RESOURCE_COUNT; r++)
        set |= (uint32_t)(amounts[r] != usual[r]) << ((int)first + r);
    return set;
}

uint32_t queue_fields_set(const struct queue_spec *queue)
{
    const struct queue_spec usual = queue_spec_default(queue->name, queue->parent);
    return differ(queue->deserved, usual.deserved, QUEUE_QUOTA) |
           differ(queue->guarantee, usual.guarantee, QUEUE_GUARANTEE) |
           differ(queue->borrowing_limit, usual.borrowing_limit, QUEUE_BORROWING) |
           differ(queue->lending_limit, usual.lending_limit, QUEUE_LENDING) |
           differ(queue->weight_milli, usual.weight_milli, QUEUE_WEIGHT) |
           (uint32_t)(queue->priority != usual.priority) << QUEUE_PRIORITY |
           (uint32_t)(queue->created != usual.created) << QUEUE_AGE |
           (uint32_t)(queue->reclaim_min_runtime != usual.reclaim_min_runtime) << QUEUE_RECLAIM_MIN_RUNTIME |
           (uint32_t)(queue->preempt_min_runtime != usual.preempt_min_runtime) << QUEUE_PREEMPT_MIN_RUNTIME |
           (uint32_t)(queue->preemption_delay != usual.preemption_delay) << QUEUE_PREEMPTION_DELAY |
           (uint32_t)(queue->stale_after != usual.stale_after) << QUEUE_STALE_AFTER |
           (uint32_t)(queue->usage_ppm != usual.usage_ppm) << QUEUE_USAGE |
           (uint32_t)(queue->users != usual.users) << QUEUE_USERS;
}
