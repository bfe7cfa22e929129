/* tests/unit/test_sweep_effects.c -- shares of variance agree with a published analysis and with sums made by hand;
 * means of slices are means of what is in them; the front is what nothing beats. */
#include "tests/support/test.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "studies/sweep/sweep_effects.h"

static void assert_near(double is, double should, double tolerance)
{
    if (!(fabs(is - should) <= tolerance))
        fail_msg("%.9g is not %.9g", is, should);
}

/* ---- shares of variance ---- */

/* Growth of teeth by supplement (OJ, VC) and dose (0.5, 1, 2): Crampton, J. Nutrition 33 (1947), as R's data set
 * ToothGrowth.  R 4.2, summary(aov(len ~ supp * factor(dose))): supp 205.4 (df 1), dose 2426.4 (2), both 108.3 (2),
 * residuals 712.1 (54). */
static const double teeth[6][10] = {
    {15.2, 21.5, 17.6, 9.7, 14.5, 10.0, 8.2, 9.4, 16.5, 9.7},
    {19.7, 23.3, 23.6, 26.4, 20.0, 25.2, 25.8, 21.2, 14.5, 27.3},
    {25.5, 26.4, 22.4, 24.5, 24.8, 30.9, 26.4, 27.3, 29.4, 23.0},
    {4.2, 11.5, 7.3, 5.8, 6.4, 10.0, 11.2, 11.2, 5.2, 7.0},
    {16.5, 16.5, 15.2, 17.3, 22.5, 17.3, 13.6, 14.5, 18.8, 15.5},
    {23.6, 18.5, 33.9, 25.5, 26.4, 32.5, 26.7, 21.5, 23.3, 29.5},
};

TEST(test_published)
{
    const size_t counts[] = {2, 3};
    const struct sweep_squares_table table = {
        .level_counts = counts, .factor_count = 2, .seed_count = 10, .values = &teeth[0][0]};
    struct sweep_squares squares;
    sweep_squares_of(&table, &squares);
    assert_int_equal(squares.part_count, 3);
    assert_near(squares.parts[0].squares, 205.4, 0.05);
    assert_near(squares.parts[1].squares, 2426.4, 0.05);
    assert_near(squares.parts[2].squares, 108.3, 0.05);
    assert_near(squares.seeds + squares.rest, 712.1, 0.05); /* the published model has no blocks */
    assert_int_equal(squares.parts[0].df, 1);
    assert_int_equal(squares.parts[1].df, 2);
    assert_int_equal(squares.parts[2].df, 2);
    assert_int_equal(squares.rest_df, 54 - 9);
    assert_true(squares.parts[1].p < 1e-10 && squares.parts[0].p < 0.001 && squares.parts[2].p < 0.05);
    sweep_squares_release(&squares);
}

/* Effects put in by hand come out again, and the seeds' too; nothing is left. */
TEST(test_made)
{
    const size_t counts[] = {2, 2, 3};
    const double seeds[] = {-1, 0.25, 0.75};
    double values[12 * 3];
    struct sweep_squares squares;
    for (size_t c = 0; c < 12; c++)
        for (size_t s = 0; s < 3; s++) {
            const double a = c / 6 == 0 ? -2 : 2, b = c / 3 % 2 == 0 ? -1 : 1, third[] = {-3, 0, 3};
            values[c * 3 + s] = 100 + a + 0.5 * a * b + third[c % 3] + seeds[s];
        }
    const struct sweep_squares_table table = {
        .level_counts = counts, .factor_count = 3, .seed_count = 3, .values = values};
    sweep_squares_of(&table, &squares);
    const double expected[] = {36 * 4.0, 0, 36 * 6.0, 36 * 1.0, 0, 0}; /* a, b, c, ab, ac, bc */
    for (size_t i = 0; i < 6; i++)
        assert_near(squares.parts[i].squares, expected[i], 1e-9);
    assert_near(squares.seeds, 12 * (1 + 0.0625 + 0.5625), 1e-9);
    assert_near(squares.rest, 0, 1e-9);
    assert_near(squares.total, 36 * 11.0 + 12 * 1.625, 1e-9);
    sweep_squares_release(&squares);
}

TEST(test_constant)
{
    const size_t counts[] = {3};
    double values[9];
    struct sweep_squares squares;
    for (size_t i = 0; i < 9; i++)
        values[i] = 1.0 / 3 + (i % 2 == 0 ? 1e-16 : 0); /* rounding is no effect */
    const struct sweep_squares_table table = {
        .level_counts = counts, .factor_count = 1, .seed_count = 3, .values = values};
    sweep_squares_of(&table, &squares);
    assert_true(squares.total == 0 && squares.parts[0].squares == 0 && squares.parts[0].p == 1);
    sweep_squares_release(&squares);
}

/* ---- slices and the front, of results made by hand ---- */

enum { ROWS = 4, COLUMNS = 5, COMBINATIONS = ROWS * COLUMNS, SEEDS = 3 };

struct made {
    struct sweep_results results;
    struct sweep_level levels[COLUMNS];
    struct sweep_factor factors[2];
    struct sweep_run runs[COMBINATIONS * SEEDS];
    uint32_t at[COMBINATIONS * 2];
    struct sweep_column columns[2];
    double cells[COMBINATIONS * SEEDS * 2];
};

