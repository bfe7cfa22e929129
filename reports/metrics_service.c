/* reports/metrics_service.c -- the GPU time in service, of which other GPU times are parts; the load by GPU model. */
#include "reports/metrics_inside.h"

double metrics_gpu_s(const struct metrics *metrics)
{
    const struct integrals *from = &metrics->window_start, *to = &metrics->window_end;
    return (to->time_s - from->time_s) * (double)metrics->facts.gpu_count -
           (to->spent_gpu_s[SPENT_ABSENT] - from->spent_gpu_s[SPENT_ABSENT]);
}

size_t metrics_model_loads(const struct metrics *metrics, struct model_load loads[METRICS_MODEL_LOADS_MAX])
{
    const struct offered_load *offered = &metrics->facts.offered;
    for (uint32_t p = 0; p < offered->part_count; p++) {
        const struct offered_part *part = &offered->parts[p];
        loads[p] =
            (struct model_load){.name = part->model == MODEL_ANY ? RECORD_ANY : metrics->model_names[part->model],
                                .gpus = part->gpus,
                                .asked_gpu_h = part->asked_gpu_s / 3600,
                                .ratio = offered_part_ratio(offered, part)};
    }
    return offered->part_count;
}

double metrics_gpus(const struct metrics *metrics)
{
    const double span_s = metrics->window_end.time_s - metrics->window_start.time_s;
    const bool has_all = metrics->window_end.spent_gpu_s[SPENT_ABSENT] == 0;
    return has_all || !(span_s > 0) ? (double)metrics->facts.gpu_count : metrics_gpu_s(metrics) / span_s;
}
