/* Trees over the nodes; see policies/repartition/repartition_places.h. */
#include "policies/repartition/repartition_places.h"
#include "policies/repartition/repartition_book.h"

#include <string.h>

#include "base/bits.h"
#include "policies/state/sched_state.h"

enum { WISHES = MIG_PROFILE_COUNT + NODE_GPUS_MAX }; /* profiles, then counts of whole GPUs from 1 on */

#define NO_SCORE INT64_MIN

/* The offer of a node.  Of several nodes: the best value of each field, possibly of different nodes. */
struct offer {
    int64_t score;     /* NO_SCORE: there is no place */
    time_ns rested_at; /* when the first GPU that rests may be cut again; TIME_NEVER */
    uint64_t models;
    uint32_t cpu_milli, memory_mib;
};
static const struct offer no_offer = {NO_SCORE, TIME_NEVER, 0, 0, 0};

struct tree {
    struct offer *offers; /* 2 * width: the nodes' from `width` on; entry i sums up 2i and 2i + 1; NULL: no tree yet */
    uint32_t *versions;   /* by node: its version in the ledger when it was looked at */
    uint8_t *free;        /* by node: free instances of the profile */
    uint32_t free_count;
    uint64_t seen; /* count of the ledger's changes that it includes */
};

struct repartition_places {
    uint32_t width; /* a power of two, not less than the number of nodes */
    struct tree trees[WISHES];
};

/* ---- What a node offers ---- */

static bool is_idle_node(const struct ledger *ledger, node_id node)
{
    const gpu_id first = ledger->cluster->nodes[node].first_gpu;
    for (uint32_t i = 0; i < cluster_node_gpus(ledger->cluster, node); i++)
        if (ledger->gpus[first + i].free != GPU_MILLI)
            return false;
    return true;
}

/* The node's GPUs that may be cut, as bits.  A GPU that rests lowers *rested_at to the end of its rest. */
static uint16_t cuttable(const struct sched *sched, node_id node, time_ns *rested_at)
{
    const struct ledger *ledger = sched->ledger;
    const struct geometry_config *config = &sched->policy.geometry_config;
    const gpu_id first = ledger->cluster->nodes[node].first_gpu;
    uint16_t out = 0;
    if (!ledger->index->is_listed[node] || (config->needs == RECUT_NODE && !is_idle_node(ledger, node)))
        return 0;
    for (uint32_t mask = cluster_node_type(ledger->cluster, node)->recut_mask; mask != 0; mask &= mask - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(mask);
        const time_ns cut_at = sched->repartitions->cut_at[first + i] - 1;
        if (ledger->migs[first + i].making != 0 ||
            (config->needs != RECUT_INSTANCES && ledger->gpus[first + i].free != GPU_MILLI))
            continue;
        if (cut_at >= 0 && sched->now - cut_at < config->rest) {
            if (cut_at + config->rest < *rested_at)
                *rested_at = cut_at + config->rest;
            continue;
        }
        out |= (uint16_t)(1u << i);
    }
    return out;
}

static uint32_t count_starts(const struct gpu_layout *layout, uint8_t slices)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < MIG_SLICES; s++)
        if (layout->profile[s] != 0 && (mig_mask((enum mig_profile_id)(layout->profile[s] - 1), s) & slices) != 0)
            count++;
    return count;
}

static void consider_gpu(const struct sched *sched, gpu_id gpu, enum mig_profile_id profile,
                         struct repartition_spot *best)
{
    struct cut_place place = {.profile = profile, .busy = ledger_busy_slices(sched->ledger, gpu)};
    if (mig_fit(place.busy, profile) == 0 || ledger_mig_room(sched->ledger, gpu, profile) == 0)
        return;
    const struct gpu_cut cut = ledger_cut_of(sched->ledger, gpu);
    place.is_whole = !cut.is_partitioned;
    for (uint32_t starts = mig_fit(place.busy, profile); starts != 0; starts &= starts - 1) {
        place.start = (uint32_t)__builtin_ctz(starts);
        if (cut.is_partitioned && cut.layout.profile[place.start] == profile + 1)
            continue; /* such an instance is there, and free */
        place.destroyed = count_starts(&cut.layout, mig_mask(profile, place.start));
        const int64_t score = sched->policy.geometry->score(&place);
        if (score > best->score)
            *best = (struct repartition_spot){.score = score, .gpu = gpu, .start = place.start};
    }
}

