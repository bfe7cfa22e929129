/* studies/bundle/bundle_make.c -- a record as a bundle. */
#include <string.h>
#include <sys/stat.h>

#include "base/input.h"
#include "reports/record_check.h"
#include "sim/live/event_file.h"
#include "sim/scenario/scenario_files.h"
#include "studies/bundle/bundle.h"
#include "studies/comparison_show/comparison_folder.h"
#include "studies/run/record_gate.h"
#include "studies/sweep/sweep_results.h"

/* ---- Names without folders ---- */

static bool is_taken(const struct bundle *bundle, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(bundle->inputs[i].name, name) == 0)
            return true;
    return false;
}

/* The last part of the path; if an input before it has that name, with a number in front. */
static const char *short_name(struct bundle *bundle, size_t count, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    struct buffer numbered = {0};
    buffer_string(&numbered, name);
    for (int number = 2; is_taken(bundle, count, buffer_c_string(&numbered)); number++) {
        numbered.length = 0;
        buffer_format(&numbered, "%d-%s", number, name);
    }
    const char *own = arena_copy(&bundle->arena, (struct text){numbered.bytes, numbered.length});
    buffer_release(&numbered);
    return own;
}

/* ---- Inputs ---- */

static bool is_utf8(const char *bytes, size_t length)
{
    json_t *string = json_stringn(bytes, length);
    const bool is_good = string != NULL && memchr(bytes, '\0', length) == NULL;
    json_decref(string);
    return is_good;
}

struct making {
    struct bundle *bundle;
    const struct bundle_source *source;
    const struct result_manifest *manifest; /* of the present run */
    struct bundle_run *run;
    struct record_gate gate;
};

/* The file that the user gives for an input. */
static struct error find_given(const struct making *making, const struct bundle_input *input, const char **path)
{
    const struct bundle_source *source = making->source;
    char now[33];
    *path = NULL;
    for (size_t i = 0; i < source->given_count; i++)
        if (strcmp(source->given[i].name, input->name) == 0)
            *path = source->given[i].path;
    if (*path == NULL)
        return ERROR_OK;
    TRY(input_digest(*path, now));
    if (strcmp(now, input->digest) == 0)
        return ERROR_OK;
    return error_new(ERROR_DATA, "%s is not the '%s' that the run read: its digest is %s, and was %s", *path,
                     input->name, now, input->digest);
}

/* The file itself: what the user gives, or what the record may open. */
static struct error find_file(struct making *making, const struct bundle_input *input, const char *name,
                              const char **path)
{
    const struct json_gate *gate = &making->gate.gate;
    TRY(find_given(making, input, path));
    if (*path != NULL)
        return ERROR_OK;
    *path = name;
    struct error error = gate->on_file(gate->self, input->role, false, path);
    if (error_is(error))
        error_set_hint(&error, "%s; or name the file: --input %s=PATH; or bundle no inputs: --input-mib 0",
                       error_hint(&error), input->name);
    return error;
}

/* Take the text, or say why not. */
static struct error take_text(struct making *making, struct bundle_input *input, const char *name)
{
    const uint64_t text_max = making->source->text_max;
    char *bytes = NULL;
    const char *path;
    struct stat status;
    size_t length = 0;
    if (strcmp(input->role, "plugin") == 0)
        input->why_missing = "a plug-in is a program";
    else if (text_max == 0)
        input->why_missing = "it is too long";
    if (input->why_missing != NULL)
        return ERROR_OK;
    TRY(find_file(making, input, name, &path));
    if (stat(path, &status) == 0 && (uint64_t)status.st_size > text_max) {
        input->why_missing = "it is too long";
        return ERROR_OK;
    }
    struct error error = input_read_all(path, text_max, &bytes, &length);
    if (error_is(error) && error.kind == ERROR_DATA) { /* the run could read it, so only its length is wrong */
        error_release(&error);
        error = ERROR_OK;
        input->why_missing = "it is too long";
    } else if (!error_is(error) && (length == 0 || !is_utf8(bytes, length))) {
        input->why_missing = "it is not UTF-8 text";
    } else if (!error_is(error)) {
        input->text = (struct text){arena_copy(&making->bundle->arena, (struct text){bytes, length}), length};
    }
    mem_free(bytes);
    return error;
}

