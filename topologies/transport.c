/* topologies/transport.c -- the table of transports. */
#include "topologies/transport.h"

#include <stddef.h>

const struct transport transports[TRANSPORT_COUNT] = {
    {
        .name = "infiniband-ndr",
        .step_s = 4.0e-6,        /* NVIDIA/nccl, src/graph/tuning.cc: a ring's step over the network, LL128 */
        .rate_ratio = 0.966,     /* CoreWeave, 64 x H100, 8 GiB: 386 GB/s of 8 NICs of 50; NVIDIA/nccl: 46 to 48 */
        .nic_bytes_per_s = 50e9, /* ConnectX-7, 400 Gb/s for each GPU */
        .source = "NVIDIA/nccl src/graph/tuning.cc; coreweave/nccl-tests, 64 x H100",
    },
    {
        .name = "roce-400g",
        .step_s = 4.0e-6,        /* assumed: as InfiniBand */
        .rate_ratio = 0.8,       /* NVIDIA/nccl#1221, 4 nodes of 8 H100: 320 GB/s of 8 NICs of 50 */
        .nic_bytes_per_s = 50e9, /* as above: 8 NICs of 400 Gb/s */
        .source = "rate: NVIDIA/nccl#1221, 4 nodes of 8 H100; step: assumed, as InfiniBand",
    },
    {
        .name = "gcp-tcpxo",
        .step_s = 396e-6,        /* fit with rate_ratio: 2 nodes, all-reduce from 64 MiB to 8 GiB, 1.1 % rms */
        .rate_ratio = 0.986,     /* as above */
        .nic_bytes_per_s = 25e9, /* A3 Mega: 8 NICs of 200 Gb/s */
        .source = "fit: lessizzmore/create-a3mega-ztan-fork, ztan-NCCL-test-result, 2 nodes of 8 H100",
    },
    {
        .name = "aws-efa",
        .step_s = 118e-6,        /* fit with rate_ratio: 2 to 32 nodes, all-reduce from 128 MiB to 8 GiB, 12.1 % rms */
        .rate_ratio = 0.873,     /* as above */
        .nic_bytes_per_s = 50e9, /* p5.48xlarge: 4 interfaces of 100 Gb/s for each GPU */
        .source = "fit: crazyguitar/aws-gpu-communication-benchmark, 2 to 32 nodes of 8 H100",
    },
};

const char *const transport_names[TRANSPORT_COUNT + 1] = {"infiniband-ndr", "roce-400g", "gcp-tcpxo", "aws-efa", NULL};

const struct transport *transport_find(struct text name)
{
    for (size_t i = 0; i < TRANSPORT_COUNT; i++)
        if (text_is(name, transports[i].name))
            return &transports[i];
    return NULL;
}

bool transport_is_same(const struct transport *a, const struct transport *b)
{
    return a->step_s <= b->step_s && a->step_s >= b->step_s && a->rate_ratio <= b->rate_ratio &&
           a->rate_ratio >= b->rate_ratio;
}

const char *transport_known_name(const struct transport *transport)
{
    const struct transport *known = transport_find(text_of(transport->name));
    return known != NULL && transport_is_same(known, transport) ? transport->name : "this network";
}

void transport_show(const struct transport *transport, struct buffer *out)
{
    buffer_format(out, "transport: %s, %g us a step, %g of the NICs' rate\n  source: ", transport->name,
                  transport->step_s * 1e6, transport->rate_ratio);
    buffer_shown(out, text_of(transport->source));
    buffer_char(out, '\n');
}
