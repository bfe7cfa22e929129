/* The preconditions of an adopted job's pieces; see policies/booking/told.h. */
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

static bool are_gpus_free(const struct ledger *ledger, const struct request *request, const struct piece *piece)
{
    for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1) {
        const gpu_id gpu = ledger->cluster->nodes[piece->node].first_gpu + (uint32_t)__builtin_ctz(mask);
        if (request->mig != 0 ? !(ledger->migs[gpu].free >> piece->mig_start & 1)
                              : ledger->gpus[gpu].free < piece->gpu_milli)
            return false;
        if (ledger->shares != NULL && ledger->shares[gpu].next_clients > 0)
            return false;
    }
    return true;
}

static bool is_free(const struct ledger *ledger, const struct request *request, const struct piece *piece)
{
    const struct node_cell *node = &ledger->nodes[piece->node];
    const uint64_t members = piece->member_count;
    return are_gpus_free(ledger, request, piece) && members * request->cpu_milli <= node->cpu_free &&
           members * request->memory_mib <= node->memory_free &&
           (!ledger->limits_tasks || members <= node->tasks_free) &&
           (ledger->node_shares == NULL || ledger->node_shares[piece->node].next_clients == 0);
}

/* Each piece must be free beside those before it: take them in a trial. */
static bool fits(struct sched *sched, const struct job *job, const struct piece *pieces, uint32_t piece_count)
{
    struct ledger *ledger = sched->ledger;
    const size_t mark = ledger_mark(ledger);
    bool has_room = true;
    for (uint32_t i = 0; i < piece_count && has_room; i++) {
        const struct piece *piece = &pieces[i];
        const struct request *request = &job_group(job, piece->group)->request;
        has_room = is_asked(sched, request, piece) && is_free(ledger, request, piece);
        if (!has_room)
            continue;
        const struct request_class as_class = {.groups = &(struct job_group){.request = *request}};
        struct piece alone = *piece;
        alone.group = 0;
        const struct space space = request_class_space(&as_class, &alone, 0);
        ledger_take(ledger, &space);
    }
    ledger_rollback(ledger, mark);
    return has_room;
}

enum wrong_fact told_pieces(struct sched *sched, const struct job *job, const struct piece *pieces,
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
