/* base/hash.h -- hashes for tables, digests and fingerprints (XXH3).
 * Law: the same on every machine and build; never used as an order. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *bytes, size_t length, uint64_t seed);

/* A fast mix of two words for running fingerprints; not for untrusted keys. */
static inline uint64_t hash_mix(uint64_t state, uint64_t word)
{
    uint64_t x = (state ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 29);
}

/* 32 hex digits and a NUL of the 128-bit hash. */
void hash_hex(const void *bytes, size_t length, char hex[33]);

/* The same of bytes that come in pieces. */
struct hash_stream; /* opaque */
struct hash_stream *hash_stream_new(void);
void hash_stream_add(struct hash_stream *stream, const void *bytes, size_t length);
void hash_stream_hex(const struct hash_stream *stream, char hex[33]); /* of the bytes so far; more may follow */
void hash_stream_free(struct hash_stream *stream);                    /* NULL is allowed */

#endif
