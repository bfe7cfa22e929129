/* studies/sizing/sizing_show.c -- a plan: the answer, its levels, what was tried, the curve of each level. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/view.h"
#include "studies/sizing/sizing_assumed.h"
#include "studies/sizing/sizing_growth.h"
#include "studies/sizing/sizing_show_inside.h"

enum { MODEL_NAME_MAX = 24 };

/* ---- The answer ---- */

/* A batch has a makespan in place of a load. */
static bool write_makespan(const struct sizing_answer *answer, const struct sizing_point *at, struct buffer *out)
{
    const struct metric_selector makespan = {.metric = "makespan_s"}, bound = {.metric = "makespan_bound_s"};
    if (!isfinite(sizing_point_mean(at, &bound)))
        return false;
    buffer_format(out, "A batch; makespan at %.12g: ", answer->number);
    view_words(out, "%E, at least %E.", sizing_point_mean(at, &makespan), sizing_point_mean(at, &bound));
    return true;
}

static bool write_load(const struct sizing_answer *answer, struct buffer *out)
{
    const struct sizing_point *at = sizing_answer_point(answer);
    const struct metric_selector all = {.metric = "offered_load_ratio"};
    if (at == NULL || !isfinite(sizing_point_mean(at, &all)))
        return at != NULL && write_makespan(answer, at, out);
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

/* "The cluster then costs 388 USD/h, 60 less than with 20." */
static bool write_cost(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out)
{
    const struct sizing_point *at = sizing_answer_point(answer), *now = NULL;
    const double usd = at != NULL ? sizing_point_usd_per_h(at) : NAN;
    if (!isfinite(usd))
        return false;
    for (size_t p = 0; p < answer->point_count; p++)
        if (answer->points[p].number == sizing->options->question.start && answer->points[p].run_count > 0)
            now = &answer->points[p];
    buffer_string(out, "The cluster then costs ");
    view_amount(out, usd);
    buffer_string(out, " USD/h");
    const double less = now != NULL ? sizing_point_usd_per_h(now) - usd : 0;
    if (isfinite(less) && less != 0) {
        buffer_string(out, ", ");
        view_amount(out, fabs(less));
        buffer_format(out, " %s than with the %.12g of the scenario", less > 0 ? "less" : "more", now->number);
    }
    buffer_char(out, '.');
    return true;
}

/* ---- The levels at the answer ---- */

static void add_amount(struct show *show, const struct gate *gate, double value)
{
    show_metric(show, gate->of.metric, gate->unit, value);
}

static void add_mean(struct show *show, const struct sizing_judgement *judgement)
{
    const struct gate *gate = judgement->gate;
    const struct gate_result *result = &judgement->result;
    add_amount(show, gate, result->candidate);
    if (!isfinite(result->low) || !isfinite(result->high) || result->low == result->high)
        return;
    struct buffer *below = show_below(show);
    buffer_char(below, '(');
    view_metric(below, gate->of.metric, gate->unit, result->low);
    buffer_string(below, " to ");
    view_metric(below, gate->of.metric, gate->unit, result->high);
    buffer_char(below, ')');
}

static void add_name(struct show *show, const struct gate *gate, void (*add)(struct show *show, const char *name))
{
    struct buffer name = {0};
    metric_selector_write(&gate->of, &name);
    add(show, buffer_c_string(&name));
    buffer_release(&name);
}

static void add_at(struct show *show, const struct sizing_point *point)
{
    struct buffer head = {0};
    buffer_format(&head, "at %.12g", point->number);
    show_column(show, buffer_c_string(&head));
    buffer_release(&head);
}

static void add_levels(struct show *show, const struct sizing *sizing, const struct sizing_answer *answer)
{
    const struct sizing_point *at = sizing_answer_point(answer), *past = sizing_past_point(sizing, answer);
    show_section(show, "Service levels at the answer");
    show_table(show, "Service level", "bound", NULL);
    add_at(show, at);
    if (past != NULL)
        add_at(show, past);
    if (at->has_replay)
        show_column(show, "this replay");
    for (size_t g = 0; g < sizing->gates.count; g++) {
        const struct gate *gate = &sizing->gates.gates[g];
        add_name(show, gate, show_row);
        struct buffer *bound = show_cell(show);
        buffer_string(bound, gate->bound == GATE_MAX ? "at most " : "at least ");
        view_metric(bound, gate->of.metric, gate->unit, gate->amount);
        add_mean(show, &at->judgements[g]);
        if (past != NULL)
            add_mean(show, &past->judgements[g]);
        if (at->has_replay)
            add_amount(show, gate, values_number(&at->replay.values, &gate->of));
    }
    if (at->has_replay)
        buffer_format(
            show_line(show, SHOW_NOTE),
            "A replay is one of many that could have been. The means are of it shaken with %zu seeds, arrivals "
            "by up to a minute and run times by a percent; beside them is the replay as it is, at %.12g.",
            at->run_count, at->number);
}

/* ---- What was tried ---- */

static void add_points(struct show *show, const struct sizing *sizing, const struct sizing_answer *answer)
{
    static const struct metric_selector shares[] = {
        {.metric = "useful_ratio"}, {.metric = "allocation_ratio"}, {.metric = "sm_active_ratio"}};
    const struct sizing_point **points = sizing_points_new(answer);
    const char *dot = strrchr(sizing->options->question.path, '.');
    struct buffer title = {0};
    buffer_string(&title, "What was tried: ");
    sizing_write_sought(&sizing->options->question, &title);
    show_section(show, buffer_c_string(&title));
    buffer_release(&title);
    show_table(show, dot != NULL ? dot + 1 : sizing->options->question.path, "runs", NULL);
    for (size_t g = 0; g < sizing->gates.count; g++)
        add_name(show, &sizing->gates.gates[g], show_column);
    show_column(show, "useful");
    show_column(show, "allocated");
    show_column(show, "SM-active");
    show_column(show, "USD/h");
    show_column(show, "levels");
    for (size_t p = 0; p < answer->point_count; p++) {
        const struct sizing_point *point = points[p];
        struct buffer name = {0};
        if (point->run_count == 0)
            continue;
        buffer_format(&name, "%.12g", point->number);
        show_row(show, buffer_c_string(&name));
        buffer_release(&name);
        show_value(show, view_count, (double)point->run_count);
        for (size_t g = 0; g < sizing->gates.count; g++)
            add_amount(show, &sizing->gates.gates[g], point->judgements[g].result.candidate);
        for (size_t s = 0; s < sizeof shares / sizeof *shares; s++)
            show_value(show, view_percent, sizing_point_mean(point, &shares[s]));
        show_value(show, view_amount, sizing_point_usd_per_h(point));
        sizing_write_verdict(point, show_cell(show));
    }
    if (answer->run_count > 0)
        sizing_write_assumption(sizing, answer, show_line(show, SHOW_NOTE));
    mem_free(points);
}

/* ---- A case ---- */

/* Rejected jobs have no queue time, so that a cluster that is too small for them would look good. */
static void warn_of_rejected(struct show *show, const struct sizing_answer *answer)
{
    const struct metric_selector rejected = {.metric = "jobs_rejected"};
    const struct sizing_point *at = sizing_answer_point(answer);
    const double count = at != NULL ? sizing_point_mean(at, &rejected) : 0;
    if (!(count > 0))
        return;
    view_words(show_line(show, SHOW_WARNING),
               "Note: %a jobs of a run are rejected there, and no queue time is counted for them. With --level "
               "'jobs_rejected<=0' only numbers at which none is would do.",
               count);
}

static void add_runs(struct show *show, const struct sizing *sizing, const struct sizing_answer *answer,
                     const char *command)
{
    const struct sizing_point *at = sizing_answer_point(answer);
    show_section(show, "");
    warn_of_rejected(show, answer);
    buffer_format(show_line(show, SHOW_PLAIN), "%zu runs, of at most %zu.%s", answer->run_count,
                  sizing->options->trials_max, at != NULL ? " One of them again:" : "");
    if (at == NULL)
        return;
    struct buffer *out = show_line(show, SHOW_CODE);
    buffer_string(out, command);
    for (size_t s = 0; s < SIZING_SETS_MAX && answer->of->sets[s] != NULL; s++)
        buffer_format(out, " --set '%s'", answer->of->sets[s]);
    buffer_string(out, " --set ");
    sizing_write_setting(&sizing->options->question, at->number, out);
    buffer_format(out, " --seed %llu", (unsigned long long)at->runs[0].seed);
}

static void add_case(struct show *show, const struct sizing *sizing, const struct sizing_answer *answer,
                     const char *command)
{
    struct buffer load = {0}, reversals = {0}, cost = {0};
    if (sizing->options->case_count > 1)
        show_part(show, answer->of->name);
    else
        show_section(show, "");
    sizing_write_answer(sizing, answer, show_line(show, SHOW_LEAD));
    if (write_cost(sizing, answer, &cost))
        buffer_text(show_line(show, SHOW_LEAD), (struct text){cost.bytes, cost.length});
    buffer_release(&cost);
    if (write_load(answer, &load))
        buffer_text(show_line(show, SHOW_LEAD), (struct text){load.bytes, load.length});
    buffer_release(&load);
    if (sizing->options->case_count == 1)
        sizing_assumed_show(show, sizing);
    if (sizing_write_reversals(sizing, answer, &reversals))
        buffer_text(show_line(show, SHOW_WARNING), (struct text){reversals.bytes, reversals.length});
    buffer_release(&reversals);
    if (answer->is_found)
        add_levels(show, sizing, answer);
    add_points(show, sizing, answer);
    show_on(show, SHOW_PAGE);
    for (size_t g = 0; g < sizing->gates.count && answer->point_count > 0; g++)
        sizing_add_curve(show, sizing, answer, g);
    show_on(show, SHOW_ALL);
    add_runs(show, sizing, answer, command);
}

/* ---- All cases ---- */

static void add_bound(struct show *show, bool is_known, double number)
{
    if (is_known)
        buffer_format(show_cell(show), "%.12g", number);
    else
        view_amount(show_cell(show), NAN);
    show_number(show, is_known ? number : NAN);
}

static void add_cases(struct show *show, const struct sizing *sizing)
{
    const bool least = sizing_is_least(sizing);
    show_section(show, "Cases");
    show_table(show, "case", least ? "least" : "largest", least ? "needed" : "carried", least ? "enough" : "at most",
               "USD/h", "runs", "sure?", NULL);
    for (size_t a = 0; a < sizing->answer_count; a++) {
        const struct sizing_answer *answer = &sizing->answers[a];
        const struct sizing_point *at = sizing_answer_point(answer);
        show_row(show, answer->of->name);
        add_bound(show, answer->is_found, answer->number);
        add_bound(show, least ? answer->has_limit : answer->has_enough, least ? answer->limit : answer->enough);
        add_bound(show, least ? answer->has_enough : answer->has_limit, least ? answer->enough : answer->limit);
        show_value(show, view_amount, at != NULL ? sizing_point_usd_per_h(at) : NAN);
        show_value(show, view_count, (double)answer->run_count);
        buffer_string(show_cell(show), answer->is_exact ? "one run" : answer->is_sure ? "sure" : "not sure");
    }
}

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

/* The paths of --tornado, what moves the answer most first; nothing if none is varied. */
static void add_swings(struct show *show, const struct sizing *sizing)
{
    struct swing swings[SIZING_CASES_MAX];
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
    show_section(show, "What moves the answer");
    show_table(show, "setting", "from", "to", "answer", "answer", "moved", NULL);
    for (size_t s = 0; s < count; s++) {
        const struct sizing_answer *low = swings[s].low, *high = swings[s].high;
        show_row(show, low->of->varied);
        buffer_string(show_cell(show), strchr(low->of->sets[0], '=') + 1);
        buffer_string(show_cell(show), strchr(high->of->sets[0], '=') + 1);
        add_bound(show, low->is_found, low->number);
        add_bound(show, high->is_found, high->number);
        if (isfinite(swings[s].size))
            add_bound(show, true, swings[s].size);
        else
            buffer_string(show_cell(show), "no answer");
    }
}

struct show *sizing_show_new(const struct sizing *sizing, const char *title, const char *command)
{
    struct buffer own = {0};
    buffer_string(&own, "Plan: ");
    sizing_write_sought(&sizing->options->question, &own);
    struct show *show = show_new(title != NULL ? title : buffer_c_string(&own));
    buffer_release(&own);
    if (sizing->is_partial)
        buffer_string(show_line(show, SHOW_WARNING), "Partial: the plan was stopped.");
    sizing_growth_show(show, sizing);
    add_swings(show, sizing);
    if (sizing->options->case_count > 1) {
        add_cases(show, sizing);
        sizing_assumed_show(show, sizing);
    }
    for (size_t a = 0; a < sizing->answer_count; a++)
        add_case(show, sizing, &sizing->answers[a], command);
    show_on(show, SHOW_PAGE);
    show_section(show, "");
    buffer_format(show_line(show, SHOW_NOTE), "Windtunnel %s.", sizing->options->version);
    return show;
}
