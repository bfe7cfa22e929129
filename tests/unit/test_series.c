/* Warm-up and batch means of hand-made series. */
#include <math.h>

#include "tests/support/test.h"
#include <gsl/gsl_randist.h>

#include "base/random.h"
#include "reports/statistics/series.h"

enum { COUNT = 3000 };

static void fill_noise(double *values, size_t count, double mean)
{
    struct random_stream chance;
    random_stream_init(&chance, 1, "series", 0);
    for (size_t i = 0; i < count; i++)
        values[i] = mean + gsl_ran_gaussian(random_gsl(&chance), 1);
}

TEST(test_a_step_at_the_front_is_the_warmup)
{
    double values[COUNT];
    bool is_found;
    fill_noise(values, COUNT, 10);
    for (size_t i = 0; i < 250; i++)
        values[i] += 20;
    assert_int_equal(series_warmup(values, COUNT, &is_found), 250);
    assert_true(is_found);
    const struct series_mean mean = series_steady_mean(values, COUNT, 0.99);
    assert_int_equal(mean.of.state, INFERENCE_DEFINED);
    assert_int_equal(mean.of.method, METHOD_BATCH_MEANS);
    assert_true(mean.of.low < 10 && mean.of.high > 10);
    assert_int_equal(mean.batch_count, 30);
    assert_int_equal(mean.batch_size, 2750 / 30);
    assert_int_equal(mean.warmup_count + mean.of.n, COUNT);
    assert_int_equal(mean.of.n, 30 * (2750 / 30));
}

/* The last place where it can be told: just before the middle. */
TEST(test_a_warmup_of_nearly_half)
{
    double values[COUNT];
    bool is_found;
    fill_noise(values, COUNT, 10);
    for (size_t i = 0; i < COUNT / 2 - 5; i++)
        values[i] += 20;
    assert_int_equal(series_warmup(values, COUNT, &is_found), COUNT / 2 - 5);
    assert_true(is_found);
    values[COUNT / 2 - 5] = values[COUNT / 2 - 1] = 100;
    assert_int_equal(series_warmup(values, COUNT, &is_found), COUNT / 2);
    assert_false(is_found);
}

/* A value that still grows at the end: the least of the statistic is at its limit. */
TEST(test_a_trend_is_no_warmup)
{
    double values[COUNT];
    bool is_found;
    for (size_t i = 0; i < COUNT; i++)
        values[i] = (double)i;
    assert_int_equal(series_warmup(values, COUNT, &is_found), COUNT / 2);
    assert_false(is_found);
    const struct series_mean mean = series_steady_mean(values, COUNT, 0.95);
    assert_int_equal(mean.of.state, INFERENCE_CORRELATED);
    assert_false(mean.is_warmup_found);
    assert_false(inference_has_interval(&mean.of));
    assert_true(mean.of.p == 1);
}

TEST(test_batches_that_depend_on_each_other_give_no_interval)
{
    double values[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        values[i] = sin(2 * M_PI * (double)i / COUNT);
    const struct series_mean mean = series_batch_means(values, COUNT, 0.95);
    assert_int_equal(mean.of.state, INFERENCE_CORRELATED);
    assert_int_equal(mean.batch_count, 10);
    assert_true(mean.autocorrelation > 0.5);
    assert_true(fabs(mean.of.mean) < 1e-9 && mean.of.low == -INFINITY && mean.of.high == INFINITY);
}

TEST(test_degenerate_series)
{
    double values[COUNT];
    bool is_found;
    fill_noise(values, COUNT, 0);
    assert_int_equal(series_batch_means(values, SERIES_MIN - 1, 0.95).of.state, INFERENCE_TOO_FEW);
    assert_int_equal(series_batch_means(values, SERIES_MIN, 0.95).of.state, INFERENCE_DEFINED);
    assert_int_equal(series_batch_means(values, 0, 0.95).of.state, INFERENCE_TOO_FEW);
    assert_int_equal(series_warmup(values, 4, &is_found), 0);
    assert_false(is_found);
    for (size_t i = 0; i < COUNT; i++)
        values[i] = 5;
    assert_int_equal(series_warmup(values, COUNT, &is_found), 0);
    assert_true(is_found);
    struct series_mean mean = series_steady_mean(values, COUNT, 0.95);
    assert_int_equal(mean.of.state, INFERENCE_CONSTANT);
    assert_true(mean.of.low == 5 && mean.of.high == 5);
    values[1234] = NAN;
    assert_int_equal(series_warmup(values, COUNT, &is_found), 0);
    assert_false(is_found);
    mean = series_steady_mean(values, COUNT, 0.95);
    assert_int_equal(mean.of.state, INFERENCE_NOT_FINITE);
    assert_false(isnan(mean.of.mean) || isnan(mean.of.low) || isnan(mean.of.high));
}
