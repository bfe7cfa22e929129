/* The ledger against a naive twin: random moves under nested marks; after every roll back the state is what it was. */
#include "tests/support/test.h"

#include "base/random.h"
#include "policies/ledger/ledger.h"
#include "tests/support/lawful.h"

enum { NODES = 12, GPUS = 8, STEPS = 20000, BOOKED_MAX = 4096, DEPTH_MAX = 4 };

struct booking {
    struct space space;
    int state; /* 0: gone, 1: used, 2: vacating */
};

/* The naive twin: bookings in a list; everything else follows from them. */
struct twin {
    struct booking bookings[BOOKED_MAX];
    int count;
};

static uint32_t naive_free(const struct twin *twin, node_id node, uint32_t gpu)
{
    uint32_t free = GPU_MILLI;
    for (int i = 0; i < twin->count; i++)
        if (twin->bookings[i].state != 0 && twin->bookings[i].space.node == node &&
            (twin->bookings[i].space.gpu_mask >> gpu & 1))
            free -= twin->bookings[i].space.gpu_milli;
    return free;
}

static void compare_with_twin(const struct ledger *ledger, const struct twin *twin)
{
    assert_lawful(ledger_check(ledger));
    for (node_id n = 0; n < NODES; n++)
        for (uint32_t g = 0; g < GPUS; g++)
            assert_int_equal(ledger->gpus[n * GPUS + g].free, naive_free(twin, n, g));
}

static bool random_space(struct random_stream *stream, const struct twin *twin, struct space *space)
{
    *space =
        (struct space){.node = random_below(stream, NODES), .cpu_milli = random_below(stream, 4) * 500, .owner = 7};
    if (random_below(stream, 2)) {
        uint32_t gpu = random_below(stream, GPUS);
        space->gpu_mask = (uint16_t)(1u << gpu);
        space->gpu_milli = (uint16_t)(1 + random_below(stream, 600));
        return naive_free(twin, space->node, gpu) >= space->gpu_milli;
    }
    space->gpu_milli = GPU_MILLI;
    for (uint32_t g = 0; g < GPUS; g++)
        if (naive_free(twin, space->node, g) == GPU_MILLI && random_below(stream, 2))
            space->gpu_mask |= (uint16_t)(1u << g);
    return space->gpu_mask != 0;
}

static void random_move(struct random_stream *stream, struct ledger *ledger, struct twin *twin)
{
    struct booking *booking = twin->count > 0 ? &twin->bookings[random_below(stream, (uint32_t)twin->count)] : NULL;
    uint32_t what = random_below(stream, 4);
    struct space space;
    if (what <= 1 && twin->count < BOOKED_MAX) {
        if (!random_space(stream, twin, &space))
            return;
        ledger_take(ledger, &space);
        int64_t amounts[QUEUE_SUM_COUNT] = {space.gpu_milli, 0, space.cpu_milli, 0};
        ledger_charge(ledger, 0, amounts);
        twin->bookings[twin->count++] = (struct booking){space, 1};
    } else if (booking != NULL && booking->state == 1) {
        if (what == 2) {
            ledger_give(ledger, &booking->space);
            booking->state = 0;
        } else {
            ledger_vacate(ledger, &booking->space);
            booking->state = 2;
        }
    } else if (booking != NULL && booking->state == 2) {
        if (what == 2) {
            ledger_arrive(ledger, &booking->space);
            booking->state = 0;
        } else {
            ledger_restore(ledger, &booking->space);
            booking->state = 1;
        }
    }
}

static void forget_gone(struct twin *twin)
{
    int kept = 0;
    for (int i = 0; i < twin->count; i++)
        if (twin->bookings[i].state != 0)
            twin->bookings[kept++] = twin->bookings[i];
    twin->count = kept;
}

static void run(uint64_t seed)
{
    static struct twin twin, saved[DEPTH_MAX];
    struct random_stream stream;
    struct cluster *cluster = cluster_uniform_new(NODES, GPUS);
    struct queue_table *queues = queue_table_new();
    struct ledger *ledger = ledger_new(cluster);
    size_t marks[DEPTH_MAX];
    uint64_t hashes[DEPTH_MAX];
    uint32_t depth = 0;
    ledger_queues(ledger, queues);
    random_stream_init(&stream, seed, "ledger", 0);
    twin.count = 0;
    for (int step = 0; step < STEPS; step++) {
        uint32_t dice = random_below(&stream, 40);
        if (dice == 0 && depth < DEPTH_MAX) {
            hashes[depth] = ledger_hash(ledger);
            saved[depth] = twin;
            marks[depth++] = ledger_mark(ledger);
        } else if (dice == 1 && depth > 0) {
            ledger_rollback(ledger, marks[--depth]);
            twin = saved[depth];
            assert_true(ledger_hash(ledger) == hashes[depth]);
            compare_with_twin(ledger, &twin);
        } else if (dice == 2 && depth > 0) {
            ledger_commit(ledger, marks[--depth]);
        } else {
            random_move(&stream, ledger, &twin);
        }
        if (depth == 0)
            forget_gone(&twin);
        if (step % 64 == 0)
            compare_with_twin(ledger, &twin);
    }
    while (depth > 0)
        ledger_rollback(ledger, marks[--depth]);
    ledger_free(ledger);
    queue_table_free(queues);
    cluster_free(cluster);
}

TEST(test_random_moves)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        print_message("seed %d\n", (int)seed);
        run(seed);
    }
}

/* A claim takes what is free now and is promised the rest; arrivals serve promises first. */
TEST(test_claims)
{
    struct cluster *cluster = cluster_uniform_new(1, 2);
    struct queue_table *queues = queue_table_new();
    struct ledger *ledger = ledger_new(cluster);
    struct space victim = {.node = 0, .gpu_mask = 1, .gpu_milli = GPU_MILLI, .owner = 1};
    struct space preemptor = {.node = 0, .gpu_mask = 3, .gpu_milli = GPU_MILLI, .owner = 2};
    ledger_queues(ledger, queues);
    uint64_t empty = ledger_hash(ledger);
    ledger_take(ledger, &victim);
    ledger_vacate(ledger, &victim);
    assert_int_equal(ledger->coming_milli, 1000);
    ledger_claim(ledger, &preemptor);
    assert_int_equal(ledger->claimed_milli, 1000);
    assert_int_equal(ledger->coming_milli, 0);
    assert_false(ledger_is_there(ledger, &preemptor));
    ledger_unclaim(ledger, &preemptor);
    assert_int_equal(ledger->coming_milli, 1000);
    ledger_claim(ledger, &preemptor);
    ledger_arrive(ledger, &victim);
    assert_true(ledger_is_there(ledger, &preemptor));
    assert_int_equal(ledger->used_milli, 2000);
    assert_int_equal(ledger->owner[0], 2);
    ledger_give(ledger, &preemptor);
    assert_lawful(ledger_check(ledger));
    assert_true(ledger_hash(ledger) == empty);
    ledger_free(ledger);
    queue_table_free(queues);
    cluster_free(cluster);
}
