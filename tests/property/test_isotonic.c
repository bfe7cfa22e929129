/* Isotonic regression against its definition, and the band for a curve that never falls. */
#include <gsl/gsl_randist.h>
#include <math.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "reports/statistics/isotonic.h"

enum { POINTS_MAX = 12, CASES = 3000 };

static double mean_of(const double *values, const double *weights, size_t from, size_t to)
{
    double sum = 0, weight = 0;
    for (size_t i = from; i <= to; i++) {
        sum += values[i] * weights[i];
        weight += weights[i];
    }
    return sum / weight;
}

/* The max-min formula: over all stretches that hold the point, the greatest of the least means (Barlow et al., 1.9). */
static double by_definition(const double *values, const double *weights, size_t count, size_t at)
{
    double greatest = -INFINITY;
    for (size_t from = 0; from <= at; from++) {
        double least = INFINITY;
        for (size_t to = at; to < count; to++)
            least = fmin(least, mean_of(values, weights, from, to));
        greatest = fmax(greatest, least);
    }
    return greatest;
}

TEST(test_the_fit_is_that_of_the_definition)
{
    struct random_stream stream;
    random_stream_init(&stream, 1, "isotonic", 0);
    gsl_rng *rng = random_gsl(&stream);
    size_t pooled = 0;
    for (size_t c = 0; c < CASES; c++) {
        double values[POINTS_MAX], weights[POINTS_MAX], fit[POINTS_MAX];
        const size_t count = 1 + gsl_rng_uniform_int(rng, POINTS_MAX);
        for (size_t i = 0; i < count; i++) {
            values[i] = (double)i * (double)(c % 3) / 3 + floor(4 * gsl_ran_ugaussian(rng)) / 2; /* with ties */
            weights[i] = 1 + (double)gsl_rng_uniform_int(rng, 40);
        }
        isotonic_fit(values, weights, count, fit);
        for (size_t i = 0; i < count; i++) {
            assert_true(fabs(fit[i] - by_definition(values, weights, count, i)) < 1e-9);
            pooled += fit[i] != values[i];
        }
    }
    assert_true(pooled > CASES);
}

/* Intervals that hold a curve which never falls: the band holds it too, and is nowhere wider. */
TEST(test_the_band_holds_the_curve)
{
    struct random_stream stream;
    random_stream_init(&stream, 2, "isotonic", 0);
    gsl_rng *rng = random_gsl(&stream);
    size_t narrowed = 0;
    for (size_t c = 0; c < CASES; c++) {
        double curve[POINTS_MAX], low[POINTS_MAX], high[POINTS_MAX], was_low[POINTS_MAX], was_high[POINTS_MAX];
        for (size_t i = 0; i < POINTS_MAX; i++) {
            curve[i] = (i > 0 ? curve[i - 1] : 0) + gsl_ran_exponential(rng, 0.3);
            low[i] = was_low[i] = gsl_rng_uniform(rng) < 0.1 ? -INFINITY : curve[i] - gsl_ran_exponential(rng, 1);
            high[i] = was_high[i] = gsl_rng_uniform(rng) < 0.1 ? INFINITY : curve[i] + gsl_ran_exponential(rng, 1);
        }
        isotonic_band(low, high, POINTS_MAX);
        for (size_t i = 0; i < POINTS_MAX; i++) {
            assert_true(low[i] <= curve[i] && curve[i] <= high[i]);
            assert_true(low[i] >= was_low[i] && high[i] <= was_high[i]);
            assert_true(i == 0 || (low[i] >= low[i - 1] && high[i] >= high[i - 1]));
            narrowed += low[i] > was_low[i] || high[i] < was_high[i];
        }
    }
    assert_true(narrowed > CASES);
}
