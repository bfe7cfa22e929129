#include "workloads/readers/growth.h"

#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/random.h"
#include "workloads/readers/job_ids.h"
#include "workloads/readers/sample.h"

uint32_t growth_count(const struct growth_plan *plan, const struct job *job, const char *queue, uint64_t seed)
{
    const struct name_rule *rule = name_rules_find(&plan->queues, queue);
    struct random_stream stream;
    if (rule == NULL)
        return 1;
    random_stream_init(&stream, seed, "growth", sample_entity(job));
    return (uint32_t)floor(rule->factor + random_uniform(&stream));
}

static const char *copy_name(const struct job *job, uint32_t copy, struct arena *arena)
{
    struct buffer name = {0};
    job_id_put(job, &name);
    buffer_format(&name, "#%u", copy);
    const char *kept = arena_copy(arena, (struct text){name.bytes, name.length});
    buffer_release(&name);
    return kept;
}

void growth_copy(const struct growth_plan *plan, struct job *job, struct job_truth *truth, uint32_t copy,
                 time_ns before, uint64_t seed, struct arena *arena)
{
    struct random_stream stream;
    time_ns most = plan->jitter;
    if (before != TIME_NEVER && before - 1 - job->submit < most)
        most = before - 1 - job->submit;
    random_stream_init(&stream, seed, "growth.copy", sample_entity(job) + copy);
    const time_ns later = time_from_seconds(time_to_seconds(most) * random_uniform(&stream));
    const time_ns submit = time_after(job->submit, later < most ? later : most);
    if (job->deadline != TIME_NEVER)
        job->deadline = time_after(job->deadline, submit - job->submit);
    job->submit = submit;
    job->name = copy_name(job, copy, arena);
    job->array = 0;
    job->array_max = 0;
    truth->recorded_wait = TIME_NEVER;
    if (job->after_count > 0) {
        struct job_after *after = arena_alloc_array(arena, job->after_count, struct job_after);
        memcpy(after, job->after, job->after_count * sizeof *after);
        job->after = after;
    }
}
