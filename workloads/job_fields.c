#include "workloads/job_fields.h"

const char *const job_field_names[] = {
    [JOB_FIELD_PRIORITY] = "priority",
    [JOB_FIELD_PREEMPTIBLE] = "preemptible",
    [JOB_FIELD_ESTIMATE] = "estimate_s",
    [JOB_FIELD_DEADLINE] = "deadline_s",
    [JOB_FIELD_CHECKPOINT] = "checkpoint_interval_s",
    [JOB_FIELD_PREEMPTION_DELAY] = "preemption_delay_s",
    [JOB_FIELD_STALE_AFTER] = "stale_after_s",
};

void job_fields_add(struct job_fields *fields, const struct job *job)
{
    if (!fields->has_any)
        *fields = (struct job_fields){.has_any = true, .priority = job->priority};
    fields->set |= (uint32_t)(job->priority != fields->priority) << JOB_FIELD_PRIORITY |
                   (uint32_t)!job->is_preemptible << JOB_FIELD_PREEMPTIBLE |
                   (uint32_t)(job->estimate != TIME_NEVER) << JOB_FIELD_ESTIMATE |
                   (uint32_t)(job->deadline != TIME_NEVER) << JOB_FIELD_DEADLINE |
                   (uint32_t)(job->checkpoint.interval != 0) << JOB_FIELD_CHECKPOINT |
                   (uint32_t)(job->preemption_delay != JOB_AS_QUEUE) << JOB_FIELD_PREEMPTION_DELAY |
                   (uint32_t)(job->stale_after != JOB_AS_QUEUE) << JOB_FIELD_STALE_AFTER;
}
