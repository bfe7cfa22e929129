/* windtunnel trace fit: a model of a trace. */
#include <string.h>

#include "base/output.h"
#include "tools/trace_options.h"
#include "tools/verbs.h"
#include "workloads/fit/fit.h"

static struct error read_plan(const struct args *args, struct fit_plan *plan)
{
    const char *by = args_string(args, "by"), *days = args_string(args, "run-days");
    double number = 0;
    *plan = (struct fit_plan){.has_no_days = args_flag(args, "no-days"), .run = TIME_NEVER};
    if (by != NULL && strcmp(by, "queue") != 0 && strcmp(by, "nothing") != 0)
        return error_new(ERROR_USAGE, "--by must be queue or nothing, got '%s'", by);
    plan->by_queue = by != NULL && strcmp(by, "queue") == 0;
    if (days == NULL)
        return ERROR_OK;
    if (plan->has_no_days)
        return error_new(ERROR_USAGE, "--run-days draws runs of days, and --no-days leaves days out");
    if (!text_to_double(text_of(days), &number) || !(number >= 1 && number <= 10000))
        return error_new(ERROR_USAGE, "--run-days must be a number from 1 to 10000, got '%s'", days);
    plan->run = time_from_seconds(number * 86400);
    return ERROR_OK;
}

static struct error write_model(const struct load_model *model, const struct workload_facts *facts, const char *path)
{
    struct output *output;
    struct buffer comment = {0};
    TRY(output_open(&output, path, OUTPUT_PLAIN));
    buffer_format(&comment, "Fitted to %llu jobs of a trace of the digest %s (format %s).",
                  (unsigned long long)facts->job_count, facts->digest, facts->format);
    load_model_write(model, buffer_c_string(&comment), output_buffer(output));
    buffer_release(&comment);
    return output_commit(&output);
}

static struct error fit_of(const struct args *args, const struct workload_spec *spec, uint64_t seed,
                           struct cluster *cluster, struct arena *arena)
{
    struct job_source *source;
    struct fit_jobs jobs;
    struct fit_plan plan;
    const char *out = args_string(args, "out");
    TRY(read_plan(args, &plan));
    TRY(job_source_open(&source, spec, cluster, seed));
    struct error error = fit_read(&jobs, source);
    if (!error_is(error)) {
        const struct load_model *model = fit_model(&jobs, &plan, arena);
        error = model == NULL ? error_new(ERROR_DATA,
                                          "%s has fewer than two jobs, or all are submitted at one time: "
                                          "nothing can be fitted to it",
                                          spec->trace)
                              : write_model(model, job_source_facts(source), out != NULL ? out : "-");
        fit_release(&jobs);
    }
    job_source_close(source);
    return error;
}

static struct error fit(const struct args *args, struct cluster *cluster, struct arena *arena)
{
    struct workload_spec spec;
    uint64_t seed;
    struct error error = trace_options_read(args, &spec, &seed);
    if (!error_is(error))
        error = fit_of(args, &spec, seed, cluster, arena);
    workload_release(&spec);
    return error;
}

int verb_trace_fit(const struct args *args)
{
    struct arena arena = {0};
    struct cluster *cluster = NULL;
    struct error error = trace_options_cluster(args, &cluster);
    if (!error_is(error))
        error = fit(args, cluster, &arena);
    cluster_free(cluster);
    arena_release(&arena);
    return error_is(error) ? tool_fail(&error) : 0;
}
