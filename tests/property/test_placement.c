/* Where a member goes, against brute force on small random clusters: the best spot is that of looking everywhere, and
 * members that are alike take the fewest nodes under pack and the most under spread. */
#include "tests/support/test.h"

#include "policies/jobs/fragmentation.h"
#include "policies/placement/by_node.h"
#include "tests/support/lawful.h"
#include "tests/support/random_placement.h"

enum { SEEDS = 400, ROUNDS = 60 };

static struct region random_region(struct random_stream *stream, const struct ledger *ledger)
{
    struct region region = region_everywhere(ledger);
    if (random_placement_once_in(stream, 2))
        return region;
    const struct cluster_level *level = &ledger->cluster->levels[random_below(stream, 4)];
    region.level = level;
    region.id = random_below(stream, level->domain_count);
    region.first = level->first[region.id];
    region.last = level->last[region.id];
    return region;
}

/* What jobs ask: a share, whole GPUs, much CPU, nothing. */
static struct typical_job typical_list[] = {{{.gpu_milli = 500, .cpu_milli = 1000}, 0.4, 1, 0},
                                            {{.gpus = 1, .cpu_milli = 4000}, 0.3, 1, 0},
                                            {{.gpus = 2}, 0.2, 1, 0},
                                            {{.cpu_milli = 2000}, 0.1, 1, 0}};
static const struct typical_jobs typical = {typical_list, 4, 4};

/* One member more, where it was found: what is remembered of that node is void. */
static void take_found(struct ledger *ledger, const struct search *search)
{
    const struct request *request = search->request;
    struct space space = {.node = search->best.node,
                          .gpu_milli = GPU_MILLI,
                          .cpu_milli = request->cpu_milli,
                          .memory_mib = request->memory_mib,
                          .member_count = 1};
    uint16_t free = ledger_usable(ledger, space.node, NULL);
    for (uint32_t g = 0; g < request->gpus; g++, free &= (uint16_t)(free - 1))
        space.gpu_mask |= (uint16_t)(free & -free);
    if (search->best.gpu_index >= 0) {
        space.gpu_mask = (uint16_t)(1u << search->best.gpu_index);
        space.gpu_milli = (uint16_t)search->best.milli;
    }
    ledger_take(ledger, &space);
}

/* What evictions may give back of each node: all that is free, at least. */
static void random_room(struct random_stream *stream, const struct ledger *ledger, uint8_t room[])
{
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        const uint32_t free = ledger->index->free_count[n];
        room[n] = (uint8_t)(free + random_below(stream, cluster_node_gpus(ledger->cluster, n) - free + 1));
    }
}

static bool is_found_as(const struct search *search, bool is_found, const struct candidate *expected)
{
    return is_found == (expected->node != NODE_NONE) &&
           (!is_found || (search->best.node == expected->node && search->best.gpu_index == expected->gpu_index &&
                          search->best.score == expected->score));
}

static bool is_remembered(const struct placement_policy *policy)
{
    return policy->is_local || policy->joins_members || policy->draw != NULL;
}

/* The best spot of a job none of whose members is on any node. */
static struct candidate none_is_here(const struct search *search, uint32_t left)
{
    static const uint32_t here[RANDOM_PLACEMENT_NODES_MAX + 1];
    struct search alone = *search;
    alone.here = here;
    return random_placement_best(&alone, left);
}

