/* The referee's books of space: what is taken, how GPUs are cut, who shares them; see sim/referee/referee_books.h. */
#include "sim/referee/referee_books.h"

#include <stdarg.h>
#include <stdio.h>

#include "policies/jobs/request_class.h"

bool referee_says(struct referee *referee, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(referee->complaint, sizeof referee->complaint, format, arguments);
    va_end(arguments);
    return false;
}

const char *referee_complaint(const struct referee *referee)
{
    return referee->complaint;
}

/* ---- layouts of GPUs ---- */

bool referee_allows_cut(struct referee *referee, const struct decision *decision)
{
    const struct piece *piece = &decision->pieces[0];
    const uint32_t index = (uint32_t)__builtin_ctz(piece->gpu_mask);
    struct referee_gpu *gpu = &referee->gpus[referee->cluster->nodes[piece->node].first_gpu + index];
    const struct gpu_cut *cut = &gpu->cut;
    struct gpu_cut next = {.is_partitioned = decision->layout != MIG_LAYOUT_WHOLE};
    uint8_t kept = 0;
    if (!(cluster_node_type(referee->cluster, piece->node)->recut_mask >> index & 1))
        return referee_says(referee, "GPU %u of node %s may not be cut anew", index,
                            referee->cluster->nodes[piece->node].name);
    if (gpu->cutting != 0)
        return referee_says(referee, "GPU %u of node %s is being cut already", index,
                            referee->cluster->nodes[piece->node].name);
    if (next.is_partitioned)
        next.layout = mig_layout_get(decision->layout);
    for (uint32_t s = 0; cut->is_partitioned && next.is_partitioned && s < MIG_SLICES; s++)
        if (cut->layout.profile[s] != 0 && cut->layout.profile[s] == next.layout.profile[s])
            kept |= mig_mask((enum mig_profile_id)(cut->layout.profile[s] - 1), s);
    if ((gpu->used_slices & ~kept) != 0 || (gpu->used_milli > 0 && !cut->is_partitioned))
        return referee_says(referee, "GPU %u of node %s is in use where it is to be cut", index,
                            referee->cluster->nodes[piece->node].name);
    gpu->cutting = decision->id;
    gpu->next = next;
    return true;
}

/* Does the request's piece still exist when the repartitions under way on its GPUs are done? */
static bool referee_outlives_cut(struct referee *referee, const struct request *request, const struct piece *piece)
{
    const struct node *node = &referee->cluster->nodes[piece->node];
    for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1) {
        const uint32_t index = (uint32_t)__builtin_ctz(mask);
        const struct referee_gpu *gpu = &referee->gpus[node->first_gpu + index];
        if (gpu->cutting != 0 && (request->mig == 0 || !gpu->next.is_partitioned ||
                                  gpu->next.layout.profile[piece->mig_start] != request->mig))
            return referee_says(referee, "GPU %u of node %s is being cut otherwise", index, node->name);
    }
    return true;
}

void referee_cut_done(struct referee *referee, const struct fact *fact)
{
    struct referee_gpu *gpu = &referee->gpus[referee->cluster->nodes[fact->node].first_gpu + fact->gpu];
    gpu->cutting = 0;
    gpu->cut.is_partitioned = fact->layout != MIG_LAYOUT_WHOLE;
    if (gpu->cut.is_partitioned)
        gpu->cut.layout = mig_layout_get(fact->layout);
}

void referee_cut_refused(struct referee *referee, decision_id decision)
{
    for (gpu_id g = 0; g < referee->cluster->gpu_count; g++)
        if (referee->gpus[g].cutting != 0 && decision_number(referee->gpus[g].cutting) == decision_number(decision))
            referee->gpus[g].cutting = 0;
}

/* ---- jobs that share a GPU or a node, under a sharing policy ---- */

void referee_share(struct referee *referee, const struct policy_config *policy, const struct queue_table *queues)
{
    if (sharing_is_used(policy->sharing, &policy->sharing_config))
        referee->sharing = (struct sharing){.policy = policy->sharing,
                                            .config = &policy->sharing_config,
                                            .cluster = referee->cluster,
                                            .queues = queues,
                                            .recuts = policy->geometry->score != NULL};
}

static void move_share(struct referee_share *share, uint8_t kind, uint32_t domain, int64_t members)
{
    if (share->clients == 0)
        *share = (struct referee_share){.domain = domain, .kind = kind};
    else if (members > 0 && (share->kind != kind || share->domain != domain))
        share->kind = SHARE_MIXED; /* or was mixed already */
    share->clients += (uint32_t)members;
}

/* Members on the piece come, or leave (members below 0). */
static void referee_move_share(struct referee *referee, const struct request *request, const struct piece *piece,
                               int64_t members)
{
    struct referee_gpu *first = &referee->gpus[referee->cluster->nodes[piece->node].first_gpu];
    move_share(&referee->nodes[piece->node].share, 0, request->domain, members);
    if (piece->gpu_mask != 0 && piece->gpu_milli < GPU_MILLI && request->mig == 0)
        move_share(&first[__builtin_ctz(piece->gpu_mask)].share, request->share, request->domain, members);
}

