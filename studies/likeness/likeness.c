#include "studies/likeness/likeness.h"

#include <assert.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "reports/statistics/two_samples.h"

#define S_PER_DAY 86400.0

const char *const likeness_series_names[] = {"run_time_s", "gpus", "gap_s", NULL};

/* ---- Sides ---- */

static void take(struct likeness_side *side, const struct job *job, const struct job_truth *truth)
{
    const double submit_s = time_to_seconds(job->submit), gpus = (double)job_gpu_milli(job) / GPU_MILLI;
    const double numbers[LIKENESS_SERIES_COUNT] = {time_to_seconds(truth->duration), gpus,
                                                   side->count > 0 ? submit_s - side->submit_s[side->count - 1] : 0};
    MEM_GROW(side->submit_s, side->capacities[LIKENESS_SERIES_COUNT], side->count + 1);
    for (enum likeness_series s = 0; s < LIKENESS_SERIES_COUNT; s++) {
        MEM_GROW(side->values[s], side->capacities[s], side->count + 1);
        if (s != LIKENESS_GAP)
            side->values[s][side->count] = numbers[s];
        else if (side->count > 0)
            side->values[s][side->count - 1] = numbers[s];
    }
    side->submit_s[side->count++] = submit_s;
    side->by_outcome[truth->outcome]++;
    side->gpu_s += numbers[LIKENESS_RUN_TIME] * gpus;
}

static void side_release(struct likeness_side *side)
{
    mem_free(side->submit_s);
    for (enum likeness_series s = 0; s < LIKENESS_SERIES_COUNT; s++) {
        mem_free(side->values[s]);
        mem_free(side->sorted[s]);
    }
    *side = (struct likeness_side){0};
}

static struct error read_all(struct likeness_side *side, struct job_source *source)
{
    struct job job;
    struct job_truth truth;
    bool has;
    while (true) {
        TRY(job_source_next(source, &job, &truth, &has));
        if (!has)
            break;
        take(side, &job, &truth);
    }
    if (side->count < 2)
        return error_new(ERROR_DATA, "%s has fewer than two jobs, which cannot be compared", side->name);
    return ERROR_OK;
}

struct error likeness_side_read(struct likeness_side *side, const char *name, struct job_source *source)
{
    *side = (struct likeness_side){.name = name};
    struct error error = read_all(side, source);
    if (error_is(error))
        side_release(side);
    return error;
}

void likeness_release(struct likeness *likeness)
{
    side_release(&likeness->sides[0]);
    side_release(&likeness->sides[1]);
}

static size_t series_count(const struct likeness_side *side, enum likeness_series series)
{
    return side->count - (series == LIKENESS_GAP);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void side_sort(struct likeness_side *side)
{
    for (enum likeness_series s = 0; s < LIKENESS_SERIES_COUNT; s++) {
        const size_t count = series_count(side, s);
        side->sorted[s] = mem_zalloc(count, sizeof *side->sorted[s]);
        memcpy(side->sorted[s], side->values[s], count * sizeof *side->sorted[s]);
        qsort(side->sorted[s], count, sizeof *side->sorted[s], ascending);
    }
}

/* ---- Rows ---- */

static struct likeness_row *row(struct likeness *likeness, const char *group, const char *name, double a, double b)
{
    assert(likeness->row_count < LIKENESS_ROWS_MAX);
    likeness->rows[likeness->row_count] = (struct likeness_row){.group = group, .name = name, .value = {a, b}};
    return &likeness->rows[likeness->row_count++];
}

static double span_days(const struct likeness_side *side)
{
    return (side->submit_s[side->count - 1] - side->submit_s[0]) / S_PER_DAY;
}

static double per_day(const struct likeness_side *side, double amount)
{
    return span_days(side) > 0 ? amount / span_days(side) : NAN;
}

static void rows_of_amounts(struct likeness *likeness)
{
    const struct likeness_side *a = &likeness->sides[0], *b = &likeness->sides[1];
    row(likeness, "trace", "jobs", (double)a->count, (double)b->count);
    row(likeness, "trace", "span_days", span_days(a), span_days(b));
    row(likeness, "trace", "jobs_per_day", per_day(a, (double)a->count), per_day(b, (double)b->count))->is_key = true;
    row(likeness, "trace", "gpu_hours_per_day", per_day(a, a->gpu_s / 3600), per_day(b, b->gpu_s / 3600));
}

static double rank_of(const struct likeness_side *side, enum likeness_series series, double part)
{
    const size_t count = series_count(side, series);
    const size_t rank = (size_t)ceil(part * (double)count);
    return side->sorted[series][rank > 0 ? rank - 1 : 0];
}

static void rows_of_series(struct likeness *likeness, enum likeness_series series)
{
    static const struct {
        const char *name;
        double part;
    } ranks[] = {{"p10", 0.1}, {"median", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"max", 1}};
    const struct likeness_side *sides = likeness->sides;
    const char *group = likeness_series_names[series];
    double mean[2];
    for (int i = 0; i < 2; i++)
        mean[i] = gsl_stats_mean(sides[i].values[series], 1, series_count(&sides[i], series));
    row(likeness, group, "mean", mean[0], mean[1])->is_key = series != LIKENESS_GAP;
    for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++)
        row(likeness, group, ranks[r].name, rank_of(&sides[0], series, ranks[r].part),
            rank_of(&sides[1], series, ranks[r].part))
            ->is_key = r == 1 && series != LIKENESS_GAP;
    likeness->tests[series].ks = two_samples_ks(sides[0].sorted[series], series_count(&sides[0], series),
                                                sides[1].sorted[series], series_count(&sides[1], series));
    likeness->tests[series].ks_p =
        two_samples_ks_p(likeness->tests[series].ks, series_count(&sides[0], series), series_count(&sides[1], series));
    likeness->tests[series].ad = two_samples_ad(sides[0].sorted[series], series_count(&sides[0], series),
                                                sides[1].sorted[series], series_count(&sides[1], series));
    likeness->tests[series].ad_p = two_samples_ad_p(likeness->tests[series].ad);
}

