/* Members in slices and in islands, whole GPUs and MIG instances, against brute force on small random clusters: one
 * group is placed exactly if there is room for whole slices, what is placed obeys, torn slices are mended, and what is
 * said never to fit never does. */
#include "tests/support/test.h"

#include "policies/placement/placement_config.h"
#include "tests/support/lawful.h"
#include "tests/support/random_placement.h"

enum { SEEDS = 400, ROUNDS = 15, LEVELS = 4 };

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The GPUs of the node that are free and whole, by the island that the pool tells. */
static uint32_t members_by_gpus(const struct ledger *ledger, const struct request *request, node_id node)
{
    const struct cluster *cluster = ledger->cluster;
    const struct node_type *type = cluster_node_type(cluster, node);
    const struct node_pool *pool = &cluster->pools[cluster->nodes[node].pool];
    uint32_t free[UINT8_MAX + 1] = {0}, members = 0;
    for (uint32_t g = 0; g < type->gpu_count; g++)
        if (!(type->layout_mask >> g & 1) && ledger->gpus[cluster->nodes[node].first_gpu + g].free == GPU_MILLI)
            free[request->one_island ? pool->gpu_island[g] : 0]++;
    for (uint32_t i = 0; i <= UINT8_MAX; i++)
        members += free[i] / request->gpus;
    return members;
}

/* Free instances of the profile, by the layouts that the cluster file gives. */
static uint32_t members_by_instances(const struct ledger *ledger, uint8_t mig, node_id node)
{
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    const gpu_id first = ledger->cluster->nodes[node].first_gpu;
    uint32_t members = 0;
    for (uint32_t g = 0; g < type->gpu_count; g++)
        for (uint32_t s = 0; s < MIG_SLICES && (type->layout_mask >> g & 1); s++)
            members += type->layouts[g].profile[s] == mig && (ledger->migs[first + g].free >> s & 1);
    return members;
}

static uint32_t node_room(const struct ledger *ledger, const struct request *request, node_id node)
{
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    const struct node_cell *cell = &ledger->nodes[node];
    if (ledger->node_state[node] != NODE_UP || !random_placement_takes_nodes(request, type) ||
        (request->gpu_models != 0 && !(request->gpu_models >> type->model & 1)))
        return 0;
    const uint32_t pieces =
        request->mig != 0 ? members_by_instances(ledger, request->mig, node) : members_by_gpus(ledger, request, node);
    uint32_t room = lesser(pieces, cell->tasks_free);
    if (request->cpu_milli > 0)
        room = lesser(room, cell->cpu_free / request->cpu_milli);
    return request->memory_mib > 0 ? lesser(room, cell->memory_free / request->memory_mib) : room;
}

/* Members that the domain (of level `around`; 0: the cluster) holds, in whole slices. */
static uint32_t room_in(const struct ledger *ledger, const struct job_group *group, uint8_t around, uint32_t domain)
{
    const struct cluster *cluster = ledger->cluster;
    uint32_t sum = 0, rooms[RANDOM_PLACEMENT_NODES_MAX] = {0};
    for (node_id n = 0; n < cluster->node_count; n++) {
        if (around != 0 && cluster->levels[around - 1].domain[n] != domain)
            continue;
        uint32_t room = node_room(ledger, &group->request, n);
        if (group->slice_members == 0) {
            sum += room;
            continue;
        }
        uint32_t slice = cluster->levels[group->slice_level - 1].domain[n];
        if (slice != DOMAIN_NONE)
            rooms[slice] += room;
    }
    for (uint32_t d = 0; d < RANDOM_PLACEMENT_NODES_MAX; d++)
        sum += group->slice_members == 0 ? 0 : rooms[d] / group->slice_members * group->slice_members;
    return sum;
}

static bool any_holds(const struct ledger *ledger, const struct job_group *group, uint8_t required)
{
    if (required == 0)
        return room_in(ledger, group, 0, 0) >= group->count;
    for (uint32_t d = 0; d < ledger->cluster->levels[required - 1].domain_count; d++)
        if (room_in(ledger, group, required, d) >= group->count)
            return true;
    return false;
}

