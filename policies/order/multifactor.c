/* multifactor.  The larger weighted sum first:
 *
 *   weight_age x min(1, age / age_max) + weight_fair_share x fair share + weight_size x size
 *   + weight_priority x priority / 100 + sum over resources of weight_tres x asked / capacity
 *
 * Source: Slurm's priority/multifactor, without the site factor, the association's own weight and nice.
 * size is (members / nodes + GPUs / all GPUs) / 2, or their complements if favors_small.
 * Departures: integers (each term is floored to a millionth of a point, the sum to a point, as in Slurm; a sum below 1
 * counts as 1); a member counts as a node, GPUs stand for CPUs in the size, the class for a QOS; the declared priority
 * stands for that of a partition.  There is no largest priority, so it is divided by 100 and may exceed 1 or be
 * negative.  The age is all time since submission in which the job did not run.
 * Cost: O(resources).  Moves with age and fair share.
 * Known failure: with weights of similar size age wins in the end; the position of a job is hard to explain. */
#include "policies/order/orders.h"
#include "topologies/queue_fields.h"
#include "workloads/job_fields.h"

enum { POINT_MICRO = 1000000, PRIORITY_FULL = 100 };

/* weight x part / whole in millionths, with the ratio limited to 0..1; 0 if the whole is 0. */
static int64_t term(int64_t weight, int64_t part, int64_t whole)
{
    if (whole <= 0 || part <= 0)
        return 0;
    if (part > whole)
        part = whole;
    return (int64_t)((__int128)weight * part * POINT_MICRO / whole);
}

static int64_t size_term(const struct order_view *view, int64_t weight, bool favors_small)
{
    int64_t nodes = view->node_count, gpus = view->capacity[RESOURCE_GPU];
    int64_t asked_nodes = view->member_count < nodes ? view->member_count : nodes;
    int64_t asked_gpus = view->asks[RESOURCE_GPU] < gpus ? view->asks[RESOURCE_GPU] : gpus;
    if (favors_small) {
        asked_nodes = nodes - asked_nodes;
        asked_gpus = gpus - asked_gpus;
    }
    return (term(weight, asked_nodes, nodes) + term(weight, asked_gpus, gpus)) / 2;
}

static uint64_t rank(const struct order_view *view, const struct order_config *config)
{
    time_ns age = view->now - view->submit - view->ran;
    __int128 micro = config->weight_priority; /* the product of a priority and a weight may exceed 64 bits */
    micro = micro * view->priority * (POINT_MICRO / PRIORITY_FULL);
    micro += term(config->weight_age, age, config->age_max);
    micro += term(config->weight_fair_share, view->fair_share_ppm, POINT_MICRO);
    micro += size_term(view, config->weight_size, config->favors_small);
    for (int r = 0; r < RESOURCE_COUNT; r++)
        micro += term(config->weight_tres[r], view->asks[r], view->capacity[r]);
    int64_t points = (int64_t)(micro / POINT_MICRO);
    return UINT64_MAX - (uint64_t)(points < 1 ? 1 : points);
}

const struct order_policy order_multifactor = {
    .name = "multifactor",
    .version = 1,
    .summary = "weighted sum of age, fair share, size and priority; hard to explain, age "
               "wins in the end",
    .reads_queue = QUEUE_READS(QUEUE_WEIGHT) | QUEUE_READS(QUEUE_USERS),
    .reads_job = JOB_READS(JOB_FIELD_PRIORITY),
    .moves = true,
    .needs_accounts = true,
    .rank = rank,
};
