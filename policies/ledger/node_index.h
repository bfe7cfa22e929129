/* policies/ledger/node_index.h -- finds free GPUs: nodes by type and number of free GPUs, shared GPUs by free milli.
 *
 * Law: whole[type][n] holds exactly the listed nodes of that type with n wholly free GPUs.  shared[type][v] holds the
 * GPUs of listed nodes with exactly v milli left, 0 < v < 1000.  mig->open[type][p][e] holds the partitioned GPUs of
 * listed nodes with a free instance of profile p and e eighths free in all.  Partitioned GPUs are in none of the first
 * two.  The ledger lists the nodes that take new work, also those with taints: the caller says which types a request
 * takes (workloads/job.h).  The ledger updates the index at every change.
 * The layout of a GPU may change: a change of its free slices is reported with its layout.
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
    struct bits *shared[GPU_MILLI];       /* GPUs, by free milli; NULL until first needed */
    uint64_t shared_any[SHARE_WORDS];     /* bit v: shared[v] is not empty */
    struct mig_index *mig;                /* NULL: no GPU of this type was ever partitioned */
};

struct node_index {
    const struct cluster *cluster;
    struct type_index *types;
    uint16_t *free_mask; /* by node: GPUs wholly free */
    uint8_t *free_count; /* by node: their number */
    uint8_t *is_listed;  /* by node */
    node_id *gpu_node;   /* by gpu_id: its node */
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

struct node_index *node_index_new(const struct cluster *cluster); /* all free, all nodes listed */
void node_index_free(struct node_index *index);

/* GPU `gpu_index` of `node` had `before` milli free and now has `after`. */
void node_index_change(struct node_index *index, node_id node, uint32_t gpu_index, uint16_t before, uint16_t after);

/* All GPUs of `gpu_mask` were wholly free and are now wholly taken (is_free false), or the reverse. */
void node_index_change_whole(struct node_index *index, node_id node, uint16_t gpu_mask, uint32_t gpu_count,
                             bool is_free);

/* The free part of a GPU. */
struct gpu_free {
    uint16_t milli;           /* slices in no instance included */
    bool is_partitioned;      /* only then the next fields are valid */
    uint8_t starts;           /* free instances; bit s: the one that starts at slice s */
    struct gpu_layout layout; /* all instances */
};
/* The free part or the layout of GPU `gpu_index` of `node` changed.  It was partitioned, or is now. */
void node_index_change_mig(struct node_index *index, node_id node, uint32_t gpu_index, const struct gpu_free *before,
                           const struct gpu_free *after);

/* Put a node in or take it out.  gpus: by GPU index. */
void node_index_list(struct node_index *index, node_id node, const struct gpu_free *gpus);
void node_index_unlist(struct node_index *index, node_id node, const struct gpu_free *gpus);

/* The smallest v >= from with shared GPUs in that type, or GPU_MILLI. */
uint32_t node_index_share(const struct type_index *type, uint32_t from);

#endif
