/* base/names.c -- see base/names.h.
 *
 * A hash table of ids with linear probing, never more than half full, so that a search ends.
 */
#include "base/names.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

enum { NAMES_SLOTS_MIN = 64 };

struct name {
    const char *text; /* in the arena, so that its address never changes */
    size_t length;
    uint64_t hash;
};

struct names {
    struct arena texts;
    struct name *names; /* by id */
    size_t capacity;
    uint32_t count;
    uint32_t slot_mask; /* number of slots (a power of two) - 1 */
    uint32_t *slots;    /* an id, or NAMES_NONE */
};

static void slots_resize(struct names *names, uint32_t slot_count)
{
    names->slots = mem_resize(names->slots, slot_count, sizeof *names->slots);
    names->slot_mask = slot_count - 1;
    memset(names->slots, 0xFF, slot_count * sizeof *names->slots); /* all NAMES_NONE */
    for (uint32_t id = 0; id < names->count; id++) {
        uint32_t slot = (uint32_t)names->names[id].hash & names->slot_mask;
        while (names->slots[slot] != NAMES_NONE)
            slot = (slot + 1) & names->slot_mask;
        names->slots[slot] = id;
    }
}

struct names *names_new(void)
{
    struct names *names = mem_zalloc(1, sizeof *names);
    slots_resize(names, NAMES_SLOTS_MIN);
    return names;
}

void names_free(struct names *names)
{
    if (names == NULL)
        return;
    arena_release(&names->texts);
    mem_free(names->names);
    mem_free(names->slots);
    mem_free(names);
}

/* Most names are short: two words, which may overlap, hold all of it. */
static uint64_t name_hash(struct text name)
{
    uint64_t first, last;
    uint32_t half[2];
    if (name.length < 4 || name.length > 16)
        return hash_bytes(name.at, name.length, 0);
    if (name.length >= 8) {
        memcpy(&first, name.at, 8);
        memcpy(&last, name.at + name.length - 8, 8);
    } else {
        memcpy(&half[0], name.at, 4);
        memcpy(&half[1], name.at + name.length - 4, 4);
        first = half[0];
        last = half[1];
    }
    return hash_mix(hash_mix(name.length, first), last);
}

/* The slot that holds the name, or the empty slot where it belongs. */
static uint32_t slot_of(const struct names *names, struct text text, uint64_t hash)
{
    uint32_t slot = (uint32_t)hash & names->slot_mask;
    for (;;) {
        uint32_t id = names->slots[slot];
        if (id == NAMES_NONE)
            return slot;
        const struct name *name = &names->names[id];
        if (name->hash == hash && text_equal((struct text){name->text, name->length}, text))
            return slot;
        slot = (slot + 1) & names->slot_mask;
    }
}

uint32_t names_find(const struct names *names, struct text name)
{
    return names->slots[slot_of(names, name, name_hash(name))];
}

uint32_t names_add(struct names *names, struct text name)
{
    uint64_t hash = name_hash(name);
    uint32_t slot = slot_of(names, name, hash);
    if (names->slots[slot] != NAMES_NONE)
        return names->slots[slot];
    uint32_t id = names->count;
    assert(id < NAMES_NONE / 4); /* so that slot counts fit 32 bits */
    MEM_GROW(names->names, names->capacity, (size_t)id + 1);
    names->names[id] = (struct name){arena_copy(&names->texts, name), name.length, hash};
    names->slots[slot] = id;
    names->count++;
    if (names->count > names->slot_mask / 2)
        slots_resize(names, (names->slot_mask + 1) * 2);
    return id;
}

const char *names_text(const struct names *names, uint32_t id)
{
    assert(id < names->count);
    return names->names[id].text;
}

uint32_t names_count(const struct names *names)
{
    return names->count;
}
