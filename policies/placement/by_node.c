/* Kept scores of nodes; see policies/placement/by_node.h. */
#include "policies/placement/by_node.h"

#include "policies/placement/draw.h"

static void forget_kind(struct node_offers *kind)
{
    mem_free(kind->of);
    mem_free(kind->match);
}

static void forget(struct by_node *memory)
{
    while (memory->count > 0)
        forget_kind(&memory->kinds[--memory->count]);
}

static bool is_drawn(const struct node_offers *kind)
{
    return kind->policy->draw != NULL;
}

/* The members left, as the kind distinguishes them: all numbers above members_max count as members_max + 1. */
static uint32_t told_left(const struct node_offers *kind, const struct search *search)
{
    if (!kind->policy->joins_members)
        return 0;
    const uint32_t left = search->spot.members_left;
    return left > kind->members_max ? kind->members_max + 1 : left;
}

static uint32_t members_max(const struct search *search)
{
    const struct cluster *cluster = search->ledger->cluster;
    uint32_t most = 0;
    for (uint32_t t = 0; t < cluster->type_count; t++) {
        const uint32_t members = request_class_members_per_node(search->request, cluster, t, search->ledger->recuts);
        most = members > most ? members : most;
    }
    return most;
}

static struct node_offers *kind_new(struct by_node *memory, const struct search *search)
{
    const uint32_t nodes = search->ledger->cluster->node_count;
    uint32_t k = 0, width = 1;
    if (memory->count < BY_NODE_KINDS) {
        k = memory->count++;
    } else {
        for (uint32_t i = 1; i < memory->count; i++)
            k = memory->kinds[i].asked < memory->kinds[k].asked ? i : k;
        forget_kind(&memory->kinds[k]);
    }
    while (width < nodes)
        width *= 2;
    memory->kinds[k] = (struct node_offers){.policy = search->policy,
                                            .request = *search->request,
                                            .members_max = members_max(search),
                                            .of = mem_zalloc(nodes, sizeof(struct node_offer)),
                                            .match = mem_zalloc(width, sizeof(uint32_t)),
                                            .width = width};
    memory->kinds[k].members_left = told_left(&memory->kinds[k], search);
    memory->last = k;
    return &memory->kinds[k];
}

/* The kind of such a member; NULL: none is kept. */
static struct node_offers *kind_of(struct by_node *memory, const struct search *search)
{
    const struct ledger *ledger = search->ledger;
    if (memory->ledger != ledger || memory->typical_version != ledger->typical_version)
        forget(memory);
    memory->ledger = ledger;
    memory->typical_version = ledger->typical_version;
    for (uint32_t i = 0; i < memory->count; i++) {
        const uint32_t k = (memory->last + i) % memory->count;
        if (memory->kinds[k].policy != search->policy || !request_is_same(&memory->kinds[k].request, search->request) ||
            memory->kinds[k].members_left != told_left(&memory->kinds[k], search))
            continue;
        memory->last = k;
        return &memory->kinds[k];
    }
    return NULL;
}

bool by_node_knows(struct by_node *memory, const struct search *search)
{
    return kind_of(memory, search) != NULL;
}

static void offer(struct node_offer *best, int64_t score, int32_t gpu_index, uint32_t milli)
{
    if (score <= best->score)
        return;
    best->score = score;
    best->gpu_index = (int16_t)gpu_index;
    best->milli = (uint16_t)milli;
}

/* Offer a share of each partly used GPU, and of the first GPU that is free. */
static void offer_shares(struct search *search, node_id node, uint32_t share, struct node_offer *best)
{
    const struct ledger *ledger = search->ledger;
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    const gpu_id first = ledger->cluster->nodes[node].first_gpu;
    const uint16_t free = ledger->index->free_mask[node];
    search->spot.milli = (int32_t)share;
    for (uint32_t g = 0; g < type->gpu_count; g++) {
        const bool is_free = free >> g & 1;
        if (ledger_has_layout(ledger, node, g) || ledger->gpus[first + g].free < share ||
            !ledger_gpu_admits(ledger, first + g, search->request) || (is_free && (free & ((1u << g) - 1)) != 0))
            continue;
        search->spot.node_free = is_free ? ledger->index->free_count[node] : -1;
        search->spot.gpu_left = ledger->gpus[first + g].free;
        offer(best, search->policy->score(&search->spot), (int32_t)g, share);
    }
}

