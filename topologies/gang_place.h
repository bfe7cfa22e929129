/* topologies/gang_place.h -- where the GPUs of a job stand, as far as its communication depends on it.
 *
 * Words.  A domain is the set of GPUs that share NVLink: a node, or a rack of NVL72 (topologies/collective.h).  The
 * best place is the one with the least communication on an empty cluster: as few domains as hold the job, in one unit
 * if they fit there.
 *
 * Law.  A gang_place depends on the set of GPUs alone, not on the order in which they are listed.  Its
 * network_bytes_per_s is what one GPU gets if the job is alone on the fabric: its share of the NICs of its node, and,
 * if the job crosses units, of the uplinks of each unit that all its GPUs in that unit share.  So a small gang that
 * crosses an oversubscribed tier alone loses nothing.  One that fills a unit gets NIC / oversubscription, as
 * links_narrowest says of every gang.  A place in one domain does not use the network; its rate is that of its NICs.
 *
 *   struct gang_place place = gang_place_of(cluster, places, count);
 *   struct gang_place best = gang_place_best(cluster, cluster->nodes[places[0].node].pool, place.gpu_count, 8);
 *
 * It does not: know what the job exchanges (topologies/communication.h), or other jobs (sim/network/network.h).
 */
#ifndef TOPOLOGIES_GANG_PLACE_H
#define TOPOLOGIES_GANG_PLACE_H

#include "topologies/collective.h"
#include "topologies/links.h"

struct gang_place {
    struct collective_system system; /* of the slowest of its nodes */
    uint32_t gpu_count;              /* 0: it holds no GPUs */
    uint32_t domain_count;
    uint32_t domain_gpus_least; /* members in the domain that has the fewest */
    uint32_t domain_gpus_gcd;   /* the greatest common divisor of the members of its domains */
    enum link_tier tier;        /* as links_narrowest */
    bool is_pcie;               /* the GPUs of a domain are in several NVLink islands, or have no NVLink */
    double network_bytes_per_s; /* of one GPU, in one direction, alone; above 0 */
    double bf16_tflops;         /* dense, of the slowest of its GPUs as the cluster says; 0: not known there */
};

/* How GPUs of nodes of that pool are connected: the row of collective_system_table for their model and NVLink domain,
 * or of a model with the same NVLink rate, with the NICs and the domain of the pool.  Without such a row the rates are
 * those of h100 times the ratio of the NVLink rates; without NVLink, PCIe.  O(1). */
struct collective_system collective_system_of(const struct cluster *cluster, uint32_t pool);

/* places: in any order, a node possibly several times; afterwards in the order of nodes, each once, and *count of them.
 * O(n log n). */
struct gang_place gang_place_of(const struct cluster *cluster, struct link_place *places, uint32_t *count);

/* The best place for members of `member_gpus` whole GPUs, `gpu_count` in all, on empty nodes of that pool's type, as if
 * there were enough of them.  GPUs alone count, not CPUs or memory.  member_gpus: at most those of a node.
 * fills: true: domains are filled one after another; false: the members are spread evenly over as few domains.  (A
 * tensor-parallel group may fit one and not the other; communication_best takes the faster.)  If a unit does not hold
 * them, they are spread evenly over all units of the pool (of all pools of that type, if the pool is too small).
 * O(pools). */
struct gang_place gang_place_best(const struct cluster *cluster, uint32_t pool, uint32_t gpu_count,
                                  uint32_t member_gpus, bool fills);

/* How many GPUs, in members of that size, one domain of the pool holds. */
uint32_t gang_place_domain_gpus(const struct cluster *cluster, uint32_t pool, uint32_t member_gpus);

/* As gang_place_best, spread evenly, but groups of `group_gpus` GPUs stay together in a domain, and a domain has at
 * most `domain_groups` of them.  group_gpus: a multiple of member_gpus. */
struct gang_place gang_place_even(const struct cluster *cluster, uint32_t pool, uint32_t gpu_count,
                                  uint32_t member_gpus, uint32_t group_gpus, uint32_t domain_groups);

/* The members of the job as one group, for the collectives of all. */
struct collective_place gang_place_all(const struct gang_place *place);

/* ---- The links of the fabric that jobs share. ---- */

/* Only links that can be too narrow are counted: NICs of a rail that are fewer than its GPUs on a node; the uplinks of
 * the leaves of a unit's rail, if leaves are oversubscribed; those of its spines to the cores, if these are.  One link
 * stands for both directions: every collective sends as much as it receives on each of them.  A job crosses the uplinks
 * of the leaves if it is in several units, or in one unit on other rails on each node: then all its GPUs in a unit send
 * over them.  Uplinks are those of a unit that has all its nodes, also where the last unit has fewer.  A job in one
 * domain crosses no link. */
struct fabric_use {
    uint32_t link;    /* below fabric_link_count */
    uint32_t senders; /* GPUs of the job that send over it at once */
};

uint32_t fabric_link_count(const struct cluster *cluster);
double fabric_link_bytes_per_s(const struct cluster *cluster, uint32_t link); /* in one direction */

/* The links that the job crosses, each once, in the order of their numbers.  places: as gang_place_of left them.
 * `uses` must have room for fabric_uses_max.  Returns how many; 0: no link that it crosses can be too narrow.  O(n
 * rails). */
uint32_t fabric_uses_max(const struct cluster *cluster, uint32_t place_count);
uint32_t fabric_uses_of(const struct cluster *cluster, const struct link_place *places, uint32_t count,
                        struct fabric_use *uses);

/* The least that one GPU of the job has on these links if it is alone; at most the rate of a NIC.  places: as above. */
double fabric_bytes_per_s_alone(const struct cluster *cluster, const struct link_place *places, uint32_t count);

#endif
