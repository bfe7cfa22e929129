#include "reports/statistics/student.h"

#include <assert.h>
#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/mem.h"

/* What the t methods have in common: an estimate, its standard error, and how large the values were. */
struct estimate {
    double mean, error, df;
    double scale; /* the larger of the absolute means of the values, for rounding */
    size_t n;
    double p_least; /* of a constant sample: inference.h */
};

/* The t beyond which lies half of what the level leaves. */
static double quantile(double level, double df)
{
    return gsl_cdf_tdist_Qinv((1 - level) / 2, df);
}

static struct inference by_t(const struct estimate *of, enum inference_method method, double null, double level)
{
    const double rounding = 10 * DBL_EPSILON * of->scale;
    assert(level > 0 && level < 1);
    if (!isfinite(of->mean) || !isfinite(of->error))
        return inference_none(INFERENCE_NOT_FINITE, of->n, 0, level);
    if (of->error <= rounding)
        return inference_constant(of->n, fabs(of->mean - null) <= rounding ? null : of->mean, null, level, of->p_least);
    const double half = quantile(level, of->df) * of->error;
    const double t = (of->mean - null) / of->error;
    return (struct inference){.state = INFERENCE_DEFINED,
                              .method = method,
                              .n = of->n,
                              .mean = of->mean,
                              .low = of->mean - half,
                              .high = of->mean + half,
                              .level = level,
                              .statistic = t,
                              .df = of->df,
                              .p = 2 * gsl_cdf_tdist_Q(fabs(t), of->df)};
}

static struct inference one_sample(const double *values, size_t count, double scale, enum inference_method method,
                                   double null, double level)
{
    const double mean = count > 0 ? gsl_stats_mean(values, 1, count) : 0;
    if (!inference_is_finite(values, count))
        return inference_none(INFERENCE_NOT_FINITE, count, 0, level);
    if (count < 2)
        return inference_none(INFERENCE_TOO_FEW, count, mean, level);
    const double error = sqrt(gsl_stats_variance_m(values, 1, count, mean) / (double)count);
    const double p_least = ldexp(1, 1 - (int)(count < 1000 ? count : 1000));
    return by_t(&(struct estimate){mean, error, (double)count - 1, fmax(scale, fabs(mean)), count, p_least}, method,
                null, level);
}

struct inference student_one(const double *values, size_t count, double null, double level)
{
    return one_sample(values, count, 0, METHOD_T, null, level);
}

struct inference student_paired(const double *a, const double *b, size_t count, double null, double level)
{
    double *differences = mem_alloc((count + 1) * sizeof *differences);
    double scale = 0;
    for (size_t i = 0; i < count; i++)
        differences[i] = b[i] - a[i];
    if (count > 0)
        scale = fmax(fabs(gsl_stats_mean(a, 1, count)), fabs(gsl_stats_mean(b, 1, count)));
    const struct inference of = one_sample(differences, count, scale, METHOD_PAIRED_T, null, level);
    mem_free(differences);
    return of;
}

struct inference student_welch(const double *a, size_t a_count, const double *b, size_t b_count, double null,
                               double level)
{
    const size_t n = a_count + b_count;
    if (!inference_is_finite(a, a_count) || !inference_is_finite(b, b_count))
        return inference_none(INFERENCE_NOT_FINITE, n, 0, level);
    if (a_count == 0 || b_count == 0)
        return inference_none(INFERENCE_TOO_FEW, n, 0, level);
    const double a_mean = gsl_stats_mean(a, 1, a_count), b_mean = gsl_stats_mean(b, 1, b_count);
    if (a_count < 2 || b_count < 2)
        return inference_none(INFERENCE_TOO_FEW, n, b_mean - a_mean, level);
    const double a_part = gsl_stats_variance_m(a, 1, a_count, a_mean) / (double)a_count;
    const double b_part = gsl_stats_variance_m(b, 1, b_count, b_mean) / (double)b_count;
    /* Satterthwaite's degrees of freedom, with parts of 1 lest their squares vanish. */
    const double error = sqrt(a_part + b_part), a_share = error > 0 ? a_part / (a_part + b_part) : 0.5;
    const double df =
        1 / (a_share * a_share / (double)(a_count - 1) + (1 - a_share) * (1 - a_share) / (double)(b_count - 1));
    const double p_least = 2 * exp(-gsl_sf_lnchoose((unsigned)n, (unsigned)a_count));
    return by_t(&(struct estimate){b_mean - a_mean, error, df, fmax(fabs(a_mean), fabs(b_mean)), n, p_least},
                METHOD_WELCH_T, null, level);
}
