/* studies/sizing/sizing_json.c -- a plan as one JSON object. */
#include <math.h>

#include "studies/sizing/sizing_assumed.h"
#include "studies/sizing/sizing_growth.h"
#include "studies/sizing/sizing_show.h"

static double known(bool is_known, double number)
{
    return is_known ? number : NAN;
}

static void write_level(const struct sizing_judgement *judgement, const struct sizing_point *point, struct buffer *out)
{
    const struct gate_test test = {.gate = judgement->gate};
    gate_write_json(&test, &judgement->result, out);
    out->length--; /* the object goes on */
    buffer_string(out, ", \"values\": [");
    for (size_t r = 0; r < point->run_count; r++) {
        const struct sizing_point one = {.runs = &point->runs[r], .run_count = 1};
        buffer_members(out, ", %g", sizing_point_mean(&one, &judgement->gate->of));
    }
    buffer_members(out, "], 'fit': %g, 'fit_low': %g, 'fit_high': %g", judgement->fit, judgement->fit_low,
                   judgement->fit_high);
    if (point->has_replay)
        buffer_members(out, ", 'replay': %g", values_number(&point->replay.values, &judgement->gate->of));
    buffer_char(out, '}');
}

static void write_reversals(const struct sizing_answer *answer, struct buffer *out)
{
    buffer_members(out, ", 'is_gapped': %hhd, 'beyond': %g, 'reversals': [", answer->is_gapped,
                   known(answer->has_beyond, answer->beyond));
    for (size_t r = 0; r < answer->reversal_count; r++) {
        const struct sizing_reversal *reversal = &answer->reversals[r];
        struct buffer level = {0};
        metric_selector_write(&reversal->gate->of, &level);
        buffer_members(out, ", {'level': %s, 'from': %g, 'to': %g, 'worse': %g, 'low': %g, 'high': %g}",
                       buffer_c_string(&level), reversal->from, reversal->to, reversal->worse, reversal->low,
                       reversal->high);
        buffer_release(&level);
    }
    buffer_string(out, "]");
}

static void write_point(const struct sizing *sizing, const struct sizing_point *point, struct buffer *out)
{
    static const char *const metrics[] = {"allocation_ratio",   "sm_active_ratio", "goodput_ratio", "useful_ratio",
                                          "offered_load_ratio", "makespan_s",      "jobs_rejected"};
    buffer_members(out, "'number': %g, 'meets': ", point->number);
    buffer_string(out, !point->is_sure ? "null" : point->holds ? "true" : "false");
    buffer_members(out, ", 'mean_meets': %hhd, 'is_sure': %hhd, 'seeds_met': %zu, 'seeds': [", point->holds,
                   point->is_sure, point->met_count);
    for (size_t r = 0; r < point->run_count; r++)
        buffer_format(out, "%s%llu", r > 0 ? ", " : "", (unsigned long long)point->runs[r].seed);
    buffer_string(out, "]");
    for (size_t m = 0; m < sizeof metrics / sizeof *metrics; m++) {
        const struct metric_selector of = {.metric = metrics[m]};
        buffer_members(out, ", %s: %g", metrics[m], sizing_point_mean(point, &of));
    }
    buffer_members(out, ", 'gpus': %g, 'usd_per_h': %g,\n     'levels': [",
                   (double)point->runs[0].values.result.facts.gpu_count, sizing_point_usd_per_h(point));
    for (size_t g = 0; g < sizing->gates.count; g++) {
        buffer_string(out, g > 0 ? ",\n       " : "\n       ");
        write_level(&point->judgements[g], point, out);
    }
    buffer_string(out, "]");
}

static void write_answer(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out)
{
    const struct sizing_point **points = sizing_points_new(answer);
    const bool is_least = sizing->options->question.aim == SIZING_SMALLEST;
    buffer_members(out, "  {'case': %s, 'sets': [", answer->of->name);
    for (size_t s = 0; s < SIZING_SETS_MAX && answer->of->sets[s] != NULL; s++)
        buffer_members(out, ", %s", answer->of->sets[s]);
    buffer_string(out, "],");
    if (answer->of->assumption != NULL)
        buffer_members(out, "\n   'assumption': %s,", answer->of->assumption);
    buffer_members(out, "\n   'answer': %g, 'is_sure': %hhd, 'is_exact': %hhd, ",
                   known(answer->is_found, answer->number), answer->is_sure, answer->is_exact);
    buffer_members(out, is_least ? "'needed': %g, 'enough': %g" : "'at_most': %g, 'carried': %g",
                   known(answer->has_limit && !answer->is_gapped, answer->limit),
                   known(answer->has_enough, answer->enough));
    write_reversals(answer, out);
    buffer_format(out, ", \"runs\": %zu,\n   \"points\": [", answer->run_count);
    const char *separator = "\n    {";
    for (size_t p = 0; p < answer->point_count; p++) {
        if (points[p]->run_count == 0)
            continue;
        buffer_string(out, separator);
        write_point(sizing, points[p], out);
        buffer_char(out, '}');
        separator = ",\n    {";
    }
    buffer_string(out, "]}");
    mem_free(points);
}

void sizing_json(const struct sizing *sizing, struct buffer *out)
{
    const struct sizing_question *question = &sizing->options->question;
    buffer_members(out,
                   "{'path': %s, 'aim': %s, 'low': %g, 'high': %g, 'step': %g, 'confidence': %g, 'is_partial': "
                   "%hhd,\n 'assumed': ",
                   question->path, question->aim == SIZING_SMALLEST ? "smallest" : "largest", question->low,
                   question->high, question->step, 1 - sizing->options->alpha, sizing->is_partial);
    struct assumed_list assumed;
    sizing_assumed(sizing, &assumed);
    assumed_json(&assumed, out);
    buffer_string(out, ",\n \"growth\": ");
    sizing_growth_json(sizing, out);
    buffer_members(out, ",\n 'cases': [\n");
    for (size_t a = 0; a < sizing->answer_count; a++) {
        buffer_string(out, a > 0 ? ",\n" : "");
        write_answer(sizing, &sizing->answers[a], out);
    }
    buffer_string(out, "]}\n");
}