static struct repartition_spot best_instance(const struct sched *sched, node_id node, enum mig_profile_id profile,
                                             time_ns *rested_at)
{
    struct repartition_spot best = {.score = NO_SCORE};
    for (uint32_t mask = cuttable(sched, node, rested_at); mask != 0; mask &= mask - 1)
        consider_gpu(sched, sched->cluster->nodes[node].first_gpu + (uint32_t)__builtin_ctz(mask), profile, &best);
    return best;
}

/* The partitioned GPUs of the node that are wholly free and may be cut.  There is a score only if they are enough. */
static struct repartition_spot best_whole(const struct sched *sched, node_id node, uint32_t gpus, time_ns *rested_at)
{
    const struct ledger *ledger = sched->ledger;
    const gpu_id first = ledger->cluster->nodes[node].first_gpu;
    const uint32_t free = ledger->index->free_count[node];
    const uint16_t partitioned = ledger_layout_mask(ledger, node);
    struct repartition_spot spot = {.score = NO_SCORE, .gpu = first};
    if (free >= gpus || partitioned == 0)
        return spot;
    for (uint32_t mask = cuttable(sched, node, rested_at) & partitioned; mask != 0; mask &= mask - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(mask);
        if (ledger->gpus[first + i].free == GPU_MILLI)
            spot.gpu_mask |= (uint16_t)(1u << i);
    }
    if (bits_count16(spot.gpu_mask) >= gpus - free)
        spot.score = (int64_t)free - gpus;
    return spot;
}

static struct repartition_spot best_of_node(const struct sched *sched, node_id node, uint32_t wish, time_ns *rested_at)
{
    return wish < MIG_PROFILE_COUNT ? best_instance(sched, node, (enum mig_profile_id)wish, rested_at)
                                    : best_whole(sched, node, wish - MIG_PROFILE_COUNT + 1, rested_at);
}

static struct offer offer_of(const struct sched *sched, node_id node, uint32_t wish)
{
    const struct node_cell *cell = &sched->ledger->nodes[node];
    struct offer offer = no_offer;
    if (cell->tasks_free == 0)
        return no_offer;
    offer.score = best_of_node(sched, node, wish, &offer.rested_at).score;
    if (offer.score == NO_SCORE && offer.rested_at == TIME_NEVER)
        return no_offer;
    offer.cpu_milli = cell->cpu_free;
    offer.memory_mib = cell->memory_free;
    offer.models = UINT64_C(1) << cluster_node_type(sched->cluster, node)->model;
    return offer;
}

static uint8_t free_of(const struct ledger *ledger, node_id node, uint32_t wish)
{
    uint32_t count = 0;
    if (wish >= MIG_PROFILE_COUNT || !ledger->index->is_listed[node])
        return 0;
    for (uint32_t mask = ledger_layout_mask(ledger, node); mask != 0; mask &= mask - 1)
        count +=
            bits_count16(ledger_mig_starts(ledger, node, (uint32_t)__builtin_ctz(mask), (enum mig_profile_id)wish));
    return (uint8_t)count;
}

/* ---- A tree follows the ledger ---- */

static struct offer offer_of_both(const struct offer *a, const struct offer *b)
{
    return (struct offer){.score = a->score > b->score ? a->score : b->score,
                          .rested_at = a->rested_at < b->rested_at ? a->rested_at : b->rested_at,
                          .models = a->models | b->models,
                          .cpu_milli = a->cpu_milli > b->cpu_milli ? a->cpu_milli : b->cpu_milli,
                          .memory_mib = a->memory_mib > b->memory_mib ? a->memory_mib : b->memory_mib};
}

static bool is_same(const struct offer *a, const struct offer *b)
{
    return a->score == b->score && a->rested_at == b->rested_at && a->models == b->models &&
           a->cpu_milli == b->cpu_milli && a->memory_mib == b->memory_mib;
}

/* Compute the offer of the node again.  True: it has changed. */
static bool update_offer(const struct sched *sched, struct tree *tree, node_id node, uint32_t wish)
{
    struct offer *offer = &tree->offers[sched->repartitions->places->width + node];
    const struct offer now = offer_of(sched, node, wish);
    const uint8_t free = free_of(sched->ledger, node, wish);
    const bool is_other = !is_same(offer, &now);
    tree->free_count += (uint32_t)free - tree->free[node];
    tree->free[node] = free;
    tree->versions[node] = sched->ledger->node_version[node];
    *offer = now;
    return is_other;
}

