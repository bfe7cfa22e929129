/* windtunnel trace info: what a trace holds. */
#include "policies/member_kinds.h"
#include "policies/wire.h"
#include "tools/verbs.h"
#include "topologies/cluster_load.h"
#include "workloads/survey.h"

static struct error count_kinds(struct job_source *source, struct member_kinds *kinds)
{
    struct job job;
    struct job_truth truth;
    bool has = true;
    while (has) {
        TRY(job_source_next(source, &job, &truth, &has));
        for (uint32_t g = 0; has && g < job.group_count; g++) {
            const struct job_group *group = job_group(&job, g);
            member_kinds_add(kinds, member_kinds_find(kinds, &group->request, 0, 1), group->count);
        }
    }
    return ERROR_OK;
}

/* What most members ask, as policy.typical takes it. */
static struct error show_shapes(struct job_source *source, const struct cluster *cluster,
                                struct buffer *out)
{
    struct member_kinds kinds = {0};
    struct typical_jobs typical = {0};
    struct error error = count_kinds(source, &kinds);
    if (!error_is(error)) {
        member_kinds_tell(&kinds, &typical);
        struct job_group *groups = mem_zalloc(typical.count + 1, sizeof *groups);
        for (uint32_t j = 0; j < typical.count; j++) {
            const struct member_kind *kind =
                &kinds.kinds[member_kinds_find(&kinds, &typical.jobs[j].request, 0, 1)];
            const uint32_t count =
                kind->members < UINT32_MAX ? (uint32_t)kind->members : UINT32_MAX;
            groups[j] = (struct job_group){kind->request, count, count, 0};
        }
        wire_write_kinds(out, cluster, groups, typical.count);
        buffer_char(out, '\n');
        mem_free(groups);
    }
    mem_free(typical.jobs);
    member_kinds_release(&kinds);
    return error;
}

static struct error show_survey(struct job_source *source, const struct cluster *cluster,
                                struct buffer *out)
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
    struct workload_spec spec = {.trace = args_operand(args, 0),
                                 .format = args_string(args, "format"),
                                 .duration_scale = 1,
                                 .processors_per_gpu = 1,
                                 .gpus_per_node = 8};
    if (args_flag(args, "shapes"))
        spec.default_duration = TIME_NS_PER_S; /* a trace without times has shapes too */
    const char *path = args_string(args, "cluster");
    struct error error = ERROR_OK;
    if (path != NULL)
        error = cluster_load(&cluster, path);
    else
        cluster = cluster_uniform_new(500, 8);
    if (!error_is(error))
        error = job_source_open(&source, &spec, cluster, 1);
    if (!error_is(error))
        error = args_flag(args, "shapes") ? show_shapes(source, cluster, out)
                                          : show_survey(source, cluster, out);
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
     .metavar = "NAME",
     .help = "The trace's format: native, batsim, jsonl, philly, openb or swf. Guessed where "
             "possible."},
    {.name = "cluster",
     .letter = 'c',
     .metavar = "FILE",
     .help = "The cluster whose GPU models and size the trace is seen against (default: 500 nodes "
             "of 8 GPUs)."},
    {.name = "shapes",
     .help = "Print what 95 % of all members ask, as JSON that policy.typical of a scenario takes, "
             "in place of the summary."},
    {0},
};

const struct args_verb verb_trace_info = {
    .name = "trace info",
    .summary = "what a trace holds: jobs, shapes, durations, load",
    .synopsis = "FILE [OPTION]...",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_info,
};
