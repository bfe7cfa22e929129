/* Quota that is kept for blocked heads, from the jobs behind them.
 *
 * The quota policy may keep an amount for a head that a limit closed (quota.h: keeps).  A job behind it in the queue
 * selection is then tried, or planned for, as if that amount were charged.  If a queue has several such heads, the most
 * of each resource is kept, and jobs of that queue may use it.  A class queue closed by kept quota is tried again in
 * the next cycle, because kept quota may change without any charge going down.
 * Cost: where anything may be kept, O(waiting class queues) for each job about to be placed. */
#include <string.h>

#include "policies/state/kept_quota.h"
#include "policies/state/sched_state.h"

void kept_init(struct sched *sched)
{
    static const int64_t nothing[QUEUE_SUM_COUNT] = {0};
    const struct quota_policy *quota = sched->policy.quota;
    int64_t kept[QUEUE_SUM_COUNT];
    sched->keeps_quota = quota->lending.keeps != NULL && quota->lending.keeps(&sched->tree, QUEUE_ROOT, nothing, kept);
}

/* In the queue selection, does the head of the class queue go before the job? */
static bool is_ahead(struct sched *sched, uint32_t class_queue, uint32_t slot)
{
    const uint32_t head = pending_head(&sched->pending, class_queue);
    const struct sched_job *own = &sched->jobs.jobs[slot], *its = &sched->jobs.jobs[head];
    struct contender a = {.ask = sched_ask(sched, its)->charge,
                          .leaf = its->queue,
                          .priority = its->priority,
                          .submit = sched->jobs.facts[head].submit};
    struct contender b = {.ask = sched_ask(sched, own)->charge,
                          .leaf = own->queue,
                          .priority = own->priority,
                          .submit = sched->jobs.facts[slot].submit};
    queue_tree_below_common(&sched->tree, its->queue, own->queue, &a.queue, &b.queue);
    if (a.queue == b.queue)
        return false; /* a job of an inner queue goes before the jobs below it */
    int order = sched->policy.quota->compare(&sched->tree, a, b);
    return order != 0 ? order < 0 : a.queue < b.queue;
}

/* The quota that is kept for heads of the queue that go before the job: of each resource the largest amount.  False:
 * there is no such head. */
static bool find_kept(struct sched *sched, queue_id queue, uint32_t slot, int64_t most[QUEUE_SUM_COUNT])
{
    const struct leaf_queue *leaf_queue = &sched->pending.leaf_queues[queue];
    bool is_any = false;
    memset(most, 0, QUEUE_SUM_COUNT * sizeof *most);
    for (uint32_t l = 0; l < leaf_queue->class_queue_count; l++) {
        const uint32_t id = leaf_queue->class_queues[l].class_queue;
        const struct class_queue *class_queue = &sched->pending.class_queues[id];
        int64_t kept[QUEUE_SUM_COUNT] = {0};
        if (class_queue->count == 0 || class_queue->quota_block == QUEUE_NONE || class_queue->is_kept_from ||
            !sched->policy.quota->lending.keeps(&sched->tree, queue,
                                                sched->request_classes.at[class_queue->request_class].charge, kept) ||
            !is_ahead(sched, id, slot))
            continue;
        is_any = true;
        for (int r = 0; r < QUEUE_SUM_COUNT; r++)
            most[r] = kept[r] > most[r] ? kept[r] : most[r];
    }
    return is_any;
}

queue_id kept_forbids(struct sched *sched, uint32_t slot)
{
    const queue_id own = sched->jobs.jobs[slot].queue;
    if (!sched->keeps_quota || sched->tree.closing_count == 0)
        return QUEUE_NONE;
    const int64_t *ask = sched_ask(sched, &sched->jobs.jobs[slot])->charge;
    queue_id forbids = QUEUE_NONE;
    size_t mark = ledger_mark(sched->ledger);
    for (queue_id q = 1; q < sched->tree.count && forbids == QUEUE_NONE; q++) {
        int64_t kept[QUEUE_SUM_COUNT];
        if (q == own || sched->tree.queues[q].first_child != QUEUE_NONE || sched->tree.waits[q].jobs == 0 ||
            !find_kept(sched, q, slot, kept))
            continue;
        ledger_charge(sched->ledger, q, kept);
        forbids = queue_tree_forbids(&sched->tree, own, ask);
    }
    ledger_rollback(sched->ledger, mark);
    return forbids;
}

void kept_reopen(struct sched *sched)
{
    for (uint32_t l = 0; l < sched->pending.class_queue_count; l++) {
        struct class_queue *class_queue = &sched->pending.class_queues[l];
        if (class_queue->is_kept_from && class_queue->quota_block != QUEUE_NONE) {
            pending_block(&sched->pending, l, QUEUE_NONE);
            queue_tree_touch(&sched->tree, class_queue->leaf_queue);
        }
        class_queue->is_kept_from = false;
    }
}
