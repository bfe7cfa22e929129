/* policies/node_index.h -- where free GPUs are: nodes by type and free whole GPUs, shared GPUs by what is left.
 *
 * Law: whole[type][n] holds exactly the nodes of that type, up, with n GPUs wholly free; shared[type][v]
 * the GPUs of such nodes with exactly v milli left, 0 < v < 1000.  Kept by the ledger at every change.
 * Cost: a change O(1); the best bucket is found without looking at nodes.
 */
#ifndef POLICIES_NODE_INDEX_H
#define POLICIES_NODE_INDEX_H

#include "base/bits.h"
#include "topologies/cluster.h"
#include "workloads/job.h"

enum { SHARE_WORDS = (GPU_MILLI + 63) / 64 };

struct type_index {
    struct bits whole[NODE_GPUS_MAX + 1]; /* nodes, by free whole GPUs */
    struct bits *shared[GPU_MILLI];       /* GPUs, by milli left; NULL until first needed */
    uint64_t shared_any[SHARE_WORDS];     /* bit v: shared[v] is not empty */
};

struct node_index {
    const struct cluster *cluster;
    struct type_index *types;
    uint16_t *free_mask; /* by node: GPUs wholly free */
    uint8_t *free_count; /* by node: how many these are */
    uint8_t *is_listed;  /* by node: up */
    node_id *gpu_node;   /* by gpu_id: the node it sits in */
    struct arena arena;
};

struct node_index *
node_index_new(const struct cluster *cluster); /* everything free, all nodes listed */
void node_index_free(struct node_index *index);

/* GPU `gpu_index` of `node` had `before` milli free and now has `after`. */
void node_index_change(struct node_index *index, node_id node, uint32_t gpu_index, uint16_t before,
                       uint16_t after);

/* All GPUs of `gpu_mask` were wholly free and are now wholly taken (is_free false), or the reverse. */
void node_index_change_whole(struct node_index *index, node_id node, uint16_t gpu_mask,
                             uint32_t gpu_count, bool is_free);

/* Put a node in or take it out; free_milli: by GPU index. */
void node_index_list(struct node_index *index, node_id node, const uint16_t *free_milli);
void node_index_unlist(struct node_index *index, node_id node, const uint16_t *free_milli);

/* The smallest v >= from with shared GPUs in that type, or GPU_MILLI. */
uint32_t node_index_share(const struct type_index *type, uint32_t from);

#endif
