/* policies/placement/placing.c -- places members one after another, each on its best spot. */
#include "policies/placement/placing.h"

#include "policies/placement/by_node.h"
#include "policies/placement/gpu_choice.h"
#include "policies/placement/placement_config.h"
#include "policies/placement/placements.h"
#include "policies/placement/prefer_warm.h"

enum { LOOKS_MAX = 64 }; /* more cost about as much as to keep scores up to date */

static enum gpu_choice choice_of(const struct ledger *ledger)
{
    return ledger->placement != NULL ? ledger->placement->gpu_choice : GPU_CHOICE_LOWEST;
}

static bool is_near(const struct ledger *ledger)
{
    return choice_of(ledger) == GPU_CHOICE_NEAR;
}

uint16_t pieces_rails(const struct piece *pieces, uint32_t count, node_id node)
{
    uint16_t rails = 0;
    if (count == 0 || pieces[0].node == node)
        return 0;
    for (uint32_t i = 0; i < count && pieces[i].node == pieces[0].node; i++)
        rails |= pieces[i].gpu_mask;
    return rails;
}

static const struct node_pool *pool_of(const struct ledger *ledger, node_id node)
{
    return &ledger->cluster->pools[ledger->cluster->nodes[node].pool];
}

/* The GPUs that the job has on its first node; 0 if that is `node`. */
static uint16_t rails_of(const struct placing *placing, node_id node)
{
    return placing->asked->held.count > 0 ? pieces_rails(placing->asked->held.pieces, placing->asked->held.count, node)
                                          : pieces_rails(placing->out->pieces, placing->out->count, node);
}

static uint16_t choose_gpus(const struct placing *placing, const struct search *search)
{
    const node_id node = search->best.node;
    const uint32_t gpus = search->request->gpus;
    uint16_t free_mask = ledger_usable(search->ledger, node, search->spot.allowed);
    if (search_needs_island(search->ledger, search->request))
        free_mask = gpu_choice_island(cluster_node_type(search->ledger->cluster, node)->island_gpus, free_mask, gpus);
    if (search->policy->choose_gpus != NULL)
        return search->policy->choose_gpus(free_mask, gpus);
    if (choice_of(search->ledger) == GPU_CHOICE_RAILS)
        return gpu_choice_rails(free_mask, rails_of(placing, node), gpus);
    return is_near(search->ledger) ? gpu_choice_near(pool_of(search->ledger, node), free_mask, gpus)
                                   : gpu_choice_lowest(free_mask, gpus);
}

/* The policy's score for a share of this GPU of the best node. */
static int64_t score_share(const struct search *search, uint32_t gpu_index)
{
    const struct ledger *ledger = search->ledger;
    const node_id node = search->best.node;
    const bool is_free = ledger->index->free_mask[node] >> gpu_index & 1;
    struct spot spot = search->spot;
    spot.node = node;
    spot.type = ledger->cluster->nodes[node].type;
    spot.node_free = is_free ? ledger->index->free_count[node] : -1;
    spot.gpu_left = ledger->gpus[ledger->cluster->nodes[node].first_gpu + gpu_index].free;
    spot.milli = (int32_t)search->best.milli;
    spot.members_here = search->here != NULL ? search->here[node] : 0;
    return search->policy->score(&spot);
}

/* Among the GPUs of the best node with the best score, choose as `near` does. */
static uint16_t choose_share(const struct search *search)
{
    const struct ledger *ledger = search->ledger;
    const node_id node = search->best.node;
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    const gpu_id first = ledger->cluster->nodes[node].first_gpu;
    const uint16_t allowed = allowed_gpus(search->spot.allowed, node);
    uint16_t equal = 0;
    for (uint32_t g = 0; g < type->gpu_count; g++)
        if (!ledger_has_layout(ledger, node, g) && (allowed >> g & 1) &&
            ledger->gpus[first + g].free >= search->best.milli &&
            ledger_gpu_admits(ledger, first + g, search->request) && score_share(search, g) == search->best.score)
            equal |= (uint16_t)(1u << g);
    return gpu_choice_share(pool_of(ledger, node), equal, ledger->index->free_mask[node],
                            (uint16_t)((1u << type->gpu_count) - 1));
}

