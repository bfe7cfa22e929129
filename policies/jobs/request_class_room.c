/* policies/jobs/request_class_room.c -- how many members fit in an empty node or cluster, and on a node now. */
#include <string.h>

#include "base/bits.h"
#include "policies/jobs/request_class.h"

uint32_t request_class_share_milli(const struct request *request, const struct gpu_model *model)
{
    if (request->gpu_milli != 0)
        return request->gpu_milli;
    if (request->gpu_memory_mib == 0)
        return 0;
    if (model->memory_mib == 0 || request->gpu_memory_mib > model->memory_mib)
        return GPU_MILLI + 1;
    return (uint32_t)request_gpu_milli(request, model);
}

int64_t request_class_most_milli(const struct request *request, const struct cluster *cluster)
{
    int64_t most = 0;
    if (request->gpu_memory_mib == 0 && request->mig == 0)
        return request_gpu_milli(request, NULL);
    for (uint32_t t = 0; t < cluster->type_count; t++) {
        const struct node_type *type = &cluster->types[t];
        const struct gpu_model *model = &cluster->models[type->model];
        const bool would_do = request->mig != 0 ? mig_profiles(model->mig) != NULL
                                                : request_class_share_milli(request, model) <= GPU_MILLI;
        if (type->gpu_count == 0 || !would_do || !request_takes_nodes(request, cluster, t) ||
            !request_takes_model(request, type))
            continue;
        const int64_t milli = request_gpu_milli(request, model);
        most = milli > most ? milli : most;
    }
    return most == 0 ? GPU_MILLI : most;
}