/* The input that was listed before, or a new one. */
static struct bundle_input *add_input(struct bundle *bundle, const struct result_input *source)
{
    for (size_t i = 0; i < bundle->input_count; i++) {
        struct bundle_input *input = &bundle->inputs[i];
        if (strcmp(input->role, source->role) == 0 && strcmp(input->source, source->name) == 0 &&
            strcmp(input->digest, source->digest) == 0)
            return input;
    }
    MEM_GROW(bundle->inputs, bundle->input_capacity, bundle->input_count + 1);
    bundle->inputs[bundle->input_count] =
        (struct bundle_input){.role = arena_copy(&bundle->arena, text_of(source->role)),
                              .name = short_name(bundle, bundle->input_count, source->name),
                              .digest = arena_copy(&bundle->arena, text_of(source->digest)),
                              .source = arena_copy(&bundle->arena, text_of(source->name)),
                              .file = -1};
    return &bundle->inputs[bundle->input_count++];
}

/* A field of the scenario names a file: let it name an input. */
static struct error take_file(void *self, const struct scenario_file *file)
{
    struct making *making = self;
    for (size_t i = 0; i < making->manifest->input_count; i++) {
        const struct result_input *source = &making->manifest->inputs[i];
        if (strcmp(source->role, file->role) != 0 || strcmp(source->name, file->path) != 0)
            continue;
        struct bundle_input *input = add_input(making->bundle, source);
        if (!input->is_used)
            TRY(take_text(making, input, file->path));
        input->is_used = true;
        return scenario_files_set(making->run->scenario, file->field, input->name);
    }
    struct error error =
        error_new(ERROR_DATA, "the record does not list '%s' (%s) among its inputs", file->path, file->field);
    error_set_hint(&error, "run the scenario again with this version of Windtunnel");
    return error;
}

static struct error check_given(const struct bundle *bundle, const struct bundle_source *source)
{
    for (size_t i = 0; i < source->given_count; i++)
        if (!is_taken(bundle, bundle->input_count, source->given[i].name))
            return error_new(ERROR_USAGE, "the record has no input '%s'", source->given[i].name);
    return ERROR_OK;
}

/* Append a run.  record: its manifest, and the folder in which its paths are.  metrics: owned from now on. */
static struct error add_run(struct making *making, const struct result *record, const char *name, json_t *metrics)
{
    const struct result_manifest *manifest = &record->manifest;
    struct bundle *bundle = making->bundle;
    MEM_GROW(bundle->runs, bundle->run_capacity, bundle->run_count + 1);
    making->run = &bundle->runs[bundle->run_count++];
    *making->run = (struct bundle_run){
        .name = arena_copy(&bundle->arena, text_of(name)),
        .fingerprint = arena_copy(&bundle->arena, text_of(manifest->fingerprint)),
        .arrivals = manifest->arrivals != NULL ? arena_copy(&bundle->arena, text_of(manifest->arrivals)) : NULL,
        .metrics = metrics};
    bundle->version = arena_copy(&bundle->arena, text_of(manifest->version));
    making->manifest = manifest;
    TRY(json_doc_parse(&making->run->scenario, "scenario", text_of(manifest->scenario_json), ERROR_DATA));
    for (size_t i = 0; i < manifest->input_count; i++)
        add_input(bundle, &manifest->inputs[i]);
    record_gate_init(
        &making->gate, making->source->record, record,
        &(struct scenario_options){.trusted = making->source->trusted, .trusted_count = making->source->trusted_count});
    struct error error = scenario_files_each(making->run->scenario, take_file, making);
    record_gate_release(&making->gate);
    return error;
}

/* ---- Decisions of another program ---- */

