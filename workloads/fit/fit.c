/* workloads/fit/fit.c -- the jobs of a trace, and the streams made of them. */
#include "workloads/fit/fit.h"

#include <math.h>

#include "workloads/fit/fit_inside.h"

#define NS_PER_DAY   (INT64_C(86400) * TIME_NS_PER_S)
#define NS_PER_WEEK  (7 * NS_PER_DAY)
#define EPOCH_MONDAY (3 * NS_PER_DAY) /* 1970-01-01 was a Thursday: this much after a Monday */
enum { DATES_FROM_DAYS = 1000 };      /* times of a trace beyond that many days are dates */

/* From the start of a week (of a day, if days are told apart) to the first submission. */
static time_ns phase_of(time_ns first_submit)
{
    if (first_submit > DATES_FROM_DAYS * NS_PER_DAY)
        return (first_submit + EPOCH_MONDAY) % NS_PER_WEEK;
    return first_submit >= 0 ? first_submit % NS_PER_WEEK : 0;
}

static void take(struct fit_jobs *jobs, const struct job *job, const struct job_truth *truth, time_ns phase)
{
    MEM_GROW(jobs->jobs, jobs->capacity, jobs->count + 1);
    jobs->jobs[jobs->count++] = (struct fit_job){
        .submit_s = time_to_seconds(job->submit + phase),
        .run_time_s = time_to_seconds(truth->duration),
        .limit_s = job->limit != TIME_NEVER ? time_to_seconds(job->limit) : 0,
        .gpu_milli = (uint32_t)job_gpu_milli(job),
        .nodes = job->group_count == 1 ? job->first.count : 0,
        .queue = job->queue,
        .user = job->user,
        .outcome = truth->outcome,
    };
}

struct error fit_read(struct fit_jobs *jobs, struct job_source *source)
{
    const time_ns phase = phase_of(job_source_facts(source)->first_submit);
    *jobs = (struct fit_jobs){.queues = job_source_queue_table(source)};
    while (true) {
        struct job job;
        struct job_truth truth;
        bool has;
        struct error error = job_source_next(source, &job, &truth, &has);
        if (error_is(error))
            fit_release(jobs);
        if (error_is(error) || !has)
            return error;
        take(jobs, &job, &truth, phase);
    }
}

void fit_release(struct fit_jobs *jobs)
{
    mem_free(jobs->jobs);
    *jobs = (struct fit_jobs){0};
}

/* ---- Streams ---- */

static void fit_stream(struct load_stream *out, const char *name, const char *queue, struct fit_job **jobs,
                       size_t count, const double span_s[2], const struct fit_plan *plan, struct arena *arena)
{
    const struct fit_job *const *read = (const struct fit_job *const *)jobs;
    *out = (struct load_stream){.name = name, .queue = queue, .class = JOB_TRAINING, .memory = {.jobs = 1}};
    fit_arrivals(&out->arrivals, read, count, span_s[0], span_s[1], plan, arena);
    fit_kinds(out, jobs, count, plan, arena);
    fit_memory(&out->memory, read, count, out->kind_count);
    fit_users(&out->users, read, count);
    fit_request(&out->request, read, count, arena);
}

/* Pointers to the jobs whose queue is `queue` (with `others`: whose queue has too few jobs). */
static size_t gather(struct fit_jobs *jobs, const uint32_t *by_queue, uint32_t queue, bool others, struct fit_job **out)
{
    size_t count = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        struct fit_job *job = &jobs->jobs[i];
        if (others ? by_queue[job->queue] < FIT_QUEUE_MIN : job->queue == queue)
            out[count++] = job;
    }
    return count;
}

static uint32_t streams_by_queue(struct load_stream *streams, struct fit_jobs *jobs, struct fit_job **chosen,
                                 const double span_s[2], const struct fit_plan *plan, struct arena *arena)
{
    uint32_t *by_queue = mem_zalloc(jobs->queues->count, sizeof *by_queue), made = 0;
    for (size_t i = 0; i < jobs->count; i++)
        by_queue[jobs->jobs[i].queue]++;
    for (uint32_t queue = 0; queue < jobs->queues->count && made + 1 < LOAD_STREAMS_MAX; queue++) {
        if (by_queue[queue] < FIT_QUEUE_MIN)
            continue;
        const char *name = arena_copy(arena, text_of(jobs->queues->queues[queue].name));
        const size_t count = gather(jobs, by_queue, queue, false, chosen);
        fit_stream(&streams[made++], name, name, chosen, count, span_s, plan, arena);
    }
    const size_t count = gather(jobs, by_queue, 0, true, chosen);
    if (count > 1)
        fit_stream(&streams[made++], "others", "default", chosen, count, span_s, plan, arena);
    mem_free(by_queue);
    return made;
}

const struct load_model *fit_model(struct fit_jobs *jobs, const struct fit_plan *plan, struct arena *arena)
{
    if (jobs->count < 2 || jobs->jobs[jobs->count - 1].submit_s <= jobs->jobs[0].submit_s)
        return NULL;
    const double span_s[2] = {jobs->jobs[0].submit_s, jobs->jobs[jobs->count - 1].submit_s};
    struct fit_job **chosen = mem_zalloc(jobs->count, sizeof *chosen);
    const uint32_t most = plan->by_queue ? jobs->queues->count + 1 : 1;
    struct load_stream *streams = arena_alloc_array(arena, most, struct load_stream);
    struct load_model *model = arena_alloc(arena, sizeof *model);
    *model = (struct load_model){streams, 1};
    if (plan->by_queue) {
        model->stream_count = streams_by_queue(streams, jobs, chosen, span_s, plan, arena);
    } else {
        for (size_t i = 0; i < jobs->count; i++)
            chosen[i] = &jobs->jobs[i];
        fit_stream(&streams[0], "all", "default", chosen, jobs->count, span_s, plan, arena);
    }
    mem_free(chosen);
    return model->stream_count > 0 ? model : NULL;
}
