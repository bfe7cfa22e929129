#include "workloads/synth/run_time.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

const char *const run_time_names[] = {"lognormal", "exponential", "constant", NULL};

/* With X = m exp(s Z): E[X | X <= b] = m exp(s^2 / 2) P(Z <= z - s) / P(Z <= z), z = ln(b / m) / s. */
static double lognormal_mean(const struct run_time *run_time)
{
    double sigma = run_time->sigma;
    double mean = run_time->scale_s * exp(sigma * sigma / 2);
    if (isinf(run_time->max_s) || sigma == 0)
        return mean;
    double z = log(run_time->max_s / run_time->scale_s) / sigma;
    return mean * gsl_cdf_ugaussian_P(z - sigma) / gsl_cdf_ugaussian_P(z);
}

/* E[X | X <= b] = m - b / (exp(b / m) - 1). */
static double exponential_mean(const struct run_time *run_time)
{
    double mean = run_time->scale_s, max = run_time->max_s;
    return isinf(max) ? mean : mean - max / expm1(max / mean);
}

double run_time_mean_s(const struct run_time *run_time)
{
    switch (run_time->kind) {
    case RUN_TIME_LOGNORMAL:
        return lognormal_mean(run_time);
    case RUN_TIME_EXPONENTIAL:
        return exponential_mean(run_time);
    case RUN_TIME_CONSTANT:
        break;
    }
    return run_time->scale_s;
}

static double draw_once(const struct run_time *run_time, struct random_stream *stream)
{
    if (run_time->kind == RUN_TIME_EXPONENTIAL)
        return -log(random_uniform(stream)) * run_time->scale_s;
    return run_time->scale_s * exp(run_time->sigma * gsl_ran_gaussian_ziggurat(random_gsl(stream), 1));
}

double run_time_draw_s(const struct run_time *run_time, struct random_stream *stream)
{
    double seconds;
    if (run_time->kind == RUN_TIME_CONSTANT)
        return run_time->scale_s;
    do
        seconds = draw_once(run_time, stream);
    while (seconds > run_time->max_s);
    return seconds;
}

void run_time_read(const struct json_value *value, struct run_time *run_time)
{
    struct json_object object;
    json_object_open(&object, value);
    json_need(&object, "distribution");
    run_time->kind = (enum run_time_kind)json_get_choice(&object, "distribution", run_time_names, RUN_TIME_CONSTANT);
    bool is_lognormal = run_time->kind == RUN_TIME_LOGNORMAL;
    const char *scale = is_lognormal ? "median" : "mean";
    json_need(&object, scale);
    run_time->scale_s = time_to_seconds(json_get_duration(&object, scale, TIME_NS_PER_S));
    if (is_lognormal) {
        json_need(&object, "sigma");
        run_time->sigma = json_get_real(&object, "sigma", 0, 10, 1);
    }
    time_ns max = json_get_duration(&object, "max", TIME_NEVER);
    run_time->max_s = max == TIME_NEVER ? INFINITY : time_to_seconds(max);
    json_object_close(&object);
    if (run_time->scale_s < 1e-6)
        json_fail(value, "'%s' must be at least a microsecond", scale);
    else if (run_time->max_s < run_time->scale_s)
        json_fail(value, "'max' must not be below '%s'", scale);
}
