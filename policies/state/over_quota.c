/* Which heads are over quota, and which class queues have no chance of space that is kept for in-quota jobs.
 *
 * A class queue is found to be over quota when it gets a new head, or when it is selected and only space for in-quota
 * jobs is left.  It is listed with the queue that would exceed its quota, and checked again when that queue is
 * charged less.  A new head is checked anew.
 * Cost: O(depth) a check. */
#include "policies/state/over_quota.h"
#include "policies/state/sched_state.h"

/* The lowest queue, from this one up, that would be over quota with these amounts added; QUEUE_NONE: none. */
static queue_id overdrawn(const struct sched *sched, queue_id queue, const int64_t *ask)
{
    for (queue_id q = queue; q != QUEUE_ROOT; q = sched->tree.queues[q].parent) {
        const struct queue_spec *spec = queue_tree_spec(&sched->tree, q);
        for (int r = 0; r < RESOURCE_COUNT; r++)
            if (ask[r] > 0 && spec->deserved[r] != QUOTA_UNLIMITED &&
                queue_tree_charged(&sched->tree, q, (enum resource)r) + ask[r] > spec->deserved[r])
                return q;
    }
    return QUEUE_NONE;
}

/* As above for the head of the class queue.  Only under a flat quota is the job itself read. */
static queue_id overdrawn_by(const struct sched *sched, const struct class_queue *class_queue)
{
    queue_id queue =
        sched->policy.quota->is_flat ? sched->jobs.jobs[class_queue->heap[0].slot].queue : class_queue->leaf_queue;
    return overdrawn(sched, queue, sched->request_classes.at[class_queue->request_class].charge);
}

static void note_over_quota(struct sched *sched, uint32_t class_queue, queue_id owed_by)
{
    struct leaf_queue *leaf_queue = &sched->pending.leaf_queues[owed_by];
    MEM_GROW(leaf_queue->borrowers, leaf_queue->over_quota_capacity, (size_t)leaf_queue->over_quota_count + 1);
    leaf_queue->borrowers[leaf_queue->over_quota_count++] = class_queue;
    pending_set_over_quota(&sched->pending, class_queue, true);
    sched->pending.class_queues[class_queue].owed_by = owed_by;
}

bool over_quota_find(struct sched *sched, uint32_t class_queue_id)
{
    struct class_queue *class_queue = &sched->pending.class_queues[class_queue_id];
    queue_id owed_by = overdrawn_by(sched, class_queue);
    if (owed_by == QUEUE_NONE)
        return false;
    note_over_quota(sched, class_queue_id, owed_by);
    queue_tree_touch(&sched->tree, class_queue->leaf_queue);
    return true;
}

/* The queue is charged less: heads listed as over quota may be in quota now. */
void over_quota_review(struct sched *sched, queue_id queue)
{
    struct leaf_queue *leaf_queue = &sched->pending.leaf_queues[queue];
    const uint32_t count = leaf_queue->over_quota_count;
    leaf_queue->over_quota_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = leaf_queue->borrowers[i];
        struct class_queue *class_queue = &sched->pending.class_queues[id];
        if (!class_queue->is_over_quota || class_queue->owed_by != queue)
            continue; /* it has a new head */
        queue_id owed_by = overdrawn_by(sched, class_queue);
        if (owed_by != QUEUE_NONE) {
            note_over_quota(sched, id, owed_by);
        } else {
            pending_set_over_quota(&sched->pending, id, false);
            queue_tree_touch(&sched->tree, class_queue->leaf_queue);
        }
    }
}

queue_id sched_owed_by(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    return overdrawn(sched, job->queue, sched->request_classes.at[job->ask].charge);
}

bool sched_is_entitled(const struct sched *sched, uint32_t slot)
{
    return sched_owed_by(sched, slot) == QUEUE_NONE;
}

/* ---- Events ---- */

static void *over_quota_init(struct sched *sched)
{
    return sched->headroom.owners_milli > 0 ? &sched->headroom : NULL;
}

static void over_quota_meet_head(struct sched *sched, void *own, uint32_t class_queue)
{
    (void)own;
    if (sched->pending.class_queues[class_queue].count > 0)
        over_quota_find(sched, class_queue);
}

const struct observer over_quota_observer = {.init = over_quota_init, .new_head = over_quota_meet_head};
