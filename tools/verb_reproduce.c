/* windtunnel reproduce: a bundle, run again and compared. */
#include <stdlib.h>
#include <string.h>

#include "studies/bundle/bundle.h"
#include "studies/run/run.h"
#include "tools/bundle_files.h"
#include "tools/progress_line.h"
#include "tools/verbs.h"

enum { STATUS_OTHER = 10, NAME_WIDTH = 36, NUMBER_WIDTH = 20 };

/* ---- The verdict ---- */

static void print_pair(struct buffer *out, const char *what, const char *bundled, const char *here)
{
    if (strcmp(bundled, here) == 0)
        buffer_format(out, "%-12s %s, as in the bundle\n", what, here);
    else
        buffer_format(out, "%-12s %s; in the bundle %s\n", what, here, bundled);
}

static void print_number(struct buffer *out, const json_t *metric)
{
    struct buffer number = {0};
    const json_t *value = json_object_get(metric, "value");
    if (json_is_number(value))
        buffer_double(&number, json_number_value(value));
    else
        buffer_string(&number, "-");
    buffer_format(out, "  %*s", NUMBER_WIDTH, buffer_c_string(&number));
    buffer_release(&number);
}

static void print_metric(struct buffer *out, const char *name, const json_t *bundled, const json_t *here)
{
    buffer_format(out, "%-*s", NAME_WIDTH, name);
    print_number(out, bundled);
    print_number(out, here);
    buffer_char(out, '\n');
}

/* The metrics of the whole run that differ. */
static void print_metrics(struct buffer *out, const json_t *bundled, json_t *here)
{
    const char *name;
    json_t *metric;
    buffer_format(out, "%-*s  %*s  %*s\n", NAME_WIDTH, "metric", NUMBER_WIDTH, "in the bundle", NUMBER_WIDTH, "here");
    json_object_foreach((json_t *)(uintptr_t)bundled, name, metric)
    {
        const json_t *other = json_object_get(here, name);
        if (!json_equal(json_object_get(metric, "value"), json_object_get(other, "value")))
            print_metric(out, name, metric, other);
    }
    json_object_foreach(here, name, metric) if (json_object_get(bundled, name) == NULL)
        print_metric(out, name, NULL, metric);
}

static struct error judge(const struct bundle *bundle, size_t which, const struct run *run, struct buffer *out,
                          bool *is_same)
{
    const struct bundle_run *bundled = &bundle->runs[which];
    char fingerprint[17], arrivals[17];
    struct buffer text = {0};
    struct json_doc *doc;
    snprintf(fingerprint, sizeof fingerprint, "%016llx", (unsigned long long)run->result.fingerprint);
    snprintf(arrivals, sizeof arrivals, "%016llx", (unsigned long long)job_source_arrivals(run->source));
    TRY(run_result_text(run, NULL, &text));
    struct error error = json_doc_parse(&doc, "result", (struct text){text.bytes, text.length}, ERROR_INTERNAL);
    buffer_release(&text);
    TRY(error);
    const json_t *here = json_doc_at(doc, "metrics");
    const bool has_same_metrics = bundled->metrics == NULL || json_equal(bundled->metrics, here) != 0;
    *is_same = strcmp(fingerprint, bundled->fingerprint) == 0 && has_same_metrics;
    if (bundled->name[0] != '\0')
        buffer_format(out, "%s\n", bundled->name);
    print_pair(out, "version", bundle->version, run->options->version);
    if (bundled->arrivals != NULL)
        print_pair(out, "arrivals", bundled->arrivals, arrivals);
    print_pair(out, "fingerprint", bundled->fingerprint, fingerprint);
    if (!has_same_metrics)
        print_metrics(out, bundled->metrics, (json_t *)(uintptr_t)here);
    else if (bundled->metrics != NULL)
        buffer_format(out, "%-12s %zu, as in the bundle\n", "metrics", json_object_size(bundled->metrics));
    buffer_string(out, *is_same ? "The run is the same.\n" : "The run is NOT the same.\n");
    json_doc_free(doc);
    return ERROR_OK;
}

/* ---- The run ---- */

static struct error simulate(const struct args *args, struct run_options *options, struct run *run,
                             const struct scenario_options *scenario, struct text decisions)
{
    struct progress_line progress;
    *options = (struct run_options){.version = WINDTUNNEL_VERSION,
                                    .scenario = *scenario,
                                    .decisions = decisions,
                                    .scheduler_timeout_ms = INT32_MAX,
                                    .out = args_string(args, "out"),
                                    .keeps_arrivals = true,
                                    .on_progress = progress_line_show,
                                    .progress_self = &progress,
                                    .arguments = (const char *const *)tool_arguments()};
    progress_line_begin(&progress, !args_flag(args, "quiet"));
    struct error error = run_simulate(run, options);
    progress_line_end(&progress);
    if (!error_is(error) && options->out != NULL)
        error = run_commit(run, NULL);
    return error;
}

static struct error reproduce_run(const struct args *args, struct bundle *bundle, size_t which, struct buffer *out,
                                  bool *is_same)
{
    const struct scenario_options scenario = bundle_scenario(bundle, which);
    struct run_options options;
    struct run run = {0};
    struct error error = simulate(args, &options, &run, &scenario, bundle_decisions(bundle));
    if (!error_is(error))
        error = judge(bundle, which, &run, out, is_same);
    run_release(&run);
    return error;
}

static struct error reproduce(const struct args *args, struct bundle *bundle, struct buffer *out, bool *is_same)
{
    struct bundle_file given[BUNDLE_FILES_MAX];
    struct arena arena = {0};
    size_t count, same_count = 0;
    if (args_string(args, "out") != NULL && bundle->run_count != 1)
        return error_new(ERROR_USAGE, "the bundle holds %zu runs, and '--out' takes the record of one",
                         bundle->run_count);
    struct error error = tool_bundle_files(args, &arena, given, &count);
    if (!error_is(error))
        error = bundle_give(bundle, given, count);
    for (size_t r = 0; r < bundle->run_count && !error_is(error); r++) {
        bool is = false;
        error = reproduce_run(args, bundle, r, out, &is);
        same_count += is;
    }
    arena_release(&arena);
    *is_same = same_count == bundle->run_count;
    if (!error_is(error) && bundle->run_count != 1)
        buffer_format(out, "%zu of %zu runs are the same.\n", same_count, bundle->run_count);
    return error;
}

int verb_reproduce(const struct args *args)
{
    struct bundle bundle;
    struct buffer out = {0};
    bool is_same = false;
    struct error error = bundle_read(&bundle, args_operand(args, 0));
    if (!error_is(error)) {
        error = reproduce(args, &bundle, &out, &is_same);
        bundle_release(&bundle);
    }
    if (error_is(error)) {
        buffer_release(&out);
        return tool_fail(&error);
    }
    const int status = tool_print(&out);
    return status != 0 || is_same ? status : STATUS_OTHER;
}
