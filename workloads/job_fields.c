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

static bool asks_model(const struct job *job)
{
    for (uint32_t g = 0; g < job->group_count; g++)
        if (job_group(job, g)->request.gpu_models != 0)
            return true;
    return false;
}

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
                   (uint32_t)(job->stale_after != JOB_AS_QUEUE) << JOB_FIELD_STALE_AFTER |
                   (uint32_t)(job->limit != TIME_NEVER) << JOB_TELLS_LIMIT |
                   (uint32_t)(job->class != JOB_TRAINING) << JOB_TELLS_CLASS |
                   (uint32_t)asks_model(job) << JOB_TELLS_MODEL |
                   (uint32_t)(job->communication != NULL) << JOB_TELLS_EXCHANGE |
                   (uint32_t)(job->first.count > 1 || job->group_count > 1) << JOB_TELLS_MEMBERS;
}
