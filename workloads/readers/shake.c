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

static void stretch(const struct job *job, struct job_truth *truth, double factor)
{
    const bool is_within = job->limit == TIME_NEVER || truth->duration <= job->limit;
    truth->duration = time_from_seconds(time_to_seconds(truth->duration) * factor);
    if (is_within && truth->duration > job->limit)
        truth->duration = job->limit;
}

void shake_jobs(struct held *held, const struct shake_plan *plan, time_ns begin, uint64_t seed)
{
    const double sigma = plan->run_time_sigma;
    for (size_t i = 0; i < held->count; i++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "shake", i);
        const double part = 2 * random_uniform(&stream) - 1;
        const double factor = exp(gsl_ran_gaussian(random_gsl(&stream), sigma) - sigma * sigma / 2);
        move(held, &held->jobs[i].job, time_from_seconds(part * time_to_seconds(plan->arrivals)), begin);
        if (sigma > 0)
            stretch(&held->jobs[i].job, &held->jobs[i].truth, factor);
    }
}