/* In every domain a multiple of a slice, in every island whole members: of what is placed and what was held. */
static void check_closeness(const struct cluster *cluster, const struct job_group *group,
                            const struct piece_list *pieces, const struct piece_list *held)
{
    uint32_t by_domain[RANDOM_PLACEMENT_NODES_MAX] = {0};
    for (uint32_t i = 0; i < pieces->count + held->count; i++) {
        const struct piece *piece = i < pieces->count ? &pieces->pieces[i] : &held->pieces[i - pieces->count];
        const struct node_pool *pool = &cluster->pools[cluster->nodes[piece->node].pool];
        uint32_t by_island[UINT8_MAX + 1] = {0};
        for (uint32_t g = 0; g < NODE_GPUS_MAX; g++)
            by_island[pool->gpu_island[g]] += piece->gpu_mask >> g & 1;
        for (uint32_t k = 0; k <= UINT8_MAX && group->request.one_island; k++)
            assert_int_equal(by_island[k] % group->request.gpus, 0);
        if (group->slice_members == 0)
            continue;
        uint32_t domain = cluster->levels[group->slice_level - 1].domain[piece->node];
        assert_int_not_equal(domain, DOMAIN_NONE);
        by_domain[domain] += piece->member_count;
    }
    for (uint32_t d = 0; d < RANDOM_PLACEMENT_NODES_MAX && group->slice_members != 0; d++)
        assert_int_equal(by_domain[d] % group->slice_members, 0);
}

static void draw_ask(struct random_stream *stream, struct random_placement_ask *ask)
{
    static const uint8_t small[] = {MIG_1G + 1, MIG_1G + 1, MIG_2G + 1, MIG_3G + 1};
    struct request request = {.gpus = (uint16_t)(1 + random_below(stream, 4)),
                              .cpu_milli = 1 + 500 * random_below(stream, 3),
                              .one_island = random_placement_once_in(stream, 2)};
    if (random_placement_once_in(stream, 4))
        request = (struct request){.mig = small[random_below(stream, 4)], .cpu_milli = request.cpu_milli};
    uint32_t slice = 1 + random_below(stream, 3);
    random_placement_group(ask, request, slice * (1 + random_below(stream, 4)));
    if (!random_placement_once_in(stream, 4)) {
        ask->groups[0].slice_members = slice;
        ask->groups[0].slice_level = (uint8_t)(1 + random_below(stream, LEVELS));
    }
    if (random_placement_once_in(stream, 2))
        ask->request_class.topology.required = (uint8_t)random_below(stream, LEVELS + 1);
    if (random_placement_once_in(stream, 3))
        ask->request_class.topology.preferred = (uint8_t)random_below(stream, LEVELS + 1);
}

static const struct placement_policy *draw_policy(struct random_stream *stream)
{
    uint32_t policy = random_below(stream, RANDOM_PLACEMENT_POLICIES);
    bool wants_nodes = policy >= RANDOM_PLACEMENT_PACK && policy < RANDOM_PLACEMENT_PACK + 4;
    return random_placement_policies[wants_nodes ? 0 : policy];
}

TEST(slices_are_placed_if_there_is_room)
{
    const struct piece_list none = {0};
    uint32_t placed = 0, refused = 0, split = 0, instances = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "slices", 0);
        struct cluster *cluster = random_placement_cluster(&stream);
        struct ledger *ledger = ledger_new(cluster);
        struct piece_list pieces = {0};
        random_placement_load(&stream, ledger);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            struct random_placement_ask ask;
            draw_ask(&stream, &ask);
            const struct placement_policy *policy = draw_policy(&stream);
            const bool may = any_holds(ledger, &ask.groups[0], ask.request_class.topology.required);
            struct placement_config config = placement_config_default();
            config.topology.domains = (uint8_t)random_below(&stream, DOMAINS_NESTED + 1);
            ledger->placement = &config;
            uint64_t hash = ledger_hash(ledger);
            size_t mark = ledger_mark(ledger);
            bool is_placed = placement_place(
                ledger, &(struct placement_request){.policy = policy, .request_class = &ask.request_class, .owner = 1},
                &pieces);
            if (is_placed != may)
                fail_msg("seed %d round %u, %s: %s", (int)seed, round, policy->name,
                         is_placed ? "placed" : "not placed");
            assert_lawful(ledger_check(ledger));
            if (is_placed) {
                random_placement_check(&pieces, &ask);
                check_closeness(cluster, &ask.groups[0], &pieces, &none);
            }
            ledger_rollback(ledger, mark);
            ledger->placement = NULL;
            assert_true(ledger_hash(ledger) == hash);
            placed += is_placed && ask.groups[0].slice_members > 1;
            refused += !is_placed && ask.groups[0].slice_members > 1;
            instances += is_placed && ask.groups[0].slice_members > 1 && ask.groups[0].request.mig != 0;
            split += is_placed && ask.groups[0].request.one_island && cluster->has_split_nodes;
        }
        piece_list_release(&pieces);
        ledger_free(ledger);
        cluster_free(cluster);
    }
    assert_true(placed > SEEDS && refused > SEEDS && split > SEEDS / 4 && instances > SEEDS / 10);
}

