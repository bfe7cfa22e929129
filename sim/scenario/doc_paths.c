#include "sim/scenario/doc_paths.h"

#include "base/buffer.h"
#include "workloads/load_model/load_model.h"

struct error doc_set_string(struct json_doc *doc, const char *path, const char *value)
{
    struct buffer assignment = {0};
    buffer_string(&assignment, path);
    buffer_char(&assignment, '=');
    buffer_json(&assignment, text_of(value));
    struct error error = json_doc_set(doc, buffer_c_string(&assignment));
    buffer_release(&assignment);
    return error;
}

const char *doc_string(const struct json_doc *doc, const char *path)
{
    return json_string_value(json_doc_at(doc, path));
}

struct error doc_rebase(struct json_doc *doc, const char *folder, const char *path)
{
    const char *value = doc_string(doc, path);
    if (value == NULL || value[0] == '/' || folder[0] == '\0')
        return ERROR_OK;
    struct buffer whole = {0};
    buffer_format(&whole, "%s%s", folder, value);
    struct error error = doc_set_string(doc, path, buffer_c_string(&whole));
    buffer_release(&whole);
    return error;
}

/* ---- Workloads ---- */

/* Do something with a workload.  path: where it is, with '.' behind it; may be changed. */
typedef struct error visit_fn(struct json_doc *doc, struct json_value *workload, struct buffer *path, const void *self);

/* Visit the workload, and the parts of a merge.  What is no object is left to its reader. */
static struct error each_workload(struct json_doc *doc, visit_fn *visit, const void *self)
{
    struct error error = ERROR_OK;
    struct json_value root = json_doc_root(doc, &error), workload = root;
    struct buffer path = {0};
    workload.parent = &root;
    workload.key = "workload";
    workload.node = json_object_get(root.node, workload.key);
    struct json_value merge = workload;
    merge.parent = &workload;
    merge.key = "merge";
    merge.node = json_object_get(workload.node, merge.key);
    const size_t parts = json_array_size(merge.node);
    for (size_t i = 0; i <= parts && !error_is(error); i++) {
        struct json_value each = workload;
        path.length = 0;
        buffer_string(&path, "workload.");
        if (i > 0) {
            buffer_format(&path, "merge.%zu.", i - 1);
            each = json_array_item(&merge, i - 1);
        }
        if (json_is_object(each.node))
            error = visit(doc, &each, &path, self);
    }
    buffer_release(&path);
    return error;
}

static struct error rebase_workload(struct json_doc *doc, struct json_value *workload, struct buffer *path,
                                    const void *self)
{
    const size_t length = path->length;
    const char *model = json_string_value(json_object_get(workload->node, "model"));
    buffer_string(path, "trace");
    TRY(doc_rebase(doc, self, buffer_c_string(path)));
    if (model == NULL || !text_is_json_path(model))
        return ERROR_OK;
    path->length = length;
    buffer_string(path, "model");
    return doc_rebase(doc, self, buffer_c_string(path));
}

struct error doc_rebase_workload(struct json_doc *doc, const char *folder)
{
    return each_workload(doc, rebase_workload, folder);
}

static struct error expand_model(struct json_doc *doc, struct json_value *workload, struct buffer *path,
                                 const void *self)
{
    (void)self;
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

struct error doc_expand_models(struct json_doc *doc)
{
    return each_workload(doc, expand_model, NULL);
}
