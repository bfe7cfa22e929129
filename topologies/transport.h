/* topologies/transport.h -- how the bytes of the collective library cross the network: InfiniBand, RoCE, a cloud's own.
 *
 * Words.  A step is one hand-over of a piece between two GPUs.  The transport is the library's way over the network:
 * verbs over InfiniBand or RoCE, or a plug-in of a cloud.
 *
 * Law.  A transport is two numbers:
 *  - step_s, the latency of a ring's step over the network.  Other algorithms wait for other protocols too; each of
 *    their steps over the network takes as much longer than InfiniBand's as a ring's does (NCCL, src/graph/tuning.cc:
 *    the latency of a network is added to that of the protocol).
 *  - rate_ratio, the part of the nominal rate of the NICs that the library reaches.
 * Latency and rate inside an NVLink domain are not the transport's.
 *
 *   const struct transport *efa = transport_find(TEXT("aws-efa"));
 *   struct collective_system system = collective_system_over(collective_system_find(TEXT("h100")), efa);
 *
 * It does not: know tiers and oversubscription (struct fabric), congestion, or how a rate falls with the number of
 * nodes.  Which of its numbers were measured, `source` says; docs/network.md has the errors of each.
 */
#ifndef TOPOLOGIES_TRANSPORT_H
#define TOPOLOGIES_TRANSPORT_H

#include "base/buffer.h"
#include "base/text.h"

struct transport {
    const char *name;       /* in the table, or of the one that a fabric began with */
    double step_s;          /* above 0 */
    double rate_ratio;      /* above 0, at most 1 */
    double nic_bytes_per_s; /* nominal, of one GPU's NICs in one direction, where a cluster does not say */
    const char *source;     /* of step_s and rate_ratio */
};

enum { TRANSPORT_COUNT = 4 };

/* The first is InfiniBand NDR, which a fabric has that names none.  docs/network.md has their values. */
extern const struct transport transports[TRANSPORT_COUNT];
extern const char *const transport_names[]; /* in the order of the table, NULL at the end */

const struct transport *transport_find(struct text name); /* NULL: unknown */

/* Have they the same step and the same part of the rate?  Then what was measured over one is true of the other. */
bool transport_is_same(const struct transport *a, const struct transport *b);

/* Its name, or "this network" if its numbers are not those of the table. */
const char *transport_known_name(const struct transport *transport);

/* Append two lines: its name and numbers, and their source. */
void transport_show(const struct transport *transport, struct buffer *out);

#endif
