#include "studies/sweep_report/sweep_report.h"

#include <math.h>
#include <string.h>

/* ---- the choice ---- */

static const char *const usual[] = {"queue_time_p95_s", "allocation_ratio", "goodput_ratio", "cost_usd", NULL};

static struct error find_column(const struct sweep_results *results, const char *name, size_t *column)
{
    struct text rest = text_of(name), metric, cut = TEXT("");
    char words[3][256] = {"", "", ""};
    struct metric_selector of = {.metric = words[0]};
    text_cut(&rest, ':', &metric);
    if (rest.at != NULL) {
        text_cut(&rest, '=', &cut);
        of.cut = words[1];
        of.key = words[2];
    }
    if (metric.length > 255 || cut.length > 255 || rest.length > 255 || (of.cut != NULL && rest.at == NULL))
        return error_new(ERROR_USAGE, "a metric is NAME or NAME:CUT=KEY, got '%s'", name);
    memcpy(words[0], metric.at, metric.length);
    memcpy(words[1], cut.at, cut.length);
    if (rest.at != NULL)
        memcpy(words[2], rest.at, rest.length);
    *column = sweep_results_column(results, &of);
    if (*column != SWEEP_NO_COLUMN)
        return ERROR_OK;
    struct error error = error_new(ERROR_USAGE, "no run has the metric '%s'", name);
    error_set_hint(&error, "`windtunnel metrics` lists them; NAME:CUT=KEY is that of a part, such as %s",
                   "queue_time_p95_s:class=training");
    return error;
}

static bool is_numeric(const struct sweep_factor *factor)
{
    for (size_t l = 0; l < factor->level_count; l++)
        if (!factor->levels[l].is_number)
            return false;
    return factor->level_count > 1;
}

static struct error choose_x(struct sweep_report *report, const char *x)
{
    const struct sweep_plan *plan = &report->results->plan;
    report->x = SIZE_MAX;
    for (size_t f = 0; f < plan->factor_count; f++)
        if (is_numeric(&plan->factors[f]) && (x == NULL || strcmp(x, plan->factors[f].name) == 0) &&
            (report->x == SIZE_MAX || plan->factors[f].level_count > plan->factors[report->x].level_count))
            report->x = f;
    if (x != NULL && report->x == SIZE_MAX)
        return error_new(ERROR_USAGE, "the sweep has no factor '%s' whose levels are several numbers", x);
    return ERROR_OK;
}

/* Cost, or else use, against queue time. */
static void choose_front(struct sweep_report *report)
{
    const struct metric_selector cost = {.metric = "cost_usd"}, use = {.metric = "allocation_ratio"},
                                 wait = {.metric = "queue_time_p95_s"};
    report->front[0] = sweep_results_column(report->results, &cost);
    if (report->front[0] == SWEEP_NO_COLUMN)
        report->front[0] = sweep_results_column(report->results, &use);
    report->front[1] = sweep_results_column(report->results, &wait);
}

struct error sweep_report_choose(struct sweep_report *report, const struct sweep_results *results,
                                 const char *const *metrics, size_t metric_count, const char *x)
{
    *report = (struct sweep_report){.results = results};
    if (metric_count > SWEEP_REPORT_METRICS_MAX)
        return error_new(ERROR_USAGE, "a report has at most %d metrics", SWEEP_REPORT_METRICS_MAX);
    for (size_t m = 0; m < metric_count; m++)
        TRY(find_column(results, metrics[m], &report->columns[report->column_count++]));
    for (size_t m = 0; metric_count == 0 && usual[m] != NULL; m++) {
        const struct metric_selector of = {.metric = usual[m]};
        const size_t column = sweep_results_column(results, &of);
        if (column != SWEEP_NO_COLUMN)
            report->columns[report->column_count++] = column;
    }
    choose_front(report);
    return choose_x(report, x);
}

/* ---- the best ---- */

size_t sweep_report_best(const struct sweep_report *report, size_t column)
{
    const enum better better = report->results->columns[column].metric->better;
    size_t best = SIZE_MAX;
    double best_mean = NAN;
    bool differs = false;
    for (size_t c = 0; c < report->results->plan.combination_count && better != BETTER_NEITHER; c++) {
        const double mean = sweep_combination_mean(report->results, column, c);
        differs = differs || (!isnan(mean) && best != SIZE_MAX && mean != best_mean);
        if (!isnan(mean) && (best == SIZE_MAX || (better == BETTER_LOWER ? mean < best_mean : mean > best_mean))) {
            best = c;
            best_mean = mean;
        }
    }
    return differs ? best : SIZE_MAX;
}
