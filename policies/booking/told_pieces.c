/* The preconditions of an adopted job's pieces; see policies/booking/told.h. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "policies/booking/told.h"
#include "policies/state/request_classes.h"

/* Has no group more members on the pieces than it has? */
static bool has_members(const struct job *job, const struct piece *pieces, uint32_t piece_count)
{
    uint64_t held[JOB_GROUPS_MAX] = {0};
    for (uint32_t i = 0; i < piece_count; i++) {
        const uint32_t group = pieces[i].group;
        if (group >= job->group_count || pieces[i].member_count == 0)
            return false;
        held[group] += pieces[i].member_count;
        if (held[group] > job_group(job, group)->count)
            return false;
    }
    return piece_count > 0;
}

/* The instance must be there; that it is free is tested with the others. */
static bool is_instance(const struct sched *sched, const struct request *request, const struct piece *piece)
{
    if (bits_count16(piece->gpu_mask) != 1 || piece->member_count != 1 || piece->mig_start >= MIG_SLICES)
        return false;
    const uint32_t index = (uint32_t)__builtin_ctz(piece->gpu_mask);
    const gpu_id gpu = sched->cluster->nodes[piece->node].first_gpu + index;
    return ledger_has_layout(sched->ledger, piece->node, index) &&
           sched->ledger->layouts[gpu].profile[piece->mig_start] == request->mig &&
           piece->gpu_milli == mig_slices((enum mig_profile_id)(request->mig - 1)) * MIG_SLICE_MILLI;
}

/* Is the piece of the kind that a member asks for? */
static bool is_asked(const struct sched *sched, const struct request *request, const struct piece *piece)
{
    const struct node_type *type = cluster_node_type(sched->cluster, piece->node);
    if (piece->gpu_mask >> type->gpu_count != 0)
        return false;
    if (request_asks_gpus(request) && !request_takes_model(request, type))
        return false;
    if (request->mig != 0)
        return is_instance(sched, request, piece);
    const uint32_t share = request_class_share_milli(request, &sched->cluster->models[type->model]);
    const bool is_share = share != 0 && share < GPU_MILLI;
    const uint64_t each = request->gpus != 0 ? request->gpus : share != 0;
    const uint32_t gpus = bits_count16(piece->gpu_mask);
    return share <= GPU_MILLI && gpus == each * piece->member_count && (!is_share || piece->member_count == 1) &&
           (gpus == 0 || piece->gpu_milli == (is_share ? share : GPU_MILLI)) && piece->mig_start == 0 &&
           piece->share == (is_share ? request->share : SHARE_PLAIN) &&
           (ledger_layout_mask(sched->ledger, piece->node) & piece->gpu_mask) == 0;
}

/* What the pieces on one node take together. */
struct node_take {
    uint64_t cpu_milli, memory_mib, tasks;
    uint32_t milli[NODE_GPUS_MAX];
    int64_t excess[NODE_GPUS_MAX]; /* struct gpu_excess */
    uint8_t starts[NODE_GPUS_MAX]; /* bits: MIG instances */
};

static bool is_gpu_free(const struct ledger *ledger, const struct request *request, const struct piece *piece,
                        uint32_t index, struct node_take *take)
{
    const gpu_id gpu = ledger->cluster->nodes[piece->node].first_gpu + index;
    const uint8_t start = (uint8_t)(1u << piece->mig_start);
    if (ledger->shares != NULL && ledger->shares[gpu].next_clients > 0)
        return false;
    if (request->mig == 0) {
        const struct space space = {.node = piece->node,
                                    .gpu_mask = piece->gpu_mask,
                                    .gpu_milli = piece->gpu_milli,
                                    .gpu_memory_mib = request->gpu_memory_mib};
        const struct gpu_model *model =
            &ledger->cluster->models[cluster_node_type(ledger->cluster, piece->node)->model];
        take->milli[index] += piece->gpu_milli;
        take->excess[index] += ledger_excess_of(ledger, &space);
        return take->milli[index] <= ledger->gpus[gpu].free &&
               (int64_t)(ledger->gpus[gpu].free - take->milli[index]) * model->memory_mib >=
                   ledger_gpu_excess(ledger, gpu) + take->excess[index];
    }
    const bool is_free = (ledger->migs[gpu].free & start) != 0 && (take->starts[index] & start) == 0;
    take->starts[index] |= start;
    return is_free;
}

/* Is the piece free beside those before it on the node? */
static bool is_free(const struct ledger *ledger, const struct request *request, const struct piece *piece,
                    struct node_take *take)
{
    const struct node_cell *node = &ledger->nodes[piece->node];
    const uint64_t members = piece->member_count;
    for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1)
        if (!is_gpu_free(ledger, request, piece, (uint32_t)__builtin_ctz(mask), take))
            return false;
    take->cpu_milli += members * request->cpu_milli;
    take->memory_mib += members * request->memory_mib;
    take->tasks += members;
    return take->cpu_milli <= node->cpu_free && take->memory_mib <= node->memory_free &&
           (!ledger->limits_tasks || take->tasks <= node->tasks_free) &&
           (ledger->node_shares == NULL || ledger->node_shares[piece->node].next_clients == 0);
}

static int by_node(const void *a, const void *b)
{
    const struct piece *one = a, *other = b;
    return (one->node > other->node) - (one->node < other->node);
}

/* Are all pieces asked for, and free beside each other?  Their order within a node does not matter. */
static bool fits(const struct sched *sched, const struct job *job, const struct piece *pieces, uint32_t piece_count)
{
    struct piece *sorted = mem_alloc(piece_count * sizeof *sorted);
    struct node_take take = {0};
    bool has_room = true;
    memcpy(sorted, pieces, piece_count * sizeof *sorted);
    qsort(sorted, piece_count, sizeof *sorted, by_node);
    for (uint32_t i = 0; i < piece_count && has_room; i++) {
        const struct request *request = &job_group(job, sorted[i].group)->request;
        if (i > 0 && sorted[i].node != sorted[i - 1].node)
            take = (struct node_take){0};
        has_room = is_asked(sched, request, &sorted[i]) && is_free(sched->ledger, request, &sorted[i], &take);
    }
    mem_free(sorted);
    return has_room;
}

enum wrong_fact told_pieces(const struct sched *sched, const struct job *job, const struct piece *pieces,
                            uint32_t piece_count)
{
    struct job_group groups[JOB_GROUPS_MAX];
    if (!has_members(job, pieces, piece_count))
        return WRONG_PIECES;
    for (uint32_t i = 0; i < piece_count; i++)
        if (pieces[i].node >= sched->cluster->node_count)
            return WRONG_NODE;
    const struct job shared = sched_shared_job(sched, job, pieces, piece_count, groups);
    return fits(sched, &shared, pieces, piece_count) ? WRONG_NOTHING : WRONG_PIECES;
}
