/* The places of the virtual clusters' cells.  That each cell has a place shows that all of them fit beside each other.
 *
 * A cell with a guaranteed job in it stays.  The others are placed again by buddy allocation, the largest first: in the
 * smallest unbroken cell with room, and there where the fewest GPUs are busy with jobs that would have to leave.  GPUs
 * of nodes that take no new work are not used; a cell without a place is `loose` until a node comes back.  Nodes are in
 * sets by the cost of their best place, so that one search finds the place of a cell.  Cost: O(GPUs), and O(nodes) a
 * level. */
#include <string.h>

#include "base/hash.h"
#include "policies/quota/cells_index.h"

/* ---- cutting quotas ---- */

/* Take up to `count` cells of the level from the free ones.  If none is left, the smallest larger one is split.
 * Returns how many were taken. */
static uint32_t take_cells(uint32_t free[CELL_LEVELS], uint32_t level, uint32_t count)
{
    uint32_t taken = 0;
    while (taken < count) {
        uint32_t l = level;
        while (l < CELL_LEVELS && free[l] == 0)
            l++;
        if (l == CELL_LEVELS)
            break;
        for (free[l]--; l > level; l--)
            free[l - 1]++; /* the buddy of the half that is split further */
        taken++;
    }
    return taken;
}

/* Cut a quota into cells, the largest first: whole nodes, then buddies.  On equal nodes of 2^k GPUs this never fails
 * while the quotas do not exceed the cluster, since splitting leaves at most one free cell of each level below the
 * node. */
static void cut_quota(struct cells_state *state, uint32_t free[CELL_LEVELS], int64_t gpus)
{
    memset(state->owned, 0, sizeof state->owned);
    for (uint32_t l = CELL_LEVELS; l-- > 0;) {
        int64_t wanted = gpus >> l;
        state->owned[l] = take_cells(free, l, wanted > UINT32_MAX ? UINT32_MAX : (uint32_t)wanted);
        gpus -= (int64_t)state->owned[l] << l;
    }
    state->is_cut_short = gpus > 0;
}

static uint64_t hash_quotas(const struct queue_tree *tree)
{
    uint64_t hash = tree->count;
    for (queue_id q = 1; q < tree->count; q++)
        hash = hash_mix(hash, (uint64_t)queue_tree_spec(tree, q)->deserved[RESOURCE_GPU]);
    return hash;
}

bool cells_cut(struct queue_tree *tree)
{
    uint64_t *cut = &cells_of(tree, QUEUE_ROOT)->cut, hash = hash_quotas(tree);
    if (*cut == hash)
        return false;
    *cut = hash;
    cells_settle(tree);
    tree->ledger->are_cells_placed = false;
    if (tree->ledger->cells != NULL)
        tree->ledger->cells->firm_changes++;
    const struct cluster *cluster = tree->ledger->cluster;
    uint32_t free[CELL_LEVELS] = {0};
    for (uint32_t t = 0; t < cluster->type_count; t++) {
        const struct node_type *type = &cluster->types[t];
        uint16_t all = (uint16_t)((1u << type->gpu_count) - 1) & (uint16_t)~type->layout_mask;
        for (uint32_t l = 0; l < CELL_LEVELS && !type->is_tainted; l++)
            free[l] += type->node_count * (uint32_t)__builtin_popcount(cells_maximal(all, l));
    }
    for (uint32_t i = 0; i < tree->count; i++) {
        queue_id q = tree->by_age[i];
        int64_t deserved = queue_tree_spec(tree, q)->deserved[RESOURCE_GPU];
        struct cells_state *state = cells_of(tree, q);
        bool is_cluster = cells_is_cluster(tree, q);
        cut_quota(state, free, is_cluster && deserved > 0 ? deserved / GPU_MILLI : 0);
        state->is_cut_short |= is_cluster && deserved == QUOTA_UNLIMITED;
    }
    return true;
}

/* ---- places ---- */

static struct gpu_keep *keeps_of(const struct queue_tree *tree, node_id node)
{
    return &tree->ledger->keeps[tree->ledger->cluster->nodes[node].first_gpu];
}

static void set_keeper(struct queue_tree *tree, node_id node, uint32_t first, uint32_t level, queue_id keeper)
{
    struct gpu_keep *keeps = keeps_of(tree, node);
    cells_index_keep(tree->ledger, node, (uint16_t)(((1u << (1u << level)) - 1) << first), keeper);
    for (uint32_t i = first; i < first + (1u << level); i++) {
        keeps[i].keeper = keeper;
        keeps[i].level = (uint8_t)level;
    }
}

