/* studies/sizing/sizing_text.c -- a plan in words and tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/grid.h"
#include "reports/view.h"
#include "studies/sizing/sizing_show.h"

enum { LEVELS_SHOWN = 3, NAME_WIDTH = 60, MODEL_NAME_MAX = 24 };

static const struct metric_selector shown[] = {{.metric = "allocation_ratio"}, {.metric = "sm_active_ratio"}};

/* ---- What both forms use ---- */

double sizing_point_usd_per_h(const struct sizing_point *point)
{
    const struct run_facts *facts = &point->runs[0].values.result.facts;
    return facts->price_usd_per_gpu_h > 0 ? facts->price_usd_per_gpu_h * (double)facts->gpu_count : NAN;
}

static int by_number(const void *a, const void *b)
{
    const double x = (*(const struct sizing_point *const *)a)->number;
    const double y = (*(const struct sizing_point *const *)b)->number;
    return x < y ? -1 : x > y;
}

const struct sizing_point **sizing_points_new(const struct sizing_answer *answer)
{
    const struct sizing_point **points = mem_zalloc(answer->point_count + 1, sizeof *points);
    for (size_t p = 0; p < answer->point_count; p++)
        points[p] = &answer->points[p];
    qsort(points, answer->point_count, sizeof *points, by_number);
    return points;
}

/* ---- The answer ---- */

static bool is_least(const struct sizing *sizing)
{
    return sizing->options->question.aim == SIZING_SMALLEST;
}

static void write_sure_range(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out)
{
    buffer_format(out, "Not sure to %g %%", 100 * (1 - sizing->options->alpha));
    if (answer->has_limit)
        buffer_format(out, is_least(sizing) ? ": at least %.12g are needed" : ": at most %.12g may do", answer->limit);
    if (answer->has_enough)
        buffer_format(out, is_least(sizing) ? "%s %.12g are enough" : "%s %.12g does", answer->has_limit ? "," : ":",
                      answer->enough);
    buffer_char(out, '.');
}

void sizing_write_answer(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out)
{
    const struct sizing_question *question = &sizing->options->question;
    const char *which = is_least(sizing) ? "least" : "largest";
    if (!answer->is_found) {
        if (answer->is_whole)
            buffer_format(out, "No %s from %.12g to %.12g meets the service levels%s.", question->path, question->low,
                          question->high, answer->is_sure ? "" : ", as far as the runs tell");
        else
            buffer_format(out, "The %s %s that meets the service levels was not found in %zu runs.", which,
                          question->path, answer->run_count);
        return;
    }
    if (!answer->is_whole) {
        buffer_format(out, "%s=%.12g meets the service levels. The %s that does was not found in %zu runs.",
                      question->path, answer->number, which, answer->run_count);
        return;
    }
    buffer_format(out, "The %s %s that meets the service levels is %.12g.", which, question->path, answer->number);
    const bool is_end = answer->number == (is_least(sizing) ? question->low : question->high);
    if (is_end)
        buffer_format(out, " It is the end of the range: a %s one may do too.",
                      is_least(sizing) ? "smaller" : "larger");
    buffer_char(out, ' ');
    if (answer->is_exact && sizing->options->seeds_max == 1)
        buffer_string(out, "It is that of one seed alone.");
    else if (answer->is_exact)
        buffer_string(out, "It is exact: nothing in these runs is left to chance.");
    else if (answer->is_sure)
        buffer_format(out, "Sure to %g %%.", 100 * (1 - sizing->options->alpha));
    else
        write_sure_range(sizing, answer, out);
}

