/* tests/unit/test_bits.c -- bit sets against a plain array of bool. */
#include "tests/support/test.h"
#include <inttypes.h>
#include <stdio.h>

#include "base/bits.h"
#include "base/random.h"

struct naive {
    bool *is_member;
    uint32_t capacity;
};

static uint32_t naive_next(const struct naive *naive, uint32_t from)
{
    for (uint32_t i = from; i < naive->capacity; i++)
        if (naive->is_member[i])
            return i;
    return BITS_NONE;
}

/* The law of the header: a summary bit is set exactly when its word is not zero. */
static void assert_summaries(const struct bits *set)
{
    for (int level = 0; level < 2; level++) {
        for (uint32_t i = 0; i < set->words[level]; i++) {
            bool is_marked = (set->level[level + 1][i >> 6] >> (i & 63)) & 1;
            assert_int_equal(is_marked, set->level[level][i] != 0);
        }
    }
}

static void assert_same_members(const struct bits *set, const struct naive *naive)
{
    uint32_t member_count = 0;
    uint32_t expected = naive_next(naive, 0);
    for (uint32_t i = bits_next(set, 0); i != BITS_NONE; i = bits_next(set, i + 1)) {
        assert_int_equal(i, expected);
        assert_true(bits_test(set, i));
        expected = naive_next(naive, i + 1);
        member_count++;
    }
    assert_int_equal(expected, BITS_NONE);
    assert_int_equal(set->member_count, member_count);
    assert_summaries(set);
}

/* An index near the last one in half of the cases, so that words fill and empty again. */
static uint32_t choose_index(struct random_stream *stream, uint32_t capacity, uint32_t last)
{
    if (random_below(stream, 2) != 0)
        return random_below(stream, capacity);
    uint32_t index = last + random_below(stream, 65);
    return index < capacity ? index : capacity - 1;
}

static void run_operations(uint64_t seed, uint32_t capacity, uint32_t operation_count)
{
    struct random_stream stream;
    random_stream_init(&stream, seed, "bits", capacity);
    struct arena arena = {0};
    struct bits set;
    bits_init(&set, &arena, capacity);
    struct naive naive = {arena_alloc_array(&arena, capacity, bool), capacity};
    uint32_t index = 0;
    uint32_t adds_of_10 = 5;
    for (uint32_t i = 0; i < operation_count; i++) {
        if (i % 200 == 0)
            adds_of_10 = random_below(&stream, 10) + 1; /* times of growth, times of decay */
        index = choose_index(&stream, capacity, index);
        uint32_t from = random_below(&stream, capacity + 70);
        assert_int_equal(bits_next(&set, from), naive_next(&naive, from));
        assert_int_equal(bits_test(&set, index), naive.is_member[index]);
        bool is_add = random_below(&stream, 11) < adds_of_10;
        if (is_add)
            bits_add(&set, index);
        else
            bits_remove(&set, index);
        naive.is_member[index] = is_add;
        if (i % 500 == 0)
            assert_same_members(&set, &naive);
    }
    assert_same_members(&set, &naive);
    for (uint32_t i = 0; i < capacity; i++)
        bits_remove(&set, i);
    assert_int_equal(set.member_count, 0);
    assert_int_equal(bits_next(&set, 0), BITS_NONE);
    arena_release(&arena);
}

TEST(test_random_operations)
{
    static const uint32_t capacities[] = {1, 2, 63, 64, 65, 500, 4000, 4096, 4097, 20000};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
            print_message("seed %" PRIu64 ", capacity %" PRIu32 "\n", seed, capacities[i]);
            run_operations(seed, capacities[i], 5000);
        }
    }
}

/* So sparse and so large that every level and the scan of the top one is needed. */
TEST(test_sparse_members_of_a_large_set)
{
    static const uint32_t members[] = {0,      63,     64,     4095,    4096,    8191,   262143,
                                       262144, 262208, 524287, 1048576, 3000000, 3999999};
    enum { COUNT = sizeof members / sizeof members[0], CAPACITY = 4000000 };
    struct arena arena = {0};
    struct bits set;
    bits_init(&set, &arena, CAPACITY);
    for (int i = COUNT - 1; i >= 0; i--)
        bits_add(&set, members[i]);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t next = i + 1 < COUNT ? members[i + 1] : BITS_NONE;
        uint32_t before = i > 0 ? members[i - 1] + 1 : 0;
        assert_int_equal(bits_next(&set, members[i]), members[i]);
        assert_int_equal(bits_next(&set, before), members[i]);
        assert_int_equal(bits_next(&set, members[i] + 1), next);
    }
    assert_int_equal(bits_next(&set, CAPACITY), BITS_NONE);
    assert_int_equal(bits_next(&set, UINT32_MAX), BITS_NONE);
    assert_summaries(&set);
    /* any two alone, whatever the distance */
    for (uint32_t i = 0; i < COUNT; i++)
        bits_remove(&set, members[i]);
    for (uint32_t i = 0; i < COUNT; i++) {
        bits_add(&set, members[i]);
        for (uint32_t j = 0; j <= i; j++)
            assert_int_equal(bits_next(&set, members[j]), members[i]);
        bits_remove(&set, members[i]);
    }
    assert_int_equal(bits_next(&set, 0), BITS_NONE);
    arena_release(&arena);
}

TEST(test_adding_twice_counts_once)
{
    struct arena arena = {0};
    struct bits set;
    bits_init(&set, &arena, 100);
    bits_remove(&set, 7);
    assert_int_equal(set.member_count, 0);
    bits_add(&set, 7);
    bits_add(&set, 7);
    assert_int_equal(set.member_count, 1);
    bits_remove(&set, 7);
    bits_remove(&set, 7);
    assert_int_equal(set.member_count, 0);
    bits_init(&set, &arena, 0);
    assert_int_equal(bits_next(&set, 0), BITS_NONE);
    arena_release(&arena);
}

TEST(test_count_of_all_words)
{
    for (uint32_t word = 0; word <= UINT16_MAX; word++) {
        unsigned count = 0;
        for (uint32_t bit = 0; bit < 16; bit++)
            count += word >> bit & 1;
        assert_int_equal(bits_count16((uint16_t)word), count);
    }
}
