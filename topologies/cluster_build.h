/* topologies/cluster_build.h -- a cluster under construction, for the readers in this folder.
 *
 * Models, then a pool, then its nodes, pool after pool; last finish, which counts, lays the fabric
 * and hands the cluster over.
 *
 * Law: types are interned (equal ones share an index); node names are unique.
 *
 *   struct cluster_build build;
 *   cluster_build_init(&build, TEXT("small"));
 *   cluster_build_pool(&build, &spec);
 *   for (...) cluster_build_node(&build, name);
 *   cluster = cluster_build_finish(&build, &fabric);
 *   cluster_build_release(&build);
 */
#ifndef TOPOLOGIES_CLUSTER_BUILD_H
#define TOPOLOGIES_CLUSTER_BUILD_H

#include "base/names.h"
#include "topologies/cluster.h"

enum {
    NIC_BY_INDEX = UINT8_MAX,   /* node_pool.gpu_rail until the rails are known: NICs are spread evenly */
    NVLINK_NONE = UINT8_MAX,    /* node_pool.gpu_island */
    FABRIC_NODES_PER_UNIT = 32, /* DGX H100 SuperPOD RA-11333: 32 nodes in a scalable unit */
    FABRIC_SWITCH_PORTS = 64,   /* as above: 64 x 400 Gb/s, half of them down in leaf and spine */
};

/* "Ample": more than all jobs together ask for.  Used where no file gives an amount. */
#define CLUSTER_AMPLE_CPU_MILLI  UINT32_C(1000000000) /* a million CPUs */
#define CLUSTER_AMPLE_MEMORY_MIB (UINT32_C(1) << 30)  /* 1 PiB */

struct cluster_build {
    struct cluster *cluster; /* owned until finish; its arrays are set there */
    struct node_type *types;
    struct node_pool *pools;
    struct node *nodes;
    size_t type_capacity, pool_capacity, node_capacity;
    struct names *node_names;
    const char *levels[CLUSTER_LEVELS_MAX]; /* names, the widest first; borrowed until finish */
    uint32_t level_count;
    bool has_levels;            /* false: they are "unit" and "node" */
    bool units_span_pools;      /* false: every pool begins a new unit */
    struct transport transport; /* InfiniBand NDR, unless the reader sets it; its texts are borrowed until finish */
};

struct pool_spec {
    struct text name;
    struct node_type type; /* labels in any order, borrowed */
    uint8_t nic_count;     /* 0: one per rail */
    uint8_t numa_count;
    uint8_t island_gpus;               /* GPUs that share NVLink; 0: none */
    uint32_t nvlink_nodes;             /* consecutive nodes that share it; 0 or 1: no node shares it */
    const uint8_t *gpu_numa, *gpu_nic; /* of each GPU, borrowed; NULL: spread evenly.  gpu_nic needs nic_count */
    double price_usd_per_gpu_h;
};

void cluster_build_init(struct cluster_build *build, struct text name);
void cluster_build_release(struct cluster_build *build); /* frees all that finish did not return */

/* The index of a copy of `model` in the cluster, found by name; CLUSTER_MODELS_MAX: there are too many. */
uint8_t cluster_build_model(struct cluster_build *build, const struct gpu_model *model);

/* Begin a pool; nodes that follow belong to it. */
void cluster_build_pool(struct cluster_build *build, const struct pool_spec *spec);

/* Read the fields of a node that cluster files and other descriptions of nodes have in common: "labels", "gpus_layout",
 * "max_tasks" and "taints".  Call it after gpu_count is set.  model: of its GPUs, NULL: none. */
void cluster_build_read_extras(struct arena *arena, struct json_object *object, const struct gpu_model *model,
                               struct node_type *type);

/* Read "levels", an array of names.  A name other than "unit", "nvlink" and "node" must be a label of some node, which
 * is known only after finish: otherwise the level has no domain. */
void cluster_build_read_levels(struct cluster_build *build, const struct json_value *array);
/* Fail at the first level that has no domain. */
void cluster_check_levels(const struct cluster *cluster, const struct json_value *array);

/* Append a node to the last pool; false if a node of that name is there already. */
bool cluster_build_node(struct cluster_build *build, struct text name);

/* The fabric if nothing is known.  rails 0, and numbers of switches, are derived at the end. */
struct fabric fabric_default(void);

/* Derive leaves, spines and cores for switches of 64 ports.  unit_count, nodes_per_unit, rails and the
 * oversubscriptions must be set. */
void fabric_derive_switches(struct fabric *fabric);

/* Count nodes and GPUs, number units and rails, complete the fabric.  There must be a node.  The caller owns the
 * result. */
struct cluster *cluster_build_finish(struct cluster_build *build, const struct fabric *fabric);

#endif
