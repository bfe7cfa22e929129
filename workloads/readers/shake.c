#include "workloads/readers/shake.h"

#include <gsl/gsl_randist.h>
#include <math.h>

#include "base/random.h"

/* Not before the jobs that it depends on, which stand before it and are shaken already. */
static time_ns earliest(const struct held *held, const struct job *job, time_ns begin)
{
    for (uint32_t a = 0; a < job->after_count; a++) {
        const time_ns other = held->jobs[job->after[a].job].job.submit;
        begin = other > begin ? other : begin;
    }
    return begin;
}

static void move(struct held *held, struct job *job, time_ns by, time_ns begin)
{
    const time_ns low = earliest(held, job, begin), wanted = job->submit + by, submit = wanted > low ? wanted : low;
    if (job->deadline != TIME_NEVER)
        job->deadline = time_after(job->deadline - job->submit, submit);
    job->submit = submit;
}

static time_ns stretched(time_ns work, time_ns limit, double factor)
{
    const time_ns longer = time_from_seconds(time_to_seconds(work) * factor);
    return work <= limit && longer > limit ? limit : longer;
}

/* Copies of a job that is drawn more than once have their failures in common, so they are not changed in place. */
static const struct job_failures *failures_stretched(const struct job_failures *failures, time_ns limit, double factor,
                                                     struct arena *arena)
{
    struct job_failures *made = arena_alloc(arena, sizeof *made + failures->count * sizeof made->work[0]);
    made->count = failures->count;
    for (uint32_t i = 0; i < failures->count; i++) {
        const time_ns work = stretched(failures->work[i], limit, factor);
        made->work[i] = work > 0 ? work : 1;
    }
    return made;
}

static void stretch(const struct job *job, struct job_truth *truth, double factor, struct arena *arena)
{
    truth->duration = stretched(truth->duration, job->limit, factor);
    if (truth->failures != NULL)
        truth->failures = failures_stretched(truth->failures, job->limit, factor, arena);
}

void shake_jobs(struct held *held, const struct shake_plan *plan, time_ns begin, uint64_t seed, struct arena *arena)
{
    const double sigma = plan->run_time_sigma;
    for (size_t i = 0; i < held->count; i++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "shake", i);
        const double part = 2 * random_uniform(&stream) - 1;
        const double factor = exp(gsl_ran_gaussian(random_gsl(&stream), sigma) - sigma * sigma / 2);
        move(held, &held->jobs[i].job, time_from_seconds(part * time_to_seconds(plan->arrivals)), begin);
        if (sigma > 0)
            stretch(&held->jobs[i].job, &held->jobs[i].truth, factor, arena);
    }
}
