#include "sim/scenario/scenario_files.h"

#include <string.h>

#include "base/buffer.h"
#include "base/json_file.h"
#include "workloads/load_model/load_model.h"

enum { FILE_BYTES_MAX = 64 << 20 };

/* ---- Where files are named ---- */

enum shape { ONE, LIST, MEMBERS };

struct place {
    const char *role, *field;
    enum shape shape;
    bool (*is_path)(const char *value); /* NULL: each string is a path */
};

static const struct place of_workload[] = {{.role = "trace", .field = "trace"},
                                           {.role = "columns", .field = "columns"},
                                           {.role = "table", .field = "tables", .shape = MEMBERS},
                                           {.role = "model", .field = "model", .is_path = text_is_json_path}};
static const struct place of_scenario[] = {{.role = "cluster", .field = "cluster"},
                                           {.role = "capacity", .field = "world.capacity"},
                                           {.role = "typical", .field = "policy.typical"},
                                           {.role = "plugin", .field = "plugins", .shape = LIST},
                                           {.role = "plugin", .field = "policy.plugins", .shape = LIST},
                                           {.role = "policy", .field = "policy.file"}};
static const struct place of_policy[] = {{.role = "plugin", .field = "plugins", .shape = LIST},
                                         {.role = "typical", .field = "typical"}};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* What is done with each. */
struct visit {
    const struct json_doc *doc;
    scenario_file_fn *fn;
    void *self;
};

static struct error tell(const struct visit *visit, const struct place *place, const char *field)
{
    const struct scenario_file file = {place->role, field, json_string_value(json_doc_at(visit->doc, field))};
    if (file.path == NULL || (place->is_path != NULL && !place->is_path(file.path)))
        return ERROR_OK;
    return visit->fn(visit->self, &file);
}

/* Names of members hold no dot: their reader refuses those. */
static struct error tell_members(const struct visit *visit, const struct place *place, struct buffer *field)
{
    const size_t length = field->length;
    json_t *object =
        (json_t *)(uintptr_t)json_doc_at(visit->doc, buffer_c_string(field)); /* iterating takes no const */
    json_t *value;
    const char *name;
    json_object_foreach(object, name, value)
    {
        field->length = length;
        buffer_format(field, ".%s", name);
        if (strchr(name, '.') == NULL)
            TRY(tell(visit, place, buffer_c_string(field)));
    }
    return ERROR_OK;
}

static struct error tell_place(const struct visit *visit, const struct place *place, const char *prefix)
{
    struct buffer field = {0};
    struct error error = ERROR_OK;
    buffer_format(&field, "%s%s", prefix, place->field);
    const size_t length = field.length;
    if (place->shape == ONE)
        error = tell(visit, place, buffer_c_string(&field));
    else if (place->shape == MEMBERS)
        error = tell_members(visit, place, &field);
    for (size_t i = 0; place->shape == LIST && !error_is(error); i++) {
        field.length = length;
        if (i >= json_array_size(json_doc_at(visit->doc, buffer_c_string(&field))))
            break;
        buffer_format(&field, ".%zu", i);
        error = tell(visit, place, buffer_c_string(&field));
    }
    buffer_release(&field);
    return error;
}

static struct error tell_all(const struct visit *visit, const struct place *places, size_t count, const char *prefix)
{
    for (size_t i = 0; i < count; i++)
        TRY(tell_place(visit, &places[i], prefix));
    return ERROR_OK;
}

/* Write the dotted path of the workload (part 0), or of a part of a merge, with '.' behind it.  False: it has fewer. */
static bool workload_path(const struct json_doc *scenario, size_t part, struct buffer *path)
{
    path->length = 0;
    buffer_string(path, "workload.");
    if (part > 0)
        buffer_format(path, "merge.%zu.", part - 1);
    return part <= json_array_size(json_doc_at(scenario, "workload.merge"));
}

struct error scenario_files_each(const struct json_doc *scenario, scenario_file_fn *fn, void *self)
{
    const struct visit visit = {scenario, fn, self};
    struct buffer path = {0};
    struct error error = ERROR_OK;
    for (size_t part = 0; !error_is(error) && workload_path(scenario, part, &path); part++)
        error = tell_all(&visit, of_workload, COUNT(of_workload), buffer_c_string(&path));
    buffer_release(&path);
    TRY(error);
    return tell_all(&visit, of_scenario, COUNT(of_scenario), "");
}

