/* reports/metric_tenants.c -- the tenant of each queue.
 *
 * The tenants are the queues of the highest level of the tree that has more than one queue; a queue that is alone on
 * its level, and has others below it, stands for the whole organisation and is passed over.  The tenant of a job is the
 * one that its queue lies under, or is; of a job in a queue that is passed over it is that queue.  Where the tree is
 * flat, each queue is a tenant.
 */
#include "reports/metrics_inside.h"

/* Mark the queues that are passed over. */
static void pass_over(const struct run_facts *facts, bool *is_passed)
{
    uint32_t *children = mem_zalloc(facts->queue_count + (size_t)1, sizeof *children); /* by parent + 1; the root: 0 */
    uint32_t *last = mem_zalloc(facts->queue_count + (size_t)1, sizeof *last);
    for (uint32_t q = 0; q < facts->queue_count; q++) {
        children[facts->queues[q].parent + 1]++;
        last[facts->queues[q].parent + 1] = q;
    }
    for (uint32_t top = 0; children[top] == 1 && children[last[top] + 1] > 0; top = last[top] + 1)
        is_passed[last[top]] = true;
    mem_free(children);
    mem_free(last);
}

void tenants_find(struct metrics *metrics)
{
    const struct run_facts *facts = &metrics->facts;
    if (facts->queue_count == 0)
        return;
    struct names *tree = names_new(); /* id = index */
    bool *is_passed = mem_zalloc(facts->queue_count, sizeof *is_passed);
    uint32_t *tenants = mem_zalloc(facts->queue_count, sizeof *tenants); /* by index in the tree */
    pass_over(facts, is_passed);
    for (uint32_t q = 0; q < facts->queue_count; q++) {
        const uint32_t parent = facts->queues[q].parent;
        tenants[q] = parent == RECORD_QUEUE_ROOT || is_passed[parent] ? q : tenants[parent];
        names_add(tree, text_of(facts->queues[q].name));
    }
    const uint32_t count = names_count(metrics->queues);
    metrics->tenant_of = mem_zalloc(count + (size_t)1, sizeof *metrics->tenant_of);
    for (uint32_t queue = 0; queue < count; queue++) {
        const char *name = names_text(metrics->queues, queue); /* the root's is not in the tree */
        const uint32_t index = names_find(tree, text_of(name));
        metrics->tenant_of[queue] =
            names_add(metrics->tenants, text_of(index == NAMES_NONE ? name : names_text(tree, tenants[index])));
    }
    mem_free(is_passed);
    mem_free(tenants);
    names_free(tree);
}
