/* tests/unit/test_sweep_design.c -- a factorial has every combination once, a Latin hypercube one point in each stratum
 * of each factor, and a draw depends on nothing but its seed, factor and number of points. */
#include "tests/support/test.h"
#include <math.h>
#include <string.h>

#include "studies/sweep/sweep_design.h"

enum { POINTS = 101, FACTORS = 6, SEEDS = 30 };

TEST(test_factorial)
{
    const size_t counts[] = {2, 3, 1, 4};
    uint32_t out[24 * 4];
    bool seen[24] = {0};
    assert_int_equal(sweep_design_factorial_count(counts, 4, 1000), 24);
    sweep_design_factorial(counts, 4, out);
    for (size_t c = 0; c < 24; c++) {
        const uint32_t *row = &out[c * 4];
        const size_t number = ((row[0] * 3 + row[1]) * 1 + row[2]) * 4 + row[3];
        assert_true(row[0] < 2 && row[1] < 3 && row[2] < 1 && row[3] < 4);
        assert_false(seen[number]);
        seen[number] = true;
        assert_int_equal(number, c); /* the first factor changes slowest */
    }
}

TEST(test_factorial_bounds)
{
    const size_t counts[] = {1000, 1000, 1000};
    assert_int_equal(sweep_design_factorial_count(counts, 2, 1000000), 1000000);
    assert_int_equal(sweep_design_factorial_count(counts, 3, 1000000), 0);
    assert_int_equal(sweep_design_factorial_count(counts, 0, 10), 1);
    const size_t huge[] = {SIZE_MAX, 2};
    assert_int_equal(sweep_design_factorial_count(huge, 2, SIZE_MAX), 0);
}

TEST(test_latin)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (size_t f = 0; f < FACTORS; f++) {
            uint32_t strata[POINTS];
            double places[POINTS];
            bool seen[POINTS] = {0};
            sweep_design_strata(seed, f, POINTS, strata);
            sweep_design_places(seed, f, POINTS, places);
            for (size_t p = 0; p < POINTS; p++) {
                assert_true(strata[p] < POINTS);
                assert_false(seen[strata[p]]);
                seen[strata[p]] = true;
                assert_true(places[p] > (double)p / POINTS && places[p] < (double)(p + 1) / POINTS);
            }
        }
}

TEST(test_draws)
{
    uint32_t one[POINTS], again[POINTS], other[POINTS];
    sweep_design_strata(7, 2, POINTS, one);
    sweep_design_strata(7, 2, POINTS, again);
    assert_memory_equal(one, again, sizeof one);
    sweep_design_strata(8, 2, POINTS, other);
    assert_memory_not_equal(one, other, sizeof one);
    sweep_design_strata(7, 3, POINTS, other);
    assert_memory_not_equal(one, other, sizeof one);
}

TEST(test_ranges)
{
    const struct sweep_range linear = {.low = 10, .high = 20}, log = {.low = 1, .high = 10000, .is_log = true},
                             integers = {.low = 3, .high = 6, .is_integer = true},
                             log_integers = {.low = 1, .high = 1000, .is_log = true, .is_integer = true};
    size_t counts[7] = {0};
    assert_true(sweep_range_at(&linear, 0.25) == 12.5);
    assert_true(sweep_range_at(&log, 0.5) == 100);
    assert_true(sweep_range_at(&log_integers, 1.0 / 3) == 10);
    for (int i = 0; i < 4000; i++) {
        const double number = sweep_range_at(&integers, (i + 0.5) / 4000);
        assert_true(number == rint(number) && number >= 3 && number <= 6);
        counts[(int)number]++;
    }
    for (int n = 3; n <= 6; n++) /* equally likely */
        assert_int_equal(counts[n], 1000);
    const struct sweep_range odd = {.low = 1.0 / 3, .high = 2.0 / 3}; /* rounding does not leave the range */
    assert_true(sweep_range_at(&odd, 1e-12) >= odd.low && sweep_range_at(&odd, 1 - 1e-12) <= odd.high);
}