static double gap_cv(const struct likeness_side *side)
{
    const size_t count = side->count - 1;
    const double mean = gsl_stats_mean(side->values[LIKENESS_GAP], 1, count);
    return mean > 0 && count > 1 ? gsl_stats_sd_m(side->values[LIKENESS_GAP], 1, count, mean) / mean : NAN;
}

static void rows_of_bursts(struct likeness *likeness)
{
    static const struct {
        const char *name;
        double window_s;
    } windows[] = {{"dispersion_1min", 60}, {"dispersion_1h", 3600}, {"dispersion_1d", S_PER_DAY}};
    const struct likeness_side *a = &likeness->sides[0], *b = &likeness->sides[1];
    const double cv[2] = {gap_cv(a), gap_cv(b)};
    row(likeness, "bursts", "gap_cv", cv[0], cv[1]);
    row(likeness, "bursts", "burstiness", sequence_burstiness(cv[0]), sequence_burstiness(cv[1]))->is_burst = true;
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
        row(likeness, "bursts", windows[w].name, sequence_dispersion(a->submit_s, a->count, windows[w].window_s),
            sequence_dispersion(b->submit_s, b->count, windows[w].window_s));
}

/* Logarithms of run times and gaps, so that a few long ones do not decide; 1 is added: they may be 0. */
static double correlation(const struct likeness_side *side, enum likeness_series series, size_t lag)
{
    const size_t count = series_count(side, series);
    double *values = mem_zalloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = series == LIKENESS_GPUS ? side->values[series][i] : log1p(side->values[series][i]);
    const double is = sequence_correlation(values, count, lag);
    mem_free(values);
    return is;
}

static void rows_of_correlation(struct likeness *likeness)
{
    static const char *const groups[] = {"correlation_of_log_run_times", "correlation_of_gpus",
                                         "correlation_of_log_gaps"};
    static const struct {
        const char *name;
        size_t lag;
    } lags[] = {{"lag_1", 1}, {"lag_2", 2}, {"lag_5", 5}, {"lag_10", 10}, {"lag_50", 50}};
    for (enum likeness_series s = 0; s < LIKENESS_SERIES_COUNT; s++)
        for (size_t i = 0; i < sizeof lags / sizeof *lags; i++)
            row(likeness, groups[s], lags[i].name, correlation(&likeness->sides[0], s, lags[i].lag),
                correlation(&likeness->sides[1], s, lags[i].lag));
}

static void rows_of_outcomes(struct likeness *likeness)
{
    const struct likeness_side *a = &likeness->sides[0], *b = &likeness->sides[1];
    for (int o = 0; o < OUTCOME_COUNT; o++)
        row(likeness, "share_of_jobs", job_outcome_names[o], (double)a->by_outcome[o] / (double)a->count,
            (double)b->by_outcome[o] / (double)b->count);
}

void likeness_judge(struct likeness *likeness)
{
    likeness->row_count = 0;
    for (int i = 0; i < 2; i++)
        side_sort(&likeness->sides[i]);
    rows_of_amounts(likeness);
    for (enum likeness_series s = 0; s < LIKENESS_SERIES_COUNT; s++)
        rows_of_series(likeness, s);
    rows_of_bursts(likeness);
    rows_of_correlation(likeness);
    rows_of_outcomes(likeness);
}

bool likeness_row_is_within(const struct likeness_row *row, double part)
{
    const double most = row->is_burst ? 2 * part : part;
    return (!row->is_key && !row->is_burst) || fabs(row->value[1] - row->value[0]) <= most * fabs(row->value[0]);
}

bool likeness_is_within(const struct likeness *likeness, double part)
{
    for (size_t r = 0; r < likeness->row_count; r++)
        if (!likeness_row_is_within(&likeness->rows[r], part))
            return false;
    return true;
}
