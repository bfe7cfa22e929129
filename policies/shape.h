/* policies/shape.h -- classes of requests: all jobs that ask the same share one shape.
 *
 * What can be said of one job's request can be said of its shape: whether it can ever fit, whether it
 * fits now (the placement memo), what it costs a queue.  Priority, user and queue are not part of it.
 * Law: ids are dense, from 0, in order of first appearance; two jobs have the same shape exactly when their groups
 * and preemptibility are equal.
 */
#ifndef POLICIES_SHAPE_H
#define POLICIES_SHAPE_H

#include "policies/ledger.h"

struct shape {
    const struct job_group *groups; /* owned by the table */
    const uint16_t *order;          /* of placing: the group with the least room to spare first */
    uint16_t group_count;
    bool is_preemptible;
    bool never_fits; /* no state of this cluster could hold it */
    bool is_proven;  /* several groups: placed on the empty cluster once */
    bool
        is_blocked; /* the placement memo: it did not fit, and nothing it could use has grown since */
    uint32_t member_count;
    int64_t charge[QUEUE_SUM_COUNT];
    uint32_t *lanes; /* where its jobs wait (policies/pending.h) */
    size_t lane_capacity;
    uint32_t lane_count;
};

struct shape_table {
    struct shape *shapes;
    size_t capacity;
    uint32_t count;
    uint32_t *slots; /* open addressing by hash; 0: empty, else id + 1 */
    uint32_t slot_count;
    uint32_t blocked_count;
    struct arena arena;
};

void shape_table_init(struct shape_table *table);
void shape_table_release(struct shape_table *table);

/* The shape of a job, made if new.  O(groups). */
uint32_t shape_of(struct shape_table *table, const struct cluster *cluster, const struct job *job);

/* The milli of one GPU that a member asks on this model: the share asked, or that of the memory asked;
 * 0: none, or whole GPUs; GPU_MILLI + 1: more than the model has. */
uint32_t shape_share_milli(const struct request *request, const struct gpu_model *model);

/* Could a node of this type, all free, hold a member?  How many at once. */
uint32_t shape_members_per_node(const struct request *request, const struct cluster *cluster,
                                uint32_t type);

/* Does the node, as it is now, hold one member of any of the shape's groups? */
bool shape_fits_member(const struct shape *shape, const struct ledger *ledger, node_id node);

#endif
