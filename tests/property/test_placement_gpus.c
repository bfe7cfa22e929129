/* Which GPUs of a node a member gets (policies/placement/gpu_choice.h), against looking at all choices there are, for
 * all masks of free GPUs of nodes of 8 and random ones of nodes of 16, on random islands and NUMA nodes; and that
 * placing asks. */
#include "tests/support/test.h"

#include "policies/placement/gpu_choice.h"
#include "policies/placement/placement_config.h"
#include "tests/support/random_placement.h"

enum { TOPOLOGIES = 30, WIDE_MASKS = 40, NO_NVLINK = 255 };

static uint32_t count_bits(uint32_t mask)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 32; i++)
        count += mask >> i & 1;
    return count;
}

/* The parts that the GPUs touch, as a set of numbers modulo 32, and how many of `free` are in these parts. */
static uint32_t touched(const uint8_t number[], uint32_t gpus)
{
    uint32_t set = 0;
    for (uint32_t g = 0; g < NODE_GPUS_MAX; g++)
        if (gpus >> g & 1)
            set |= 1u << number[g] % 32;
    return set;
}

static uint32_t free_in(const uint8_t number[], uint32_t set, uint32_t free)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < NODE_GPUS_MAX; g++)
        count += (free >> g & 1) && (set >> number[g] % 32 & 1);
    return count;
}

/* The law as a row of numbers: the smaller in the first that differs is better. */
struct rank {
    uint32_t of[4 + NODE_GPUS_MAX];
};

static struct rank rank_of(const struct node_pool *pool, uint32_t gpus, uint32_t free)
{
    const uint32_t islands = touched(pool->gpu_island, gpus), numas = touched(pool->gpu_numa, gpus);
    struct rank rank = {{count_bits(islands), count_bits(numas), free_in(pool->gpu_island, islands, free),
                         free_in(pool->gpu_numa, numas, free)}};
    for (uint32_t g = 0, n = 4; g < NODE_GPUS_MAX; g++)
        if (gpus >> g & 1)
            rank.of[n++] = g;
    return rank;
}

static bool is_smaller(const struct rank *a, const struct rank *b)
{
    for (uint32_t i = 0; i < 4 + NODE_GPUS_MAX; i++)
        if (a->of[i] != b->of[i])
            return a->of[i] < b->of[i];
    return false;
}

static uint32_t best_by_looking(const struct node_pool *pool, uint32_t free, uint32_t count)
{
    struct rank best_rank = {{0}};
    uint32_t best = 0;
    for (uint32_t gpus = free; gpus != 0; gpus = (gpus - 1) & free) {
        if (count_bits(gpus) != count)
            continue;
        const struct rank rank = rank_of(pool, gpus, free);
        if (best != 0 && !is_smaller(&rank, &best_rank))
            continue;
        best = gpus;
        best_rank = rank;
    }
    return best;
}

static struct node_pool random_inside(struct random_stream *stream)
{
    struct node_pool pool = {.node_count = 1};
    const uint32_t islands = 1 + random_below(stream, 4), numas = 1 + random_below(stream, 4);
    const bool has_nvlink = random_below(stream, 4) != 0;
    for (uint32_t g = 0; g < NODE_GPUS_MAX; g++) {
        pool.gpu_island[g] = (uint8_t)(has_nvlink ? random_below(stream, islands) : NO_NVLINK);
        pool.gpu_numa[g] = (uint8_t)random_below(stream, numas);
    }
    return pool;
}

static void check(const struct node_pool *pool, uint32_t free, uint32_t count)
{
    const uint32_t expected = best_by_looking(pool, free, count);
    const uint32_t chosen = gpu_choice_near(pool, (uint16_t)free, count);
    if (chosen != expected)
        fail_msg("%u of %x: %x, not %x", count, free, chosen, expected);
}

