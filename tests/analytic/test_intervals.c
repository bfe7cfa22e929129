/* How often an interval of 95 % holds the true mean: Student's t, changes, batch means. */
#include <math.h>
#include <stdio.h>

#include "tests/support/test.h"
#include <gsl/gsl_randist.h>

#include "base/random.h"
#include "reports/change.h"
#include "reports/statistics/series.h"
#include "reports/statistics/student.h"
#include "tests/support/interval.h"

enum { N_MAX = 40, SERIES_COUNT = 5000 };

struct coverage {
    double t;
};

/* Differences with mean 0: normal, or exponential less 1. */
static struct coverage cover(size_t n, bool is_skewed, size_t runs)
{
    struct random_stream chance;
    size_t t = 0;
    random_stream_init(&chance, 20261125, "intervals", n * 2 + is_skewed);
    for (size_t run = 0; run < runs; run++) {
        double a[N_MAX], b[N_MAX];
        for (size_t i = 0; i < n; i++) {
            a[i] = 100 + 10 * gsl_ran_gaussian(random_gsl(&chance), 1);
            b[i] = 1.1 * a[i] + (is_skewed ? gsl_ran_exponential(random_gsl(&chance), 3) - 3
                                           : gsl_ran_gaussian(random_gsl(&chance), 3));
        }
        double scaled[N_MAX];
        for (size_t i = 0; i < n; i++)
            scaled[i] = 1.1 * a[i];
        const struct inference by_t = student_paired(scaled, b, n, 0, 0.95);
        t += by_t.low <= 0 && by_t.high >= 0;
    }
    return (struct coverage){(double)t / (double)runs};
}

TEST(test_coverage_of_paired_intervals)
{
    const size_t runs = test_is_full() ? 20000 : 2000;
    static const size_t counts[] = {5, 10, 20, 40};
    for (int skewed = 0; skewed < 2; skewed++)
        for (size_t i = 0; i < 4; i++) {
            const struct coverage got = cover(counts[i], skewed, runs);
            printf("note: %s differences, n = %zu: a 95 %% interval holds the truth in %.1f %% (t)\n",
                   skewed ? "exponential" : "normal", counts[i], 100 * got.t);
            if (!skewed)
                assert_true(fabs(got.t - 0.95) < 4 * sqrt(0.95 * 0.05 / (double)runs));
            assert_true(got.t > 0.85);
        }
}

/* A change of +10 % of a base that varies by the factor e^spread, in pairs that differ by 20 %: as a ratio; and with a
 * base that is 0 in the first seed, as an amount.  The interval and the test of a bound agree in every sample. */
static double cover_change(size_t n, double spread, bool is_ratio, size_t runs)
{
    struct random_stream chance;
    size_t held = 0;
    random_stream_init(&chance, 20261128, "changes", n * 100 + (uint64_t)(spread * 10) + is_ratio);
    for (size_t run = 0; run < runs; run++) {
        double a[N_MAX], b[N_MAX];
        for (size_t i = 0; i < n; i++) {
            a[i] = 100 * exp(spread * gsl_ran_gaussian(random_gsl(&chance), 1));
            b[i] = is_ratio ? 1.1 * a[i] * exp(0.2 * gsl_ran_gaussian(random_gsl(&chance), 1))
                            : a[i] + 10 + 20 * gsl_ran_gaussian(random_gsl(&chance), 1);
        }
        if (!is_ratio)
            b[0] -= a[0], a[0] = 0;
        struct pairs pairs = pairs_new(a, n, b, n, true);
        const struct change change = change_of(&pairs, &(struct change_how){.level = 0.95});
        const struct change tested = change_of(&pairs, &(struct change_how){.level = 0.95, .part = 0.1});
        const double truth = is_ratio ? 0.1 : 10;
        pairs_free(&pairs);
        assert_true(change.is_ratio == is_ratio && change.low < change.value && change.value < change.high);
        held += change.low <= truth && change.high >= truth;
        assert_true((tested.low <= tested.bound && tested.high >= tested.bound) == (tested.of.p >= 0.05));
        assert_true(!is_ratio || (fabs(tested.low - change.low) < 1e-9 && change.low > -1));
    }
    return (double)held / (double)runs;
}

