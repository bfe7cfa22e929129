#include "reports/statistics/looks.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdint.h>

/* Points of the Gauss-Legendre rule on [0, bound].  With 64 the levels of 5, 10, 20, 40 do not change in 12 digits
 * against 128. */
enum { POINTS = 64 };

/* The motion at one look, as far as it was inside the bounds at every look: its density at points of [0, bound].
 * It is symmetric, so the half is enough. */
struct inside {
    double at[POINTS], weight[POINTS], density[POINTS];
    double time; /* 0: before the first look, the motion is at 0 */
};

struct looks looks_once(size_t n)
{
    return (struct looks){.count = 1, .n = {n}};
}

struct looks looks_up_to(size_t n_max)
{
    struct looks looks = {0};
    for (size_t n = LOOKS_FIRST; 3 * n <= 2 * n_max && looks.count < LOOKS_MAX - 1; n *= 2)
        looks.n[looks.count++] = n;
    looks.n[looks.count++] = n_max;
    return looks;
}

static double time_of(const struct looks *looks, size_t look)
{
    return (double)looks->n[look] / (double)looks->n[looks->count - 1];
}

/* The probability of being beyond +-z at `time` for the first time. */
static double crossing(const struct inside *before, double time, double z)
{
    const double bound = z * sqrt(time), step = sqrt(time - before->time);
    double sum = 0;
    if (before->time == 0)
        return 2 * gsl_cdf_ugaussian_Q(z);
    for (size_t i = 0; i < POINTS; i++)
        sum +=
            before->weight[i] * before->density[i] *
            (gsl_cdf_ugaussian_Q((bound - before->at[i]) / step) + gsl_cdf_ugaussian_Q((bound + before->at[i]) / step));
    return 2 * sum;
}

static void advance(struct inside *inside, const gsl_integration_glfixed_table *rule, double time, double z)
{
    const struct inside before = *inside;
    const double bound = z * sqrt(time), step = sqrt(time - before.time);
    for (size_t i = 0; i < POINTS; i++) {
        double at, weight, density = 0;
        gsl_integration_glfixed_point(0, bound, i, &at, &weight, rule);
        if (before.time == 0)
            density = gsl_ran_gaussian_pdf(at, step);
        else
            for (size_t j = 0; j < POINTS; j++)
                density +=
                    before.weight[j] * before.density[j] *
                    (gsl_ran_gaussian_pdf(at - before.at[j], step) + gsl_ran_gaussian_pdf(at + before.at[j], step));
        inside->at[i] = at;
        inside->weight[i] = weight;
        inside->density[i] = density;
    }
    inside->time = time;
}

/* The z for which just `spent` is beyond it: by bisection, since a larger z is crossed less. */
static double bound_for(const struct inside *before, double time, double spent)
{
    double low = 0, high = 40;
    for (int i = 0; i < 100 && high - low > 1e-15 * high; i++) {
        const double middle = (low + high) / 2;
        if (crossing(before, time, middle) > spent)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

double looks_level(const struct looks *looks, size_t look, double alpha)
{
    assert(look < looks->count && alpha > 0 && alpha <= 0.5);
    struct inside inside = {.time = 0};
    gsl_integration_glfixed_table *rule = gsl_integration_glfixed_table_alloc(POINTS);
    double z = 0;
    for (size_t k = 0; k <= look; k++) {
        const double time = time_of(looks, k);
        z = bound_for(&inside, time, alpha * (time - inside.time));
        if (k < look)
            advance(&inside, rule, time, z);
    }
    gsl_integration_glfixed_table_free(rule);
    return look == 0 ? alpha * time_of(looks, 0) : 2 * gsl_cdf_ugaussian_Q(z);
}

double looks_error(const struct looks *looks, const double *z)
{
    struct inside inside = {.time = 0};
    gsl_integration_glfixed_table *rule = gsl_integration_glfixed_table_alloc(POINTS);
    double error = 0;
    for (size_t k = 0; k < looks->count; k++) {
        error += crossing(&inside, time_of(looks, k), z[k]);
        advance(&inside, rule, time_of(looks, k), z[k]);
    }
    gsl_integration_glfixed_table_free(rule);
    return error;
}

/* ---- How many seeds would decide ---- */

/* The probability that the test of all N values is significant at `level`, given |t| after n of them. */
static double decided_at(double t, size_t n, size_t all, double level)
{
    const double part = (double)n / (double)all, df = (double)(n - 1);
    const double bound = gsl_cdf_tdist_Qinv(level / 2, (double)(all - 1)) * sqrt(part), spread = sqrt(1 - part);
    return gsl_cdf_tdist_Q((bound - t) / spread, df) + gsl_cdf_tdist_Q((bound + t) / spread, df);
}

/* The least such number above n; `most` + 1 if it is above `most`. */
static size_t least_deciding(double t, size_t n, double level, double power, size_t most)
{
    size_t low = n, high = most + 1;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (decided_at(t, n, middle, level) >= power)
            high = middle;
        else
            low = middle;
    }
    return high;
}

size_t looks_needed(double p, size_t n, double alpha, double power, size_t most)
{
    enum { STEP = 5, ROUNDS = 3 }; /* the level at the last look depends little on N */
    assert(n >= 2 && p > 0 && p <= 1 && power > 0 && power < 1);
    const double t = p < 1 ? gsl_cdf_tdist_Qinv(p / 2, (double)(n - 1)) : 0;
    struct looks looks = looks_once(n);
    size_t needed = n;
    for (int round = 0; round < ROUNDS && needed <= most; round++) {
        needed = least_deciding(t, n, looks_level(&looks, looks.count - 1, alpha), power, most);
        looks = looks_up_to(needed);
    }
    needed = (needed + STEP - 1) / STEP * STEP;
    return needed > most ? SIZE_MAX : needed;
}
