/* topologies/nccl_tuning.h -- what NCCL's own tuning model says that a collective takes: a second opinion.
 *
 * NCCL has a tuning model of its own: for each algorithm and protocol, seconds = latency + bytes / bandwidth, and NCCL
 * runs the pair that takes least.  NVIDIA fitted the constants on its own machines.  validate-model prints this model
 * beside that of topologies/collective.h.  Simulations use topologies/collective.h alone.
 *
 * Words.  A protocol is the way in which GPUs tell each other that bytes have come: Simple waits for large pieces, of
 * LL half of the bytes are flags, of LL128 8 of 128.  What NCCL calls a node is a domain.
 *
 * Law.  As NCCL 2.28, src/graph/tuning.cc, with these stand-ins for what its search of the machine finds: in one domain
 * as many channels as the GPU's NVLink feeds, in several one for each NIC of the smallest domain, up to 16 (32 for NVLS
 * trees on Blackwell); a NIC counts with 0.96 of its nominal rate.  CPUs are Intel's; the network adds no latency.
 *
 *   struct nccl_tuning told = nccl_tuning_time(COLLECTIVE_ALL_REDUCE, &place, 1e9, COLLECTIVE_NOTHING);
 *   told.s, told.algorithm, told.protocol
 *
 * It does not: know all-to-all, point to point, PCIe alone, or GPUs without a row of collective_system_table; s is then
 * INFINITY.  Nor CollNet (SHARP), PAT, or what a tuner plug-in changes.
 */
#ifndef TOPOLOGIES_NCCL_TUNING_H
#define TOPOLOGIES_NCCL_TUNING_H

#include "topologies/collective.h"

enum nccl_protocol { NCCL_LL, NCCL_LL128, NCCL_SIMPLE, NCCL_PROTOCOL_COUNT };
extern const char *const nccl_protocol_names[]; /* "LL", "LL128", "Simple", NULL */

struct nccl_tuning {
    double s; /* INFINITY: not known to NCCL's model */
    enum collective_algorithm algorithm;
    enum nccl_protocol protocol;
};

/* only: the algorithm that is forced; COLLECTIVE_NOTHING: NCCL takes one.  bytes: not negative.  O(1), pure. */
struct nccl_tuning nccl_tuning_time(enum collective_kind kind, const struct collective_place *place, double bytes,
                                    enum collective_algorithm only);

#endif
