/* windtunnel schema: what files may hold, as JSON Schema, learned from their readers. */
#include <string.h>

#include "policies/policy_config.h"
#include "reports/gates.h"
#include "sim/cases/case.h"
#include "studies/run/run.h"
#include "tools/schema.h"
#include "tools/verbs.h"
#include "topologies/cluster.h"
#include "workloads/load_model/load_model.h"
#include "workloads/readers/column_map.h"
#include "workloads/readers/source.h"

/* ---- The readers ---- */

typedef void read_root_fn(const struct json_value *root);

static struct error read_document(const char *text, const struct json_listener *listener, read_root_fn *read)
{
    struct json_doc *doc;
    TRY(json_doc_parse(&doc, "document", text_of(text), ERROR_CONFIG));
    struct error error = ERROR_OK;
    json_doc_listen(doc, listener);
    struct json_value root = json_doc_root(doc, &error);
    read(&root);
    json_doc_free(doc);
    return error;
}

static void read_policy_root(const struct json_value *root)
{
    const struct plugin_set none = {.count = 0};
    struct policy_config config;
    policy_config_read_with(&config, root, &none);
}

static struct error read_policy(void *self, const char *text, const struct json_listener *listener)
{
    (void)self;
    return read_document(text, listener, read_policy_root);
}

static void read_cluster_root(const struct json_value *root)
{
    cluster_free(cluster_read(root));
}

static struct error read_cluster(void *self, const char *text, const struct json_listener *listener)
{
    (void)self;
    return read_document(text, listener, read_cluster_root);
}

static void read_gates_root(const struct json_value *root)
{
    struct arena arena = {0};
    gates_of_root(root, &arena);
    arena_release(&arena);
}

static struct error read_gates(void *self, const char *text, const struct json_listener *listener)
{
    (void)self;
    return read_document(text, listener, read_gates_root);
}

/* Accepted if all its cases can be run. */
static struct error read_case(void *self, const char *text, const struct json_listener *listener)
{
    struct case_file file;
    struct error error = ERROR_OK;
    (void)self;
    TRY(case_file_read_text(&file, "document", text_of(text), NULL, listener));
    for (size_t i = 0; i < file.count && !error_is(error); i++) {
        error = file.cases[i].error;
        file.cases[i].error = ERROR_OK;
    }
    case_file_release(&file);
    return error;
}

/* As a run reads it before it begins: the scenario, its queues, its workload, its service levels and gates. */
static struct error read_scenario(void *self, const char *text, const struct json_listener *listener)
{
    const struct scenario_options options = {.text = text, .gate = &scenario_open_gate, .listener = listener};
    struct scenario scenario;
    struct job_source *source = NULL;
    struct arena arena = {0};
    struct service_levels levels;
    struct gates gates;
    (void)self;
    TRY(scenario_load(&scenario, &options));
    struct error error = run_service_levels(&scenario, &arena, &levels);
    if (!error_is(error))
        error = run_gates(&scenario, &arena, &gates);
    if (!error_is(error))
        error = scenario_open(&scenario, &source);
    job_source_close(source);
    scenario_release(&scenario);
    arena_release(&arena);
    return error;
}

static void read_model_root(const struct json_value *root)
{
    struct arena arena = {0};
    load_model_read(root, &arena);
    arena_release(&arena);
}

static struct error read_model(void *self, const char *text, const struct json_listener *listener)
{
    (void)self;
    return read_document(text, listener, read_model_root);
}

static void read_map_root(const struct json_value *root)
{
    struct arena arena = {0};
    struct column_map map;
    column_map_read(&map, root, &arena);
    arena_release(&arena);
}

static struct error read_map(void *self, const char *text, const struct json_listener *listener)
{
    (void)self;
    return read_document(text, listener, read_map_root);
}

static const char *const empty[] = {"{}", NULL};

/* Fields as names of columns, and as objects; a time and an amount. */
#define MAP_OF(time, amount)                                                                                           \
    "{\"columns\": [\"a\"], \"recognize\": [\"a\"], \"missing\": [\"-\"], \"skip\": [{\"column\": \"a\", \"is\": "     \
    "[\"b\"], "                                                                                                        \
    "\"why\": \"c\"}], \"fields\": {\"submit_s\": " time ", \"duration_s\": " time ", \"gpus\": " amount "}}"
