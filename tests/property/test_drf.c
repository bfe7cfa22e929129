/* drf: picks against exact fractions, and filling by small tasks against the fluid that rises in all queues at once. */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/quota_case.h"

enum { QUEUES = 6, CASES = 200, RESOURCES = 2 };

struct asks {
    int64_t of[QUEUES + 1][QUEUE_SUM_COUNT]; /* a task of each queue, by queue_id */
};

/* Each asks of GPUs and CPUs at most a part in `fineness` of the cluster; all want more than there is. */
static void setup(struct quota_case *c, struct asks *asks, struct random_stream *stream, uint32_t fineness)
{
    *asks = (struct asks){0};
    quota_case_init(c, &quota_drf, 50 + random_below(stream, 100));
    for (uint32_t i = 1; i <= QUEUES; i++) {
        char name[16];
        snprintf(name, sizeof name, "q%u", i);
        queue_id q = quota_case_add(c, name, QUEUE_ROOT, 0);
        struct queue_spec *spec = quota_case_spec(c, q);
        spec->weight_milli[RESOURCE_GPU] = spec->weight_milli[RESOURCE_CPU] =
            1000 * (1 + (int64_t)random_below(stream, 3));
        for (int r = 0; r < RESOURCES; r++)
            asks->of[q][r] = random_below(stream, (uint32_t)c->capacity[r] / fineness);
        asks->of[q][random_below(stream, 2)] += 1;
    }
    quota_case_ready(c);
    for (queue_id q = 1; q <= QUEUES; q++)
        quota_case_demand(c, q, c->capacity);
}

static queue_id pick(struct quota_case *c, const struct asks *asks)
{
    queue_id best = 1;
    for (queue_id q = 2; q <= QUEUES; q++)
        if (quota_case_compare(c, q, asks->of[q], best, asks->of[best]) < 0)
            best = q;
    return best;
}

/* Is the weighted dominant share of a below that of b?  In 128 bits, over a common denominator. */
static bool is_below(struct quota_case *c, queue_id a, queue_id b)
{
    __int128 largest[2] = {0, 0};
    for (int side = 0; side < 2; side++)
        for (int r = 0; r < RESOURCES; r++) {
            queue_id q = side == 0 ? a : b, other = side == 0 ? b : a;
            __int128 scaled =
                (__int128)c->ledger->sums[q][r] * c->capacity[!r] * quota_case_spec(c, other)->weight_milli[r];
            largest[side] = scaled > largest[side] ? scaled : largest[side];
        }
    return largest[0] < largest[1];
}

TEST(the_pick_has_the_smallest_dominant_share)
{
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct random_stream stream;
        struct quota_case c;
        struct asks asks;
        random_stream_init(&stream, seed, "drf picks", 0);
        setup(&c, &asks, &stream, 20);
        for (int step = 0; step < 60; step++) {
            queue_id picked = pick(&c, &asks), expected = 1;
            for (queue_id q = 2; q <= QUEUES; q++)
                if (is_below(&c, q, expected))
                    expected = q;
            assert_int_equal(picked, expected);
            quota_case_charge(&c, picked, asks.of[picked]);
        }
        quota_case_release(&c);
    }
}

static double dominant(const struct quota_case *c, const int64_t *amounts)
{
    double most = 0;
    for (int r = 0; r < RESOURCES; r++)
        if ((double)amounts[r] / (double)c->capacity[r] > most)
            most = (double)amounts[r] / (double)c->capacity[r];
    return most;
}

/* The level at which the first resource is full when all weighted dominant shares rise together. */
static double fluid_level(struct quota_case *c, const struct asks *asks)
{
    double level = 1e9;
    for (int r = 0; r < RESOURCES; r++) {
        double rate = 0;
        for (queue_id q = 1; q <= QUEUES; q++)
            rate += (double)quota_case_spec(c, q)->weight_milli[r] / 1000 * (double)asks->of[q][r] /
                    dominant(c, asks->of[q]);
        if (rate > 0 && (double)c->capacity[r] / rate < level)
            level = (double)c->capacity[r] / rate;
    }
    return level;
}

static bool fits(const struct quota_case *c, const int64_t *ask)
{
    for (int r = 0; r < RESOURCES; r++)
        if (c->ledger->sums[QUEUE_ROOT][r] + ask[r] > c->capacity[r])
            return false;
    return true;
}

TEST(small_tasks_fill_as_the_fluid_does)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct random_stream stream;
        struct quota_case c;
        struct asks asks;
        random_stream_init(&stream, seed, "drf fluid", 0);
        setup(&c, &asks, &stream, 400);
        double level = fluid_level(&c, &asks), largest_task = 0;
        for (queue_id q = 1; q <= QUEUES; q++)
            if (dominant(&c, asks.of[q]) > largest_task)
                largest_task = dominant(&c, asks.of[q]);
        for (queue_id q = pick(&c, &asks); fits(&c, asks.of[q]); q = pick(&c, &asks))
            quota_case_charge(&c, q, asks.of[q]);
        for (queue_id q = 1; q <= QUEUES; q++) {
            double weight = (double)quota_case_spec(&c, q)->weight_milli[0] / 1000;
            double off = dominant(&c, c.ledger->sums[q]) / weight - level;
            assert_true(off < 2 * largest_task && off > -2 * largest_task);
        }
        quota_case_release(&c);
    }
}

/* Whatever is taken and gained, nobody has reason to take it back. */
TEST(reclaim_comes_to_rest)
{
    uint32_t taken = 0; /* in all cases */
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct random_stream stream;
        struct quota_case c;
        struct asks asks;
        random_stream_init(&stream, seed, "drf reclaim", 0);
        setup(&c, &asks, &stream, 12);
        while (fits(&c, asks.of[1])) /* the first took it all */
            quota_case_charge(&c, 1, asks.of[1]);
        uint32_t moves = 0;
        for (bool again = true; again;) {
            again = false;
            for (queue_id g = 1; g <= QUEUES && !again; g++)
                for (queue_id v = 1; v <= QUEUES && !again; v++) {
                    if (g == v || c.ledger->sums[v][RESOURCE_GPU] < asks.of[v][RESOURCE_GPU] ||
                        c.ledger->sums[v][RESOURCE_CPU] < asks.of[v][RESOURCE_CPU] ||
                        !quota_case_may_take(&c, g, asks.of[g], v, asks.of[v]))
                        continue;
                    quota_case_uncharge(&c, v, asks.of[v]);
                    quota_case_charge(&c, g, asks.of[g]);
                    assert_true(quota_case_is_valid(&c, g, asks.of[g], v));
                    assert_false(quota_case_may_take(&c, v, asks.of[v], g, asks.of[g]));
                    again = true;
                }
            assert_true(moves++ < 1000);
        }
        taken += moves;
        quota_case_release(&c);
    }
    assert_true(taken > 4 * CASES);
}
