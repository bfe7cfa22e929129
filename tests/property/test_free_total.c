/* policies/ledger/free_total.h -- hundreds of moments that come and go, against a plain list of what was told of each
 * node. */
#include "tests/support/test.h"

#include "base/mem.h"
#include "base/random.h"
#include "policies/ledger/free_total.h"
#include "tests/support/interval.h"

enum { TOLD = 600, TIMES = 900 };

struct told { /* at that moment `more` comes, and some time later it goes */
    time_ns from, until;
    struct free_amount more;
};

struct fixture {
    struct free_total total;
    struct told told[TOLD];
    uint32_t count;
    struct random_stream random;
};

static struct free_amount minus(struct free_amount amount)
{
    return (struct free_amount){-amount.gpus, -amount.cpu_milli, -amount.memory_mib};
}

static void tell(struct fixture *f)
{
    struct told *told = &f->told[f->count++];
    told->from = random_below(&f->random, TIMES);
    told->until = told->from + 1 + random_below(&f->random, 50);
    told->more =
        (struct free_amount){random_below(&f->random, 9), random_below(&f->random, 5), random_below(&f->random, 5)};
    const struct free_amount less = minus(told->more);
    free_total_change(&f->total, told->from, 1, &told->more);
    free_total_change(&f->total, told->until, 1, &less);
}

static void take_back(struct fixture *f)
{
    struct told *told = &f->told[random_below(&f->random, f->count)];
    const struct free_amount less = minus(told->more);
    free_total_change(&f->total, told->from, -1, &less);
    free_total_change(&f->total, told->until, -1, &told->more);
    *told = f->told[--f->count];
}

static struct free_amount naive_free(const struct fixture *f, time_ns at)
{
    struct free_amount sum = {0};
    for (uint32_t i = 0; i < f->count; i++) {
        if (at < f->told[i].from || at >= f->told[i].until)
            continue;
        sum.gpus += f->told[i].more.gpus;
        sum.cpu_milli += f->told[i].more.cpu_milli;
        sum.memory_mib += f->told[i].more.memory_mib;
    }
    return sum;
}

static bool naive_is_enough(const struct fixture *f, const struct free_amount *need, time_ns from, time_ns until)
{
    bool is_enough = true;
    for (time_ns t = from; t < until && is_enough; t++) {
        const struct free_amount free = naive_free(f, t);
        is_enough = free.gpus >= need->gpus && free.cpu_milli >= need->cpu_milli && free.memory_mib >= need->memory_mib;
    }
    return is_enough;
}

static bool naive_is_moment(const struct fixture *f, time_ns at)
{
    bool is_one = false;
    for (uint32_t i = 0; i < f->count && !is_one; i++)
        is_one = f->told[i].from == at || f->told[i].until == at;
    return is_one;
}

/* The moments, and what is told of each, are in order and just those that are told. */
static void check_moments(const struct fixture *f)
{
    time_ns last = -1;
    uint32_t moments = 0, expected = 0;
    for (uint32_t b = 0; b < f->total.count; b++) {
        assert_in_range(f->total.blocks[b]->count, 1, FREE_BLOCK);
        for (uint32_t i = 0; i < f->total.blocks[b]->count; i++) {
            const struct free_change *change = &f->total.blocks[b]->changes[i];
            assert_true(change->at > last && naive_is_moment(f, change->at));
            last = change->at;
            moments++;
        }
    }
    for (time_ns t = 0; t < TIMES + 100; t++)
        expected += naive_is_moment(f, t);
    assert_int_equal(moments, expected);
}

/* All moments at which there is enough for the length, one after another. */
static uint32_t check_search(struct fixture *f)
{
    const struct free_amount need = {random_below(&f->random, 90), random_below(&f->random, 40),
                                     random_below(&f->random, 40)};
    const time_ns from = random_below(&f->random, TIMES), length = 1 + random_below(&f->random, 60);
    const time_ns latest = from + random_below(&f->random, 200);
    const time_ns bound = random_below(&f->random, 2) ? TIME_NEVER : latest + 1;
    struct free_search search = free_search_begin(&f->total, &need, from, length, latest, bound);
    uint32_t found = 0;
    for (time_ns t = from; t <= latest; t++) {
        const time_ns until = t + length < bound ? t + length : bound;
        if ((t != from && !naive_is_moment(f, t)) || !naive_is_enough(f, &need, t, until))
            continue;
        assert_int_equal(free_search_next(&search), t);
        found++;
    }
    assert_int_equal(free_search_next(&search), TIME_NEVER);
    return found;
}

TEST(tells_what_was_told)
{
    const uint64_t seeds = test_is_full() ? 40 : 3;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct fixture f = {0};
        uint32_t found = 0, blocks = 0;
        random_stream_init(&f.random, seed, "free-total", 0);
        for (uint32_t step = 0; step < 3000; step++) {
            const bool is_filling = step % 1500 < 900;
            if (f.count == 0 || (f.count < TOLD && random_below(&f.random, 10) < (is_filling ? 9 : 1)))
                tell(&f);
            else
                take_back(&f);
            if (step % 50 == 0)
                check_moments(&f);
            if (step % 10 == 0)
                found += check_search(&f);
            blocks = f.total.count > blocks ? f.total.count : blocks;
        }
        assert_true(found > 500 && blocks > 8); /* or nothing was tried */
        while (f.count > 0)
            take_back(&f);
        assert_int_equal(f.total.count, 0);
        free_total_release(&f.total);
    }
}
