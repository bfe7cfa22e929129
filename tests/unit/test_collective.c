/* tests/unit/test_collective.c -- times of collectives, against closed forms worked out by hand, and laws that hold for
 * any place and size. */
#include <math.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "topologies/collective.h"

static const struct collective_system *system_of(const char *name)
{
    const struct collective_system *system = collective_system_find(text_of(name));
    assert_non_null(system);
    return system;
}

static struct collective_place place_of(const char *name, uint32_t domains, uint32_t gpus)
{
    const struct collective_system *system = system_of(name);
    return collective_place_even(system, domains, gpus, system->nic_bytes_per_s);
}

static void check_near(double is, double should, double tolerance)
{
    if (!(fabs(is - should) <= tolerance * fabs(should)))
        fail_msg("%.9g is not %.9g", is, should);
}

static void check_time(enum collective_kind kind, const struct collective_place *place, double bytes, double should_s,
                       enum collective_algorithm algorithm)
{
    const struct collective_time time = collective_time(kind, place, bytes);
    check_near(time.s, should_s, 1e-9);
    assert_string_equal(collective_algorithm_names[time.algorithm], collective_algorithm_names[algorithm]);
}

/* ---- closed forms ---- */

TEST(rings)
{
    /* One node of 4 H100: 6 steps over NVLink; 1.5 buffers cross each link. */
    struct collective_place node = place_of("h100", 1, 4);
    const double ramp = 2.83e-9 * sqrt(4 * 1e6);
    check_time(COLLECTIVE_ALL_REDUCE, &node, 1e6, 14e-6 + 6 * 1.9e-6 + ramp + 1.5 * 1e6 / 364e9, COLLECTIVE_RING);
    check_time(COLLECTIVE_ALL_GATHER, &node, 1e6, 14e-6 + 3 * 1.9e-6 + ramp + 0.75 * 1e6 / 364e9, COLLECTIVE_RING);
    check_time(COLLECTIVE_REDUCE_SCATTER, &node, 1e6, 14e-6 + 3 * 1.9e-6 + ramp + 0.75 * 1e6 / 364e9, COLLECTIVE_RING);
    /* 4 nodes of 2: of 14 steps 6 over the network, where a node has two NICs. */
    struct collective_place nodes = place_of("h100", 4, 2);
    check_time(COLLECTIVE_ALL_REDUCE, &nodes, 8e9, 14e-6 + 8 * 1.9e-6 + 6 * 4e-6 + 1.75 * 8e9 / (2 * 50e9 * 0.966),
               COLLECTIVE_RING);
    /* Without NVLink 0.76 of 63 GB/s. */
    struct collective_place pcie = place_of("h100-pcie", 1, 2);
    check_time(COLLECTIVE_ALL_REDUCE, &pcie, 1e9, 14e-6 + 2 * 1.9e-6 + 2.83e-9 * sqrt(2 * 0x1p29) + 1e9 / (0.76 * 63e9),
               COLLECTIVE_RING);
    /* In several islands of a node of H100 too. */
    struct collective_place islands = place_of("h100", 1, 2);
    islands.is_pcie = true;
    assert_true(collective_time(COLLECTIVE_ALL_REDUCE, &islands, 1e9).s ==
                collective_time(COLLECTIVE_ALL_REDUCE, &pcie, 1e9).s);
}

TEST(small_messages_go_by_the_tree)
{
    /* 16 nodes of 8: up and down a chain of 7 steps and a tree of 4 levels. */
    struct collective_place nodes = place_of("h100", 16, 8);
    check_time(COLLECTIVE_ALL_REDUCE, &nodes, 0, 8.4e-6 + 2 * (7 * 4e-6 + 4 * 14e-6), COLLECTIVE_TREE);
    check_time(COLLECTIVE_ALL_REDUCE, &nodes, 1e6,
               8.4e-6 + 2 * (7 * 4e-6 + 4 * 14e-6) + 1e6 / (0.46 * 8 * 50e9 * 0.966 * 386 / 386.4), COLLECTIVE_TREE);
    assert_int_equal(collective_time(COLLECTIVE_ALL_REDUCE, &nodes, 64e9).algorithm, COLLECTIVE_RING);
}

/* Over three domains of 4 GPUs with 4 NICs: the busiest domain sends 1.5 times the bytes.  Over two it sends them once,
 * but a chain of GPUs passes them on twice. */
