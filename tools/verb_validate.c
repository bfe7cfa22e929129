/* windtunnel validate: read everything a run would read, and say what would happen. */
#include "tools/verbs.h"
#include "workloads/survey.h"

enum { JOB_BYTES = 24 }; /* of metrics kept per job; see reports/metrics.h */

static void write_plan(struct buffer *out, const struct scenario *scenario,
                       const struct job_source *source, const struct survey *seen)
{
    const struct cluster *cluster = scenario->cluster;
    const struct workload_facts *facts = job_source_facts(source);
    double span_s = time_to_seconds(seen->last_submit);
    buffer_format(out, "cluster   %s: %u nodes of %u type%s, %u GPUs\n", cluster->name,
                  cluster->node_count, cluster->type_count, cluster->type_count == 1 ? "" : "s",
                  cluster->gpu_count);
    buffer_format(out, "workload  %s, %llu jobs over %.1f days, largest %lld GPUs\n",
                  scenario->workload.trace != NULL ? scenario->workload.trace : "synthesized",
                  (unsigned long long)seen->jobs, span_s / 86400,
                  (long long)((seen->gpu_milli_max + GPU_MILLI - 1) / GPU_MILLI));
    if (facts->is_filling)
        buffer_format(out, "fill      the jobs ask %.3f of the cluster's GPUs, and none goes\n",
                      seen->gpus.sum / cluster->gpu_count);
    else if (span_s > 0)
        buffer_format(out, "load      %.3f of the cluster's GPUs offered (arrival gaps x %.4f)\n",
                      seen->gpu_s / span_s / cluster->gpu_count, facts->arrival_factor);
    if (facts->bad_line_count > 0)
        buffer_format(out, "skipped   %llu unreadable lines\n",
                      (unsigned long long)facts->bad_line_count);
    buffer_format(out, "policy    %s\n", scenario->policy.name);
    buffer_format(out, "memory    about %.0f MB for metrics\n",
                  (double)seen->jobs * JOB_BYTES / 1e6);
}

static int validate(const struct args *args)
{
    struct scenario_options options = tool_scenario_options(args);
    struct scenario scenario;
    struct job_source *source = NULL;
    struct survey seen = {0};
    struct buffer out = {0};
    struct error error = scenario_load(&scenario, &options);
    if (error_is(error))
        return tool_fail(&error);
    error = scenario_open(&scenario, &source);
    if (!error_is(error))
        error = survey_read(&seen, source);
    if (!error_is(error)) {
        if (args_flag(args, "resolved"))
            buffer_format(&out, "%s\n", scenario.resolved);
        else
            write_plan(&out, &scenario, source, &seen);
    }
    survey_release(&seen);
    job_source_close(source);
    scenario_release(&scenario);
    return error_is(error) ? tool_fail(&error) : tool_print(&out);
}

static const struct args_option options[] = {
    SCENARIO_OPTIONS,
    {.name = "resolved",
     .help = "Print the whole scenario as JSON, with every file and override in place."},
    {0},
};

const struct args_verb verb_validate = {
    .name = "validate",
    .summary = "read all that a run would read, and print its plan",
    .synopsis = "[SCENARIO] [OPTION]...",
    .description =
        (const char *const[]){
            "Reads the scenario, the cluster, the policy and every job of the workload, "
            "reports the first error with its place, else what would be run.",
            NULL},
    .options = options,
    .operands_max = 1,
    .run = validate,
};