bool sizing_write_load(const struct sizing_answer *answer, struct buffer *out)
{
    const struct sizing_point *at = sizing_answer_point(answer);
    const struct metric_selector all = {.metric = "offered_load_ratio"};
    if (at == NULL || !isfinite(sizing_point_mean(at, &all)))
        return false;
    buffer_format(out, "Offered load at %.12g: ", answer->number);
    view_percent(out, sizing_point_mean(at, &all));
    const char *before = "; ";
    const struct values *values = &at->runs[0].values;
    for (size_t i = 0; i < values->count; i++) {
        const struct metric_selector *of = &values->list[i].of;
        if (of->cut == NULL || strcmp(of->cut, METRICS_MODELS_ASKED) != 0 || strcmp(of->metric, all.metric) != 0)
            continue;
        buffer_string(out, before);
        view_percent(out, sizing_point_mean(at, of));
        if (strcmp(of->key, RECORD_ANY) == 0) {
            buffer_string(out, " of all GPUs by jobs that several models would do for");
        } else {
            buffer_string(out, " of the GPUs ");
            view_name(out, of->key, MODEL_NAME_MAX);
        }
        before = ", ";
    }
    buffer_char(out, '.');
    return true;
}

/* ---- The levels at the answer ---- */

static void write_value(const struct gate *gate, double value, struct buffer *out)
{
    view_metric(out, gate->of.metric, gate->unit, value);
}

static void write_mean(const struct sizing_judgement *judgement, struct buffer *out)
{
    const struct gate_result *result = &judgement->result;
    write_value(judgement->gate, result->candidate, out);
    if (!isfinite(result->low) || !isfinite(result->high) || result->low == result->high)
        return;
    buffer_string(out, " (");
    write_value(judgement->gate, result->low, out);
    buffer_string(out, " to ");
    write_value(judgement->gate, result->high, out);
    buffer_char(out, ')');
}

static void write_levels(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out)
{
    const struct sizing_point *at = sizing_answer_point(answer), *past = sizing_past_point(sizing, answer);
    struct buffer heads[2] = {{0}, {0}};
    struct grid grid = {0};
    buffer_format(&heads[0], "at %.12g", answer->number);
    if (past != NULL)
        buffer_format(&heads[1], "at %.12g", past->number);
    const char *const names[] = {"Service level", "", buffer_c_string(&heads[0]),
                                 past != NULL ? buffer_c_string(&heads[1]) : NULL, NULL};
    grid_head(&grid, names);
    for (size_t g = 0; g < sizing->gates.count; g++) {
        const struct gate *gate = &sizing->gates.gates[g];
        struct buffer name = {0};
        metric_selector_write(&gate->of, &name);
        grid_row(&grid, buffer_c_string(&name), NAME_WIDTH);
        buffer_string(grid_cell(&grid, 1), gate->bound == GATE_MAX ? "at most " : "at least ");
        write_value(gate, gate->amount, grid_cell(&grid, 1));
        write_mean(&at->judgements[g], grid_cell(&grid, 2));
        if (past != NULL)
            write_mean(&past->judgements[g], grid_cell(&grid, 3));
        buffer_release(&name);
    }
    buffer_char(out, '\n');
    grid_write(&grid, out);
    buffer_release(&heads[0]);
    buffer_release(&heads[1]);
}

/* ---- The curve ---- */

/* The last name of the path: "nodes". */
static const char *short_path(const char *path)
{
    const char *dot = path;
    for (const char *at = path; *at != '\0'; at++)
        if (*at == '.')
            dot = at + 1;
    return dot;
}

static void write_point(const struct sizing *sizing, const struct sizing_point *point, size_t level_count,
                        struct grid *grid)
{
    struct buffer name = {0};
    size_t column = 1;
    buffer_format(&name, "%.12g", point->number);
    grid_row(grid, buffer_c_string(&name), NAME_WIDTH);
    buffer_format(grid_cell(grid, column++), "%zu", point->run_count);
    for (size_t g = 0; g < level_count; g++)
        write_value(&sizing->gates.gates[g], point->judgements[g].result.candidate, grid_cell(grid, column++));
    for (size_t s = 0; s < sizeof shown / sizeof *shown; s++)
        view_percent(grid_cell(grid, column++), sizing_point_mean(point, &shown[s]));
    view_amount(grid_cell(grid, column++), sizing_point_usd_per_h(point));
    buffer_format(grid_cell(grid, column), "%s%s", point->holds ? "met" : "not met", point->is_sure ? ", sure" : "");
    buffer_release(&name);
}

