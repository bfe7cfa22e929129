/* las.  Least attained service in two dimensions, in queues: a job goes down a queue each time its GPU time reaches the
 * next of las_limits_gpu_s; within a queue the rest of the chain decides (fifo in the paper).
 *
 * Idea: a job that has run long will probably run longer; short jobs finish early without estimates.
 * Source: Tiresias (NSDI'19), discretised 2D-LAS: attained = GPUs x time executed.  A waiting job returns to
 * the first queue after las_promote times its run time; 0: never.
 * Departures: a promotion does not reset attained service (an order keeps no state), so a promoted job
 * falls back to its own queue as soon as it runs: give it a minimum run time.  No Gittins index.
 * Cost: O(queues).  Moves: ranks change with time alone.
 * Known failure: a job just over a limit is evicted for many just below it, whatever the preemption cost. */
#include "policies/order/orders.h"

static bool is_promoted(const struct order_view *view, const struct order_config *config)
{
    if (config->las_promote_milli == 0 || view->is_running)
        return false;
    time_ns waited = view->now - view->waiting_since;
    return (__int128)waited * 1000 >= (__int128)config->las_promote_milli * view->ran;
}

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    uint32_t queue = 0;
    if (is_promoted(view, config))
        return 0;
    while (queue < config->las_limit_count && view->attained_gpu_ns >= config->las_limit_gpu_ns[queue])
        queue++;
    return queue;
}

static bool rests_waiting(const struct order_config *config)
{
    return config->las_promote_milli == 0; /* who does not run attains nothing */
}

const struct order_policy order_las = {
    .name = "las",
    .version = 1,
    .summary = "least GPU time attained first, in queues; needs no estimates, evicts long jobs "
               "again and again",
    .moves = true,
    .rests_waiting = rests_waiting,
    .rank = rank,
};
