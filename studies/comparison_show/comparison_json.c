/* studies/comparison_show/comparison_json.c -- a comparison as JSON: everything there is. */
#include <math.h>

#include "studies/comparison_show/comparison_view.h"
#include "studies/comparison_show/verdicts_show.h"

enum { SCHEMA_VERSION = 2 };

static void write_run(const struct comparison_run *run, uint64_t seed, struct buffer *out)
{
    static const char *const states[] = {"missing", "done", "failed"};
    const struct result_manifest *manifest = &run->values.result.manifest;
    buffer_members(out, "{'seed': %llu, 'state': %s", (unsigned long long)seed, states[run->state]);
    if (run->state == COMPARISON_RUN_DONE)
        buffer_members(out, ", 'fingerprint': %s, 'arrivals': %s, 'version': %s", manifest->fingerprint,
                       manifest->arrivals, manifest->version);
    if (run->state == COMPARISON_RUN_FAILED)
        buffer_members(out, ", 'failure': %s, 'said': %s", run->failure, run->said);
    buffer_char(out, '}');
}

/* "first_difference": null if there is none; absent if it was not sought */
static void write_first(const struct comparison_first *first, struct buffer *out)
{
    if (first->json != NULL)
        buffer_format(out, ", \"first_difference\": %s", first->json);
    if (first->unknown != NULL)
        buffer_members(out, ", 'first_difference': {'unknown': %s}", first->unknown);
}

/* Of another program that makes the runs; else nothing. */
static void write_program(const struct rerun *rerun, struct buffer *out)
{
    if (rerun->program != NULL)
        buffer_members(out, ", 'program': {'path': %s, 'version': %s}", rerun->program, rerun->version);
}

/* "one_long_run": absent if there are several seeds */
static void write_long(const struct comparison_long *one_run, struct buffer *out)
{
    if (!one_run->is_known && one_run->unknown == NULL)
        return;
    buffer_string(out, ", \"one_long_run\": {");
    if (!one_run->is_known) {
        buffer_members(out, "'unknown': %s", one_run->unknown);
    } else {
        buffer_string(out, "\"queue_time_difference_s\": ");
        steady_write_json(&one_run->all, out);
        buffer_string(out, ", \"by_class\": {");
        for (int c = 0; c < JOB_CLASS_COUNT; c++) {
            if (one_run->by_class[c].count == 0)
                continue;
            buffer_members(out, ", %s: ", job_class_names[c]);
            steady_write_json(&one_run->by_class[c], out);
        }
        buffer_char(out, '}');
    }
    buffer_char(out, '}');
}

static void write_sides(const struct comparison *comparison, struct buffer *out)
{
    buffer_string(out, "\"sides\": [");
    for (size_t side = 0; side < comparison->side_count; side++) {
        buffer_members(out, ",\n  {'name': %s", comparison->sides[side].name);
        write_program(&comparison->sides[side].rerun, out);
        if (side > 0)
            write_first(&comparison->sides[side].first, out);
        write_long(&comparison->sides[side].one_run, out);
        buffer_string(out, ", \"runs\": [");
        for (size_t seed = 0; seed < comparison->seed_count; seed++) {
            buffer_members(out, ",\n    ");
            write_run(&comparison->sides[side].runs[seed], comparison->seeds[seed], out);
        }
        buffer_char(out, ']');
        if (comparison->sides[side].replay.state != COMPARISON_RUN_MISSING) {
            buffer_string(out, ", \"replay\": ");
            write_run(&comparison->sides[side].replay, comparison->seeds[0], out);
        }
        buffer_char(out, '}');
    }
    buffer_char(out, ']');
}

/* is_new: the gates that the change adds, which judge nothing; else the gates that judge. */
static void write_gates(const struct comparison *comparison, const char *name, bool is_new, struct buffer *out)
{
    buffer_format(out, "\"%s\": [", name);
    for (size_t i = 0; i < comparison->verdict_count; i++)
        if (comparison->verdicts[i].is_new == is_new) {
            buffer_members(out, ",\n  ");
            gate_write_json(&comparison->verdicts[i].test, &comparison->verdicts[i].result, out);
        }
    buffer_char(out, ']');
}

static void write_assumed(const struct comparison *comparison, const struct comparison_show *how, struct buffer *out)
{
    struct assumed_list assumed;
    comparison_assumed(comparison, &assumed);
    buffer_string(out, ",\n\"assumed\": ");
    assumed_json(&assumed, out);
    if (how->verdicts == NULL)
        return;
    buffer_string(out, ",\n\"assumptions\": ");
    verdicts_json(how->verdicts, out);
}