static void write_curve(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out)
{
    const size_t level_count = sizing->gates.count < LEVELS_SHOWN ? sizing->gates.count : LEVELS_SHOWN;
    const struct sizing_point **points = sizing_points_new(answer);
    const char *heads[GRID_COLUMNS + 1] = {short_path(sizing->options->question.path), "runs"};
    struct buffer names[LEVELS_SHOWN] = {{0}};
    struct grid grid = {0};
    size_t column = 2;
    for (size_t g = 0; g < level_count; g++) {
        metric_selector_write(&sizing->gates.gates[g].of, &names[g]);
        heads[column++] = buffer_c_string(&names[g]);
    }
    heads[column++] = "allocated";
    heads[column++] = "SM-active";
    heads[column++] = "USD/h";
    heads[column] = "levels";
    grid_head(&grid, heads);
    for (size_t p = 0; p < answer->point_count; p++)
        if (points[p]->run_count > 0)
            write_point(sizing, points[p], level_count, &grid);
    buffer_char(out, '\n');
    grid_write(&grid, out);
    for (size_t g = 0; g < level_count; g++)
        buffer_release(&names[g]);
    mem_free(points);
}

/* ---- All of it ---- */

/* Rejected jobs have no queue time, so that a cluster that is too small for them would look good. */
static void warn_of_rejected(const struct sizing_answer *answer, struct buffer *out)
{
    const struct metric_selector rejected = {.metric = "jobs_rejected"};
    const struct sizing_point *at = sizing_answer_point(answer);
    const double count = at != NULL ? sizing_point_mean(at, &rejected) : 0;
    if (!(count > 0))
        return;
    buffer_string(out, "\nNote: ");
    view_amount(out, count);
    buffer_string(out, " jobs of a run are rejected there, and no queue time is counted for them. With --level\n"
                       "'jobs_rejected<=0' only numbers at which none is would do.\n");
}

static void write_runs(const struct sizing *sizing, const struct sizing_answer *answer, const char *command,
                       struct buffer *out)
{
    const struct sizing_point *at = sizing_answer_point(answer);
    buffer_format(out, "\n%zu runs, of at most %zu.", answer->run_count, sizing->options->trials_max);
    if (at != NULL) {
        buffer_format(out, " One of them again:\n  %s", command);
        for (size_t s = 0; s < SIZING_SETS_MAX && answer->of->sets[s] != NULL; s++)
            buffer_format(out, " --set '%s'", answer->of->sets[s]);
        buffer_string(out, " --set ");
        sizing_write_setting(&sizing->options->question, at->number, out);
        buffer_format(out, " --seed %llu", (unsigned long long)at->runs[0].seed);
    }
    buffer_char(out, '\n');
}

static void write_case(const struct sizing *sizing, const struct sizing_answer *answer, const char *command,
                       struct buffer *out)
{
    sizing_write_answer(sizing, answer, out);
    buffer_char(out, '\n');
    if (answer->is_found)
        write_levels(sizing, answer, out);
    struct buffer load = {0};
    if (sizing_write_load(answer, &load))
        buffer_format(out, "\n%s\n", buffer_c_string(&load));
    buffer_release(&load);
    write_curve(sizing, answer, out);
    warn_of_rejected(answer, out);
    write_runs(sizing, answer, command, out);
}

static void write_bound(bool is_known, double number, struct buffer *out)
{
    if (is_known)
        buffer_format(out, "%.12g", number);
    else
        view_amount(out, NAN);
}

