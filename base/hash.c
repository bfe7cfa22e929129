/* base/hash.c -- see base/hash.h. */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

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

void hash_hex(const void *bytes, size_t length, char hex[33])
{
    XXH128_hash_t hash = XXH3_128bits(bytes, length);
    hex_of(hash.high64, hex);
    hex_of(hash.low64, hex + 16);
    hex[32] = '\0';
}
