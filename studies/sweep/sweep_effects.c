#include "studies/sweep/sweep_effects.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/statistics/student.h"
#include "studies/sweep/sweep_design.h"

#define ROUNDING 1e-12 /* of a mean: less is no variance */

/* ---- slices ---- */

struct sweep_slice sweep_slice_all(void)
{
    struct sweep_slice slice;
    for (size_t f = 0; f < SWEEP_FACTORS_MAX; f++)
        slice.level[f] = SWEEP_ANY_LEVEL;
    return slice;
}

static bool is_in(const struct sweep_plan *plan, size_t combination, const struct sweep_slice *slice)
{
    const uint32_t *levels = &plan->levels[combination * plan->factor_count];
    for (size_t f = 0; f < plan->factor_count; f++)
        if (slice->level[f] != SWEEP_ANY_LEVEL && slice->level[f] != levels[f])
            return false;
    return true;
}

/* The mean of the slice with one seed; NAN: a run of it has no value. */
static double seed_mean(const struct sweep_results *results, size_t column, const struct sweep_slice *slice,
                        size_t seed)
{
    double sum = 0;
    size_t count = 0;
    for (size_t c = 0; c < results->plan.combination_count; c++)
        if (is_in(&results->plan, c, slice)) {
            sum += sweep_results_number(results, c, seed, column);
            count++;
        }
    return count > 0 ? sum / (double)count : NAN;
}

struct inference sweep_slice_mean(const struct sweep_results *results, size_t column, const struct sweep_slice *slice,
                                  double level)
{
    double *means = mem_zalloc(results->plan.seed_count, sizeof *means);
    size_t count = 0;
    for (size_t s = 0; s < results->plan.seed_count; s++) {
        const double mean = seed_mean(results, column, slice, s);
        if (!isnan(mean))
            means[count++] = mean;
    }
    struct inference inference = student_one(means, count, 0, level);
    if (count == 0)
        inference.mean = NAN;
    mem_free(means);
    return inference;
}

double sweep_combination_mean(const struct sweep_results *results, size_t column, size_t combination)
{
    double sum = 0;
    size_t count = 0;
    for (size_t s = 0; s < results->plan.seed_count; s++) {
        const double number = sweep_results_number(results, combination, s, column);
        if (!isnan(number)) {
            sum += number;
            count++;
        }
    }
    return count > 0 ? sum / (double)count : NAN;
}

/* ---- shares of variance ---- */

struct squares_work {
    const struct sweep_squares_table *table;
    size_t combination_count;
    double mean;
    uint32_t *levels;                 /* [combination * factor_count + factor] */
    double *means[SWEEP_FACTORS_MAX]; /* of each level, less the mean */
};

/* The sum of squares of the means by levels of one or two factors, less what stands in `means` already: each counts as
 * often as it has values. */
static double part_squares(const struct squares_work *work, size_t factor, size_t other)
{
    const struct sweep_squares_table *table = work->table;
    const size_t width = factor == other ? 1 : table->level_counts[other];
    const size_t cells = table->level_counts[factor] * width;
    double *sums = mem_zalloc(cells, sizeof *sums), squares = 0;
    const double each = (double)(work->combination_count / cells * table->seed_count); /* values in a cell */
    for (size_t c = 0; c < work->combination_count; c++) {
        const uint32_t *levels = &work->levels[c * table->factor_count];
        const size_t cell = levels[factor] * width + (factor == other ? 0 : levels[other]);
        for (size_t s = 0; s < table->seed_count; s++)
            sums[cell] += table->values[c * table->seed_count + s] - work->mean;
    }
    for (size_t cell = 0; cell < cells; cell++) {
        double beyond = sums[cell] / each;
        if (factor != other)
            beyond -= work->means[factor][cell / width] + work->means[other][cell % width];
        else
            work->means[factor][cell] = beyond;
        squares += each * beyond * beyond;
    }
    mem_free(sums);
    return squares;
}

static double seed_squares(const struct squares_work *work)
{
    const struct sweep_squares_table *table = work->table;
    double squares = 0;
    for (size_t s = 0; s < table->seed_count; s++) {
        double sum = 0;
        for (size_t c = 0; c < work->combination_count; c++)
            sum += table->values[c * table->seed_count + s] - work->mean;
        squares += sum * sum / (double)work->combination_count;
    }
    return squares;
}

static void total_squares(struct squares_work *work, struct sweep_squares *out)
{
    const size_t count = work->combination_count * work->table->seed_count;
    for (size_t i = 0; i < count; i++)
        work->mean += work->table->values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        out->total += (work->table->values[i] - work->mean) * (work->table->values[i] - work->mean);
    if (sqrt(out->total / (double)count) <= ROUNDING * fabs(work->mean))
        out->total = 0; /* equal values */
}

static void add_part(struct squares_work *work, struct sweep_squares *out, size_t factor, size_t other)
{
    const size_t *counts = work->table->level_counts;
    out->parts[out->part_count++] =
        (struct sweep_part){.factor = factor,
                            .other = other,
                            .squares = part_squares(work, factor, other),
                            .df = (counts[factor] - 1) * (factor == other ? 1 : counts[other] - 1),
                            .p = 1};
}

static void forget_rounding(struct sweep_squares *out)
{
    out->seeds = out->rest = 0;
    for (size_t i = 0; i < out->part_count; i++)
        out->parts[i].squares = 0;
}