TEST(test_coverage_of_changes)
{
    const size_t runs = test_is_full() ? 20000 : 2000;
    static const size_t counts[] = {5, 10, 40};
    static const double spreads[] = {0.2, 1.5};
    const double error = 4 * sqrt(0.95 * 0.05 / (double)runs);
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < 3; i++) {
            const double ratio = cover_change(counts[i], spreads[s], true, runs);
            const double amount = cover_change(counts[i], spreads[s], false, runs);
            printf(
                "note: changes, base spread %g, n = %zu: a 95 %% interval holds the truth in %.1f %% (ratio), %.1f %% "
                "(amount)\n",
                spreads[s], counts[i], 100 * ratio, 100 * amount);
            assert_true(fabs(ratio - 0.95) < error && fabs(amount - 0.95) < error);
        }
}

/* x_i = phi x_(i-1) + e_i has mean 0; it starts far away, so the warm-up counts too. */
static void cover_series(double phi, size_t runs, double *shown, double *held)
{
    struct random_stream chance;
    size_t with_interval = 0, with_truth = 0;
    random_stream_init(&chance, 20261125, "series", (uint64_t)(phi * 1000));
    for (size_t run = 0; run < runs; run++) {
        double values[SERIES_COUNT], x = 20 / (1 - phi);
        for (size_t i = 0; i < SERIES_COUNT; i++)
            values[i] = x = phi * x + gsl_ran_gaussian(random_gsl(&chance), 1);
        const struct series_mean mean = series_steady_mean(values, SERIES_COUNT, 0.95);
        with_interval += inference_has_interval(&mean.of);
        with_truth += inference_has_interval(&mean.of) && mean.of.low <= 0 && mean.of.high >= 0;
    }
    *shown = (double)with_interval / (double)runs;
    *held = (double)with_truth / (double)with_interval;
}

TEST(test_coverage_of_batch_means)
{
    static const double phis[] = {0, 0.5, 0.9, 0.97};
    const size_t runs = test_is_full() ? 10000 : 500;
    for (size_t i = 0; i < 4; i++) {
        double shown, held;
        cover_series(phis[i], runs, &shown, &held);
        printf("note: batch means, %d values with autocorrelation %g: an interval in %.1f %%, the truth in %.1f %% of"
               " them\n",
               SERIES_COUNT, phis[i], 100 * shown, 100 * held);
        assert_true(shown > 0.8 && held > 0.88 && held < 0.98);
    }
}

/* Waits of an M/M/1 queue at load 0.8 that starts empty, by Lindley's recursion; their mean is 0.8 / 0.2 services. */
static void cover_queue(size_t count, size_t runs, double *shown, double *held)
{
    const double load = 0.8, truth = load / (1 - load);
    struct random_stream chance;
    size_t with_interval = 0, with_truth = 0;
    double *waits = malloc(count * sizeof *waits);
    assert_non_null(waits);
    random_stream_init(&chance, 20261127, "queue", count);
    for (size_t run = 0; run < runs; run++) {
        double wait = 0;
        for (size_t i = 0; i < count; i++) {
            waits[i] = wait;
            wait += gsl_ran_exponential(random_gsl(&chance), 1) - gsl_ran_exponential(random_gsl(&chance), 1 / load);
            wait = fmax(wait, 0);
        }
        const struct series_mean mean = series_steady_mean(waits, count, 0.95);
        with_interval += inference_has_interval(&mean.of);
        with_truth += inference_has_interval(&mean.of) && mean.of.low <= truth && mean.of.high >= truth;
    }
    free(waits);
    *shown = (double)with_interval / (double)runs;
    *held = (double)with_truth / (double)with_interval;
}

TEST(test_coverage_of_queue_times)
{
    static const struct {
        size_t count;
        double least; /* three standard errors of 300 runs below what docs/statistics.md tells */
    } of[] = {{2000, 0.78}, {10000, 0.885}, {40000, 0.9}};
    const size_t runs = test_is_full() ? 5000 : 300;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        double shown, held;
        cover_queue(of[i].count, runs, &shown, &held);
        printf(
            "note: batch means, %zu waits of an M/M/1 queue at load 0.8: an interval in %.1f %%, the truth in %.1f %%"
            " of them\n",
            of[i].count, 100 * shown, 100 * held);
        assert_true(shown > 0.85 && held > of[i].least);
    }
}