TEST(near_is_the_best_of_all_choices)
{
    struct random_stream stream;
    random_stream_init(&stream, 1, "inside", 0);
    for (uint32_t t = 0; t < TOPOLOGIES; t++) {
        const struct node_pool pool = random_inside(&stream);
        for (uint32_t free = 1; free < 1u << 8; free++)
            for (uint32_t count = 1; count <= count_bits(free); count++)
                check(&pool, free, count);
        for (uint32_t i = 0; i < WIDE_MASKS; i++) {
            const uint32_t free = random_below(&stream, 1u << 16) | 1u << random_below(&stream, 16);
            check(&pool, free, 1 + random_below(&stream, count_bits(free)));
        }
    }
}

TEST(on_a_plain_node_near_is_lowest)
{
    static const uint8_t islands[] = {0, NO_NVLINK};
    for (uint32_t i = 0; i < 2; i++) {
        struct node_pool pool = {.node_count = 1};
        memset(pool.gpu_island, islands[i], sizeof pool.gpu_island);
        for (uint32_t free = 1; free < 1u << 16; free += 7)
            for (uint32_t count = 0; count <= count_bits(free); count++)
                assert_int_equal(gpu_choice_near(&pool, (uint16_t)free, count),
                                 gpu_choice_lowest((uint16_t)free, count));
    }
}

TEST(shares_go_beside_others)
{
    const struct node_pool pool = {.gpu_numa = {0, 0, 1, 1, 2, 2}};
    assert_int_equal(gpu_choice_share(&pool, 0x3f, 0x3f, 0x3f), 0x01); /* nothing is used */
    assert_int_equal(gpu_choice_share(&pool, 0x37, 0x37, 0x3f), 0x04); /* 3 is */
    assert_int_equal(gpu_choice_share(&pool, 0x33, 0x37, 0x3f), 0x01); /* but 2 is no choice */
    assert_int_equal(gpu_choice_share(&pool, 0x2d, 0x2d, 0x3f), 0x01); /* 1 and 4 are */
    assert_int_equal(gpu_choice_share(&pool, 0x2c, 0x2d, 0x3f), 0x20);
}

/* ---- placing ---- */

/* One node of 8 GPUs, islands and NUMA nodes as told. */
struct inside_world {
    struct cluster *cluster;
    struct ledger *ledger;
    struct placement_config config;
    struct piece_list pieces;
};

static void open_world(struct inside_world *w, const uint8_t numa[8], enum gpu_choice choice)
{
    *w = (struct inside_world){.config = placement_config_default()};
    w->config.gpu_choice = choice;
    w->cluster = cluster_uniform_new(1, 8);
    memcpy(w->cluster->pools[0].gpu_numa, numa, 8);
    w->ledger = ledger_new(w->cluster);
    w->ledger->placement = &w->config;
}

static void close_world(struct inside_world *w)
{
    piece_list_release(&w->pieces);
    ledger_free(w->ledger);
    cluster_free(w->cluster);
}

static void take(struct inside_world *w, uint16_t gpu_mask, uint16_t gpu_milli)
{
    struct space space = {.gpu_mask = gpu_mask, .gpu_milli = gpu_milli, .owner = 9, .member_count = 1};
    ledger_take(w->ledger, &space);
}

static void place(struct inside_world *w, struct request request, uint32_t count)
{
    struct random_placement_ask ask;
    random_placement_group(&ask, request, count);
    ask.request_class.member_count = count;
    assert_true(placement_place(
        w->ledger,
        &(struct placement_request){.policy = &placement_best_fit, .request_class = &ask.request_class, .owner = 1},
        &w->pieces));
}

static const uint8_t odd_even[8] = {0, 1, 0, 1, 0, 1, 0, 1};

TEST(placing_asks_for_the_choice)
{
    for (enum gpu_choice choice = GPU_CHOICE_LOWEST; choice <= GPU_CHOICE_NEAR; choice++) {
        struct inside_world w;
        open_world(&w, odd_even, choice);
        take(&w, 0x02, GPU_MILLI);
        place(&w, (struct request){.gpus = 3}, 1); /* 1 is gone: the odd ones have just three */
        assert_int_equal(w.pieces.pieces[0].gpu_mask, choice == GPU_CHOICE_NEAR ? 0xa8 : 0x0d);
        close_world(&w);
    }
}