/* Of a gang that was placed some members are lost: those that come back make its slices whole, where there is room. */
TEST(torn_slices_are_mended)
{
    uint32_t mended = 0, torn = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "torn", 0);
        struct cluster *cluster = random_placement_cluster(&stream);
        struct ledger *ledger = ledger_new(cluster);
        struct piece_list pieces = {0}, held = {0};
        for (uint32_t round = 0; round < ROUNDS; round++) {
            struct random_placement_ask ask;
            draw_ask(&stream, &ask);
            ask.request_class.topology = (struct topology_ask){0};
            held.count = 0;
            size_t mark = ledger_mark(ledger);
            bool is_placed =
                placement_place(ledger,
                                &(struct placement_request){
                                    .policy = &placement_best_fit, .request_class = &ask.request_class, .owner = 1},
                                &pieces);
            for (uint32_t i = 0; is_placed && i < pieces.count; i++) {
                const struct piece piece = pieces.pieces[i];
                if (random_placement_once_in(&stream, 2)) {
                    struct space space = request_class_space(&ask.request_class, &piece, 1);
                    ledger_give(ledger, &space);
                    continue;
                }
                MEM_GROW(held.pieces, held.capacity, held.count + 1u);
                held.pieces[held.count++] = piece;
                ask.groups[0].count -= piece.member_count;
            }
            if (is_placed && ask.groups[0].count > 0) {
                /* What it held is free again: there is room. */
                assert_true(
                    placement_place(ledger,
                                    &(struct placement_request){.policy = &placement_best_fit,
                                                                .request_class = &ask.request_class,
                                                                .owner = 1,
                                                                .held = (struct held_pieces){held.pieces, held.count}},
                                    &pieces));
                check_closeness(cluster, &ask.groups[0], &pieces, &held);
                mended++;
                torn += ask.groups[0].slice_members > 1 && ask.groups[0].count % ask.groups[0].slice_members != 0;
            }
            ledger_rollback(ledger, mark);
        }
        mem_free(held.pieces);
        piece_list_release(&pieces);
        ledger_free(ledger);
        cluster_free(cluster);
    }
    assert_true(mended > SEEDS && torn > SEEDS / 10);
}

TEST(slices_that_never_fit)
{
    uint32_t never = 0, ever = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "never", 1);
        struct cluster *cluster = random_placement_cluster(&stream);
        struct ledger *ledger = ledger_new(cluster);
        struct request_class_table table;
        request_class_table_init(&table);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            struct random_placement_ask ask;
            struct job job = job_default();
            draw_ask(&stream, &ask);
            job.first = ask.groups[0];
            job.topology = ask.request_class.topology;
            assert_null(job_complaint(&job));
            uint32_t id = request_class_of(&table, cluster, &job);
            bool may = any_holds(ledger, &ask.groups[0], ask.request_class.topology.required);
            assert_true(table.at[id].never_fits == !may);
            assert_int_equal(request_class_of(&table, cluster, &job), id);
            job.first.request.one_island ^= true; /* another request, whether it can be or not */
            assert_int_not_equal(request_class_of(&table, cluster, &job), id);
            never += !may;
            ever += may;
        }
        request_class_table_release(&table);
        ledger_free(ledger);
        cluster_free(cluster);
    }
    assert_true(never > SEEDS && ever > SEEDS);
}
