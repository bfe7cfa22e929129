/* reports/metrics_service.c -- the GPU time in service, of which other GPU times are parts. */
#include "reports/metrics_inside.h"

double metrics_gpu_s(const struct metrics *metrics)
{
    const struct integrals *from = &metrics->window_start, *to = &metrics->window_end;
    return (to->time_s - from->time_s) * (double)metrics->facts.gpu_count -
           (to->spent_gpu_s[SPENT_ABSENT] - from->spent_gpu_s[SPENT_ABSENT]);
}

double metrics_gpus(const struct metrics *metrics)
{
    const double span_s = metrics->window_end.time_s - metrics->window_start.time_s;
    const bool has_all = metrics->window_end.spent_gpu_s[SPENT_ABSENT] == 0;
    return has_all || !(span_s > 0) ? (double)metrics->facts.gpu_count : metrics_gpu_s(metrics) / span_s;
}
