/* topologies/cluster.h -- the cluster: nodes, their GPUs and the fabric between them.
 *
 * Words: a pool is a run of equal nodes; a type is a class of nodes that no request can tell apart (same GPU model,
 * count and layouts, CPUs, memory, labels, task limit, taints), whatever their pool; a unit is a scalable unit or rack
 * (the nodes under one group of leaves); a rail is the i-th NIC of every node; an island is the GPUs of a node that
 * share NVLink (those without NVLink count as one); an NVLink domain is an island of all GPUs of a node, or of all
 * GPUs of several nodes (a rack of GB200 NVL72: 18 nodes of 4); a level is a way to part the nodes into domains, each
 * level inside the one before it.
 *
 * Law: built once, then const.  Nodes are numbered 0..node_count-1 in the order of the file, their GPUs node by node:
 * gpu_id = node.first_gpu + index.
 *
 *   struct cluster *cluster;
 *   TRY(cluster_load(&cluster, "topologies/dgx-h100-500.json"));
 *
 * It does not: hold state; allocations are in policies/ledger/ledger.h.
 */
#ifndef TOPOLOGIES_CLUSTER_H
#define TOPOLOGIES_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "topologies/gpu_class.h"
#include "topologies/gpu_model.h"
#include "topologies/mig_layout.h"

typedef uint32_t node_id;
typedef uint32_t gpu_id;

#define NODE_NONE UINT32_MAX

enum {
    NODE_GPUS_MAX = 16,
    CLUSTER_MODELS_MAX = 63, /* requests name models as bits of a word; bit 63: a model not here */
    CLUSTER_NODES_MAX = 1000000,
    CLUSTER_LEVELS_MAX = 8,
};

#define DOMAIN_NONE UINT32_MAX

struct label {
    const char *key;
    const char *value;
};

/* What keeps members that do not tolerate it off a node (workloads/node_ask.h); effects as in Kubernetes.  Taints are
 * static: what runs on a node stays there whatever they are, so that NoExecute means what NoSchedule does, and
 * PreferNoSchedule keeps no member off. */
enum taint_effect { TAINT_NO_SCHEDULE, TAINT_NO_EXECUTE, TAINT_PREFER_NO_SCHEDULE, TAINT_EFFECT_COUNT };
extern const char *const taint_effect_names[]; /* "NoSchedule", ..., NULL */

struct taint {
    const char *key;
    const char *value; /* "" if it has none */
    uint8_t effect;    /* enum taint_effect */
};

/* What is equal for all nodes of a type. */
struct node_type {
    uint16_t gpu_count; /* 0..NODE_GPUS_MAX */
    uint8_t model;      /* index into cluster.models; of a node without GPUs: 0 */
    uint32_t cpu_milli;
    uint32_t memory_mib;
    uint32_t node_count;
    const struct label *labels;
    uint32_t label_count;
    uint32_t max_tasks; /* members of jobs at once; 0: no limit */
    bool is_tainted;    /* one of its taints keeps off members without the toleration */
    uint16_t taint_count;
    const struct taint *taints;       /* in the order of key, value, effect */
    uint8_t island_gpus;              /* GPUs of an island; islands follow in the order of the GPUs.  0: the
                                         node has no GPUs */
    uint16_t layout_mask;             /* GPUs with MIG instances: neither whole nor shared */
    uint16_t recut_mask;              /* GPUs that a policy may repartition (policies/geometry/geometry.h) */
    const struct gpu_layout *layouts; /* by GPU index; NULL if the mask is 0 */
};

struct node_pool {
    const char *name;
    node_id first;
    uint32_t node_count;
    uint32_t type;                     /* index into cluster.types */
    uint8_t nic_count;                 /* per node; default: one per rail */
    uint8_t numa_count;                /* >= 1 */
    uint8_t gpu_numa[NODE_GPUS_MAX];   /* the NUMA node of each GPU */
    uint8_t gpu_rail[NODE_GPUS_MAX];   /* the rail of each GPU's nearest NIC */
    uint8_t gpu_island[NODE_GPUS_MAX]; /* GPUs with the same number share NVLink; 255: no NVLink */
    uint32_t nvlink_nodes;             /* one after another, that share NVLink; 1: each for itself */
    double price_usd_per_gpu_h;        /* 0: unknown */
};