TEST(the_best_spot_is_that_of_looking_everywhere)
{
    uint32_t found = 0, remembered = 0;
    struct by_node *memory = mem_zalloc(1, sizeof *memory);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "spots", 0);
        struct cluster *cluster = random_placement_cluster(&stream);
        struct ledger *ledger = ledger_new(cluster);
        uint32_t here[RANDOM_PLACEMENT_NODES_MAX + 1];
        uint8_t room[RANDOM_PLACEMENT_NODES_MAX + 1];
        ledger->typical = &typical;
        random_placement_load(&stream, ledger);
        random_room(&stream, ledger, room);
        if (random_placement_once_in(&stream, 2))
            ledger->room = room;
        for (uint32_t round = 0; round < ROUNDS; round++) {
            for (node_id n = 0; n < cluster->node_count; n++)
                here[n] = random_below(&stream, 3);
            struct request request = random_placement_request(&stream);
            struct region region = random_region(&stream, ledger);
            uint32_t left = 1 + random_below(&stream, 9);
            struct search search = search_of(
                &(struct placement_request){
                    .policy = random_placement_policies[random_below(&stream, RANDOM_PLACEMENT_POLICIES)],
                    .owner = random_below(&stream, 50)},
                ledger, &request, &region, here);
            struct candidate expected = random_placement_best(&search, left);
            bool is_found = search_best(&search, left), is_right = is_found_as(&search, is_found, &expected);
            if (is_remembered(search.policy) && request.mig == 0) {
                if (search.policy->joins_members)
                    expected = none_is_here(&search, left);
                is_right &= is_found_as(&search, by_node_best(memory, &search), &expected);
                remembered += is_found;
                if (is_found && random_placement_once_in(&stream, 3))
                    take_found(ledger, &search);
            }
            if (!is_right)
                fail_msg("seed %d round %u, %s: node %d GPU %d, not node %d GPU %d", (int)seed, round,
                         search.policy->name, (int)search.best.node, search.best.gpu_index, (int)expected.node,
                         expected.gpu_index);
            found += is_found;
        }
        by_node_release(memory);
        ledger_free(ledger);
        cluster_free(cluster);
    }
    mem_free(memory);
    assert_true(remembered > SEEDS * ROUNDS / 20);
    assert_in_range(found, SEEDS * ROUNDS / 4, SEEDS * ROUNDS * 3 / 4);
}

/* ---- with a memory, over time ---- */

enum { LONG_SEEDS = 20, LONG_ROUNDS = 400, LONG_NODES = 150, LONG_JOBS = 700 };

/* A world large enough that bounds leave many nodes to look at, and pieces that come, go, and are taken back. */
struct long_world {
    struct cluster *cluster;
    struct ledger *ledger;
    uint32_t here[LONG_NODES];
    uint8_t room[LONG_NODES];
    struct space jobs[LONG_JOBS];
    bool is_leaving[LONG_JOBS];
    uint32_t count;
    struct piece_list pieces;
    struct random_stream stream;
};

static struct long_world *long_world_new(uint64_t seed, uint32_t entity)
{
    struct long_world *w = mem_zalloc(1, sizeof *w);
    random_stream_init(&w->stream, seed, "long", entity);
    w->cluster = cluster_uniform_new(LONG_NODES, 8);
    w->cluster->types[0].cpu_milli = 40000;
    w->cluster->types[0].memory_mib = 160000;
    w->ledger = ledger_new(w->cluster);
    w->ledger->typical = &typical;
    memset(w->room, 8, sizeof w->room);
    w->ledger->room = w->room;
    return w;
}

static void long_world_free(struct long_world *w)
{
    assert_lawful(ledger_check(w->ledger));
    piece_list_release(&w->pieces);
    ledger_free(w->ledger);
    cluster_free(w->cluster);
    mem_free(w);
}

static struct request long_request(struct random_stream *stream)
{
    static const struct request requests[] = {{.gpu_milli = 300, .cpu_milli = 3000, .memory_mib = 9000},
                                              {.gpus = 1, .cpu_milli = 5000, .memory_mib = 20000},
                                              {.gpus = 3, .cpu_milli = 14000, .memory_mib = 10000},
                                              {.gpus = 2},
                                              {.cpu_milli = 7000, .memory_mib = 30000}};
    return requests[random_below(stream, 5)];
}

/* Some job leaves, starts to, or has left. */
static void long_give_back(struct long_world *w)
{
    const uint32_t i = random_below(&w->stream, w->count);
    if (!w->is_leaving[i] && random_placement_once_in(&w->stream, 2)) {
        ledger_vacate(w->ledger, &w->jobs[i]);
        w->is_leaving[i] = true;
        return;
    }
    if (w->is_leaving[i])
        ledger_arrive(w->ledger, &w->jobs[i]);
    else
        ledger_give(w->ledger, &w->jobs[i]);
    w->jobs[i] = w->jobs[--w->count];
    w->is_leaving[i] = w->is_leaving[w->count];
}

