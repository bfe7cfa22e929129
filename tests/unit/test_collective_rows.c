/* tests/unit/test_collective_rows.c -- measured rows are inside their range; what nobody measured is not. */
#include <math.h>
#include <string.h>

#include "tests/support/test.h"

#include "topologies/collective_rows.h"

static struct range_verdict verdict_of(const char *system, uint32_t domains, uint32_t gpus, double bytes)
{
    const struct collective_system *found = collective_system_find(text_of(system));
    assert_non_null(found);
    const struct collective_place place = collective_place_even(found, domains, gpus, found->nic_bytes_per_s);
    return collective_validated(COLLECTIVE_ALL_REDUCE, &place, bytes);
}

static void check_outside(struct range_verdict verdict, const char *reason, double times)
{
    assert_non_null(verdict.reason);
    assert_string_equal(verdict.reason, reason);
    assert_true(verdict.times == times);
}

/* Every tested row is within its tolerance and inside the range; the rows of other tables give no range. */
TEST(tested_rows_are_met_and_inside)
{
    uint32_t count, tested = 0;
    const struct collective_table *tables = collective_tables(&count);
    for (uint32_t t = 0; t < count; t++)
        for (size_t r = 0; r < tables[t].count; r++) {
            const struct collective_row *row = &tables[t].rows[r];
            const struct collective_system system = collective_row_system(&tables[t], row);
            const struct collective_place place = collective_row_place(row, &system);
            const double gb_per_s = collective_bus_factor(row->kind, place.gpu_count) * row->bytes /
                                    collective_row_s(&tables[t], row) / 1e9;
            if (tables[t].tolerance == 0)
                continue;
            tested++;
            if (!(fabs(gb_per_s / row->gb_per_s - 1) <= tables[t].tolerance))
                fail_msg("%s: %g GB/s, measured %g", tables[t].title, gb_per_s, row->gb_per_s);
            if (!range_is_inside(collective_validated(row->kind, &place, row->bytes)))
                fail_msg("%s: a row is outside", tables[t].title);
        }
    assert_true(tested >= 40);
}

TEST(beyond_the_rows)
{
    assert_null(verdict_of("h100", 1, 8, 1e9).reason); /* rows of H200 */
    assert_null(verdict_of("h100", 8, 8, 4e9).reason);
    check_outside(verdict_of("h100", 16, 8, 4e9), "domains", 2);
    check_outside(verdict_of("h100", 64, 8, 4e9), "domains", 8);
    check_outside(verdict_of("h100", 8, 8, 0x1p27), "bytes", 4);   /* from 512 MiB on */
    check_outside(verdict_of("h100", 1, 2, 1e9), "GPUs", 2);       /* from 4 on */
    check_outside(verdict_of("nvl72", 4, 72, 0x1p34), "GPUs", 12); /* three domains with 8 in each */
    check_outside(verdict_of("a100", 1, 8, 1e9), "a100", INFINITY);
    check_outside(verdict_of("h100-pcie", 1, 8, 1e9), "PCIe", INFINITY);
    assert_null(verdict_of("a100", 1, 1, 1e9).reason); /* one GPU sends nothing */
}

/* What was measured over one network says nothing of another, but for what stays in one domain. */
TEST(other_networks)
{
    const struct collective_system *h100 = collective_system_find(TEXT("h100"));
    struct transport own = *transport_find(TEXT("aws-efa"));
    const struct collective_system efa = collective_system_over(h100, &own);
    struct collective_place nodes = collective_place_even(&efa, 16, 8, efa.nic_bytes_per_s);
    const struct collective_place node = collective_place_even(&efa, 1, 8, efa.nic_bytes_per_s);
    assert_null(collective_validated(COLLECTIVE_ALL_REDUCE, &nodes, 0x1p31).reason);
    assert_null(collective_validated(COLLECTIVE_ALL_TO_ALL, &nodes, 0x1p31).reason);
    check_outside(collective_validated(COLLECTIVE_ALL_REDUCE, &nodes, 0x1p29), "bytes", 2);
    check_outside(collective_validated(COLLECTIVE_ALL_GATHER, &nodes, 0x1p31), "all-gather", INFINITY);
    assert_null(collective_validated(COLLECTIVE_ALL_REDUCE, &node, 1e9).reason);
    own.step_s *= 2;
    check_outside(collective_validated(COLLECTIVE_ALL_REDUCE, &nodes, 0x1p31), "this network", INFINITY);
    assert_null(collective_validated(COLLECTIVE_ALL_REDUCE, &node, 1e9).reason);
    const struct collective_system b200 =
        collective_system_over(collective_system_find(TEXT("b200")), transport_find(TEXT("gcp-tcpxo")));
    nodes = collective_place_even(&b200, 2, 8, b200.nic_bytes_per_s);
    check_outside(collective_validated(COLLECTIVE_ALL_REDUCE, &nodes, 0x1p31), "gcp-tcpxo", INFINITY);
}

TEST(other_collectives)
{
    const struct collective_system *h100 = collective_system_find(TEXT("h100"));
    const struct collective_place node = collective_place_even(h100, 1, 8, 50e9);
    check_outside(collective_validated(COLLECTIVE_ALL_TO_ALL, &node, 1e9), "all-to-all", INFINITY);
    check_outside(collective_validated(COLLECTIVE_ALL_GATHER, &node, 0x1p33), "bytes", 2);
    assert_null(collective_validated(COLLECTIVE_ALL_GATHER, &node, 0x1p34).reason);
}
