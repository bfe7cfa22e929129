/* weighted_binpack against its formula, worked by hand and computed anew from what was put on the nodes. */
#include "tests/support/test.h"

#include "policies/placement/placement_config.h"
#include "tests/support/random_placement.h"

enum { NODES = 6, GPUS = 8, CPU_MILLI = 128000, MEMORY_MIB = 1 << 20, ROUNDS = 3000, JOBS = 40 };

struct used {
    int64_t gpu_milli, cpu_milli, memory_mib;
};

struct world {
    struct cluster *cluster;
    struct ledger *ledger;
    struct placement_config config;
    struct used used[NODES];
    struct piece_list pieces;
};

static void open_world(struct world *w, struct placement_weights weights)
{
    *w = (struct world){.config = {.weights = weights}};
    w->cluster = cluster_uniform_new(NODES, GPUS);
    w->cluster->types[0].cpu_milli = CPU_MILLI;
    w->cluster->types[0].memory_mib = MEMORY_MIB;
    w->ledger = ledger_new(w->cluster);
    w->ledger->placement = &w->config;
}

static void close_world(struct world *w)
{
    piece_list_release(&w->pieces);
    ledger_free(w->ledger);
    cluster_free(w->cluster);
}

static void put(struct world *w, node_id node, uint16_t gpu_mask, uint32_t gpus, uint32_t cpu_milli,
                uint32_t memory_mib)
{
    struct space space = {.node = node,
                          .gpu_mask = gpu_mask,
                          .gpu_milli = GPU_MILLI,
                          .cpu_milli = cpu_milli,
                          .memory_mib = memory_mib,
                          .owner = 1,
                          .member_count = 1};
    ledger_take(w->ledger, &space);
    w->used[node].gpu_milli += (int64_t)gpus * GPU_MILLI;
    w->used[node].cpu_milli += cpu_milli;
    w->used[node].memory_mib += memory_mib;
}

/* In millionths: the part of each resource in use, weighed. */
static int64_t formula(const struct world *w, const struct request *request, node_id node)
{
    const struct placement_weights *weights = &w->config.weights;
    const struct used *used = &w->used[node];
    int64_t sum = 0, weight = 0;
    if (request->gpus != 0) {
        sum += 1000000 * weights->gpu * (used->gpu_milli + request->gpus * 1000) / 8000;
        weight += weights->gpu;
    }
    if (request->cpu_milli != 0) {
        sum += 1000000 * weights->cpu * (used->cpu_milli + request->cpu_milli) / CPU_MILLI;
        weight += weights->cpu;
    }
    if (request->memory_mib != 0) {
        sum += 1000000 * weights->memory * (used->memory_mib + request->memory_mib) / MEMORY_MIB;
        weight += weights->memory;
    }
    return weight == 0 ? 0 : sum / weight;
}

static int64_t score_of(struct world *w, const struct request *request, node_id node)
{
    const struct spot spot = {
        .node = node, .gpus = request->gpus, .gpu_left = GPU_MILLI, .ledger = w->ledger, .request = request};
    return placement_weighted_binpack.score(&spot);
}

/* A score in millionths, and below it how little is left of the GPU. */
static int64_t full(int64_t millionths)
{
    return millionths * 2048 - GPU_MILLI;
}

TEST(the_score_is_as_worked_by_hand)
{
    struct world w;
    open_world(&w, (struct placement_weights){.gpu = 5, .cpu = 1, .memory = 1});
    put(&w, 0, 0x0f, 4, 32000, 0);
    const struct request two = {.gpus = 2, .cpu_milli = 16000};
    const struct request host = {.cpu_milli = 32000, .memory_mib = 1 << 18};
    const struct request nothing = {0};
    assert_int_equal(score_of(&w, &two, 0), full(687500));  /* (5 * 6/8 + 48/128) / 6 */
    assert_int_equal(score_of(&w, &two, 1), full(229166));  /* (5 * 2/8 + 16/128) / 6, cut */
    assert_int_equal(score_of(&w, &host, 0), full(375000)); /* (64/128 + 1/4) / 2 */
    assert_int_equal(score_of(&w, &nothing, 0), full(0));
    w.config.weights = (struct placement_weights){.cpu = 7};
    assert_int_equal(score_of(&w, &two, 0), full(375000)); /* 48/128 */
    w.ledger->placement = NULL;                            /* 5, 1, 1 */
    assert_int_equal(score_of(&w, &two, 0), full(687500));
    close_world(&w);
}

static node_id fullest(const struct world *w, const struct request *request)
{
    node_id best = NODE_NONE;
    for (node_id n = 0; n < NODES; n++) {
        const struct used *used = &w->used[n];
        if (used->gpu_milli + request->gpus * 1000 <= 8000 && used->cpu_milli + request->cpu_milli <= CPU_MILLI &&
            used->memory_mib + request->memory_mib <= MEMORY_MIB &&
            (best == NODE_NONE || formula(w, request, n) > formula(w, request, best)))
            best = n;
    }
    return best;
}

static struct request random_ask(struct random_stream *stream)
{
    return (struct request){.gpus = (uint16_t)random_below(stream, 4),
                            .cpu_milli = 500 * random_below(stream, 80),
                            .memory_mib = 999 * random_below(stream, 300)};
}

TEST(the_fullest_node_is_taken)
{
    uint32_t placed = 0;
    for (uint64_t seed = 1; seed <= ROUNDS / JOBS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "weights", 0);
        struct world w;
        open_world(&w, (struct placement_weights){.gpu = (int32_t)random_below(&stream, 1001),
                                                  .cpu = (int32_t)random_below(&stream, 1001),
                                                  .memory = (int32_t)random_below(&stream, 3)});
        for (uint32_t job = 0; job < JOBS; job++) {
            struct random_placement_ask ask;
            const struct request request = random_ask(&stream);
            random_placement_group(&ask, request, 1);
            ask.request_class.member_count = 1;
            const node_id expected = fullest(&w, &request);
            const size_t mark = ledger_mark(w.ledger);
            const bool is_placed = placement_place(w.ledger,
                                                   &(struct placement_request){.policy = &placement_weighted_binpack,
                                                                               .request_class = &ask.request_class,
                                                                               .owner = 1},
                                                   &w.pieces);
            const node_id node = is_placed ? w.pieces.pieces[0].node : NODE_NONE;
            const uint16_t mask = is_placed ? w.pieces.pieces[0].gpu_mask : 0;
            ledger_rollback(w.ledger, mark);
            assert_int_equal(node, expected);
            if (is_placed)
                put(&w, node, mask, request.gpus, request.cpu_milli, request.memory_mib);
            placed += is_placed;
        }
        close_world(&w);
    }
    assert_in_range(placed, ROUNDS / 2, ROUNDS - ROUNDS / 20);
}