TEST(trees_send_what_their_busiest_domain_sends)
{
    struct collective_place three = place_of("nvl72", 3, 4), two = place_of("nvl72", 2, 4);
    three.has_nvls = two.has_nvls = false;
    check_time(COLLECTIVE_ALL_REDUCE, &three, 16e9,
               8.4e-6 + 2 * (3 * 4e-6 + 14e-6) + 1.5 * 16e9 / (0.92 * 4 * 50e9 * 0.966), COLLECTIVE_TREE);
    two.network_bytes_per_s = 200e9;
    check_near(collective_algorithm_s(COLLECTIVE_ALL_REDUCE, &two, 16e9, COLLECTIVE_TREE),
               8.4e-6 + 2 * (3 * 4e-6 + 14e-6) + 2 * 16e9 / (0.92 * 728e9), 1e-9);
    struct collective_place four = place_of("nvl72", 4, 1);
    check_near(collective_algorithm_s(COLLECTIVE_ALL_REDUCE, &four, 16e9, COLLECTIVE_TREE),
               8.4e-6 + 2 * 2 * 14e-6 + 2 * 16e9 / (0.92 * 50e9 * 0.966), 1e-9);
}

/* Of 72 NICs of 50 Gb/s the 32 channels use 32. */
TEST(each_channel_leaves_a_domain_by_one_nic)
{
    const struct collective_system *rack = system_of("nvl72");
    struct collective_system narrow = *rack;
    narrow.nic_bytes_per_s = 6.25e9;
    struct collective_place place = collective_place_even(&narrow, 3, 72, 6.25e9);
    const double steps = 14e-6 + (430 - 4) * 1.9e-6 + 4 * 4e-6;
    check_near(collective_algorithm_s(COLLECTIVE_ALL_REDUCE, &place, 16e9, COLLECTIVE_RING),
               steps + 2 * 215 / 216.0 * 16e9 / (32 * 6.25e9 * 0.966), 1e-9);
    /* NICs of 400 Gb/s of which each GPU has an eighth: the channels have all of it. */
    place = collective_place_even(rack, 3, 72, 6.25e9);
    check_near(collective_algorithm_s(COLLECTIVE_ALL_REDUCE, &place, 16e9, COLLECTIVE_RING),
               steps + 2 * 215 / 216.0 * 16e9 / (72 * 6.25e9 * 0.966), 1e-9);
}

TEST(nvls_adds_in_the_switch)
{
    struct collective_place node = place_of("h200", 1, 8);
    const double ramp = 2.83e-9 * sqrt(8 * 0x1p29);
    check_time(COLLECTIVE_ALL_REDUCE, &node, 8e9, 35e-6 + ramp + 8e9 * (1 + 1 / 8.0) / 310e9, COLLECTIVE_NVLS);
    assert_int_equal(collective_time(COLLECTIVE_ALL_GATHER, &node, 8e9).algorithm, COLLECTIVE_RING);
    node.has_nvls = false;
    assert_int_equal(collective_time(COLLECTIVE_ALL_REDUCE, &node, 8e9).algorithm, COLLECTIVE_RING);
    struct collective_place four = place_of("h200", 1, 4);
    assert_int_equal(collective_time(COLLECTIVE_ALL_REDUCE, &four, 8e9).algorithm, COLLECTIVE_RING);
    /* Two nodes swap sums; in four the busiest node sends the bytes twice, and a ring is faster. */
    struct collective_place two = place_of("h200", 2, 8), four_nodes = place_of("h200", 4, 8);
    check_time(COLLECTIVE_ALL_REDUCE, &two, 8e9, 35e-6 + 2 * 20.9e-6 + ramp + 8e9 * (1 + 2 / 8.0) / (0.94 * 310e9),
               COLLECTIVE_NVLS_TREE);
    check_near(collective_algorithm_s(COLLECTIVE_ALL_REDUCE, &four_nodes, 8e9, COLLECTIVE_NVLS_TREE),
               35e-6 + 4 * 20.9e-6 + ramp + 2 * 8e9 / (0.94 * 8 * 50e9 * 0.966), 1e-9);
    assert_int_equal(collective_time(COLLECTIVE_ALL_REDUCE, &four_nodes, 8e9).algorithm, COLLECTIVE_RING);
    /* A rack has a limit of its own: 859 GB/s. */
    struct collective_place rack = place_of("nvl72", 1, 72);
    check_time(COLLECTIVE_ALL_REDUCE, &rack, 8e9, 35e-6 + 2.83e-9 * sqrt(72 * 0x1p29) + 2 * 71 / 72.0 * 8e9 / 859e9,
               COLLECTIVE_NVLS);
}