static struct error add_decisions(struct making *making, const struct result_manifest *manifest)
{
    const char *record = making->source->record, *digest = NULL;
    struct buffer answers = {0};
    for (size_t i = 0; i < manifest->file_count; i++)
        if (strcmp(manifest->files[i].name, EVENT_FILE) == 0)
            digest = manifest->files[i].digest;
    if (digest == NULL) {
        struct error error =
            error_new(ERROR_DATA,
                      "the record %s cannot be bundled: another program decided in it, and its decisions are not "
                      "recorded",
                      record);
        error_set_hint(&error, "run it again with --events");
        return error;
    }
    struct error error = event_file_answers(record, &answers);
    if (!error_is(error) && answers.length > making->source->text_max)
        error = error_new(ERROR_DATA, "the recorded decisions are %zu MiB of text: --input-mib allows more",
                          answers.length >> 20);
    if (!error_is(error)) {
        struct bundle_input *decisions = add_input(
            making->bundle, &(struct result_input){.role = "decisions", .name = EVENT_FILE, .digest = digest});
        decisions->text = (struct text){
            arena_copy(&making->bundle->arena, (struct text){answers.bytes, answers.length}), answers.length};
        decisions->is_used = true;
    }
    buffer_release(&answers);
    return error;
}

/* ---- A record ---- */

static struct error check(const struct result *record, const char *folder)
{
    const char *why = NULL;
    if (record->facts.is_partial)
        why = "it is partial";
    else if (record->manifest.fork.fingerprint != NULL)
        why = "it is a fork, which begins in another record";
    else if (record->manifest.scenario_json == NULL || record->manifest.arrivals == NULL)
        why = "it does not say what it was made from";
    if (why == NULL)
        return record_check_files(folder, &record->manifest, false);
    return error_new(ERROR_DATA, "the record %s cannot be bundled: %s", folder, why);
}

/* folder: of the record; name: "" if it is the only one. */
static struct error make_record(struct making *making, const char *folder, const char *name)
{
    struct json_doc *doc;
    struct result record;
    TRY(record_check_open(&doc, folder));
    struct error error = result_read_doc(&record, doc);
    if (!error_is(error)) {
        error = check(&record, folder);
        if (!error_is(error))
            error = add_run(making, &record, name, json_deep_copy(json_doc_at(doc, "metrics")));
        if (!error_is(error) && record.facts.is_decided_outside)
            error = add_decisions(making, &record.manifest);
        result_release(&record);
    }
    json_doc_free(doc);
    return error;
}

/* ---- A sweep ---- */

/* "policy=fifo load=0.9, seed 3" */
static void name_run(const struct sweep_plan *plan, size_t run, struct buffer *name)
{
    const uint32_t *levels = &plan->levels[plan->runs[run].combination * plan->factor_count];
    for (size_t f = 0; f < plan->factor_count; f++)
        buffer_format(name, "%s=%s, ", plan->factors[f].name, plan->factors[f].levels[levels[f]].name);
    buffer_format(name, "seed %llu", (unsigned long long)plan->runs[run].seed);
}

static struct error add_sweep_run(struct making *making, const struct sweep_results *results, size_t run,
                                  const struct result_input *inputs)
{
    const struct sweep_plan *plan = &results->plan;
    struct result record = {.manifest = {.version = plan->version,
                                         .fingerprint = results->fingerprints[run],
                                         .inputs = inputs,
                                         .input_count = plan->input_count},
                            .host = {.folder = plan->paths_folder}};
    struct buffer name = {0}, seed = {0};
    struct json_doc *doc;
    TRY(json_doc_parse(&doc, "scenario", text_of(plan->configurations[plan->runs[run].combination]), ERROR_DATA));
    buffer_format(&seed, "seed=%llu", (unsigned long long)plan->runs[run].seed);
    struct error error = json_doc_set(doc, buffer_c_string(&seed));
    char *scenario = json_doc_canonical_new(doc);
    record.manifest.scenario_json = scenario;
    name_run(plan, run, &name);
    if (!error_is(error))
        error = add_run(making, &record, buffer_c_string(&name), NULL);
    mem_free(scenario);
    json_doc_free(doc);
    buffer_release(&name);
    buffer_release(&seed);
    return error;
}

