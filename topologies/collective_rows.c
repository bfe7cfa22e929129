/* topologies/collective_rows.c -- the measured rows, and the range that they give. */
#include "topologies/collective_rows.h"

#include <assert.h>

#define KIB 0x1p10
#define MIB 0x1p20
#define GIB 0x1p30

#define ROWS(...)                                                                                                      \
    .rows = (const struct collective_row[]){__VA_ARGS__},                                                              \
    .count = sizeof((const struct collective_row[]){__VA_ARGS__}) / sizeof(struct collective_row)
#define AR COLLECTIVE_ALL_REDUCE
#define AG COLLECTIVE_ALL_GATHER
#define RS COLLECTIVE_REDUCE_SCATTER
#define AA COLLECTIVE_ALL_TO_ALL

static const struct collective_table tables[] = {
    {
        .title = "8 x H200, NVLS, by size",
        .source = "stas00/ml-engineering network/README.md",
        .tolerance = 0.1,
        ROWS({"h200", AR, 1, 8, true, 32 * KIB, 1.44}, {"h200", AR, 1, 8, true, 256 * KIB, 11.7},
             {"h200", AR, 1, 8, true, 1 * MIB, 39.9}, {"h200", AR, 1, 8, true, 4 * MIB, 107},
             {"h200", AR, 1, 8, true, 16 * MIB, 220}, {"h200", AR, 1, 8, true, 64 * MIB, 347},
             {"h200", AR, 1, 8, true, 256 * MIB, 436}, {"h200", AR, 1, 8, true, 1 * GIB, 464},
             {"h200", AR, 1, 8, true, 4 * GIB, 473}, {"h200", AR, 1, 8, true, 16 * GIB, 482}),
    },
    {
        .title = "8 x H200 without NVLS; all-gather and reduce-scatter",
        .source = "stas00/ml-engineering network/README.md",
        .tolerance = 0.1,
        ROWS({"h200", AR, 1, 8, false, 16 * GIB, 367.6}, {"h200", AG, 1, 8, true, 16 * GIB, 361.4},
             {"h200", RS, 1, 8, true, 16 * GIB, 362.9}),
    },
    {
        .title = "H200 by number of GPUs",
        .source = "stas00/ml-engineering network/README.md",
        .tolerance = 0.1,
        ROWS({"h200", AR, 1, 4, true, 8 * GIB, 363}, {"h200", AR, 1, 5, true, 8 * GIB, 414},
             {"h200", AR, 1, 6, true, 8 * GIB, 436}, {"h200", AR, 1, 7, true, 8 * GIB, 460},
             {"h200", AR, 1, 8, true, 8 * GIB, 473}, {"h200", AR, 1, 4, false, 8 * GIB, 363},
             {"h200", AR, 1, 5, false, 8 * GIB, 364}, {"h200", AR, 1, 6, false, 8 * GIB, 365},
             {"h200", AR, 1, 7, false, 8 * GIB, 366}, {"h200", AR, 1, 8, false, 8 * GIB, 366}),
    },
    {
        .title = "8 x H100",
        .source = "NVIDIA/nccl-tests#290, NVIDIA/nccl#212; the size is not told, 8 GiB assumed",
        .tolerance = 0.1,
        ROWS({"h100", AR, 1, 8, true, 8 * GIB, 476}, {"h100", AR, 1, 8, true, 8 * GIB, 480},
             {"h100", AR, 1, 8, false, 8 * GIB, 370}),
    },
    {
        .title = "8 nodes of 8 H100, InfiniBand",
        .source = "coreweave/nccl-tests README",
        .tolerance = 0.1,
        ROWS({"h100", AR, 8, 8, true, 512 * MIB, 356.0}, {"h100", AR, 8, 8, true, 1 * GIB, 365.9},
             {"h100", AR, 8, 8, true, 2 * GIB, 380.7}, {"h100", AR, 8, 8, true, 4 * GIB, 383.2},
             {"h100", AR, 8, 8, true, 8 * GIB, 386.6}),
    },
    {
        .title = "GB200 NVL72, one rack",
        .source = "coreweave/nccl-tests README",
        .tolerance = 0.1,
        ROWS({"nvl72", AR, 1, 72, true, 512 * MIB, 586}, {"nvl72", AR, 1, 72, true, 1 * GIB, 681},
             {"nvl72", AR, 1, 72, true, 2 * GIB, 758}, {"nvl72", AR, 1, 72, true, 4 * GIB, 839},
             {"nvl72", AR, 1, 72, true, 8 * GIB, 835}),
    },
    {
        .title = "GB300 NVL72, two nodes of one rack",
        .source = "NVIDIA/aicr#1256; NVLink as GB200",
        .tolerance = 0.1,
        ROWS({"nvl72", AR, 1, 8, true, 16 * GIB, 841}),
    },
    {
        .title = "Two domains, InfiniBand: nodes of 8 H100 and of 8 B200, racks of GB200 NVL72",
        .source = "coreweave/nccl-tests pull request 92 and README",
        .tolerance = 0.1,
        ROWS({"h100", AR, 2, 8, true, 8 * GIB, 440.6}, {"b200", AR, 2, 8, true, 8 * GIB, 690.1},
             {"nvl72", AR, 2, 72, true, 16 * GIB, 810}),
    },
    {
        .title = "4 and 8 GPUs in each of three racks of GB200 NVL72, InfiniBand, NVLS off: ring",
        .source = "NVIDIA/nccl#1801",
        .tolerance = 0.1,
        .algorithm = COLLECTIVE_RING,
        ROWS({"nvl72", AR, 3, 4, false, 16 * GIB, 196.7}, {"nvl72", AR, 3, 8, false, 16 * GIB, 393.7}),
    },
    {
        .title = "4 and 8 GPUs in each of three racks of GB200 NVL72, InfiniBand, NVLS off: tree",
        .source = "NVIDIA/nccl#1801",
        .tolerance = 0.1,
        .algorithm = COLLECTIVE_TREE,
        ROWS({"nvl72", AR, 3, 4, false, 16 * GIB, 234.4}, {"nvl72", AR, 3, 8, false, 16 * GIB, 485.7}),
    },
    {
        .title = "Nodes of 8 H100, RoCE: 4 nodes with and without NVLS, 2 nodes without and with",
        .source = "NVIDIA/nccl#1221; of 4 and 8 GiB",
        .tolerance = 0.1,
        .transport = "roce-400g",
        ROWS({"h100", AR, 4, 8, true, 8 * GIB, 320}, {"h100", AR, 4, 8, false, 8 * GIB, 320},
             {"h100", AR, 2, 8, false, 8 * GIB, 330}, {"h100", AR, 2, 8, true, 8 * GIB, 430}),
    },
    {
        .title = "Two nodes of 8 H100, GPUDirect-TCPXO of Google Cloud, NICs of 200 Gb/s, from 64 MiB",
        .source = "lessizzmore/create-a3mega-ztan-fork, ztan-NCCL-test-result",
        .tolerance = 0.1,
        .transport = "gcp-tcpxo",
        ROWS({"h100", AR, 2, 8, true, 64 * MIB, 99.74}, {"h100", AR, 2, 8, true, 256 * MIB, 213.19},
             {"h100", AR, 2, 8, true, 1 * GIB, 297.86}, {"h100", AR, 2, 8, true, 8 * GIB, 338.82}),
    },
    {
        .title = "The same below 64 MiB",
        .source = "lessizzmore/create-a3mega-ztan-fork, ztan-NCCL-test-result",
        .transport = "gcp-tcpxo",
        ROWS({"h100", AR, 2, 8, true, 1 * MIB, 9.68}, {"h100", AR, 2, 8, true, 16 * MIB, 32.18}),
    },
    {
        .title = "Nodes of 8 H100, AWS EFA, from 1 GiB",
        .source = "crazyguitar/aws-gpu-communication-benchmark, data/nccl_all_reduce.csv; MB taken as MiB",
        .tolerance = 0.25,
        .transport = "aws-efa",
        ROWS({"h100", AR, 2, 8, true, 1 * GIB, 435.14}, {"h100", AR, 2, 8, true, 8 * GIB, 477.71},
             {"h100", AR, 4, 8, true, 1 * GIB, 280.30}, {"h100", AR, 4, 8, true, 8 * GIB, 356.99},
             {"h100", AR, 8, 8, true, 1 * GIB, 274.47}, {"h100", AR, 8, 8, true, 8 * GIB, 355.36},
             {"h100", AR, 16, 8, true, 1 * GIB, 269.23}, {"h100", AR, 16, 8, true, 8 * GIB, 356.27},
             {"h100", AR, 32, 8, true, 1 * GIB, 220.08}, {"h100", AR, 32, 8, true, 8 * GIB, 321.10}),
    },
    {
        .title = "Nodes of 8 H100, AWS EFA, 256 MiB",
        .source = "crazyguitar/aws-gpu-communication-benchmark, data/nccl_all_reduce.csv; MB taken as MiB",
        .transport = "aws-efa",
        ROWS({"h100", AR, 2, 8, true, 256 * MIB, 364.46}, {"h100", AR, 4, 8, true, 256 * MIB, 273.34},
             {"h100", AR, 8, 8, true, 256 * MIB, 232.09}, {"h100", AR, 16, 8, true, 256 * MIB, 148.11},
             {"h100", AR, 32, 8, true, 256 * MIB, 137.99}),
    },
    {
        .title = "Nodes of 8 H100, AWS EFA, all-to-all",
        .source = "crazyguitar/aws-gpu-communication-benchmark, data/nccl_alltoall.csv; MB taken as MiB",
        .tolerance = 0.2,
        .transport = "aws-efa",
        ROWS({"h100", AA, 2, 8, true, 2 * GIB, 79.25}, {"h100", AA, 4, 8, true, 2 * GIB, 54.07},
             {"h100", AA, 8, 8, true, 2 * GIB, 49.63}, {"h100", AA, 16, 8, true, 2 * GIB, 44.23},
             {"h100", AA, 32, 8, true, 2 * GIB, 40.78}),
    },
    {
        .title = "B200: one node of 8, and 4 nodes from 1 GiB",
        .source = "stas00/ml-engineering network/README.md",
        .tolerance = 0.1,
        ROWS({"b200", AR, 1, 8, true, 16 * GIB, 846}, {"b200", AR, 4, 8, true, 1 * GIB, 362},
             {"b200", AR, 4, 8, true, 16 * GIB, 382}),
    },
    {
        .title = "B200: 4 nodes of 8 below 1 GiB",
        .source = "stas00/ml-engineering network/README.md, a benchmark of PyTorch with a slow start",
        ROWS({"b200", AR, 4, 8, true, 32 * KIB, 0.01}, {"b200", AR, 4, 8, true, 1 * MIB, 5.4},
             {"b200", AR, 4, 8, true, 16 * MIB, 64}, {"b200", AR, 4, 8, true, 64 * MIB, 157},
             {"b200", AR, 4, 8, true, 256 * MIB, 229}),
    },
};

