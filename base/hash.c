/* base/hash.c -- see base/hash.h. */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"

uint64_t hash_bytes(const void *bytes, size_t length, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, length, seed);
}

/* Most significant digit first, as xxhsum prints it. */
static void hex_of(uint64_t word, char hex[16])
{
    for (int i = 15; i >= 0; i--) {
        hex[i] = "0123456789abcdef"[word & 15];
        word >>= 4;
    }
}

static void hex_of_128(XXH128_hash_t hash, char hex[33])
{
    hex_of(hash.high64, hex);
    hex_of(hash.low64, hex + 16);
    hex[32] = '\0';
}

void hash_hex(const void *bytes, size_t length, char hex[33])
{
    hex_of_128(XXH3_128bits(bytes, length), hex);
}

/* ---- pieces ---- */

struct hash_stream {
    XXH3_state_t *state; /* inside the block, where the alignment that XXH3 needs begins */
};

struct hash_stream *hash_stream_new(void)
{
    const uintptr_t mask = _Alignof(XXH3_state_t) - 1;
    struct hash_stream *stream = mem_alloc(sizeof *stream + sizeof *stream->state + mask);
    stream->state = (XXH3_state_t *)(((uintptr_t)(stream + 1) + mask) & ~mask);
    XXH3_INITSTATE(stream->state);
    (void)XXH3_128bits_reset(stream->state); /* fails for NULL only, like the update */
    return stream;
}

void hash_stream_add(struct hash_stream *stream, const void *bytes, size_t length)
{
    (void)XXH3_128bits_update(stream->state, bytes, length);
}

void hash_stream_hex(const struct hash_stream *stream, char hex[33])
{
    hex_of_128(XXH3_128bits_digest(stream->state), hex);
}

void hash_stream_free(struct hash_stream *stream)
{
    mem_free(stream);
}