static const char *const maps[] = {
    MAP_OF("\"a\"", "\"a\""),
    MAP_OF("{\"column\": \"a\", \"words\": {\"b\": \"1\"}, \"only\": {\"a\": [\"b\"]}}",
           "{\"column\": \"a\", \"words\": {\"b\": \"1\"}, \"only\": {\"a\": [\"b\"]}}"),
    "{\"tables\": {\"" SCHEMA_SAMPLE "\": {\"columns\": [\"a\"], \"key\": {\"" SCHEMA_SAMPLE
    "\": \"a\"}, \"key_if_there\": {\"" SCHEMA_SAMPLE "\": \"b\"}, \"skip\": [{\"column\": \"a\", \"is\": "
    "[\"b\"], \"why\": \"c\"}], \"fields\": {\"submit_s\": {\"column\": \"a\"}, \"gpus\": {\"column\": \"a\"}, "
    "\"user\": {\"column\": \"a\"}}}}, \"fields\": {\"submit_s\": \"a\", \"duration_s\": \"a\", \"gpus\": \"a\"}}",
    NULL,
};

/* Kinds, or the sizes of a law.  Distributions of two gammas and of points in each place: pairs of numbers, and arrays
 * of two points, are not tried. */
#define MODEL_OF(gaps, factor, jobs)                                                                                   \
    "{\"workload_model\": 1, \"streams\": [{\"name\": \"a\", \"arrivals\": {\"jobs_per_day\": 1, \"gaps\": " gaps      \
    "}, \"request\": {\"factor\": " factor "}, " jobs "}]}"
#define KINDS_OF(run_time) "\"kinds\": [{\"gpus\": 1, \"run_time\": " run_time "}]"
#define SIZES_OF(run_time)                                                                                             \
    "\"sizes\": {\"serial\": 0.5, \"power_of_2\": 0.2, \"low\": 0, \"medium\": 1, \"high\": 2, \"low_share\": 0.5}, "  \
    "\"run_time\": " run_time
#define TWO_GAMMAS                                                                                                     \
    "{\"distribution\": \"hyper-gamma\", \"first_share\": 0.5, \"shapes\": [1, 1], \"scales\": [0.5, 0.5]}"
#define POINTS "{\"distribution\": \"empirical\", \"points\": [[0, 1], [1, 2]]}"
static const char *const models[] = {
    MODEL_OF(TWO_GAMMAS, TWO_GAMMAS, KINDS_OF(TWO_GAMMAS)),
    MODEL_OF(POINTS, POINTS, KINDS_OF(POINTS)),
    MODEL_OF(POINTS, POINTS, SIZES_OF(TWO_GAMMAS)),
    MODEL_OF(POINTS, POINTS, SIZES_OF(POINTS)),
    NULL,
};

/* A workload of each kind; no trace of that name is there. */
#define SCENARIO_OF(model)                                                                                             \
    "{\"cluster\": {\"pools\": [{\"nodes\": 1, \"gpus_per_node\": 8}]}, \"workload\": {\"jobs\": 1, \"model\": " model \
    "}}"
static const char *const scenarios[] = {
    "{\"cluster\": {\"pools\": [{\"nodes\": 1, \"gpus_per_node\": 8}]}, \"workload\": {\"trace\": \"" SCHEMA_SAMPLE
    "\"}, \"queues\": []}",
    "{\"cluster\": {\"pools\": [{\"nodes\": 1, \"gpus_per_node\": 8}]}, \"workload\": {\"synth\": {\"jobs\": 1, "
    "\"load_whole_gpu\": 0.5, \"tenants\": {\"projects\": 1}, \"classes\": [{\"name\": \"" SCHEMA_SAMPLE
    "\", \"share\": 1, \"arrivals\": {}, \"sizes\": [{\"gpus\": 1}], \"run_time\": {\"distribution\": \"exponential\", "
    "\"mean\": 1}}]}}, \"policy\": {}, \"world\": {}}",
    "{\"cluster\": {\"pools\": [{\"nodes\": 1, \"gpus_per_node\": 8}]}, \"workload\": {\"trace\": \"" SCHEMA_SAMPLE
    "\", \"fill\": {\"load\": 1}}, \"queues\": []}",
    "{\"cluster\": {\"pools\": [{\"nodes\": 1, \"gpus_per_node\": 8}]}, \"workload\": {\"merge\": [{\"trace\": "
    "\"" SCHEMA_SAMPLE "\"}]}}",
    SCENARIO_OF(MODEL_OF(TWO_GAMMAS, TWO_GAMMAS, KINDS_OF(TWO_GAMMAS))),
    SCENARIO_OF(MODEL_OF(POINTS, POINTS, SIZES_OF(TWO_GAMMAS))),
    NULL};

