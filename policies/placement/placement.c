/* policies/placement/placement.c -- places members one after another, each on its best spot. */
#include "policies/placement/placement.h"

#include <assert.h>

#include "policies/jobs/fragmentation.h"
#include "policies/ledger/ledger_tags.h"
#include "policies/placement/by_node.h"
#include "policies/placement/domains.h"
#include "policies/placement/gpu_choice.h"
#include "policies/placement/placement_config.h"
#include "policies/placement/placements.h"
#include "policies/placement/prefer_warm.h"
#include "policies/placement/ways.h"

enum { LOOKS_MAX = 64 }; /* more cost about as much as to keep scores up to date */

void piece_list_release(struct piece_list *list)
{
    mem_free(list->pieces);
    mem_free(list->here);
    if (list->by_node != NULL)
        by_node_release(list->by_node);
    mem_free(list->by_node);
    arena_release(&list->scratch);
    *list = (struct piece_list){0};
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

/* ---- marks ---- */

struct placing_mark placing_mark(struct placing *placing)
{
    return (struct placing_mark){ledger_mark(placing->ledger), placing->out->count};
}

static void forget_from(struct placing *placing, uint32_t first)
{
    for (uint32_t i = first; placing->here != NULL && i < placing->out->count; i++)
        placing->here[placing->out->pieces[i].node] -= placing->out->pieces[i].member_count;
}

void placing_rollback(struct placing *placing, const struct placing_mark *mark)
{
    ledger_rollback(placing->ledger, mark->ledger);
    forget_from(placing, mark->piece_count);
    placing->out->count = mark->piece_count;
    placing->joined_full = 0;
}

void placing_commit(struct placing *placing, const struct placing_mark *mark)
{
    ledger_commit(placing->ledger, mark->ledger);
}

/* ---- all members ---- */

/* False only if the free whole GPUs cannot hold all members of the group. */
static bool may_fit(const struct ledger *ledger, const struct job_group *group)
{
    if (group->request.gpus == 0 || group->count == 0)
        return true;
    uint64_t room = 0;
    for (uint32_t t = 0; t < ledger->cluster->type_count; t++) {
        if (!request_takes_nodes(&group->request, ledger->cluster, t))
            continue;
        for (uint32_t n = group->request.gpus; n <= ledger->cluster->types[t].gpu_count; n++) {
            room += (uint64_t)ledger->index->types[t].whole[n].member_count * (n / group->request.gpus);
            if (room >= group->count)
                return true;
        }
    }
    return false;
}

bool placement_may_fit(const struct ledger *ledger, const struct request_class *request_class)
{
    for (uint32_t g = 0; g < request_class->group_count; g++)
        if (!may_fit(ledger, &request_class->groups[g]))
            return false;
    return true;
}

static bool place_in_order(struct placing *placing, const struct region *region)
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

static bool place_all(struct placing *placing)
{
    struct region everywhere = region_everywhere(placing->ledger);
    bool is_alone = placing->asked->request_class->member_count == 1 && placing->asked->held.count == 0;
    enum one_node one_node = is_alone ? ONE_NODE_NO : placing->asked->policy->one_node;
    bool is_confined = placing->topology.required != 0 || placing->topology.preferred != 0 ||
                       domains_are_asked(placing->asked->request_class);
    if (is_confined || one_node != ONE_NODE_NO)
        arena_reset(&placing->out->scratch);
    if (one_node != ONE_NODE_NO && domains_place_on_one_node(placing))
        return true;
    if (one_node == ONE_NODE_REQUIRED)
        return false;
    return is_confined ? domains_place(placing, &everywhere) : place_in_order(placing, &everywhere);
}

static void count_held(struct placing *placing)
{
    struct piece_list *out = placing->out;
    MEM_GROW(out->here, out->here_capacity, placing->ledger->cluster->node_count);
    placing->here = out->here;
    const struct held_pieces *held = &placing->asked->held;
    uint32_t first = 0;
    if (out->here_list != 0 && out->here_list == placing->asked->held_list && out->here_count <= held->count)
        first = out->here_count;
    else if (out->here_list != 0)
        memset(out->here, 0, placing->ledger->cluster->node_count * sizeof *out->here);
    for (uint32_t i = first; i < placing->asked->held.count; i++)
        placing->here[placing->asked->held.pieces[i].node] += placing->asked->held.pieces[i].member_count;
}

/* The count of a job with many pieces stays for its next allocation step. */
static void uncount_held(struct placing *placing)
{
    const struct held_pieces *held = &placing->asked->held;
    const bool stays = placing->asked->held_list != 0 && held->count > placing->ledger->cluster->node_count;
    forget_from(placing, 0);
    placing->out->here_list = stays ? placing->asked->held_list : 0;
    placing->out->here_count = held->count;
    for (uint32_t i = 0; i < held->count && !stays; i++)
        placing->here[placing->asked->held.pieces[i].node] -= placing->asked->held.pieces[i].member_count;
    placing->here = NULL;
}

static bool place_once(struct ledger *ledger, const struct placement_request *asked, struct piece_list *out)
{
    struct placing placing = {.asked = asked,
                              .ledger = ledger,
                              .out = out,
                              .topology = asked->request_class->topology,
                              .domains = ledger->placement != NULL ? ledger->placement->topology.domains : 0};
    out->count = 0;
    if (asked->policy->looks_at_nodes)
        count_held(&placing);
    bool is_placed = ways_matter(asked) ? ways_place(&placing, place_all) : place_all(&placing);
    if (placing.here != NULL)
        uncount_held(&placing);
    return is_placed;
}

/* What the rules of tags say of each node; ledger_tags_shut() makes a mask of it. */
static struct tag_look look_at_tags(struct ledger *ledger, const struct placement_request *asked)
{
    const struct passing_pieces passing = asked->passing;
    const uint32_t count = asked->held.count + passing.leaving;
    struct space *spaces = mem_alloc(count * sizeof *spaces);
    for (uint32_t p = 0; p < count; p++)
        spaces[p] = request_class_space(asked->request_class, &asked->held.pieces[p], asked->owner);
    const struct tag_look look = ledger_tags_look(
        ledger, asked->request_class->tags,
        (struct own_spaces){spaces, asked->held.count - passing.claimed, passing.claimed + passing.leaving});
    mem_free(spaces);
    return look;
}

/* Place all members where they all meet the most preferred rules possible.  Not inlined, since few jobs have rules. */
static __attribute__((noinline)) bool place_by_rules(struct ledger *ledger, const struct placement_request *asked,
                                                     struct piece_list *out)
{
    const struct tag_look look = look_at_tags(ledger, asked);
    struct allowed_space allowed = {.gpus = asked->allowed != NULL ? asked->allowed->gpus : NULL};
    struct placement_request within = *asked;
    within.allowed = &allowed;
    bool is_placed = false;
    for (uint32_t least = look.preferred_max + 1; least-- > 0 && !is_placed;) {
        if (look.count_of[least] == 0)
            continue; /* no more nodes than before */
        size_t mark = ledger_mark(ledger);
        allowed.shut = ledger_tags_shut(ledger, least);
        is_placed = place_once(ledger, &within, out);
        if (is_placed)
            ledger_commit(ledger, mark);
        else
            ledger_rollback(ledger, mark);
    }
    return is_placed;
}

static bool place(struct ledger *ledger, const struct placement_request *asked, struct piece_list *out)
{
    return ledger_tags_bind(ledger, asked->request_class->tags) ? place_by_rules(ledger, asked, out)
                                                                : place_once(ledger, asked, out);
}

/* If members differ, one may take the only place where another fits.  The choice depends on the typical jobs, which do
 * not change when the cluster empties, so the job could wait for ever.  If it does not fit, best_fit places it. */
static __attribute__((noinline)) bool
place_in_spite_of_typical(struct ledger *ledger, const struct placement_request *asked, struct piece_list *out)
{
    const size_t mark = ledger_mark(ledger);
    if (place(ledger, asked, out)) {
        ledger_commit(ledger, mark);
        return true;
    }
    ledger_rollback(ledger, mark);
    struct placement_request plain = *asked;
    plain.policy = &placement_best_fit;
    return place(ledger, &plain, out);
}

static bool place_as_known(struct ledger *ledger, const struct placement_request *asked, struct piece_list *out)
{
    const bool knows_typical = asked->policy->uses_typical && ledger->typical != NULL && ledger->typical->count > 0;
    return knows_typical && asked->request_class->group_count > 1 ? place_in_spite_of_typical(ledger, asked, out)
                                                                  : place(ledger, asked, out);
}

/* A member on a warm node may take the only place where another fits, so the job is tried once more without. */
static __attribute__((noinline)) bool
place_in_spite_of_warm(struct ledger *ledger, const struct placement_request *asked, struct piece_list *out)
{
    const size_t mark = ledger_mark(ledger);
    if (place_as_known(ledger, asked, out)) {
        ledger_commit(ledger, mark);
        return true;
    }
    ledger_rollback(ledger, mark);
    struct placement_request plain = *asked;
    plain.ignores_warm = true;
    return place_as_known(ledger, &plain, out);
}

bool placement_place(struct ledger *ledger, const struct placement_request *asked, struct piece_list *out)
{
    const struct request_class *request_class = asked->request_class;
    out->count = 0;
    if (request_class->member_count > 1 && !placement_may_fit(ledger, request_class))
        return false;
    return ledger->warm != NULL && request_class->member_count > 1 ? place_in_spite_of_warm(ledger, asked, out)
                                                                   : place_as_known(ledger, asked, out);
}
