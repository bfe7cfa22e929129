/* The free amounts of all nodes over time; see policies/ledger/free_total.h. */
#include "policies/ledger/free_total.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

static void add(struct free_amount *sum, const struct free_amount *more)
{
    sum->gpus += more->gpus;
    sum->cpu_milli += more->cpu_milli;
    sum->memory_mib += more->memory_mib;
}

static time_ns last_of(const struct free_block *block)
{
    return block->changes[block->count - 1].at;
}

/* The place of the first moment at or after `at`. */
static struct free_place place_of(const struct free_total *total, time_ns at)
{
    uint32_t low = 0, high = total->count;
    if (high > 0 && last_of(total->blocks[high - 1]) < at)
        low = high; /* moments are often added in their order */
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (last_of(total->blocks[middle]) < at)
            low = middle + 1;
        else
            high = middle;
    }
    struct free_place place = {.block = low};
    if (low == total->count)
        return place;
    const struct free_block *block = total->blocks[low];
    for (low = 0, high = block->count; low < high;) {
        const uint32_t middle = (low + high) / 2;
        if (block->changes[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    place.index = low;
    return place;
}

static struct free_block *add_block(struct free_total *total, uint32_t at)
{
    MEM_GROW(total->blocks, total->capacity, (size_t)total->count + 1);
    memmove(&total->blocks[at + 1], &total->blocks[at], (total->count - at) * sizeof *total->blocks);
    total->blocks[at] = mem_zalloc(1, sizeof **total->blocks);
    total->count++;
    return total->blocks[at];
}

static void move_changes(struct free_change *to, const struct free_change *from, uint32_t count)
{
    memmove(to, from, count * sizeof *to);
}

/* Move the later half of the block into a new block after it. */
static void split_block(struct free_total *total, uint32_t at)
{
    enum { HALF = FREE_BLOCK / 2 };
    struct free_block *late = add_block(total, at + 1), *early = total->blocks[at];
    late->count = early->count - HALF;
    move_changes(late->changes, early->changes + HALF, late->count);
    early->count = HALF;
}

/* Make room for a moment at that place.  A moment after all others goes into the last block. */
static struct free_place make_room(struct free_total *total, struct free_place place)
{
    if (total->count == 0)
        add_block(total, 0);
    if (place.block == total->count) {
        place.block--;
        place.index = total->blocks[place.block]->count;
    }
    if (total->blocks[place.block]->count == FREE_BLOCK) {
        split_block(total, place.block);
        const uint32_t early = total->blocks[place.block]->count;
        if (place.index > early) {
            place.block++;
            place.index -= early;
        }
    }
    struct free_block *block = total->blocks[place.block];
    move_changes(&block->changes[place.index + 1], &block->changes[place.index], block->count - place.index);
    block->count++;
    return place;
}

static void forget(struct free_total *total, struct free_place place)
{
    struct free_block *block = total->blocks[place.block];
    block->count--;
    move_changes(&block->changes[place.index], &block->changes[place.index + 1], block->count - place.index);
    if (block->count > 0)
        return;
    mem_free(block);
    total->count--;
    memmove(&total->blocks[place.block], &total->blocks[place.block + 1],
            (total->count - place.block) * sizeof *total->blocks);
}

void free_total_change(struct free_total *total, time_ns at, int32_t steps, const struct free_amount *more)
{
    struct free_place place = place_of(total, at);
    if (place.block == total->count || total->blocks[place.block]->changes[place.index].at != at) {
        place = make_room(total, place);
        total->blocks[place.block]->changes[place.index] = (struct free_change){.at = at};
    }
    struct free_change *change = &total->blocks[place.block]->changes[place.index];
    change->steps += steps;
    add(&change->more, more);
    if (change->steps != 0)
        return;
    assert(change->more.gpus == 0 && change->more.cpu_milli == 0 && change->more.memory_mib == 0);
    forget(total, place);
}

void free_total_release(struct free_total *total)
{
    for (uint32_t b = 0; b < total->count; b++)
        mem_free(total->blocks[b]);
    mem_free(total->blocks);
}

static bool is_enough(const struct free_search *search)
{
    return search->free.gpus >= search->need.gpus && search->free.cpu_milli >= search->need.cpu_milli &&
           search->free.memory_mib >= search->need.memory_mib;
}

/* The change at that place; NULL: it is after the last. */
static const struct free_change *change_at(const struct free_search *search, struct free_place place)
{
    const struct free_total *total = search->total;
    return place.block < total->count ? &total->blocks[place.block]->changes[place.index] : NULL;
}

static void advance(const struct free_search *search, struct free_place *place)
{
    if (++place->index == search->total->blocks[place->block]->count)
        *place = (struct free_place){.block = place->block + 1};
}

static void count_next(struct free_search *search)
{
    add(&search->free, &change_at(search, search->ahead)->more);
    advance(search, &search->ahead);
}

struct free_search free_search_begin(const struct free_total *total, const struct free_amount *need, time_ns from,
                                     time_ns length, time_ns latest, time_ns until)
{
    struct free_search search = {
        .total = total, .need = *need, .at = from, .length = length, .latest = latest, .until = until};
    const struct free_change *change;
    while ((change = change_at(&search, search.ahead)) != NULL && change->at <= from)
        count_next(&search);
    search.next = search.ahead;
    return search;
}

/* Count the changes before `until`, as long as enough is free. */
static void count_while_enough(struct free_search *search, time_ns found, time_ns until)
{
    const struct free_change *change;
    while (is_enough(search) && (change = change_at(search, search->ahead)) != NULL &&
           (change->at <= found || change->at < until))
        count_next(search);
}

/* Count changes until enough is free; the search goes on from that moment. */
static void skip_lack(struct free_search *search)
{
    const struct free_change *change = NULL;
    while (!is_enough(search) && (change = change_at(search, search->ahead)) != NULL)
        count_next(search);
    search->at = is_enough(search) ? change->at : TIME_NEVER;
    search->next = search->ahead;
}

time_ns free_search_next(struct free_search *search)
{
    while (search->at != TIME_NEVER && search->at <= search->latest) {
        const time_ns found = search->at, end = time_after(found, search->length);
        count_while_enough(search, found, end < search->until ? end : search->until);
        if (!is_enough(search)) {
            skip_lack(search);
            continue;
        }
        const struct free_change *next = change_at(search, search->next);
        search->at = next != NULL ? next->at : TIME_NEVER;
        if (next != NULL)
            advance(search, &search->next);
        return found;
    }
    return TIME_NEVER;
}
