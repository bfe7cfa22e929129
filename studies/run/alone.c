#include "studies/run/alone.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

enum { CYCLES_MAX = 4 }; /* at times for which the scheduler asked */

void alone_init(struct alone *alone, const struct cluster *cluster, const struct queue_table *queues,
                const struct policy_config *policy)
{
    memset(alone, 0, sizeof *alone);
    alone->cluster = cluster;
    alone->queues = queues;
    alone->policy = policy;
}

static uint64_t key_of(const struct job *job)
{
    uint64_t key = hash_mix(job->queue, (uint64_t)job->is_preemptible << 32 | job->class);
    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct job_group *group = job_group(job, g);
        const struct request *request = &group->request;
        key = hash_mix(key, (uint64_t)group->count << 32 | group->min_count);
        key =
            hash_mix(key, (uint64_t)request->gpus << 48 | (uint64_t)request->gpu_milli << 32 | request->gpu_memory_mib);
        key = hash_mix(key, (uint64_t)request->cpu_milli << 32 | request->memory_mib);
        key = hash_mix(key, request->gpu_models ^ request->mig);
    }
    return key;
}

/* Does the job wait alone? */
static bool waits(struct alone *alone, const struct job *job)
{
    struct error error = ERROR_OK;
    struct explanation why;
    const struct decision *decisions;
    time_ns now = 0, wake_at = 0;
    size_t count = 0;
    struct sched *sched = sched_new(alone->cluster, alone->queues, alone->policy, &error);
    if (sched == NULL) {
        error_release(&error);
        return false;
    }
    sched_job_submitted(sched, job, now);
    for (int cycle = 0; cycle < CYCLES_MAX && count == 0 && wake_at != TIME_NEVER; cycle++) {
        count = sched_cycle(sched, now, &decisions, &wake_at);
        now = wake_at;
    }
    /* Policies whose ranks move ask for cycles without end; a limit or quota that forbids it alone does so for ever. */
    const bool is_waiting = count == 0 && sched_explain(sched, 0, &why) && !why.is_never &&
                            (wake_at == TIME_NEVER || why.over_queue != QUEUE_NONE);
    if (is_waiting && alone->waiting == 0)
        memcpy(alone->text, why.text, sizeof alone->text);
    sched_free(sched);
    return is_waiting;
}

static void note_first(struct alone *alone, const struct job *job)
{
    if (alone->waiting++ > 0)
        return;
    if (job->name != NULL)
        snprintf(alone->first, sizeof alone->first, "%s", job->name);
    else
        snprintf(alone->first, sizeof alone->first, "%lld", (long long)job->trace_id);
}

void alone_add(struct alone *alone, const struct job *job)
{
    struct job own = *job;
    own.id = 0;
    own.submit = 0;
    own.deadline = TIME_NEVER;
    own.is_held = false;
    own.after_count = 0;
    own.after = NULL;
    own.array = own.array_max = 0;
    own.is_preemptible &= !policy_makes_firm(alone->policy, job);
    const uint64_t key = key_of(&own);
    uint32_t k = 0;
    while (k < alone->kind_count && alone->kinds[k].key != key)
        k++;
    if (k == ALONE_KINDS_MAX)
        return;
    if (k == alone->kind_count)
        alone->kinds[alone->kind_count++] = (struct alone_kind){key, waits(alone, &own)};
    if (alone->kinds[k].waits)
        note_first(alone, job);
}
