/* patient.  Within a queue the job that asks for the fewest GPUs goes first, and an hour of waiting counts as some GPUs
 * fewer, so that no job waits for ever.  docs/first-policy.md of Windtunnel builds it step by step. */
#include <policies/plugin.h>

enum { GPUS_PER_H = 8 }; /* that an hour of waiting counts */

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    (void)config;
    const time_ns waited = view->now - view->submit - view->ran;
    const int64_t waited_s = waited > 0 ? waited / TIME_NS_PER_S : 0;
    return rank_of_int(view->asks[RESOURCE_GPU] - waited_s * GPUS_PER_H * GPU_MILLI / 3600);
}

static const struct order_policy patient = {
    .name = "patient",
    .version = 1,
    .summary = "narrow jobs first, waiting counts as GPUs; wide jobs wait for hours under load",
    .moves = true, /* the rank changes with time */
    .rank = rank,
};

const struct windtunnel_plugin windtunnel_plugin = {PLUGIN_FOR(ORDER), .name = "patient", .version = "1.0",
                                                    .policy = &patient};
