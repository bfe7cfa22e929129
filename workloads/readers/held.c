#include "workloads/readers/held.h"

#include <stdlib.h>

#include "base/mem.h"

struct sort_key {
    time_ns submit;
    uint64_t index;
};

static int on_compare(const void *left, const void *right)
{
    const struct sort_key *a = left, *b = right;
    if (a->submit != b->submit)
        return a->submit < b->submit ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

void held_add(struct held *held, const struct job *job, const struct job_truth *truth)
{
    enum { CAPACITY_MIN = 16 };
    if (held->count == held->capacity) { /* not MEM_GROW: zeroing would take as long as reading half of the row */
        held->capacity = held->capacity != 0 ? 2 * held->capacity : CAPACITY_MIN;
        held->jobs = mem_resize(held->jobs, held->capacity, sizeof *held->jobs);
    }
    held->jobs[held->count++] = (struct held_job){*job, *truth};
}

/* Turn dependencies from the order of arrival to the sorted order.  They are in the holder's arena, so they may be
 * written. */
static void turn_after(struct held *held)
{
    uint32_t *rank = mem_zalloc(held->count, sizeof *rank);
    for (size_t i = 0; i < held->count; i++)
        rank[held->order[i]] = (uint32_t)i;
    for (size_t i = 0; i < held->count; i++) {
        struct job_after *after = (struct job_after *)(uintptr_t)held->jobs[i].job.after;
        for (uint32_t a = 0; a < held->jobs[i].job.after_count; a++)
            after[a].job = rank[after[a].job];
    }
    mem_free(rank);
}

void held_sort(struct held *held)
{
    struct sort_key *keys = mem_zalloc(held->count, sizeof *keys);
    for (size_t i = 0; i < held->count; i++)
        keys[i] = (struct sort_key){held->jobs[i].job.submit, i};
    qsort(keys, held->count, sizeof *keys, on_compare);
    mem_free(held->order);
    held->order = mem_zalloc(held->count, sizeof *held->order);
    for (size_t i = 0; i < held->count; i++)
        held->order[i] = keys[i].index;
    mem_free(keys);
    turn_after(held);
}

bool held_next(struct held *held, struct job *job, struct job_truth *truth)
{
    if (held->next == held->count)
        return false;
    const struct held_job *entry = &held->jobs[held->order != NULL ? held->order[held->next] : held->next];
    held->next++;
    *job = entry->job;
    *truth = entry->truth;
    return true;
}

void held_release(struct held *held)
{
    mem_free(held->jobs);
    mem_free(held->order);
    *held = (struct held){0};
}
