#include "sim/scenario/scenario.h"
#include "policies/policy_config.h"

#include <string.h>

#include "base/buffer.h"
#include "policies/config/presets.h"
#include "sim/plugins/guard.h"
#include "sim/scenario/scenario_files.h"
#include "sim/scenario/scenario_gate.h"
#include "sim/scenario/world_read.h"
#include "topologies/cluster_load.h"
#include "workloads/readers/freeze.h"
#include "workloads/synth/synth_spec.h"

static const char empty_scenario[] = "{}";

static const char *folder_of(struct scenario *scenario, const char *path)
{
    const char *slash = strrchr(path, '/');
    return arena_copy(&scenario->arena, (struct text){path, slash == NULL ? 0 : (size_t)(slash - path) + 1});
}

/* A member without a question to the reader. */
static struct json_value member_of(const struct json_value *object, const char *key)
{
    struct json_value member = *object;
    member.parent = object;
    member.key = key;
    member.node = json_object_get(object->node, key);
    return member;
}

/* ---- Plug-ins: lists that grow ---- */

static json_t *list_at(struct json_doc *doc, const char *first, const char *second)
{
    struct error ignored = ERROR_OK;
    json_t *node = json_object_get(json_doc_root(doc, &ignored).node, first);
    return second != NULL ? json_object_get(node, second) : node;
}

static struct error set_value(struct json_doc *doc, const char *path, const json_t *value)
{
    struct buffer assignment = {0};
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    buffer_format(&assignment, "%s=%s", path, text);
    struct error error = json_doc_set(doc, buffer_c_string(&assignment));
    buffer_release(&assignment);
    mem_free(text);
    return error;
}

/* Append the strings of `more` to the array at the path, or create it.  If the value there is no array, its reader
 * reports that. */
static struct error append_list(struct json_doc *doc, const char *path, json_t *present, json_t *more)
{
    if (json_array_size(more) == 0 || (present != NULL && !json_is_array(present)))
        return ERROR_OK;
    json_t *all = json_array();
    json_array_extend(all, present);
    json_array_extend(all, more);
    struct error error = set_value(doc, path, all);
    json_decref(all);
    return error;
}

static struct error append_plugins(struct scenario *scenario, const struct plugin_options *options)
{
    json_t *paths = json_array();
    for (size_t i = 0; i < options->count; i++)
        json_array_append_new(paths, json_string(options->paths[i]));
    struct error error = json_array_size(paths) != options->count
                             ? error_new(ERROR_USAGE, "the file that '--plugin' names must be UTF-8")
                             : append_list(scenario->doc, "plugins", list_at(scenario->doc, "plugins", NULL), paths);
    json_decref(paths);
    return error;
}

static struct error open_doc(struct scenario *scenario, const struct scenario_options *options)
{
    const char *path = options->path;
    if (options->text != NULL) {
        TRY(json_doc_parse(&scenario->doc, "scenario", text_of(options->text), ERROR_CONFIG));
        json_doc_listen(scenario->doc, options->listener);
        return ERROR_OK;
    }
    if (path == NULL)
        return json_doc_parse(&scenario->doc, "command line", text_of(empty_scenario), ERROR_CONFIG);
    TRY(scenario_files_read(&scenario->doc, path, scenario->digest));
    return scenario_files_rebase(scenario->doc, folder_of(scenario, path));
}

/* ---- Overrides ---- */

