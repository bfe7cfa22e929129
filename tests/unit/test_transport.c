/* tests/unit/test_transport.c -- what another network does to collectives, against closed forms and laws. */
#include <math.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "topologies/collective.h"

static void check_near(double is, double should)
{
    if (!(fabs(is - should) <= 1e-9 * fabs(should)))
        fail_msg("%.9g is not %.9g", is, should);
}

TEST(the_table)
{
    for (int i = 0; i < TRANSPORT_COUNT; i++) {
        assert_string_equal(transport_names[i], transports[i].name);
        assert_ptr_equal(transport_find(text_of(transport_names[i])), &transports[i]);
        assert_true(transports[i].step_s > 0 && transports[i].rate_ratio > 0 && transports[i].rate_ratio <= 1);
        assert_true(transports[i].nic_bytes_per_s > 0 && transports[i].source[0] != '\0');
    }
    assert_null(transport_names[TRANSPORT_COUNT]);
    assert_null(transport_find(TEXT("infiniband")));
    assert_true(transport_is_same(&transports[0], &transports[0]));
    assert_false(transport_is_same(&transports[0], &transports[1]));
}

/* 4 nodes of 2 GPUs over steps of 100 us, with half of 40 GB/s. */
TEST(each_algorithm_by_hand)
{
    const struct transport own = {"own", 100e-6, 0.5, 40e9, "by hand"};
    const struct collective_system system = collective_system_over(collective_system_find(TEXT("h100")), &own);
    const struct collective_place place = collective_place_even(&system, 4, 2, system.nic_bytes_per_s);
    const struct collective_place wide = collective_place_even(&system, 4, 8, system.nic_bytes_per_s);
    const struct collective_place pair = collective_place_even(&system, 2, 1, system.nic_bytes_per_s);
    const double bytes = 8e9, nics = 2 * 40e9 * 0.5;
    /* Of 14 steps 6 are over the network. */
    check_near(collective_algorithm_s(COLLECTIVE_ALL_REDUCE, &place, bytes, COLLECTIVE_RING),
               14e-6 + 8 * 1.9e-6 + 6 * 100e-6 + 1.75 * bytes / nics);
    /* Two levels, up and down; a step takes 14 us over InfiniBand, where a ring's takes 4. */
    check_near(collective_algorithm_s(COLLECTIVE_ALL_REDUCE, &place, bytes, COLLECTIVE_TREE),
               8.4e-6 + 2 * (4e-6 + 2 * (14e-6 + 96e-6)) + 2 * bytes / nics / 0.92);
    check_near(collective_algorithm_s(COLLECTIVE_ALL_REDUCE, &wide, bytes, COLLECTIVE_NVLS_TREE),
               35e-6 + 2 * 2 * (20.9e-6 + 96e-6) + 2.83e-9 * sqrt(8 * 0x1p29) + 2 * bytes / (4 * nics) / 0.94);
    /* Of 8 shares 6 go to other nodes. */
    check_near(collective_time(COLLECTIVE_ALL_TO_ALL, &place, bytes).s, 14e-6 + 100e-6 + 0.75 * bytes / (40e9 * 0.5));
    check_near(collective_time(COLLECTIVE_POINT_TO_POINT, &pair, bytes).s,
               5e-6 + 96e-6 + bytes / (0.9 * 0.5 / 0.966 * 40e9));
}

/* The time never falls as a step takes longer, nor as the library reaches less of the rate; in one domain it is the
 * same over every network. */
TEST(a_slower_network_never_helps)
{
    struct random_stream random;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        random_stream_init(&random, seed, "transport", 0);
        uint32_t count;
        const struct collective_system *table = collective_system_table(&count);
        const struct transport fast = {"fast", 1e-7 * pow(10, 6 * random_uniform(&random)),
                                       0.1 + 0.9 * random_uniform(&random), 50e9, ""};
        struct transport slow = fast;
        if (random_below(&random, 2))
            slow.step_s *= 1 + random_uniform(&random);
        else
            slow.rate_ratio *= random_uniform(&random);
        const struct collective_system *of = &table[random_below(&random, count)];
        const struct collective_system a = collective_system_over(of, &fast), b = collective_system_over(of, &slow);
        const uint32_t domains = 1 + random_below(&random, 40), gpus = 1 + random_below(&random, of->domain_gpus);
        const struct collective_place before = collective_place_even(&a, domains, gpus, 50e9);
        const struct collective_place after = collective_place_even(&b, domains, gpus, 50e9);
        const enum collective_kind kind = (enum collective_kind)random_below(&random, COLLECTIVE_KIND_COUNT);
        const double bytes = pow(10, 12 * random_uniform(&random));
        const double was = collective_time(kind, &before, bytes).s, is = collective_time(kind, &after, bytes).s;
        if (is < was || (domains == 1 && is > was))
            fail_msg("seed %llu: %u domains take %.9g s, over a faster network %.9g", (unsigned long long)seed, domains,
                     is, was);
    }
}
