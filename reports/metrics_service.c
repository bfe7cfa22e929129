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
    const struct run_facts *facts = &metrics->facts;
    const double span_s = metrics->window_end.time_s - metrics->window_start.time_s;
    uint64_t gpus[MODEL_SLOTS] = {0};
    size_t count = 0, models = 0;
    for (uint32_t p = 0; p < facts->pool_count; p++)
        if (facts->pools[p].model < MODEL_SLOT_ANY)
            gpus[facts->pools[p].model] += (uint64_t)facts->pools[p].node_count * facts->pools[p].gpus_per_node;
    for (size_t m = 0; m < MODEL_SLOT_ANY; m++)
        models += gpus[m] > 0;
    gpus[MODEL_SLOT_ANY] = facts->gpu_count;
    for (size_t m = 0; m < MODEL_SLOTS && models > 1 && span_s > 0; m++) {
        const double asked_gpu_s = (double)metrics->asked_by_model[m] / (GPU_MILLI * 1e9);
        if (gpus[m] == 0 || (m == MODEL_SLOT_ANY && asked_gpu_s == 0))
            continue;
        loads[count++] = (struct model_load){.name = m == MODEL_SLOT_ANY ? RECORD_ANY : metrics->model_names[m],
                                             .gpus = gpus[m],
                                             .asked_gpu_h = asked_gpu_s / 3600,
                                             .ratio = asked_gpu_s / (span_s * (double)gpus[m])};
    }
    return count;
}

double metrics_gpus(const struct metrics *metrics)
{
    const double span_s = metrics->window_end.time_s - metrics->window_start.time_s;
    const bool has_all = metrics->window_end.spent_gpu_s[SPENT_ABSENT] == 0;
    return has_all || !(span_s > 0) ? (double)metrics->facts.gpu_count : metrics_gpu_s(metrics) / span_s;
}
