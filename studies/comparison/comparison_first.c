/* studies/comparison/comparison_first.c -- the first decision in which a candidate differs from the base. */
#include <stdio.h>
#include <string.h>

#include "studies/comparison/comparison_inside.h"
#include "studies/divergence/divergence.h"
#include "studies/run/record_gate.h"

/* Why the decisions of a side cannot be made again; NULL: they can. */
static const char *obstacle(const struct comparison *comparison, size_t side)
{
    const struct comparison_side_options *options = &comparison->options->sides[side];
    const struct result *record = &comparison->sides[side].runs[0].values.result;
    if (options->baseline != NULL)
        return "a baseline keeps values alone";
    if (options->program != NULL)
        return "another program makes its runs";
    if (options->record == NULL)
        return NULL;
    if (comparison->sides[side].runs[0].state != COMPARISON_RUN_DONE)
        return "the record has none of the seeds";
    if (record->facts.is_decided_outside)
        return "another program decided in the record";
    if (strcmp(record->manifest.version, comparison->options->version) != 0)
        return "the record is of another version of Windtunnel";
    return NULL;
}

bool comparison_begin_first(struct comparison *comparison, size_t side)
{
    struct comparison_first *first = &comparison->sides[side].first;
    if (!comparison->options->finds_first || side == 0 || first->text != NULL || first->unknown != NULL)
        return false;
    for (size_t i = 0; i <= side; i += side) {
        const char *reason = obstacle(comparison, i);
        if (reason == NULL)
            continue;
        struct buffer text = {0};
        buffer_format(&text, "%s: %s", comparison->sides[i].name, reason);
        first->unknown = mem_copy_text(buffer_c_string(&text));
        buffer_release(&text);
        return false;
    }
    return true;
}

/* seed: of the sides that are run; a record has its own. */
static struct scenario_options options_of(const struct comparison *comparison, size_t side, const char *seed,
                                          struct record_gate *gate)
{
    const struct comparison_side_options *options = &comparison->options->sides[side];
    const struct result *record = &comparison->sides[side].runs[0].values.result;
    struct scenario_options again = options->scenario;
    record_gate_init(gate, options->record, record, &again);
    if (options->record != NULL)
        again = (struct scenario_options){
            .text = record->manifest.scenario_json, .gate = &gate->gate, .plugins = again.plugins};
    else
        again.seed = seed;
    return again;
}

struct error comparison_find_first(const struct comparison *comparison, size_t side, struct buffer *out)
{
    char seed[24];
    struct divergence divergence;
    const char *a = comparison->sides[0].name, *b = comparison->sides[side].name;
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)comparison->seeds[0]);
    struct record_gate gates[2];
    const struct scenario_options base = options_of(comparison, 0, seed, &gates[0]);
    const struct scenario_options candidate = options_of(comparison, side, seed, &gates[1]);
    struct error error = divergence_find(&base, &candidate, NULL, &divergence);
    record_gate_release(&gates[0]);
    record_gate_release(&gates[1]);
    if (error_is(error)) { /* in one line, as it is shown */
        struct error plain = error_new(error.kind, "%s; %s", error_message(&error), error_hint(&error));
        error_release(&error);
        return plain;
    }
    divergence_text(&divergence, a, b, out);
    buffer_char(out, '\0');
    divergence_json(&divergence, a, b, out);
    divergence_release(&divergence);
    return ERROR_OK;
}

void comparison_keep_first(struct comparison *comparison, size_t side, const struct worker_result *result)
{
    struct comparison_first *first = &comparison->sides[side].first;
    if (!result->is_done) {
        first->unknown = mem_copy_text(result->failure);
        return;
    }
    const size_t length = strnlen(result->bytes.at, result->bytes.length);
    struct buffer json = {0};
    first->text = mem_copy_text(result->bytes.at);
    buffer_bytes(&json, result->bytes.at + length + 1, result->bytes.length - length - 1);
    first->json = mem_copy_text(buffer_c_string(&json));
    buffer_release(&json);
}
