/* Flows that come and go: what is solved piece by piece equals what is solved at once, and only what is touched
 * changes. */
#include <math.h>
#include <stdbool.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "sim/network/network.h"

enum { SEEDS = 400, STEPS = 60, LINKS_MAX = 24, SLOTS = 16, USES_MAX = 5 };

struct planned_flow {
    bool is_there;
    struct flow flow;
    struct fabric_use uses[USES_MAX];
    double burst;
    bool was_settled;
};

struct world {
    double capacities[LINKS_MAX];
    uint32_t link_count;
    struct network *network;
    struct planned_flow flows[SLOTS];
    bool touched[LINKS_MAX]; /* by what came or left since the last settling */
    uint64_t solved;         /* flows, before it */
};

/* Flows cross links near each other, so that there are several components. */
static void draw_flow(struct world *world, struct planned_flow *planned, struct random_stream *stream)
{
    const uint32_t first = random_below(stream, world->link_count);
    uint32_t count = 0;
    for (uint32_t l = first; l < world->link_count && l < first + 6 && count < USES_MAX; l++)
        if (l == first || random_below(stream, 2) == 0)
            planned->uses[count++] = (struct fabric_use){l, 1 + random_below(stream, 32)};
    planned->flow.peak = 1 + 50 * random_uniform(stream);
    planned->flow.demand = planned->flow.peak * (random_below(stream, 3) == 0 ? 1 : random_uniform(stream));
    planned->flow.uses = planned->uses;
    planned->flow.use_count = count;
    planned->is_there = true;
    planned->was_settled = false;
}

static struct network *solve_at_once(const struct world *world)
{
    const uint32_t *changed;
    struct network *network = network_new(world->capacities, world->link_count);
    for (uint32_t s = SLOTS; s-- > 0;) /* the other way round */
        if (world->flows[s].is_there)
            network_join(network, s, &world->flows[s].flow);
    network_settle(network, &changed);
    return network;
}

/* What the link carries if the flow in the slot has that rate, and the others theirs, but no higher one. */
static double load_at(const struct world *world, uint32_t link, uint32_t slot, double rate)
{
    double load = 0;
    for (uint32_t s = 0; s < SLOTS; s++)
        for (uint32_t u = 0; world->flows[s].is_there && u < world->flows[s].flow.use_count; u++)
            if (world->flows[s].uses[u].link == link)
                load +=
                    world->flows[s].uses[u].senders * (s == slot ? rate : fmin(rate, network_mean(world->network, s)));
    return load;
}

/* Is the burst of the flow what sim/network/burst.h says, for the mean rates that the network has?  By bisection. */
static const char *wrong_burst(const struct world *world, uint32_t slot)
{
    const struct flow *flow = &world->flows[slot].flow;
    double burst = flow->peak;
    for (uint32_t u = 0; u < flow->use_count; u++) {
        const uint32_t link = flow->uses[u].link;
        double low = 0, high = burst;
        if (load_at(world, link, slot, high) <= world->capacities[link])
            continue;
        for (int i = 0; i < 100; i++) {
            const double middle = (low + high) / 2;
            if (load_at(world, link, slot, middle) <= world->capacities[link])
                low = middle;
            else
                high = middle;
        }
        burst = low;
    }
    const bool is_near = fabs(network_burst(world->network, slot) - burst) <= 1e-9 * burst;
    return is_near ? NULL : "a burst is not what is fair beside the other flows";
}

static const char *broken_load(const struct world *world)
{
    double load[LINKS_MAX] = {0};
    for (uint32_t s = 0; s < SLOTS; s++)
        for (uint32_t u = 0; world->flows[s].is_there && u < world->flows[s].flow.use_count; u++)
            load[world->flows[s].uses[u].link] += world->flows[s].uses[u].senders * network_mean(world->network, s);
    for (uint32_t l = 0; l < world->link_count; l++)
        if (load[l] > world->capacities[l] * (1 + 1e-9))
            return "a link carries more than its capacity";
    const char *why = NULL;
    for (uint32_t s = 0; s < SLOTS && why == NULL; s++)
        why = world->flows[s].is_there ? wrong_burst(world, s) : NULL;
    return why;
}

