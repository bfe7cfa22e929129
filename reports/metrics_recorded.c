/* reports/metrics_recorded.c -- how the GPUs that are allocated differ from those of a recorded schedule. */
#include <math.h>

#include "reports/metrics_inside.h"

void recorded_load_add(struct metrics *metrics, const struct job_row *row)
{
    time_ns start;
    if (!__builtin_add_overflow(row->submit, row->recorded_wait, &start))
        hour_load_add(&metrics->recorded_load, start, row->work_asked, row->gpu_milli);
}

double metrics_recorded_gpus(const struct metrics *metrics, time_ns from, time_ns to)
{
    struct hour_load_walk walk = hour_load_begin(&metrics->recorded_load);
    const double before = hour_load_to(&walk, from);
    return (hour_load_to(&walk, to) - before) / time_to_seconds(to - from);
}

/* The simulated GPU time up to a time, by linear interpolation between samples; *sample goes on from earlier ones. */
static double allocated_to(const struct metrics *metrics, time_ns time, size_t *sample)
{
    static const struct timeline_row run_start = {0};
    while (*sample < metrics->sample_count && metrics->samples[*sample].time < time)
        ++*sample;
    if (*sample == metrics->sample_count)
        return metrics->samples[*sample - 1].allocated_gpu_s;
    const struct timeline_row *to = &metrics->samples[*sample], *from = *sample > 0 ? to - 1 : &run_start;
    if (to->time == from->time)
        return to->allocated_gpu_s;
    const double share = (double)(time - from->time) / (double)(to->time - from->time);
    return from->allocated_gpu_s + share * (to->allocated_gpu_s - from->allocated_gpu_s);
}

void recorded_load_compare(struct metrics *metrics, time_ns until)
{
    time_ns from = metrics->facts.warmup;
    metrics->recorded_apart_gpu_s = NAN;
    if (metrics->recorded_load.count == 0 || metrics->sample_count == 0 || from >= until)
        return;
    struct hour_load_walk walk = hour_load_begin(&metrics->recorded_load);
    size_t sample = 0;
    double recorded = hour_load_to(&walk, from), allocated = allocated_to(metrics, from, &sample);
    metrics->recorded_apart_gpu_s = 0;
    while (from < until) {
        const time_ns next = (from / HOUR_LOAD_NS + 1) * HOUR_LOAD_NS, to = next < until ? next : until;
        const double recorded_to = hour_load_to(&walk, to), simulated_to = allocated_to(metrics, to, &sample);
        metrics->recorded_apart_gpu_s += fabs((simulated_to - allocated) - (recorded_to - recorded));
        recorded = recorded_to;
        allocated = simulated_to;
        from = to;
    }
}

void recorded_load_fill(const struct metrics *metrics, time_ns until, double *value)
{
    const time_ns from = metrics->facts.warmup;
    const double gpus = metrics_gpus(metrics);
    if (isnan(metrics->recorded_apart_gpu_s) || !(gpus > 0))
        return;
    value[METRIC_RECORDED_ALLOCATION_RATIO] = metrics_recorded_gpus(metrics, from, until) / gpus;
    value[METRIC_ALLOCATION_ERROR_RATIO] = value[METRIC_ALLOCATION_RATIO] - value[METRIC_RECORDED_ALLOCATION_RATIO];
    value[METRIC_ALLOCATION_ERROR_ABS_RATIO] = metrics->recorded_apart_gpu_s / (gpus * time_to_seconds(until - from));
}