TEST(direct_messages)
{
    /* 2 nodes of 4: of 8 parts 4 go through the GPU's NIC, 3 over NVLink meanwhile. */
    struct collective_place nodes = place_of("h100", 2, 4), node = place_of("h100", 1, 4);
    check_time(COLLECTIVE_ALL_TO_ALL, &nodes, 8e9, 18e-6 + 4e9 / (50e9 * 0.966), COLLECTIVE_DIRECT);
    check_time(COLLECTIVE_ALL_TO_ALL, &node, 8e9, 15.9e-6 + 6e9 / 364e9, COLLECTIVE_DIRECT);
    struct collective_place far = place_of("h100", 2, 1), near = place_of("h100", 1, 2);
    check_time(COLLECTIVE_POINT_TO_POINT, &far, 9e9, 5e-6 + 9e9 / 45e9, COLLECTIVE_DIRECT);
    check_time(COLLECTIVE_POINT_TO_POINT, &near, 9e9, 5e-6 + 9e9 / (364e9 * 1.016), COLLECTIVE_DIRECT);
}

TEST(one_gpu_sends_nothing)
{
    struct collective_place one = place_of("h100", 1, 1);
    for (int kind = 0; kind < COLLECTIVE_KIND_COUNT; kind++) {
        assert_true(collective_time((enum collective_kind)kind, &one, 1e9).s == 0);
        assert_true(collective_bus_gb_per_s((enum collective_kind)kind, &one, 1e9) == 0);
    }
}

TEST(tiers_divide_what_a_nic_gives)
{
    assert_true(collective_network_bytes_per_s(50e9, LINK_NVLINK, 2, 4) == 50e9);
    assert_true(collective_network_bytes_per_s(50e9, LINK_LEAF, 2, 4) == 50e9);
    assert_true(collective_network_bytes_per_s(50e9, LINK_SPINE, 2, 4) == 25e9);
    assert_true(collective_network_bytes_per_s(50e9, LINK_CORE, 2, 4) == 6.25e9);
    /* A large all-reduce across units slows down by the oversubscription. */
    struct collective_place place = place_of("h100", 8, 8);
    const double full = collective_bus_gb_per_s(COLLECTIVE_ALL_REDUCE, &place, 1e12);
    place.network_bytes_per_s = collective_network_bytes_per_s(50e9, LINK_SPINE, 4, 1);
    check_near(collective_bus_gb_per_s(COLLECTIVE_ALL_REDUCE, &place, 1e12), full / 4, 0.002);
}

TEST(members_are_packed)
{
    const struct collective_system *system = system_of("h100");
    struct collective_place place = collective_place_packed(system, 20, 8, 50e9);
    assert_int_equal(place.domain_count, 3);
    assert_int_equal(place.domain_gpus_least, 6);
    assert_int_equal(place.gpu_count, 20);
    place = collective_place_packed(system, 8, 8, 50e9);
    assert_int_equal(place.domain_count, 1);
    assert_int_equal(place.domain_gpus_least, 8);
    assert_null(collective_system_find(TEXT("h10")));
}

/* ---- laws, at random ---- */

static struct collective_place random_place(struct random_stream *random)
{
    uint32_t count;
    const struct collective_system *systems = collective_system_table(&count);
    const struct collective_system *system = &systems[random_below(random, count)];
    const uint32_t gpus = 1 + random_below(random, random_below(random, 2) ? 20 : 10000);
    struct collective_place place = collective_place_packed(system, gpus, 1 + random_below(random, system->domain_gpus),
                                                            1e6 * pow(10, 6 * random_uniform(random)));
    place.has_nvls = random_below(random, 2);
    place.is_pcie |= random_below(random, 5) == 0;
    return place;
}

/* Time never falls as bytes grow, is finite, positive with two GPUs and more, and at least what the bytes need. */
TEST(time_grows_with_bytes)
{
    struct random_stream random;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        random_stream_init(&random, seed, "collective", 0);
        const struct collective_place place = random_place(&random);
        const enum collective_kind kind = (enum collective_kind)random_below(&random, COLLECTIVE_KIND_COUNT);
        double bytes = 0, last = 0;
        for (int i = 0; i < 12; i++) {
            const double s = collective_time(kind, &place, bytes).s;
            if (!isfinite(s) || s < last || (place.gpu_count > 1) != (s > 0))
                fail_msg("seed %llu: %.0f bytes take %.9g s, fewer took %.9g", (unsigned long long)seed, bytes, s,
                         last);
            last = s;
            bytes = bytes * (1 + 5 * random_uniform(&random)) + 1000 * random_uniform(&random);
        }
    }
}

