/* policies/util/id_marks.h -- a set of small ids, read in their order; it grows as ids are added.
 *
 *   id_marks_set(&marks, id, true);
 *   for (uint32_t id = id_marks_next(&marks, 0); id != ID_MARKS_NONE; id = id_marks_next(&marks, id + 1)) ...
 *
 * {0} is empty.  A loop over it may take out the id that it is at.
 * Cost: O(1) to add or take out, O(largest id / 64) to read all. */
#ifndef POLICIES_UTIL_ID_MARKS_H
#define POLICIES_UTIL_ID_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

struct id_marks {
    uint64_t *words; /* owned */
    size_t capacity; /* of words */
    uint32_t count;  /* of ids */
};

#define ID_MARKS_NONE UINT32_MAX

static inline bool id_marks_has(const struct id_marks *marks, uint32_t id)
{
    return id / 64 < marks->capacity && (marks->words[id / 64] >> id % 64 & 1) != 0;
}

static inline void id_marks_set(struct id_marks *marks, uint32_t id, bool is_in)
{
    if (id_marks_has(marks, id) == is_in)
        return;
    MEM_GROW(marks->words, marks->capacity, (size_t)id / 64 + 1);
    marks->words[id / 64] ^= UINT64_C(1) << id % 64;
    marks->count += is_in ? 1 : UINT32_MAX;
}

/* The smallest id in the set from `from` on; ID_MARKS_NONE: there is none. */
static inline uint32_t id_marks_next(const struct id_marks *marks, uint32_t from)
{
    for (size_t id = from; marks->count > 0 && id / 64 < marks->capacity; id = (id | 63) + 1) {
        const uint64_t word = marks->words[id / 64] >> id % 64;
        if (word != 0)
            return (uint32_t)id + (uint32_t)__builtin_ctzll(word);
    }
    return ID_MARKS_NONE;
}

static inline void id_marks_release(struct id_marks *marks)
{
    mem_free(marks->words);
    *marks = (struct id_marks){0};
}

#endif
