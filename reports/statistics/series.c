#include "reports/statistics/series.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/mem.h"
#include "reports/statistics/student.h"

enum { BATCHES_MAX = 30, BATCHES_MIN = 10, BATCHES_STEP = 10, BATCHES_OF_REST = 20 };

static const double errors_apart = 6; /* standard errors between a warm-up and the rest */

/* The upper tenth of the normal distribution. */
static const double z_independent = 1.2815515655446004;

/* ---- Warm-up ---- */

size_t series_warmup(const double *values, size_t count, bool *is_found)
{
    const size_t means = count / SERIES_MSER_BATCH, limit = means / 2;
    double mean = 0, squares = 0, least = INFINITY;
    size_t best = limit;
    *is_found = false;
    if (!inference_is_finite(values, count))
        return 0;
    /* From the end to the front, each step adds one mean to the sum of squares. */
    for (size_t d = means; d-- > 0;) {
        const double kept = (double)(means - d);
        const double z = gsl_stats_mean(values + d * SERIES_MSER_BATCH, 1, SERIES_MSER_BATCH);
        const double from_mean = z - mean;
        mean += from_mean / kept;
        squares += from_mean * (z - mean);
        if (d <= limit && squares / (kept * kept) <= least) {
            least = squares / (kept * kept);
            best = d;
        }
    }
    *is_found = best < limit;
    return best * SERIES_MSER_BATCH;
}

/* ---- Batches ---- */

/* 1 - von Neumann's ratio / 2: about the lag-1 autocorrelation, without the bias from the ends. */
static double autocorrelation_of(const double *means, size_t count)
{
    const double mean = gsl_stats_mean(means, 1, count);
    double squares = 0, steps = 0;
    for (size_t i = 0; i < count; i++) {
        squares += (means[i] - mean) * (means[i] - mean);
        if (i > 0)
            steps += (means[i] - means[i - 1]) * (means[i] - means[i - 1]);
    }
    return squares > 0 ? 1 - steps / (2 * squares) : 0;
}

static void batch(const double *values, size_t count, struct series_mean *out, double means[BATCHES_MAX])
{
    out->batch_size = count / out->batch_count;
    const size_t first = count - out->batch_count * out->batch_size;
    for (size_t i = 0; i < out->batch_count; i++)
        means[i] = gsl_stats_mean(values + first + i * out->batch_size, 1, out->batch_size);
    out->autocorrelation = autocorrelation_of(means, out->batch_count);
}

/* By how much the variance of the mean of all values grows by the autocorrelation that is left between batches. */
static double growth(double autocorrelation)
{
    return autocorrelation > 0 ? (1 + autocorrelation) / (1 - autocorrelation) : 1;
}

/* Unbiased but for its root, as in Skart. */
static double skewness(const double *means, size_t count)
{
    const double mean = gsl_stats_mean(means, 1, count), k = (double)count;
    double squares = 0, cubes = 0;
    for (size_t i = 0; i < count; i++) {
        const double from_mean = means[i] - mean;
        squares += from_mean * from_mean;
        cubes += from_mean * from_mean * from_mean;
    }
    return squares > 0 ? cubes / k / pow(squares / k, 1.5) * sqrt(k * (k - 1)) / (k - 2) : 0;
}

/* Below it the adjustment is lost in rounding. */
static const double bend_least = 1e-6;

/* The quantile of (mean - truth) / error at which t is that of a sample without skewness. */
static double adjusted(double t, double bend)
{
    return fabs(bend) < bend_least ? t : (cbrt(1 + 6 * bend * (t - bend)) - 1) / (2 * bend);
}

/* The t that adjusted() turns into this one. */
static double unadjusted(double t, double bend)
{
    if (fabs(bend) < bend_least)
        return t;
    const double root = 2 * bend * t + 1;
    return bend + (root * root * root - 1) / (6 * bend);
}

/* Turn Student's interval of independent means into that of Skart. */
static void adjust(struct inference *of, const double *means, size_t count, double autocorrelation)
{
    const double bend = skewness(means, count) / (6 * sqrt((double)count));
    const double t = gsl_cdf_tdist_Qinv((1 - of->level) / 2, of->df);
    const double error = (of->high - of->low) / (2 * t) * sqrt(growth(autocorrelation));
    of->low = of->mean - adjusted(t, bend) * error;
    of->high = of->mean - adjusted(-t, bend) * error;
    of->statistic = unadjusted(of->mean / error, bend);
    of->p = 2 * gsl_cdf_tdist_Q(fabs(of->statistic), of->df);
}

struct series_mean series_batch_means(const double *values, size_t count, double level)
{
    struct series_mean out = {.is_warmup_found = true};
    const bool is_finite = inference_is_finite(values, count);
    if (!is_finite || count < SERIES_MIN) {
        const double mean = is_finite && count > 0 ? gsl_stats_mean(values, 1, count) : 0;
        out.of = inference_none(is_finite ? INFERENCE_TOO_FEW : INFERENCE_NOT_FINITE, count, mean, level);
        return out;
    }
    double means[BATCHES_MAX];
    bool is_independent = false;
    for (out.batch_count = BATCHES_MAX;; out.batch_count -= BATCHES_STEP) {
        const double k = (double)out.batch_count;
        batch(values, count, &out, means);
        /* Normal with variance (k - 2) / (k^2 - 1) if the means are independent. */
        is_independent = out.autocorrelation * sqrt((k * k - 1) / (k - 2)) <= z_independent;
        if (is_independent || out.batch_count == BATCHES_MIN)
            break;
    }
    out.of = student_one(means, out.batch_count, 0, level);
    out.of.n = out.batch_count * out.batch_size;
    if (out.of.state == INFERENCE_DEFINED) {
        out.of.method = METHOD_BATCH_MEANS;
        if (is_independent)
            adjust(&out.of, means, out.batch_count, out.autocorrelation);
        else
            out.of = inference_none(INFERENCE_CORRELATED, out.of.n, out.of.mean, level);
    }
    out.warmup_count = count - out.of.n;
    return out;
}

/* Does the mean of the values before `warmup` differ from that of the rest? */
static bool is_apart(const double *values, size_t count, size_t warmup)
{
    struct series_mean rest = {.batch_count = BATCHES_OF_REST};
    double means[BATCHES_MAX];
    if (count - warmup < SERIES_MIN)
        return true;
    batch(values + warmup, count - warmup, &rest, means);
    const double of_one = gsl_stats_variance(means, 1, rest.batch_count) * (double)rest.batch_size *
                          growth(fmin(rest.autocorrelation, 0.9));
    const double apart = gsl_stats_mean(values, 1, warmup) - gsl_stats_mean(values + warmup, 1, count - warmup);
    return fabs(apart) > errors_apart * sqrt(of_one / (double)warmup + of_one / (double)(count - warmup));
}

struct series_mean series_steady_mean(const double *values, size_t count, double level)
{
    bool is_found;
    size_t warmup = series_warmup(values, count, &is_found);
    if (is_found && warmup > 0 && !is_apart(values, count, warmup))
        warmup = 0;
    struct series_mean out = series_batch_means(values + warmup, count - warmup, level);
    out.warmup_count += warmup;
    out.is_warmup_found = is_found;
    if (!is_found && (out.of.state == INFERENCE_DEFINED || out.of.state == INFERENCE_CONSTANT))
        out.of = inference_none(INFERENCE_CORRELATED, out.of.n, out.of.mean, level);
    return out;
}
