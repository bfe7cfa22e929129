/* Saving and loading of class queues. */
#include "policies/queues/pending.h"
#include "policies/util/archive.h"

static void archive_class_queue(struct archive *archive, struct class_queue *class_queue)
{
    ARCHIVE_KNOWS(struct class_queue, 120);
    ARCHIVE_KNOWS(struct class_queue_entry, 16);
    ARCHIVE(archive, class_queue->leaf_queue);
    ARCHIVE(archive, class_queue->request_class);
    ARCHIVE_ROOM(archive, class_queue->heap, class_queue->capacity, class_queue->count);
    for (uint32_t i = 0; i < class_queue->count; i++) {
        ARCHIVE(archive, class_queue->heap[i].rank);
        ARCHIVE(archive, class_queue->heap[i].slot);
        if (archive_is_reading(archive))
            class_queue->heap[i].seconds = 0;
    }
    ARCHIVE(archive, class_queue->busy_position);
    ARCHIVE(archive, class_queue->class_position);
    ARCHIVE(archive, class_queue->leaf_queue_position);
    ARCHIVE(archive, class_queue->quota_block);
    ARCHIVE(archive, class_queue->limited_by);
    ARCHIVE(archive, class_queue->owed_by);
    ARCHIVE(archive, class_queue->is_over_quota);
    ARCHIVE(archive, class_queue->class);
    ARCHIVE(archive, class_queue->is_kept_from);
    ARCHIVE(archive, class_queue->is_brief);
    ARCHIVE(archive, class_queue->is_offset);
    ARCHIVE(archive, class_queue->offset);
    archive_expect(archive, !class_queue->is_brief || class_queue->quota_block != QUEUE_NONE);
}

static void archive_memo(struct archive *archive, struct plan_memo *memo)
{
    ARCHIVE_KNOWS(struct plan_memo, 72);
    ARCHIVE(archive, memo->failed);
    ARCHIVE(archive, memo->sleep);
    ARCHIVE(archive, memo->state);
    ARCHIVE(archive, memo->awaits_affordable);
    ARCHIVE(archive, memo->awaits_start);
    ARCHIVE(archive, memo->is_dozing);
    ARCHIVE(archive, memo->dozes_until);
    ARCHIVE(archive, memo->starts_seen);
    ARCHIVE(archive, memo->tried_cycle);
    ARCHIVE(archive, memo->retry_change);
    ARCHIVE(archive, memo->no_victim_for);
    ARCHIVE(archive, memo->no_victim_version);
    ARCHIVE(archive, memo->no_victim_until);
    ARCHIVE(archive, memo->eligible_at);
    archive_expect(archive, memo->failed <= PLAN_FAILED_MAX && memo->state <= MEMO_ASLEEP);
}

static void archive_leaf_queue(struct archive *archive, struct leaf_queue *leaf_queue)
{
    ARCHIVE_KNOWS(struct leaf_queue, 592);
    ARCHIVE_KNOWS(struct leaf_class_queue, 3 * 4);
    ARCHIVE(archive, leaf_queue->asked);
    ARCHIVE_ARRAY(archive, leaf_queue->class_queues, leaf_queue->capacity, leaf_queue->class_queue_count);
    ARCHIVE(archive, leaf_queue->job_count);
    ARCHIVE_ARRAY(archive, leaf_queue->borrowers, leaf_queue->over_quota_capacity, leaf_queue->over_quota_count);
    ARCHIVE(archive, leaf_queue->over_quota_bound);
    ARCHIVE(archive, leaf_queue->over_quota_least_milli);
    ARCHIVE(archive, leaf_queue->is_changed);
    ARCHIVE(archive, leaf_queue->asking);
}

void pending_archive(struct archive *archive, struct pending *pending)
{
    ARCHIVE_KNOWS(struct pending, 280);
    ARCHIVE_ROOM(archive, pending->class_queues, pending->class_queue_capacity, pending->class_queue_count);
    ARCHIVE_ROOM_SAME(archive, pending->memos, pending->memo_capacity, pending->class_queue_count);
    for (uint32_t l = 0; l < pending->class_queue_count; l++) {
        archive_class_queue(archive, &pending->class_queues[l]);
        for (int k = 0; k < PLAN_KINDS_MAX; k++)
            archive_memo(archive, &pending->memos[l][k]);
        if (!archive_is_reading(archive))
            continue;
        id_marks_set(&pending->blocked, l, pending->class_queues[l].quota_block != QUEUE_NONE);
        id_marks_set(&pending->brief, l, pending->class_queues[l].is_brief);
    }
    ARCHIVE_ARRAY(archive, pending->busy, pending->busy_capacity, pending->busy_count);
    ARCHIVE_ROOM(archive, pending->leaf_queues, pending->leaf_queue_capacity, pending->leaf_queue_count);
    for (uint32_t q = 0; q < pending->leaf_queue_count; q++)
        archive_leaf_queue(archive, &pending->leaf_queues[q]);
    ARCHIVE_ARRAY(archive, pending->changed, pending->changed_capacity, pending->changed_count);
    ARCHIVE(archive, pending->job_count);
    for (int c = 0; c < JOB_CLASS_COUNT; c++)
        ARCHIVE_ARRAY(archive, pending->by_class[c], pending->by_class_capacity[c], pending->by_class_count[c]);
    ARCHIVE(archive, pending->class_jobs);
    ARCHIVE(archive, pending->job_class_request_classes);
}