static uint32_t times_in(uint64_t have, uint64_t need)
{
    uint64_t times = need == 0 ? UINT32_MAX : have / need;
    return times > UINT32_MAX ? UINT32_MAX : (uint32_t)times;
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The layouts of a node's GPUs, and which GPUs may be cut for a request. */
struct cuts {
    uint16_t partitioned, may_recut;
    const struct gpu_layout *layouts; /* by GPU; valid for partitioned ones */
};

static struct cuts cuts_of_type(const struct node_type *type, bool recuts)
{
    return (struct cuts){type->layout_mask, recuts ? type->recut_mask : 0, type->layouts};
}

static uint32_t instances_of(const struct cuts *cuts, enum mig_profile_id profile)
{
    uint32_t count = bits_count16(cuts->may_recut) * mig_profiles(MIG_H100_80)[profile].max_count;
    for (uint32_t mask = cuts->partitioned & ~cuts->may_recut; mask != 0; mask &= mask - 1)
        for (uint32_t s = 0; s < MIG_SLICES; s++)
            count += cuts->layouts[__builtin_ctz(mask)].profile[s] == profile + 1;
    return count;
}

uint32_t request_class_members_in(const struct request *request, const struct node_type *type, uint16_t gpus)
{
    if (!request->one_island || type->island_gpus >= type->gpu_count)
        return bits_count16(gpus) / request->gpus;
    uint32_t members = 0;
    const uint32_t island = (1u << type->island_gpus) - 1;
    for (uint32_t rest = gpus; rest != 0; rest >>= type->island_gpus)
        members += bits_count16((uint16_t)(rest & island)) / request->gpus;
    return members;
}

static uint32_t members_if_free(const struct request *request, const struct cluster *cluster, uint32_t type_id,
                                const struct cuts *cuts)
{
    const struct node_type *type = &cluster->types[type_id];
    uint32_t count =
        lesser(times_in(type->cpu_milli, request->cpu_milli), times_in(type->memory_mib, request->memory_mib));
    uint32_t share = request_class_share_milli(request, &cluster->models[type->model]);
    const uint32_t partitioned = cuts->partitioned & ~(uint32_t)cuts->may_recut;
    const uint16_t whole = (uint16_t)(((1u << type->gpu_count) - 1) & ~partitioned);
    if (!request_takes_type(request, cluster, type_id))
        return 0;
    if (type->max_tasks != 0)
        count = lesser(count, type->max_tasks);
    if (request->gpus == 0 && share == 0 && request->mig == 0)
        return count;
    if (request->mig != 0)
        return lesser(count, instances_of(cuts, (enum mig_profile_id)(request->mig - 1)));
    if (request->gpus != 0)
        return lesser(count, request_class_members_in(request, type, whole));
    if (share > GPU_MILLI)
        return 0;
    return lesser(count, bits_count16(whole) * ledger_shares_in(&cluster->models[type->model], request, GPU_MILLI, 0));
}

uint32_t request_class_members_per_node(const struct request *request, const struct cluster *cluster, uint32_t type_id,
                                        bool recuts)
{
    const struct node_type *type = &cluster->types[type_id];
    const struct cuts cuts = cuts_of_type(type, recuts);
    return members_if_free(request, cluster, type_id, &cuts);
}

static uint16_t gpus_with(const struct node_type *type, uint16_t may_recut, enum mig_profile_id profile)
{
    uint16_t gpus = may_recut;
    for (uint32_t mask = type->layout_mask; mask != 0; mask &= mask - 1)
        for (uint32_t s = 0; s < MIG_SLICES; s++)
            if (type->layouts[__builtin_ctz(mask)].profile[s] == profile + 1)
                gpus |= (uint16_t)(mask & -mask);
    return gpus;
}

uint16_t request_class_gpus_per_node(const struct request *request, const struct cluster *cluster, uint32_t type_id,
                                     bool recuts)
{
    const struct node_type *type = &cluster->types[type_id];
    const uint16_t may_recut = recuts ? type->recut_mask : 0;
    const uint16_t all = (uint16_t)((1u << type->gpu_count) - 1);
    const uint16_t whole = (uint16_t)(all & ~(type->layout_mask & ~may_recut));
    if (!request_asks_gpus(request))
        return all | 1;
    if (request->mig != 0)
        return gpus_with(type, may_recut, (enum mig_profile_id)(request->mig - 1));
    if (request->gpus != 0)
        return request_class_members_in(request, type, whole) > 0 ? whole : 0;
    return request_class_share_milli(request, &cluster->models[type->model]) <= GPU_MILLI ? whole : 0;
}

uint32_t request_class_members_of_node(const struct request *request, const struct ledger *ledger, node_id node)
{
    const struct cluster *cluster = ledger->cluster;
    const struct node_type *type = cluster_node_type(cluster, node);
    struct cuts cuts = cuts_of_type(type, ledger->recuts);
    cuts.partitioned = ledger_layout_mask(ledger, node);
    if (cuts.partitioned != 0)
        cuts.layouts = &ledger->layouts[cluster->nodes[node].first_gpu];
    return members_if_free(request, cluster, cluster->nodes[node].type, &cuts);
}

uint32_t request_class_most_of_node(const struct request *request, const struct ledger *ledger)
{
    uint32_t most = 0;
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        const uint32_t here = request_class_members_of_node(request, ledger, n);
        most = here > most ? here : most;
    }
    return most;
}

uint64_t request_class_room_empty(const struct request *request, const struct cluster *cluster, bool recuts)
{
    uint64_t room = 0;
    for (uint32_t t = 0; t < cluster->type_count; t++)
        room += (uint64_t)request_class_members_per_node(request, cluster, t, recuts) * cluster->types[t].node_count;
    return room;
}

/* By domain of the level: how many members fit when it is empty.  The caller frees it. */
static uint64_t *rooms_by_domain(const struct request *request, const struct cluster *cluster,
                                 const struct cluster_level *level, bool recuts)
{
    uint64_t *room = mem_zalloc(level->domain_count + 1, sizeof *room);
    for (node_id n = 0; n < cluster->node_count; n++)
        if (level->domain[n] != DOMAIN_NONE)
            room[level->domain[n]] += request_class_members_per_node(request, cluster, cluster->nodes[n].type, recuts);
    return room;
}

