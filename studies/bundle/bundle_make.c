/* studies/bundle/bundle_make.c -- a record as a bundle. */
#include <string.h>
#include <sys/stat.h>

#include "base/input.h"
#include "reports/record_check.h"
#include "sim/scenario/scenario_files.h"
#include "studies/bundle/bundle.h"
#include "studies/run/record_gate.h"

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
    const struct result_manifest *manifest;
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

/* A field of the scenario names a file: let it name an input. */
static struct error take_file(void *self, const struct scenario_file *file)
{
    struct making *making = self;
    for (size_t i = 0; i < making->manifest->input_count; i++) {
        struct bundle_input *input = &making->bundle->inputs[i];
        const struct result_input *source = &making->manifest->inputs[i];
        if (strcmp(source->role, file->role) != 0 || strcmp(source->name, file->path) != 0)
            continue;
        if (!input->is_used)
            TRY(take_text(making, input, file->path));
        input->is_used = true;
        return scenario_files_set(making->bundle->scenario, file->field, input->name);
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

static struct error take_inputs(struct making *making)
{
    const struct result_manifest *manifest = making->manifest;
    struct bundle *bundle = making->bundle;
    bundle->inputs = arena_alloc_array(&bundle->arena, manifest->input_count + 1, struct bundle_input);
    for (size_t i = 0; i < manifest->input_count; i++) {
        const struct result_input *source = &manifest->inputs[i];
        bundle->inputs[i] = (struct bundle_input){.role = arena_copy(&bundle->arena, text_of(source->role)),
                                                  .name = short_name(bundle, i, source->name),
                                                  .digest = arena_copy(&bundle->arena, text_of(source->digest)),
                                                  .file = -1};
    }
    bundle->input_count = manifest->input_count;
    TRY(check_given(bundle, making->source));
    return scenario_files_each(bundle->scenario, take_file, making);
}

/* ---- The record ---- */

static struct error check(const struct result *record, const char *folder)
{
    const char *why = NULL;
    if (record->facts.is_partial)
        why = "it is partial";
    else if (record->facts.is_decided_outside)
        why = "another program decided in it";
    else if (record->manifest.fork.fingerprint != NULL)
        why = "it is a fork, which begins in another record";
    else if (record->manifest.scenario_json == NULL || record->manifest.arrivals == NULL)
        why = "it does not say what it was made from";
    if (why == NULL)
        return record_check_files(folder, &record->manifest, false);
    return error_new(ERROR_DATA, "the record %s cannot be bundled: %s", folder, why);
}

static struct error make(struct bundle *bundle, const struct result *record, struct json_doc *doc,
                         const struct bundle_source *source)
{
    const struct result_manifest *manifest = &record->manifest;
    struct making making = {.bundle = bundle, .source = source, .manifest = manifest};
    TRY(check(record, source->record));
    bundle->version = arena_copy(&bundle->arena, text_of(manifest->version));
    bundle->fingerprint = arena_copy(&bundle->arena, text_of(manifest->fingerprint));
    bundle->arrivals = arena_copy(&bundle->arena, text_of(manifest->arrivals));
    bundle->metrics = json_deep_copy(json_doc_at(doc, "metrics"));
    TRY(json_doc_parse(&bundle->scenario, "scenario", text_of(manifest->scenario_json), ERROR_DATA));
    record_gate_init(&making.gate, source->record, record,
                     &(struct scenario_options){.trusted = source->trusted, .trusted_count = source->trusted_count});
    struct error error = take_inputs(&making);
    record_gate_release(&making.gate);
    return error;
}

struct error bundle_make(struct bundle *out, const struct bundle_source *source)
{
    struct json_doc *doc;
    struct result result;
    *out = (struct bundle){0};
    TRY(record_check_open(&doc, source->record));
    struct error error = result_read_doc(&result, doc);
    if (!error_is(error)) {
        error = make(out, &result, doc, source);
        result_release(&result);
    }
    json_doc_free(doc);
    if (error_is(error))
        bundle_release(out);
    return error;
}

/* ---- The file ---- */

static void pair(struct buffer *out, const char *before, const char *key, struct text value)
{
    buffer_format(out, "%s\"%s\": ", before, key);
    buffer_json(out, value);
}

void bundle_text(const struct bundle *bundle, struct buffer *out)
{
    char *scenario = json_doc_canonical_new(bundle->scenario);
    char *metrics = json_dumps(bundle->metrics, JSON_COMPACT);
    buffer_format(out, "{\"bundle_version\": %d", BUNDLE_VERSION);
    pair(out, ",\n", "version", text_of(bundle->version));
    pair(out, ",\n", "fingerprint", text_of(bundle->fingerprint));
    pair(out, ",\n", "arrivals", text_of(bundle->arrivals));
    buffer_string(out, ",\n\"inputs\": [");
    for (size_t i = 0; i < bundle->input_count; i++) {
        const struct bundle_input *input = &bundle->inputs[i];
        pair(out, i > 0 ? ",\n  {" : "\n  {", "role", text_of(input->role));
        pair(out, ", ", "name", text_of(input->name));
        pair(out, ", ", "digest", text_of(input->digest));
        if (input->text.at != NULL)
            pair(out, ", ", "text", input->text);
        buffer_char(out, '}');
    }
    buffer_format(out, "],\n\"metrics\": %s,\n\"scenario\": %s}\n", metrics, scenario);
    mem_free(metrics);
    mem_free(scenario);
}
