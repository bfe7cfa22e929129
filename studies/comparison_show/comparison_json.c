/* studies/comparison_show/comparison_json.c -- a comparison as JSON: everything there is. */
#include <math.h>

#include "studies/comparison_show/comparison_view.h"

enum { SCHEMA_VERSION = 1 };

static void write_text(const char *text, struct buffer *out)
{
    if (text == NULL)
        buffer_string(out, "null");
    else
        buffer_json(out, text_of(text));
}

static void pair_text(const char *key, const char *text, struct buffer *out)
{
    buffer_format(out, "\"%s\": ", key);
    write_text(text, out);
}

static void write_run(const struct comparison_run *run, uint64_t seed, struct buffer *out)
{
    static const char *const states[] = {"missing", "done", "failed"};
    buffer_format(out, "{\"seed\": %llu, \"state\": \"%s\"", (unsigned long long)seed, states[run->state]);
    if (run->state == COMPARISON_RUN_DONE) {
        buffer_string(out, ", ");
        pair_text("fingerprint", run->values.result.manifest.fingerprint, out);
        buffer_string(out, ", ");
        pair_text("arrivals", run->values.result.manifest.arrivals, out);
        buffer_string(out, ", ");
        pair_text("version", run->values.result.manifest.version, out);
    }
    if (run->state == COMPARISON_RUN_FAILED) {
        buffer_string(out, ", ");
        pair_text("failure", run->failure, out);
        buffer_string(out, ", ");
        pair_text("said", run->said, out);
    }
    buffer_char(out, '}');
}

/* "first_difference": null if there is none; absent if it was not sought */
static void write_first(const struct comparison_first *first, struct buffer *out)
{
    if (first->json != NULL)
        buffer_format(out, ", \"first_difference\": %s", first->json);
    if (first->unknown != NULL) {
        buffer_string(out, ", \"first_difference\": {");
        pair_text("unknown", first->unknown, out);
        buffer_char(out, '}');
    }
}

/* Of another program that makes the runs; else nothing. */
static void write_program(const struct rerun *rerun, struct buffer *out)
{
    if (rerun->program == NULL)
        return;
    buffer_string(out, ", \"program\": {");
    pair_text("path", rerun->program, out);
    buffer_string(out, ", ");
    pair_text("version", rerun->version, out);
    buffer_char(out, '}');
}

/* "one_long_run": absent if there are several seeds */
static void write_long(const struct comparison_long *one_run, struct buffer *out)
{
    if (!one_run->is_known && one_run->unknown == NULL)
        return;
    buffer_string(out, ", \"one_long_run\": {");
    if (!one_run->is_known) {
        pair_text("unknown", one_run->unknown, out);
    } else {
        buffer_string(out, "\"queue_time_difference_s\": ");
        steady_write_json(&one_run->all, out);
        buffer_string(out, ", \"by_class\": {");
        const char *before = "";
        for (int c = 0; c < JOB_CLASS_COUNT; c++) {
            if (one_run->by_class[c].count == 0)
                continue;
            buffer_format(out, "%s\"%s\": ", before, job_class_names[c]);
            steady_write_json(&one_run->by_class[c], out);
            before = ", ";
        }
        buffer_char(out, '}');
    }
    buffer_char(out, '}');
}

static void write_sides(const struct comparison *comparison, struct buffer *out)
{
    buffer_string(out, "\"sides\": [");
    for (size_t side = 0; side < comparison->side_count; side++) {
        buffer_string(out, side == 0 ? "\n  {" : ",\n  {");
        pair_text("name", comparison->sides[side].name, out);
        write_program(&comparison->sides[side].rerun, out);
        if (side > 0)
            write_first(&comparison->sides[side].first, out);
        write_long(&comparison->sides[side].one_run, out);
        buffer_string(out, ", \"runs\": [");
        for (size_t seed = 0; seed < comparison->seed_count; seed++) {
            buffer_string(out, seed == 0 ? "\n    " : ",\n    ");
            write_run(&comparison->sides[side].runs[seed], comparison->seeds[seed], out);
        }
        buffer_string(out, "]}");
    }
    buffer_char(out, ']');
}