/* Remove all cells from the node; no guaranteed job is in them. */
static void lift_all(struct ledger *ledger, node_id node)
{
    const uint16_t kept = ledger->cells->kept[node];
    struct gpu_keep *keeps = &ledger->keeps[ledger->cluster->nodes[node].first_gpu];
    for (uint16_t gpus = kept; gpus != 0; gpus &= (uint16_t)(gpus - 1))
        keeps[__builtin_ctz(gpus)].keeper = QUEUE_NONE;
    cells_index_keep(ledger, node, kept, QUEUE_NONE);
}

/* Remove the cells of the node that are not in use, or that the queue's quota no longer has. */
static void lift_unused(struct queue_tree *tree, node_id node)
{
    struct gpu_keep *keeps = keeps_of(tree, node);
    uint32_t count = cluster_node_gpus(tree->ledger->cluster, node);
    if ((tree->ledger->cells->kept[node] & tree->ledger->non_preemptible_mask[node]) == 0) {
        lift_all(tree->ledger, node);
        return;
    }
    for (uint32_t i = 0; i < count;) {
        uint32_t level = keeps[i].level;
        if (keeps[i].keeper == QUEUE_NONE) {
            i++;
            continue;
        }
        uint32_t *loose = cells_of(tree, keeps[i].keeper)->loose;
        if (cells_is_in_use(keeps, i, level) && loose[level] > 0)
            loose[level]--;
        else
            set_keeper(tree, node, i, level, QUEUE_NONE);
        i += 1u << level;
    }
}

/* May a cell of the queue be placed here: inside the node, without another cell, and without a guaranteed job of
 * another queue? */
static bool may_stand(const struct gpu_keep *keeps, uint32_t count, uint32_t first, uint32_t level, queue_id queue)
{
    if (first + (1u << level) > count)
        return false;
    for (uint32_t i = first; i < first + (1u << level); i++)
        if (keeps[i].keeper != QUEUE_NONE || (keeps[i].non_preemptible_holders > 0 && keeps[i].holder != queue))
            return false;
    return true;
}

/* A guaranteed job may be in no cell of its queue, because it was adopted or the quotas changed.  Then the smallest
 * loose cell of its queue that can be placed around it is placed there. */
static void cover_strays(struct queue_tree *tree, node_id node)
{
    struct gpu_keep *keeps = keeps_of(tree, node);
    uint32_t count = cluster_node_gpus(tree->ledger->cluster, node);
    for (uint32_t i = 0; i < count; i++) {
        if (keeps[i].non_preemptible_holders == 0 || keeps[i].keeper != QUEUE_NONE)
            continue;
        uint32_t *loose = cells_of(tree, keeps[i].holder)->loose;
        for (uint32_t l = 0; l < CELL_LEVELS; l++) {
            uint32_t first = i & ~((1u << l) - 1);
            if (loose[l] == 0 || !may_stand(keeps, count, first, l, keeps[i].holder))
                continue;
            set_keeper(tree, node, first, l, keeps[i].holder);
            loose[l]--;
            break;
        }
    }
}

/* The GPUs of the node that may be in a cell: new jobs may go there, and they are not partitioned. */
static uint16_t open_gpus(const struct ledger *ledger, node_id node)
{
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    const uint16_t all = (uint16_t)((1u << type->gpu_count) - 1);
    const bool is_open = ledger->index->is_listed[node] && !type->is_tainted;
    return is_open ? all & (uint16_t)~ledger_layout_mask(ledger, node) : 0;
}

/* The GPUs of the node that are in no cell and hold no guaranteed job. */
static uint16_t unkept(const struct ledger *ledger, node_id node)
{
    const struct cell_index *index = ledger->cells;
    return index->due.open[node] & (uint16_t) ~(index->kept[node] | ledger->non_preemptible_mask[node]);
}

/* The best place for a cell of the level among the GPUs in `mask`; those in `free` are free.  Cost CELL_COSTS: none. */
static struct cell_place place_on(uint16_t mask, uint16_t free, uint32_t level)
{
    struct cell_place best = {CELL_COSTS, 0};
    for (uint32_t l = level; l < CELL_LEVELS && (l - level) * CELL_COST_LEVEL < best.cost; l++)
        for (uint16_t cells = cells_maximal(mask, l); cells != 0; cells &= (uint16_t)(cells - 1)) {
            uint32_t cell = (uint32_t)__builtin_ctz(cells);
            for (uint32_t first = cell; first < cell + (1u << l); first += 1u << level) {
                uint32_t all = ((1u << (1u << level)) - 1) << first;
                uint32_t busy = bits_count16((uint16_t)(all & (uint32_t)~free));
                uint32_t cost = (l - level) * CELL_COST_LEVEL + busy;
                if (cost < best.cost)
                    best = (struct cell_place){(uint8_t)cost, (uint8_t)first};
            }
        }
    return best;
}

