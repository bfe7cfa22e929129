/* policies/placement/search.c -- searches the best spot for one member in the buckets of the node index. */
#include "policies/placement/search.h"

#include <assert.h>

#include "policies/own.h"
#include "policies/placement/draw.h"
#include "policies/placement/placements.h"

static bool has_host_room(const struct search *search, node_id node)
{
    const struct node_cell *cell = &search->ledger->nodes[node];
    return cell->cpu_free >= search->request->cpu_milli && cell->memory_free >= search->request->memory_mib &&
           cell->tasks_free != 0 && ledger_node_admits(search->ledger, node, search->request, search->spot.allowed);
}

static bool is_confined(const struct allowed_space *allowed)
{
    return allowed != NULL && allowed->gpus != NULL;
}

/* Are enough of these GPUs usable, on one island if the member asks that?  Enough are free; a confined member may not
 * use all of them. */
static bool has_gpus(const struct search *search, uint16_t usable, uint32_t least)
{
    const struct request *request = search->request;
    if (!is_confined(search->spot.allowed) && !request->one_island)
        return true;
    if (bits_count16(usable) < least || !request->one_island)
        return bits_count16(usable) >= least;
    const struct node_type *type = &search->ledger->cluster->types[search->spot.type];
    return request_class_members_in(request, type, usable) > 0;
}

/* Among equal scores the lowest node wins, then the lowest GPU. */
static void offer(struct search *search, int64_t score, node_id node, int32_t gpu_index, uint32_t milli)
{
    struct candidate *best = &search->best;
    if (best->node != NODE_NONE &&
        (score < best->score ||
         (score == best->score && (node > best->node || (node == best->node && gpu_index >= best->gpu_index)))))
        return;
    *best = (struct candidate){score, node, gpu_index, milli};
}

/* The spot cannot win: its score is lower, or it is equal and its first node comes later. */
static bool cannot_win(const struct search *search, int64_t score, node_id first)
{
    const struct candidate *best = &search->best;
    return best->node != NODE_NONE && (score < best->score || (score == best->score && first > best->node));
}

/* An upper bound of the scores of the spot's nodes. */
static int64_t most_of(struct search *search)
{
    const struct placement_policy *policy = search->policy;
    search->spot.node = NODE_NONE;
    search->spot.members_here = 0;
    if (!policy->looks_at_nodes)
        return policy->score(&search->spot);
    return policy->bound != NULL ? policy->bound(&search->spot) : INT64_MAX;
}

static int64_t score_node(struct search *search, node_id node)
{
    search->spot.node = node;
    search->spot.members_here = search->here[node];
    return search->policy->score(&search->spot);
}

/* The next node is beyond the region, or too many nodes were looked at. */
static bool is_over(struct search *search, node_id node)
{
    return node > search->region.last || search->looks_left == 0 || --search->looks_left == 0;
}

static bool may_host(const struct search *search, node_id node)
{
    return region_contains(&search->region, node) && has_host_room(search, node);
}

/* Score and offer a node where the member fits.  `most` bounds the scores of the spot's nodes; true: it is reached, so
 * no later node of the spot can win. */
static bool offer_node(struct search *search, int64_t most, node_id node, int32_t gpu_index)
{
    const int64_t score = search->policy->looks_at_nodes ? score_node(search, node) : most;
    if (score == SPOT_NEVER)
        return false;
    offer(search, score, node, gpu_index, (uint32_t)search->spot.milli);
    return score == most;
}

/* Scan the nodes with `free` free GPUs; the member needs at least `least`.  True: no node with more free GPUs can win.
 */