/* Under a sharing policy: may such a member join the clients that are there?  most 0: any number. */
static bool is_company(const struct referee_share *share, uint8_t kind, uint32_t domain, uint32_t most)
{
    return share->clients == 0 ||
           (share->kind == kind && share->domain == domain && (most == 0 || share->clients < most));
}

/* May the piece be beside the clients that share its GPU and its node? */
static bool referee_has_company(struct referee *referee, const struct request *request, const struct piece *piece)
{
    const struct sharing *sharing = &referee->sharing;
    const struct referee_node *node = &referee->nodes[piece->node];
    if (sharing->policy == NULL || piece->gpu_mask == 0)
        return true;
    const uint32_t index = (uint32_t)__builtin_ctz(piece->gpu_mask);
    const struct referee_gpu *gpu = &referee->gpus[referee->cluster->nodes[piece->node].first_gpu + index];
    if (request->mig == 0 && piece->gpu_milli < GPU_MILLI &&
        !is_company(&gpu->share, request->share, request->domain, sharing->config->clients_max[request->share]))
        return referee_says(referee, "GPU %u of node %s is not shared with such a member", index,
                            referee->cluster->nodes[piece->node].name);
    if (sharing->config->isolation == ISOLATION_NODE && !is_company(&node->share, 0, request->domain, 0))
        return referee_says(referee, "node %s is of another trust domain", referee->cluster->nodes[piece->node].name);
    return true;
}

/* ---- what is taken ---- */

/* What the piece takes of the memory of each of its GPUs: what is asked, or as large a part as of the rest. */
static uint64_t memory_of(const struct referee *referee, const struct request *request, const struct piece *piece)
{
    const struct node_type *type = cluster_node_type(referee->cluster, piece->node);
    const uint64_t part = (uint64_t)piece->gpu_milli * referee->cluster->models[type->model].memory_mib;
    const uint64_t asked = (uint64_t)request->gpu_memory_mib * GPU_MILLI;
    return asked > part ? asked : part;
}

static void move(struct referee *referee, const struct referee_job *job, const struct piece *piece, bool is_taken)
{
    const struct request *request = &job_group(&job->job, piece->group)->request;
    struct referee_node *node = &referee->nodes[piece->node];
    int64_t members = is_taken ? piece->member_count : -(int64_t)piece->member_count;
    node->cpu_milli += (uint64_t)(members * request->cpu_milli);
    node->memory_mib += (uint64_t)(members * request->memory_mib);
    node->tasks += (uint32_t)members;
    referee_move_share(referee, request, piece, members);
    struct referee_gpu *first = &referee->gpus[referee->cluster->nodes[piece->node].first_gpu];
    for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1) {
        struct referee_gpu *gpu = &first[__builtin_ctz(mask)];
        int milli = is_taken ? piece->gpu_milli : -(int)piece->gpu_milli;
        gpu->used_milli = (uint16_t)(gpu->used_milli + milli);
        gpu->used_memory += is_taken ? memory_of(referee, request, piece) : -memory_of(referee, request, piece);
        if (request->mig != 0)
            gpu->used_slices ^= mig_mask((enum mig_profile_id)(request->mig - 1), piece->mig_start);
    }
}

void referee_take(struct referee *referee, const struct referee_job *job, const struct piece *pieces, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        move(referee, job, &pieces[i], true);
}

void referee_give(struct referee *referee, const struct referee_job *job, const struct piece *pieces, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        move(referee, job, &pieces[i], false);
}

static const char *node_name(const struct referee *referee, const struct piece *piece)
{
    return referee->cluster->nodes[piece->node].name;
}

/* Is the piece a MIG instance of the requested profile, with one member? */
static bool is_instance(struct referee *referee, const struct request *request, const struct piece *piece)
{
    enum mig_profile_id profile = (enum mig_profile_id)(request->mig - 1);
    unsigned gpu = piece->gpu_mask != 0 ? (unsigned)__builtin_ctz(piece->gpu_mask) : 0;
    if (__builtin_popcount(piece->gpu_mask) != 1 || piece->member_count != 1)
        return referee_says(referee, "a MIG instance is one GPU and one member a piece");
    const struct gpu_cut *cut = &referee->gpus[referee->cluster->nodes[piece->node].first_gpu + gpu].cut;
    if (!cut->is_partitioned || cut->layout.profile[piece->mig_start] != request->mig)
        return referee_says(referee, "GPU %u of node %s has no instance of that profile at slice %u", gpu,
                            node_name(referee, piece), piece->mig_start);
    if (piece->gpu_milli != mig_slices(profile) * GPU_MILLI / MIG_SLICES)
        return referee_says(referee, "'milli' of that MIG profile is %u, not %u",
                            mig_slices(profile) * GPU_MILLI / MIG_SLICES, piece->gpu_milli);
    return true;
}

