/* Max-min fair rates, against a solver that works in another way, and against their definition. */
#include <stdbool.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "sim/network/max_min.h"

enum { SETS = 100000, FLOWS_MAX = 12, LINKS_MAX = 8, HALVINGS = 70 };

struct instance {
    struct max_min_link links[LINKS_MAX];
    struct max_min_flow flows[FLOWS_MAX];
    struct max_min_use uses[FLOWS_MAX][LINKS_MAX];
    uint32_t link_count, flow_count;
};

/* A third of the sets are on a coarse grid, so that links fill and demands are met at the same level.  In a fifth,
 * senders are tenths, whose sums are rounded. */
static double draw_amount(struct random_stream *stream, bool is_coarse, uint32_t most)
{
    return is_coarse ? 1.0 + random_below(stream, 4) : 1e-3 + most * random_uniform(stream);
}

static void draw(struct instance *one, struct random_stream *stream)
{
    const bool is_coarse = random_below(stream, 3) == 0, demands_little = random_below(stream, 4) == 0;
    const double sender = random_below(stream, 5) == 0 ? 0.1 : 1;
    one->link_count = 1 + random_below(stream, LINKS_MAX);
    one->flow_count = 1 + random_below(stream, FLOWS_MAX);
    for (uint32_t l = 0; l < one->link_count; l++)
        one->links[l] = (struct max_min_link){.capacity = draw_amount(stream, is_coarse, 100)};
    for (uint32_t f = 0; f < one->flow_count; f++) {
        struct max_min_flow *flow = &one->flows[f];
        *flow = (struct max_min_flow){.demand = draw_amount(stream, is_coarse, demands_little ? 1 : 60),
                                      .uses = one->uses[f]};
        const uint32_t first = random_below(stream, one->link_count);
        for (uint32_t l = 0; l < one->link_count; l++)
            if (l == first || random_below(stream, 3) == 0)
                one->uses[f][flow->use_count++] = (struct max_min_use){l, sender * (1 + random_below(stream, 16))};
        if (random_below(stream, 40) == 0)
            flow->demand = 0;
    }
}

/* ---- Another solver: the highest common level by bisection, then the flows that cannot rise are fixed ---- */

static long double load_of(const struct instance *one, uint32_t link, const long double rates[])
{
    long double load = 0;
    for (uint32_t f = 0; f < one->flow_count; f++)
        for (uint32_t u = 0; u < one->flows[f].use_count; u++)
            if (one->flows[f].uses[u].link == link)
                load += one->flows[f].uses[u].senders * rates[f];
    return load;
}

static bool is_possible(const struct instance *one, const long double rates[])
{
    for (uint32_t l = 0; l < one->link_count; l++)
        if (load_of(one, l, rates) > one->links[l].capacity * (1 + 1e-16L))
            return false;
    return true;
}

/* Rates with all flows that are not fixed at the level, or at their demand. */
static void raise(const struct instance *one, const bool fixed[], long double level, long double rates[])
{
    for (uint32_t f = 0; f < one->flow_count; f++)
        if (!fixed[f])
            rates[f] = one->flows[f].demand < level ? one->flows[f].demand : level;
}

static bool crosses_full(const struct instance *one, uint32_t flow, const long double rates[])
{
    for (uint32_t u = 0; u < one->flows[flow].use_count; u++) {
        const uint32_t link = one->flows[flow].uses[u].link;
        if (load_of(one, link, rates) >= one->links[link].capacity * (1 - 1e-13L))
            return true;
    }
    return false;
}

static void solve_slowly(const struct instance *one, long double rates[])
{
    bool fixed[FLOWS_MAX] = {false};
    for (uint32_t left = one->flow_count; left > 0;) {
        long double low = 0, high = 200;
        for (int i = 0; i < HALVINGS; i++) {
            const long double level = (low + high) / 2;
            raise(one, fixed, level, rates);
            *(is_possible(one, rates) ? &low : &high) = level;
        }
        raise(one, fixed, low, rates);
        bool stays[FLOWS_MAX];
        for (uint32_t f = 0; f < one->flow_count; f++)
            stays[f] = !fixed[f] && (one->flows[f].demand <= low || crosses_full(one, f, rates));
        for (uint32_t f = 0; f < one->flow_count; f++) {
            left -= stays[f];
            fixed[f] |= stays[f];
        }
    }
}

/* ---- The definition ---- */

/* Does the flow cross a full link on which no other flow has a higher rate? */
static bool has_bottleneck(const struct instance *one, uint32_t flow, const long double rates[])
{
    for (uint32_t u = 0; u < one->flows[flow].use_count; u++) {
        const uint32_t link = one->flows[flow].uses[u].link;
        bool is_highest = load_of(one, link, rates) >= one->links[link].capacity * (1 - 1e-9L);
        for (uint32_t f = 0; f < one->flow_count; f++)
            for (uint32_t v = 0; v < one->flows[f].use_count; v++)
                is_highest &= one->flows[f].uses[v].link != link || rates[f] <= rates[flow] * (1 + 1e-9L);
        if (is_highest)
            return true;
    }
    return false;
}

static const char *broken_law(const struct instance *one)
{
    long double rates[FLOWS_MAX];
    for (uint32_t f = 0; f < one->flow_count; f++) {
        rates[f] = one->flows[f].rate;
        if (!(rates[f] >= 0 && rates[f] <= one->flows[f].demand))
            return "a rate is negative, or above its demand";
    }
    for (uint32_t l = 0; l < one->link_count; l++) {
        const long double load = load_of(one, l, rates), capacity = one->links[l].capacity;
        if (load > capacity * (1 + 1e-9L))
            return "a link carries more than its capacity";
        if (one->links[l].left > 0 && load >= capacity * (1 - 1e-13L))
            return "a full link has something left";
        if (one->links[l].left < 0 || one->links[l].left - (capacity - load) > capacity * 1e-9L ||
            (capacity - load) - one->links[l].left > capacity * 1e-9L)
            return "what is left of a link is not its capacity less its load";
    }
    for (uint32_t f = 0; f < one->flow_count; f++)
        if (rates[f] < one->flows[f].demand && !has_bottleneck(one, f, rates))
            return "a flow below its demand has no bottleneck";
    return NULL;
}

static const char *difference(const struct instance *one)
{
    long double rates[FLOWS_MAX];
    solve_slowly(one, rates);
    for (uint32_t f = 0; f < one->flow_count; f++) {
        const long double off = one->flows[f].rate - rates[f];
        if (off > 1e-9L * (rates[f] + 1e-3L) || off < -1e-9L * (rates[f] + 1e-3L))
            return "the other solver has another rate";
    }
    return NULL;
}

TEST(equals_another_solver)
{
    for (uint64_t seed = 0; seed < SETS; seed++) {
        struct instance one;
        struct random_stream stream;
        random_stream_init(&stream, seed, "max_min", 0);
        draw(&one, &stream);
        max_min_solve(one.flows, one.flow_count, one.links, one.link_count);
        const char *why = broken_law(&one);
        why = why == NULL ? difference(&one) : why;
        if (why != NULL)
            fail_msg("seed %llu: %s", (unsigned long long)seed, why);
    }
}