struct node {
    uint32_t type;
    uint32_t pool;
    uint32_t unit;   /* scalable unit or rack, from 0 */
    uint32_t nvlink; /* NVLink domain, from 0, of all nodes; of one with several islands it is not one */
    gpu_id first_gpu;
    const char *name;
};

/* Leaf, spine, core.  Counts of switches are derived from the units unless the file gives them. */
struct fabric {
    uint32_t unit_count;
    uint32_t nodes_per_unit;
    uint32_t rails;                 /* per node; 1 if not rail-optimised */
    uint32_t leaves, spines, cores; /* 0: that tier is absent */
    double rail_bytes_per_s;        /* of one NIC, one direction */
    double leaf_oversubscription;   /* down/up, >= 1; 1: non-blocking */
    double spine_oversubscription;
};

/* Nodes parted into domains.  A domain's identity includes the domains around it: rack r1 of zone a is not rack
 * r1 of zone b.  A node without the label is in no domain of this level and of those below it. */
struct cluster_level {
    const char *name;            /* of a node label; or "unit" or "nvlink" (struct node), or "node": each its own */
    uint32_t domain_count;       /* numbered in the order of their first nodes */
    const uint32_t *domain;      /* by node_id; DOMAIN_NONE */
    const node_id *first, *last; /* by domain: between them all its nodes are, and perhaps others */
};

struct cluster {
    const char *name;
    struct gpu_model *models;
    uint32_t model_count;
    struct node_type *types;
    uint32_t type_count;
    struct node_pool *pools;
    uint32_t pool_count;
    struct node *nodes;
    uint32_t node_count;
    uint32_t gpu_count;
    uint64_t cpu_milli, memory_mib; /* sums */
    struct fabric fabric;
    struct cluster_level *levels; /* the widest first; requests count them from 1 */
    uint32_t level_count;
    bool has_split_nodes;          /* some node has several islands */
    bool has_taints;               /* some node is tainted */
    struct gpu_class *gpu_classes; /* in the order of the file */
    uint32_t gpu_class_count;
    struct arena arena; /* owns everything above */
};

static inline const struct node_type *cluster_node_type(const struct cluster *cluster, node_id node)
{
    return &cluster->types[cluster->nodes[node].type];
}

static inline uint16_t cluster_node_gpus(const struct cluster *cluster, node_id node)
{
    return cluster_node_type(cluster, node)->gpu_count;
}

/* Index of the model of that name or alias among the cluster's; 63 if it has none. */
uint8_t cluster_model_of(const struct cluster *cluster, struct text name);

/* Does the node have several islands? */
static inline bool cluster_is_split(const struct cluster *cluster, node_id node)
{
    return cluster_node_type(cluster, node)->island_gpus < cluster_node_gpus(cluster, node);
}

/* Number of the level of that name, from 1; 0 if the cluster has none. */
uint8_t cluster_level_of(const struct cluster *cluster, struct text name);

/* Build from JSON (topologies/README says every field).  Fails through the value's sticky error, then NULL.
 * read_hwloc: how a pool's "hwloc" file is read; NULL refuses such pools (the scheduler library needs no hwloc). */
struct cluster_inside { /* one node as seen from inside */
    uint16_t gpu_count;
    uint32_t cpu_milli, memory_mib;
    uint8_t nic_count, numa_count;
    uint8_t gpu_numa[NODE_GPUS_MAX];
    uint8_t gpu_nic[NODE_GPUS_MAX]; /* each GPU's nearest NIC, below nic_count; 255: not told */
    char gpu_model[64];             /* "" if the export does not tell */
};
typedef struct error cluster_read_inside_fn(const char *path, struct cluster_inside *out);
struct cluster *cluster_read(const struct json_value *value, cluster_read_inside_fn *read_hwloc);

/* Append it as one line of JSON that cluster_read takes and that gives the same cluster, but for what only an hwloc
 * export tells: which NUMA node and NIC each GPU is next to. */
void cluster_write(const struct cluster *cluster, struct buffer *out);

/* For tests and generated clusters: `node_count` nodes of `gpus` GPUs, ample CPU and memory, generic model. */
struct cluster *cluster_uniform_new(uint32_t node_count, uint16_t gpus);

void cluster_free(struct cluster *cluster);

#endif
