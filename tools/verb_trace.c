/* windtunnel trace info: what a trace holds. */
#include "sim/scenario/typical_kinds.h"
#include "tools/installed.h"
#include "tools/verbs.h"
#include "topologies/cluster_load.h"
#include "workloads/readers/survey.h"

static struct error show_survey(struct job_source *source, const struct cluster *cluster, struct buffer *out)
{
    struct survey survey;
    TRY(survey_read(&survey, source));
    survey_show(&survey, source, cluster, out);
    survey_release(&survey);
    return ERROR_OK;
}

static struct error info(const struct args *args, struct buffer *out)
{
    struct cluster *cluster = NULL;
    struct job_source *source = NULL;
    struct workload_spec spec = {.trace = installed_find(args_operand(args, 0), "workloads/samples"),
                                 .format = args_string(args, "format"),
                                 .duration_scale = 1,
                                 .processors_per_gpu = 1,
                                 .gpus_per_node = 8};
    if (args_flag(args, "shapes"))
        spec.default_duration = TIME_NS_PER_S; /* a trace without times still has requests */
    const char *path = installed_find(args_string(args, "cluster"), "topologies");
    struct error error = ERROR_OK;
    if (path != NULL)
        error = cluster_load(&cluster, path);
    else
        cluster = cluster_uniform_new(500, 8);
    if (!error_is(error))
        error = job_source_open(&source, &spec, cluster, 1);
    if (!error_is(error))
        error =
            args_flag(args, "shapes") ? typical_kinds_write(source, cluster, out) : show_survey(source, cluster, out);
    job_source_close(source);
    cluster_free(cluster);
    return error;
}

static int run_info(const struct args *args)
{
    struct buffer out = {0};
    struct error error = info(args, &out);
    return error_is(error) ? tool_fail(&error) : tool_print(&out);
}

static const struct args_option options[] = {
    {.name = "format",
     .letter = 'f',
     .metavar = "FORMAT",
     .help = "The trace's format: native, batsim, jsonl, philly, openb or swf. Guessed where "
             "possible."},
    {.name = "cluster",
     .letter = 'c',
     .metavar = "FILE",
     .help = "The cluster for GPU models and load (default: 500 nodes of 8 GPUs)."},
    {.name = "shapes",
     .help = "Print the kinds of 95 % of all members, as JSON for policy.typical of a scenario, "
             "in place of the summary."},
    {0},
};

const struct args_verb verb_trace_info = {
    .name = "trace info",
    .summary = "summarize a trace: jobs, shapes, durations, load",
    .synopsis = "FILE [OPTION]...",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_info,
};