static struct error make_sweep(struct making *making)
{
    struct sweep_results results;
    TRY(sweep_results_read(&results, making->source->record));
    const struct sweep_plan *plan = &results.plan;
    struct error error = ERROR_OK;
    struct result_input *inputs = mem_zalloc(plan->input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < plan->input_count; i++)
        inputs[i] = (struct result_input){
            .role = plan->inputs[i].role, .name = plan->inputs[i].name, .digest = plan->inputs[i].digest};
    for (size_t r = 0; r < plan->run_count && !error_is(error); r++)
        if (results.fingerprints[r] == NULL)
            error = error_new(ERROR_DATA, "the sweep %s is not done: %s", making->source->record,
                              "'windtunnel sweep status' tells which runs are missing");
        else if (plan->runs[r].first == r)
            error = add_sweep_run(making, &results, r, inputs);
    mem_free(inputs);
    sweep_results_release(&results);
    return error;
}

/* ---- A comparison ---- */

/* The seeds of a side but the first, which has the record. */
static struct error add_other_seeds(struct making *making, const struct result *record, const char *side,
                                    const json_t *runs)
{
    struct error error = ERROR_OK;
    for (size_t i = 1; i < json_array_size(runs) && !error_is(error); i++) {
        const json_t *run = json_array_get(runs, i);
        const char *fingerprint = json_string_value(json_object_get(run, "fingerprint"));
        struct buffer assignment = {0}, name = {0};
        struct result other = *record;
        struct json_doc *doc;
        if (fingerprint == NULL)
            return error_new(ERROR_DATA, "a run of the side '%s' is not done", side);
        TRY(json_doc_parse(&doc, "scenario", text_of(record->manifest.scenario_json), ERROR_DATA));
        buffer_format(&assignment, "seed=%lld", (long long)json_integer_value(json_object_get(run, "seed")));
        buffer_format(&name, "%s, seed %lld", side, (long long)json_integer_value(json_object_get(run, "seed")));
        error = json_doc_set(doc, buffer_c_string(&assignment));
        char *scenario = json_doc_canonical_new(doc);
        other.manifest.scenario_json = scenario;
        other.manifest.fingerprint = fingerprint;
        other.manifest.arrivals = json_string_value(json_object_get(run, "arrivals"));
        if (!error_is(error))
            error = add_run(making, &other, buffer_c_string(&name), NULL);
        mem_free(scenario);
        json_doc_free(doc);
        buffer_release(&assignment);
        buffer_release(&name);
    }
    return error;
}

/* folder: of the side's record. */
static struct error make_side(struct making *making, const json_t *side, const char *name, const char *folder)
{
    const json_t *runs = json_object_get(side, "runs"), *first = json_array_get(runs, 0);
    const char *fingerprint = json_string_value(json_object_get(first, "fingerprint"));
    struct buffer label = {0};
    struct json_doc *doc;
    struct result record;
    TRY(record_check_open(&doc, folder));
    struct error error = result_read_doc(&record, doc);
    if (!error_is(error)) {
        error = check(&record, folder);
        if (!error_is(error) && (fingerprint == NULL || strcmp(fingerprint, record.manifest.fingerprint) != 0))
            error = error_new(ERROR_DATA, "%s is not the record of the side '%s'", folder, name);
        buffer_format(&label, "%s, seed %llu", name, (unsigned long long)record.manifest.seed);
        if (!error_is(error))
            error = add_run(making, &record, buffer_c_string(&label), json_deep_copy(json_doc_at(doc, "metrics")));
        if (!error_is(error))
            error = add_other_seeds(making, &record, name, runs);
        buffer_release(&label);
        result_release(&record);
    }
    json_doc_free(doc);
    return error;
}

/* A side that was a record, or is of another program, has no record in the folder. */
static struct error make_sides(struct making *making, const json_t *sides)
{
    const char *folder = making->source->record, *names[COMPARISON_SIDES_MAX] = {NULL};
    char *folders[COMPARISON_SIDES_MAX] = {NULL};
    const size_t count = json_array_size(sides);
    struct error error = ERROR_OK;
    for (size_t i = 0; i < count && i < COMPARISON_SIDES_MAX; i++)
        names[i] = json_string_value(json_object_get(json_array_get(sides, i), "name"));
    for (size_t i = 0; i < count; i++)
        if (i >= COMPARISON_SIDES_MAX || names[i] == NULL)
            return error_new(ERROR_DATA, "%s/" COMPARISON_FILE " is no comparison", folder);
    comparison_folder_names(names, count, folders);
    for (size_t i = 0; i < count && !error_is(error); i++) {
        struct buffer path = {0};
        buffer_format(&path, "%s/%s", folder, folders[i]);
        error = make_side(making, json_array_get(sides, i), names[i], buffer_c_string(&path));
        if (error_is(error) && error.kind == ERROR_IO)
            error_set_hint(&error, "a side of which the comparison has no record cannot be bundled with it: bundle its "
                                   "record itself");
        buffer_release(&path);
    }
    for (size_t i = 0; i < count; i++)
        mem_free(folders[i]);
    return error;
}

