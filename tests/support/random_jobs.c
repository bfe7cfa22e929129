#include "tests/support/random_jobs.h"

#include <gsl/gsl_randist.h>

#include "base/random.h"

enum { DURATION_MEAN_S = 300 };

struct maker {
    const struct random_jobs *spec;
    struct random_stream stream;
};

static uint32_t between(struct maker *maker, uint32_t low, uint32_t high)
{
    return low + random_below(&maker->stream, high - low + 1);
}

static bool is_lucky(struct maker *maker, double chance)
{
    return random_uniform(&maker->stream) < chance;
}

/* Half of the times are whole seconds. */
static time_ns draw_time(struct maker *maker, double mean_s)
{
    double time_s = gsl_ran_exponential(random_gsl(&maker->stream), mean_s);
    time_ns time = time_from_seconds(time_s) + (time_ns)between(maker, 0, 999);
    return is_lucky(maker, 0.5) ? time / TIME_NS_PER_S * TIME_NS_PER_S : time;
}

static void ask(struct job_group *group, uint32_t count, uint16_t gpus)
{
    *group = (struct job_group){.request = {.gpus = gpus}, .count = count, .min_count = count};
}

static void ask_share(struct maker *maker, struct job_group *group, uint32_t count_max)
{
    static const uint16_t shares[] = {100, 142, 250, 285, 333, 500, 501, 700, 999};
    uint32_t count = between(maker, 1, count_max);
    *group = (struct job_group){.count = count, .min_count = count};
    group->request.gpu_milli = shares[random_below(&maker->stream, sizeof shares / sizeof *shares)];
}

static enum random_request_class draw_request_class(struct maker *maker)
{
    while (true) {
        unsigned request_class = 1u << random_below(&maker->stream, 5);
        if (maker->spec->request_classes & request_class)
            return (enum random_request_class)request_class;
    }
}

/* more: memory for a second group; lives as long as the job. */
static void draw_request(struct maker *maker, struct job *job, struct job_group *more)
{
    const struct random_jobs *spec = maker->spec;
    switch (draw_request_class(maker)) {
    case RANDOM_SINGLE:
        ask(&job->first, 1, (uint16_t)between(maker, 1, spec->gpus));
        break;
    case RANDOM_GANG:
        ask(&job->first, between(maker, 1, is_lucky(maker, 0.1) ? spec->nodes : (spec->nodes + 1) / 2), spec->gpus);
        break;
    case RANDOM_FLAT:
        ask(&job->first, between(maker, 1, is_lucky(maker, 0.1) ? spec->nodes * spec->gpus : 2u * spec->gpus), 1);
        break;
    case RANDOM_SHARE:
        ask_share(maker, &job->first, is_lucky(maker, 0.8) ? 1 : spec->gpus);
        break;
    case RANDOM_GROUPS:
        ask(&job->first, 1, spec->gpus);
        if (is_lucky(maker, 0.5))
            ask_share(maker, more, spec->gpus);
        else
            ask(more, between(maker, 1, spec->gpus), 1);
        job->group_count = 2;
        job->more = more;
        break;
    }
}

static void draw_plan(struct maker *maker, struct run_job *made)
{
    struct job *job = &made->job;
    job->priority = (int32_t)between(maker, 0, 4) * 25;
    job->is_preemptible = is_lucky(maker, 0.8);
    if (is_lucky(maker, 0.7)) {
        job->checkpoint.interval = is_lucky(maker, 0.6) ? draw_time(maker, 60) : 0;
        job->checkpoint.duration = draw_time(maker, 20);
        job->checkpoint.restart = draw_time(maker, 10);
    }
    if (is_lucky(maker, 0.2)) /* longer than any restart, so that it works before it is killed */
        job->limit = job->checkpoint.restart + draw_time(maker, DURATION_MEAN_S) + TIME_NS_PER_S;
    made->truth.outcome = (uint8_t)random_below(&maker->stream, OUTCOME_COUNT);
    made->truth.sm_active_milli = (uint16_t)between(maker, 0, 1000);
}

static void draw_submits(struct maker *maker, struct run_job *jobs)
{
    const struct random_jobs *spec = maker->spec;
    double work = 0; /* milli-GPU seconds */
    time_ns clock = 0;
    for (uint32_t i = 0; i < spec->count; i++)
        work += (double)job_gpu_milli(&jobs[i].job) * time_to_seconds(jobs[i].truth.duration);
    double gap_s = work / (spec->load * spec->nodes * spec->gpus * GPU_MILLI * spec->count);
    for (uint32_t i = 0; i < spec->count; i++) {
        if (!is_lucky(maker, 0.2)) /* else it comes with the one before */
            clock += draw_time(maker, gap_s / 0.8);
        if (is_lucky(maker, 0.2))
            clock = (clock + TIME_NS_PER_S - 1) / TIME_NS_PER_S * TIME_NS_PER_S;
        jobs[i].job.submit = clock;
    }
}

struct run_job *random_jobs_new(const struct random_jobs *spec, uint64_t seed)
{
    struct maker maker = {.spec = spec};
    struct run_job *jobs = mem_zalloc(2 * (size_t)spec->count, sizeof *jobs);
    struct job_group *more = (struct job_group *)(jobs + spec->count); /* freed with the jobs */
    _Static_assert(sizeof(struct job_group) <= sizeof(struct run_job), "second groups fit behind");
    random_stream_init(&maker.stream, seed, "random-jobs", spec->request_classes);
    for (uint32_t i = 0; i < spec->count; i++) {
        struct run_job *made = &jobs[i];
        *made = run_job_make(0, is_lucky(&maker, 0.03) ? 0 : draw_time(&maker, DURATION_MEAN_S), 1, 1);
        draw_request(&maker, &made->job, &more[i]);
        if (spec->queues > 0)
            made->job.queue = between(&maker, 1, spec->queues);
        if (spec->has_checkpoints)
            draw_plan(&maker, made);
    }
    draw_submits(&maker, jobs);
    return jobs;
}

void random_jobs_free(struct run_job *jobs)
{
    mem_free(jobs);
}
