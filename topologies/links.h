/* topologies/links.h -- the narrowest link between the members of a gang.
 *
 * Words.  The tier of a gang is the farthest that its traffic crosses:
 *
 *   nvlink   all in one island of a node, or in one NVLink domain of several nodes
 *   pcie     one node, but several islands, or none
 *   leaf     several nodes of one unit, on the same rails: rail by rail, one switch
 *   spine    several units; or one unit, but different rails on its nodes (that traffic goes leaf, spine, leaf)
 *   core     several units, where the fabric has cores
 *
 * Law.  Bytes per second are of one GPU in one direction, of the narrowest of what it crosses:
 *  - nvlink: that of the GPU model (of several the lowest); pcie: LINKS_PCIE_BYTES_PER_S;
 *  - beyond a node: what its NICs give.  GPUs that are next to NICs of one rail share these, and none uses more than
 *    one NIC;
 *  - a spine divides it by the oversubscription of the leaves, a core by that of the spines too.
 * All GPUs of the gang send at once, and no others do: contention is not modelled.
 *
 * Source: DGX H100 SuperPOD RA-11333 (a rail of a unit has a leaf of its own; other rails and units go by spines, then
 * cores); PCIe 5.0 x16: 63 GB/s one way.
 *
 *   struct link link = links_narrowest(cluster, places, count);
 *
 * It does not: know sizes of messages or latency.  Pure, but that it orders the places.
 */
#ifndef TOPOLOGIES_LINKS_H
#define TOPOLOGIES_LINKS_H

#include "topologies/cluster.h"

enum link_tier {
    LINK_NONE, /* one GPU, or no GPU */
    LINK_NVLINK,
    LINK_PCIE,
    LINK_LEAF,
    LINK_SPINE,
    LINK_CORE,
    LINK_TIER_COUNT
};
extern const char *const link_tier_names[]; /* "", "nvlink", "pcie", "leaf", "spine", "core", NULL */

#define LINKS_PCIE_BYTES_PER_S INT64_C(63000000000)

struct link_place {
    node_id node;
    uint16_t gpu_mask;
};

struct link {
    enum link_tier tier;
    bool is_aligned;     /* the same rails on every node; true for one node */
    int64_t bytes_per_s; /* 0: LINK_NONE, or the model's NVLink rate is not known */
};

/* Put places in the order of nodes, each once, and drop those without GPUs.  Returns how many are left.  O(n log n). */
uint32_t links_merge(struct link_place *places, uint32_t count);

/* Do the GPUs of the place share NVLink inside their node?  It has at least one. */
bool links_is_one_island(const struct cluster *cluster, const struct link_place *place);

/* NICs of that rail on a node of the pool. */
uint32_t links_rail_nics(const struct cluster *cluster, const struct node_pool *pool, uint32_t rail);

/* The rails that the GPUs of the place use, as bits. */
uint32_t links_rails(const struct cluster *cluster, const struct link_place *place);

/* The least rate of the NICs' share of a GPU of the place: GPUs of a rail share its NICs. */
double links_nic_bytes_per_s(const struct cluster *cluster, const struct link_place *place);

/* places: in any order, a node possibly several times; afterwards in the order of nodes, each once.  O(n log n). */
struct link links_narrowest(const struct cluster *cluster, struct link_place *places, uint32_t count);

#endif