static struct error make_comparison(struct making *making, const char *path)
{
    struct json_doc *doc;
    TRY(input_check_plain(path));
    TRY(scenario_files_read(&doc, path, NULL));
    const json_t *sides = json_doc_at(doc, "sides");
    struct error error =
        json_array_size(sides) > 0 ? make_sides(making, sides) : error_new(ERROR_DATA, "%s is no comparison", path);
    json_doc_free(doc);
    return error;
}

/* ---- Any of them ---- */

static struct error make(struct making *making)
{
    const char *folder = making->source->record;
    struct buffer comparison = {0}, plan = {0};
    struct stat status;
    buffer_format(&comparison, "%s/" COMPARISON_FILE, folder);
    buffer_format(&plan, "%s/" SWEEP_PLAN_FILE, folder);
    struct error error;
    if (stat(buffer_c_string(&comparison), &status) == 0)
        error = make_comparison(making, buffer_c_string(&comparison));
    else if (stat(buffer_c_string(&plan), &status) == 0)
        error = make_sweep(making);
    else
        error = make_record(making, folder, "");
    buffer_release(&comparison);
    buffer_release(&plan);
    return error_is(error) ? error : check_given(making->bundle, making->source);
}

struct error bundle_make(struct bundle *out, const struct bundle_source *source)
{
    struct making making = {.bundle = out, .source = source};
    *out = (struct bundle){0};
    struct error error = make(&making);
    if (error_is(error))
        bundle_release(out);
    return error;
}

/* ---- The file ---- */

static void write_inputs(const struct bundle *bundle, struct buffer *out)
{
    buffer_members(out, ",\n'inputs': [");
    for (size_t i = 0; i < bundle->input_count; i++) {
        const struct bundle_input *input = &bundle->inputs[i];
        buffer_members(out, ",\n  {'role': %s, 'name': %s, 'digest': %s", input->role, input->name, input->digest);
        if (input->text.at != NULL) {
            buffer_members(out, ", 'text': ");
            buffer_json(out, input->text);
        }
        buffer_char(out, '}');
    }
    buffer_char(out, ']');
}

static void write_results(const struct bundle_run *run, struct buffer *out)
{
    char *scenario = json_doc_canonical_new(run->scenario);
    char *metrics = run->metrics != NULL ? json_dumps(run->metrics, JSON_COMPACT) : NULL;
    if (metrics != NULL)
        buffer_format(out, ",\n\"metrics\": %s", metrics);
    buffer_format(out, ",\n\"scenario\": %s}", scenario);
    mem_free(metrics);
    mem_free(scenario);
}

static void write_marks(const struct bundle_run *run, struct buffer *out)
{
    buffer_members(out, ",\n'fingerprint': %s", run->fingerprint);
    if (run->arrivals != NULL)
        buffer_members(out, ",\n'arrivals': %s", run->arrivals);
}

void bundle_text(const struct bundle *bundle, struct buffer *out)
{
    const bool is_one = bundle->run_count == 1 && bundle->runs[0].name[0] == '\0';
    buffer_members(out, "{'bundle_version': %d,\n'version': %s", BUNDLE_VERSION, bundle->version);
    if (is_one)
        write_marks(&bundle->runs[0], out);
    write_inputs(bundle, out);
    if (is_one) {
        write_results(&bundle->runs[0], out);
        buffer_char(out, '\n');
        return;
    }
    buffer_members(out, ",\n'runs': [");
    for (size_t r = 0; r < bundle->run_count; r++) {
        buffer_members(out, ",\n{'name': %s", bundle->runs[r].name);
        write_marks(&bundle->runs[r], out);
        write_results(&bundle->runs[r], out);
    }
    buffer_string(out, "]}\n");
}
