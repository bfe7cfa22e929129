#include "workloads/load_model/load_rank.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* Tells the stream of the sessions from that of the ranks. */
#define SESSIONS UINT64_C(0x53455353494f4e53)

static void shuffle(uint8_t *order, uint32_t count, struct random_stream *stream)
{
    for (uint32_t i = count - 1; i > 0; i--) {
        const uint32_t other = random_below(stream, i + 1);
        const uint8_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

void load_strata_init(struct load_strata *strata, uint64_t seed, const char *purpose, uint64_t entity)
{
    random_stream_init(&strata->stream, seed, purpose, entity);
    for (uint32_t i = 0; i < LOAD_STRATA; i++)
        strata->order[i] = (uint8_t)i;
    strata->at = LOAD_STRATA;
}

double load_strata_next(struct load_strata *strata)
{
    if (strata->at == LOAD_STRATA) {
        shuffle(strata->order, LOAD_STRATA, &strata->stream);
        strata->at = 0;
    }
    return (strata->order[strata->at++] + random_uniform(&strata->stream)) / LOAD_STRATA;
}

/* A permutation of 32 bits in which each bit depends on itself and lower ones alone.  Source: S. Laine, T. Karras,
 * Computer Graphics Forum 30(4), 2011; as B. Burley, J. Computer Graphics Techniques 9(4), 2020, uses it. */
static uint32_t scrambled(uint32_t x, uint32_t key)
{
    x += key;
    x ^= x * UINT32_C(0x6c50b47c);
    x ^= x * UINT32_C(0xb82f1e52);
    x ^= x * UINT32_C(0xc7afe638);
    return x ^ x * UINT32_C(0x8d22f6e6);
}

static uint32_t reversed(uint32_t x)
{
    x = x >> 16 | x << 16;
    x = (x & UINT32_C(0xff00ff00)) >> 8 | (x & UINT32_C(0x00ff00ff)) << 8;
    x = (x & UINT32_C(0xf0f0f0f0)) >> 4 | (x & UINT32_C(0x0f0f0f0f)) << 4;
    x = (x & UINT32_C(0xcccccccc)) >> 2 | (x & UINT32_C(0x33333333)) << 2;
    return (x & UINT32_C(0xaaaaaaaa)) >> 1 | (x & UINT32_C(0x55555555)) << 1;
}

/* The next number of van der Corput's sequence, scrambled as Owen does, in blocks of random order: without that,
 * sessions beside each other would be opposed. */
static double even_next(struct load_rank *rank)
{
    const uint32_t at = rank->session % LOAD_STRATA;
    if (at == 0)
        shuffle(rank->order, LOAD_STRATA, &rank->sessions);
    const uint32_t index = rank->session - at + rank->order[at];
    rank->session++;
    return (reversed(scrambled(index, rank->key)) + 0.5) / 4294967296.0;
}

static void session_begin(struct load_rank *rank, uint32_t left)
{
    const double u = rank->is_even ? even_next(rank) : random_uniform(&rank->sessions);
    rank->left = left;
    rank->y = gsl_cdf_ugaussian_Pinv(u);
}

void load_rank_init(struct load_rank *rank, const struct load_memory *memory, bool is_even, uint64_t seed,
                    const char *purpose, uint64_t entity)
{
    *rank = (struct load_rank){.memory = *memory, .is_even = is_even};
    for (uint32_t i = 0; i < LOAD_STRATA; i++)
        rank->order[i] = (uint8_t)i;
    load_strata_init(&rank->own, seed, purpose, entity);
    random_stream_init(&rank->sessions, seed, purpose, entity ^ SESSIONS);
    rank->key = random_below(&rank->sessions, UINT32_MAX);
    session_begin(rank,
                  random_below(&rank->sessions, memory->jobs) + 1); /* the first one has begun at some time before */
}

double load_rank_next(struct load_rank *rank)
{
    const double strength = rank->memory.strength;
    const double u = rank->is_even ? load_strata_next(&rank->own) : random_uniform(&rank->own.stream);
    if (strength <= 0)
        return u;
    if (rank->left == 0)
        session_begin(rank, rank->memory.jobs);
    rank->left--;
    const double z = sqrt(strength) * rank->y + sqrt(1 - strength) * gsl_cdf_ugaussian_Pinv(u);
    return fmin(fmax(gsl_cdf_ugaussian_P(z), 1e-15), 1 - 1e-15);
}
