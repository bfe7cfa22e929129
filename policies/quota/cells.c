/* cells.  Each leaf queue is a virtual cluster: it owns buddy cells of GPUs, and they are always free for it.
 *
 * Idea: a quota counts GPUs, but a gang needs whole ones of one node.  So the quota is cut into cells (whole nodes,
 * then halves, quarters...).  At any time every cell of every queue has a place of its own, where no guaranteed job of
 * another queue is (cells_assign.c).  That is HiveD's safety: at every level, the free cells and those from splitting
 * suffice for what the queues have not used.  A non-preemptible job is guaranteed: it starts inside its queue's cells,
 * and opportunistic jobs there are evicted for it.  A preemptible job is opportunistic: it starts wherever GPUs are
 * free, whatever its queue owns, and no job is evicted for it.
 * Source: HiveD (Zhao et al., "HiveD: Sharing a GPU Cluster for Deep Learning with Guarantees", OSDI 2020).  Reads:
 * quota_gpus and limits of the leaves; the quotas of inner queues are not used.  No parameter.  Departures: cells end
 * at the node (no racks above it).  In HiveD a cell is bound to a place when it is first used and unbound when it is
 * empty; here every cell has a place, and empty cells move.  Guaranteed jobs do not preempt each other inside a queue.
 * A cell on a node that fails moves only while it is empty.  Shares of a GPU are placed in cells of their queue as
 * whole GPUs are.  A cell does not depend on the GPU model.
 * Cost: O(depth) a test; for a guaranteed job that its quota admits O(nodes of its queue's cells), and cells are placed
 * again, O(GPUs), if it may fit or a guaranteed job has come or gone; O(queues) a fact.
 * Known failure: a queue can break its own cells into pieces too small for its next job; running jobs are not moved.
 * If all jobs are preemptible, no job is guaranteed anything.
 */
#include "policies/quota/amounts.h"
#include "policies/quota/cells_index.h"
#include "policies/quota/quotas.h"
#include "topologies/queue_fields.h"
#include "workloads/job_fields.h"

static const char *complaint(struct queue_tree *tree, queue_id *queue)
{
    cells_cut(tree);
    for (queue_id q = 0; q < tree->count; q++) {
        *queue = q;
        if (cells_of(tree, q)->is_cut_short)
            return queue_tree_spec(tree, q)->deserved[RESOURCE_GPU] == QUOTA_UNLIMITED
                       ? "has an unlimited quota of GPUs; cells need a number"
                       : "has a larger quota than the cluster has cells left for it";
    }
    return NULL;
}

static int64_t owned_milli(const struct queue_tree *tree, queue_id queue)
{
    int64_t gpus = 0;
    for (uint32_t l = 0; l < CELL_LEVELS; l++)
        gpus += (int64_t)cells_of(tree, queue)->owned[l] << l;
    return gpus * GPU_MILLI;
}

static bool is_guaranteed(const int64_t ask[QUEUE_SUM_COUNT])
{
    return ask[QUEUE_SUM_FIRM_GPU] > 0;
}

static queue_id forbids(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    queue_id limit = amount_forbids(tree, leaf, ask);
    if (limit != QUEUE_NONE || !is_guaranteed(ask))
        return limit;
    int64_t held = queue_tree_non_preemptible(tree, leaf, RESOURCE_GPU) + ask[QUEUE_SUM_FIRM_GPU];
    return held > owned_milli(tree, leaf) ? leaf : QUEUE_NONE;
}

/* Before a guaranteed job is tried outside of trials, empty cells move to places with fewer opportunistic jobs: when
 * the try reads them, which it does not if the job can have no place (cells_have_room). */
static queue_id forbids_or_moves(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    queue_id by = forbids(tree, leaf, ask);
    if (by == QUEUE_NONE && is_guaranteed(ask) && tree->ledger->mark_depth == 0)
        cells_assign_later(tree, leaf);
    return by;
}

static const uint16_t *confines(struct queue_tree *tree, queue_id leaf, const struct request_class *request_class,
                                queue_id *keeper)
{
    bool is_free_to_go = request_class->is_preemptible || request_class->charge[QUEUE_SUM_GPU] == 0;
    return is_free_to_go ? NULL : cells_confine(tree, leaf, request_class, keeper);
}

static struct home_rows rows(struct queue_tree *tree, queue_id keeper)
{
    return cells_index_rows(tree->ledger, keeper);
}

static const char *check(const struct queue_tree *tree)
{
    return cells_index_check(tree->ledger);
}

/* Guaranteed jobs go first; then the queue that holds the smaller part of what it owns. */
static int compare(struct queue_tree *tree, struct contender a, struct contender b)
{
    if (is_guaranteed(a.ask) != is_guaranteed(b.ask))
        return is_guaranteed(a.ask) ? -1 : 1;
    struct ratio of_a = {queue_tree_charged(tree, a.queue, RESOURCE_GPU), amount_deserved(tree, a.queue, RESOURCE_GPU)};
    struct ratio of_b = {queue_tree_charged(tree, b.queue, RESOURCE_GPU), amount_deserved(tree, b.queue, RESOURCE_GPU)};
    int order = ratio_compare(of_a, of_b);
    return order != 0 ? order : queue_tree_compare_age(tree, a.queue, b.queue);
}

static bool may_reclaim(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    return is_guaranteed(ask) && queue_tree_limit_forbids(tree, leaf, ask) == QUEUE_NONE &&
           forbids(tree, leaf, ask) == QUEUE_NONE;
}

/* Every opportunistic unit may be taken, of any queue. */
static bool may_take(struct queue_tree *tree, const struct taking *taking)
{
    (void)tree;
    return taking->victim_unit[QUEUE_SUM_FIRM_GPU] == 0;
}

/* With the preemptor charged, does its queue hold no more guaranteed GPUs than it owns?  Their places need no test: the
 * preemptor was confined to its queue's cells. */
static bool is_valid(struct queue_tree *tree, queue_id preemptor, const int64_t ask[QUEUE_SUM_COUNT],
                     const queue_id *touched, uint32_t touched_count)
{
    (void)ask;
    (void)touched;
    (void)touched_count;
    return queue_tree_non_preemptible(tree, preemptor, RESOURCE_GPU) <= owned_milli(tree, preemptor);
}

/* A queue's limits change with the quotas alone. */
static bool advance(struct queue_tree *tree, time_ns now, time_ns *next)
{
    (void)now;
    *next = TIME_NEVER;
    return cells_cut(tree);
}

const struct quota_policy quota_cells = {
    .name = "cells",
    .version = 1,
    .summary = "virtual clusters own buddy cells and always find them; what can be preempted runs "
               "anywhere, with no promise",
    .reads_queue = QUEUE_READS(QUEUE_QUOTA) | QUEUE_READS(QUEUE_AGE),
    .reads_job = JOB_READS(JOB_FIELD_PREEMPTIBLE),
    .state_size = sizeof(struct cells_state),
    .forbids = forbids_or_moves,
    .compare = compare,
    .may_reclaim = may_reclaim,
    .may_take = may_take,
    .is_valid = is_valid,
    .advance = advance,
    .homes = {.complaint = complaint,
              .confines = confines,
              .rows = rows,
              .has_room = cells_have_room,
              .firm_changes = cells_firm_changes,
              .check = check},
};