static bool scan_nodes(struct search *search, const struct bits *nodes, uint32_t free, uint32_t least)
{
    const bool is_last = search->is_plain && search->policy->prefers_full;
    if (nodes->member_count == 0)
        return false;
    search->spot.node_free = (int32_t)free;
    search->spot.gpu_left = GPU_MILLI;
    const int64_t most = most_of(search);
    if (cannot_win(search, most, 0))
        return is_last;
    node_id node = bits_next(nodes, search->region.first);
    for (; node != BITS_NONE && !cannot_win(search, most, node); node = bits_next(nodes, node + 1)) {
        if (is_over(search, node))
            return false;
        if (!may_host(search, node))
            continue;
        const uint16_t usable = ledger_usable(search->ledger, node, search->spot.allowed);
        if (!has_gpus(search, usable, least))
            continue;
        const int32_t gpu_index = search->spot.milli != 0 ? __builtin_ctz(usable) : -1;
        if (offer_node(search, most, node, gpu_index))
            return is_last;
    }
    return false;
}

/* May the member use the GPU, as far as the request and what is allowed say? */
static bool may_use_gpu(const struct search *search, node_id node, gpu_id gpu, uint32_t gpu_index)
{
    return (allowed_gpus(search->spot.allowed, node) >> gpu_index & 1) &&
           (search->request->mig != 0 || ledger_gpu_admits(search->ledger, gpu, search->request));
}

/* Scan the GPUs with `left` milli free. */
static void scan_gpus(struct search *search, const struct bits *gpus, uint32_t left)
{
    const struct node *nodes = search->ledger->cluster->nodes;
    gpu_id gpu = bits_next(gpus, nodes[search->region.first].first_gpu);
    if (gpu == BITS_NONE)
        return;
    search->spot.node_free = -1;
    search->spot.gpu_left = (int32_t)left;
    const int64_t most = most_of(search);
    for (; gpu != BITS_NONE; gpu = bits_next(gpus, gpu + 1)) {
        const node_id node = search->ledger->index->gpu_node[gpu];
        const uint32_t gpu_index = gpu - nodes[node].first_gpu;
        if (cannot_win(search, most, node) || is_over(search, node))
            return;
        if (may_host(search, node) && may_use_gpu(search, node, gpu, gpu_index) &&
            offer_node(search, most, node, (int32_t)gpu_index))
            return;
    }
}

static void scan_instances(struct search *search, const struct mig_index *mig)
{
    enum mig_profile_id profile = (enum mig_profile_id)(search->request->mig - 1);
    uint32_t slices = mig_slices(profile);
    search->spot.milli = (int32_t)(slices * MIG_SLICE_MILLI);
    for (uint32_t eighths = slices; mig != NULL && eighths <= MIG_SLICES; eighths++)
        scan_gpus(search, &mig->open[profile][eighths], eighths * MIG_SLICE_MILLI);
}

/* The smallest part from `from` on that a GPU of the node has left, or GPU_MILLI. */
static uint32_t left_on(const struct ledger *ledger, node_id node, uint32_t from)
{
    const struct gpu_cell *gpus = &ledger->gpus[ledger->cluster->nodes[node].first_gpu];
    const uint32_t count = cluster_node_gpus(ledger->cluster, node);
    uint32_t least = GPU_MILLI;
    for (uint32_t g = 0; g < count; g++)
        least = gpus[g].free >= from && gpus[g].free < least ? gpus[g].free : least;
    return least;
}

/* Scan GPUs of which a share is taken already: those with least left first. */
static void scan_shared(struct search *search, const struct type_index *index, uint32_t share)
{
    const node_id node = search->region.first;
    const bool is_one = region_is_one_node(&search->region);
    for (uint32_t left = share; left < GPU_MILLI; left++) {
        left = is_one ? left_on(search->ledger, node, left) : node_index_share(index, left);
        if (left < GPU_MILLI && index->shared[left] != NULL)
            scan_gpus(search, index->shared[left], left);
    }
}

