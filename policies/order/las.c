/* las.  Least attained service in two dimensions, in queues: a job goes down a queue each time its GPU time reaches the
 * next of las_limits_gpu_s; within a queue the rest of the chain decides (fifo in the paper).
 *
 * Idea: what has run long is probably long; short jobs finish without anybody knowing that they are short.
 * Source: Tiresias (NSDI'19), discretised 2D-LAS: attained = GPUs x time executed.  A waiting job returns to
 * the first queue after las_promote times what it ran; 0: never.
 * Departures: attained service is not set to zero by a promotion (an order keeps no state), so that a promoted job
 * falls back to its own queue as soon as it runs: give it a minimum run time.  No Gittins index.
 * Cost: O(queues).  Moves: time alone changes what runs and who is promoted.
 * Known failure: a job just over a limit is evicted for many just below it, whatever the eviction costs. */
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

const struct order_policy order_las = {
    .name = "las",
    .version = 1,
    .summary = "least GPU time attained first, in queues; needs no estimates, evicts long jobs "
               "again and again",
    .moves = true,
    .rank = rank,
};
