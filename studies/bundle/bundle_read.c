/* studies/bundle/bundle_read.c -- a bundle, to be run again. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/input.h"
#include "base/json_file.h"
#include "studies/bundle/bundle.h"

#define FILE_BYTES_MAX (UINT64_C(1) << 30)

static struct bundle_input *find_input(const struct bundle *bundle, const char *role, const char *name)
{
    for (size_t i = 0; i < bundle->input_count; i++)
        if (strcmp(bundle->inputs[i].name, name) == 0 && (role == NULL || strcmp(bundle->inputs[i].role, role) == 0))
            return &bundle->inputs[i];
    return NULL;
}

/* ---- Reading ---- */

static const char *need_text(struct bundle *bundle, struct json_object *object, const char *key)
{
    json_need(object, key);
    return arena_copy(&bundle->arena, text_of(json_get_string(object, key, "")));
}

static void read_input(struct bundle *bundle, struct bundle_input *input, const struct json_value *value)
{
    struct json_object object;
    json_object_open(&object, value);
    *input = (struct bundle_input){.role = need_text(bundle, &object, "role"),
                                   .name = need_text(bundle, &object, "name"),
                                   .digest = need_text(bundle, &object, "digest"),
                                   .file = -1};
    const struct json_value text = json_member(&object, "text");
    if (text.node != NULL) {
        const char *bytes = json_value_string(&text);
        input->text.length = strlen(bytes);
        input->text.at = arena_copy(&bundle->arena, (struct text){bytes, input->text.length});
    }
    json_object_close(&object);
}

static void read_inputs(struct bundle *bundle, struct json_object *root)
{
    json_need(root, "inputs");
    const struct json_value list = json_member(root, "inputs");
    const size_t count = json_array_count(&list);
    bundle->inputs = mem_zalloc(count + 1, sizeof *bundle->inputs);
    for (size_t i = 0; i < count; i++) {
        const struct json_value value = json_array_item(&list, i);
        read_input(bundle, &bundle->inputs[i], &value);
        bundle->input_count = i + 1;
    }
}

/* The fields of a run, of an object of its own or of the whole bundle. */
static struct error read_run(struct bundle *bundle, struct json_object *object)
{
    struct bundle_run *run = &bundle->runs[bundle->run_count++];
    struct json_object ignored;
    run->name = arena_copy(&bundle->arena, text_of(json_get_string(object, "name", "")));
    run->fingerprint = need_text(bundle, object, "fingerprint");
    const char *arrivals = json_get_string(object, "arrivals", NULL);
    run->arrivals = arrivals != NULL ? arena_copy(&bundle->arena, text_of(arrivals)) : NULL;
    json_need(object, "scenario");
    const struct json_value metrics = json_member(object, "metrics"), scenario = json_member(object, "scenario");
    if (metrics.node != NULL)
        json_object_open(&ignored, &metrics);
    json_object_open(&ignored, &scenario);
    TRY(*object->value.error);
    run->metrics = json_deep_copy(metrics.node);
    char *text = json_value_canonical_new(&scenario);
    struct error error = json_doc_parse(&run->scenario, "scenario", text_of(text), ERROR_DATA);
    mem_free(text);
    return error;
}

static struct error read_runs(struct bundle *bundle, struct json_object *root)
{
    const struct json_value list = json_member(root, "runs");
    const size_t count = list.node != NULL ? json_array_count(&list) : 1;
    bundle->runs = mem_zalloc(count + 1, sizeof *bundle->runs);
    if (list.node == NULL)
        return read_run(bundle, root);
    for (size_t i = 0; i < count && !error_is(*root->value.error); i++) {
        const struct json_value value = json_array_item(&list, i);
        struct json_object object;
        json_object_open(&object, &value);
        TRY(read_run(bundle, &object));
        json_object_close(&object);
    }
    return ERROR_OK;
}

static struct error read_doc(struct bundle *bundle, struct json_doc *doc)
{
    struct error error = ERROR_OK;
    struct json_value value = json_doc_root(doc, &error);
    struct json_object root;
    json_object_open(&root, &value);
    json_need(&root, "bundle_version");
    json_get_int(&root, "bundle_version", BUNDLE_VERSION, BUNDLE_VERSION, BUNDLE_VERSION);
    bundle->version = need_text(bundle, &root, "version");
    read_inputs(bundle, &root);
    TRY(error);
    TRY(read_runs(bundle, &root));
    json_object_close(&root);
    return error;
}

