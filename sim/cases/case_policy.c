/* sim/cases/case_policy.c -- the policy of a case: a preset or a file with fields set over it, or the fields
 * themselves.
 *
 * What "set" gives is a tree of objects or dotted paths, or both mixed; each leaf is one assignment.  When the policy
 * cannot be read with all of them, the first one after which it cannot is blamed, at its place in the file.
 */
#include <string.h>

#include "base/json_file.h"
#include "policies/policy_config.h"
#include "sim/cases/case_read.h"
#include "sim/scenario/scenario.h"

enum { POLICY_BYTES_MAX = 16 << 20, SETS_MAX = 256 };

struct assignment {
    const char *text;               /* "a.b.c=value" */
    const struct json_value *value; /* its place in the text */
};

struct policy_text {
    struct case_reading *reading;
    const struct json_value *preset; /* NULL: `file` is set */
    const char *file;
    struct assignment *sets;
    size_t set_count;
};

/* ---- The assignments ---- */

static void add_leaf(struct policy_text *text, const char *path, const struct json_value *value)
{
    if (text->set_count == SETS_MAX) {
        json_fail(value, "'set' holds more than %d fields", SETS_MAX);
        return;
    }
    struct buffer assignment = {0};
    char *json = json_dumps(value->node, JSON_ENCODE_ANY | JSON_COMPACT);
    buffer_format(&assignment, "%s=%s", path, json != NULL ? json : "null");
    text->sets[text->set_count++] = (struct assignment){
        arena_copy(text->reading->arena, (struct text){assignment.bytes, assignment.length}), value};
    mem_free(json);
    buffer_release(&assignment);
}

static void add_leaves(struct policy_text *text, const char *path, const struct json_value *value)
{
    if (!json_is_object(value->node)) {
        add_leaf(text, path, value);
        return;
    }
    const char *key;
    json_t *node;
    json_object_foreach(value->node, key, node)
    {
        struct buffer below = {0};
        if (strcmp(key, "$comment") == 0)
            continue;
        buffer_format(&below, "%s%s%s", path, path[0] != '\0' ? "." : "", key);
        struct json_value *member = arena_alloc_array(text->reading->arena, 1, struct json_value);
        *member = *value; /* as json_member, except that null may be set too */
        member->node = node;
        member->parent = value;
        member->key = key;
        add_leaves(text, buffer_c_string(&below), member);
        buffer_release(&below);
    }
}

/* ---- The policy ---- */

/* "quota": "fairshare" is short for {"policy": "fairshare"}; a parameter set below it needs the long form. */
static void widen(struct json_doc *doc, const char *assignment)
{
    struct error ignored = ERROR_OK;
    struct json_value root = json_doc_root(doc, &ignored);
    size_t length = strcspn(assignment, ".=");
    if (assignment[length] != '.')
        return;
    struct buffer key = {0};
    buffer_bytes(&key, assignment, length);
    json_t *seam = json_object_get(root.node, buffer_c_string(&key));
    if (json_is_string(seam)) {
        json_t *wide = json_object();
        json_object_set(wide, "policy", seam);
        json_object_set_new(root.node, buffer_c_string(&key), wide);
    }
    buffer_release(&key);
}

/* The folder of a path, with '/' at its end, in the case's arena; "" if the path has none. */
static const char *folder_of(const struct case_reading *reading, const char *path)
{
    const char *slash = strrchr(path, '/');
    return arena_copy(reading->arena, (struct text){path, slash == NULL ? 0 : (size_t)(slash - path) + 1});
}

/* The path of the policy's own file; for a preset that of the case. */
static const char *path_of(const struct policy_text *text)
{
    struct buffer path = {0};
    if (text->file == NULL)
        return text->reading->path;
    if (text->file[0] != '/')
        buffer_string(&path, folder_of(text->reading, text->reading->path));
    buffer_string(&path, text->file);
    const char *kept = arena_copy(text->reading->arena, (struct text){path.bytes, path.length});
    buffer_release(&path);
    return kept;
}