const struct collective_table *collective_tables(uint32_t *count)
{
    *count = sizeof tables / sizeof *tables;
    return tables;
}

static const struct transport *transport_of(const struct collective_table *table)
{
    return table->transport != NULL ? transport_find(text_of(table->transport)) : transports;
}

struct collective_system collective_row_system(const struct collective_table *table, const struct collective_row *row)
{
    const struct collective_system *system = collective_system_find(text_of(row->system));
    assert(system != NULL);
    return table->transport != NULL ? collective_system_over(system, transport_of(table)) : *system;
}

struct collective_place collective_row_place(const struct collective_row *row, const struct collective_system *system)
{
    struct collective_place place = collective_place_even(system, row->domains, row->gpus, system->nic_bytes_per_s);
    place.has_nvls = row->has_nvls;
    return place;
}

double collective_row_s(const struct collective_table *table, const struct collective_row *row)
{
    const struct collective_system system = collective_row_system(table, row);
    const struct collective_place place = collective_row_place(row, &system);
    return table->algorithm == COLLECTIVE_NOTHING
               ? collective_time(row->kind, &place, row->bytes).s
               : collective_algorithm_s(row->kind, &place, row->bytes, table->algorithm);
}

/* ---- the range ---- */

static const char *const axes[] = {"domains", "GPUs", "bytes"};

