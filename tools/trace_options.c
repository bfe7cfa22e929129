#include "tools/trace_options.h"

#include <string.h>

#include "tools/installed.h"
#include "topologies/cluster_load.h"

enum { NODES_DEFAULT = 500, GPUS_PER_NODE_DEFAULT = 8 };

/* The assignments to a document that has only the trace. */
static struct error apply_sets(struct json_doc *doc, const char *trace, const char *const *sets, size_t count)
{
    static const char prefix[] = "workload.";
    struct buffer assignment = {0};
    buffer_string(&assignment, "workload.trace=");
    buffer_json(&assignment, text_of(trace));
    struct error error = json_doc_set(doc, buffer_c_string(&assignment));
    buffer_release(&assignment);
    for (size_t i = 0; i < count && !error_is(error); i++)
        error = strncmp(sets[i], prefix, sizeof prefix - 1) == 0
                    ? json_doc_set(doc, sets[i])
                    : error_new(ERROR_USAGE, "--set changes how a trace is read: it begins with workload., got '%s'",
                                sets[i]);
    return error;
}

/* The workload as the scenario of a run would have it. */
static struct error read_sets(struct workload_spec *spec, const char *trace, const char *const *sets, size_t count)
{
    struct json_doc *doc;
    struct error sticky = ERROR_OK;
    struct json_object object;
    TRY(json_doc_parse(&doc, "command line", TEXT("{}"), ERROR_CONFIG));
    struct error error = apply_sets(doc, trace, sets, count);
    if (!error_is(error)) {
        const struct json_value root = json_doc_root(doc, &sticky);
        json_object_open(&object, &root);
        const struct json_value workload = json_member(&object, "workload");
        workload_read(spec, &workload, "");
        error = sticky;
    }
    json_doc_free(doc);
    return error;
}

/* "job=pai_job_table.csv" */
static struct error tables_read(const struct args *args, struct workload_spec *spec)
{
    size_t count;
    const char *const *list = args_list(args, "table", &count);
    if (count == 0)
        return ERROR_OK;
    if (count > SIDE_FILES_MAX)
        return error_new(ERROR_USAGE, "a trace has at most %d tables", SIDE_FILES_MAX);
    for (size_t i = 0; i < count; i++) {
        struct text rest = text_of(list[i]), name;
        if (!text_cut(&rest, '=', &name) || name.length == 0 || rest.length == 0)
            return error_new(ERROR_USAGE, "--table must be NAME=FILE, got \"%s\"", list[i]);
        for (size_t j = 0; j < i; j++)
            if (text_equal(spec->tables[j].name, name))
                return error_new(ERROR_USAGE, "--table names '%.*s' twice", (int)name.length, name.at);
        spec->tables[i] = (struct table_path){name, installed_find(rest.at, "workloads/samples")};
    }
    spec->table_count = (uint32_t)count;
    return ERROR_OK;
}

struct error trace_options_read(const struct args *args, struct workload_spec *spec, uint64_t *seed)
{
    const char *zone = args_string(args, "tz"), *columns = args_string(args, "columns");
    const char *format = args_string(args, "format");
    const char *trace = installed_find(args_operand(args, 0), "workloads/samples");
    int64_t per_node, per_gpu, number;
    size_t count;
    const char *const *sets = args_list(args, "set", &count);
    *spec = (struct workload_spec){
        .trace = trace, .duration_scale = 1, .processors_per_gpu = 1, .gpus_per_node = GPUS_PER_NODE_DEFAULT};
    if (columns != NULL && format != NULL)
        return error_new(ERROR_USAGE, "--columns is a format of its own: leave out --format");
    if (count > 0)
        TRY(read_sets(spec, trace, sets, count));
    if (columns != NULL) {
        spec->columns = columns;
        spec->column_map = NULL;
    }
    if (args_string(args, "gpu-type") != NULL)
        spec->gpu_type = args_string(args, "gpu-type");
    TRY(tables_read(args, spec));
    if (format != NULL || columns != NULL)
        spec->format = columns != NULL ? "columns" : format;
    if (zone != NULL) {
        struct error error = zone_of(&spec->zone, zone, &spec->arena);
        if (error_is(error))
            error_set_where(&error, "--tz");
        TRY(error);
    }
    TRY(args_int64(args, "gpus-per-node", 0, UINT16_MAX, spec->gpus_per_node, &per_node));
    TRY(args_int64(args, "processors-per-gpu", 1, UINT16_MAX, 0, &per_gpu));
    TRY(args_int64(args, "seed", 0, INT64_MAX, 1, &number));
    spec->gpus_per_node = (uint16_t)per_node;
    if (per_gpu > 0)
        spec->processors_per_gpu = (double)per_gpu;
    *seed = (uint64_t)number;
    return ERROR_OK;
}

struct error trace_options_cluster(const struct args *args, struct cluster **cluster)
{
    const char *path = installed_find(args_string(args, "cluster"), "topologies");
    if (path != NULL)
        return cluster_load(cluster, path);
    *cluster = cluster_uniform_new(NODES_DEFAULT, GPUS_PER_NODE_DEFAULT);
    return ERROR_OK;
}
