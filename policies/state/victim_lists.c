#include "policies/state/victim_lists.h"

#include <assert.h>
#include <string.h>

#include "policies/state/sched_state.h"

static void *victim_lists_init(struct sched *sched)
{
    const struct policy_config *policy = &sched->policy;
    sched->victim_lists.are_kept = policy->preemption->evicts && policy->preempt.victim_key_count == 0 &&
                                   (policy->preempt.by_queue || policy->quota->is_flat) &&
                                   policy->quota->lending.rounds == NULL;
    return sched->victim_lists.are_kept ? &sched->victim_lists : NULL;
}

static void victim_lists_release(struct sched *sched, void *own)
{
    struct victim_lists *lists = own;
    (void)sched;
    for (size_t q = 0; q < lists->queue_capacity; q++)
        mem_free(lists->of_queue[q].slots);
    mem_free(lists->of_queue);
}

/* The queue whose list holds the jobs of this queue. */
static queue_id list_of(const struct sched *sched, queue_id queue)
{
    return sched->policy.quota->is_flat ? QUEUE_ROOT : queue;
}

struct victim_list victim_lists_of(const struct sched *sched, queue_id queue)
{
    const struct victim_lists *lists = &sched->victim_lists;
    queue = list_of(sched, queue);
    return queue < lists->queue_capacity ? lists->of_queue[queue] : (struct victim_list){0};
}

/* The number of jobs in the list that the order puts before the job, or that are the job itself. */
static uint32_t count_before(const struct sched *sched, const struct victim_list *list, uint32_t slot)
{
    uint32_t low = 0, high = list->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (pending_compare(&sched->pending, slot, list->slots[middle]) < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

uint32_t victim_lists_behind(const struct sched *sched, queue_id queue, uint32_t preemptor)
{
    const struct victim_list list = victim_lists_of(sched, queue);
    return count_before(sched, &list, preemptor);
}

void victim_lists_add(struct sched *sched, uint32_t slot)
{
    struct victim_lists *lists = &sched->victim_lists;
    const queue_id queue = list_of(sched, sched->jobs.jobs[slot].queue);
    if (queue >= lists->queue_capacity)
        MEM_GROW(lists->of_queue, lists->queue_capacity, (size_t)queue + 1);
    struct victim_list *list = &lists->of_queue[queue];
    const uint32_t at = count_before(sched, list, slot);
    if (list->count == list->capacity)
        MEM_GROW(list->slots, list->capacity, (size_t)list->count + 1);
    memmove(&list->slots[at + 1], &list->slots[at], (list->count - at) * sizeof *list->slots);
    list->slots[at] = slot;
    list->count++;
}

void victim_lists_remove(struct sched *sched, uint32_t slot)
{
    struct victim_list *list = &sched->victim_lists.of_queue[list_of(sched, sched->jobs.jobs[slot].queue)];
    const uint32_t end = count_before(sched, list, slot);
    assert(end > 0 && list->slots[end - 1] == slot);
    memmove(&list->slots[end - 1], &list->slots[end], (list->count - end) * sizeof *list->slots);
    list->count--;
}

static const char *victim_lists_check(const struct sched *sched, const void *own)
{
    (void)own;
    uint32_t listed = 0, counted = 0;
    for (queue_id q = 0; q < sched->tree.count; q++) {
        listed += sched->lists.running[q].count;
        if (list_of(sched, q) != q)
            continue;
        const struct victim_list list = victim_lists_of(sched, q);
        counted += list.count;
        for (uint32_t i = 0; i < list.count; i++) {
            const struct sched_job *job = &sched->jobs.jobs[list.slots[i]];
            if (!job->is_listed || list_of(sched, job->queue) != q)
                return "a job stands in a list of possible victims where it does not belong";
            if (i > 0 && pending_compare(&sched->pending, list.slots[i - 1], list.slots[i]) >= 0)
                return "a list of possible victims is not in the order of jobs";
        }
    }
    return listed == counted ? NULL : "a list of possible victims has lost a job, or has one too many";
}

static void victim_lists_turn(struct sched *sched, void *own, uint32_t slot, bool is_listed)
{
    (void)own;
    if (is_listed)
        victim_lists_add(sched, slot);
    else
        victim_lists_remove(sched, slot);
}

const struct observer victim_lists_observer = {.init = victim_lists_init,
                                               .release = victim_lists_release,
                                               .check = victim_lists_check,
                                               .listed = victim_lists_turn};
