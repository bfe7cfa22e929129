/* workloads/fit/fit_memory.c -- what a job has in common with those before it; users; limits. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_min.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/names.h"
#include "workloads/fit/fit_inside.h"

enum { STEPS_MAX = 200, JOBS_MIN = 200, JOBS_MAX = 10000 };
#define CORRELATION_MIN 0.01 /* below it nothing is remembered */

/* The least of a function between low and high, if it has one between them; else the better end. */
static double least(double (*of)(double, void *), void *self, double low, double high)
{
    gsl_function function = {of, self};
    const double golden = low + 0.382 * (high - low);
    double best = golden;
    enum { GRID = 40 };
    for (int i = 0; i <= GRID; i++) {
        const double x = low + (high - low) * i / GRID;
        best = of(x, self) < of(best, self) ? x : best;
    }
    const double step = (high - low) / GRID, from = fmax(low, best - step), to = fmin(high, best + step);
    if (!(of(best, self) < of(from, self) && of(best, self) < of(to, self)))
        return best;
    gsl_min_fminimizer *minimizer = gsl_min_fminimizer_alloc(gsl_min_fminimizer_brent);
    gsl_min_fminimizer_set(minimizer, &function, best, from, to);
    for (int i = 0; i < STEPS_MAX; i++) {
        gsl_min_fminimizer_iterate(minimizer);
        if (gsl_min_test_interval(gsl_min_fminimizer_x_lower(minimizer), gsl_min_fminimizer_x_upper(minimizer), 1e-6,
                                  1e-6) == 0)
            break;
    }
    best = gsl_min_fminimizer_x_minimum(minimizer);
    gsl_min_fminimizer_free(minimizer);
    return best;
}

/* ---- Memory ---- */

static const int lags[] = {1, 2, 3, 5, 8, 13, 20, 32, 50};
enum { LAG_COUNT = sizeof lags / sizeof *lags };

struct decay {
    double correlation[LAG_COUNT];
    double strength; /* best for the last time tried */
};

static double fading(int lag, double log_jobs)
{
    return fmax(0, 1 - lag / exp(log_jobs));
}

/* Squared misses of s max(0, 1 - l / jobs), with the best s. */
static double misses(double log_jobs, void *self)
{
    struct decay *decay = self;
    double product = 0, square = 0, sum = 0;
    for (int i = 0; i < LAG_COUNT; i++) {
        const double shape = fading(lags[i], log_jobs);
        product += shape * decay->correlation[i];
        square += shape * shape;
    }
    decay->strength = fmin(1, fmax(0, product / square));
    for (int i = 0; i < LAG_COUNT; i++) {
        const double miss = decay->correlation[i] - decay->strength * fading(lags[i], log_jobs);
        sum += miss * miss;
    }
    return sum;
}

struct scored {
    double value;
    size_t index;
    uint32_t kind;
};

static int by_value(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->value < y->value || x->value > y->value)
        return x->value < y->value ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* By number: the normal score of its rank among those of its kind; equal ones have their mean rank.  Sorts. */
static double *scores_new(struct scored *sorted, size_t count)
{
    double *scores = mem_zalloc(count, sizeof *scores);
    qsort(sorted, count, sizeof *sorted, by_value);
    for (size_t kind = 0, end; kind < count; kind = end) {
        for (end = kind + 1; end < count && sorted[end].kind == sorted[kind].kind;)
            end++;
        for (size_t from = kind, to; from < end; from = to) {
            for (to = from + 1; to < end && sorted[to].value <= sorted[from].value;)
                to++;
            const double rank = ((double)(from + to) / 2 - (double)kind) / (double)(end - kind);
            for (size_t i = from; i < to; i++)
                scores[sorted[i].index] = gsl_cdf_ugaussian_Pinv(rank);
        }
    }
    return scores;
}

/* Strength and jobs of the sessions of these numbers, in their order. */
static void fit_sessions(struct load_memory *out, struct scored *numbers, size_t count)
{
    struct decay decay;
    if (count < JOBS_MIN)
        return;
    double *scores = scores_new(numbers, count);
    for (int i = 0; i < LAG_COUNT; i++)
        decay.correlation[i] = gsl_stats_correlation(scores, 1, scores + lags[i], 1, count - (size_t)lags[i]);
    mem_free(scores);
    if (!(decay.correlation[0] > CORRELATION_MIN))
        return;
    const double log_jobs = least(misses, &decay, log(2), log(JOBS_MAX));
    out->jobs = (uint32_t)rint(exp(log_jobs));
    misses(log(out->jobs), &decay);
    out->strength = decay.strength;
}