/* The best offer of the node for such a member now. */
static struct node_offer offer_at(struct search *search, node_id node)
{
    const struct ledger *ledger = search->ledger;
    const struct cluster *cluster = ledger->cluster;
    const struct node_cell *cell = &ledger->nodes[node];
    const struct request *request = search->request;
    const struct node_type *type = cluster_node_type(cluster, node);
    const uint32_t share = request_class_share_milli(request, &cluster->models[type->model]);
    struct node_offer best = {.score = SPOT_NEVER, .seen = ledger->node_version[node] + 1};
    if (!ledger->index->is_listed[node] || cell->cpu_free < request->cpu_milli ||
        cell->memory_free < request->memory_mib || cell->tasks_free == 0 || share > GPU_MILLI ||
        !request_takes_type(request, cluster, cluster->nodes[node].type) ||
        !ledger_node_admits(ledger, node, request, search->spot.allowed) ||
        ledger->index->free_count[node] < request->gpus)
        return best;
    search->spot.node = node;
    search->spot.type = cluster->nodes[node].type;
    search->spot.node_free = ledger->index->free_count[node];
    search->spot.gpu_left = GPU_MILLI;
    search->spot.milli = 0;
    if (share != 0)
        offer_shares(search, node, share, &best);
    else
        offer(&best, search->policy->score(&search->spot), -1, 0);
    return best;
}

/* ---- the tournament ---- */

/* The winner of match `at`; from `width` on, the node itself.  NODE_NONE: beyond the last node. */
static node_id winner_at(const struct node_offers *kind, uint32_t node_count, uint32_t at)
{
    if (at < kind->width)
        return kind->match[at];
    return at - kind->width < node_count ? at - kind->width : NODE_NONE;
}

/* Of two equal nodes the lower one wins; it comes from the lower match. */
static node_id play(const struct node_offers *kind, uint32_t node_count, uint32_t at)
{
    const node_id low = winner_at(kind, node_count, 2 * at);
    const node_id high = winner_at(kind, node_count, 2 * at + 1);
    return high != NODE_NONE && kind->of[high].score > kind->of[low].score ? high : low;
}

/* The node's offer has changed.  Play its matches again, up to one that another node won and wins again. */
static void replay(struct node_offers *kind, uint32_t node_count, node_id node)
{
    for (uint32_t at = (kind->width + node) / 2; at > 0; at /= 2) {
        const node_id winner = play(kind, node_count, at);
        if (winner == kind->match[at] && winner != node)
            return;
        kind->match[at] = winner;
    }
}

/* ---- where nodes are drawn ---- */

static struct node_offer room_of(const struct search *search, node_id node)
{
    return (struct node_offer){.score = draw_has_room(search, node) ? 0 : SPOT_NEVER,
                               .seen = search->ledger->node_version[node] + 1};
}

/* The number of nodes with room below match `at`; from `width` on, of the node itself. */
static uint32_t count_at(const struct node_offers *kind, uint32_t node_count, uint32_t at)
{
    if (at < kind->width)
        return kind->match[at];
    return at - kind->width < node_count && kind->of[at - kind->width].score != SPOT_NEVER;
}

static uint32_t sum(const struct node_offers *kind, uint32_t node_count, uint32_t at)
{
    return count_at(kind, node_count, 2 * at) + count_at(kind, node_count, 2 * at + 1);
}

/* The node has gained or lost its room. */
static void recount(struct node_offers *kind, node_id node, bool has_room)
{
    for (uint32_t at = (kind->width + node) / 2; at > 0; at /= 2)
        kind->match[at] = has_room ? kind->match[at] + 1 : kind->match[at] - 1;
}

/* ---- what has changed ---- */

static bool is_seen(const struct node_offers *kind, const struct ledger *ledger, node_id node)
{
    return kind->of[node].seen == ledger->node_version[node] + 1;
}

