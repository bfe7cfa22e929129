#include "reports/statistics/bootstrap.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/mem.h"
#include "base/random.h"
#include "reports/statistics/student.h"

static double *resampled_means_new(const double *values, size_t count, size_t resamples, const struct bootstrap *how)
{
    struct random_stream stream;
    double *means = mem_alloc(resamples * sizeof *means);
    random_stream_init(&stream, how->seed, "bootstrap", how->entity);
    for (size_t r = 0; r < resamples; r++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += values[random_below(&stream, (uint32_t)count)];
        means[r] = sum / (double)count;
    }
    gsl_sort(means, 1, resamples);
    return means;
}

/* The acceleration of a mean: a sixth of the skewness of its jackknife values. */
static double acceleration(const double *values, size_t count, double mean)
{
    double squares = 0, cubes = 0;
    for (size_t i = 0; i < count; i++) {
        const double from_mean = values[i] - mean;
        squares += from_mean * from_mean;
        cubes += from_mean * from_mean * from_mean;
    }
    return cubes / (6 * pow(squares, 1.5));
}

/* The share of resampled means below `value`; those equal to it count half. */
static double share_below(const double *means, size_t resamples, double value)
{
    size_t below = 0, equal = 0;
    for (size_t r = 0; r < resamples && means[r] <= value; r++)
        *(means[r] < value ? &below : &equal) += 1;
    return ((double)below + (double)equal / 2) / (double)resamples;
}

static double corrected_quantile(const double *means, size_t resamples, double z0, double accel, double z)
{
    const double left = 1 - accel * (z0 + z);
    const double share = left > 0 ? gsl_cdf_ugaussian_P(z0 + (z0 + z) / left) : accel * (z0 + z) > 0 ? 1 : 0;
    return gsl_stats_quantile_from_sorted_data(means, 1, resamples, share);
}

struct inference bootstrap_one(const double *values, size_t count, double level, const struct bootstrap *how)
{
    /* It judges what is degenerate, as for all means. */
    struct inference of = student_one(values, count, 0, level);
    if (of.state != INFERENCE_DEFINED)
        return of;
    const size_t resamples = how->resamples > 0 ? how->resamples : BOOTSTRAP_RESAMPLES;
    double *means = resampled_means_new(values, count, resamples, how);
    const double smallest = 0.5 / (double)resamples;
    const double share = fmin(fmax(share_below(means, resamples, of.mean), smallest), 1 - smallest);
    const double z0 = gsl_cdf_ugaussian_Pinv(share), z = gsl_cdf_ugaussian_Qinv((1 - level) / 2);
    const double accel = acceleration(values, count, of.mean);
    size_t at_most = 0, at_least = 0;
    for (size_t r = 0; r < resamples; r++) {
        at_most += means[r] <= 0;
        at_least += means[r] >= 0;
    }
    of.method = METHOD_BOOTSTRAP;
    of.statistic = of.df = 0;
    of.low = corrected_quantile(means, resamples, z0, accel, -z);
    of.high = corrected_quantile(means, resamples, z0, accel, z);
    of.p = fmin(1, 2 * (double)(1 + (at_most < at_least ? at_most : at_least)) / (double)(resamples + 1));
    mem_free(means);
    return of;
}

struct inference bootstrap_paired(const double *a, const double *b, size_t count, double level,
                                  const struct bootstrap *how)
{
    struct inference of = student_paired(a, b, count, 0, level);
    if (of.state != INFERENCE_DEFINED)
        return of;
    double *differences = mem_alloc(count * sizeof *differences);
    for (size_t i = 0; i < count; i++)
        differences[i] = b[i] - a[i];
    of = bootstrap_one(differences, count, level, how);
    mem_free(differences);
    return of;
}
