/* The victim keys.  Each ranks by one property; the unit with the smaller rank is taken first.
 *
 * In a chain, put keys about rights first (borrowers, priority), then keys about cost (cost, smallest).  Some ranks
 * change without an event of the victim itself: with time, with the preemptor, with what the victim's queue holds, or
 * during a plan.  Cost: O(1) each. */
#include "policies/preemption/victim_keys.h"

#include "policies/order/order.h"

static uint64_t borrowers(const struct victim_view *view)
{
    return !view->is_over_quota;
}

const struct victim_key victim_borrowers = {
    .name = "borrowers",
    .summary = "who holds more than its queue is due goes first; says nothing where nobody borrows",
    .rank = borrowers,
};

static uint64_t class_rank(const struct victim_view *view)
{
    static const uint8_t ranks[JOB_CLASS_COUNT] = {[JOB_TRAINING] = 0, [JOB_INTERACTIVE] = 1, [JOB_INFERENCE] = 2};
    return ranks[view->class];
}

const struct victim_key victim_class = {
    .name = "class",
    .summary = "training, then interactive, then inference; protects latency, training pays for "
               "everything",
    .rank = class_rank,
};

static uint64_t at_once(const struct victim_view *view)
{
    return view->is_for_service && view->leaves_in > 0;
}

const struct victim_key victim_at_once = {
    .name = "at_once",
    .summary = "for a service, jobs that save nothing before those that are given a grace; services start within a "
               "cycle or two, and jobs without checkpoints pay",
    .rank = at_once,
};

static uint64_t priority(const struct victim_view *view)
{
    return rank_of_int(view->priority);
}

const struct victim_key victim_priority = {
    .name = "priority",
    .summary = "lowest declared priority first; low ones are evicted again and again",
    .rank = priority,
};

static uint64_t smallest(const struct victim_view *view)
{
    return rank_of_int(view->gpu_milli);
}

const struct victim_key victim_smallest = {
    .name = "smallest",
    .summary = "fewest GPUs held first; evicts no more than needed, but many small jobs for one large",
    .rank = smallest,
};

static uint64_t largest(const struct victim_view *view)
{
    return ~rank_of_int(view->gpu_milli);
}

const struct victim_key victim_largest = {
    .name = "largest",
    .summary = "most GPUs held first; few victims, yet a whole gang may go for one GPU",
    .rank = largest,
};

static uint64_t youngest(const struct victim_view *view)
{
    return rank_of_int(view->running);
}

const struct victim_key victim_youngest = {
    .name = "youngest",
    .summary = "least running first; loses little where nobody saves, new jobs may never get going",
    .rank = youngest,
};

static uint64_t oldest(const struct victim_view *view)
{
    return ~rank_of_int(view->running);
}

const struct victim_key victim_oldest = {
    .name = "oldest",
    .summary = "longest running first; rotates among jobs that save their work, ruins those that do not",
    .rank = oldest,
};

static uint64_t order(const struct victim_view *view)
{
    return UINT64_MAX - view->order_rank;
}

const struct victim_key victim_order = {
    .name = "order",
    .summary = "who stands last in the order goes first; cannot loop, blind to what an eviction costs",
    .rank = order,
};

static uint64_t cost(const struct victim_view *view)
{
    return rank_of_int(view->loss_gpu_ns);
}

const struct victim_key victim_cost = {
    .name = "cost",
    .summary = "least GPU time thrown away first; as good as what jobs declare of their checkpoints",
    .rank = cost,
};

static uint64_t surplus(const struct victim_view *view)
{
    return !view->is_surplus;
}

const struct victim_key victim_surplus = {
    .name = "surplus",
    .summary = "members above a minimum first; nobody stops while somebody can shrink, elastic jobs pay",
    .rank = surplus,
};

static uint64_t evicting(const struct victim_view *view)
{
    return !view->is_evicting;
}

const struct victim_key victim_evicting = {
    .name = "evicting",
    .summary = "who is being evicted already goes first; that costs nobody anything more",
    .rank = evicting,
};

static uint64_t other_queues(const struct victim_view *view)
{
    return view->is_own_queue;
}

const struct victim_key victim_other_queues = {
    .name = "other_queues",
    .summary = "jobs of other queues before one's own; what was lent comes back first, neighbours suffer",
    .rank = other_queues,
};

static uint64_t by_right(const struct victim_view *view)
{
    return !view->is_by_right;
}

const struct victim_key victim_by_right = {
    .name = "by_right",
    .summary = "what the job's queue or a cohort above it is entitled to goes first; says nothing but "
               "in trees of cohorts",
    .rank = by_right,
};

static uint64_t own_queue(const struct victim_view *view)
{
    return !view->is_own_queue;
}

const struct victim_key victim_own_queue = {
    .name = "own_queue",
    .summary = "jobs of one's own queue before others; quarrels stay at home, loans come back last",
    .rank = own_queue,
};

static uint64_t members(const struct victim_view *view)
{
    return view->member_count;
}

const struct victim_key victim_members = {
    .name = "members",
    .summary = "fewest members first, as Slurm by nodes; spares wide gangs, whatever they hold",
    .rank = members,
};
