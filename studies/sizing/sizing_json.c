/* studies/sizing/sizing_json.c -- a plan as one JSON object. */
#include <math.h>

#include "studies/sizing/sizing_show.h"

static void write_number(const char *key, bool is_known, double number, struct buffer *out)
{
    buffer_format(out, "\"%s\": ", key);
    if (is_known && isfinite(number))
        buffer_double(out, number);
    else
        buffer_string(out, "null");
}

static void write_bool(const char *key, bool value, struct buffer *out)
{
    buffer_format(out, "\"%s\": %s", key, value ? "true" : "false");
}

static void write_level(const struct sizing_judgement *judgement, const struct sizing_point *point, struct buffer *out)
{
    const struct gate_test test = {.gate = judgement->gate};
    gate_write_json(&test, &judgement->result, out);
    out->length--; /* the object goes on */
    buffer_string(out, ", \"values\": [");
    for (size_t r = 0; r < point->run_count; r++) {
        const struct sizing_point one = {.runs = &point->runs[r], .run_count = 1};
        const double value = sizing_point_mean(&one, &judgement->gate->of);
        buffer_string(out, r > 0 ? ", " : "");
        if (isfinite(value))
            buffer_double(out, value);
        else
            buffer_string(out, "null");
    }
    buffer_string(out, "]}");
}

static void write_point(const struct sizing *sizing, const struct sizing_point *point, struct buffer *out)
{
    static const char *const metrics[] = {"allocation_ratio", "sm_active_ratio", "goodput_ratio", "useful_ratio",
                                          "jobs_rejected"};
    write_number("number", true, point->number, out);
    buffer_string(out, ", ");
    write_bool("meets", point->holds, out);
    buffer_string(out, ", ");
    write_bool("is_sure", point->is_sure, out);
    buffer_string(out, ", \"seeds\": [");
    for (size_t r = 0; r < point->run_count; r++)
        buffer_format(out, "%s%llu", r > 0 ? ", " : "", (unsigned long long)point->runs[r].seed);
    buffer_string(out, "]");
    for (size_t m = 0; m < sizeof metrics / sizeof *metrics; m++) {
        const struct metric_selector of = {.metric = metrics[m]};
        buffer_string(out, ", ");
        write_number(metrics[m], true, sizing_point_mean(point, &of), out);
    }
    buffer_string(out, ", ");
    write_number("gpus", true, (double)point->runs[0].values.result.facts.gpu_count, out);
    buffer_string(out, ", ");
    write_number("usd_per_h", true, sizing_point_usd_per_h(point), out);
    buffer_string(out, ",\n     \"levels\": [");
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
    buffer_string(out, "  {\"case\": ");
    buffer_json(out, text_of(answer->of->name));
    buffer_string(out, ", \"sets\": [");
    for (size_t s = 0; s < SIZING_SETS_MAX && answer->of->sets[s] != NULL; s++) {
        buffer_string(out, s > 0 ? ", " : "");
        buffer_json(out, text_of(answer->of->sets[s]));
    }
    buffer_string(out, "],\n   ");
    write_number("answer", answer->is_found, answer->number, out);
    buffer_string(out, ", ");
    write_bool("is_sure", answer->is_sure, out);
    buffer_string(out, ", ");
    write_bool("is_exact", answer->is_exact, out);
    buffer_string(out, ", ");
    write_number(is_least ? "needed" : "at_most", answer->has_limit, answer->limit, out);
    buffer_string(out, ", ");
    write_number(is_least ? "enough" : "carried", answer->has_enough, answer->enough, out);
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
    buffer_string(out, "{\"path\": ");
    buffer_json(out, text_of(question->path));
    buffer_format(out, ", \"aim\": \"%s\", ", question->aim == SIZING_SMALLEST ? "smallest" : "largest");
    write_number("low", true, question->low, out);
    buffer_string(out, ", ");
    write_number("high", true, question->high, out);
    buffer_string(out, ", ");
    write_number("step", true, question->step, out);
    buffer_string(out, ", ");
    write_number("confidence", true, 1 - sizing->options->alpha, out);
    buffer_string(out, ", ");
    write_bool("is_partial", sizing->is_partial, out);
    buffer_string(out, ",\n \"cases\": [\n");
    for (size_t a = 0; a < sizing->answer_count; a++) {
        buffer_string(out, a > 0 ? ",\n" : "");
        write_answer(sizing, &sizing->answers[a], out);
    }
    buffer_string(out, "]}\n");
}
