/* The storage of checkpoints against a naive twin, which gives every transfer its rate at every step; and by hand. */
#include "tests/support/test.h"

#include "base/random.h"
#include "sim/storage/storage.h"
#include "tests/support/interval.h"

enum { SLOTS = 12, GB = 1000000000 };

#define S(seconds) ((time_ns)((seconds)*TIME_NS_PER_S))

__extension__ typedef __int128 twin_bytes;

struct twin {
    int64_t bytes_per_s, node_bytes_per_s; /* 0: no limit */
    twin_bytes left[SLOTS];                /* that a node has to move, in byte-ns per s */
    uint32_t nodes[SLOTS];                 /* 0: no transfer */
    time_ns now;
};

static int64_t twin_rate(const struct twin *twin)
{
    int64_t nodes = 0, rate = INT64_MAX;
    for (uint32_t s = 0; s < SLOTS; s++)
        nodes += twin->nodes[s];
    if (nodes > 0 && twin->bytes_per_s > 0)
        rate = twin->bytes_per_s / nodes;
    else if (nodes > 0)
        rate = INT64_MAX / nodes;
    if (twin->node_bytes_per_s > 0 && twin->node_bytes_per_s < rate)
        rate = twin->node_bytes_per_s;
    return rate > 0 ? rate : 1;
}

static void twin_advance(struct twin *twin, time_ns now)
{
    const int64_t rate = twin_rate(twin);
    for (uint32_t s = 0; s < SLOTS; s++)
        twin->left[s] -= twin->nodes[s] > 0 ? (twin_bytes)rate * (now - twin->now) : 0;
    twin->now = now;
}

static time_ns twin_next(const struct twin *twin)
{
    const int64_t rate = twin_rate(twin);
    time_ns next = TIME_NEVER;
    for (uint32_t s = 0; s < SLOTS; s++) {
        if (twin->nodes[s] == 0)
            continue;
        const time_ns at = twin->now + (time_ns)(twin->left[s] > 0 ? (twin->left[s] + rate - 1) / rate : 0);
        next = at < next ? at : next;
    }
    return next;
}

/* The transfers that are whole come out, and no others. */
static void take_all(struct storage *storage, struct twin *twin, time_ns now)
{
    uint32_t slot;
    for (uint32_t s = 0; s < SLOTS; s++)
        if (twin->nodes[s] > 0)
            assert_int_equal(storage_is_whole(storage, s, now), twin->left[s] <= 0);
    while (storage_take(storage, now, &slot)) {
        assert_true(slot < SLOTS && twin->nodes[slot] > 0 && twin->left[slot] <= 0);
        twin->nodes[slot] = 0;
    }
    for (uint32_t s = 0; s < SLOTS; s++)
        assert_true(twin->nodes[s] == 0 || twin->left[s] > 0);
}

static void change(struct storage *storage, struct twin *twin, struct random_stream *stream)
{
    const uint32_t slot = random_below(stream, SLOTS), nodes = 1 + random_below(stream, 20);
    const time_ns now = twin->now;
    assert_int_equal(storage_has(storage, slot), twin->nodes[slot] > 0);
    if (twin->nodes[slot] == 0) {
        const int64_t bytes = random_below(stream, 1u << random_below(stream, 32));
        storage_begin(storage, slot, bytes, nodes, now);
        twin->left[slot] = (twin_bytes)((bytes + nodes - 1) / nodes) * TIME_NS_PER_S;
        twin->nodes[slot] = nodes;
    } else if (random_below(stream, 2) == 0) {
        storage_stop(storage, slot, now);
        twin->nodes[slot] = 0;
    } else {
        const twin_bytes all = twin->left[slot] * twin->nodes[slot];
        storage_resize(storage, slot, nodes, now);
        if (nodes != twin->nodes[slot])
            twin->left[slot] = (all + nodes - 1) / nodes;
        twin->nodes[slot] = nodes;
    }
}

TEST(shares_are_those_of_a_naive_twin)
{
    const struct test_seeds seeds = test_seeds(200, 5000);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "storage", 0);
        struct twin twin = {.bytes_per_s = random_below(&stream, 4) == 0 ? 0 : GB / 10 + random_below(&stream, GB),
                            .node_bytes_per_s = random_below(&stream, 3) * (GB / 13)};
        struct storage *storage = storage_new(twin.bytes_per_s, twin.node_bytes_per_s);
        for (int step = 0; step < 200; step++) {
            const time_ns next = twin_next(&twin);
            assert_int_equal(storage_next(storage), next);
            const time_ns at = twin.now + (time_ns)random_below(&stream, 4000) * (TIME_NS_PER_S / 1000);
            twin_advance(&twin, next < at ? next : at);
            take_all(storage, &twin, twin.now);
            if (next > at || random_below(&stream, 4) == 0)
                change(storage, &twin, &stream);
            take_all(storage, &twin, twin.now);
        }
        storage_free(storage);
    }
}

/* Storage of 10 GB/s, nodes of 2 GB/s.  Alone, 4 nodes move 80 GB at 8 GB/s: 10 s.  From 5 s on 6 more nodes move 60
 * GB: each of the 10 has 1 GB/s, so the first, with 10 GB a node left, needs 10 s more; the others, with 10 GB a node,
 * end at the same time, 15 s. */
TEST(two_jobs_share)
{
    struct storage *storage = storage_new((int64_t)10 * GB, (int64_t)2 * GB);
    uint32_t slot;
    storage_begin(storage, 3, (int64_t)80 * GB, 4, 0);
    assert_int_equal(storage_next(storage), S(10));
    storage_begin(storage, 1, (int64_t)60 * GB, 6, S(5));
    assert_int_equal(storage_next(storage), S(15));
    assert_false(storage_take(storage, S(15) - 1, &slot));
    assert_true(storage_take(storage, S(15), &slot));
    assert_int_equal(slot, 1);
    assert_true(storage_take(storage, S(15), &slot));
    assert_int_equal(slot, 3);
    assert_false(storage_take(storage, S(15), &slot));
    assert_int_equal(storage_next(storage), TIME_NEVER);
    storage_free(storage);
    assert_int_equal(storage_alone((int64_t)10 * GB, (int64_t)2 * GB, (int64_t)80 * GB, 4), S(10));
    assert_int_equal(storage_alone((int64_t)10 * GB, (int64_t)2 * GB, (int64_t)80 * GB, 8), S(8));
    assert_int_equal(storage_alone(STORAGE_UNLIMITED, (int64_t)2 * GB, (int64_t)80 * GB, 8), S(5));
}
