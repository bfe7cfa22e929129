/* tests/unit/test_nccl_tuning.c -- NCCL's tuning model, against sums by hand from the tables of its source. */
#include <math.h>

#include "tests/support/test.h"

#include "topologies/nccl_tuning.h"

static struct collective_place place_of(const char *name, uint32_t domains, uint32_t gpus)
{
    const struct collective_system *system = collective_system_find(text_of(name));
    assert_non_null(system);
    return collective_place_even(system, domains, gpus, system->nic_bytes_per_s);
}

static void check(struct nccl_tuning is, double should_s, enum collective_algorithm algorithm,
                  enum nccl_protocol protocol)
{
    if (!(fabs(is.s - should_s) <= 1e-9 * should_s))
        fail_msg("%.9g s is not %.9g", is.s, should_s);
    assert_string_equal(collective_algorithm_names[is.algorithm], collective_algorithm_names[algorithm]);
    assert_string_equal(nccl_protocol_names[is.protocol], nccl_protocol_names[protocol]);
}

TEST(one_domain)
{
    const struct collective_place node = place_of("h100", 1, 8);
    /* NVLS: 16 channels of 20 GB/s, of which 15 carry bytes, both ways, at 0.85. */
    check(nccl_tuning_time(COLLECTIVE_ALL_REDUCE, &node, 8e9, COLLECTIVE_NOTHING),
          25e-6 + 8e9 * 1.75 / (320e9 * 0.85 * 15 / 16 * 2), COLLECTIVE_NVLS, NCCL_SIMPLE);
    check(nccl_tuning_time(COLLECTIVE_ALL_REDUCE, &node, 8e9, COLLECTIVE_RING),
          8.4e-6 + 14 * 3.4e-6 + 8e9 * 1.75 / 360e9, COLLECTIVE_RING, NCCL_SIMPLE);
    check(nccl_tuning_time(COLLECTIVE_ALL_GATHER, &node, 8e9, COLLECTIVE_NOTHING),
          8.4e-6 + 7 * 3.4e-6 + 8e9 * 0.875 / 360e9, COLLECTIVE_RING, NCCL_SIMPLE);
    /* Few bytes: half of LL's are flags, at most 141 GB/s; the correction of trees is 1 below 1 KiB. */
    check(nccl_tuning_time(COLLECTIVE_ALL_REDUCE, &node, 512, COLLECTIVE_RING),
          6.6e-6 + 14 * 0.6e-6 + 512 * 1.75 / 141e9, COLLECTIVE_RING, NCCL_LL);
    check(nccl_tuning_time(COLLECTIVE_ALL_REDUCE, &node, 512, COLLECTIVE_TREE),
          6.8e-6 + 2 * 7 * 0.6e-6 + 2 * 512 / (360e9 * 0.92 / 3.8), COLLECTIVE_TREE, NCCL_LL);
}

TEST(several_domains)
{
    const struct collective_place nodes = place_of("h100", 8, 8), two = place_of("h100", 2, 8);
    /* A ring by 8 NICs of 48 GB/s; its latency counts 1.4 times. */
    check(nccl_tuning_time(COLLECTIVE_ALL_REDUCE, &nodes, 8e9, COLLECTIVE_RING),
          1.4 * (8.4e-6 + 112 * 3.4e-6 + 14 * 14e-6) + 8e9 * 126 / 64 / 360e9, COLLECTIVE_RING, NCCL_SIMPLE);
    /* A tree: 8 channels of at most 36 GB/s; 8 GB are beyond the corrections. */
    check(nccl_tuning_time(COLLECTIVE_ALL_REDUCE, &nodes, 8e9, COLLECTIVE_TREE),
          8.4e-6 + 2 * (7 * 4e-6 + 3 * 14e-6) + 2 * 8e9 / (8 * 36e9), COLLECTIVE_TREE, NCCL_SIMPLE);
    check(nccl_tuning_time(COLLECTIVE_ALL_REDUCE, &nodes, 8e9, COLLECTIVE_NOTHING),
          25e-6 + 6 * 20.9e-6 + 8e9 * 126 / 64 / (8 * 45.5e9), COLLECTIVE_NVLS_TREE, NCCL_SIMPLE);
    check(nccl_tuning_time(COLLECTIVE_ALL_REDUCE, &two, 8e9, COLLECTIVE_NOTHING),
          25e-6 + 2 * 20.9e-6 + 8e9 * 30 / 16 / (8 * 57.7e9), COLLECTIVE_NVLS_TREE, NCCL_SIMPLE);
    /* A mebibyte by a tree: the correction is that of 2^14 times 64 bytes. */
    check(nccl_tuning_time(COLLECTIVE_ALL_REDUCE, &nodes, 0x1p20, COLLECTIVE_TREE),
          14e-6 + 2 * (7 * 1.25e-6 + 3 * 8.5e-6) + 2 * 0x1p20 / (0.6 * 8 * 29e9), COLLECTIVE_TREE, NCCL_LL128);
}

TEST(what_it_does_not_tell)
{
    const struct collective_place one = place_of("h100", 1, 1), pcie = place_of("h100-pcie", 1, 8),
                                  node = place_of("h100", 1, 8);
    assert_true(isinf(nccl_tuning_time(COLLECTIVE_ALL_REDUCE, &one, 1e9, COLLECTIVE_NOTHING).s));
    assert_true(isinf(nccl_tuning_time(COLLECTIVE_ALL_REDUCE, &pcie, 1e9, COLLECTIVE_NOTHING).s));
    assert_true(isinf(nccl_tuning_time(COLLECTIVE_ALL_TO_ALL, &node, 1e9, COLLECTIVE_NOTHING).s));
    assert_true(isinf(nccl_tuning_time(COLLECTIVE_ALL_GATHER, &node, 1e9, COLLECTIVE_TREE).s));
    assert_true(isinf(nccl_tuning_time(COLLECTIVE_ALL_REDUCE, &node, 1e9, COLLECTIVE_NVLS_TREE).s));
}
