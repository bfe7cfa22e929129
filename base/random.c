/* base/random.c -- see base/random.h.
 *
 * Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC'11, section 3.3.
 */
#include "base/random.h"

#include <assert.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/hash.h"

enum { PHILOX_ROUNDS = 10 };

#define PHILOX_M0 UINT32_C(0xD2511F53) /* multipliers of Philox4x32: SC'11, table 2 */
#define PHILOX_M1 UINT32_C(0xCD9E8D57)
#define PHILOX_W0 UINT32_C(0x9E3779B9) /* key steps: golden ratio and sqrt(3) - 1; SC'11, 3.3 */
#define PHILOX_W1 UINT32_C(0xBB67AE85)

#ifdef __SSE2__
/* Both products of a round at once.  A word lies in the low half of its lane: `even` has c0 and c2, `odd` has c1 and
 * c3.  The high halves hold anything; no product reads them. */
void random_philox_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    const __m128i factors = _mm_set_epi64x(PHILOX_M1, PHILOX_M0), steps = _mm_set_epi64x(PHILOX_W1, PHILOX_W0);
    __m128i even = _mm_loadu_si128((const __m128i *)(const void *)counter), odd = _mm_srli_epi64(even, 32);
    __m128i keys = _mm_set_epi64x(key[1], key[0]);
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        const __m128i products = _mm_mul_epu32(even, factors);
        even = _mm_xor_si128(_mm_xor_si128(_mm_shuffle_epi32(products, _MM_SHUFFLE(1, 1, 3, 3)), odd), keys);
        odd = _mm_shuffle_epi32(products, _MM_SHUFFLE(0, 0, 2, 2));
        keys = _mm_add_epi32(keys, steps);
    }
    even = _mm_shuffle_epi32(even, _MM_SHUFFLE(2, 0, 2, 0));
    odd = _mm_shuffle_epi32(odd, _MM_SHUFFLE(2, 0, 2, 0));
    _mm_storeu_si128((__m128i *)(void *)out, _mm_unpacklo_epi32(even, odd));
}
#else
void random_philox_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        uint64_t p0 = (uint64_t)PHILOX_M0 * c0;
        uint64_t p1 = (uint64_t)PHILOX_M1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}
#endif

/* Key and upper counter select the stream; the lower counter numbers its blocks. */
static void philox_start(struct random_philox *state, uint64_t key, uint64_t entity)
{
    *state = (struct random_philox){
        .key = {(uint32_t)key, (uint32_t)(key >> 32)},
        .counter = {0, 0, (uint32_t)entity, (uint32_t)(entity >> 32)},
        .used = 4, /* the first draw computes the first block */
    };
}

/* Not inlined: the unrolled rounds are long, and callers draw from several streams in turn. */
static __attribute__((noinline)) void philox_refill(struct random_philox *state)
{
    random_philox_block(state->counter, state->key, state->block);
    if (++state->counter[0] == 0)
        state->counter[1]++;
    state->used = 0;
}

static inline uint32_t philox_next(struct random_philox *state)
{
    if (state->used == 4)
        philox_refill(state);
    return state->block[state->used++];
}

static inline uint64_t philox_next64(struct random_philox *state)
{
    uint64_t high = philox_next(state);
    return high << 32 | philox_next(state);
}

static void on_gsl_set(void *state, unsigned long seed)
{
    philox_start(state, seed, 0);
}

static unsigned long on_gsl_get(void *state)
{
    return philox_next(state);
}

/* For GSL: in [0, 1), with all 53 bits, so that tails of distributions are not cut at 2^-32. */
static double on_gsl_get_double(void *state)
{
    return (double)(philox_next64(state) >> 11) * 0x1p-53;
}

static const gsl_rng_type philox_type = {
    .name = "philox4x32-10",
    .max = UINT32_MAX,
    .min = 0,
    .size = sizeof(struct random_philox),
    .set = on_gsl_set,
    .get = on_gsl_get,
    .get_double = on_gsl_get_double,
};

uint64_t random_purpose(uint64_t seed, const char *purpose)
{
    return hash_bytes(purpose, strlen(purpose), seed);
}

void random_stream_of(struct random_stream *stream, uint64_t purpose, uint64_t entity)
{
    /* the entity is in the counter too, so that two entities never share a stream, even with equal keys */
    philox_start(&stream->state, hash_mix(purpose, entity), entity);
    stream->rng = (gsl_rng){.type = &philox_type, .state = &stream->state};
}

void random_stream_init(struct random_stream *stream, uint64_t seed, const char *purpose, uint64_t entity)
{
    random_stream_of(stream, random_purpose(seed, purpose), entity);
}

double random_uniform(struct random_stream *stream)
{
    /* odd multiples of 2^-53: symmetric, and never 0 or 1 */
    return ((double)(philox_next64(&stream->state) >> 12) + 0.5) * 0x1p-52;
}

/* Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019. */
uint32_t random_below(struct random_stream *stream, uint32_t bound)
{
    assert(bound >= 1);
    uint64_t product = (uint64_t)philox_next(&stream->state) * bound;
    if ((uint32_t)product < bound) {
        uint32_t refused_below = -bound % bound; /* 2^32 mod bound */
        while ((uint32_t)product < refused_below)
            product = (uint64_t)philox_next(&stream->state) * bound;
    }
    return (uint32_t)(product >> 32);
}
