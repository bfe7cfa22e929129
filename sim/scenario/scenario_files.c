#include "sim/scenario/scenario_files.h"

#include <string.h>

#include "base/buffer.h"

enum shape { ONE, LIST, MEMBERS };

struct place {
    const char *role, *field;
    enum shape shape;
};

static const struct place of_scenario[] = {{"trace", "workload.trace", ONE},      {"columns", "workload.columns", ONE},
                                           {"table", "workload.tables", MEMBERS}, {"cluster", "cluster", ONE},
                                           {"typical", "policy.typical", ONE},    {"plugin", "plugins", LIST},
                                           {"plugin", "policy.plugins", LIST},    {"policy", "policy.file", ONE}};
static const struct place of_policy[] = {{"plugin", "plugins", LIST}, {"typical", "typical", ONE}};

static struct error tell(const struct place *place, const char *field, const json_t *value, scenario_file_fn *fn,
                         void *self)
{
    const struct scenario_file file = {place->role, field, json_string_value(value)};
    return file.path != NULL ? fn(self, &file) : ERROR_OK;
}

static struct error tell_list(const struct json_doc *doc, const struct place *place, scenario_file_fn *fn, void *self)
{
    for (size_t i = 0; i < json_array_size(json_doc_at(doc, place->field)); i++) {
        struct buffer field = {0};
        buffer_format(&field, "%s.%zu", place->field, i);
        struct error error =
            tell(place, buffer_c_string(&field), json_array_get(json_doc_at(doc, place->field), i), fn, self);
        buffer_release(&field);
        TRY(error);
    }
    return ERROR_OK;
}

/* Names of members hold no dot: their reader refuses those. */
static struct error tell_members(const struct json_doc *doc, const struct place *place, scenario_file_fn *fn,
                                 void *self)
{
    json_t *object = (json_t *)(uintptr_t)json_doc_at(doc, place->field), *value; /* iterating takes no const */
    const char *name;
    json_object_foreach(object, name, value)
    {
        struct buffer field = {0};
        buffer_format(&field, "%s.%s", place->field, name);
        struct error error =
            strchr(name, '.') == NULL ? tell(place, buffer_c_string(&field), value, fn, self) : ERROR_OK;
        buffer_release(&field);
        TRY(error);
    }
    return ERROR_OK;
}

static struct error tell_all(const struct json_doc *doc, const struct place *places, size_t count, scenario_file_fn *fn,
                             void *self)
{
    for (const struct place *place = places; place < places + count; place++)
        TRY(place->shape == LIST      ? tell_list(doc, place, fn, self)
            : place->shape == MEMBERS ? tell_members(doc, place, fn, self)
                                      : tell(place, place->field, json_doc_at(doc, place->field), fn, self));
    return ERROR_OK;
}

struct error scenario_files_each(const struct json_doc *scenario, scenario_file_fn *fn, void *self)
{
    return tell_all(scenario, of_scenario, sizeof of_scenario / sizeof *of_scenario, fn, self);
}

struct error scenario_files_each_of_policy(const struct json_doc *policy, scenario_file_fn *fn, void *self)
{
    return tell_all(policy, of_policy, sizeof of_policy / sizeof *of_policy, fn, self);
}

struct error scenario_files_set(struct json_doc *doc, const char *field, const char *path)
{
    struct buffer assignment = {0};
    buffer_format(&assignment, "%s=", field);
    buffer_json(&assignment, text_of(path));
    struct error error = json_doc_set(doc, buffer_c_string(&assignment));
    buffer_release(&assignment);
    return error;
}
