/* reports/statistics/two_samples.h: tests by hand, by another computation and by published critical values. */
#include "tests/support/test.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/random.h"
#include "reports/statistics/two_samples.h"

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double below(const double *values, size_t count, double x)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] <= x;
    return sum / (double)count;
}

/* The same from the definition, with each distinct value in turn. */
static double naive_ks(const double *a, size_t n, const double *b, size_t m)
{
    double most = 0;
    for (size_t i = 0; i < n + m; i++) {
        const double x = i < n ? a[i] : b[i - n];
        most = fmax(most, fabs(below(a, n, x) - below(b, m, x)));
    }
    return most;
}

/* Pettitt's form for samples without ties (Biometrika 63, 1976): sum of (M_i N - n i)^2 / (i (N - i)) / (n m). */
static double naive_ad(const double *a, size_t n, const double *b, size_t m)
{
    double *all = calloc(n + m, sizeof *all), sum = 0;
    const double whole = (double)(n + m);
    for (size_t i = 0; i < n + m; i++)
        all[i] = i < n ? a[i] : b[i - n];
    qsort(all, n + m, sizeof *all, ascending);
    for (size_t i = 1; i < n + m; i++) {
        const double in_a = below(a, n, all[i - 1]) * (double)n, at = (double)i;
        sum += pow(in_a * whole - (double)n * at, 2) / (at * (whole - at));
    }
    free(all);
    return sum / ((double)n * (double)m);
}

TEST(test_two_samples_agree_with_the_definitions)
{
    enum { MOST = 300 };
    struct random_stream stream;
    random_stream_init(&stream, 1, "samples", 0);
    for (int round = 0; round < 200; round++) {
        double a[MOST], b[MOST];
        const size_t n = 1 + random_below(&stream, MOST), m = 1 + random_below(&stream, MOST);
        const bool has_ties = round % 2 == 0;
        for (size_t i = 0; i < n; i++)
            a[i] = has_ties ? random_below(&stream, 20) : random_uniform(&stream);
        for (size_t i = 0; i < m; i++)
            b[i] = has_ties ? random_below(&stream, 25) : pow(random_uniform(&stream), 1.2);
        qsort(a, n, sizeof *a, ascending);
        qsort(b, m, sizeof *b, ascending);
        assert_true(fabs(two_samples_ks(a, n, b, m) - naive_ks(a, n, b, m)) < 1e-12);
        const double scaled = two_samples_ad(a, n, b, m), naive = naive_ad(a, n, b, m);
        /* the form with ties takes the middle of each step, a difference of order 1 / N */
        if (!has_ties && fabs(scaled - naive) > 3.0 / (double)(n + m) + 0.05 * naive)
            fail_msg("A^2 of %zu and %zu values: %g, by Pettitt's form %g", n, m, scaled, naive);
        assert_true(fabs(two_samples_ad(b, m, a, n) - scaled) < 1e-9 * fmax(1, scaled));
    }
}

/* Scholz and Stephens 1987 give A^2 in two versions; this one is compared with SciPy's anderson_ksamp(midrank=True),
 * whose statistic is (A^2 - 1) / sigma. */
TEST(test_equal_samples_have_no_distance)
{
    const double a[] = {1, 2, 2, 3, 5};
    assert_true(two_samples_ks(a, 5, a, 5) <= 0);
    assert_true(two_samples_ad(a, 5, a, 5) <= 1e-12);
    assert_true(two_samples_ks_p(0, 5, 5) >= 1);
    assert_true(two_samples_ad_p(0) >= 1);
}

/* Asymptotic critical values.  KS: Smirnov 1948; AD of a known distribution: Stephens, JASA 69, 1974, case 0. */
TEST(test_p_values_meet_published_critical_values)
{
    static const struct {
        double x, p;
    } ks[] = {{1.2239, 0.10}, {1.3581, 0.05}, {1.6276, 0.01}, {1.9495, 0.001}},
      ad[] = {{1.610, 0.15}, {1.933, 0.10}, {2.492, 0.05}, {3.070, 0.025}, {3.857, 0.01}};
    for (size_t i = 0; i < sizeof ks / sizeof *ks; i++)
        assert_true(fabs(two_samples_ks_p(ks[i].x / sqrt(5000), 10000, 10000) / ks[i].p - 1) < 0.01);
    for (size_t i = 0; i < sizeof ad / sizeof *ad; i++)
        assert_true(fabs(two_samples_ad_p(ad[i].x) / ad[i].p - 1) < 0.03);
    assert_true(two_samples_ad_p(1e9) <= 0);
}

TEST(test_sequences)
{
    const double regular[] = {0, 10, 20, 30, 40, 50, 60, 70, 80}, pairs[] = {0, 1, 20, 21, 40, 41, 60, 61, 80};
    const double wave[] = {1, -1, 1, -1, 1, -1};
    assert_true(fabs(sequence_burstiness(1)) < 1e-12 && sequence_burstiness(0) < -0.999);
    assert_true(fabs(sequence_dispersion(regular, 9, 10)) < 1e-12);
    assert_true(fabs(sequence_dispersion(pairs, 9, 10) - 1) < 1e-12); /* 2 0 2 0 ...: mean 1, variance 1 */
    assert_true(isnan(sequence_dispersion(pairs, 9, 50)) && isnan(sequence_dispersion(pairs, 1, 1)));
    assert_true(fabs(sequence_correlation(wave, 6, 1) + 1) < 1e-12);
    assert_true(fabs(sequence_correlation(wave, 6, 2) - 1) < 1e-12);
    assert_true(isnan(sequence_correlation(wave, 6, 5)));
}
