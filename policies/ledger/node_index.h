/* policies/ledger/node_index.h -- where free GPUs are: nodes by type and free whole GPUs, shared GPUs by what is left.
 *
 * Law: whole[type][n] holds exactly the listed nodes of that type with n GPUs wholly free; shared[type][v]
 * the GPUs of such nodes with exactly v milli left, 0 < v < 1000; mig->open[type][p][e] those partitioned GPUs
 * of such nodes that have a free instance of profile p and e eighths free in all.  Partitioned GPUs are in
 * none of the former.  Listed are nodes that are up, those with taints among them: the caller says which types a
 * request takes (workloads/job.h).  Kept by the ledger at every change.
 * Which GPUs are partitioned, and how, may change: the caller that reports the free slices of one reports its layout
 * too.
 * Cost: a change O(1); the best bucket is found without looking at nodes.
 */
#ifndef POLICIES_LEDGER_NODE_INDEX_H
#define POLICIES_LEDGER_NODE_INDEX_H

#include "base/bits.h"
#include "topologies/cluster.h"
#include "workloads/job.h"

enum { SHARE_WORDS = (GPU_MILLI + 63) / 64 };

struct mig_index {
    struct bits open[MIG_PROFILE_COUNT][MIG_SLICES + 1]; /* GPUs, by profile and eighths free */
};

struct type_index {
    struct bits whole[NODE_GPUS_MAX + 1]; /* nodes, by free whole GPUs */
    struct bits *shared[GPU_MILLI];       /* GPUs, by milli left; NULL until first needed */
    uint64_t shared_any[SHARE_WORDS];     /* bit v: shared[v] is not empty */
    struct mig_index *mig;                /* NULL: no GPU of this type was ever partitioned */
};

struct node_index {
    const struct cluster *cluster;
    struct type_index *types;
    uint16_t *free_mask; /* by node: GPUs wholly free */
    uint8_t *free_count; /* by node: how many these are */
    uint8_t *is_listed;  /* by node */
    node_id *gpu_node;   /* by gpu_id: the node it sits in */
    struct arena arena;
};

/* Is no GPU of this type used in part? */
static inline bool node_index_is_whole(const struct node_index *index, uint32_t type)
{
    uint64_t any = 0;
    for (uint32_t w = 0; w < SHARE_WORDS; w++)
        any |= index->types[type].shared_any[w];
    return any == 0;
}

struct node_index *node_index_new(const struct cluster *cluster); /* everything free, all nodes up */
void node_index_free(struct node_index *index);

/* GPU `gpu_index` of `node` had `before` milli free and now has `after`. */
void node_index_change(struct node_index *index, node_id node, uint32_t gpu_index, uint16_t before, uint16_t after);

/* All GPUs of `gpu_mask` were wholly free and are now wholly taken (is_free false), or the reverse. */
void node_index_change_whole(struct node_index *index, node_id node, uint16_t gpu_mask, uint32_t gpu_count,
                             bool is_free);

/* What is free of a GPU. */
struct gpu_free {
    uint16_t milli;           /* slices in no instance included */
    bool is_partitioned;      /* the rest holds: */
    uint8_t starts;           /* bit s: the instance that starts at slice s */
    struct gpu_layout layout; /* of all instances */
};
/* GPU `gpu_index` of `node`, one at least of the two partitioned: what is free of it changed, or its layout did. */
void node_index_change_mig(struct node_index *index, node_id node, uint32_t gpu_index, const struct gpu_free *before,
                           const struct gpu_free *after);

/* Put a node in or take it out.  gpus: by GPU index. */
void node_index_list(struct node_index *index, node_id node, const struct gpu_free *gpus);
void node_index_unlist(struct node_index *index, node_id node, const struct gpu_free *gpus);

/* The smallest v >= from with shared GPUs in that type, or GPU_MILLI. */
uint32_t node_index_share(const struct type_index *type, uint32_t from);

#endif
