/* base/mem.h -- memory: checked allocation, growing arrays, and arenas by lifetime.
 *
 * Law: nothing here returns NULL.  When memory runs out the process-wide handler
 * is called, which must not return; the default one aborts.  The tools install
 * one that says so and exits with status 5; unfinished outputs have no name yet
 * (base/output.h), so nothing half-done stays behind.
 *
 *   struct arena run = {0};
 *   struct node *nodes = arena_alloc_array(&run, node_count, struct node);
 *   ...
 *   arena_release(&run);
 *
 * It does not: count, pool by size, or return memory before the arena's end.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Called when `bytes` could not be allocated. */
typedef void mem_exhausted_fn(size_t bytes);
void mem_on_exhausted(mem_exhausted_fn *handler);

void *mem_alloc(size_t bytes);                            /* uninitialised; 0 bytes give a unique block */
void *mem_zalloc(size_t count, size_t size);              /* zeroed; overflow counts as exhausted */
void *mem_resize(void *block, size_t count, size_t size); /* as realloc; contents kept */
void mem_free(void *block);                               /* NULL is allowed */
char *mem_copy_text(const char *text);                    /* strdup */

/* Make room for `needed` elements in `array`, which has room for *capacity; doubles it.  New elements are zeroed. */
void *mem_grow(void *array, size_t *capacity, size_t needed, size_t size);
static inline void *mem_room(void *array, size_t *capacity, size_t needed, size_t size)
{
    return needed <= *capacity ? array : mem_grow(array, capacity, needed, size);
}
#define MEM_GROW(array, capacity, needed) ((array) = mem_room((array), &(capacity), (needed), sizeof *(array)))

/* Memory blocks with one lifetime.  {0} is an empty arena.  Alignment is that of max_align_t. */
struct arena_block;
struct arena {
    struct arena_block *blocks; /* newest first */
    size_t used_bytes;          /* in the newest */
};

void *arena_alloc(struct arena *arena, size_t bytes); /* zeroed; O(1) */
#define arena_alloc_array(arena, count, type) ((type *)arena_alloc_many((arena), (count), sizeof(type)))
void *arena_alloc_many(struct arena *arena, size_t count, size_t size);
char *arena_copy(struct arena *arena, struct text text); /* NUL-terminated */
void arena_reset(struct arena *arena);                   /* forget all contents, keep one block */
void arena_release(struct arena *arena);                 /* free all; {0} again */

#endif
