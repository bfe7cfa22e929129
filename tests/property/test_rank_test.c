/* Exact p values of rank tests against a count of all sign patterns and of all choices of ranks. */
#include <gsl/gsl_randist.h>
#include <math.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "reports/statistics/rank_test.h"
#include "tests/support/interval.h"

enum { VALUES_MAX = 12 };

/* 2 P(sum at most the smaller of the sum and its mirror), over all subsets of the ranks 1..n; size -1: of any size. */
static double p_by_counting(unsigned n, int size, double sum_of_ours)
{
    uint64_t subsets = 0, as_far = 0;
    double total = 0;
    for (unsigned set = 0; set < 1u << n; set++)
        if (size < 0 || __builtin_popcount(set) == size) {
            unsigned sum = 0;
            for (unsigned i = 0; i < n; i++)
                sum += set >> i & 1 ? i + 1 : 0;
            subsets++;
            total += sum;
        }
    const double mean = total / (double)subsets, distance = fabs(sum_of_ours - mean);
    for (unsigned set = 0; set < 1u << n; set++)
        if (size < 0 || __builtin_popcount(set) == size) {
            double sum = 0;
            for (unsigned i = 0; i < n; i++)
                sum += set >> i & 1 ? i + 1 : 0;
            as_far += fabs(sum - mean) >= distance;
        }
    return (double)as_far / (double)subsets;
}

TEST(test_exact_p_equals_a_count)
{
    const struct test_seeds seeds = test_seeds(60, 600);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct random_stream chance;
        double a[VALUES_MAX], b[VALUES_MAX];
        random_stream_init(&chance, seed, "rank test", 0);
        const unsigned n = 1 + random_below(&chance, VALUES_MAX), m = 1 + random_below(&chance, n > 1 ? n - 1 : 1);
        for (unsigned i = 0; i < n; i++) {
            a[i] = gsl_ran_gaussian(random_gsl(&chance), 1);
            b[i] = gsl_ran_gaussian(random_gsl(&chance), 1) + 0.5;
        }
        struct rank_test test = rank_test_pairs(a, b, n);
        double expected = p_by_counting(n, -1, test.statistic);
        if (fabs(test.p - expected) > 1e-12 || test.method != METHOD_WILCOXON_EXACT)
            fail_msg("seed %zu: %u pairs, V = %g: p %.12g, a count says %.12g", (size_t)seed, n, test.statistic, test.p,
                     expected);
        if (m >= n)
            continue;
        test = rank_test_samples(a, n - m, b, m);
        expected = p_by_counting(n, (int)m, test.statistic + m * (m + 1) / 2.0);
        if (fabs(test.p - expected) > 1e-12 || test.method != METHOD_MANN_WHITNEY_EXACT)
            fail_msg("seed %zu: %u and %u values, W = %g: p %.12g, a count says %.12g", (size_t)seed, n - m, m,
                     test.statistic, test.p, expected);
    }
}

/* Swapping the sides mirrors the statistic and keeps p. */
TEST(test_sides_can_be_swapped)
{
    const double a[] = {1, 2, 2, 5, 9, 3}, b[] = {2, 2, 4, 5, 7, 9};
    const struct rank_test forth = rank_test_pairs(a, b, 6), back = rank_test_pairs(b, a, 6);
    assert_int_equal(forth.n, 4); /* two pairs are equal */
    assert_int_equal(forth.method, METHOD_WILCOXON_NORMAL);
    assert_true(forth.statistic + back.statistic == 10 && fabs(forth.p - back.p) < 1e-15);
    /* One zero alone takes the exact distribution away, as in R. */
    const double c[] = {1, 5, 3}, d[] = {2, 8, 3};
    assert_int_equal(rank_test_pairs(c, d, 3).method, METHOD_WILCOXON_NORMAL);
    assert_int_equal(rank_test_pairs(c, d, 2).method, METHOD_WILCOXON_EXACT);
    const struct rank_test up = rank_test_samples(a, 6, b, 6), down = rank_test_samples(b, 6, a, 6);
    assert_true(up.statistic + down.statistic == 36 && fabs(up.p - down.p) < 1e-15);
}