/* Compute all offers that are not valid, and all matches: many nodes have changed, or it is not known which. */
static void make_offers(struct node_offers *kind, struct search *search)
{
    const uint32_t node_count = search->ledger->cluster->node_count;
    const bool drawn = is_drawn(kind);
    for (node_id n = 0; n < node_count; n++)
        if (!is_seen(kind, search->ledger, n))
            kind->of[n] = drawn ? room_of(search, n) : offer_at(search, n);
    for (uint32_t at = kind->width - 1; at > 0; at--)
        kind->match[at] = drawn ? sum(kind, node_count, at) : play(kind, node_count, at);
}

static void make_again(struct node_offers *kind, struct search *search, node_id node)
{
    if (!is_drawn(kind)) {
        kind->of[node] = offer_at(search, node);
        replay(kind, search->ledger->cluster->node_count, node);
        return;
    }
    const int64_t before = kind->of[node].score;
    kind->of[node] = room_of(search, node);
    if (kind->of[node].score != before)
        recount(kind, node, before == SPOT_NEVER);
}

static void make_changed(struct node_offers *kind, struct search *search)
{
    const struct ledger *ledger = search->ledger;
    const uint32_t node_count = ledger->cluster->node_count;
    const bool is_new = kind->asked == 0;
    if (is_new || ledger->change_count - kind->change_count > node_count / 2)
        make_offers(kind, search);
    else
        for (uint64_t c = kind->change_count; c < ledger->change_count; c++) {
            const node_id node = ledger->changes[c & ledger->change_mask];
            if (!is_seen(kind, ledger, node))
                make_again(kind, search, node);
        }
    kind->change_count = ledger->change_count;
}

/* Find the best node of the region below match `at` (nodes `first` to `first + width - 1`), if it beats the best so
 * far. */
static void find_in(const struct node_offers *kind, struct search *search, uint32_t at, node_id first, uint32_t width)
{
    const struct region *region = &search->region;
    struct candidate *best = &search->best;
    if (first > region->last || first + width <= region->first)
        return;
    const node_id node = winner_at(kind, search->ledger->cluster->node_count, at);
    if (node == NODE_NONE || kind->of[node].score <= best->score)
        return;
    if (region_contains(region, node)) {
        const struct node_offer *offer = &kind->of[node];
        *best = (struct candidate){offer->score, node, offer->gpu_index, offer->milli};
    } else if (width > 1) {
        find_in(kind, search, 2 * at, first, width / 2);
        find_in(kind, search, 2 * at + 1, first + width / 2, width / 2);
    }
}

/* Count the nodes of the region with room below match `at` (nodes `first` to `first + width - 1`), up to `wanted`.  If
 * there are that many, *node is the last one counted. */
static uint32_t count_in(const struct node_offers *kind, const struct search *search, uint32_t at, node_id first,
                         uint32_t width, uint32_t wanted, node_id *node)
{
    const struct region *region = &search->region;
    const uint32_t all = count_at(kind, search->ledger->cluster->node_count, at);
    if (all == 0 || first > region->last || first + width <= region->first)
        return 0;
    if (all < wanted && region->level == NULL && first >= region->first && first + width - 1 <= region->last)
        return all;
    if (width == 1) {
        *node = first;
        return region_contains(region, first);
    }
    uint32_t count = count_in(kind, search, 2 * at, first, width / 2, wanted, node);
    if (count < wanted)
        count += count_in(kind, search, 2 * at + 1, first + width / 2, width / 2, wanted - count, node);
    return count;
}

static bool draw_in(const struct node_offers *kind, struct search *search)
{
    node_id node = NODE_NONE;
    const uint32_t count = count_in(kind, search, 1, 0, kind->width, UINT32_MAX, &node);
    if (count == 0)
        return false;
    count_in(kind, search, 1, 0, kind->width, draw_node(search, count) + 1, &node);
    draw_take(search, node);
    return true;
}

bool by_node_best(struct by_node *memory, struct search *search)
{
    struct node_offers *kind = kind_of(memory, search);
    if (kind == NULL)
        kind = kind_new(memory, search);
    search->spot.members_here = 0;
    make_changed(kind, search);
    kind->asked = ++memory->asked;
    search->best = (struct candidate){.score = SPOT_NEVER, .node = NODE_NONE, .gpu_index = -1};
    if (is_drawn(kind))
        return draw_in(kind, search);
    find_in(kind, search, 1, 0, kind->width);
    return search->best.node != NODE_NONE;
}

void by_node_release(struct by_node *memory)
{
    forget(memory);
}
