/* Members dealt over domains, against all ways there are on small numbers. */
#include <stdbool.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "policies/placement/domain_shares.h"

enum { SEEDS = 4000, DOMAINS_MAX = 6, STEPS_MAX = 5 };

struct instance {
    struct domain_share shares[DOMAINS_MAX];
    uint32_t n, count, step, room;
};

/* Some rooms are alike and some numbers left out. */
static struct instance draw(struct random_stream *stream)
{
    struct instance one = {.n = 1 + random_below(stream, DOMAINS_MAX), .step = 1 + random_below(stream, 3)};
    uint32_t id = random_below(stream, 3);
    for (uint32_t i = 0; i < one.n; i++) {
        const uint32_t room = one.step * random_below(stream, STEPS_MAX);
        one.shares[i] = (struct domain_share){.id = id, .room = room};
        one.room += room;
        id += 1 + random_below(stream, 2);
    }
    one.count = one.step * (1 + random_below(stream, STEPS_MAX * 3));
    return one;
}

/* What every rule keeps; the number of domains used. */
static uint32_t check_dealt(const struct instance *asked, const struct instance *dealt, uint32_t used)
{
    uint32_t sum = 0, seen = 0;
    assert_true(used <= asked->n);
    for (uint32_t i = 0; i < used; i++) {
        const struct domain_share *share = &dealt->shares[i];
        assert_true(share->quota <= share->room);
        assert_int_equal(share->quota % asked->step, 0);
        sum += share->quota;
        for (uint32_t k = 0; k < asked->n; k++)
            if (asked->shares[k].id == share->id) {
                assert_int_equal(asked->shares[k].room, share->room);
                assert_false(seen >> k & 1);
                seen |= 1u << k;
            }
    }
    assert_int_equal(sum, asked->count < asked->room ? asked->count : asked->room);
    return seen;
}

static uint32_t room_of(const struct instance *one, uint32_t set)
{
    uint32_t room = 0;
    for (uint32_t k = 0; k < one->n; k++)
        room += set >> k & 1 ? one->shares[k].room : 0;
    return room;
}

/* The fewest domains that hold all, of those in `within`. */
static uint32_t fewest_of(const struct instance *one, uint32_t within)
{
    uint32_t fewest = UINT32_MAX;
    for (uint32_t set = 0; set < 1u << one->n; set++)
        if ((set & ~within) == 0 && room_of(one, set) >= one->count && (uint32_t)__builtin_popcount(set) < fewest)
            fewest = (uint32_t)__builtin_popcount(set);
    return fewest;
}

/* Can all be dealt over the set with no share below `least`? */
static bool can_share(const struct instance *one, uint32_t set, uint32_t least)
{
    uint32_t members = (uint32_t)__builtin_popcount(set);
    for (uint32_t k = 0; k < one->n; k++)
        if ((set >> k & 1) && one->shares[k].room < least)
            return false;
    return room_of(one, set) >= one->count && least * members <= one->count;
}

TEST(the_fewest_domains_are_taken)
{
    uint32_t several = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "fewest", 0);
        struct instance one = draw(&stream), dealt = one;
        uint32_t used = domain_shares_deal(DOMAINS_FEWEST, dealt.shares, one.n, one.count, one.step);
        check_dealt(&one, &dealt, used);
        if (one.room < one.count)
            continue;
        assert_int_equal(used, fewest_of(&one, UINT32_MAX));
        /* The last is the fullest that holds what the others leave. */
        const struct domain_share *last = &dealt.shares[used - 1];
        for (uint32_t i = used; i < one.n; i++)
            assert_false(dealt.shares[i].room >= last->quota && dealt.shares[i].room < last->room);
        several += used > 1;
    }
    assert_true(several > SEEDS / 8);
}

TEST(balanced_shares_are_as_even_as_can_be)
{
    uint32_t several = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "balanced", 0);
        struct instance one = draw(&stream), dealt = one;
        uint32_t used = domain_shares_deal(DOMAINS_BALANCED, dealt.shares, one.n, one.count, one.step);
        check_dealt(&one, &dealt, used);
        if (one.room < one.count)
            continue;
        uint32_t least = UINT32_MAX, best = 0;
        for (uint32_t i = 0; i < used; i++)
            least = dealt.shares[i].quota < least ? dealt.shares[i].quota : least;
        assert_int_equal(used, fewest_of(&one, UINT32_MAX));
        for (uint32_t set = 1; set < 1u << one.n; set++)
            for (uint32_t tried = one.step; (uint32_t)__builtin_popcount(set) == used && can_share(&one, set, tried);
                 tried += one.step)
                best = tried > best ? tried : best;
        assert_int_equal(least, best);
        several += used > 1;
    }
    assert_true(several > SEEDS / 8);
}

TEST(blocks_are_aligned_and_small)
{
    uint32_t several = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "block", 0);
        struct instance one = draw(&stream), dealt = one;
        uint32_t used = domain_shares_deal(DOMAINS_BLOCK, dealt.shares, one.n, one.count, one.step);
        uint32_t seen = check_dealt(&one, &dealt, used);
        if (one.room < one.count)
            continue;
        bool is_found = false;
        for (uint32_t order = 0; order < 32 && !is_found; order++) {
            uint32_t fewest = UINT32_MAX, own = UINT32_MAX;
            for (uint32_t number = 0; number <= 32; number++) {
                uint32_t within = 0;
                for (uint32_t k = 0; k < one.n; k++)
                    within |= (uint32_t)(one.shares[k].id >> order == number) << k;
                if (room_of(&one, within) < one.count)
                    continue;
                is_found = true;
                uint32_t needed = fewest_of(&one, within);
                fewest = needed < fewest ? needed : fewest;
                own = (seen & ~within) == 0 ? needed : own;
            }
            if (is_found) {
                assert_int_equal(own, fewest); /* inside one aggregate, and no other needs fewer */
                assert_int_equal(used, fewest);
            }
        }
        assert_true(is_found);
        several += used > 1;
    }
    assert_true(several > SEEDS / 8);
}

TEST(least_free_fills_what_is_fullest)
{
    uint32_t several = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "least_free", 0);
        struct instance one = draw(&stream), dealt = one;
        uint32_t used = domain_shares_deal(DOMAINS_LEAST_FREE, dealt.shares, one.n, one.count, one.step);
        uint32_t seen = check_dealt(&one, &dealt, used);
        for (uint32_t i = 0; i + 1 < used; i++) {
            assert_int_equal(dealt.shares[i].quota, dealt.shares[i].room);
            assert_true(dealt.shares[i].room <= dealt.shares[i + 1].room);
        }
        for (uint32_t k = 0; k < one.n && used > 0; k++)
            if (!(seen >> k & 1))
                assert_true(one.shares[k].room >= dealt.shares[used - 1].room);
        several += used > 1;
    }
    assert_true(several > SEEDS / 8);
}