static void refresh(const struct sched *sched, struct tree *tree, node_id node, uint32_t wish)
{
    if (!update_offer(sched, tree, node, wish))
        return;
    for (uint32_t at = (sched->repartitions->places->width + node) / 2; at > 0; at /= 2) {
        const struct offer both = offer_of_both(&tree->offers[2 * at], &tree->offers[2 * at + 1]);
        if (is_same(&both, &tree->offers[at]))
            return;
        tree->offers[at] = both;
    }
}

/* Compute the whole tree again: many nodes have changed, or it is not known which. */
static void refresh_all(const struct sched *sched, struct tree *tree, uint32_t wish)
{
    for (node_id n = 0; n < sched->cluster->node_count; n++)
        update_offer(sched, tree, n, wish);
    for (uint32_t at = sched->repartitions->places->width; --at > 0;)
        tree->offers[at] = offer_of_both(&tree->offers[2 * at], &tree->offers[2 * at + 1]);
}

static void init_tree(const struct sched *sched, struct tree *tree, uint32_t wish)
{
    const uint32_t width = sched->repartitions->places->width;
    const uint32_t nodes = sched->cluster->node_count;
    tree->offers = mem_zalloc((size_t)2 * width, sizeof *tree->offers);
    tree->versions = mem_zalloc(nodes, sizeof *tree->versions);
    tree->free = mem_zalloc(nodes, sizeof *tree->free);
    for (uint32_t at = 0; at < 2 * width; at++)
        tree->offers[at] = no_offer;
    refresh_all(sched, tree, wish);
}

static node_id first_rested(const struct repartition_places *places, const struct tree *tree)
{
    uint32_t at = 1;
    while (at < places->width)
        at = 2 * at + (tree->offers[2 * at].rested_at != tree->offers[at].rested_at);
    return at - places->width;
}

/* The tree of the wish, brought up to date with the ledger. */
static struct tree *tree_of(struct sched *sched, uint32_t wish)
{
    struct repartition_book *book = sched->repartitions;
    const struct ledger *ledger = sched->ledger;
    const uint32_t nodes = sched->cluster->node_count;
    if (book->places == NULL) {
        book->places = mem_zalloc(1, sizeof *book->places);
        for (book->places->width = 1; book->places->width < nodes;)
            book->places->width *= 2;
    }
    struct tree *tree = &book->places->trees[wish];
    if (tree->offers == NULL)
        init_tree(sched, tree, wish);
    else if (ledger->change_count - tree->seen > nodes) /* the ledger keeps only the last changes */
        refresh_all(sched, tree, wish);
    else
        for (uint64_t c = tree->seen; c < ledger->change_count; c++) {
            const node_id node = ledger->changes[c & ledger->change_mask];
            if (tree->versions[node] != ledger->node_version[node])
                refresh(sched, tree, node, wish);
        }
    tree->seen = ledger->change_count;
    while (tree->offers[1].rested_at <= sched->now)
        refresh(sched, tree, first_rested(book->places, tree), wish);
    return tree;
}

/* ---- Searches ---- */

static bool has_host_room(const struct offer *offer, const struct request *request)
{
    return offer->models != 0 && offer->cpu_milli >= request->cpu_milli && offer->memory_mib >= request->memory_mib &&
           (request->gpu_models == 0 || (request->gpu_models & offer->models) != 0);
}

struct cut_search {
    const struct cluster *cluster;
    const struct repartition_places *places;
    const struct tree *tree;
    const struct request *request;
    uint32_t best; /* index of the best leaf so far; 0: none yet */
    time_ns rested_at;
};

/* Do labels and taints allow the request on the leaf's node? */
static bool is_taken(const struct cut_search *search, uint32_t at)
{
    return request_takes_nodes(search->request, search->cluster,
                               search->cluster->nodes[at - search->places->width].type);
}

/* May a leaf under `at` be better than the best so far: a higher score, or an equal one on a lower node? */
static bool may_be_better(const struct cut_search *search, uint32_t at)
{
    const struct offer *offers = search->tree->offers;
    if (search->best == 0 || offers[at].score != offers[search->best].score)
        return search->best == 0 || offers[at].score > offers[search->best].score;
    while (at < search->places->width)
        at *= 2;
    return at < search->best;
}