/* More bandwidth, or NVLS where there was none, never slows anything down. */
TEST(bandwidth_never_hurts)
{
    struct random_stream random;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        random_stream_init(&random, seed, "bandwidth", 0);
        struct collective_place place = random_place(&random);
        const enum collective_kind kind = (enum collective_kind)random_below(&random, COLLECTIVE_KIND_COUNT);
        const double bytes = pow(10, 12 * random_uniform(&random));
        const double before = collective_time(kind, &place, bytes).s;
        place.network_bytes_per_s *= 1 + random_uniform(&random);
        place.has_nvls = true;
        if (collective_time(kind, &place, bytes).s > before)
            fail_msg("seed %llu: more bandwidth takes longer", (unsigned long long)seed);
    }
}

/* Law 1: domains of the same size that join several never make anything faster.  A NIC is not faster than the links
 * inside. */
TEST(more_domains_never_help)
{
    struct random_stream random;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        random_stream_init(&random, seed, "domains", 0);
        const struct collective_place some = random_place(&random);
        const enum collective_kind kind = (enum collective_kind)random_below(&random, COLLECTIVE_KIND_COUNT);
        const double bytes = pow(10, 12 * random_uniform(&random));
        double last = 0;
        for (uint32_t domains = 2; domains <= 40; domains++) {
            struct collective_place place =
                collective_place_even(some.system, domains, some.domain_gpus_least,
                                      fmin(some.network_bytes_per_s, some.is_pcie ? 40e9 : 200e9));
            place.has_nvls = some.has_nvls;
            place.is_pcie = some.is_pcie;
            const double s = collective_time(kind, &place, bytes).s;
            if (s < last)
                fail_msg("seed %llu: %u domains take %.9g s, fewer take %.9g", (unsigned long long)seed, domains, s,
                         last);
            last = s;
        }
    }
}

/* Law 2: bytes that cross a link in a second, by algorithm, against the nominal rates. */
TEST(no_link_carries_more_than_its_rate)
{
    struct random_stream random;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        random_stream_init(&random, seed, "links", 0);
        struct collective_place place = random_place(&random);
        place.network_bytes_per_s = fmin(place.network_bytes_per_s, place.system->nic_bytes_per_s);
        const double bytes = pow(10, 12 * random_uniform(&random)), n = place.gpu_count;
        const double nics = place.domain_gpus_least * place.network_bytes_per_s;
        const double trees = place.domain_count == 2 ? 1 : place.domain_count == 3 ? 1.5 : 2;
        const double inside = fmax(place.system->ring_bytes_per_s, place.system->through_bytes_per_s);
        const struct {
            enum collective_algorithm algorithm;
            double leaves, passed; /* of the bytes: out of a domain; on by a GPU in a domain */
        } of[] = {{COLLECTIVE_RING, 2 * (n - 1) / n, 2 * (n - 1) / n},
                  {COLLECTIVE_TREE, trees, place.gpu_count > place.domain_count ? 2 : 0},
                  {COLLECTIVE_NVLS_TREE, trees, 0}};
        for (int i = 0; i < 3 && place.domain_count > 1; i++) {
            const double s = collective_algorithm_s(COLLECTIVE_ALL_REDUCE, &place, bytes, of[i].algorithm);
            if (of[i].leaves * bytes > nics * s || of[i].passed * bytes > inside * s)
                fail_msg("seed %llu: %s sends %g GB/s over NICs of %g, and passes on %g of %g",
                         (unsigned long long)seed, collective_algorithm_names[of[i].algorithm],
                         of[i].leaves * bytes / s / 1e9, nics / 1e9, of[i].passed * bytes / s / 1e9, inside / 1e9);
        }
    }
}

/* Law 3: a group that one domain could hold is not faster over several. */
TEST(a_group_is_fastest_in_one_domain)
{
    struct random_stream random;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        random_stream_init(&random, seed, "one", 0);
        struct collective_place place = random_place(&random), one = place;
        const enum collective_kind kind = (enum collective_kind)random_below(&random, COLLECTIVE_KIND_COUNT);
        const double bytes = pow(10, 12 * random_uniform(&random));
        if (place.gpu_count > place.system->domain_gpus)
            continue;
        one.domain_count = 1;
        one.domain_gpus_least = one.gpu_count;
        if (collective_group_s(kind, &place, bytes) < collective_time(kind, &one, bytes).s)
            fail_msg("seed %llu: a group is faster over %u domains", (unsigned long long)seed, place.domain_count);
    }
}
