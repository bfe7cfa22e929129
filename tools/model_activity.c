/* tools/model_activity.c -- quantiles of the SM activity of real fleets beside those of a synthesized class.
 *
 * The class: notebooks (workloads/activity/activity.h) whose parts of idle time, mean and standard deviation of the
 * level are fitted to the three quantiles above 0 by least greatest error, on a grid of 0.005.  So a row tests that
 * the process gives the distribution that its parameters stand for, and that a beta distribution with idle time can be
 * a fleet. */
#include <math.h>

#include "tools/model_tables.h"
#include "workloads/activity/activity.h"

enum { QUANTILES = 4, LEVELS = 1001, SAMPLES = 1000000 };

struct fleet {
    const char *name;
    double measured[QUANTILES];
    double idle;                 /* part of the time */
    struct activity_level level; /* of the rest */
};

static const double quantiles[QUANTILES] = {0.25, 0.5, 0.75, 0.9};
static const double tolerance = 0.01; /* of all SMs */

/* Source: InternLM/AcmeTrace, utilization data (util_pkl) of all GPUs at all times, free ones included. */
static const struct fleet fleets[] = {
    {"Seren", {0, 0.502, 0.731, 0.809}, 0.485, {0.715, 0.105}},
    {"Kalos", {0, 0.335, 0.729, 0.915}, 0.325, {0.570, 0.295}},
};

/* Counts by level: a long life is looked at every ten minutes. */
static void observe(const struct fleet *fleet, uint32_t *counts)
{
    const double burst_s = 1800;
    const struct activity_plan plan = {
        .kind = ACTIVITY_NOTEBOOK,
        .level = fleet->level,
        .active = {.kind = DISTRIBUTION_EXPONENTIAL, .scale = burst_s, .max = INFINITY},
        .quiet = {.kind = DISTRIBUTION_EXPONENTIAL,
                  .scale = burst_s * fleet->idle / (1 - fleet->idle),
                  .max = INFINITY},
    };
    struct activity activity;
    activity_begin(&activity, &plan, 1, 0);
    for (int i = 0; i < SAMPLES; i++) {
        counts[activity_level(&activity, 0)]++;
        for (time_ns left = 600 * TIME_NS_PER_S; left > 0;) {
            const time_ns holds = activity_holds(&activity, 0), span = holds < left ? holds : left;
            activity_run(&activity, span);
            left -= span;
        }
    }
}

static double quantile_of(const uint32_t *counts, double quantile)
{
    double sum = 0;
    int level = 0;
    while (level < LEVELS - 1 && (sum += counts[level]) < quantile * SAMPLES)
        level++;
    return level / 1000.0;
}

static bool print_fleet(const struct fleet *fleet, struct buffer *out)
{
    uint32_t counts[LEVELS] = {0};
    bool holds = true;
    observe(fleet, counts);
    for (int q = 0; q < QUANTILES; q++) {
        const double model = quantile_of(counts, quantiles[q]);
        const bool is_near = fabs(model - fleet->measured[q]) <= tolerance;
        buffer_format(out, "  %-7s %3.0f %%   %5.3f     %5.3f    %+.3f  %s\n", fleet->name, 100 * quantiles[q],
                      fleet->measured[q], model, model - fleet->measured[q], is_near ? "ok" : "NOT OK");
        holds &= is_near;
    }
    return holds;
}

bool model_activity_print(struct buffer *out)
{
    bool holds = true;
    buffer_format(out,
                  "\nSM activity of Acme's GPUs at all times, by quantile; tested to %.2f of all SMs\n"
                  "  source: InternLM/AcmeTrace, utilization of the clusters Seren and Kalos\n"
                  "  a synthesized class of notebooks, three parameters fitted to three quantiles:\n",
                  tolerance);
    for (size_t f = 0; f < sizeof fleets / sizeof *fleets; f++)
        buffer_format(out, "  %s: idle for %.3f of the time, else Beta with mean %.3f, sd %.3f\n", fleets[f].name,
                      fleets[f].idle, fleets[f].level.mean, fleets[f].level.sd);
    buffer_string(out, "  cluster  part  measured   model    error\n");
    for (size_t f = 0; f < sizeof fleets / sizeof *fleets; f++)
        holds &= print_fleet(&fleets[f], out);
    return holds;
}
