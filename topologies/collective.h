/* topologies/collective.h -- the time that GPUs need to exchange data, by where they stand.
 *
 * Words.  A domain is the set of GPUs that share NVLink: a node, or a rack of NVL72.  The bus bandwidth of a
 * collective is its rate as nccl-tests counts it: bytes / seconds, times 2(n-1)/n (all-reduce), (n-1)/n (all-gather,
 * reduce-scatter, all-to-all) or 1 (point to point) for n GPUs.  So it compares with the rate of a link.
 *
 * Law.  Seconds = latency + bytes over bandwidth, for the fastest algorithm that the place allows:
 *  - ring: each step has a latency, a longer one over the network.  The bandwidth is that of one GPU in a domain, that
 *    of all NICs of a domain over the network.  In one domain a start-up is added that grows with sqrt(n S), as of a
 *    pipeline whose pieces have the best size.
 *  - tree (all-reduce, several domains): the latency grows with the logarithm of the number of domains; the bandwidth
 *    is 0.92 of a ring's.
 *  - NVLS (all-reduce, one domain, COLLECTIVE_NVLS_GPUS_MIN GPUs and more): the switch adds and copies.  Of S bytes a
 *    GPU sends S to be added and S/n to be copied: S(1 + 1/n) over what it sends through the switch; the same start-up.
 *  - NVLS tree (all-reduce, two domains): NVLS in each, and S over the NICs of a domain.
 * All-to-all: each GPU sends (n-1)/n of its bytes, those to other domains through its NIC.  Time never falls as bytes
 * grow; it is 0 for one GPU.
 *
 * The network.  place.network_bytes_per_s is what one GPU has, nominal and in one direction, on the narrowest tier
 * that the group crosses: 50e9 on a rail of 400 Gb/s, less where a tier is oversubscribed
 * (collective_network_bytes_per_s, or struct link) or where other jobs share it.  All GPUs of a domain send at once.
 *
 * Units.  Bytes are those of one GPU's buffer as nccl-tests counts them (all-gather: after it; reduce-scatter: before
 * it; point to point: the message).  Seconds.  GB/s of 1e9 bytes.
 *
 *   const struct collective_system *system = collective_system_find(TEXT("h100"));
 *   struct collective_place place = collective_place_even(system, 8, 8, system->nic_bytes_per_s);
 *   double gb_per_s = collective_bus_gb_per_s(COLLECTIVE_ALL_REDUCE, &place, 8e9);     (383)
 *
 * It does not model: ECMP collisions, congestion control, adaptive routing, reductions in the network (SHARP), the
 * latency of each switch, NCCL's protocols for small messages (LL), collectives that overlap, the order of a ring's
 * members (all of them send through the narrowest tier).  docs/network.md has the measurements.
 */
#ifndef TOPOLOGIES_COLLECTIVE_H
#define TOPOLOGIES_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "topologies/links.h"

enum { COLLECTIVE_NVLS_GPUS_MIN = 5 }; /* 8 x H200, 4 GPUs: 363 GB/s with NVLS on and off (ml-engineering) */

enum collective_kind {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_POINT_TO_POINT,
    COLLECTIVE_KIND_COUNT
};
extern const char *const collective_kind_names[]; /* "all-reduce", ..., NULL */

enum collective_algorithm {
    COLLECTIVE_NOTHING, /* one GPU */
    COLLECTIVE_DIRECT,  /* all-to-all, point to point */
    COLLECTIVE_RING,
    COLLECTIVE_TREE,
    COLLECTIVE_NVLS,
    COLLECTIVE_NVLS_TREE,
    COLLECTIVE_ALGORITHM_COUNT
};
extern const char *const collective_algorithm_names[]; /* "none", "direct", "ring", ..., NULL */

/* What GPUs of a kind of machine are connected by. */
struct collective_system {
    const char *name;
    const char *gpu_model;                 /* topologies/gpu_model.h */
    uint32_t node_gpus;                    /* GPUs of a node */
    uint32_t domain_gpus;                  /* GPUs that share NVLink; without NVLink, those of a node */
    bool has_nvlink;                       /* else PCIe */
    double ring_bytes_per_s;               /* bus bandwidth of a ring in a domain */
    double nvls_bytes_per_s;               /* what one GPU sends through the switch; 0: no NVLS */
    double nvls_bus_bytes_per_s_max;       /* of any number of GPUs; 0: no such limit */
    double domain_network_bytes_per_s_max; /* bus bandwidth of a ring over several domains, however many NICs */
    double nic_bytes_per_s;                /* nominal, of one GPU in one direction */
};

const struct collective_system *collective_system_table(uint32_t *count);
const struct collective_system *collective_system_find(struct text name); /* NULL: unknown */

/* Where the members of a group stand. */
struct collective_place {
    const struct collective_system *system; /* borrowed */
    uint32_t gpu_count;
    uint32_t domain_count;      /* 1 and up, at most gpu_count */
    uint32_t domain_gpus_least; /* members in the domain that has the fewest */
    double network_bytes_per_s; /* see "The network"; above 0 */
    bool is_pcie;               /* members of one node in several NVLink islands, or without NVLink: LINK_PCIE */
    bool has_nvls;              /* the library may use NVLS, where the system has it */
};

/* `domains` domains with `gpus` members each.  Both at least 1. */
struct collective_place collective_place_even(const struct collective_system *system, uint32_t domains, uint32_t gpus,
                                              double network_bytes_per_s);

/* `gpus` members on the fewest domains that hold `domain_gpus_max` each, spread evenly. */
struct collective_place collective_place_packed(const struct collective_system *system, uint32_t gpus,
                                                uint32_t domain_gpus_max, double network_bytes_per_s);

/* What a GPU's NIC gives on the highest tier crossed: all of it up to a leaf; divided by the oversubscription of the
 * leaves over a spine, by that of the spines too over a core.  As links_narrowest.  Oversubscriptions: 1 and up. */
double collective_network_bytes_per_s(double nic_bytes_per_s, enum link_tier tier, double leaf_oversubscription,
                                      double spine_oversubscription);

struct collective_time {
    double s;
    enum collective_algorithm algorithm; /* the fastest */
};

/* bytes: not negative.  O(1), pure. */
struct collective_time collective_time(enum collective_kind kind, const struct collective_place *place, double bytes);

/* Seconds as collective_time; but a group that one domain could hold is not faster over several.  (The start-up of a
 * pipeline is counted in one domain alone, so collective_time may say so of a few MB.) */
double collective_group_s(enum collective_kind kind, const struct collective_place *place, double bytes);

/* Bus bandwidth in 1e9 bytes per second; 0 if there is nothing to send. */
double collective_bus_gb_per_s(enum collective_kind kind, const struct collective_place *place, double bytes);

#endif