/* By domain of the level (NULL: the cluster is the only domain): how many members of the group fit.  If slices are
 * narrower than the level, only whole slices count. */
static uint64_t *group_rooms(const struct job_group *group, const struct cluster *cluster,
                             const struct cluster_level *level, bool recuts)
{
    const struct cluster_level *slices = &cluster->levels[group->slice_level - 1];
    if (level != NULL && (group->slice_members == 0 || level >= slices))
        return rooms_by_domain(&group->request, cluster, level, recuts);
    uint64_t *room = mem_zalloc(level != NULL ? level->domain_count + 1 : 1, sizeof *room);
    uint64_t *parts = rooms_by_domain(&group->request, cluster, slices, recuts);
    for (uint32_t d = 0; d < slices->domain_count; d++)
        room[level != NULL ? level->domain[slices->first[d]] : 0] += parts[d] - parts[d] % group->slice_members;
    mem_free(parts);
    return room;
}

/* The fewest members that need room in whole slices.  A rest may complete slices that held members left incomplete. */
static uint64_t least_of(const struct job_group *group)
{
    return group->slice_members == 0 ? group->count : group->count - group->count % group->slice_members;
}

static bool has_room(const struct job_group *group, const struct cluster *cluster, bool recuts)
{
    if (group->slice_members == 0)
        return request_class_room_empty(&group->request, cluster, recuts) >= group->count;
    if (group->slice_level > cluster->level_count)
        return false;
    uint64_t *room = group_rooms(group, cluster, NULL, recuts);
    const bool suffices = room[0] >= least_of(group);
    mem_free(room);
    return suffices;
}

static bool is_below(const struct request_class *request_class, uint32_t group, uint16_t set)
{
    uint16_t at = request_class->set_count == 0 ? SET_NONE : request_class->groups[group].set;
    while (at != SET_NONE && at != set)
        at = request_class->sets[at].parent;
    return at == set;
}

/* Clear `may` of the domains that cannot hold all members of the group even when they are empty. */
static void keep_domains(const struct job_group *group, const struct cluster *cluster,
                         const struct cluster_level *level, bool recuts, uint8_t *may)
{
    uint64_t *room = group_rooms(group, cluster, level, recuts);
    for (uint32_t d = 0; d < level->domain_count; d++)
        may[d] &= room[d] >= least_of(group);
    mem_free(room);
}

/* Does the set (SET_NONE: the job) require one domain of that level (counted from 1), and none is large enough? */
static bool no_domain_holds(const struct request_class *request_class, const struct cluster *cluster, uint16_t set,
                            uint8_t required, bool recuts)
{
    if (required == 0)
        return false;
    if (required > cluster->level_count)
        return true;
    const struct cluster_level *level = &cluster->levels[required - 1];
    uint8_t *may = mem_alloc(level->domain_count);
    bool any = false;
    memset(may, 1, level->domain_count);
    for (uint32_t g = 0; g < request_class->group_count; g++)
        if (request_class->groups[g].count > 0 && is_below(request_class, g, set))
            keep_domains(&request_class->groups[g], cluster, level, recuts, may);
    for (uint32_t d = 0; d < level->domain_count; d++)
        any |= may[d] != 0;
    mem_free(may);
    return !any;
}

bool request_class_can_never_fit(const struct request_class *request_class, const struct cluster *cluster, bool recuts)
{
    for (uint32_t g = 0; g < request_class->group_count; g++)
        if (!has_room(&request_class->groups[g], cluster, recuts))
            return true;
    for (uint16_t s = 0; s < request_class->set_count; s++)
        if (no_domain_holds(request_class, cluster, s, request_class->sets[s].topology.required, recuts))
            return true;
    return no_domain_holds(request_class, cluster, SET_NONE, request_class->topology.required, recuts);
}