struct error bundle_read(struct bundle *out, const char *path)
{
    struct json_doc *doc;
    *out = (struct bundle){0};
    TRY(json_file_read(&doc, path, FILE_BYTES_MAX, ERROR_DATA, NULL));
    struct error error = read_doc(out, doc);
    json_doc_free(doc);
    if (error_is(error))
        bundle_release(out);
    return error;
}

/* ---- Files ---- */

/* The text as a file in memory, which has a path as long as the descriptor is open. */
static struct error make_file(struct bundle_input *input)
{
    struct text rest = input->text;
    if (input->file >= 0)
        return ERROR_OK;
    input->file = memfd_create("input of a bundle", MFD_CLOEXEC);
    while (input->file >= 0 && rest.length > 0) {
        const ssize_t written = write(input->file, rest.at, rest.length);
        if (written < 0 && errno != EINTR)
            break;
        if (written > 0)
            rest = (struct text){rest.at + written, rest.length - (size_t)written};
    }
    snprintf(input->path, sizeof input->path, "/proc/self/fd/%d", input->file);
    return rest.length == 0 ? ERROR_OK : error_io("make a file in memory of", input->name, errno);
}

static struct error take_given(struct bundle *bundle, const struct bundle_file *given)
{
    struct bundle_input *input = find_input(bundle, NULL, given->name);
    char digest[33];
    if (input == NULL)
        return error_new(ERROR_USAGE, "the bundle needs no input '%s'", given->name);
    if (input_is_once(given->path))
        return error_new(ERROR_USAGE, "'%s' can be read only once: name a file", given->path);
    TRY(input_digest(given->path, digest));
    input->given = given->path;
    if (strcmp(digest, input->digest) == 0)
        return ERROR_OK;
    return error_new(ERROR_DATA, "%s is not the '%s' that the run read: its digest is %s, and was %s", given->path,
                     given->name, digest, input->digest);
}

/* A gate: the scenario of a bundle opens inputs of the bundle, and files that the user gave for them. */
static struct error on_file(void *self, const char *role, bool is_typed, const char **path)
{
    struct bundle_input *input = find_input(self, role, *path);
    (void)is_typed;
    if (input == NULL)
        return error_new(ERROR_DATA, "the scenario of the bundle names '%s' (%s), which is none of its inputs", *path,
                         role);
    if (input->given != NULL) {
        *path = input->given;
        return ERROR_OK;
    }
    if (input->text.at == NULL || strcmp(role, "plugin") == 0) {
        struct error error = error_new(ERROR_USAGE, "the bundle does not hold its %s '%s' (digest %s)", input->role,
                                       input->name, input->digest);
        error_set_hint(&error, "get that file, and name it: --input %s=PATH", input->name);
        return error;
    }
    TRY(make_file(input));
    *path = input->path;
    return ERROR_OK;
}

struct error bundle_give(struct bundle *bundle, const struct bundle_file *given, size_t count)
{
    for (size_t i = 0; i < count; i++)
        TRY(take_given(bundle, &given[i]));
    return ERROR_OK;
}

struct scenario_options bundle_scenario(struct bundle *bundle, size_t run)
{
    struct bundle_run *own = &bundle->runs[run];
    bundle->gate = (struct json_gate){.self = bundle, .on_file = on_file};
    if (own->scenario_text == NULL)
        own->scenario_text = json_doc_canonical_new(own->scenario);
    return (struct scenario_options){.text = own->scenario_text, .gate = &bundle->gate};
}

struct text bundle_decisions(const struct bundle *bundle)
{
    for (size_t i = 0; i < bundle->input_count; i++)
        if (strcmp(bundle->inputs[i].role, "decisions") == 0)
            return bundle->inputs[i].text;
    return (struct text){NULL, 0};
}

void bundle_release(struct bundle *bundle)
{
    for (size_t i = 0; i < bundle->input_count; i++)
        if (bundle->inputs[i].file >= 0)
            close(bundle->inputs[i].file);
    for (size_t i = 0; i < bundle->run_count; i++) {
        json_decref(bundle->runs[i].metrics);
        json_doc_free(bundle->runs[i].scenario);
        mem_free(bundle->runs[i].scenario_text);
    }
    mem_free(bundle->inputs);
    mem_free(bundle->runs);
    arena_release(&bundle->arena);
    *bundle = (struct bundle){0};
}