static void list_place(struct ledger *ledger, node_id node, uint32_t level)
{
    struct cell_index *index = ledger->cells;
    const uint16_t mask = unkept(ledger, node);
    index->places[node] = mask == 0 ? (struct cell_place){CELL_COSTS, 0} : place_on(mask, index->due.free[node], level);
    if (index->places[node].cost < CELL_COSTS)
        bits_add(&index->by_cost[index->places[node].cost], node);
}

static void unlist_place(struct ledger *ledger, node_id node)
{
    struct cell_index *index = ledger->cells;
    if (index->places[node].cost < CELL_COSTS)
        bits_remove(&index->by_cost[index->places[node].cost], node);
}

/* The node with the cheapest place; among equals the first from `from` on, else the first of all.  NODE_NONE: none. */
static node_id cheapest_from(const struct cell_index *index, node_id from)
{
    uint32_t cost = 0;
    while (cost < CELL_COSTS && index->by_cost[cost].member_count == 0)
        cost++;
    if (cost == CELL_COSTS)
        return NODE_NONE;
    const node_id node = bits_next(&index->by_cost[cost], from);
    return node != BITS_NONE ? node : bits_next(&index->by_cost[cost], 0);
}

/* Place the queue's loose cells of the level.  The search begins at `from`: the node of the last place if that had cost
 * 0, since none of cost 0 is left before it; else the first node.  False: there is no place left. */
static bool place_cells(struct queue_tree *tree, queue_id queue, uint32_t level, node_id *from)
{
    struct ledger *ledger = tree->ledger;
    uint32_t *loose = &cells_of(tree, queue)->loose[level];
    for (; *loose > 0; (*loose)--) {
        const node_id node = cheapest_from(ledger->cells, *from);
        if (node == NODE_NONE)
            return false;
        const struct cell_place place = ledger->cells->places[node];
        *from = place.cost == 0 ? node : 0;
        unlist_place(ledger, node);
        set_keeper(tree, node, place.first, level, queue);
        list_place(ledger, node, level);
    }
    return true;
}

/* Place the loose cells of a level, those of `first` before all others. */
static void place_level(struct queue_tree *tree, uint32_t level, queue_id first)
{
    const uint32_t node_count = tree->ledger->cluster->node_count;
    uint32_t loose = 0;
    node_id from = 0;
    for (queue_id q = 0; q < tree->count; q++)
        loose |= cells_of(tree, q)->loose[level];
    if (loose == 0)
        return;
    for (node_id n = 0; n < node_count; n++)
        list_place(tree->ledger, n, level);
    bool has_room = place_cells(tree, first, level, &from);
    for (uint32_t i = 0; i < tree->count && has_room; i++)
        has_room = place_cells(tree, tree->by_age[i], level, &from);
    for (node_id n = 0; n < node_count; n++)
        unlist_place(tree->ledger, n);
}

static void place_all(struct queue_tree *tree, queue_id first)
{
    const uint32_t node_count = tree->ledger->cluster->node_count;
    const struct cell_index *index = tree->ledger->cells;
    for (queue_id q = 0; q < tree->count; q++)
        memcpy(cells_of(tree, q)->loose, cells_of(tree, q)->owned, sizeof cells_of(tree, q)->loose);
    for (node_id n = 0; n < node_count; n++)
        if (index->kept[n] != 0)
            lift_unused(tree, n);
    for (node_id n = 0; n < node_count; n++)
        if ((tree->ledger->non_preemptible_mask[n] & ~index->kept[n]) != 0)
            cover_strays(tree, n);
    for (uint32_t l = CELL_LEVELS; l-- > 0;)
        place_level(tree, l, first);
}

/* ---- when places are computed ---- */

static void see_ledger(const struct ledger *ledger, struct cells_due *due)
{
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        due->open[n] = open_gpus(ledger, n);
        due->free[n] = ledger->index->free_mask[n];
    }
    due->has_seen = true;
    due->change_count = ledger->change_count;
}

void cells_assign_later(struct queue_tree *tree, queue_id first)
{
    struct cells_due *due = &cells_index(tree->ledger)->due;
    if (!due->has_seen || due->change_count != tree->ledger->change_count)
        see_ledger(tree->ledger, due);
    due->first = first;
    due->is_due = true;
}

void cells_settle(struct queue_tree *tree)
{
    struct cell_index *index = tree->ledger->cells;
    if (index == NULL || !index->due.is_due)
        return;
    index->due.is_due = false;
    place_all(tree, index->due.first);
    tree->ledger->are_cells_placed = true;
}

void cells_firm_changes(struct queue_tree *tree)
{
    cells_settle(tree);
    if (tree->ledger->cells != NULL)
        tree->ledger->cells->firm_changes++;
}

void cells_assign(struct queue_tree *tree, queue_id first)
{
    cells_cut(tree);
    cells_assign_later(tree, first);
    cells_settle(tree);
}