void fit_gap_memory(struct load_memory *out, const double *gaps, size_t count)
{
    struct scored *numbers = mem_zalloc(count, sizeof *numbers);
    *out = (struct load_memory){.jobs = 1};
    for (size_t i = 0; i < count; i++)
        numbers[i] = (struct scored){gaps[i], i, 0};
    fit_sessions(out, numbers, count);
    mem_free(numbers);
}

static double repeat_of(const struct fit_job *const *jobs, size_t count, uint32_t kind_count)
{
    size_t *by_kind = mem_zalloc(kind_count, sizeof *by_kind), same = 0;
    double chance = 0;
    for (size_t i = 0; i < count; i++) {
        by_kind[jobs[i]->kind]++;
        same += i > 0 && jobs[i]->kind == jobs[i - 1]->kind;
    }
    for (uint32_t k = 0; k < kind_count; k++)
        chance += (double)by_kind[k] / (double)count * ((double)by_kind[k] / (double)count);
    mem_free(by_kind);
    return chance < 1 ? fmin(0.99, fmax(0, ((double)same / (double)(count - 1) - chance) / (1 - chance))) : 0;
}

void fit_memory(struct load_memory *out, const struct fit_job *const *jobs, size_t count, uint32_t kind_count)
{
    struct scored *numbers = mem_zalloc(count, sizeof *numbers);
    *out = (struct load_memory){.jobs = 1};
    for (size_t i = 0; i < count; i++)
        numbers[i] = (struct scored){jobs[i]->run_time_s, i, jobs[i]->kind};
    fit_sessions(out, numbers, count);
    mem_free(numbers);
    if (count >= JOBS_MIN)
        out->repeat = repeat_of(jobs, count, kind_count);
}

/* ---- Users ---- */

struct ranks {
    double count, jobs, log_sum; /* log_sum: of jobs x ln rank */
};

/* Minus the logarithm of the likelihood of Zipf's law. */
static double unlikelihood(double exponent, void *self)
{
    const struct ranks *ranks = self;
    double sum = 0;
    for (double r = 1; r <= ranks->count; r++)
        sum += pow(r, -exponent);
    return exponent * ranks->log_sum + ranks->jobs * log(sum);
}

static int descending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x > y ? -1 : x < y;
}

void fit_users(struct load_zipf *out, const struct fit_job *const *jobs, size_t count)
{
    uint32_t *by_user = NULL, users = 0;
    size_t capacity = 0;
    struct ranks ranks = {0};
    *out = (struct load_zipf){0};
    for (size_t i = 0; i < count; i++) {
        if (jobs[i]->user == NAMES_NONE)
            continue;
        MEM_GROW(by_user, capacity, (size_t)jobs[i]->user + 1);
        by_user[jobs[i]->user]++;
        users = jobs[i]->user >= users ? jobs[i]->user + 1 : users;
    }
    if (users > 0)
        qsort(by_user, users, sizeof *by_user, descending);
    for (uint32_t u = 0; u < users && u < LOAD_CLIENTS_MAX && by_user[u] > 0; u++) {
        ranks.count++;
        ranks.jobs += by_user[u];
        ranks.log_sum += by_user[u] * log(u + 1.0);
    }
    mem_free(by_user);
    if (ranks.jobs * 2 < (double)count || ranks.count < 1)
        return;
    out->count = (uint32_t)ranks.count;
    out->exponent = ranks.count > 1 ? least(unlikelihood, &ranks, 0, 10) : 0;
    for (uint32_t r = 1; r <= out->count; r++)
        out->sum += pow(r, -out->exponent);
}

/* ---- Limits ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void fit_request(struct load_request *out, const struct fit_job *const *jobs, size_t count, struct arena *arena)
{
    enum { FACTOR_POINTS = 100 };
    double *factors = mem_zalloc(count, sizeof *factors);
    size_t found = 0;
    *out = (struct load_request){0};
    for (size_t i = 0; i < count; i++)
        if (jobs[i]->limit_s > 0)
            factors[found++] = fmax(1, jobs[i]->limit_s / fmax(1, jobs[i]->run_time_s));
    qsort(factors, found, sizeof *factors, ascending);
    if (found > 0) {
        out->share = (double)found / (double)count;
        out->factor = distribution_of_values(factors, found, FACTOR_POINTS, arena);
    }
    mem_free(factors);
}