/* The library takes other algorithms in one domain, in two, and in more.  PCIe is a class of its own. */
static uint32_t domain_class(uint32_t domain_count)
{
    return domain_count < 3 ? domain_count : 3;
}

uint32_t collective_place_class(const struct collective_place *place)
{
    return place->is_pcie ? 0 : domain_class(place->domain_count);
}

/* Does the table count for the place?  Which transport there is does not matter in one domain. */
static bool is_of_transport(const struct collective_table *table, const struct collective_place *place)
{
    return place->domain_count == 1 || transport_is_same(transport_of(table), place->system->transport);
}

struct range collective_range(enum collective_kind kind, const struct collective_place *place)
{
    enum { NO_SYSTEM, NO_NETWORK, NO_KIND } lacks = NO_SYSTEM;
    struct range range = {.axes = axes, .axis_count = 3};
    for (size_t t = 0; t < sizeof tables / sizeof *tables && !place->is_pcie; t++)
        for (size_t r = 0; tables[t].tolerance > 0 && r < tables[t].count; r++) {
            const struct collective_row *row = &tables[t].rows[r];
            if (collective_system_find(text_of(row->system))->links != place->system->links)
                continue;
            const bool counts = is_of_transport(&tables[t], place);
            lacks = counts ? NO_KIND : lacks == NO_SYSTEM ? NO_NETWORK : lacks;
            if (counts && row->kind == kind && domain_class(row->domains) == domain_class(place->domain_count))
                range_add(&range, (const double[]){row->domains, row->domains * row->gpus, row->bytes});
        }
    range.what_axis = lacks == NO_SYSTEM ? "system" : lacks == NO_NETWORK ? "network" : "collective";
    range.what = place->is_pcie        ? "PCIe"
                 : lacks == NO_SYSTEM  ? place->system->name
                 : lacks == NO_NETWORK ? transport_known_name(place->system->transport)
                                       : collective_kind_names[kind];
    return range;
}

struct range_verdict collective_range_test(const struct range *range, const struct collective_place *place,
                                           double bytes)
{
    if (place->gpu_count == 1 || bytes <= 0)
        return (struct range_verdict){.times = 1};
    return range_test(range, (const double[]){place->domain_count, place->gpu_count, bytes});
}

struct range_verdict collective_validated(enum collective_kind kind, const struct collective_place *place, double bytes)
{
    const struct range range = collective_range(kind, place);
    return collective_range_test(&range, place, bytes);
}
