/* base/random.h -- named random streams that are independent of each other.
 *
 * A stream is a counter-based generator (Philox 4x32-10, Salmon et al., SC'11) keyed by
 * hash(seed, purpose, entity) and registered as a gsl_rng_type, so that all of GSL's
 * distributions work on it and it costs 64 bytes.
 *
 * Law: two streams of different purpose or entity are independent; a stream's n-th draw
 * depends on (seed, purpose, entity, n) alone.
 *
 *   struct random_stream arrivals;
 *   random_stream_init(&arrivals, seed, "arrivals", class_index);
 *   double gap_s = gsl_ran_exponential(random_gsl(&arrivals), 1.0 / rate_per_s);
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <gsl/gsl_rng.h>
#include <stdint.h>

struct random_philox {
    uint32_t key[2];
    uint32_t counter[4];
    uint32_t block[4]; /* the four words of the current counter */
    uint32_t used;     /* the number of these already used */
};

struct random_stream {
    struct random_philox state;
    gsl_rng rng; /* points at state: a stream must not be copied or moved */
};

void random_stream_init(struct random_stream *stream, uint64_t seed, const char *purpose, uint64_t entity);
/* The same in two steps, for a purpose that has many entities. */
uint64_t random_purpose(uint64_t seed, const char *purpose);
void random_stream_of(struct random_stream *stream, uint64_t purpose, uint64_t entity);

static inline gsl_rng *random_gsl(struct random_stream *stream)
{
    return &stream->rng;
}

double random_uniform(struct random_stream *stream);                 /* (0, 1) open: odd multiples of 2^-53 */
uint32_t random_below(struct random_stream *stream, uint32_t bound); /* 0..bound-1, unbiased; bound >= 1 */

/* The block function alone, for its published test vectors. */
void random_philox_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
