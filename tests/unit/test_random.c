/* tests/unit/test_random.c -- the generator against its published vectors, and its streams. */
#include "tests/support/test.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/random.h"

/* All of these are exact repetitions: a seed either passes for ever or never. */
static const uint64_t seed = 20171009;

TEST(test_published_vectors)
{
    /* Random123 1.14, tests/kat_vectors, lines "philox4x32 10" */
    static const struct {
        uint32_t counter[4], key[2], expected[4];
    } vectors[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        uint32_t block[4];
        random_philox_block(vectors[i].counter, vectors[i].key, block);
        assert_memory_equal(block, vectors[i].expected, sizeof block);
    }
}

TEST(test_a_stream_is_small)
{
    assert_in_range(sizeof(struct random_stream), 1, 80);
}

/* The draws of a stream are the blocks of its key in the order of the counter. */
TEST(test_draws_are_the_blocks_in_order)
{
    struct random_stream stream;
    random_stream_init(&stream, seed, "blocks", 3);
    uint32_t counter[4];
    uint32_t key[2];
    memcpy(counter, stream.state.counter, sizeof counter);
    memcpy(key, stream.state.key, sizeof key);
    for (uint32_t block_index = 0; block_index < 100; block_index++) {
        uint32_t block[4];
        random_philox_block(counter, key, block);
        for (int i = 0; i < 4; i++)
            assert_int_equal(gsl_rng_get(random_gsl(&stream)), block[i]);
        counter[0]++;
    }
}

TEST(test_the_counter_carries)
{
    struct random_stream stream;
    random_stream_init(&stream, seed, "carry", 0);
    stream.state.counter[0] = UINT32_MAX;
    for (int i = 0; i < 4; i++)
        gsl_rng_get(random_gsl(&stream));
    assert_int_equal(stream.state.counter[0], 0);
    assert_int_equal(stream.state.counter[1], 1);
}

enum { STREAMS = 6, DRAWS = 200 };

static void init_streams(struct random_stream streams[STREAMS])
{
    random_stream_init(&streams[0], seed, "arrivals", 0);
    random_stream_init(&streams[1], seed, "arrivals", 1);
    random_stream_init(&streams[2], seed, "durations", 0);
    random_stream_init(&streams[3], seed + 1, "arrivals", 0);
    random_stream_init(&streams[4], seed, "", 0);
    random_stream_init(&streams[5], seed, "arrivals", UINT64_C(1) << 32);
}

/* The n-th draw is the same whether the streams are read one by one or in turns, and
 * whether it was reached by words of 32 bits alone or through a distribution. */
TEST(test_draws_depend_on_nothing_else)
{
    static unsigned long alone[STREAMS][DRAWS];
    struct random_stream streams[STREAMS];
    init_streams(streams);
    for (int i = 0; i < STREAMS; i++)
        for (int n = 0; n < DRAWS; n++)
            alone[i][n] = gsl_rng_get(random_gsl(&streams[i]));
    init_streams(streams);
    for (int n = 0; n < DRAWS; n++)
        for (int i = STREAMS - 1; i >= 0; i--)
            assert_int_equal(gsl_rng_get(random_gsl(&streams[i])), alone[i][n]);
    /* a uniform number is two words in every stream */
    init_streams(streams);
    random_uniform(&streams[0]);
    gsl_rng_uniform(random_gsl(&streams[0]));
    assert_int_equal(gsl_rng_get(random_gsl(&streams[0])), alone[0][4]);
}

TEST(test_streams_differ)
{
    struct random_stream streams[STREAMS];
    init_streams(streams);
    uint64_t firsts[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        firsts[i] = (uint64_t)gsl_rng_get(random_gsl(&streams[i])) << 32;
        firsts[i] |= gsl_rng_get(random_gsl(&streams[i]));
        for (int j = 0; j < i; j++)
            assert_true(firsts[i] != firsts[j]);
    }
    /* entities are apart even if the hash of their names were the same */
    for (int i = 0; i < 6; i += 5)
        assert_memory_not_equal(&streams[i].state.counter[2], &streams[1].state.counter[2], 8);
    assert_memory_not_equal(&streams[0].state.counter[2], &streams[5].state.counter[2], 8);
}

/* Neighbouring entities are uncorrelated: |r| < 4 / sqrt(n). */
TEST(test_neighbours_are_uncorrelated)
{
    const int n = 100000;
    struct random_stream streams[3];
    for (uint64_t i = 0; i < 3; i++)
        random_stream_init(&streams[i], seed, "neighbours", i);
    double sum01 = 0, sum02 = 0, sum00 = 0;
    double before = 0.5;
    for (int i = 0; i < n; i++) {
        double u[3];
        for (int j = 0; j < 3; j++)
            u[j] = random_uniform(&streams[j]) - 0.5;
        sum01 += u[0] * u[1];
        sum02 += u[0] * u[2];
        sum00 += u[0] * before; /* and each draw from the one before */
        before = u[0];
    }
    const double bound = 4 / sqrt(n) / 12; /* 1/12: the variance of a uniform number */
    assert_true(fabs(sum01 / n) < bound);
    assert_true(fabs(sum02 / n) < bound);
    assert_true(fabs(sum00 / n) < bound);
}

static double own_uniform(struct random_stream *stream)
{
    return random_uniform(stream);
}

static double gsl_uniform(struct random_stream *stream)
{
    return gsl_rng_uniform(random_gsl(stream));
}

