/* What will be free of all nodes together; see policies/free_total.h. */
#include "policies/free_total.h"

#include <string.h>

#include "base/mem.h"

static void add(struct free_amount *sum, const struct free_amount *more)
{
    sum->gpus += more->gpus;
    sum->cpu_milli += more->cpu_milli;
    sum->memory_mib += more->memory_mib;
}

/* The first moment that is not before `at`.  The pieces of a gang begin and end at the same times, and a node is gone through in
 * the order of time: it is often one of the last two, or just behind the last. */
static uint32_t place_of(const struct free_total *total, time_ns at)
{
    enum { NEAR = 16 };
    const uint32_t last = total->last[0], other = total->last[1];
    uint32_t low = 0, high = total->count;
    if (other < high && total->changes[other].at == at)
        return other;
    if (last < high && total->changes[last].at <= at) {
        low = last;
        for (uint32_t i = 0; i < NEAR && low < high; i++, low++)
            if (total->changes[low].at >= at)
                return low;
    }
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (total->changes[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void free_total_change(struct free_total *total, time_ns at, int32_t steps,
                       const struct free_amount *more)
{
    const uint32_t i = place_of(total, at);
    if (i == total->count || total->changes[i].at != at) {
        MEM_GROW(total->changes, total->capacity, (size_t)total->count + 1);
        memmove(&total->changes[i + 1], &total->changes[i],
                (total->count - i) * sizeof *total->changes);
        total->changes[i] = (struct free_change){.at = at};
        total->count++;
        total->unused++;
    }
    struct free_change *change = &total->changes[i];
    if (i != total->last[0])
        total->last[1] = total->last[0];
    total->last[0] = i;
    total->unused -= change->steps == 0;
    change->steps += steps;
    total->unused += change->steps == 0;
    add(&change->more, more);
}

void free_total_tidy(struct free_total *total)
{
    enum { UNUSED_MAX = 16 };
    uint32_t kept = 0;
    if (total->unused <= UNUSED_MAX + total->count / 8)
        return;
    for (uint32_t i = 0; i < total->count; i++)
        if (total->changes[i].steps != 0)
            total->changes[kept++] = total->changes[i];
    total->count = kept;
    total->unused = total->last[0] = total->last[1] = 0;
}

void free_total_release(struct free_total *total)
{
    mem_free(total->changes);
}

static bool is_enough(const struct free_search *search)
{
    return search->free.gpus >= search->need.gpus &&
           search->free.cpu_milli >= search->need.cpu_milli &&
           search->free.memory_mib >= search->need.memory_mib;
}

static void count_next(struct free_search *search)
{
    add(&search->free, &search->total->changes[search->ahead++].more);
}

struct free_search free_search_begin(const struct free_total *total, const struct free_amount *need,
                                     time_ns from, time_ns length, time_ns latest, time_ns until)
{
    struct free_search search = {.total = total,
                                 .need = *need,
                                 .at = from,
                                 .length = length,
                                 .latest = latest,
                                 .until = until};
    while (search.ahead < total->count && total->changes[search.ahead].at <= from)
        count_next(&search);
    search.next = search.ahead;
    return search;
}

time_ns free_search_next(struct free_search *search)
{
    const struct free_change *changes = search->total->changes;
    const uint32_t count = search->total->count;
    while (search->at != TIME_NEVER && search->at <= search->latest) {
        const time_ns found = search->at, end = time_after(found, search->length);
        const time_ns until = end < search->until ? end : search->until;
        while (search->ahead < count && is_enough(search) &&
               (changes[search->ahead].at <= found || changes[search->ahead].at < until))
            count_next(search);
        if (is_enough(search)) {
            search->at = search->next < count ? changes[search->next++].at : TIME_NEVER;
            return found;
        }
        while (search->ahead < count && !is_enough(search))
            count_next(search);
        search->at = is_enough(search) ? changes[search->ahead - 1].at : TIME_NEVER;
        search->next = search->ahead;
    }
    return TIME_NEVER;
}
