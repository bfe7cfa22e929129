#include "workloads/readers/ties.h"

#include "base/mem.h"

/* Places up to this one are groups of their own, unless they are joined already. */
static void reach(struct ties *ties, uint32_t place)
{
    MEM_GROW(ties->leader, ties->capacity, (size_t)place + 1);
    for (; ties->count <= place; ties->count++)
        ties->leader[ties->count] = (uint32_t)ties->count;
}

uint32_t ties_group(struct ties *ties, uint32_t place)
{
    if (place >= ties->count)
        return place;
    while (ties->leader[place] != place) {
        ties->leader[place] = ties->leader[ties->leader[place]];
        place = ties->leader[place];
    }
    return place;
}

void ties_add(struct ties *ties, uint32_t place, const struct job *job)
{
    for (uint32_t a = 0; a < job->after_count; a++) {
        reach(ties, place > job->after[a].job ? place : job->after[a].job);
        const uint32_t one = ties_group(ties, place), other = ties_group(ties, job->after[a].job);
        ties->leader[one > other ? one : other] = one < other ? one : other;
    }
}

time_ns ties_first(struct ties *ties, uint32_t group, time_ns time)
{
    if (group >= ties->count)
        return time;
    if (ties->first == NULL) {
        ties->first = mem_zalloc(ties->count, sizeof *ties->first);
        for (size_t i = 0; i < ties->count; i++)
            ties->first[i] = TIME_NEVER;
    }
    if (ties->first[group] == TIME_NEVER)
        ties->first[group] = time;
    return ties->first[group];
}

void ties_release(struct ties *ties)
{
    mem_free(ties->leader);
    mem_free(ties->first);
    *ties = (struct ties){0};
}
