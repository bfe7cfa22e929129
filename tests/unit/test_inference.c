/* What samples that allow no inference give: a state, no interval, p = 1, and never a NAN. */
#include <float.h>
#include <math.h>

#include "tests/support/test.h"

#include "reports/statistics/rank_test.h"
#include "reports/statistics/series.h"
#include "reports/statistics/student.h"

static void assert_no_nan(const struct inference *of)
{
    assert_false(isnan(of->mean) || isnan(of->low) || isnan(of->high) || isnan(of->p) || isnan(of->statistic) ||
                 isnan(of->df) || isnan(of->level));
    assert_true(of->low <= of->high);
    assert_true(of->p >= 0 && of->p <= 1);
}

static void assert_none(struct inference of, enum inference_state state, size_t n)
{
    assert_no_nan(&of);
    assert_int_equal(of.state, state);
    assert_int_equal(of.n, n);
    assert_false(inference_has_interval(&of));
    assert_true(of.low == -INFINITY && of.high == INFINITY);
    assert_true(of.p == 1);
}

TEST(test_too_few_values)
{
    const double one[] = {3}, other[] = {5}, two[] = {1, 2};
    assert_none(student_one(NULL, 0, 0, 0.95), INFERENCE_TOO_FEW, 0);
    assert_none(student_one(one, 1, 0, 0.95), INFERENCE_TOO_FEW, 1);
    assert_true(student_one(one, 1, 0, 0.95).mean == 3);
    assert_none(student_paired(one, other, 1, 0, 0.95), INFERENCE_TOO_FEW, 1);
    assert_true(student_paired(one, other, 1, 0, 0.95).mean == 2);
    assert_none(student_welch(one, 1, two, 2, 0, 0.95), INFERENCE_TOO_FEW, 3);
    assert_none(student_welch(two, 2, NULL, 0, 0, 0.95), INFERENCE_TOO_FEW, 2);
}

TEST(test_values_that_are_not_finite)
{
    const double good[] = {1, 2, 3}, bad[] = {1, NAN, 3}, endless[] = {1, 2, INFINITY}, huge[] = {-1e308, 1e308, 1e308};
    assert_none(student_one(bad, 3, 0, 0.95), INFERENCE_NOT_FINITE, 3);
    assert_none(student_one(endless, 3, 0, 0.95), INFERENCE_NOT_FINITE, 3);
    assert_none(student_one(huge, 3, 0, 0.95), INFERENCE_NOT_FINITE, 3);
    assert_none(student_paired(good, bad, 3, 0, 0.95), INFERENCE_NOT_FINITE, 3);
    assert_none(student_welch(bad, 3, good, 3, 0, 0.95), INFERENCE_NOT_FINITE, 6);
    const struct rank_test pairs = rank_test_pairs(good, bad, 3), samples = rank_test_samples(bad, 3, good, 3);
    assert_true(pairs.state == INFERENCE_NOT_FINITE && pairs.p == 1);
    assert_true(samples.state == INFERENCE_NOT_FINITE && samples.p == 1);
}

/* Five equal values are as improbable as five equal signs: 2^-4 = 0.0625, so there is no 95 % interval; six give
 * one. */
TEST(test_constant_samples_are_judged_by_signs)
{
    const double value[] = {7, 7, 7, 7, 7, 7};
    struct inference of = student_one(value, 5, 0, 0.95);
    assert_no_nan(&of);
    assert_int_equal(of.state, INFERENCE_CONSTANT);
    assert_int_equal(of.method, METHOD_SIGNS);
    assert_true(of.p == 0.0625);
    assert_false(inference_has_interval(&of));
    of = student_one(value, 6, 0, 0.95);
    assert_true(of.p == 0.03125 && of.low == 7 && of.high == 7);
    of = student_one(value, 6, 7, 0.95);
    assert_true(of.p == 1 && of.low == 7 && of.high == 7);
    /* Two samples that do not overlap: 2 / C(6, 3) = 0.1. */
    const double other[] = {9, 9, 9};
    of = student_welch(value, 3, other, 3, 0, 0.85);
    assert_int_equal(of.state, INFERENCE_CONSTANT);
    assert_true(fabs(of.p - 0.1) < 1e-12 && of.low == 2 && of.high == 2);
}

/* b - a is 0.1 but for rounding: no variance that means anything. */
TEST(test_rounding_is_no_variance)
{
    double a[10], b[10];
    for (int i = 0; i < 10; i++) {
        a[i] = 1000.0 / (i + 3);
        b[i] = a[i] + 0.1;
    }
    struct inference of = student_paired(a, b, 10, 0, 0.95);
    assert_int_equal(of.state, INFERENCE_CONSTANT);
    assert_true(of.p == ldexp(1, -9) && fabs(of.mean - 0.1) < 1e-12);
    of = student_paired(a, b, 10, 0.1, 0.95);
    assert_true(of.p == 1);
    b[4] += 1e-9;
    of = student_paired(a, b, 10, 0, 0.95);
    assert_int_equal(of.state, INFERENCE_DEFINED);
}

TEST(test_equal_pairs_have_no_ranks)
{
    const double a[] = {1, 2, 3};
    struct rank_test test = rank_test_pairs(a, a, 3);
    assert_true(test.state == INFERENCE_CONSTANT && test.n == 0 && test.p == 1);
    test = rank_test_pairs(a, a, 0);
    assert_true(test.state == INFERENCE_TOO_FEW && test.p == 1);
    const double same[] = {4, 4}, sames[] = {4, 4, 4};
    test = rank_test_samples(same, 2, sames, 3);
    assert_true(test.state == INFERENCE_CONSTANT && test.p == 1);
    test = rank_test_samples(same, 2, NULL, 0);
    assert_true(test.state == INFERENCE_TOO_FEW && test.p == 1);
}
