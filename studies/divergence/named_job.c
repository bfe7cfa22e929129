#include "studies/divergence/named_job.h"

#include <stdio.h>

#include "reports/view.h"

enum { NAME_WIDTH_MAX = 60 };

void named_job_take(struct named_job *job, const struct job_row *row, struct arena *arena)
{
    char number[24];
    snprintf(number, sizeof number, "%u", row->id);
    job->name = arena_copy(arena, text_of(row->name != NULL ? row->name : number));
    job->queue = arena_copy(arena, text_of(row->queue));
    job->class =
        arena_copy(arena, text_of(row->workload_class != NULL ? row->workload_class : job_class_name(row->class)));
    job->gpu_milli = row->gpu_milli;
}

void named_job_write_name(const struct named_job *job, struct buffer *out)
{
    buffer_string(out, "job ");
    if (job->name != NULL)
        view_name(out, job->name, NAME_WIDTH_MAX);
    else
        buffer_format(out, "number %u", job->id);
}

void named_job_write_kind(const struct named_job *job, struct buffer *out)
{
    if (job->name == NULL)
        return;
    buffer_format(out, " (%s", job->class);
    buffer_string(out, job->queue[0] != '\0' ? ", queue " : "");
    view_name(out, job->queue, NAME_WIDTH_MAX);
    buffer_string(out, ", ");
    buffer_scaled(out, job->gpu_milli, GPU_MILLI);
    buffer_string(out, job->gpu_milli == GPU_MILLI ? " GPU)" : " GPUs)");
}

void named_job_write_json(const struct named_job *job, struct buffer *out)
{
    buffer_members(out, "'id': %u", job->id);
    if (job->name != NULL)
        buffer_members(out, ", 'job': %s, 'queue': %s, 'class': %s, 'gpus': %.3lld", job->name, job->queue, job->class,
                       (long long)job->gpu_milli);
}
