/* studies/bundle/bundle_make.c -- a record as a bundle. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/input.h"
#include "reports/record_check.h"
#include "sim/scenario/scenario_files.h"
#include "studies/bundle/bundle.h"

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

#define OTHER_FILE "the file is not what the run read any more"

/* Is the file there, what the run read, and not too long? */
static struct error look(struct bundle_input *input, const char *path, uint64_t text_max)
{
    struct stat status;
    char now[33];
    if (strcmp(input->role, "plugin") == 0)
        input->why_missing = "a plug-in is a program";
    else if (stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR))
        input->why_missing = "the file is gone";
    else if (input_is_once(path))
        input->why_missing = "it was a pipe";
    if (input->why_missing != NULL)
        return ERROR_OK;
    TRY(input_digest(path, now));
    if (strcmp(now, input->digest) != 0)
        input->why_missing = OTHER_FILE;
    else if ((uint64_t)status.st_size > text_max)
        input->why_missing = "it is too long";
    return ERROR_OK;
}

/* Take the text, or say why not. */
static struct error take_text(struct bundle *bundle, struct bundle_input *input, const char *path, uint64_t text_max)
{
    char *bytes = NULL, now[33];
    size_t length = 0;
    TRY(look(input, path, text_max));
    if (input->why_missing != NULL)
        return ERROR_OK;
    struct error error = input_read_all_digest(path, text_max, &bytes, &length, now);
    if (error_is(error) && error.kind == ERROR_DATA) { /* the run could read it, so only its length is wrong */
        error_release(&error);
        error = ERROR_OK;
        input->why_missing = "it is too long";
    } else if (!error_is(error) && strcmp(now, input->digest) != 0) {
        input->why_missing = OTHER_FILE;
    } else if (!error_is(error) && (length == 0 || !is_utf8(bytes, length))) {
        input->why_missing = "it is not UTF-8 text";
    } else if (!error_is(error)) {
        input->text = (struct text){arena_copy(&bundle->arena, (struct text){bytes, length}), length};
    }
    mem_free(bytes);
    return error;
}

struct making {
    struct bundle *bundle;
    const struct result_manifest *manifest;
    uint64_t text_max;
};

/* A field of the scenario names a file: let it name an input. */
static struct error take_file(void *self, const struct scenario_file *file)
{
    const struct making *making = self;
    for (size_t i = 0; i < making->manifest->input_count; i++) {
        struct bundle_input *input = &making->bundle->inputs[i];
        const struct result_input *source = &making->manifest->inputs[i];
        if (strcmp(source->role, file->role) != 0 || strcmp(source->name, file->path) != 0)
            continue;
        if (!input->is_used)
            TRY(take_text(making->bundle, input, file->path, making->text_max));
        input->is_used = true;
        return scenario_files_set(making->bundle->scenario, file->field, input->name);
    }
    struct error error =
        error_new(ERROR_DATA, "the record does not list '%s' (%s) among its inputs", file->path, file->field);
    error_set_hint(&error, "run the scenario again with this version of Windtunnel");
    return error;
}

static struct error take_inputs(struct bundle *bundle, const struct result_manifest *manifest, uint64_t text_max)
{
    struct making making = {bundle, manifest, text_max};
    bundle->inputs = arena_alloc_array(&bundle->arena, manifest->input_count + 1, struct bundle_input);
    for (size_t i = 0; i < manifest->input_count; i++) {
        const struct result_input *source = &manifest->inputs[i];
        bundle->inputs[i] = (struct bundle_input){.role = arena_copy(&bundle->arena, text_of(source->role)),
                                                  .name = short_name(bundle, i, source->name),
                                                  .digest = arena_copy(&bundle->arena, text_of(source->digest)),
                                                  .file = -1};
    }
    bundle->input_count = manifest->input_count;
    return scenario_files_each(bundle->scenario, take_file, &making);
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

static struct error make(struct bundle *bundle, const struct result *record, struct json_doc *doc, const char *folder,
                         uint64_t text_max)
{
    const struct result_manifest *manifest = &record->manifest;
    TRY(check(record, folder));
    bundle->version = arena_copy(&bundle->arena, text_of(manifest->version));
    bundle->fingerprint = arena_copy(&bundle->arena, text_of(manifest->fingerprint));
    bundle->arrivals = arena_copy(&bundle->arena, text_of(manifest->arrivals));
    bundle->metrics = json_deep_copy(json_doc_at(doc, "metrics"));
    TRY(json_doc_parse(&bundle->scenario, "scenario", text_of(manifest->scenario_json), ERROR_DATA));
    return take_inputs(bundle, manifest, text_max);
}

struct error bundle_make(struct bundle *out, const char *record, uint64_t text_max)
{
    struct json_doc *doc;
    struct result result;
    *out = (struct bundle){0};
    TRY(record_check_open(&doc, record));
    struct error error = result_read_doc(&result, doc);
    if (!error_is(error)) {
        error = make(out, &result, doc, record, text_max);
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