/* Place one member; where looking at all nodes without a memory finds a place for it.  Empty: nowhere. */
static bool long_place(struct long_world *w, const struct placement_policy *policy, bool is_kept)
{
    struct random_placement_ask ask;
    random_placement_group(&ask, long_request(&w->stream), 1);
    ask.request_class.member_count = 1;
    struct region everywhere = region_everywhere(w->ledger);
    struct search search = search_of(&(struct placement_request){.policy = policy, .owner = 1}, w->ledger,
                                     &ask.groups[0].request, &everywhere, w->here);
    const bool has_room = search_best(&search, 1);
    const size_t mark = ledger_mark(w->ledger);
    const bool is_placed = placement_place(
        w->ledger, &(struct placement_request){.policy = policy, .request_class = &ask.request_class, .owner = 1},
        &w->pieces);
    assert_int_equal(is_placed, has_room);
    if (is_placed) {
        const struct piece *piece = &w->pieces.pieces[0];
        if (piece->node != search.best.node ||
            (search.best.gpu_index >= 0 && piece->gpu_mask != 1u << search.best.gpu_index))
            fail_msg("%s: node %u, not %u", policy->name, piece->node, search.best.node);
        w->jobs[w->count] = request_class_space(&ask.request_class, piece, 1);
    }
    if (!is_placed || !is_kept) {
        ledger_rollback(w->ledger, mark);
        return false;
    }
    ledger_commit(w->ledger, mark);
    w->is_leaving[w->count++] = false;
    return true;
}

static void long_round(struct long_world *w, const struct placement_policy *policy)
{
    const size_t mark = ledger_mark(w->ledger);
    if (random_placement_once_in(&w->stream, 4) && ledger_foresee(w->ledger))
        long_place(w, policy, false);
    ledger_rollback(w->ledger, mark);
    for (uint32_t i = random_below(&w->stream, 3); i > 0 && w->count > 0; i--)
        long_give_back(w);
    for (uint32_t i = random_below(&w->stream, 5); i > 0 && w->count < LONG_JOBS - 1; i--)
        long_place(w, policy, !random_placement_once_in(&w->stream, 4));
    if (random_placement_once_in(&w->stream, 10))
        ledger_set_node(w->ledger, random_below(&w->stream, LONG_NODES),
                        random_placement_once_in(&w->stream, 2) ? NODE_DOWN : NODE_UP);
}

TEST(what_is_remembered_changes_no_choice)
{
    for (uint64_t seed = 1; seed <= LONG_SEEDS; seed++)
        for (uint32_t p = 0; p < RANDOM_PLACEMENT_POLICIES; p++) {
            const struct placement_policy *policy = random_placement_policies[p];
            if (!is_remembered(policy))
                continue;
            struct long_world *w = long_world_new(seed, p);
            for (uint32_t round = 0; round < LONG_ROUNDS; round++)
                long_round(w, policy);
            assert_true(w->count > LONG_NODES);
            long_world_free(w);
        }
}

/* ---- gangs on nodes ---- */

enum { GANG_MAX = 12 };

/* need / free, the largest over GPU, CPU and memory, as a fraction. */
struct part {
    uint64_t need, free;
};

static bool is_larger(struct part a, struct part b)
{
    return (unsigned __int128)a.need * b.free > (unsigned __int128)b.need * a.free;
}

static struct part part_taken(const struct ledger *ledger, const struct job_group *group, node_id node)
{
    const struct request *request = &group->request;
    const struct gpu_cell *gpus = &ledger->gpus[ledger->cluster->nodes[node].first_gpu];
    struct part parts[3] = {{((uint64_t)request->gpus * GPU_MILLI + request->gpu_milli) * group->count, 0},
                            {(uint64_t)request->cpu_milli * group->count, ledger->nodes[node].cpu_free},
                            {(uint64_t)request->memory_mib * group->count, ledger->nodes[node].memory_free}};
    struct part largest = {0, 1};
    for (uint32_t g = 0; g < cluster_node_gpus(ledger->cluster, node); g++)
        parts[0].free += gpus[g].free;
    for (uint32_t a = 0; a < 3; a++)
        largest = is_larger(parts[a], largest) ? parts[a] : largest;
    return largest;
}

