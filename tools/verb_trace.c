/* windtunnel trace info: what a trace holds. */
#include <string.h>

#include "base/input.h"
#include "base/output.h"
#include "sim/scenario/typical_kinds.h"
#include "studies/trace_page/trace_page.h"
#include "tools/progress_line.h"
#include "tools/trace_options.h"
#include "tools/verbs.h"
#include "workloads/readers/unit_question.h"

static void show_survey(const struct args *args, struct survey *survey, struct job_source *source, struct buffer *out)
{
    survey_complete(survey, job_source_facts(source));
    if (args_flag(args, "json"))
        survey_json(survey, source, out);
    else
        survey_show(survey, source, out);
    struct buffer question = {0};
    if (unit_question(survey, job_source_facts(source), &question))
        tool_say("warning: %s\n", buffer_c_string(&question));
    buffer_release(&question);
}

/* The page needs more of each job than the summary, in the order of submission: the trace is read once more. */
static struct error write_page(const char *path, const struct workload_spec *scanned, uint64_t seed,
                               const struct cluster *cluster)
{
    struct workload_spec spec = *scanned;
    struct job_source *source;
    struct output *output;
    spec.scan = (struct scan_listener){0};
    spec.is_scanned = false;
    TRY(job_source_open(&source, &spec, cluster, seed));
    struct trace_page *page = trace_page_new();
    struct error error = trace_page_read(page, source, cluster);
    if (!error_is(error))
        error = output_open(&output, path, OUTPUT_PLAIN);
    if (!error_is(error)) {
        const char *slash = strrchr(spec.trace, '/');
        struct show *show = trace_page_show_new(page, source, slash != NULL ? slash + 1 : spec.trace, cluster);
        show_page(show, NULL, output_buffer(output));
        show_free(show);
        error = output_commit(&output);
    }
    trace_page_free(page);
    job_source_close(source);
    return error;
}

static struct error info_of(const struct args *args, struct workload_spec *spec, uint64_t seed, struct buffer *out)
{
    struct cluster *cluster = NULL;
    struct job_source *source = NULL;
    struct survey survey = {0};
    struct progress_line progress;
    int64_t bad_max;
    TRY(args_int64(args, "max-bad", 0, INT64_MAX, (int64_t)spec->bad_lines_max, &bad_max));
    spec->bad_lines_max = (uint64_t)bad_max;
    const bool has_shapes = args_flag(args, "shapes");
    if (args_string(args, "html") != NULL && input_is_once(spec->trace))
        return error_new(ERROR_USAGE, "--html needs a file that can be read twice, and '%s' is none", spec->trace);
    if (has_shapes)
        spec->default_duration = TIME_NS_PER_S; /* a trace without times still has requests */
    else
        spec->scan = survey_listener(&survey);
    spec->is_scanned = !has_shapes;
    progress_line_begin(&progress, true);
    spec->reading = progress_line_reading(&progress);
    struct error error = trace_options_cluster(args, &cluster);
    offered_begin(&survey.offered, OFFERED_STREAM, cluster, TIME_NEVER);
    if (!error_is(error))
        error = job_source_open(&source, spec, cluster, seed);
    if (!error_is(error) && has_shapes)
        error = typical_kinds_write(source, cluster, out);
    else if (!error_is(error))
        show_survey(args, &survey, source, out);
    survey_release(&survey);
    if (!error_is(error) && args_string(args, "html") != NULL)
        error = write_page(args_string(args, "html"), spec, seed, cluster);
    progress_line_end(&progress);
    job_source_close(source);
    cluster_free(cluster);
    return error;
}

static struct error info(const struct args *args, struct buffer *out)
{
    struct workload_spec spec;
    uint64_t seed;
    struct error error = trace_options_read(args, &spec, &seed);
    if (!error_is(error))
        error = info_of(args, &spec, seed, out);
    workload_release(&spec);
    return error;
}

int verb_trace_info(const struct args *args)
{
    struct buffer out = {0};
    struct error error = info(args, &out);
    if (!error_is(error))
        return tool_print(&out);
    buffer_release(&out);
    return tool_fail(&error);
}
