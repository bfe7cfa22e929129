#include "topologies/communication_set.h"

#include <assert.h>

enum { SLOTS_MIN = 16 };

/* The slot of the equal one, or the empty one where it belongs. */
static uint32_t *slot_of(const struct communication_set *set, const struct communication *communication)
{
    uint32_t at = (uint32_t)communication_hash(communication) & (set->slot_count - 1);
    while (set->slots[at] != 0 && !communication_is_same(set->items[set->slots[at] - 1], communication))
        at = (at + 1) & (set->slot_count - 1);
    return &set->slots[at];
}

/* At most half of the slots are taken. */
static void make_slots(struct communication_set *set)
{
    if (set->slot_count > 2 * set->count)
        return;
    set->slot_count = set->slot_count > 0 ? 2 * set->slot_count : SLOTS_MIN;
    mem_free(set->slots);
    set->slots = mem_zalloc(set->slot_count, sizeof *set->slots);
    for (uint32_t i = 0; i < set->count; i++)
        *slot_of(set, set->items[i]) = i + 1;
}

const struct communication *communication_set_own(struct communication_set *set,
                                                  const struct communication *communication)
{
    if (communication == NULL)
        return NULL;
    make_slots(set);
    uint32_t *slot = slot_of(set, communication);
    if (*slot != 0)
        return set->items[*slot - 1];
    struct communication *own = arena_alloc_array(&set->arena, 1, struct communication);
    *own = *communication;
    MEM_GROW(set->items, set->capacity, (size_t)set->count + 1);
    MEM_GROW(set->origins, set->origin_capacity, (size_t)set->count + 1);
    set->origins[set->count] = (struct communication_origin){.file = NULL};
    set->items[set->count++] = own;
    *slot = set->count;
    return own;
}

void communication_set_note(struct communication_set *set, struct communication_origin origin)
{
    assert(set->count > 0);
    set->origins[set->count - 1] = origin;
}

uint32_t communication_set_number(const struct communication_set *set, const struct communication *communication)
{
    assert(set->count > 0);
    const uint32_t *slot = slot_of(set, communication);
    assert(*slot != 0);
    return *slot - 1;
}

void communication_set_release(struct communication_set *set)
{
    mem_free(set->items);
    mem_free(set->origins);
    mem_free(set->slots);
    arena_release(&set->arena);
    *set = (struct communication_set){0};
}