/* Find the best leaf under `at`.  The half with the better score comes first, so the other is seldom searched. */
static void seek_best(struct cut_search *search, uint32_t at)
{
    const struct offer *offers = search->tree->offers, *here = &offers[at];
    if (here->score == NO_SCORE || !has_host_room(here, search->request) || !may_be_better(search, at))
        return;
    if (at >= search->places->width) {
        if (is_taken(search, at))
            search->best = at;
        return;
    }
    const uint32_t first = 2 * at + (offers[2 * at + 1].score > offers[2 * at].score);
    seek_best(search, first);
    seek_best(search, first ^ 1);
}

static void seek_rest(struct cut_search *search, uint32_t at)
{
    const struct offer *here = &search->tree->offers[at];
    if (here->rested_at >= search->rested_at || !has_host_room(here, search->request))
        return;
    if (at >= search->places->width) {
        if (is_taken(search, at))
            search->rested_at = here->rested_at;
        return;
    }
    seek_rest(search, 2 * at);
    seek_rest(search, 2 * at + 1);
}

uint32_t repartition_places_instances(struct sched *sched, const struct request *request)
{
    const struct cluster *cluster = sched->cluster;
    const struct tree *tree = tree_of(sched, request->mig - 1u);
    uint32_t count = 0;
    if (request->nodes == NULL && !cluster->has_taints)
        return tree->free_count;
    for (node_id n = 0; n < cluster->node_count; n++)
        if (request_takes_nodes(request, cluster, cluster->nodes[n].type))
            count += tree->free[n];
    return count;
}

bool repartition_places_best(struct sched *sched, const struct request *request, struct repartition_spot *spot)
{
    if (request->mig == 0 && (request->gpus == 0 || request->gpus > NODE_GPUS_MAX))
        return false;
    const uint32_t wish = request->mig != 0 ? request->mig - 1u : MIG_PROFILE_COUNT + request->gpus - 1u;
    const struct tree *tree = tree_of(sched, wish);
    struct cut_search search = {.cluster = sched->cluster,
                                .places = sched->repartitions->places,
                                .tree = tree,
                                .request = request,
                                .rested_at = sched->repartitions->rested_at};
    seek_best(&search, 1);
    seek_rest(&search, 1);
    sched->repartitions->rested_at = search.rested_at;
    if (search.best == 0)
        return false;
    time_ns ignored = TIME_NEVER;
    *spot = best_of_node(sched, search.best - search.places->width, wish, &ignored);
    return true;
}

/* ---- Upkeep ---- */

static const char *check_tree(const struct sched *sched, const struct tree *tree, uint32_t wish)
{
    const uint32_t width = sched->repartitions->places->width;
    uint32_t free = 0;
    for (node_id n = 0; n < sched->cluster->node_count; n++) {
        const struct offer *kept = &tree->offers[width + n], now = offer_of(sched, n, wish);
        free += tree->free[n];
        if (tree->versions[n] != sched->ledger->node_version[n] || kept->rested_at <= sched->now)
            continue; /* the next search computes it again */
        if (!is_same(kept, &now) || tree->free[n] != free_of(sched->ledger, n, wish))
            return "a node offers other places to cut than is kept";
    }
    for (uint32_t at = 1; at < width; at++) {
        const struct offer both = offer_of_both(&tree->offers[2 * at], &tree->offers[2 * at + 1]);
        if (!is_same(&both, &tree->offers[at]))
            return "places to cut are not summed up";
    }
    return free == tree->free_count ? NULL : "free instances are miscounted";
}

const char *repartition_places_check(const struct sched *sched)
{
    const struct repartition_places *places = sched->repartitions->places;
    const char *broken = NULL;
    for (uint32_t wish = 0; places != NULL && wish < WISHES && broken == NULL; wish++)
        if (places->trees[wish].offers != NULL)
            broken = check_tree(sched, &places->trees[wish], wish);
    return broken;
}

void repartition_places_free(struct repartition_places *places)
{
    for (uint32_t wish = 0; places != NULL && wish < WISHES; wish++) {
        mem_free(places->trees[wish].offers);
        mem_free(places->trees[wish].versions);
        mem_free(places->trees[wish].free);
    }
    mem_free(places);
}
