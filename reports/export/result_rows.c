/* reports/export/result_rows.c -- see reports/export/result_rows.h. */
#include "reports/export/result_rows.h"

#include <float.h>

#include "base/buffer.h"
#include "base/json.h"
#include "reports/record_check.h"

/* An object of metrics: {"name": {"value", "unit", "better"}, ...}. */
static struct error read_group(const struct json_value *group, const char *cut, const char *key,
                               const struct result_rows *rows)
{
    struct json_object object;
    const char *name;
    json_object_open(&object, group);
    for (size_t i = 0; (name = json_object_key(&object, i)) != NULL; i++) {
        const struct json_value value = json_member(&object, name);
        struct json_object metric;
        json_object_open(&metric, &value);
        json_need(&metric, "value");
        const struct metric_value found = {.name = name,
                                           .cut = cut,
                                           .key = key,
                                           .value = json_get_real(&metric, "value", -DBL_MAX, DBL_MAX, 0),
                                           .unit = json_get_string(&metric, "unit", ""),
                                           .better = json_get_string(&metric, "better", "")};
        json_object_close(&metric);
        if (error_is(*group->error))
            return ERROR_OK; /* the caller has the sticky error */
        TRY(rows->on_metric(rows->self, &found));
    }
    return ERROR_OK;
}

static struct error read_cut(const struct json_value *cut, const char *name, const struct result_rows *rows)
{
    struct json_object object;
    const char *key;
    json_object_open(&object, cut);
    for (size_t i = 0; (key = json_object_key(&object, i)) != NULL; i++) {
        const struct json_value group = json_member(&object, key);
        TRY(read_group(&group, name, key, rows));
    }
    return ERROR_OK;
}

static struct error read_metrics(struct json_object *root, const struct result_rows *rows)
{
    const struct json_value all = json_member(root, "metrics"), by = json_member(root, "by");
    struct json_object cuts;
    const char *name;
    if (rows->on_metric == NULL)
        return ERROR_OK;
    if (all.node != NULL)
        TRY(read_group(&all, "all", "all", rows));
    if (by.node == NULL)
        return ERROR_OK;
    json_object_open(&cuts, &by);
    for (size_t i = 0; (name = json_object_key(&cuts, i)) != NULL; i++) {
        const struct json_value cut = json_member(&cuts, name);
        TRY(read_cut(&cut, name, rows));
    }
    return ERROR_OK;
}

static struct error read_members(struct json_object *root, const char *section, const char *prefix,
                                 const struct result_rows *rows)
{
    const struct json_value value = json_member(root, section);
    struct json_object object;
    const char *key;
    struct buffer name = {0};
    struct error error = ERROR_OK;
    if (rows->on_manifest == NULL || value.node == NULL)
        return ERROR_OK;
    json_object_open(&object, &value);
    for (size_t i = 0; !error_is(error) && (key = json_object_key(&object, i)) != NULL; i++) {
        name.length = 0;
        buffer_string(&name, prefix);
        buffer_string(&name, key);
        error = rows->on_manifest(rows->self, buffer_c_string(&name), json_member(&object, key).node);
    }
    buffer_release(&name);
    return error;
}

static struct error read_doc(struct json_doc *doc, const struct result_rows *rows)
{
    struct error sticky = ERROR_OK;
    const struct json_value value = json_doc_root(doc, &sticky);
    struct json_object root;
    json_object_open(&root, &value);
    struct error error = read_members(&root, "manifest", "", rows);
    if (!error_is(error))
        error = read_members(&root, "facts", "facts.", rows);
    if (!error_is(error))
        error = read_metrics(&root, rows);
    if (!error_is(error))
        return sticky;
    error_release(&sticky);
    return error;
}

struct error result_rows_read(const char *folder, const struct result_rows *rows)
{
    struct json_doc *doc;
    TRY(record_check_open(&doc, folder));
    struct error error = read_doc(doc, rows);
    json_doc_free(doc);
    return error;
}