/* Of the nodes that hold all members the one that is then fullest; NODE_NONE: none does. */
static node_id fullest_for_all(const struct ledger *ledger, const struct job_group *group)
{
    struct part best_part = {0, 1};
    node_id best = NODE_NONE;
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        if (request_class_room(&group->request, ledger, n, NULL) < group->count)
            continue;
        const struct part part = part_taken(ledger, group, n);
        if (best != NODE_NONE && !is_larger(part, best_part))
            continue;
        best_part = part;
        best = n;
    }
    return best;
}

/* Where its members go if each looks at all nodes: on the fullest node that holds them all, else one after another. */
static bool gang_by_looking(struct long_world *w, const struct placement_policy *policy, const struct job_group *group,
                            node_id nodes[])
{
    struct region region = region_everywhere(w->ledger);
    const node_id only = group->count > 1 ? fullest_for_all(w->ledger, group) : NODE_NONE;
    if (only != NODE_NONE)
        region.first = region.last = only;
    else if (group->count > 1 && policy->one_node == ONE_NODE_REQUIRED)
        return false;
    const size_t mark = ledger_mark(w->ledger);
    uint32_t placed = 0;
    for (; placed < group->count; placed++) {
        struct search search = search_of(&(struct placement_request){.policy = policy, .owner = 1}, w->ledger,
                                         &group->request, &region, w->here);
        if (!search_best(&search, group->count - placed))
            break;
        nodes[placed] = search.best.node;
        w->here[search.best.node]++;
        take_found(w->ledger, &search);
    }
    for (uint32_t i = 0; i < placed; i++)
        w->here[nodes[i]]--;
    ledger_rollback(w->ledger, mark);
    return placed == group->count;
}

static bool is_on_nodes(const struct piece_list *pieces, const node_id nodes[])
{
    uint32_t member = 0;
    for (uint32_t i = 0; i < pieces->count; i++)
        for (uint32_t m = 0; m < pieces->pieces[i].member_count; m++)
            if (pieces->pieces[i].node != nodes[member++])
                return false;
    return true;
}

static uint32_t nodes_of(const struct piece_list *pieces)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < pieces->count; i++) {
        bool is_first = true;
        for (uint32_t k = 0; k < i; k++)
            is_first &= pieces->pieces[k].node != pieces->pieces[i].node;
        count += is_first;
    }
    return count;
}

/* How many nodes a gang is on; 0: it was not placed, or is of one member. */
static uint32_t gang_round(struct long_world *w, const struct placement_policy *policy)
{
    struct random_placement_ask ask;
    node_id nodes[GANG_MAX];
    random_placement_group(&ask, long_request(&w->stream), 1 + random_below(&w->stream, GANG_MAX));
    ask.request_class.member_count = ask.groups[0].count;
    const bool expected = gang_by_looking(w, policy, &ask.groups[0], nodes);
    const size_t mark = ledger_mark(w->ledger);
    const bool is_placed = placement_place(
        w->ledger, &(struct placement_request){.policy = policy, .request_class = &ask.request_class, .owner = 1},
        &w->pieces);
    assert_int_equal(is_placed, expected);
    if (!is_placed || w->count + w->pieces.count > LONG_JOBS) {
        ledger_rollback(w->ledger, mark);
        return 0;
    }
    if (!is_on_nodes(&w->pieces, nodes))
        fail_msg("%s: %u members of a gang are not where looking puts them", policy->name, ask.groups[0].count);
    ledger_commit(w->ledger, mark);
    for (uint32_t i = 0; i < w->pieces.count; i++) {
        w->is_leaving[w->count] = false;
        w->jobs[w->count++] = request_class_space(&ask.request_class, &w->pieces.pieces[i], 1);
    }
    return ask.groups[0].count == 1 ? 0 : nodes_of(&w->pieces);
}