/* Load the plug-ins that the policy names, then read the policy. */
static void read_policy(struct policy_config *config, const struct case_reading *reading,
                        const struct json_value *value, const char *folder)
{
    struct json_object object;
    json_object_open(&object, value);
    struct json_value plugins = json_member(&object, "plugins");
    plugins_read(reading->plugins, &plugins, folder);
    struct json_value typical = json_member(&object, "typical");
    if (typical.node != NULL)
        json_fail(&typical, "cases have no typical jobs beside their own");
    policy_config_read_with(config, value, &reading->plugins->set);
}

/* Read the policy with the first `set_count` assignments. */
static struct error read_with(struct policy_config *config, const struct policy_text *text, size_t set_count)
{
    struct json_doc *doc = NULL;
    const char *path = path_of(text);
    TRY(text->file != NULL ? json_file_read(&doc, path, POLICY_BYTES_MAX, ERROR_CONFIG, NULL)
                           : scenario_preset_doc(&doc, text->preset));
    struct error error = ERROR_OK;
    for (size_t i = 0; i < set_count && !error_is(error); i++) {
        widen(doc, text->sets[i].text);
        error = json_doc_set(doc, text->sets[i].text);
    }
    if (!error_is(error)) {
        struct json_value root = json_doc_root(doc, &error);
        read_policy(config, text->reading, &root, folder_of(text->reading, path));
    }
    json_doc_free(doc);
    return error;
}

/* The policy cannot be read with all assignments: report the first wrong one, and its place. */
static void blame(const struct policy_text *text)
{
    struct policy_config config;
    for (size_t count = 0; count <= text->set_count; count++) {
        struct error error = read_with(&config, text, count);
        if (!error_is(error))
            continue;
        if (count == 0 || error_is(*text->reading->error)) {
            if (!error_is(*text->reading->error))
                *text->reading->error = error; /* the error is in the file or preset itself */
            return;
        }
        const struct json_value *value = text->sets[count - 1].value;
        json_fail(value, "%s", error_message(&error));
        error_set_hint(text->reading->error, "`windtunnel policy show NAME` prints the fields of a preset");
        error_release(&error);
        return;
    }
}

void case_policy_read(struct case_reading *reading, const struct json_value *value)
{
    struct policy_config *config = &reading->spec->policy;
    *config = policy_config_default();
    if (value->node == NULL)
        return;
    struct json_object object;
    json_object_open(&object, value);
    if (case_failed(reading))
        return;
    const struct json_value *preset = case_member(reading, &object, value, "preset");
    const struct json_value *set = case_member(reading, &object, value, "set");
    const struct json_value *plugins = case_member(reading, &object, value, "plugins");
    struct policy_text text = {.reading = reading, .preset = preset};
    text.file = json_get_string(&object, "file", NULL);
    if (preset->node == NULL && text.file == NULL && set->node == NULL && !case_failed(reading)) {
        read_policy(config, reading, value, folder_of(reading, reading->path));
        return;
    }
    if (preset->node != NULL && text.file != NULL)
        json_fail(value, "'policy' names both a preset and a file");
    if (preset->node == NULL && text.file == NULL)
        json_fail(value, "'set' needs a 'preset' or a 'file' to set fields of");
    if (preset->node != NULL)
        json_value_string(preset);
    if (set->node != NULL)
        json_object_open(&(struct json_object){0}, set);
    json_object_close(&object);
    plugins_read(reading->plugins, plugins, folder_of(reading, reading->path));
    if (case_failed(reading))
        return;
    text.sets = arena_alloc_array(reading->arena, SETS_MAX, struct assignment);
    if (set->node != NULL)
        add_leaves(&text, "", set);
    if (case_failed(reading))
        return;
    struct error error = read_with(config, &text, text.set_count);
    if (!error_is(error) || error_is(*reading->error)) /* an unknown preset was already reported with its place */
        return;
    error_release(&error);
    blame(&text);
}
