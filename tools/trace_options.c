#include "tools/trace_options.h"

#include "tools/installed.h"
#include "topologies/cluster_load.h"

enum { NODES_DEFAULT = 500, GPUS_PER_NODE_DEFAULT = 8, HOURS_MAX = 26, SECONDS_PER_HOUR = 3600 };

static struct error zone_option(const char *text, time_ns *offset)
{
    struct text rest = text_of(text);
    const bool is_behind = rest.length != 0 && rest.at[0] == '-';
    rest.at += is_behind;
    rest.length -= is_behind;
    if (!time_parse_duration(rest, offset) || *offset > HOURS_MAX * SECONDS_PER_HOUR * TIME_NS_PER_S)
        return error_new(ERROR_USAGE, "--tz must be an offset from UTC such as 8h or -7h, got \"%s\"", text);
    if (is_behind)
        *offset = -*offset;
    return ERROR_OK;
}

/* "job=pai_job_table.csv" */
static struct error tables_read(const struct args *args, struct workload_spec *spec)
{
    size_t count;
    const char *const *list = args_list(args, "table", &count);
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

struct error trace_options_read(const struct args *args, struct workload_spec *spec)
{
    const char *zone = args_string(args, "tz");
    int64_t per_node, per_gpu;
    *spec = (struct workload_spec){.trace = installed_find(args_operand(args, 0), "workloads/samples"),
                                   .format = args_string(args, "format"),
                                   .columns = args_string(args, "columns"),
                                   .gpu_type = args_string(args, "gpu-type"),
                                   .duration_scale = 1};
    if (spec->columns != NULL && spec->format != NULL)
        return error_new(ERROR_USAGE, "--columns is a format of its own: leave out --format");
    if (spec->columns != NULL)
        spec->format = "columns";
    TRY(tables_read(args, spec));
    spec->has_tz = zone != NULL;
    if (zone != NULL)
        TRY(zone_option(zone, &spec->tz_offset));
    TRY(args_int64(args, "gpus-per-node", 0, UINT16_MAX, GPUS_PER_NODE_DEFAULT, &per_node));
    TRY(args_int64(args, "processors-per-gpu", 1, UINT16_MAX, 1, &per_gpu));
    spec->gpus_per_node = (uint16_t)per_node;
    spec->processors_per_gpu = (double)per_gpu;
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