/* Can the member be added to the last piece?  When a piece is split, each member gets the lowest GPUs left
 * (policies/booking/booking.c).  That gives each member its own GPUs only if they are above those of the members before
 * it. */
static bool is_one_piece(const struct placing *placing, const struct piece *last, const struct piece *piece)
{
    return last->node == piece->node && last->group == piece->group && last->gpu_milli == GPU_MILLI &&
           last->member_count < UINT16_MAX &&
           (choice_of(placing->ledger) == GPU_CHOICE_LOWEST || (piece->gpu_mask & -piece->gpu_mask) > last->gpu_mask);
}

static void append(struct placing *placing, const struct piece *piece, bool is_instance)
{
    struct piece_list *out = placing->out;
    if (piece->gpu_milli == GPU_MILLI && !is_instance && out->count > placing->first_growing) {
        struct piece *last = &out->pieces[out->count - 1];
        if (is_one_piece(placing, last, piece)) {
            last->gpu_mask |= piece->gpu_mask;
            last->member_count++;
            return;
        }
    }
    if (out->count == out->capacity)
        MEM_GROW(out->pieces, out->capacity, out->count + 1);
    out->pieces[out->count++] = *piece;
}

static struct piece piece_at(const struct placing *placing, const struct search *search, uint16_t group)
{
    const struct candidate *best = &search->best;
    struct piece piece = {.node = best->node, .group = (uint8_t)group, .member_count = 1, .gpu_milli = GPU_MILLI};
    if (search->request->gpus != 0)
        piece.gpu_mask = choose_gpus(placing, search);
    else if (best->gpu_index >= 0 && search->request->mig == 0 && is_near(search->ledger) &&
             search->policy->draw == NULL)
        piece.gpu_mask = choose_share(search);
    else if (best->gpu_index >= 0)
        piece.gpu_mask = (uint16_t)(1u << best->gpu_index);
    if (best->milli != 0)
        piece.gpu_milli = (uint16_t)best->milli;
    if (search->request->share != SHARE_PLAIN && piece.gpu_milli < GPU_MILLI)
        piece.share = (unsigned)search->request->share & PIECE_PART_MASK;
    if (search->request->mig != 0)
        piece.mig_start = PIECE_PART_MASK & (unsigned)__builtin_ctz(
                                                ledger_mig_starts(search->ledger, best->node, (uint32_t)best->gpu_index,
                                                                  (enum mig_profile_id)(search->request->mig - 1)));
    return piece;
}

/* Place a member on the best spot. */
static void take_best(struct placing *placing, const struct search *search, uint16_t group)
{
    struct piece piece = piece_at(placing, search, group);
    struct space space = request_class_space(placing->asked->request_class, &piece, placing->asked->owner);
    ledger_take(placing->ledger, &space);
    append(placing, &piece, search->request->mig != 0);
    if (placing->here != NULL)
        placing->here[piece.node]++;
}

static const struct piece *joined_piece(const struct placing *placing, uint32_t index)
{
    return index < placing->asked->held.count ? &placing->asked->held.pieces[index]
                                              : &placing->out->pieces[index - placing->asked->held.count];
}

/* Find the best of the nodes where members of the job are.  The first ones without room are skipped the next time: a
 * node gets no room before a rollback. */
static bool find_joined(struct placing *placing, struct search *search, uint16_t group)
{
    const uint32_t count = placing->asked->held.count + placing->out->count;
    bool all_full = true;
    node_id before = NODE_NONE;
    if (placing->joined_group != group)
        placing->joined_full = 0;
    placing->joined_group = group;
    search->best.node = NODE_NONE;
    for (uint32_t i = placing->joined_full; i < count; i++) {
        const node_id node = joined_piece(placing, i)->node;
        if (node == before)
            continue;
        before = node;
        if (request_class_room(search->request, placing->ledger, node, search->spot.allowed) > 0) {
            all_full = false;
            search_node(search, node);
        } else if (all_full) {
            placing->joined_full = i + 1;
        }
    }
    return search->best.node != NODE_NONE;
}