static void write_difference(const struct difference *difference, struct buffer *out)
{
    buffer_format(out, "{\"mark\": \"%c\"", difference->mark);
    const struct change *change = &difference->change;
    buffer_members(out,
                   ", 'n': %zu, 'missing': %zu, 'base': %g, 'candidate': %g, 'difference': %g, 'estimator': %s, "
                   "'value': %g, 'low': %g, 'high': %g, 'size': %g, 'level': %g, 'p': %g, 'p_rank': %g}",
                   difference->n, difference->missing, difference->base, difference->candidate, difference->difference,
                   change->is_ratio ? "ratio" : "difference", change->value, change->low, change->high,
                   difference->size, change->of.level, change->of.p, difference->p_rank);
}

/* By side, what the replay as it is gives, and how many deviations of the shaken ones that is from their mean. */
static void write_replays(const struct comparison *comparison, size_t r, struct buffer *out)
{
    buffer_members(out, ", 'replays': [");
    for (size_t side = 0; side < comparison->side_count; side++) {
        const struct replay_place place = comparison_replay_place(comparison, r, side);
        buffer_members(out, ", {'value': %g, 'deviations': %g, 'below': %zu}", place.value, place.deviations,
                       place.below);
    }
    buffer_char(out, ']');
}

static void write_row(const struct comparison *comparison, size_t r, struct buffer *out)
{
    static const char *const better[] = {"lower", "higher", "neither"};
    const struct comparison_row *row = &comparison->rows[r];
    buffer_members(out, "{'metric': %s", row->of.metric);
    if (row->of.cut != NULL)
        buffer_members(out, ", %s: %s", row->of.cut, row->of.key);
    buffer_members(out, ", 'unit': %s, 'better': %s, 'values': [", row->metric->unit, better[row->metric->better]);
    for (size_t side = 0; side < comparison->side_count; side++) {
        buffer_members(out, ", [");
        for (size_t seed = 0; seed < comparison->seed_count; seed++)
            buffer_members(out, ", %g", row->numbers[side * comparison->seed_count + seed]);
        buffer_char(out, ']');
    }
    buffer_char(out, ']');
    if (comparison->is_shaken)
        write_replays(comparison, r, out);
    buffer_string(out, ", \"differences\": [");
    for (size_t side = 1; side < comparison->side_count; side++) {
        buffer_members(out, ", ");
        write_difference(&comparison->differences[side][r], out);
    }
    buffer_string(out, "]}");
}

void comparison_write_json(const struct comparison *comparison, const struct comparison_show *how, struct buffer *out)
{
    const enum gate_state state = comparison_state(comparison);
    const bool has_verdict = comparison->verdict_count > 0 || comparison->is_same || state == GATE_FAILED;
    buffer_members(
        out,
        "{'comparison_schema_version': %d,\n'version': %s,\n'verdict': %s,\n'is_exact': %hhd, "
        "'is_partial': %hhd, 'is_time_up': %hhd, 'is_same': %hhd, 'is_complete': %hhd,\n'blocks': %s, 'shake': "
        "%s, 'is_replay_shaken': %hhd,\n'seeds': %zu, 'look': %zu, 'looks': %zu, "
        "'alpha': %g,\n'warnings': [",
        SCHEMA_VERSION, comparison->options->version, has_verdict ? gate_state_names[state] : NULL,
        comparison->is_exact, comparison->is_partial, comparison->is_time_up, comparison->is_same,
        comparison_is_complete(comparison), comparison->blocks, comparison->shake, comparison->is_shaken,
        comparison->seed_count, comparison->look + 1, comparison->look_count, comparison->options->alpha);
    for (size_t i = 0; i < comparison->warning_count; i++)
        buffer_members(out, ", %s", comparison->warnings[i]);
    buffer_string(out, "],\n");
    comparison_write_change_json(comparison, out);
    write_sides(comparison, out);
    buffer_string(out, ",\n");
    write_gates(comparison, "gates", false, out);
    if (comparison->options->proposal != NULL) {
        buffer_string(out, ",\n");
        write_gates(comparison, "new_gates", true, out);
    }
    write_assumed(comparison, how, out);
    buffer_string(out, ",\n\"metrics\": [");
    for (size_t r = 0; r < comparison->row_count; r++) {
        buffer_members(out, ",\n  ");
        write_row(comparison, r, out);
    }
    buffer_string(out, "]}\n");
}