static void test_parts(struct sweep_squares *out)
{
    for (size_t i = 0; i < out->part_count; i++) {
        struct sweep_part *part = &out->parts[i];
        if (part->df > 0 && out->rest_df > 0 && out->rest > 0)
            part->p = gsl_cdf_fdist_Q(part->squares / (double)part->df / (out->rest / (double)out->rest_df),
                                      (double)part->df, (double)out->rest_df);
    }
}

void sweep_squares_of(const struct sweep_squares_table *table, struct sweep_squares *out)
{
    const size_t width = table->factor_count;
    struct squares_work work = {.table = table};
    *out = (struct sweep_squares){0};
    work.combination_count = sweep_design_factorial_count(table->level_counts, width, SIZE_MAX);
    work.levels = mem_zalloc(work.combination_count * width + 1, sizeof *work.levels);
    sweep_design_factorial(table->level_counts, width, work.levels);
    out->parts = mem_zalloc(width * (width + 1) / 2 + 1, sizeof *out->parts);
    total_squares(&work, out);
    const bool is_constant = out->total == 0;
    for (size_t f = 0; f < width; f++) {
        work.means[f] = mem_zalloc(table->level_counts[f], sizeof **work.means);
        add_part(&work, out, f, f);
    }
    for (size_t f = 0; f < width; f++)
        for (size_t g = f + 1; g < width; g++)
            add_part(&work, out, f, g);
    out->seeds = seed_squares(&work);
    out->rest = out->total - out->seeds;
    out->rest_df = work.combination_count * table->seed_count - table->seed_count;
    for (size_t i = 0; i < out->part_count; i++) {
        out->rest -= out->parts[i].squares;
        out->rest_df -= out->parts[i].df;
    }
    out->rest = out->rest_df > 0 ? fmax(out->rest, 0) : 0;
    if (is_constant)
        forget_rounding(out);
    test_parts(out);
    for (size_t f = 0; f < width; f++)
        mem_free(work.means[f]);
    mem_free(work.levels);
}

void sweep_squares_release(struct sweep_squares *squares)
{
    mem_free(squares->parts);
    *squares = (struct sweep_squares){0};
}

/* Where a combination stands in the order of a full factorial. */
static size_t factorial_index(const struct sweep_plan *plan, const size_t *counts, size_t combination)
{
    size_t index = 0;
    for (size_t f = 0; f < plan->factor_count; f++)
        index = index * counts[f] + plan->levels[combination * plan->factor_count + f];
    return index;
}

bool sweep_squares_read(const struct sweep_results *results, size_t column, struct sweep_squares *out)
{
    const struct sweep_plan *plan = &results->plan;
    size_t counts[SWEEP_FACTORS_MAX];
    for (size_t f = 0; f < plan->factor_count; f++)
        counts[f] = plan->factors[f].level_count;
    if (plan->factor_count == 0 ||
        sweep_design_factorial_count(counts, plan->factor_count, SWEEP_COMBINATIONS_MAX) != plan->combination_count)
        return false;
    double *values = mem_zalloc(plan->run_count, sizeof *values);
    bool is_whole = true;
    for (size_t c = 0; c < plan->combination_count; c++)
        for (size_t s = 0; s < plan->seed_count; s++) {
            const double number = sweep_results_number(results, c, s, column);
            values[factorial_index(plan, counts, c) * plan->seed_count + s] = number;
            is_whole = is_whole && !isnan(number);
        }
    const struct sweep_squares_table table = {
        .level_counts = counts, .factor_count = plan->factor_count, .seed_count = plan->seed_count, .values = values};
    if (is_whole)
        sweep_squares_of(&table, out);
    mem_free(values);
    return is_whole;
}

/* ---- the front ---- */

struct point {
    size_t combination;
    double cost, other; /* lower is better */
};

static double signed_mean(const struct sweep_results *results, size_t column, size_t combination)
{
    const double mean = sweep_combination_mean(results, column, combination);
    return results->columns[column].metric->better == BETTER_HIGHER ? -mean : mean;
}

static bool is_beaten(const struct point *point, const struct point *by)
{
    return by->cost <= point->cost && by->other <= point->other && (by->cost < point->cost || by->other < point->other);
}

static int compare_points(const void *a, const void *b)
{
    const struct point *one = a, *two = b;
    if (one->cost != two->cost)
        return one->cost < two->cost ? -1 : 1;
    return one->combination < two->combination ? -1 : one->combination > two->combination;
}

size_t sweep_front(const struct sweep_results *results, size_t column, size_t other, size_t *front)
{
    const size_t combination_count = results->plan.combination_count;
    struct point *points = mem_zalloc(combination_count + 1, sizeof *points);
    size_t point_count = 0, count = 0;
    for (size_t c = 0; c < combination_count; c++) {
        const struct point point = {c, signed_mean(results, column, c), signed_mean(results, other, c)};
        if (!isnan(point.cost) && !isnan(point.other))
            points[point_count++] = point;
    }
    qsort(points, point_count, sizeof *points, compare_points);
    for (size_t i = 0; i < point_count; i++) {
        bool is_front = true;
        for (size_t j = 0; j < point_count && is_front; j++)
            is_front = !is_beaten(&points[i], &points[j]);
        if (is_front)
            front[count++] = points[i].combination;
    }
    mem_free(points);
    return count;
}