static void check_uniform(double draw(struct random_stream *))
{
    enum { N = 1000000, CELLS = 1000 };
    static int counts[CELLS];
    memset(counts, 0, sizeof counts);
    struct random_stream stream;
    random_stream_init(&stream, seed, "uniform", 0);
    double sum = 0, sum_of_squares = 0;
    for (int i = 0; i < N; i++) {
        double u = draw(&stream);
        assert_true(u >= 0 && u < 1);
        sum += u;
        sum_of_squares += (u - 0.5) * (u - 0.5);
        counts[(int)(u * CELLS)]++;
    }
    /* mean 1/2 with variance 1/12; (u - 1/2)^2 has mean 1/12 and variance 1/180; 4 sigma */
    assert_true(fabs(sum / N - 0.5) < 4 * sqrt(1.0 / 12 / N));
    assert_true(fabs(sum_of_squares / N - 1.0 / 12) < 4 * sqrt(1.0 / 180 / N));
    double chi_square = 0;
    for (int i = 0; i < CELLS; i++)
        chi_square += pow(counts[i] - (double)N / CELLS, 2) / ((double)N / CELLS);
    double p = gsl_cdf_chisq_Q(chi_square, CELLS - 1);
    assert_true(p > 1e-4 && p < 1 - 1e-4); /* too even is as wrong as too uneven */
}

TEST(test_uniform_is_uniform)
{
    check_uniform(own_uniform);
    check_uniform(gsl_uniform);
}

/* A stream whose next four words are given. */
static void force_words(struct random_stream *stream, uint32_t word)
{
    random_stream_init(stream, seed, "forced", 0);
    for (int i = 0; i < 4; i++)
        stream->state.block[i] = word;
    stream->state.used = 0;
}

TEST(test_uniform_is_open)
{
    struct random_stream stream;
    force_words(&stream, 0);
    assert_true(random_uniform(&stream) == 0x1p-53);
    assert_true(gsl_rng_uniform(random_gsl(&stream)) == 0);
    force_words(&stream, UINT32_MAX);
    assert_true(random_uniform(&stream) == 1 - 0x1p-53);
    assert_true(gsl_rng_uniform(random_gsl(&stream)) == 1 - 0x1p-53);
}

TEST(test_below_is_unbiased)
{
    enum { N = 300000 };
    struct random_stream stream;
    random_stream_init(&stream, seed, "below", 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(random_below(&stream, 1), 0);
    /* Of 3 * 2^30 values a remainder or a product without refusals takes a third twice as often. */
    const uint32_t bound = UINT32_C(3) << 30;
    int thirds[3] = {0}, remainders[3] = {0};
    for (int i = 0; i < N; i++) {
        uint32_t value = random_below(&stream, bound);
        assert_true(value < bound);
        thirds[value >> 30]++;
        remainders[value % 3]++;
    }
    double chi_square[2] = {0};
    for (int i = 0; i < 3; i++) {
        chi_square[0] += pow(thirds[i] - N / 3.0, 2) / (N / 3.0);
        chi_square[1] += pow(remainders[i] - N / 3.0, 2) / (N / 3.0);
    }
    assert_true(gsl_cdf_chisq_Q(chi_square[0], 2) > 1e-4);
    assert_true(gsl_cdf_chisq_Q(chi_square[1], 2) > 1e-4);
    for (int i = 0; i < 1000; i++)
        assert_true(random_below(&stream, UINT32_MAX) < UINT32_MAX);
}

/* Kolmogorov-Smirnov by hundredths of the exponential distribution. */
TEST(test_gsl_distributions_work)
{
    enum { N = 400000, CELLS = 100 };
    const double mean_s = 3600;
    static int counts[CELLS];
    memset(counts, 0, sizeof counts);
    struct random_stream stream;
    random_stream_init(&stream, seed, "exponential", 0);
    double sum_s = 0;
    for (int i = 0; i < N; i++) {
        double gap_s = gsl_ran_exponential(random_gsl(&stream), mean_s);
        assert_true(isfinite(gap_s) && gap_s >= 0);
        sum_s += gap_s;
        counts[(int)(gsl_cdf_exponential_P(gap_s, mean_s) * CELLS)]++;
    }
    assert_true(fabs(sum_s / N - mean_s) < 4 * mean_s / sqrt(N));
    double distance = 0;
    double seen = 0;
    for (int i = 0; i < CELLS; i++) {
        seen += counts[i];
        distance = fmax(distance, fabs(seen / N - (i + 1.0) / CELLS));
    }
    assert_true(distance * sqrt(N) < 2.23); /* level 1e-4 of the limit law: 2 exp(-2 x^2) */
}

TEST(test_gsl_can_seed_and_name_it)
{
    struct random_stream stream;
    random_stream_init(&stream, seed, "named", 0);
    gsl_rng *rng = random_gsl(&stream);
    assert_string_equal(gsl_rng_name(rng), "philox4x32-10");
    assert_int_equal(gsl_rng_min(rng), 0);
    assert_int_equal(gsl_rng_max(rng), UINT32_MAX);
    gsl_rng_set(rng, 0);
    assert_int_equal(gsl_rng_get(rng), 0x6627e8d5); /* the first published vector */
    gsl_rng *copy = gsl_rng_clone(rng);
    assert_int_equal(gsl_rng_get(copy), 0xe169c58d);
    assert_int_equal(gsl_rng_get(rng), 0xe169c58d);
    gsl_rng_free(copy);
}

/* Known answers, so that the fingerprints of old records stay comparable. */
TEST(test_hash_is_the_published_one)
{
    char hex[33];
    hash_hex("", 0, hex); /* XXH3_128bits of nothing: xxhsum -H128 /dev/null */
    assert_string_equal(hex, "99aa06d3014798d86001c324468d497f");
    assert_true(hash_bytes("", 0, 0) == UINT64_C(0x2d06800538d394c2)); /* xxhsum -H3 /dev/null */
    assert_true(hash_bytes("a", 1, 0) != hash_bytes("a", 1, 1));
    assert_true(hash_mix(1, 2) != hash_mix(2, 3));
}
