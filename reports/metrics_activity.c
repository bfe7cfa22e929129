/* reports/metrics_activity.c -- what jobs of declared SM activity did with their GPUs: sums and metrics. */
#include "reports/metrics_inside.h"

static const double us_per_hour = 3600e6;

void activity_add(struct activity_tally *tally, const struct job_row *row)
{
    tally->jobs++;
    tally->active_gpu_us += row->active_gpu_us;
    tally->idle_held_gpu_us += row->idle_held_gpu_us;
}

void activity_merge(struct activity_tally *into, const struct activity_tally *from)
{
    into->jobs += from->jobs;
    into->active_gpu_us += from->active_gpu_us;
    into->idle_held_gpu_us += from->idle_held_gpu_us;
}

void activity_fill(const struct activity_tally *tally, double *value)
{
    if (tally->jobs == 0)
        return;
    value[METRIC_ACTIVE_GPU_H] = (double)tally->active_gpu_us / us_per_hour;
    value[METRIC_IDLE_HELD_GPU_H] = (double)tally->idle_held_gpu_us / us_per_hour;
}