/* Set a field to a string that the user typed. */
static struct error set_typed(struct json_doc *doc, const char *field, const char *value)
{
    struct buffer assignment = {0};
    buffer_format(&assignment, "%s=", field);
    buffer_json(&assignment, text_of(value));
    struct error error = json_doc_set_typed(doc, buffer_c_string(&assignment));
    buffer_release(&assignment);
    return error;
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Does it change something in `member` of the workload, or of a part of a merge? */
static bool is_inside(const char *assignment, const char *member)
{
    static const char workload[] = "workload.", merge[] = "workload.merge.";
    const char *at = assignment + sizeof workload - 1;
    if (!starts_with(assignment, workload))
        return false;
    if (starts_with(assignment, merge)) {
        at = assignment + sizeof merge - 1;
        at += strcspn(at, ".=");
        at += *at == '.';
    }
    return starts_with(at, member);
}

/* Overrides within the own file of the cluster, the policy, a workload's model or its map of columns wait until that
 * file is in place. */
static bool is_late(const char *assignment)
{
    if (starts_with(assignment, "cluster.") || is_inside(assignment, "model.") || is_inside(assignment, "columns."))
        return true;
    return starts_with(assignment, "policy.") && !starts_with(assignment, "policy.preset=") &&
           !starts_with(assignment, "policy.file=");
}

static struct error apply_shorthands(struct scenario *scenario, const struct scenario_options *options)
{
    struct json_doc *doc = scenario->doc;
    if (options->trace != NULL) {
        TRY(json_doc_set_typed(doc, "workload={}"));
        TRY(set_typed(doc, "workload.trace", options->trace));
    }
    if (options->format != NULL)
        TRY(set_typed(doc, "workload.format", options->format));
    if (options->cluster != NULL)
        TRY(set_typed(doc, "cluster", options->cluster));
    if (options->policy != NULL) {
        TRY(json_doc_set_typed(doc, "policy={}"));
        TRY(set_typed(doc, text_is_json_path(options->policy) ? "policy.file" : "policy.preset", options->policy));
    }
    if (options->title != NULL)
        TRY(set_typed(doc, "title", options->title));
    TRY(append_plugins(scenario, &options->plugins));
    if (options->seed != NULL) {
        struct buffer assignment = {0};
        buffer_format(&assignment, "seed=%s", options->seed);
        struct error error = json_doc_set(doc, buffer_c_string(&assignment));
        buffer_release(&assignment);
        return error;
    }
    return ERROR_OK;
}

static struct error apply_sets(struct scenario *scenario, const struct scenario_options *options, bool late)
{
    for (size_t i = 0; i < options->set_count; i++)
        if (is_late(options->sets[i]) == late)
            TRY(json_doc_set_typed(scenario->doc, options->sets[i]));
    return ERROR_OK;
}

/* ---- The cluster and the policy come from other files ---- */

static bool has_late_cluster_set(const struct scenario_options *options)
{
    for (size_t i = 0; i < options->set_count; i++)
        if (starts_with(options->sets[i], "cluster."))
            return true;
    return false;
}

static struct error expand_cluster(struct scenario *scenario, const struct scenario_options *options)
{
    struct error error = ERROR_OK;
    struct json_value root = json_doc_root(scenario->doc, &error);
    struct json_value named = member_of(&root, "cluster");
    scenario->cluster_path = "";
    if (!json_is_string(named.node))
        return ERROR_OK;
    const char *path = arena_copy(&scenario->arena, text_of(json_value_file(&named, "cluster")));
    struct cluster_file file;
    TRY(error);
    scenario->cluster_path = path;
    TRY(cluster_load_file(&file, path));
    memcpy(scenario->cluster_digest, file.digest, sizeof file.digest);
    if (file.doc != NULL)
        return json_doc_graft(scenario->doc, "cluster", file.doc);
    scenario->cluster = file.cluster;
    if (has_late_cluster_set(options))
        return error_new(ERROR_CONFIG, "%s is a node list: its nodes cannot be changed by --set cluster.", path);
    return ERROR_OK;
}

/* ---- What loads are of ---- */

/* Is some load of the workload relative to a number of GPUs that is not given? */
static bool has_open_load(json_t *workload)
{
    json_t *synth = json_object_get(workload, "synth"), *merge = json_object_get(workload, "merge"), *part;
    size_t i;
    if (json_object_get(workload, "load_gpus") != NULL)
        return false;
    json_array_foreach(merge, i, part)
    {
        if (has_open_load(part))
            return true;
    }
    return json_number_value(json_object_get(workload, "load")) > 0 || json_object_get(synth, "load_whole_gpu") != NULL;
}

uint32_t scenario_open_load_gpus(const struct scenario *scenario)
{
    json_t *workload = list_at(scenario->doc, "workload", NULL);
    const bool is_word = json_is_string(json_object_get(workload, "load_gpus"));
    return is_word || has_open_load(workload) ? scenario->cluster->gpu_count : 0;
}

/* A load is relative to the GPUs of the named cluster before overrides: these change what the cluster can do, not what
 * the jobs ask for.  The number is written into the scenario, so that its resolved text gives the same load. */
static struct error fix_load(struct scenario *scenario, const struct scenario_options *options)
{
    struct error error = ERROR_OK;
    if (!has_late_cluster_set(options) || !has_open_load(list_at(scenario->doc, "workload", NULL)))
        return ERROR_OK;
    const struct json_value root = json_doc_root(scenario->doc, &error), value = member_of(&root, "cluster");
    if (!json_is_object(value.node))
        return ERROR_OK; /* its reader reports that */
    struct cluster *named = cluster_load_json(&value);
    if (error_is(error)) {
        error_set_hint(&error, "the workload's load is of the cluster before --set changes it; "
                               "name its GPUs with workload.load_gpus");
        cluster_free(named);
        return error;
    }
    struct buffer assignment = {0};
    buffer_format(&assignment, "workload.load_gpus=%u", named->gpu_count);
    cluster_free(named);
    error = json_doc_set(scenario->doc, buffer_c_string(&assignment));
    buffer_release(&assignment);
    return error;
}

struct error scenario_preset_doc(struct json_doc **doc, const struct json_value *value)
{
    const char *names[64], *name = json_value_string(value);
    uint32_t count = 0;
    for (const struct embedded_text *preset = policy_preset_texts; preset->name != NULL && count < 63; preset++)
        names[count++] = preset->name;
    names[count] = NULL;
    json_note_choices(value, names);
    for (const struct embedded_text *preset = policy_preset_texts; preset->name != NULL; preset++)
        if (strcmp(preset->name, name) == 0)
            return json_doc_parse(doc, preset->name, (struct text){preset->text, preset->length}, ERROR_CONFIG);
    json_fail(value, "there is no policy preset '%s'", name);
    const char *near = text_nearest(text_of(name), names);
    if (near != NULL)
        error_set_hint(value->error, "did you mean '%s'? `windtunnel policy list` lists them", near);
    else
        error_set_hint(value->error, "`windtunnel policy list` lists them; a file's name holds '/' or ends in .json");
    return *value->error;
}

struct error scenario_policy_doc(struct json_doc **doc, const char *policy)
{
    struct buffer quoted = {0};
    struct json_doc *name;
    if (text_is_json_path(policy))
        return scenario_files_read(doc, policy, NULL);
    buffer_json(&quoted, text_of(policy));
    struct error error = json_doc_parse(&name, "--policy", (struct text){quoted.bytes, quoted.length}, ERROR_CONFIG);
    buffer_release(&quoted);
    TRY(error);
    struct json_value value = json_doc_root(name, &error);
    error = scenario_preset_doc(doc, &value);
    json_doc_free(name);
    return error;
}

/* The fields of policy.set as assignments below "policy.", kept while the preset replaces the policy. */
static char **policy_sets(struct scenario *scenario, size_t *count)
{
    struct error ignored = ERROR_OK;
    json_t *root = json_doc_root(scenario->doc, &ignored).node;
    json_t *set = json_object_get(json_object_get(root, "policy"), "set"), *value;
    const char *key;
    *count = 0;
    char **list = arena_alloc_array(&scenario->arena, json_object_size(set) + 1, char *);
    json_object_foreach(set, key, value)
    {
        struct buffer assignment = {0};
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        buffer_format(&assignment, "policy.%s=%s", key, text != NULL ? text : "null");
        list[(*count)++] = arena_copy(&scenario->arena, (struct text){assignment.bytes, assignment.length});
        mem_free(text);
        buffer_release(&assignment);
    }
    return list;
}

/* Replace the policy by the file or preset that it names.  Its own "set", "plugins" and "typical" are kept. */
static struct error replace_policy(struct scenario *scenario, const char *file, bool is_typed,
                                   const struct json_value *preset)
{
    size_t set_count;
    char **sets = policy_sets(scenario, &set_count);
    struct json_doc *doc;
    const char *folder = file != NULL ? folder_of(scenario, file) : "";
    TRY(file != NULL ? scenario_files_read(&doc, file, NULL) : scenario_preset_doc(&doc, preset));
    struct error error = scenario_files_rebase_policy(doc, folder);
    if (error_is(error)) {
        json_doc_free(doc);
        return error;
    }
    json_t *plugins = json_incref(list_at(scenario->doc, "policy", "plugins"));
    json_t *typical = json_incref(list_at(scenario->doc, "policy", "typical"));
    if (is_typed) /* then what the file names is the user's choice, too */
        error = json_doc_set_typed(scenario->doc, "policy={}");
    if (!error_is(error))
        error = json_doc_graft(scenario->doc, "policy", doc);
    if (!error_is(error))
        error = append_list(scenario->doc, "policy.plugins", list_at(scenario->doc, "policy", "plugins"), plugins);
    if (!error_is(error) && typical != NULL)
        error = set_value(scenario->doc, "policy.typical", typical);
    json_decref(plugins);
    json_decref(typical);
    for (size_t i = 0; i < set_count && !error_is(error); i++)
        error = json_doc_set(scenario->doc, sets[i]);
    return error;
}

/* Replace policy.typical by the content of the file that it names. */
static struct error expand_typical(struct scenario *scenario)
{
    struct error error = ERROR_OK;
    struct json_doc *doc;
    const struct json_value root = json_doc_root(scenario->doc, &error);
    const struct json_value policy = member_of(&root, "policy"), value = member_of(&policy, "typical");
    if (!json_is_string(value.node))
        return ERROR_OK;
    const char *path = json_value_file(&value, "typical");
    TRY(error);
    TRY(scenario_files_read(&doc, path, NULL));
    return json_doc_graft(scenario->doc, "policy.typical", doc);
}

static struct error expand_policy(struct scenario *scenario)
{
    struct error error = ERROR_OK;
    struct json_value root = json_doc_root(scenario->doc, &error);
    struct json_object top, object;
    json_object_open(&top, &root);
    TRY(error);
    struct json_value value = json_member(&top, "policy");
    if (!json_is_object(value.node))
        return ERROR_OK; /* absent: the defaults; the reader reports a wrong type */
    json_object_open(&object, &value);
    struct json_value preset = json_member(&object, "preset"), set = json_member(&object, "set");
    const struct json_value named = json_member(&object, "file");
    const bool is_typed = named.node != NULL && json_value_is_typed(&named);
    const char *file = json_value_file(&named, "policy");
    if (preset.node == NULL && file == NULL && !error_is(error))
        return ERROR_OK; /* inline */
    if (preset.node != NULL && file != NULL)
        json_fail(&value, "'policy' names both a preset and a file");
    if (preset.node != NULL)
        json_value_string(&preset);
    if (set.node != NULL)
        json_object_open(&(struct json_object){0}, &set);
    json_member(&object, "plugins");
    json_member(&object, "typical");
    json_object_close(&object);
    TRY(error);
    return replace_policy(scenario, file, is_typed, &preset);
}

/* ---- Reading the whole ---- */

static void read_policy(struct scenario *scenario, const struct json_value *value)
{
    struct json_object object;
    if (value->node == NULL) {
        scenario->policy = policy_config_default();
        return;
    }
    json_object_open(&object, value);
    struct json_value plugins = json_member(&object, "plugins");
    plugins_read(&scenario->plugins, &plugins, "");
    policy_config_read_with(&scenario->policy, value, &scenario->plugins.set);
    policy_config_need_allocate(&scenario->policy, value);
}

static void read_typical(struct scenario *scenario, const struct json_value *policy)
{
    struct json_object object;
    if (policy->node == NULL || error_is(*policy->error))
        return;
    json_object_open(&object, policy);
    struct json_value value = json_member(&object, "typical");
    if (value.node == NULL)
        return;
    if (!policy_uses_typical(&scenario->policy)) {
        json_fail(&value, "the placement policy '%s' does not ask which jobs are typical",
                  scenario->policy.placement->name);
        error_set_hint(value.error, "'fgd' does; remove 'typical', or choose that");
        return;
    }
    struct wire *wire = wire_new(scenario->cluster, NULL);
    const struct job_group *kinds = wire_read_kinds(wire, &value, &scenario->typical_count);
    if (!error_is(*value.error)) {
        scenario->typical = arena_alloc_array(&scenario->arena, scenario->typical_count, struct job_group);
        memcpy(scenario->typical, kinds, scenario->typical_count * sizeof *kinds);
    }
    wire_free(wire);
}

/* Its dates are on the clock of the trace, if the jobs are of one. */
static void read_capacity(struct scenario *scenario, const struct json_value *world)
{
    const struct workload_spec *workload = &scenario->workload;
    const struct capacity_clock clock = {.is_known = workload->trace != NULL, .zone = workload->zone};
    struct json_object object;
    if (world->node == NULL || error_is(*world->error))
        return;
    json_object_open(&object, world);
    const struct json_value capacity = json_member(&object, "capacity");
    scenario->world.capacity = capacity_table_read(&capacity, scenario->cluster, clock, &scenario->arena);
}

/* After the workload, whose classes its checkpoint plans may name. */
static void read_world(struct scenario *scenario, const struct json_value *value)
{
    const struct synth_spec *synth = scenario->workload.synth;
    const char *classes[SYNTH_CLASSES_MAX + 1] = {NULL};
    for (uint32_t i = 0; synth != NULL && i < synth->class_count; i++)
        classes[i] = synth->classes[i].name;
    world_config_read(&scenario->world, value, &scenario->arena, synth != NULL ? classes : NULL);
    read_capacity(scenario, value);
}

static void need(struct json_object *object, const char *key, const char *what)
{
    if (!json_has(object, key))
        json_fail(&object->value, "the scenario has no '%s': %s", key, what);
}

static void read_all(struct scenario *scenario, struct error *error)
{
    struct json_value root = json_doc_root(scenario->doc, error);
    struct json_object object;
    json_object_open(&object, &root);
    json_get_string(&object, "name", NULL); /* for readers; the page's title unless there is `title` */
    json_get_string(&object, "title", NULL);
    json_member(&object, "service_levels"); /* read with the metrics: reports/service_levels.h */
    json_member(&object, "gates");          /* reports/gates.h */
    need(&object, "cluster", "name a file with --cluster or in the scenario");
    need(&object, "workload", "name a trace with --trace or give the scenario a workload");
    struct json_value cluster = json_member(&object, "cluster"), workload = json_member(&object, "workload");
    struct json_value policy = json_member(&object, "policy"), world = json_member(&object, "world"),
                      plugins = json_member(&object, "plugins");
    json_member(&object, "queues"); /* read with the jobs */
    scenario->seed = (uint64_t)json_get_int(&object, "seed", 0, INT64_MAX, 1);
    if (error_is(*error))
        return;
    if (scenario->cluster == NULL)
        scenario->cluster = cluster_load_json(&cluster);
    workload_read(&scenario->workload, &workload, "");
    plugins_read(&scenario->plugins, &plugins, "");
    read_policy(scenario, &policy);
    read_typical(scenario, &policy);
    read_world(scenario, &world);
    scenario->world.activity = scenario->workload.activity;
    json_object_close(&object);
}

static struct error load(struct scenario *scenario, const struct scenario_options *options)
{
    struct error error = ERROR_OK;
    TRY(plugins_take_timeout(&scenario->plugins, &options->plugins));
    const struct json_gate gate = {.self = scenario, .on_file = scenario_gate_ask};
    scenario->options = options;
    TRY(open_doc(scenario, options));
    json_doc_guard(scenario->doc, &gate);
    TRY(apply_shorthands(scenario, options));
    TRY(apply_sets(scenario, options, false));
    TRY(expand_cluster(scenario, options));
    TRY(scenario_files_expand(scenario->doc));
    TRY(expand_policy(scenario));
    TRY(fix_load(scenario, options));
    TRY(apply_sets(scenario, options, true));
    TRY(expand_typical(scenario));
    read_all(scenario, &error);
    json_doc_guard(scenario->doc, NULL);
    TRY(error);
    scenario->options = NULL;
    scenario->resolved = json_doc_canonical_new(scenario->doc);
    struct json_value policy = json_doc_root(scenario->doc, &error);
    policy.node = json_object_get(policy.node, "policy");
    scenario->policy_text = policy.node != NULL ? json_value_canonical_new(&policy) : mem_copy_text("{}");
    return ERROR_OK;
}

struct error scenario_load(struct scenario *scenario, const struct scenario_options *options)
{
    *scenario = (struct scenario){0};
    struct error error = load(scenario, options);
    if (error_is(error))
        scenario_release(scenario);
    return error;
}

void scenario_release(struct scenario *scenario)
{
    plugins_release(&scenario->plugins);
    cluster_free(scenario->cluster);
    workload_release(&scenario->workload);
    json_doc_free(scenario->doc);
    mem_free(scenario->resolved);
    mem_free(scenario->policy_text);
    mem_free(scenario->opened);
    arena_release(&scenario->arena);
    *scenario = (struct scenario){0};
}

const char *scenario_title(const struct scenario *scenario)
{
    const char *title = json_string_value(json_doc_at(scenario->doc, "title"));
    return title != NULL ? title : json_string_value(json_doc_at(scenario->doc, "name"));
}

/* Does the workload bring queues of its own, below which others may lie?  Tenants of a synthesized workload and frozen
 * traces do; other workloads name queues of the scenario. */
static bool brings_queues(const struct workload_spec *workload)
{
    if (workload->trace != NULL)
        return freeze_is_frozen(workload->trace);
    for (uint32_t i = 0; i < workload->part_count; i++)
        if (brings_queues(&workload->parts[i].spec))
            return true;
    return workload->synth != NULL && workload->synth->tenants.projects > 0;
}

struct error scenario_open(const struct scenario *scenario, struct job_source **source)
{
    struct error error = ERROR_OK;
    struct json_value root = json_doc_root(scenario->doc, &error);
    struct json_object object;
    json_object_open(&object, &root);
    struct json_value queues = json_member(&object, "queues");
    const bool is_after = brings_queues(&scenario->workload);
    struct queue_table *table = queue_table_new();
    *source = NULL;
    if (queues.node != NULL && !is_after)
        queue_table_read(table, &queues);
    if (table->count > 1)
        table->declared_count = table->count;
    if (error_is(error)) {
        queue_table_free(table);
        return error;
    }
    TRY(job_source_open_with(source, &scenario->workload, scenario->cluster, scenario->seed, table));
    if (queues.node != NULL && is_after && scenario->workload.synth == NULL)
        queue_table_merge(job_source_queues(*source), &queues);
    else if (queues.node != NULL && is_after)
        queue_table_read(job_source_queues(*source), &queues);
    if (error_is(error)) {
        job_source_close(*source);
        *source = NULL;
    }
    return error;
}

struct engine_config scenario_engine(const struct scenario *scenario, struct job_source *source)
{
    return (struct engine_config){.watch = scenario->plugins.set.count > 0 ? &guard_watch : NULL,
                                  .cluster = scenario->cluster,
                                  .source = source,
                                  .policy = &scenario->policy,
                                  .world = scenario->world,
                                  .seed = scenario->seed,
                                  .typical = scenario->typical,
                                  .typical_count = scenario->typical_count};
}