static struct error scenario_files_each_of_policy(const struct json_doc *policy, scenario_file_fn *fn, void *self)
{
    return tell_all(&(struct visit){policy, fn, self}, of_policy, COUNT(of_policy), "");
}

/* ---- What is done with them ---- */

struct error scenario_files_set(struct json_doc *doc, const char *field, const char *value)
{
    struct buffer assignment = {0};
    buffer_format(&assignment, "%s=", field);
    buffer_json(&assignment, text_of(value));
    struct error error = json_doc_set(doc, buffer_c_string(&assignment));
    buffer_release(&assignment);
    return error;
}

struct rebasing {
    struct json_doc *doc;
    const char *folder;
};

static struct error rebase(void *self, const struct scenario_file *file)
{
    const struct rebasing *rebasing = self;
    struct buffer path = {0};
    if (file->path[0] == '/' || rebasing->folder[0] == '\0')
        return ERROR_OK;
    buffer_format(&path, "%s%s", rebasing->folder, file->path);
    struct error error = scenario_files_set(rebasing->doc, file->field, buffer_c_string(&path));
    buffer_release(&path);
    return error;
}

struct error scenario_files_rebase(struct json_doc *scenario, const char *folder)
{
    return scenario_files_each(scenario, rebase, &(struct rebasing){scenario, folder});
}

struct error scenario_files_rebase_policy(struct json_doc *policy, const char *folder)
{
    return scenario_files_each_of_policy(policy, rebase, &(struct rebasing){policy, folder});
}

struct error scenario_files_read(struct json_doc **doc, const char *path, char digest[33])
{
    return json_file_read(doc, path, FILE_BYTES_MAX, ERROR_CONFIG, digest);
}

/* ---- Parts of a workload that come from files ---- */

/* path: of the workload, with '.' behind it; changed. */
static struct error expand_model(struct json_doc *doc, const struct json_value *workload, struct buffer *path)
{
    struct json_object object;
    struct json_doc *model;
    json_object_open(&object, workload);
    const struct json_value value = json_member(&object, "model");
    if (!json_is_string(value.node))
        return ERROR_OK;
    TRY(load_model_doc(&model, &value));
    buffer_string(path, "model");
    return json_doc_graft(doc, buffer_c_string(path), model);
}

static struct error expand_columns(struct json_doc *doc, const struct json_value *workload, struct buffer *path)
{
    struct json_object object;
    struct json_doc *map;
    json_object_open(&object, workload);
    const struct json_value value = json_member(&object, "columns");
    if (!json_is_string(value.node))
        return ERROR_OK;
    const char *file = json_value_file(&value, "columns");
    TRY(*value.error);
    buffer_string(path, "columns");
    TRY(scenario_files_read(&map, file, NULL));
    return json_doc_graft(doc, buffer_c_string(path), map);
}

static struct error expand_both(struct json_doc *doc, const struct json_value *workload, struct buffer *path)
{
    const size_t length = path->length;
    if (!json_is_object(workload->node))
        return ERROR_OK; /* its reader reports that */
    TRY(expand_model(doc, workload, path));
    path->length = length;
    return expand_columns(doc, workload, path);
}

struct error scenario_files_expand(struct json_doc *scenario)
{
    struct error error = ERROR_OK;
    const struct json_value root = json_doc_root(scenario, &error);
    struct json_value workload = root;
    struct buffer path = {0};
    workload.parent = &root;
    workload.key = "workload";
    workload.node = json_object_get(root.node, workload.key);
    struct json_value merge = workload;
    merge.parent = &workload;
    merge.key = "merge";
    merge.node = json_object_get(workload.node, merge.key);
    for (size_t part = 0; !error_is(error) && workload_path(scenario, part, &path); part++) {
        const struct json_value each = part == 0 ? workload : json_array_item(&merge, part - 1);
        error = expand_both(scenario, &each, &path);
    }
    buffer_release(&path);
    return error;
}
