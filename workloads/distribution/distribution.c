/* workloads/distribution/distribution.c -- means, probabilities and draws. */
#include "workloads/distribution/distribution.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>

/* P(X <= max) and E[X; X <= max] of one component. */
struct part {
    double mass, moment;
};

static struct part gamma_part(double shape, double scale, bool is_log, double max)
{
    if (!is_log) {
        const double mass = isinf(max) ? 1 : gsl_cdf_gamma_P(max, shape, scale);
        return (struct part){mass, shape * scale * (isinf(max) ? 1 : gsl_cdf_gamma_P(max, shape + 1, scale))};
    }
    /* E[e^Y; Y <= c] = (1 - b)^-a P(Y' <= c) with Y' gamma of the scale b / (1 - b); b < 1 */
    const double end = log(max), tilted = scale / (1 - scale);
    const double whole = pow(1 - scale, -shape);
    if (isinf(max))
        return (struct part){1, whole};
    return (struct part){end > 0 ? gsl_cdf_gamma_P(end, shape, scale) : 0,
                         end > 0 ? whole * gsl_cdf_gamma_P(end, shape, tilted) : 0};
}

static double first_share(const struct distribution *of, double gpus)
{
    return fmin(1, fmax(0, of->first[0] + of->first[1] * gpus));
}

static struct part hyper_part(const struct distribution *of, double gpus, double max)
{
    const double share = first_share(of, gpus);
    const struct part first = gamma_part(of->shapes[0], of->scales[0], of->is_log, max);
    if (share >= 1)
        return first;
    const struct part second = gamma_part(of->shapes[1], of->scales[1], of->is_log, max);
    return (struct part){share * first.mass + (1 - share) * second.mass,
                         share * first.moment + (1 - share) * second.moment};
}

static struct part lognormal_part(const struct distribution *of, double max)
{
    const double sigma = of->sigma, mean = of->scale * exp(sigma * sigma / 2);
    if (isinf(max) || sigma <= 0)
        return (struct part){max >= of->scale, max >= of->scale ? mean : 0};
    const double z = log(max / of->scale) / sigma;
    return (struct part){gsl_cdf_ugaussian_P(z), mean * gsl_cdf_ugaussian_P(z - sigma)};
}

static struct part weibull_part(const struct distribution *of, double max)
{
    const double order = 1 + 1 / of->shape, mean = of->scale * gsl_sf_gamma(order);
    if (isinf(max))
        return (struct part){1, mean};
    return (struct part){gsl_cdf_weibull_P(max, of->scale, of->shape),
                         mean * gsl_cdf_gamma_P(pow(max / of->scale, of->shape), order, 1)};
}

static struct part exponential_part(const struct distribution *of, double max)
{
    const double end = max / of->scale;
    if (isinf(max))
        return (struct part){1, of->scale};
    return (struct part){-expm1(-end), of->scale * (-expm1(-end) - end * exp(-end))};
}

/* Of the values between two points, those up to max. */
static struct part segment_part(const struct distribution_point *from, const struct distribution_point *to, double max)
{
    const double weight = to->p - from->p, low = from->x, high = to->x;
    if (max < low || weight <= 0)
        return (struct part){0, 0};
    const double end = fmin(max, high);
    if (high <= low)
        return (struct part){weight, weight * low};
    if (low <= 0) {
        const double share = (end - low) / (high - low);
        return (struct part){weight * share, weight * share * (low + end) / 2};
    }
    const double width = log1p((high - low) / low); /* exact also for ends that are nearly equal */
    return (struct part){weight * log1p((end - low) / low) / width, weight * (end - low) / width};
}

static struct part empirical_part(const struct distribution *of, double max)
{
    struct part sum = {0, 0};
    for (uint32_t i = 1; i < of->point_count && of->points[i - 1].x <= max; i++) {
        const struct part part = segment_part(&of->points[i - 1], &of->points[i], max);
        sum.mass += part.mass;
        sum.moment += part.moment;
    }
    return sum;
}

/* Without regard to the distribution's own end. */
static struct part part_to(const struct distribution *of, double gpus, double max)
{
    switch (of->kind) {
    case DISTRIBUTION_CONSTANT:
        break;
    case DISTRIBUTION_EXPONENTIAL:
        return exponential_part(of, max);
    case DISTRIBUTION_LOGNORMAL:
        return lognormal_part(of, max);
    case DISTRIBUTION_WEIBULL:
        return weibull_part(of, max);
    case DISTRIBUTION_GAMMA:
    case DISTRIBUTION_HYPER_GAMMA:
        return hyper_part(of, gpus, max);
    case DISTRIBUTION_EMPIRICAL:
        return empirical_part(of, max);
    }
    return max >= of->scale ? (struct part){1, of->scale} : (struct part){0, 0};
}

double distribution_mean(const struct distribution *of, double gpus)
{
    const struct part part = part_to(of, gpus, of->max);
    return part.moment / part.mass;
}

double distribution_cdf(const struct distribution *of, double gpus, double x)
{
    if (x <= 0 && of->kind != DISTRIBUTION_EMPIRICAL)
        return 0;
    return x >= of->max ? 1 : part_to(of, gpus, x).mass / part_to(of, gpus, of->max).mass;
}

/* ---- Draws ---- */

bool distribution_has_quantile(const struct distribution *of)
{
    return of->kind != DISTRIBUTION_GAMMA && of->kind != DISTRIBUTION_HYPER_GAMMA;
}

static double empirical_quantile(const struct distribution *of, double u)
{
    uint32_t low = 0, high = of->point_count - 1;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (of->points[middle].p <= u)
            low = middle;
        else
            high = middle;
    }
    const struct distribution_point *from = &of->points[low], *to = &of->points[high];
    const double share = to->p > from->p ? (u - from->p) / (to->p - from->p) : 0;
    if (from->x <= 0)
        return from->x + share * (to->x - from->x);
    return from->x * pow(to->x / from->x, share);
}

double distribution_quantile(const struct distribution *of, double u)
{
    assert(distribution_has_quantile(of));
    if (!isinf(of->max) && of->kind != DISTRIBUTION_CONSTANT)
        u *= part_to(of, 0, of->max).mass;
    switch (of->kind) {
    case DISTRIBUTION_EXPONENTIAL:
        return gsl_cdf_exponential_Pinv(u, of->scale);
    case DISTRIBUTION_LOGNORMAL:
        return of->scale * exp(of->sigma * gsl_cdf_ugaussian_Pinv(u));
    case DISTRIBUTION_WEIBULL:
        return gsl_cdf_weibull_Pinv(u, of->scale, of->shape);
    case DISTRIBUTION_EMPIRICAL:
        return empirical_quantile(of, u);
    case DISTRIBUTION_CONSTANT:
    case DISTRIBUTION_GAMMA:
    case DISTRIBUTION_HYPER_GAMMA:
        break;
    }
    return of->scale;
}

static double hyper_draw(const struct distribution *of, double gpus, struct random_stream *stream)
{
    const double share = first_share(of, gpus);
    double value;
    do {
        const int which = share < 1 && random_uniform(stream) > share;
        value = gsl_ran_gamma(random_gsl(stream), of->shapes[which], of->scales[which]);
        value = of->is_log ? exp(value) : value;
    } while (value > of->max);
    return value;
}

double distribution_draw(const struct distribution *of, double gpus, struct random_stream *stream)
{
    if (of->kind == DISTRIBUTION_CONSTANT)
        return of->scale;
    if (!distribution_has_quantile(of))
        return hyper_draw(of, gpus, stream);
    return distribution_quantile(of, random_uniform(stream));
}
