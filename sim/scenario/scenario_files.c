#include "sim/scenario/scenario_files.h"

#include <string.h>

#include "base/buffer.h"

struct place {
    const char *role, *field;
    bool is_list;
};

static const struct place of_scenario[] = {{"trace", "workload.trace", false}, {"columns", "workload.columns", false},
                                           {"cluster", "cluster", false},      {"typical", "policy.typical", false},
                                           {"plugin", "plugins", true},        {"plugin", "policy.plugins", true},
                                           {"policy", "policy.file", false}};
static const struct place of_policy[] = {{"plugin", "plugins", true}, {"typical", "typical", false}};

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

static struct error tell_all(const struct json_doc *doc, const struct place *places, size_t count, scenario_file_fn *fn,
                             void *self)
{
    for (const struct place *place = places; place < places + count; place++)
        TRY(place->is_list ? tell_list(doc, place, fn, self)
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
