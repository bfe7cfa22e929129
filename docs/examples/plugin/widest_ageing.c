/* widest_ageing.  The job that asks for the most GPUs goes first, and every hour of waiting counts as `gpus_per_h`
 * more.
 *
 * Idea: wide jobs are hard to place, so they are placed while there is room; what is narrow fills the gaps.  Ageing
 * bounds how long a narrow job is overtaken: after (512 - 1) / 8 = 64 hours one of 1 GPU is before a fresh one of 512.
 * Cost: O(1).  The rank moves with time: it is computed anew every order_config.period_s. Known failure: few wide jobs
 * at a high load keep everything narrow waiting for those hours. */
#include <policies/plugin.h>

enum { GPUS_PER_H }; /* the parameters, in the order of their declaration */

/* Smaller goes first, so the points are taken from the largest rank. */
static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config; /* the parameters of the built-in orders */
    time_ns waited = view->now - view->submit - view->ran;
    int64_t waited_s = waited > 0 ? waited / TIME_NS_PER_S : 0;
    int64_t points = view->asks[RESOURCE_GPU] + waited_s * view->own->params[GPUS_PER_H] / 3600; /* in milli */
    return UINT64_MAX - (uint64_t)points;
}

static const struct order_policy widest_ageing = {
    .name = "widest_ageing",
    .version = 1,
    .summary = "most GPUs first, waiting counts as GPUs; good against fragmentation, narrow jobs "
               "wait for hours under load",
    .moves = true,
    .rank = rank,
};

static const struct plugin_param params[] = {
    [GPUS_PER_H] = {.name = "gpus_per_h",
                    .kind = PARAM_MILLI,
                    .low = 0,
                    .high = 100000 * GPU_MILLI,
                    .otherwise = 8 * GPU_MILLI,
                    .help = "GPUs that an hour of waiting counts as"},
};

const struct windtunnel_plugin windtunnel_plugin = {
    PLUGIN_FOR(ORDER),        .name = "widest-ageing", .version = "1.0",
    .policy = &widest_ageing, .params = params,        .param_count = 1,
};