/* What is held is told apart member by member: each member's GPUs must stay its own. */
TEST(members_of_one_node_stay_apart)
{
    struct inside_world w;
    open_world(&w, odd_even, GPU_CHOICE_NEAR);
    place(&w, (struct request){.gpus = 4}, 2);
    assert_int_equal(w.pieces.count, 2);
    assert_int_equal(w.pieces.pieces[0].gpu_mask, 0x55);
    assert_int_equal(w.pieces.pieces[1].gpu_mask, 0xaa);
    close_world(&w);
    open_world(&w, (const uint8_t[8]){0, 0, 0, 0, 1, 1, 1, 1}, GPU_CHOICE_NEAR);
    place(&w, (struct request){.gpus = 4}, 2);
    assert_int_equal(w.pieces.count, 1); /* in order they are told apart by the lowest */
    assert_int_equal(w.pieces.pieces[0].gpu_mask, 0xff);
    close_world(&w);
}

TEST(placing_a_share_asks_too)
{
    struct inside_world w;
    const struct request share = {.gpu_milli = 400};
    open_world(&w, odd_even, GPU_CHOICE_NEAR);
    take(&w, 0x20, GPU_MILLI);
    place(&w, share, 1); /* all free GPUs are as good; 5 is used, and 1 next to it */
    assert_int_equal(w.pieces.pieces[0].gpu_mask, 0x02);
    take(&w, 0x40, 700);
    take(&w, 0x80, 300);
    place(&w, share, 1); /* the score decides first: 1 has 600 left, 6 too little, 7 700 */
    assert_int_equal(w.pieces.pieces[0].gpu_mask, 0x02);
    close_world(&w);
}

/* All choices there are: the most of those wanted, then the lowest. */
TEST(rails_are_kept_where_they_can_be)
{
    struct random_stream stream;
    uint32_t kept = 0, missed = 0;
    random_stream_init(&stream, 1, "rails", 0);
    for (uint32_t round = 0; round < 3000; round++) {
        const uint16_t free = (uint16_t)random_below(&stream, 256);
        const uint16_t wanted = (uint16_t)random_below(&stream, 256);
        const uint32_t count = random_below(&stream, (uint32_t)__builtin_popcount(free) + 1);
        uint32_t best = 0;
        bool has_best = false;
        for (uint32_t set = 0; set < 256; set++) {
            const uint32_t differ = set ^ best;
            const int more = __builtin_popcount(set & wanted) - __builtin_popcount(best & wanted);
            if ((set & ~(uint32_t)free) != 0 || (uint32_t)__builtin_popcount(set) != count)
                continue;
            if (!has_best || more > 0 || (more == 0 && (set & differ & -differ) != 0))
                best = set;
            has_best = true;
        }
        assert_int_equal(gpu_choice_rails(free, wanted, count), best);
        kept += count > 0 && (best & ~(uint32_t)wanted) == 0;
        missed += (best & ~(uint32_t)wanted) != 0;
    }
    assert_true(kept > 300 && missed > 300);
}

TEST(islands_are_chosen_fullest_first)
{
    for (uint32_t size = 1; size <= 8; size *= 2)
        for (uint32_t free = 0; free < 256; free++)
            for (uint32_t count = 1; count <= size; count++) {
                uint32_t best = 0;
                for (uint32_t first = 0; first < 8; first += size) {
                    const uint32_t island = free & (((1u << size) - 1) << first);
                    if ((uint32_t)__builtin_popcount(island) >= count &&
                        (best == 0 || __builtin_popcount(island) < __builtin_popcount(best)))
                        best = island;
                }
                assert_int_equal(gpu_choice_island(size, (uint16_t)free, count), best);
            }
}
