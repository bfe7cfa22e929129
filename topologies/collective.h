/* topologies/collective.h -- the time that GPUs need to exchange data, by where they stand.
 *
 * Words.  A domain is the set of GPUs that share NVLink: a node, or a rack of NVL72.  The bus bandwidth of a
 * collective is its rate as nccl-tests counts it: bytes / seconds, times 2(n-1)/n (all-reduce), (n-1)/n (all-gather,
 * reduce-scatter, all-to-all) or 1 (point to point) for n GPUs.  So it compares with the rate of a link.
 *
 * Law.  Seconds = latency + bytes over bandwidth, for the fastest algorithm that the place allows.  The bandwidth of an
 * algorithm is that of the links that its bytes cross.  S is the bytes, n the GPUs, g those of the smallest domain, k
 * the domains; B is the rate of the NICs by which a domain is left: those of its g members, but at most one for each of
 * the channels that the library opens.
 *  - ring: 2(n-1) steps (all-reduce) or n-1, of which 2(k-1) or k-1 are over the network and take longer.  Each link
 *    carries the bus bandwidth, so the rate is the lesser of what a GPU passes on in a domain and of B.  In one domain
 *    a start-up is added that grows with sqrt(n S), as of a pipeline whose pieces have the best size.
 *  - tree (all-reduce, k > 1): the members of a domain are a chain, through which S goes up and S down.  The domains
 *    are two trees, each for half of the bytes: the domain that sends most sends S (k = 2), 1.5 S (k = 3) or 2 S, over
 *    B.  The latency grows with g and with the logarithm of k.
 *  - NVLS (all-reduce, one domain, COLLECTIVE_NVLS_GPUS_MIN GPUs and more): the switch adds and copies.  Of S bytes a
 *    GPU sends S to be added and S/n to be copied: S(1 + 1/n) over what it sends through the switch; the same start-up.
 *  - NVLS tree (all-reduce, k > 1): NVLS in each domain, where a GPU sends S/g more for what comes by its NIC,
 *    S(1 + 2/g) in all; and the trees of the domains over B.
 * All-to-all: each GPU sends (n-1)/n of its bytes, those to other domains through its NIC.
 *
 * Laws, tested at random (tests/unit/test_collective.c):
 *  1. Time never falls as bytes grow, as domains of the same size join several, or as links get narrower.
 *  2. What leaves a domain in a second is at most the rate of its NICs, and what a GPU passes on inside is at most its
 *     rate there.  The fault that it caught: a ring over several racks had the rate of NVLS in one.
 *  3. A group that one domain could hold takes at least as long over several (collective_group_s).  The start-up is
 *     counted in one domain alone, so of a few MB collective_time may say otherwise.
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
#include "topologies/transport.h"

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

/* Systems with the same links have their measurements in common. */
enum collective_links {
    LINKS_UNKNOWN,
    LINKS_NVLINK3_NODE,
    LINKS_NVLINK4_NODE,
    LINKS_NVLINK5_NODE,
    LINKS_NVLINK5_RACK,
    LINKS_COUNT
};

/* What GPUs of a kind of machine are connected by. */
struct collective_system {
    const char *name;
    const char *gpu_model;             /* topologies/gpu_model.h */
    uint32_t node_gpus;                /* GPUs of a node */
    uint32_t domain_gpus;              /* GPUs that share NVLink; without NVLink, those of a node */
    bool has_nvlink;                   /* else PCIe */
    enum collective_links links;       /* LINKS_UNKNOWN: nothing like it is in this table */
    double ring_bytes_per_s;           /* bus bandwidth of a ring in a domain */
    double nvls_bytes_per_s;           /* what one GPU sends through the switch; 0: no NVLS */
    double nvls_bus_bytes_per_s_max;   /* of any number of GPUs; 0: no such limit */
    double through_bytes_per_s;        /* what one GPU passes on in a domain, of a ring or chain over several */
    uint32_t channels;                 /* of the library; each leaves a domain by one NIC */
    double nic_bytes_per_s;            /* nominal, of one GPU in one direction */
    const struct transport *transport; /* borrowed; never NULL */
};

const struct collective_system *collective_system_table(uint32_t *count);
const struct collective_system *collective_system_find(struct text name); /* NULL: unknown */

/* The same machines on another network, with its NICs.  transport: borrowed. */
struct collective_system collective_system_over(const struct collective_system *system,
                                                const struct transport *transport);

/* The same machines with all rates inside a domain times `nvlink_ratio`, above 0. */
struct collective_system collective_system_scaled(const struct collective_system *system, double nvlink_ratio);

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

/* Seconds by that algorithm, without law 3; INFINITY: the place does not allow it.  As collective_time else. */
double collective_algorithm_s(enum collective_kind kind, const struct collective_place *place, double bytes,
                              enum collective_algorithm algorithm);

/* Seconds as collective_time, but of a group that one domain could hold not less than in one: law 3. */
double collective_group_s(enum collective_kind kind, const struct collective_place *place, double bytes);

/* Bus bandwidth over bytes per second: see Words. */
double collective_bus_factor(enum collective_kind kind, uint32_t gpu_count);

/* Bus bandwidth in 1e9 bytes per second; 0 if there is nothing to send. */
double collective_bus_gb_per_s(enum collective_kind kind, const struct collective_place *place, double bytes);

#endif