/* Is the piece made of whole GPUs, or a share of one, as requested? */
static bool is_gpus(struct referee *referee, const struct request *request, const struct piece *piece, uint32_t share)
{
    uint32_t gpus = (uint32_t)__builtin_popcount(piece->gpu_mask);
    bool is_share = share != 0 && share < GPU_MILLI;
    uint32_t each = request->gpus != 0 ? request->gpus : share != 0 ? 1 : 0;
    if (share > GPU_MILLI)
        return referee_says(referee, "no GPU of node %s has enough memory", node_name(referee, piece));
    if (gpus != each * piece->member_count || (is_share && piece->member_count != 1))
        return referee_says(referee, "%u member%s of group %u on node %s need%s %u GPUs, the piece names %u",
                            piece->member_count, piece->member_count == 1 ? "" : "s", piece->group,
                            node_name(referee, piece), piece->member_count == 1 ? "s" : "", each * piece->member_count,
                            gpus);
    if (is_share && piece->share != request->share)
        return referee_says(referee, "the share of group %u on node %s is of another kind", piece->group,
                            node_name(referee, piece));
    if (gpus > 0 && piece->gpu_milli != (is_share ? share : GPU_MILLI))
        return referee_says(referee, "'milli' of group %u is %u on node %s, not %u", piece->group,
                            is_share ? share : GPU_MILLI, node_name(referee, piece), piece->gpu_milli);
    return true;
}

static uint16_t partitioned_of(const struct referee *referee, node_id node)
{
    const struct referee_gpu *first = &referee->gpus[referee->cluster->nodes[node].first_gpu];
    uint16_t mask = 0;
    for (uint32_t i = 0; i < cluster_node_gpus(referee->cluster, node); i++)
        mask |= (uint16_t)(first[i].cut.is_partitioned << i);
    return mask;
}

bool referee_piece_is_asked(struct referee *referee, const struct referee_job *job, const struct piece *piece)
{
    const struct cluster *cluster = referee->cluster;
    const struct node_type *type = cluster_node_type(cluster, piece->node);
    if (piece->group >= job->job.group_count)
        return referee_says(referee, "the job has no group %u", piece->group);
    const struct request *request = &job_group(&job->job, piece->group)->request;
    const struct gpu_model *model = &cluster->models[type->model];
    uint32_t share = request_class_share_milli(request, model);
    if (request_asks_gpus(request) && !request_takes_model(request, type))
        return referee_says(referee, "the GPUs of node %s are of a model that will not do: %s",
                            node_name(referee, piece), model->name);
    if (request->mig != 0)
        return is_instance(referee, request, piece);
    if ((piece->gpu_mask & partitioned_of(referee, piece->node)) != 0)
        return referee_says(referee, "a GPU of node %s is partitioned: it is neither whole nor shared",
                            node_name(referee, piece));
    return is_gpus(referee, request, piece, share);
}

static bool has_room(struct referee *referee, const struct referee_job *job, const struct piece *piece)
{
    const struct request *request = &job_group(&job->job, piece->group)->request;
    const struct node_type *type = cluster_node_type(referee->cluster, piece->node);
    const struct referee_node *node = &referee->nodes[piece->node];
    uint64_t members = piece->member_count;
    if (node->cpu_milli + members * request->cpu_milli > type->cpu_milli)
        return referee_says(referee, "node %s has too few free CPUs", node_name(referee, piece));
    if (node->memory_mib + members * request->memory_mib > type->memory_mib)
        return referee_says(referee, "node %s has too little free memory", node_name(referee, piece));
    if (type->max_tasks != 0 && node->tasks + members > type->max_tasks)
        return referee_says(referee, "node %s takes no more than %u members", node_name(referee, piece),
                            type->max_tasks);
    return true;
}

bool referee_piece_is_free(struct referee *referee, const struct referee_job *job, const struct piece *piece,
                           bool is_new)
{
    const struct request *request = &job_group(&job->job, piece->group)->request;
    const struct node *node = &referee->cluster->nodes[piece->node];
    const struct node_type *type = cluster_node_type(referee->cluster, piece->node);
    if (is_new && referee->nodes[piece->node].state != NODE_UP)
        return referee_says(referee, "node %s takes no new work", node->name);
    if (is_new && !node_ask_tolerates(request->nodes, type))
        return referee_says(referee, "node %s has a taint that is not tolerated", node->name);
    if (is_new && request->nodes != NULL && !node_ask_matches(request->nodes, type))
        return referee_says(referee, "node %s has not the labels that are asked", node->name);
    for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1) {
        unsigned index = (unsigned)__builtin_ctz(mask);
        const struct referee_gpu *gpu = &referee->gpus[node->first_gpu + index];
        uint8_t slices = request->mig == 0 ? 0 : mig_mask((enum mig_profile_id)(request->mig - 1), piece->mig_start);
        if (gpu->used_milli + piece->gpu_milli > GPU_MILLI || (gpu->used_slices & slices) != 0 ||
            gpu->used_memory + memory_of(referee, request, piece) >
                (uint64_t)referee->cluster->models[type->model].memory_mib * GPU_MILLI)
            return referee_says(referee, "GPU %u of node %s is not free", index, node->name);
    }
    return referee_outlives_cut(referee, request, piece) && (!is_new || referee_has_company(referee, request, piece)) &&
           has_room(referee, job, piece);
}
