#include "workloads/held.h"

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
    MEM_GROW(held->jobs, held->capacity, held->count + 1);
    held->jobs[held->count++] = (struct held_job){*job, *truth};
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
}

bool held_next(struct held *held, struct job *job, struct job_truth *truth)
{
    if (held->next == held->count)
        return false;
    const struct held_job *entry =
        &held->jobs[held->order != NULL ? held->order[held->next] : held->next];
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