static bool lists(const uint32_t *slots, uint32_t count, uint32_t slot)
{
    for (uint32_t i = 0; i < count; i++)
        if (slots[i] == slot)
            return true;
    return false;
}

static void touch(struct world *world, const struct planned_flow *planned)
{
    for (uint32_t u = 0; u < planned->flow.use_count; u++)
        world->touched[planned->uses[u].link] = true;
}

/* The flows that share links with what came or left, directly or through others. */
static uint32_t count_touched(struct world *world)
{
    bool is_touched[SLOTS] = {false}, has_grown = true;
    uint32_t count = 0;
    while (has_grown) {
        has_grown = false;
        for (uint32_t s = 0; s < SLOTS; s++) {
            const struct planned_flow *planned = &world->flows[s];
            bool is_near = false;
            for (uint32_t u = 0; planned->is_there && u < planned->flow.use_count; u++)
                is_near |= world->touched[planned->uses[u].link];
            if (!is_near || is_touched[s])
                continue;
            is_touched[s] = has_grown = true;
            count++;
            touch(world, planned);
        }
    }
    memset(world->touched, 0, sizeof world->touched);
    return count;
}

static const char *broken_law(struct world *world, const uint32_t *changed, uint32_t count)
{
    struct network *whole = solve_at_once(world);
    const char *why = broken_load(world);
    for (uint32_t i = 1; i < count; i++)
        if (changed[i - 1] >= changed[i])
            why = "the changed flows are not in the order of their slots";
    for (uint32_t s = 0; s < SLOTS; s++) {
        struct planned_flow *planned = &world->flows[s];
        if (network_has(world->network, s) != planned->is_there)
            why = "a flow is there that has left, or the other way round";
        if (!planned->is_there)
            continue;
        const double burst = network_burst(world->network, s), mean = network_mean(world->network, s);
        if (burst != network_burst(whole, s) || mean != network_mean(whole, s))
            why = "a rate depends on the order in which flows came";
        if (mean > planned->flow.demand || burst > planned->flow.peak || burst < mean)
            why = "a rate is out of its bounds";
        if (lists(changed, count, s) != (!planned->was_settled || burst != planned->burst))
            why = "the list of changes is wrong";
        planned->burst = burst;
        planned->was_settled = true;
    }
    network_free(whole);
    const uint64_t solved = network_solved(world->network) - world->solved;
    world->solved += solved;
    if (solved != count_touched(world))
        why = "flows were solved whose links did not change, or the other way round";
    return why;
}

static void change_some(struct world *world, struct random_stream *stream)
{
    for (uint32_t n = random_below(stream, 4); n > 0; n--) {
        const uint32_t slot = random_below(stream, SLOTS);
        struct planned_flow *planned = &world->flows[slot];
        if (planned->is_there) {
            touch(world, planned);
            network_leave(world->network, slot);
            planned->is_there = false;
        }
        if (random_below(stream, 3) > 0) {
            draw_flow(world, planned, stream);
            network_join(world->network, slot, &planned->flow);
            touch(world, planned);
        }
    }
}

TEST(piece_by_piece_as_at_once)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct random_stream stream;
        struct world world = {.link_count = 0};
        random_stream_init(&stream, seed, "network", 0);
        world.link_count = 1 + random_below(&stream, LINKS_MAX);
        for (uint32_t l = 0; l < world.link_count; l++)
            world.capacities[l] = 10 + 400 * random_uniform(&stream);
        world.network = network_new(world.capacities, world.link_count);
        for (int step = 0; step < STEPS; step++) {
            const uint32_t *changed;
            change_some(&world, &stream);
            const uint32_t count = network_settle(world.network, &changed);
            const char *why = broken_law(&world, changed, count);
            if (why != NULL)
                fail_msg("seed %llu, step %d: %s", (unsigned long long)seed, step, why);
        }
        network_free(world.network);
    }
}