static bool has_instance(const struct ledger *ledger, node_id node, enum mig_profile_id profile)
{
    for (uint32_t i = 0; i < cluster_node_gpus(ledger->cluster, node); i++)
        if (ledger_mig_starts(ledger, node, i, profile) != 0)
            return true;
    return false;
}

static bool member_fits(const struct request *request, const struct ledger *ledger, node_id node)
{
    const struct node_cell *cell = &ledger->nodes[node];
    if (cell->cpu_free < request->cpu_milli || cell->memory_free < request->memory_mib || cell->tasks_free == 0 ||
        !ledger_node_admits(ledger, node, request, NULL))
        return false;
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    uint32_t share = request_class_share_milli(request, &ledger->cluster->models[type->model]);
    if (!request_takes_type(request, ledger->cluster, ledger->cluster->nodes[node].type))
        return false;
    if (request->gpus == 0 && share == 0 && request->mig == 0)
        return true;
    if (request->mig != 0)
        return has_instance(ledger, node, (enum mig_profile_id)(request->mig - 1));
    if (request->gpus != 0)
        return request_class_members_in(request, type, ledger->index->free_mask[node]) > 0;
    gpu_id first = ledger->cluster->nodes[node].first_gpu;
    for (uint32_t i = 0; i < type->gpu_count; i++)
        if (ledger->gpus[first + i].free >= share && !ledger_has_layout(ledger, node, i) &&
            ledger_gpu_admits(ledger, first + i, request))
            return true;
    return false;
}

bool request_class_fits_member(const struct request_class *request_class, const struct ledger *ledger, node_id node)
{
    for (uint32_t g = 0; g < request_class->group_count; g++)
        if (member_fits(&request_class->groups[g].request, ledger, node))
            return true;
    return false;
}

/* How many members fit on the node by its GPUs alone. */
static uint32_t gpu_room(const struct request *request, const struct ledger *ledger, node_id node,
                         const struct allowed_space *allowed)
{
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    uint32_t share = request_class_share_milli(request, &ledger->cluster->models[type->model]);
    gpu_id first = ledger->cluster->nodes[node].first_gpu;
    uint32_t room = 0;
    if (request->gpus == 0 && share == 0 && request->mig == 0)
        return UINT32_MAX;
    if (request->gpus != 0)
        return request_class_members_in(request, type, ledger_usable(ledger, node, allowed));
    for (uint32_t i = 0; i < type->gpu_count; i++)
        if (request->mig != 0)
            room += (uint32_t)__builtin_popcount(
                ledger_mig_starts(ledger, node, i, (enum mig_profile_id)(request->mig - 1)));
        else if (!ledger_has_layout(ledger, node, i))
            room += lesser(ledger->gpus[first + i].free / share, ledger_gpu_shares_left(ledger, first + i, request));
    return room;
}

uint32_t request_class_room(const struct request *request, const struct ledger *ledger, node_id node,
                            const struct allowed_space *allowed)
{
    const struct node_cell *cell = &ledger->nodes[node];
    if (!ledger->index->is_listed[node] || ledger->index->free_count[node] < request->gpus ||
        !request_takes_type(request, ledger->cluster, ledger->cluster->nodes[node].type) ||
        !ledger_node_admits(ledger, node, request, allowed))
        return 0;
    uint32_t count =
        lesser(times_in(cell->cpu_free, request->cpu_milli), times_in(cell->memory_free, request->memory_mib));
    return lesser(lesser(count, cell->tasks_free), gpu_room(request, ledger, node, allowed));
}

bool request_class_goes_anywhere(const struct request_class *request_class, const struct cluster *cluster)
{
    bool is_free =
        request_class->set_count == 0 && request_class->topology.required == 0 && request_class->tags == NULL;
    for (uint32_t g = 0; g < request_class->group_count; g++)
        is_free &= request_class->groups[g].slice_members == 0 &&
                   !(request_class->groups[g].request.one_island && cluster->has_split_nodes);
    return is_free;
}
