#include "reports/values.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "reports/record_check.h"

static void add(struct values *values, struct metric_selector of, const struct metric *metric, double number)
{
    MEM_GROW(values->list, values->capacity, values->count + 1);
    values->list[values->count++] = (struct value){.of = of, .metric = metric, .number = number};
}

/* ---- From result.json ---- */

static void read_group(struct values *values, const struct json_value *group, const char *cut, const char *key)
{
    struct json_object object;
    const char *name;
    json_object_open(&object, group);
    for (size_t m = 0; (name = json_object_key(&object, m)) != NULL; m++) {
        struct json_value member = json_member(&object, name);
        const struct metric *metric = metric_find(name);
        struct json_object of;
        if (metric == NULL) {
            json_fail(&member, "this program knows no metric '%s': run the scenario again", name);
            return;
        }
        json_object_open(&of, &member);
        json_need(&of, "value");
        double number = json_get_real(&of, "value", -DBL_MAX, DBL_MAX, 0);
        add(values, (struct metric_selector){.metric = metric->name, .cut = cut, .key = key}, metric, number);
    }
}

static void read_cut(struct values *values, const struct json_value *groups, const char *cut)
{
    struct json_object object;
    const char *key;
    json_object_open(&object, groups);
    for (size_t i = 0; (key = json_object_key(&object, i)) != NULL; i++) {
        struct json_value group = json_member(&object, key);
        read_group(values, &group, cut, arena_copy(&values->arena, text_of(key)));
    }
}

static struct error read_doc(struct values *values, struct json_doc *doc)
{
    struct error error = ERROR_OK;
    struct json_value root = json_doc_root(doc, &error);
    struct json_object object, by;
    const char *cut;
    json_object_open(&object, &root);
    json_need(&object, "metrics");
    struct json_value group = json_member(&object, "metrics"), cuts = json_member(&object, "by");
    read_group(values, &group, NULL, NULL);
    if (cuts.node == NULL)
        return error;
    json_object_open(&by, &cuts);
    for (size_t c = 0; (cut = json_object_key(&by, c)) != NULL; c++) {
        struct json_value groups = json_member(&by, cut);
        read_cut(values, &groups, arena_copy(&values->arena, text_of(cut)));
    }
    return error;
}

/* Frees the document. */
static struct error read_values(struct values *out, struct json_doc *doc)
{
    struct error error = result_read_doc(&out->result, doc);
    if (!error_is(error))
        error = read_doc(out, doc);
    if (error_is(error))
        values_release(out);
    json_doc_free(doc);
    return error;
}

struct error values_read_text(struct values *out, const char *name, struct text text)
{
    struct json_doc *doc;
    *out = (struct values){0};
    TRY(json_doc_parse(&doc, name, text, ERROR_DATA));
    return read_values(out, doc);
}

struct error values_read(struct values *out, const char *folder)
{
    struct json_doc *doc;
    *out = (struct values){0};
    TRY(record_check_open(&doc, folder));
    TRY(read_values(out, doc));
    struct error error = record_check_files(folder, &out->result.manifest, false);
    if (error_is(error))
        values_release(out);
    return error;
}

double values_number(const struct values *values, const struct metric_selector *of)
{
    for (size_t v = 0; v < values->count; v++)
        if (metric_selector_is_same(&values->list[v].of, of))
            return values->list[v].number;
    return NAN;
}

void values_release(struct values *values)
{
    result_release(&values->result);
    mem_free(values->list);
    arena_release(&values->arena);
    *values = (struct values){0};
}