static void make(struct made *made, uint64_t seed)
{
    struct random_stream stream;
    random_stream_init(&stream, seed, "test", 0);
    *made = (struct made){0};
    made->factors[0] = (struct sweep_factor){.name = "row", .levels = made->levels, .level_count = ROWS};
    made->factors[1] = (struct sweep_factor){.name = "column", .levels = made->levels, .level_count = COLUMNS};
    for (uint32_t c = 0; c < COMBINATIONS; c++) {
        made->at[2 * c] = c / COLUMNS;
        made->at[2 * c + 1] = c % COLUMNS;
    }
    made->columns[0] = (struct sweep_column){.of = {.metric = "cost_usd"}, .metric = metric_find("cost_usd")};
    made->columns[1] = (struct sweep_column){.of = {.metric = "goodput_ratio"}, .metric = metric_find("goodput_ratio")};
    for (size_t i = 0; i < sizeof made->cells / sizeof made->cells[0]; i++)
        made->cells[i] = random_below(&stream, 8); /* few values: many are equal */
    made->results = (struct sweep_results){.columns = made->columns, .column_count = 2, .cells = made->cells};
    made->results.plan = (struct sweep_plan){.factors = made->factors,
                                             .factor_count = 2,
                                             .levels = made->at,
                                             .combination_count = COMBINATIONS,
                                             .seed_count = SEEDS,
                                             .runs = made->runs,
                                             .run_count = COMBINATIONS * SEEDS};
}

static double *cell(struct made *made, size_t combination, size_t seed, size_t column)
{
    return &made->cells[(seed * COMBINATIONS + combination) * 2 + column];
}

TEST(test_slices)
{
    struct made made;
    struct sweep_slice slice = sweep_slice_all();
    make(&made, 1);
    slice.level[1] = 3;
    struct inference mean = sweep_slice_mean(&made.results, 0, &slice, 0.95);
    double means[SEEDS] = {0}, total = 0;
    for (size_t s = 0; s < SEEDS; s++)
        for (size_t r = 0; r < ROWS; r++)
            means[s] += *cell(&made, r * COLUMNS + 3, s, 0) / ROWS;
    for (size_t s = 0; s < SEEDS; s++)
        total += means[s] / SEEDS;
    assert_near(mean.mean, total, 1e-12);
    assert_int_equal(mean.n, SEEDS);
    *cell(&made, 2 * COLUMNS + 3, 1, 0) = NAN; /* this seed is left out, of this slice alone */
    mean = sweep_slice_mean(&made.results, 0, &slice, 0.95);
    assert_near(mean.mean, (means[0] + means[2]) / 2, 1e-12);
    slice.level[1] = 2;
    assert_int_equal(sweep_slice_mean(&made.results, 0, &slice, 0.95).n, SEEDS);
    for (size_t s = 0; s < SEEDS; s++)
        *cell(&made, 2, s, 0) = NAN;
    mean = sweep_slice_mean(&made.results, 0, &slice, 0.95);
    assert_true(isnan(mean.mean) && mean.state == INFERENCE_TOO_FEW);
}

TEST(test_squares_need_all)
{
    struct made made;
    struct sweep_squares squares;
    make(&made, 2);
    assert_true(sweep_squares_read(&made.results, 0, &squares));
    double sum = squares.seeds + squares.rest;
    for (size_t i = 0; i < squares.part_count; i++)
        sum += squares.parts[i].squares;
    assert_near(sum, squares.total, 1e-9);
    sweep_squares_release(&squares);
    *cell(&made, 7, 1, 0) = NAN;
    assert_false(sweep_squares_read(&made.results, 0, &squares));
    make(&made, 2);
    made.results.plan.combination_count--; /* not every combination */
    assert_false(sweep_squares_read(&made.results, 0, &squares));
}

/* Cost is to be low, goodput high. */
static bool beats(const struct made *made, size_t one, size_t other)
{
    const double cost =
                     sweep_combination_mean(&made->results, 0, one) - sweep_combination_mean(&made->results, 0, other),
                 goodput =
                     sweep_combination_mean(&made->results, 1, one) - sweep_combination_mean(&made->results, 1, other);
    return cost <= 0 && goodput >= 0 && (cost < 0 || goodput > 0);
}

TEST(test_front)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct made made;
        size_t front[COMBINATIONS];
        bool is_front[COMBINATIONS] = {0};
        make(&made, seed);
        for (size_t s = 0; s < SEEDS; s++)
            *cell(&made, 5, s, 1) = NAN;
        const size_t count = sweep_front(&made.results, 0, 1, front);
        for (size_t i = 0; i < count; i++) {
            is_front[front[i]] = true;
            assert_true(i == 0 || sweep_combination_mean(&made.results, 0, front[i - 1]) <=
                                      sweep_combination_mean(&made.results, 0, front[i]));
        }
        for (size_t c = 0; c < COMBINATIONS; c++) {
            bool is_beaten = c == 5; /* it has no goodput */
            for (size_t other = 0; other < COMBINATIONS; other++)
                is_beaten = is_beaten || (other != 5 && beats(&made, other, c));
            assert_int_equal(is_front[c], !is_beaten);
        }
    }
}
