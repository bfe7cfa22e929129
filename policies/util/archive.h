/* policies/util/archive.h -- the state of a scheduler as bytes: the same code writes and reads it.
 *
 * Every module that keeps state has one function for both directions.  It names each field once, so that saving and
 * loading cannot differ.  Writing changes nothing; reading fills a new object.
 *
 *   static void archive_thing(struct archive *archive, struct thing *thing)
 *   {
 *       ARCHIVE_KNOWS(struct thing, 40);
 *       ARCHIVE(archive, thing->id);
 *       ARCHIVE_ARRAY(archive, thing->slots, thing->capacity, thing->count);
 *   }
 *
 * Laws
 *  - The same state gives the same bytes: they hold no padding, address or capacity.  So structs are archived field by
 *    field, and as a whole only if they have no padding.
 *  - Reading past the end, or an impossible count, marks the archive as broken; all further reads give zeros.
 *
 * It does not: identify or check the bytes (policies/cycle/save.c does).
 */
#ifndef POLICIES_UTIL_ARCHIVE_H
#define POLICIES_UTIL_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

struct node_asks;

struct archive {
    struct buffer *out;   /* appended to; NULL: reading */
    const char *at, *end; /* what is left to read */
    bool is_broken;
    struct node_asks *asks; /* that requests may point to; NULL: none is known yet */
};

static inline bool archive_is_reading(const struct archive *archive)
{
    return archive->out == NULL;
}

static inline size_t archive_left(const struct archive *archive)
{
    return (size_t)(archive->end - archive->at);
}

/* The state read must fulfil this condition; otherwise the archive is broken. */
static inline void archive_expect(struct archive *archive, bool is_so)
{
    archive->is_broken |= !is_so;
}

static inline void archive_bytes(struct archive *archive, void *at, size_t bytes)
{
    if (bytes == 0)
        return;
    if (!archive_is_reading(archive)) {
        buffer_bytes(archive->out, at, bytes);
        return;
    }
    archive_expect(archive, bytes <= archive_left(archive));
    if (archive->is_broken) {
        memset(at, 0, bytes);
        return;
    }
    memcpy(at, archive->at, bytes);
    archive->at += bytes;
}

/* A byte that is no flag would be undefined where a bool is read. */
static inline void archive_flag(struct archive *archive, void *at, size_t bytes)
{
    uint8_t flag = 0;
    if (!archive_is_reading(archive)) {
        buffer_bytes(archive->out, at, bytes);
        return;
    }
    archive_bytes(archive, &flag, sizeof flag);
    archive_expect(archive, flag <= 1);
    *(bool *)at = flag == 1;
}

static inline void archive_flags(struct archive *archive, void *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        archive_flag(archive, (bool *)at + i, sizeof(bool));
}

/* A number, a flag, an array of either, or a struct of numbers without padding.  A struct with flags is archived field
 * by field. */
#define ARCHIVE(archive, value)                                                                                        \
    _Generic((value), bool : archive_flag, bool * : archive_flags, default : archive_bytes)((archive), &(value),       \
                                                                                            sizeof(value))

/* The numbers read are below the bound: indices of something.  O(count). */
static inline void archive_expect_below(struct archive *archive, const uint32_t *numbers, size_t count, uint32_t bound)
{
    for (size_t i = 0; i < count; i++)
        archive_expect(archive, numbers[i] < bound);
}

/* The number of elements; when reading, zeroed room for them in `array` of *capacity elements (base/mem.h). */
void *archive_room(struct archive *archive, void *array, size_t *capacity, uint32_t *count, size_t size);
#define ARCHIVE_ROOM(archive, array, capacity, count)                                                                  \
    ((array) = archive_room((archive), (array), &(capacity), &(count), sizeof *(array)))

/* Room for an array of a number of elements that is known already; the number that is read must be the same. */
void *archive_room_same(struct archive *archive, void *array, size_t *capacity, uint32_t count, size_t size);
#define ARCHIVE_ROOM_SAME(archive, array, capacity, count)                                                             \
    ((array) = archive_room_same((archive), (array), &(capacity), (count), sizeof *(array)))

/* As ARCHIVE_ROOM, and the elements, which have no padding. */
#define ARCHIVE_ARRAY(archive, array, capacity, count)                                                                 \
    do {                                                                                                               \
        ARCHIVE_ROOM(archive, array, capacity, count);                                                                 \
        archive_bytes((archive), (array), (count) * sizeof *(array));                                                  \
    } while (0)

/* A text; only written. */
void archive_text(struct archive *archive, const char *text);

/* Stands where all fields of the type are archived.  `bytes`: its size if pointers have eight bytes.  A new field
 * breaks the build here: archive it or say why not, and raise SAVE_VERSION (policies/cycle/save.c). */
#define ARCHIVE_KNOWS(type, bytes)                                                                                     \
    _Static_assert(sizeof(void *) != 8 || sizeof(type) == (bytes), #type " has changed: archive what is new in it")

#endif
