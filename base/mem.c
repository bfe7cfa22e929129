/* base/mem.c -- see base/mem.h. */
#include "base/mem.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEM_GROW_ELEMENTS_MIN = 16,
    ARENA_BLOCK_BYTES_MIN = 4096,
    ARENA_BLOCK_BYTES_MAX = 64 << 20, /* a larger request gets a block of its own size */
};

struct arena_block {
    struct arena_block *older;
    size_t capacity_bytes;
    alignas(max_align_t) unsigned char bytes[];
};

static mem_exhausted_fn *exhausted_handler; /* set once by the tool, before any thread starts */

void mem_on_exhausted(mem_exhausted_fn *handler)
{
    exhausted_handler = handler;
}

static _Noreturn void exhausted(size_t bytes)
{
    if (exhausted_handler != NULL)
        exhausted_handler(bytes);
    abort();
}

static size_t product_bytes(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        exhausted(SIZE_MAX);
    return bytes;
}

void *mem_alloc(size_t bytes)
{
    void *block = malloc(bytes != 0 ? bytes : 1);
    if (block == NULL)
        exhausted(bytes);
    return block;
}

void *mem_zalloc(size_t count, size_t size)
{
    size_t bytes = product_bytes(count, size);
    void *block = calloc(1, bytes != 0 ? bytes : 1);
    if (block == NULL)
        exhausted(bytes);
    return block;
}

void *mem_resize(void *block, size_t count, size_t size)
{
    size_t bytes = product_bytes(count, size);
    /* realloc to 0 may free and return NULL, which would look like exhaustion */
    void *resized = realloc(block, bytes != 0 ? bytes : 1);
    if (resized == NULL)
        exhausted(bytes);
    return resized;
}

void mem_free(void *block)
{
    free(block);
}

char *mem_copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(mem_alloc(bytes), text, bytes);
}

void *mem_grow(void *array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return array;
    size_t old_count = *capacity;
    size_t count = old_count <= SIZE_MAX / 2 ? old_count * 2 : SIZE_MAX;
    if (count < MEM_GROW_ELEMENTS_MIN)
        count = MEM_GROW_ELEMENTS_MIN;
    if (count < needed)
        count = needed;
    unsigned char *grown = mem_resize(array, count, size);
    memset(grown + old_count * size, 0, (count - old_count) * size);
    *capacity = count;
    return grown;
}

/* Each block is twice as large as the one before, so that there are few. */
static void arena_add_block(struct arena *arena, size_t needed_bytes)
{
    size_t capacity_bytes = ARENA_BLOCK_BYTES_MIN;
    if (arena->blocks != NULL)
        capacity_bytes = arena->blocks->capacity_bytes * 2;
    if (capacity_bytes > ARENA_BLOCK_BYTES_MAX)
        capacity_bytes = ARENA_BLOCK_BYTES_MAX;
    if (capacity_bytes < needed_bytes)
        capacity_bytes = needed_bytes;
    if (capacity_bytes > SIZE_MAX - sizeof(struct arena_block))
        exhausted(capacity_bytes);
    /* calloc gives large blocks as untouched zero pages */
    struct arena_block *block = mem_zalloc(1, sizeof *block + capacity_bytes);
    block->older = arena->blocks;
    block->capacity_bytes = capacity_bytes;
    arena->blocks = block;
    arena->used_bytes = 0;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    const size_t align = alignof(max_align_t);
    if (bytes > SIZE_MAX - align)
        exhausted(bytes);
    if (bytes == 0)
        bytes = 1; /* distinct blocks have distinct addresses, even empty ones */
    bytes = (bytes + align - 1) & ~(align - 1);
    if (arena->blocks == NULL || arena->blocks->capacity_bytes - arena->used_bytes < bytes)
        arena_add_block(arena, bytes);
    void *block = arena->blocks->bytes + arena->used_bytes;
    arena->used_bytes += bytes;
    return block;
}

void *arena_alloc_many(struct arena *arena, size_t count, size_t size)
{
    return arena_alloc(arena, product_bytes(count, size));
}

char *arena_copy(struct arena *arena, struct text text)
{
    char *copy = arena_alloc(arena, text.length + 1); /* zeroed, so the NUL is there */
    if (text.length != 0)
        memcpy(copy, text.at, text.length);
    return copy;
}

/* Several blocks are replaced by one of their total size, so that an arena that is reset often soon needs no
 * allocation. */
void arena_reset(struct arena *arena)
{
    if (arena->blocks == NULL)
        return;
    if (arena->blocks->older == NULL) {
        memset(arena->blocks->bytes, 0, arena->used_bytes);
        arena->used_bytes = 0;
        return;
    }
    size_t total_bytes = 0;
    for (const struct arena_block *block = arena->blocks; block != NULL; block = block->older)
        total_bytes += block->capacity_bytes;
    arena_release(arena);
    arena_add_block(arena, total_bytes);
}

void arena_release(struct arena *arena)
{
    while (arena->blocks != NULL) {
        struct arena_block *older = arena->blocks->older;
        mem_free(arena->blocks);
        arena->blocks = older;
    }
    arena->used_bytes = 0;
}
