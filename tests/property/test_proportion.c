/* proportion: shares against a water level found by bisection, on random queues. */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "policies/quota/guarantee.h"
#include "tests/support/quota_case.h"

enum { QUEUES_MAX = 12, CASES = 3000, BISECTIONS = 200 };
#define GPU RESOURCE_GPU

struct bound { /* of one queue's share */
    int64_t least, most;
    double weight;
};

static int64_t clamp_amount(int64_t amount, int64_t least, int64_t most)
{
    return amount > most ? (most > least ? most : least) : amount > least ? amount : least;
}

static struct bound bound_of(struct quota_case *c, queue_id q, int64_t total, int64_t guarantees)
{
    const struct queue_spec *spec = quota_case_spec(c, q);
    struct bound bound = {.least = spec->guarantee[GPU],
                          .most = c->tree.queues[q].demand[GPU],
                          .weight = (double)spec->weight_milli[GPU]};
    if (spec->limit[GPU] != QUOTA_UNLIMITED && spec->limit[GPU] < bound.most)
        bound.most = spec->limit[GPU];
    if (total - guarantees + bound.least < bound.most)
        bound.most = total - guarantees + bound.least;
    if (bound.most < bound.least || spec->weight_milli[GPU] == 0)
        bound.most = bound.least;
    return bound;
}

static double divided(const struct bound *bounds, uint32_t count, double level)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        double part = bounds[i].weight * level;
        part = part > (double)bounds[i].most ? (double)bounds[i].most : part;
        sum += part < (double)bounds[i].least ? (double)bounds[i].least : part;
    }
    return sum;
}

static double level_of(const struct bound *bounds, uint32_t count, int64_t total)
{
    double low = 0, high = 1e9;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        if (divided(bounds, count, middle) > (double)total)
            high = middle;
        else
            low = middle;
    }
    return low;
}

static void random_queues(struct quota_case *c, struct random_stream *stream, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "q%u", i);
        queue_id q = quota_case_add(c, name, QUEUE_ROOT, 0);
        struct queue_spec *spec = quota_case_spec(c, q);
        spec->weight_milli[GPU] = random_below(stream, 5) * (1 + random_below(stream, 700));
        if (random_below(stream, 3) == 0)
            spec->limit[GPU] = random_below(stream, 30000);
        if (random_below(stream, 3) == 0)
            spec->guarantee[GPU] = random_below(stream, 6000);
    }
    quota_case_ready(c);
    for (queue_id q = 1; q <= count; q++)
        quota_case_demand(c, q, (const int64_t[QUEUE_SUM_COUNT]){random_below(stream, 40000)});
}

static void check(struct quota_case *c, uint32_t count)
{
    struct bound bounds[QUEUES_MAX];
    int64_t total = c->capacity[GPU], guarantees = 0, shares = 0, most = 0, least = 0;
    for (queue_id q = 1; q <= count; q++)
        guarantees += quota_case_spec(c, q)->guarantee[GPU];
    for (queue_id q = 1; q <= count; q++) {
        bounds[q - 1] = bound_of(c, q, total, guarantees);
        least += bounds[q - 1].least;
        most += bounds[q - 1].most;
        shares += queue_tree_share(&c->tree, q, GPU);
    }
    double level = level_of(bounds, count, total);
    for (queue_id q = 1; q <= count; q++) {
        const struct bound *bound = &bounds[q - 1];
        int64_t share = queue_tree_share(&c->tree, q, GPU);
        int64_t part = clamp_amount((int64_t)(bound->weight * level), bound->least, bound->most);
        assert_in_range(share + count - part, 0, 2 * count);
        assert_int_equal(share, clamp_amount(share, bound->least, bound->most));
    }
    if (least <= total)
        assert_int_equal(shares, most < total ? most : total);
}

TEST(shares_are_those_of_one_water_level)
{
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct random_stream stream;
        struct quota_case c;
        random_stream_init(&stream, seed, "water level", 0);
        uint32_t count = 1 + random_below(&stream, QUEUES_MAX);
        quota_case_init(&c, &quota_proportion, 1 + random_below(&stream, 60));
        random_queues(&c, &stream, count);
        check(&c, count);
        quota_case_release(&c);
    }
}

/* What forbids is relieved by nothing but a smaller charge below the queue it names. */
TEST(guarantees_are_never_lent)
{
    uint32_t refusals = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct random_stream stream;
        struct quota_case c;
        random_stream_init(&stream, seed, "guarantees", 0);
        quota_case_init(&c, &quota_proportion, 40);
        random_queues(&c, &stream, QUEUES_MAX);
        for (int step = 0; step < 200; step++) {
            queue_id q = 1 + random_below(&stream, QUEUES_MAX);
            const int64_t ask[QUEUE_SUM_COUNT] = {1 + (int64_t)random_below(&stream, 5000)};
            bool was_within = queue_tree_charged(&c.tree, q, GPU) + ask[GPU] <= guarantee_of(&c.tree, q, GPU);
            queue_id forbids = quota_proportion.forbids(&c.tree, q, ask);
            if (forbids != QUEUE_NONE) {
                refusals++;
                assert_true(!was_within || forbids == q);
                continue;
            }
            quota_case_charge(&c, q, ask);
            int64_t needs = 0;
            for (queue_id i = 1; i <= QUEUES_MAX; i++) {
                int64_t held = queue_tree_charged(&c.tree, i, GPU);
                int64_t kept = guarantee_of(&c.tree, i, GPU);
                needs += held > kept ? held : kept;
            }
            /* Where somebody is guaranteed anything, what it is guaranteed is still there. */
            if (!was_within && guarantee_of(&c.tree, QUEUE_ROOT, GPU) > 0)
                assert_true(needs <= c.capacity[GPU]);
        }
        quota_case_release(&c);
    }
    assert_true(refusals > 1000);
}
