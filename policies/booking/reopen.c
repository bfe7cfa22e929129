/* Class queues that limits closed are opened again; see policies/booking/booking.h. */
#include "policies/booking/booking.h"
#include "policies/state/over_quota.h"
#include "policies/state/sched_state.h"

/* Reopen those of the class queues that a limit of the queue closed; QUEUE_NONE: of any queue. */
static void reopen_closed_by(struct sched *sched, const struct id_marks *closed, queue_id queue)
{
    for (uint32_t l = id_marks_next(closed, 0); l != ID_MARKS_NONE; l = id_marks_next(closed, l + 1))
        if (queue == QUEUE_NONE || sched->pending.class_queues[l].quota_block == queue) {
            pending_block(&sched->pending, l, QUEUE_NONE);
            queue_tree_touch(&sched->tree, sched->pending.class_queues[l].leaf_queue);
        }
}

/* Less is charged to the queue: reopen the class queues that a limit of it or of a queue above it closed. */
void sched_reopen_below(struct sched *sched, queue_id queue)
{
    const bool keeps_for_owners = sched->headroom.owners_milli > 0;
    const bool may_be_closed = sched->tree.closing_count > 0;
    for (queue_id q = queue; q != QUEUE_NONE; q = sched->tree.queues[q].parent) {
        if (keeps_for_owners && sched->pending.leaf_queues[q].over_quota_count > 0)
            over_quota_review(sched, q);
        if (!may_be_closed || !sched->tree.queues[q].has_closed_class_queues)
            continue;
        queue_tree_reopen(&sched->tree, q);
        reopen_closed_by(sched, &sched->pending.blocked, q);
    }
}

void sched_reopen_quotas(struct sched *sched)
{
    const bool keeps_for_owners = sched->headroom.owners_milli > 0;
    const bool may_be_closed = sched->tree.closing_count > 0;
    for (queue_id q = 0; q < sched->tree.count && (keeps_for_owners || may_be_closed); q++) {
        if (keeps_for_owners && sched->pending.leaf_queues[q].over_quota_count > 0)
            over_quota_review(sched, q);
        queue_tree_reopen(&sched->tree, q);
    }
    if (may_be_closed)
        reopen_closed_by(sched, &sched->pending.blocked, QUEUE_NONE);
}

void sched_reopen_brief(struct sched *sched)
{
    reopen_closed_by(sched, &sched->pending.brief, QUEUE_NONE);
}