TEST(gangs_are_packed_as_if_all_nodes_were_looked_at)
{
    uint32_t together = 0, apart = 0;
    for (uint64_t seed = 1; seed <= LONG_SEEDS; seed++)
        for (uint32_t p = 0; p < RANDOM_PLACEMENT_POLICIES; p++) {
            const struct placement_policy *policy = random_placement_policies[p];
            if (!policy->joins_members)
                continue;
            struct long_world *w = long_world_new(seed, p);
            for (uint32_t round = 0; round < LONG_ROUNDS; round++) {
                const uint32_t nodes = gang_round(w, policy);
                together += nodes == 1;
                apart += nodes > 1;
                while (w->count > LONG_JOBS / 2 || (w->count > 0 && random_below(&w->stream, 3) > 0))
                    long_give_back(w);
            }
            long_world_free(w);
        }
    assert_true(together > LONG_SEEDS * LONG_ROUNDS / 4 && apart > LONG_SEEDS * LONG_ROUNDS / 20);
}

/* ---- members on nodes ---- */

/* The fewest nodes that hold the members of one group; 0: none do. */
static uint32_t fewest_nodes(struct ledger *ledger, const struct job_group *group)
{
    uint64_t rooms[RANDOM_PLACEMENT_NODES_MAX + 1];
    uint32_t count = ledger->cluster->node_count, nodes = 0;
    uint32_t domain[RANDOM_PLACEMENT_NODES_MAX + 1];
    const struct cluster_level level = {.domain = domain};
    uint64_t left = group->count;
    for (node_id n = 0; n < count; n++) {
        for (node_id m = 0; m < count; m++)
            domain[m] = m != n;
        rooms[n] = random_placement_room(ledger, &group->request, &level, 0);
    }
    while (left > 0) {
        uint32_t best = 0;
        for (uint32_t n = 1; n < count; n++)
            best = rooms[n] > rooms[best] ? n : best;
        if (rooms[best] == 0)
            return 0;
        left -= rooms[best] < left ? rooms[best] : left;
        rooms[best] = 0;
        nodes++;
    }
    return nodes;
}

static uint32_t nodes_with_room(const struct ledger *ledger, const struct request *request)
{
    uint32_t count = 0;
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        struct region region = {.first = n, .last = n};
        struct search search = search_of(&(struct placement_request){.policy = &placement_first_fit, .owner = 0},
                                         ledger, request, &region, NULL);
        count += random_placement_best(&search, 1).node != NODE_NONE;
    }
    return count;
}

/* For members that are alike: as few nodes as can be, and as many as can be. */
TEST(pack_and_spread_are_exact_for_one_group)
{
    uint32_t together = 0, apart = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "pack", 0);
        struct cluster *cluster = random_placement_cluster(&stream);
        struct ledger *ledger = ledger_new(cluster);
        struct piece_list pieces = {0};
        random_placement_load(&stream, ledger);
        for (uint32_t round = 0; round < 10; round++) {
            struct random_placement_ask ask;
            random_placement_group(&ask, random_placement_request(&stream), 1 + random_below(&stream, 8));
            uint32_t fewest = fewest_nodes(ledger, &ask.groups[0]);
            uint32_t roomy = nodes_with_room(ledger, &ask.groups[0].request);
            uint32_t count = ask.groups[0].count;
            uint32_t most = fewest == 0 ? 0 : roomy < count ? roomy : count;
            const uint32_t expected[] = {fewest, most, fewest == 1, most == count ? count : 0};
            for (uint32_t p = 0; p < 4; p++) {
                size_t mark = ledger_mark(ledger);
                bool is_placed = placement_place(
                    ledger,
                    &(struct placement_request){.policy = random_placement_policies[RANDOM_PLACEMENT_PACK + p],
                                                .request_class = &ask.request_class,
                                                .owner = 1},
                    &pieces);
                ledger_rollback(ledger, mark);
                uint32_t nodes = is_placed ? nodes_of(&pieces) : 0;
                if (nodes != expected[p])
                    fail_msg("seed %d round %u, %s: on %u nodes, not %u", (int)seed, round,
                             random_placement_policies[RANDOM_PLACEMENT_PACK + p]->name, nodes, expected[p]);
            }
            together += fewest > 1;
            apart += most > fewest;
        }
        piece_list_release(&pieces);
        ledger_free(ledger);
        cluster_free(cluster);
    }
    assert_true(together > SEEDS / 10 && apart > SEEDS / 2);
}