static void scan_type(struct search *search, uint32_t type_id)
{
    const struct cluster *cluster = search->ledger->cluster;
    const struct node_type *type = &cluster->types[type_id];
    const struct type_index *index = &search->ledger->index->types[type_id];
    const struct request *request = search->request;
    if (!request_takes_type(request, cluster, type_id))
        return;
    const uint32_t share = request_class_share_milli(request, &cluster->models[type->model]);
    if (share > GPU_MILLI)
        return;
    search->spot.type = type_id;
    search->spot.milli = (int32_t)share;
    if (request->mig != 0) {
        scan_instances(search, index->mig);
        return;
    }
    if (share != 0 && share < GPU_MILLI)
        scan_shared(search, index, share);
    const uint32_t least = request->gpus != 0 ? request->gpus : share != 0 ? 1 : 0;
    for (uint32_t free = least; free <= type->gpu_count; free++)
        if (scan_nodes(search, &index->whole[free], free, least))
            return;
}

struct search search_of(const struct placement_request *asked, const struct ledger *ledger,
                        const struct request *request, const struct region *region, const uint32_t *here)
{
    const struct placement_policy *policy = asked->policy;
    return (struct search){.policy = policy,
                           .ledger = ledger,
                           .request = request,
                           .region = *region,
                           .here = here,
                           .is_plain = !policy->looks_at_nodes && !is_confined(asked->allowed) &&
                                       !search_needs_island(ledger, request) && region->level == NULL &&
                                       region->first == 0 && region->last == ledger->cluster->node_count - 1,
                           .looks_left = UINT32_MAX,
                           .spot = {.own = owns_of(ledger->owns, policy),
                                    .gpus = request->gpus,
                                    .node = NODE_NONE,
                                    .ledger = ledger,
                                    .request = request,
                                    .allowed = asked->allowed,
                                    .owner = asked->owner}};
}

void search_node(struct search *search, node_id node)
{
    const struct region region = search->region;
    if (!region_contains(&region, node))
        return;
    search->region = (struct region){.first = node, .last = node};
    scan_type(search, search->ledger->cluster->nodes[node].type);
    search->region = region;
}

bool search_best(struct search *search, uint32_t members_left)
{
    const struct cluster *cluster = search->ledger->cluster;
    search->best.node = NODE_NONE;
    search->spot.members_left = members_left;
    if (search->policy->draw != NULL && !search->is_plain)
        return draw_best(search);
    if (region_is_one_node(&search->region))
        search_node(search, search->region.first);
    else
        for (uint32_t t = 0; t < cluster->type_count; t++)
            scan_type(search, t);
    return search->best.node != NODE_NONE && search->looks_left > 0;
}

int64_t placement_free_milli(const struct spot *spot)
{
    const struct cluster *cluster = spot->ledger->cluster;
    const struct gpu_cell *gpus = &spot->ledger->gpus[cluster->nodes[spot->node].first_gpu];
    int64_t free = 0;
    for (uint32_t i = 0; i < cluster_node_gpus(cluster, spot->node); i++)
        free += gpus[i].free;
    return free;
}

int64_t placement_asked_milli(const struct spot *spot)
{
    return spot->gpus != 0 ? (int64_t)spot->gpus * GPU_MILLI : spot->milli;
}

struct node_size placement_largest_node(const struct cluster *cluster)
{
    struct node_size most = {0, 0};
    for (uint32_t t = 0; t < cluster->type_count; t++) {
        const struct node_type *type = &cluster->types[t];
        const int64_t gpu_milli = (int64_t)type->gpu_count * GPU_MILLI;
        most.cpu_milli = type->cpu_milli > most.cpu_milli ? type->cpu_milli : most.cpu_milli;
        most.gpu_milli = gpu_milli > most.gpu_milli ? gpu_milli : most.gpu_milli;
    }
    return most;
}

struct region region_part(const struct region *region, const struct cluster_level *level, uint32_t id)
{
    struct region out = *region;
    node_id first = level == NULL ? id : level->first[id];
    node_id last = level == NULL ? id : level->last[id];
    out.first = first > out.first ? first : out.first;
    out.last = last < out.last ? last : out.last;
    if (level != NULL && (out.level == NULL || level > out.level)) {
        out.level = level; /* narrower: it lies inside the region's domain */
        out.id = id;
    }
    return out;
}
