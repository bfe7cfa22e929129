/* sim/cases/case_file.c -- a file of cases, and the frame of one. */
#include <stdio.h>
#include <string.h>

#include "base/input.h"
#include "sim/cases/case_read.h"

enum { CASE_BYTES_MAX = 64 << 20, ROUNDS_MAX = 100000 };

/* Report the scheduler's complaint about the policy, the cluster and the queues together.  A policy that never starts a
 * job gives only a warning, since a case may show that. */
static void try_policy(struct case_reading *reading, const struct json_value *value)
{
    struct case_spec *spec = reading->spec;
    struct error error = ERROR_OK;
    struct sched *sched = sched_new(spec->cluster, spec->queues, &spec->policy, &error);
    if (sched == NULL)
        json_fail(value, "%s", error_message(&error));
    error_release(&error);
    sched_free(sched);
    struct json_value warned = *value;
    warned.error = &spec->warning;
    policy_config_need_allocate(&spec->policy, &warned);
}

/* Can the name stand in a line of the output? */
static bool is_plain_name(const char *name)
{
    bool is_plain = name != NULL && name[0] != '\0';
    for (const char *c = name; is_plain && *c != '\0'; c++)
        is_plain = (unsigned char)*c >= ' ' && *c != 127;
    return is_plain;
}

/* A name for a case that may be wrong: its own, or its number in the file. */
static const char *name_anyway(struct arena *arena, const struct json_value *value, size_t index)
{
    const char *name = json_string_value(json_object_get(value->node, "name"));
    if (is_plain_name(name))
        return name;
    char number[32];
    snprintf(number, sizeof number, "case %zu", index + 1);
    return arena_copy(arena, text_of(number));
}

static void check_name(struct json_object *object)
{
    json_need(object, "name");
    const char *name = json_get_string(object, "name", NULL);
    if (name == NULL || is_plain_name(name))
        return;
    struct json_value value = json_member(object, "name");
    json_fail(&value, "the name of a case must be one line that is not empty");
}

static void refuse_events(struct json_object *object)
{
    struct json_value events = json_member(object, "events");
    if (events.node == NULL || (json_is_array(events.node) && json_array_size(events.node) == 0))
        return;
    json_fail(&events, "'events' are not supported yet");
    error_set_hint(object->value.error, "write the situation after the event as a case of its own");
}

static void read_rounds(struct case_spec *spec, struct json_object *object)
{
    spec->rounds = (uint32_t)json_get_int(object, "rounds", 1, ROUNDS_MAX, 1);
    spec->stable_rounds = (uint32_t)json_get_int(object, "stable_rounds", 0, ROUNDS_MAX, 0);
    spec->round = case_duration(object, "round_s", TIME_NS_PER_S);
    if (spec->round <= 0) {
        struct json_value value = json_member(object, "round_s");
        json_fail(&value, "'round_s' must be positive");
    }
}

static void read_parts(struct case_reading *reading, struct json_object *object, const struct json_value *value)
{
    const struct json_value *policy = case_member(reading, object, value, "policy");
    const struct json_value *levels = case_member(reading, object, value, "levels");
    const struct json_value *classes = case_member(reading, object, value, "gpu_classes");
    const struct json_value *nodes = case_member(reading, object, value, "nodes");
    const struct json_value *queues = case_member(reading, object, value, "queues");
    const struct json_value *jobs = case_member(reading, object, value, "jobs");
    const struct json_value *expect = case_member(reading, object, value, "expect");
    json_need(object, "nodes");
    json_need(object, "jobs");
    json_need(object, "expect");
    if (!case_failed(reading))
        case_policy_read(reading, policy);
    if (!case_failed(reading))
        case_nodes_read(reading, nodes, levels);
    if (!case_failed(reading) && classes->node != NULL)
        cluster_read_classes(reading->spec->cluster, classes);
    if (!case_failed(reading))
        case_queues_read(reading, queues);
    if (!case_failed(reading))
        case_jobs_read(reading, jobs);
    if (!case_failed(reading))
        case_expect_read(reading, expect);
    if (!case_failed(reading))
        try_policy(reading, policy);
}

static void read_case(struct case_file *file, struct case_spec *spec, const char *path, const struct json_value *value)
{
    struct case_reading reading = {.spec = spec,
                                   .arena = &file->arena,
                                   .error = value->error,
                                   .path = path,
                                   .plugins = &file->plugins,
                                   .users = names_new(),
                                   .tags = names_new(),
                                   .job_names = names_new()};
    struct json_object object;
    spec->queues = queue_table_new();
    json_object_open(&object, value);
    check_name(&object);
    read_rounds(spec, &object);
    refuse_events(&object);
    read_parts(&reading, &object, value);
    json_object_close(&object);
    names_free(reading.users);
    names_free(reading.tags);
    names_free(reading.job_names);
}

static void read_all(struct case_file *file, const char *path, struct error *error)
{
    struct json_value root = json_doc_root(file->doc, error);
    file->count = json_list_count(&root);
    if (file->count == 0)
        json_fail(&root, "there is no case in this file");
    file->cases = arena_alloc_array(&file->arena, file->count, struct case_spec);
    for (size_t i = 0; i < file->count && !error_is(*error); i++) {
        struct json_value item = json_list_item(&root, i);
        file->cases[i].name = name_anyway(&file->arena, &item, i);
        item.error = &file->cases[i].error;
        read_case(file, &file->cases[i], path, &item);
    }
}

struct error case_file_read_text(struct case_file *file, const char *name, struct text text,
                                 const struct plugin_options *plugins, const struct json_listener *listener)
{
    *file = (struct case_file){0};
    struct error error = json_doc_parse(&file->doc, name, text, ERROR_DATA);
    if (!error_is(error) && listener != NULL)
        json_doc_listen(file->doc, listener);
    if (!error_is(error) && plugins != NULL)
        error = plugins_load_all(&file->plugins, plugins);
    if (!error_is(error))
        read_all(file, name, &error);
    if (error_is(error))
        case_file_release(file);
    return error;
}

struct error case_file_read(struct case_file *file, const char *path, const struct plugin_options *plugins)
{
    char *bytes;
    size_t length;
    *file = (struct case_file){0};
    TRY(input_read_all(path, CASE_BYTES_MAX, &bytes, &length));
    struct error error = case_file_read_text(file, path, (struct text){bytes, length}, plugins, NULL);
    mem_free(bytes);
    return error;
}

void case_file_release(struct case_file *file)
{
    for (size_t i = 0; file->cases != NULL && i < file->count; i++) {
        cluster_free(file->cases[i].cluster);
        queue_table_free(file->cases[i].queues);
        error_release(&file->cases[i].error);
        error_release(&file->cases[i].warning);
    }
    plugins_release(&file->plugins);
    json_doc_free(file->doc);
    arena_release(&file->arena);
    *file = (struct case_file){0};
}
