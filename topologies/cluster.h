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
#include "topologies/transport.h"

typedef uint32_t node_id;
typedef uint32_t gpu_id;

#define NODE_NONE UINT32_MAX

enum {
    NODE_GPUS_MAX = 16,
    CLUSTER_MODELS_MAX = 63, /* models are bits of a word in requests; bit 63: a model that the cluster lacks */
    CLUSTER_NODES_MAX = 1000000,
    CLUSTER_LEVELS_MAX = 8,
};

#define DOMAIN_NONE     UINT32_MAX
#define CLUSTER_UNNAMED "cluster" /* the name of a cluster whose text gives none */

struct label {
    const char *key;
    const char *value;
};

/* A taint keeps members that do not tolerate it off a node (workloads/node_ask.h); effects as in Kubernetes.  Taints
 * never evict a running member.  So NoExecute has the effect of NoSchedule, and PreferNoSchedule has none. */
enum taint_effect { TAINT_NO_SCHEDULE, TAINT_NO_EXECUTE, TAINT_PREFER_NO_SCHEDULE, TAINT_EFFECT_COUNT };
extern const char *const taint_effect_names[]; /* "NoSchedule", ..., NULL */

struct taint {
    const char *key;
    const char *value; /* "" if it has no value */
    uint8_t effect;    /* enum taint_effect */
};

/* All properties that the nodes of a type share. */
struct node_type {
    uint16_t gpu_count; /* 0..NODE_GPUS_MAX */
    uint8_t model;      /* index into cluster.models; 0 for a node without GPUs */
    uint32_t cpu_milli;
    uint32_t memory_mib;
    uint32_t node_count;
    const struct label *labels;
    uint32_t label_count;
    uint32_t max_tasks; /* members on the node at once; 0: no limit */
    bool is_tainted;    /* some taint keeps members without a toleration off */
    uint16_t taint_count;
    const struct taint *taints;       /* in the order of key, value, effect */
    uint8_t island_gpus;              /* GPUs of an island, which have consecutive indices; 0: the node has no GPUs */
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
    uint8_t gpu_rail[NODE_GPUS_MAX];   /* the rail of the NIC that is nearest to each GPU */
    uint8_t gpu_island[NODE_GPUS_MAX]; /* GPUs with the same number share NVLink; 255: no NVLink */
    uint32_t nvlink_nodes;             /* number of consecutive nodes that share NVLink; 1: each has its own */
    double price_usd_per_gpu_h;        /* 0: unknown */
};

struct node {
    uint32_t type;
    uint32_t pool;
    uint32_t unit;   /* scalable unit or rack, from 0 */
    uint32_t nvlink; /* NVLink domain, from 0, among all nodes; meaningless for a node with several islands */
    gpu_id first_gpu;
    const char *name;
};

/* Leaf, spine, core.  Numbers of switches are derived from the units unless the file gives them. */
struct fabric {
    uint32_t unit_count;
    uint32_t nodes_per_unit;
    uint32_t rails;                 /* per node; 1: not rail-optimised */
    uint32_t leaves, spines, cores; /* 0: there is no such tier */
    double rail_bytes_per_s;        /* of one NIC, one direction */
    double leaf_oversubscription;   /* down/up, >= 1; 1: non-blocking */
    double spine_oversubscription;
    double nvlink_ratio; /* rates inside an NVLink domain, over those of the table (topologies/collective.h) */
};

/* A partition of nodes into domains.  A domain belongs to a domain of the level above: rack r1 of zone a is not rack r1
 * of zone b.  A node without the label is in no domain of this level and of the levels below. */
struct cluster_level {
    const char *name;       /* a node label; or "unit" or "nvlink" (struct node); or "node": each node is a domain */
    uint32_t domain_count;  /* numbered in the order of their first nodes */
    const uint32_t *domain; /* by node_id; DOMAIN_NONE: none */
    const node_id *first, *last; /* by domain: its nodes are between these two, perhaps among others */
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
    struct transport transport;   /* by which the GPUs of a job use the fabric */
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

/* Index of the cluster's model with that name or alias; 63: there is none. */
uint8_t cluster_model_of(const struct cluster *cluster, struct text name);

/* Does the node have several islands? */
static inline bool cluster_is_split(const struct cluster *cluster, node_id node)
{
    return cluster_node_type(cluster, node)->island_gpus < cluster_node_gpus(cluster, node);
}

/* Number of the level with that name, from 1; 0: there is none. */
uint8_t cluster_level_of(const struct cluster *cluster, struct text name);

/* Build from JSON; topologies/README.md lists every field.  NULL: it failed, through the value's sticky error. */
struct cluster *cluster_read(const struct json_value *value);

/* Append the cluster as one line of JSON.  cluster_read makes an equal cluster of it. */
void cluster_write(const struct cluster *cluster, struct buffer *out);

/* For tests and generated clusters: `node_count` nodes with `gpus` GPUs of the generic model, and ample CPU and
 * memory. */
struct cluster *cluster_uniform_new(uint32_t node_count, uint16_t gpus);

void cluster_free(struct cluster *cluster);

#endif