/* Both forms of a file, with a bound in seconds and one without. */
#define GATE(metric) "{\"metric\": \"" metric "\", \"max_increase\": 1, \"max\": 1, \"min\": 0}"
static const char *const gates[] = {
    "{\"gates\": [" GATE("queue_time_p95_s") "]}",
    "{\"gates\": [" GATE("allocation_ratio") "]}",
    "[" GATE("queue_time_p95_s") "]",
    "[" GATE("allocation_ratio") "]",
    NULL,
};

/* A gang in a subgroup that runs on two nodes, of which tasks are expected by number and by name.  What depends on the
 * number of tasks differs from the first case to the second.  A task without "gpus" may have a claim. */
#define SAMPLE     "\"" SCHEMA_SAMPLE "\""
#define CASE_NODES "[{\"name\": " SAMPLE ", \"gpus\": 8, \"gpu_model\": \"h100-80gb\"}, {\"name\": \"b\", \"gpus\": 8}]"
#define CASE_TASKS(more)                                                                                               \
    "[{\"name\": " SAMPLE ", \"subgroup\": " SAMPLE ", \"state\": \"running\", \"node\": " SAMPLE                      \
    "}, {\"count\": " more ", \"subgroup\": " SAMPLE ", \"gpus\": 1, \"state\": \"running\", \"node\": \"b\"}]"
#define CASE_JOBS(more)                                                                                                \
    "[{\"name\": " SAMPLE ", \"queue\": " SAMPLE ", \"subgroups\": [{\"name\": " SAMPLE                                \
    "}], \"tasks\": " CASE_TASKS(more) "}]"
#define CASE_OF(policy, more)                                                                                          \
    "{\"name\": " SAMPLE ", \"policy\": " policy ", \"levels\": [\"node\"], \"nodes\": " CASE_NODES                    \
    ", \"queues\": [{\"name\": " SAMPLE                                                                                \
    "}], \"jobs\": " CASE_JOBS(more) ", \"expect\": {" SAMPLE ": {\"evicted_tasks\": [1, " SAMPLE                      \
                                     "], \"node\": [" SAMPLE ", \"b\"], \"gpu_index\": [[], [0]]}}}"
static const char *const cases[] = {
    CASE_OF("{\"preset\": \"fifo\"}", "2"),
    CASE_OF("{}", "3"),
    "[" CASE_OF("{\"preset\": \"fifo\"}", "2") "]",
    "[" CASE_OF("{}", "3") "]",
    NULL,
};

static const struct {
    const char *name, *title;
    schema_read_fn *read;
    const char *const *seeds;
    bool is_whole; /* the file stands alone, where --set and its like give nothing */
} kinds[] = {
    {"scenario", "A scenario of Windtunnel (docs/scenario.md)", read_scenario, scenarios, false},
    {"cluster", "A cluster file of Windtunnel (topologies/README.md)", read_cluster, empty, true},
    {"policy", "A policy file of Windtunnel (docs/policies.md)", read_policy, empty, true},
    {"case", "A file of cases of Windtunnel (docs/cases.md)", read_case, cases, true},
    {"workload-model", "A model of a workload of Windtunnel (docs/synthesis.md)", read_model, models, true},
    {"columns", "A map of the columns of a trace of Windtunnel (docs/traces.md)", read_map, maps, true},
    {"gates", "A file of gates of Windtunnel (docs/statistics.md)", read_gates, gates, true},
    {0},
};

const char *schema_kind_name(size_t index)
{
    return kinds[index].name;
}

struct schema *schema_kind_learn_new(size_t index)
{
    struct schema *schema = schema_learn_new(kinds[index].read, NULL, kinds[index].seeds);
    if (!kinds[index].is_whole)
        schema_require_nothing(schema);
    return schema;
}

int verb_schema(const struct args *args)
{
    const char *name = args_operand(args, 0);
    struct buffer out = {0};
    for (size_t i = 0; kinds[i].name != NULL; i++) {
        if (strcmp(kinds[i].name, name) != 0)
            continue;
        struct schema *schema = schema_kind_learn_new(i);
        schema_print(schema, kinds[i].title, &out);
        schema_free(schema);
        return tool_print(&out);
    }
    struct error error = error_new(ERROR_USAGE, "there is no schema of a '%s'", name);
    error_set_hint(&error, "there are of a scenario, a cluster, a policy, a case, a workload-model, columns and gates");
    return tool_fail(&error);
}