static struct search search_for(const struct placing *placing, uint16_t group, const struct region *region)
{
    return search_of(placing->asked, placing->ledger, &placing->asked->request_class->groups[group].request, region,
                     placing->here);
}

struct by_node *placing_memory(struct placing *placing)
{
    struct by_node **memory = &placing->out->by_node;
    if (*memory == NULL)
        *memory = mem_zalloc(1, sizeof **memory);
    return *memory;
}

/* Can scores of nodes be kept for this search, and does the policy use them? */
static bool is_by_node(const struct placing *placing, const struct search *search)
{
    const struct placement_policy *policy = placing->asked->policy;
    return (policy->is_local || policy->joins_members || policy->draw != NULL) && search->request->mig == 0 &&
           placing->asked->allowed == NULL && !search_needs_island(placing->ledger, search->request) &&
           !region_is_one_node(&search->region);
}

/* A policy with a bound is searched without kept scores first, since the bound usually leaves few nodes.  Scores are
 * kept from the first member for which it leaves more than LOOKS_MAX. */
static bool find_by_node(struct placing *placing, struct search *search, uint16_t group, uint32_t members_left)
{
    const struct by_node *memory = placing->out->by_node;
    search->spot.members_left = members_left;
    if (placing->asked->policy->joins_members && find_joined(placing, search, group))
        return true;
    if (placing->asked->policy->bound != NULL && (memory == NULL || !by_node_knows(placing_memory(placing), search))) {
        search->looks_left = LOOKS_MAX;
        bool is_found = search_best(search, members_left);
        if (search->looks_left > 0)
            return is_found;
    }
    return by_node_best(placing_memory(placing), search);
}

static inline bool find_best(struct placing *placing, struct search *search, uint16_t group, uint32_t members_left)
{
    const bool is_found = !search->is_plain && is_by_node(placing, search)
                              ? find_by_node(placing, search, group, members_left)
                              : search_best(search, members_left);
    if (__builtin_expect(placing->ledger->warm != NULL, false) && is_found && !placing->asked->ignores_warm)
        prefer_warm(placing->asked, search);
    return is_found;
}

/* A job of many members may take long. */
static inline bool is_stopped(const struct placing *placing, uint32_t members_left)
{
    return members_left % PLACEMENT_LOOK == 0 && placing->asked->stop != NULL && *placing->asked->stop != 0;
}

bool placing_member(struct placing *placing, uint16_t group, uint32_t members_left, const struct region *region)
{
    struct search search = search_for(placing, group, region);
    if (is_stopped(placing, members_left) || !find_best(placing, &search, group, members_left))
        return false;
    take_best(placing, &search, group);
    return true;
}

bool placing_in_order(struct placing *placing, const struct region *region)
{
    const struct request_class *request_class = placing->asked->request_class;
    for (uint32_t i = 0; i < request_class->group_count; i++) {
        uint16_t g = request_class->order[i];
        struct search search = search_for(placing, g, region);
        for (uint32_t left = request_class->groups[g].count; left > 0; left--) {
            if (is_stopped(placing, left) || !find_best(placing, &search, g, left))
                return false;
            take_best(placing, &search, g);
        }
    }
    return true;
}

/* ---- marks ---- */

struct placing_mark placing_mark(struct placing *placing)
{
    return (struct placing_mark){ledger_mark(placing->ledger), placing->out->count};
}

void placing_forget(struct placing *placing, uint32_t first)
{
    for (uint32_t i = first; placing->here != NULL && i < placing->out->count; i++)
        placing->here[placing->out->pieces[i].node] -= placing->out->pieces[i].member_count;
}

void placing_rollback(struct placing *placing, const struct placing_mark *mark)
{
    ledger_rollback(placing->ledger, mark->ledger);
    placing_forget(placing, mark->piece_count);
    placing->out->count = mark->piece_count;
    placing->joined_full = 0;
}

void placing_commit(struct placing *placing, const struct placing_mark *mark)
{
    ledger_commit(placing->ledger, mark->ledger);
}
