/* tests/unit/test_placement_random.c -- chance is fair, among what has room, and the same again. */
#include "tests/support/test.h"

#include "policies/placement/placement_config.h"
#include "tests/support/lawful.h"
#include "tests/support/random_placement.h"

struct world {
    struct cluster *cluster;
    struct ledger *ledger;
    struct piece_list pieces;
};

enum { DRAWS = 6000, DRAWN_NODES = 8, DRAWN_GPUS = 4 };

static struct world world_of(uint32_t nodes)
{
    struct world world = {.cluster = cluster_uniform_new(nodes, DRAWN_GPUS)};
    world.cluster->types[0].cpu_milli = 16000;
    world.ledger = ledger_new(world.cluster);
    return world;
}

static void release(struct world *world)
{
    assert_lawful(ledger_check(world->ledger));
    piece_list_release(&world->pieces);
    ledger_free(world->ledger);
    cluster_free(world->cluster);
}

/* Whole GPUs, or a share of each, are taken by somebody else. */
static void occupy(struct world *world, node_id node, uint16_t gpu_mask, uint16_t gpu_milli)
{
    struct space space = {.node = node, .gpu_mask = gpu_mask, .gpu_milli = gpu_milli, .member_count = 1};
    ledger_take(world->ledger, &space);
}

/* How often each node, and each GPU of it, was drawn for one job after another. */
struct drawn {
    uint32_t nodes[DRAWN_NODES], gpus[DRAWN_NODES][DRAWN_GPUS];
};

static struct piece draw_one(struct world *world, const struct request_class *request_class, uint32_t owner)
{
    size_t mark = ledger_mark(world->ledger);
    assert_true(placement_place(
        world->ledger,
        &(struct placement_request){.policy = &placement_random, .request_class = request_class, .owner = owner},
        &world->pieces));
    ledger_rollback(world->ledger, mark);
    return world->pieces.pieces[0];
}

/* The same job draws the same again. */
static struct drawn draw_many(struct world *world, const struct request_class *request_class)
{
    struct drawn drawn = {{0}, {{0}}};
    for (uint32_t owner = 1; owner <= DRAWS; owner++) {
        const struct piece piece = draw_one(world, request_class, owner);
        const struct piece again = draw_one(world, request_class, owner);
        assert_int_equal(piece.node, again.node);
        assert_int_equal(piece.gpu_mask, again.gpu_mask);
        drawn.nodes[piece.node]++;
        for (uint32_t g = 0; g < DRAWN_GPUS; g++)
            drawn.gpus[piece.node][g] += piece.gpu_mask >> g & 1;
    }
    return drawn;
}

/* Were those of the mask drawn equally often, and nothing else ever?  By Pearson's chi-square of at most 7 degrees of
 * freedom: above 24.3 once in a thousand times if chance is fair. */
static void check_is_fair(const uint32_t counts[], uint32_t length, uint32_t mask)
{
    double sum = 0, total = 0;
    const uint32_t kinds = (uint32_t)__builtin_popcount(mask);
    for (uint32_t i = 0; i < length; i++)
        total += counts[i];
    for (uint32_t i = 0; i < length; i++) {
        const double expected = total / kinds;
        if (mask >> i & 1)
            sum += (counts[i] - expected) * (counts[i] - expected) / expected;
        else
            assert_int_equal(counts[i], 0);
    }
    assert_true(total > 500);
    if (sum > 24.3)
        fail_msg("chi-square is %f", sum);
}

/* Whatever is free of them, all nodes with room are drawn alike, and all GPUs with room of the one that was; others
 * never. */
TEST(chance_is_fair)
{
    struct world world = world_of(8);
    const struct placement_config choices[] = {{.gpu_choice = GPU_CHOICE_LOWEST}, {.gpu_choice = GPU_CHOICE_NEAR}};
    struct random_placement_ask two, share;
    random_placement_group(&two, (struct request){.gpus = 2, .cpu_milli = 1000}, 1);
    random_placement_group(&share, (struct request){.gpu_milli = 300, .cpu_milli = 1000}, 1);
    struct space cpus = {.node = 4, .cpu_milli = 16000};
    occupy(&world, 0, 0x7, GPU_MILLI);
    occupy(&world, 1, 0xf, GPU_MILLI);
    occupy(&world, 2, 0x3, GPU_MILLI);
    occupy(&world, 3, 0x3, 600); /* GPUs 0 and 1 are alike */
    ledger_take(world.ledger, &cpus);
    occupy(&world, 5, 0x4, 800);
    occupy(&world, 6, 0x1, 100);
    ledger_set_node(world.ledger, 7, NODE_CORDONED);
    for (uint32_t c = 0; c < 2; c++) {
        world.ledger->placement = &choices[c];
        struct drawn drawn = draw_many(&world, &two.request_class);
        check_is_fair(drawn.nodes, DRAWN_NODES, 0x6c);
        drawn = draw_many(&world, &share.request_class);
        check_is_fair(drawn.nodes, DRAWN_NODES, 0x6d);
        check_is_fair(drawn.gpus[0], DRAWN_GPUS, 0x8);
        check_is_fair(drawn.gpus[2], DRAWN_GPUS, 0xc);
        check_is_fair(drawn.gpus[3], DRAWN_GPUS, 0xf);
        check_is_fair(drawn.gpus[5], DRAWN_GPUS, 0xb);
        check_is_fair(drawn.gpus[6], DRAWN_GPUS, 0xf);
    }
    release(&world);
}

/* The members of a gang are drawn one by one, whether or not they ask GPUs: pairs of nodes come up alike. */
TEST(members_are_drawn_apart)
{
    static const struct request requests[] = {{.gpus = 1}, {.cpu_milli = 1000}};
    struct world world = world_of(2);
    for (uint32_t r = 0; r < 2; r++) {
        struct random_placement_ask pair;
        random_placement_group(&pair, requests[r], 2);
        uint32_t pairs[4] = {0};
        for (uint32_t owner = 1; owner <= DRAWS; owner++) {
            const node_id first = draw_one(&world, &pair.request_class, owner).node;
            const node_id last = world.pieces.pieces[world.pieces.count - 1].node;
            pairs[2 * first + last]++;
        }
        check_is_fair(pairs, 4, 0xf);
    }
    release(&world);
}