static void write_gates(const struct comparison *comparison, struct buffer *out)
{
    buffer_string(out, "\"gates\": [");
    for (size_t i = 0; i < comparison->verdict_count; i++) {
        buffer_string(out, i == 0 ? "\n  " : ",\n  ");
        gate_write_json(&comparison->verdicts[i].test, &comparison->verdicts[i].result, out);
    }
    buffer_char(out, ']');
}

static void pair_number(const char *key, double value, struct buffer *out)
{
    buffer_format(out, ", \"%s\": ", key);
    buffer_double(out, value);
}

static void write_difference(const struct difference *difference, struct buffer *out)
{
    buffer_format(out, "{\"mark\": \"%c\", \"n\": %zu, \"missing\": %zu", difference->mark, difference->n,
                  difference->missing);
    pair_number("base", difference->base, out);
    pair_number("candidate", difference->candidate, out);
    pair_number("difference", difference->mean.mean, out);
    pair_number("relative", difference->relative, out);
    pair_number("size", difference->size, out);
    pair_number("low", difference->mean.low, out);
    pair_number("high", difference->mean.high, out);
    pair_number("level", difference->mean.level, out);
    pair_number("p", difference->mean.p, out);
    pair_number("p_rank", difference->p_rank, out);
    buffer_char(out, '}');
}

static void write_row(const struct comparison *comparison, size_t r, struct buffer *out)
{
    static const char *const better[] = {"lower", "higher", "neither"};
    const struct comparison_row *row = &comparison->rows[r];
    buffer_char(out, '{');
    pair_text("metric", row->of.metric, out);
    if (row->of.cut != NULL) {
        buffer_string(out, ", ");
        pair_text(row->of.cut, row->of.key, out);
    }
    buffer_format(out, ", \"unit\": \"%s\", \"better\": \"%s\", \"values\": [", row->metric->unit,
                  better[row->metric->better]);
    for (size_t side = 0; side < comparison->side_count; side++) {
        buffer_string(out, side == 0 ? "[" : ", [");
        for (size_t seed = 0; seed < comparison->seed_count; seed++) {
            buffer_string(out, seed == 0 ? "" : ", ");
            buffer_double(out, row->numbers[side * comparison->seed_count + seed]);
        }
        buffer_char(out, ']');
    }
    buffer_string(out, "], \"differences\": [");
    for (size_t side = 1; side < comparison->side_count; side++) {
        buffer_string(out, side == 1 ? "" : ", ");
        write_difference(&comparison->differences[side][r], out);
    }
    buffer_string(out, "]}");
}

void comparison_write_json(const struct comparison *comparison, struct buffer *out)
{
    const bool has_gates = comparison->verdict_count > 0;
    buffer_format(out, "{\"comparison_schema_version\": %d,\n", SCHEMA_VERSION);
    pair_text("version", comparison->options->version, out);
    buffer_string(out, ",\n");
    pair_text("verdict", has_gates ? gate_state_names[comparison_state(comparison)] : NULL, out);
    buffer_format(out, ",\n\"is_exact\": %s, \"is_partial\": %s, \"is_complete\": %s,\n",
                  comparison->is_exact ? "true" : "false", comparison->is_partial ? "true" : "false",
                  comparison_is_complete(comparison) ? "true" : "false");
    pair_text("blocks", comparison->blocks, out);
    buffer_string(out, ", ");
    pair_text("shake", comparison->shake, out);
    buffer_string(out, ",\n");
    buffer_format(out, "\"seeds\": %zu, \"look\": %zu, \"looks\": %zu, \"alpha\": ", comparison->seed_count,
                  comparison->look + 1, comparison->look_count);
    buffer_double(out, comparison->options->alpha);
    buffer_string(out, ",\n\"warnings\": [");
    for (size_t i = 0; i < comparison->warning_count; i++) {
        buffer_string(out, i == 0 ? "" : ", ");
        write_text(comparison->warnings[i], out);
    }
    buffer_string(out, "],\n");
    write_sides(comparison, out);
    buffer_string(out, ",\n");
    write_gates(comparison, out);
    buffer_string(out, ",\n\"metrics\": [");
    for (size_t r = 0; r < comparison->row_count; r++) {
        buffer_string(out, r == 0 ? "\n  " : ",\n  ");
        write_row(comparison, r, out);
    }
    buffer_string(out, "]}\n");
}