/* ---- Rounding ---- */

enum { ROUNDINGS = 20000 };

/* Capacities, and what a GPU has of them alone, as a cluster has them: such numbers are not exact. */
TEST(alone_a_flow_has_its_peak_to_the_last_bit)
{
    for (uint64_t seed = 0; seed < ROUNDINGS; seed++) {
        struct random_stream stream;
        const uint32_t *changed;
        random_stream_init(&stream, seed, "alone", 0);
        const double capacities[2] = {1e9 * (1 + 400 * random_uniform(&stream)),
                                      1e9 * (1 + 400 * random_uniform(&stream))};
        const struct fabric_use uses[2] = {{0, 1 + random_below(&stream, 64)}, {1, 1 + random_below(&stream, 64)}};
        const double most = fmin(capacities[0] / uses[0].senders, capacities[1] / uses[1].senders);
        const double peak = random_below(&stream, 2) == 0 ? most : most / 3; /* that of its NIC */
        const double part = random_uniform(&stream);
        const double demand = random_below(&stream, 4) == 0 ? peak * part / part : peak * part;
        struct network *network = network_new(capacities, 2);
        network_join(network, 0, &(struct flow){demand, peak, uses, 2});
        network_settle(network, &changed);
        if (network_burst(network, 0) != peak || network_mean(network, 0) > peak)
            fail_msg("seed %llu: alone, a flow has another rate than its peak", (unsigned long long)seed);
        network_free(network);
    }
}

TEST(on_a_full_link_flows_have_their_shares_to_the_last_bit)
{
    for (uint64_t seed = 0; seed < ROUNDINGS; seed++) {
        struct random_stream stream;
        const uint32_t *changed;
        random_stream_init(&stream, seed, "full", 0);
        const double capacity = 1e9 * (1 + 400 * random_uniform(&stream));
        const uint32_t count = 2 + random_below(&stream, 6);
        struct network *network = network_new(&capacity, 1);
        for (uint32_t f = 0; f < count; f++) {
            const struct fabric_use use = {0, 1 + random_below(&stream, 64)};
            const double peak = capacity / use.senders;
            network_join(network, f, &(struct flow){peak, peak, &use, 1});
        }
        network_settle(network, &changed);
        for (uint32_t f = 0; f < count; f++)
            if (network_burst(network, f) != network_mean(network, f))
                fail_msg("seed %llu: a full link has something left", (unsigned long long)seed);
        network_free(network);
    }
}

/* Flow 0 and flow 1 share link 0, which is never full; flow 1 has its demand.  Flow 2 comes and fills link 1: it
 * changes the order in which the solver finds rates, but nothing of what flow 0 shares. */
TEST(flows_elsewhere_do_not_change_the_last_bits)
{
    for (uint64_t seed = 0; seed < ROUNDINGS; seed++) {
        struct random_stream stream;
        const uint32_t *changed;
        random_stream_init(&stream, seed, "elsewhere", 0);
        const double capacities[2] = {90 + 20 * random_uniform(&stream), 20};
        const struct fabric_use both[2] = {{0, 1}, {1, 1}};
        struct network *network = network_new(capacities, 2);
        network_join(network, 0, &(struct flow){20 + 10 * random_uniform(&stream), 200, &both[0], 1});
        network_join(network, 1, &(struct flow){9 * random_uniform(&stream), 200, both, 2});
        network_settle(network, &changed);
        network_join(network, 2, &(struct flow){100, 100, &both[1], 1});
        const uint32_t count = network_settle(network, &changed);
        if (lists(changed, count, 0))
            fail_msg("seed %llu: a flow changes though nothing on its links does", (unsigned long long)seed);
        network_free(network);
    }
}