static void write_cases(const struct sizing *sizing, struct buffer *out)
{
    static const char *const heads_least[] = {"Case", "least", "needed", "enough", "USD/h", "runs", "", NULL};
    static const char *const heads_largest[] = {"Case", "largest", "carried", "at most", "USD/h", "runs", "", NULL};
    struct grid grid = {0};
    grid_head(&grid, is_least(sizing) ? heads_least : heads_largest);
    for (size_t a = 0; a < sizing->answer_count; a++) {
        const struct sizing_answer *answer = &sizing->answers[a];
        const struct sizing_point *at = sizing_answer_point(answer);
        const bool least = is_least(sizing);
        grid_row(&grid, answer->of->name, NAME_WIDTH);
        write_bound(answer->is_found, answer->number, grid_cell(&grid, 1));
        write_bound(least ? answer->has_limit : answer->has_enough, least ? answer->limit : answer->enough,
                    grid_cell(&grid, 2));
        write_bound(least ? answer->has_enough : answer->has_limit, least ? answer->enough : answer->limit,
                    grid_cell(&grid, 3));
        view_amount(grid_cell(&grid, 4), at != NULL ? sizing_point_usd_per_h(at) : NAN);
        buffer_format(grid_cell(&grid, 5), "%zu", answer->run_count);
        buffer_string(grid_cell(&grid, 6), answer->is_exact ? "exact" : answer->is_sure ? "sure" : "not sure");
    }
    grid_write(&grid, out);
}

/* ---- What moves the answer ---- */

/* A path and the answers at both ends of what it may be. */
struct swing {
    const struct sizing_answer *low, *high;
    double size; /* INFINITY: one end has no answer */
};

static int by_swing(const void *a, const void *b)
{
    const double x = ((const struct swing *)a)->size, y = ((const struct swing *)b)->size;
    return x > y ? -1 : x < y;
}

static void write_swing(const struct swing *swing, struct grid *grid)
{
    grid_row(grid, swing->low->of->varied, NAME_WIDTH);
    buffer_string(grid_cell(grid, 1), strchr(swing->low->of->sets[0], '=') + 1);
    buffer_string(grid_cell(grid, 2), strchr(swing->high->of->sets[0], '=') + 1);
    write_bound(swing->low->is_found, swing->low->number, grid_cell(grid, 3));
    write_bound(swing->high->is_found, swing->high->number, grid_cell(grid, 4));
    if (isfinite(swing->size))
        buffer_format(grid_cell(grid, 5), "%.12g", swing->size);
    else
        buffer_string(grid_cell(grid, 5), "no answer");
}

/* The paths of --tornado, what moves the answer most first; nothing if none is varied. */
static void write_swings(const struct sizing *sizing, struct buffer *out)
{
    static const char *const heads[] = {"What moves the answer", "from", "to", "answer", "answer", "moved", NULL};
    struct swing swings[SIZING_CASES_MAX];
    struct grid grid = {0};
    size_t count = 0;
    for (size_t a = 0; a + 1 < sizing->answer_count; a++) {
        const struct sizing_answer *low = &sizing->answers[a], *high = &sizing->answers[a + 1];
        if (low->of->varied == NULL || high->of->varied != low->of->varied)
            continue;
        swings[count++] =
            (struct swing){low, high, low->is_found && high->is_found ? fabs(high->number - low->number) : INFINITY};
        a++;
    }
    if (count == 0)
        return;
    qsort(swings, count, sizeof *swings, by_swing);
    grid_head(&grid, heads);
    for (size_t s = 0; s < count; s++)
        write_swing(&swings[s], &grid);
    grid_write(&grid, out);
    buffer_char(out, '\n');
}

void sizing_text(const struct sizing *sizing, const char *command, struct buffer *out)
{
    if (sizing->is_partial)
        buffer_string(out, "Partial: the plan was stopped.\n");
    write_swings(sizing, out);
    if (sizing->options->case_count > 1) {
        write_cases(sizing, out);
        buffer_char(out, '\n');
    }
    for (size_t a = 0; a < sizing->answer_count; a++) {
        if (sizing->options->case_count > 1)
            buffer_format(out, "%s== %s\n\n", a > 0 ? "\n" : "", sizing->answers[a].of->name);
        write_case(sizing, &sizing->answers[a], command, out);
    }
}
