/* windtunnel report: a record folder, read again and reported again. */
#include <jansson.h>
#include <string.h>

#include "base/json.h"
#include "policies/policy_config.h"
#include "reports/figure_files.h"
#include "reports/long_run.h"
#include "reports/metrics.h"
#include "reports/record_read.h"
#include "reports/result.h"
#include "reports/run_show.h"
#include "tools/verbs.h"
#include "topologies/cluster.h"

#define STEADY_LEVEL 0.95

/* The name of a part of the scenario, as the run tells it. */
static const char *part_name(struct json_doc *scenario, const char *part, const char *unnamed)
{
    struct error ignored = ERROR_OK;
    json_t *root = json_doc_root(scenario, &ignored).node;
    const char *name = json_string_value(json_object_get(json_object_get(root, part), "name"));
    return name != NULL ? name : unnamed;
}

/* The same rule as in scenario_title. */
static const char *title_of(struct json_doc *scenario)
{
    struct error ignored = ERROR_OK;
    json_t *root = json_doc_root(scenario, &ignored).node;
    const char *title = json_string_value(json_object_get(root, "title"));
    return title != NULL ? title : json_string_value(json_object_get(root, "name"));
}

/* The means of the steady state, from the same files. */
static struct error write_steady(const struct args *args, struct show *show, struct buffer *out)
{
    struct long_run run = {0};
    const struct record_sink sink = long_run_sink(&run);
    struct error error = record_read(args_operand(args, 0), &sink);
    if (!error_is(error) && args_flag(args, "json")) {
        buffer_string(out, ",\n");
        long_run_write_json(&run, STEADY_LEVEL, out);
    } else if (!error_is(error)) {
        long_run_show(show, &run, STEADY_LEVEL);
    }
    long_run_release(&run);
    return error;
}

/* --figure NAME: its files in place of the report. */
static struct error write_figure(const struct args *args, const struct show *show)
{
    const struct run_figure *figure;
    TRY(figure_files_find(args_string(args, "figure"), &figure));
    return figure_files_write(show, figure, args_string(args, "svg"), args_string(args, "pdf"));
}

static struct error check_figure(const struct args *args)
{
    const struct run_figure *figure;
    const bool has_files = args_string(args, "svg") != NULL || args_string(args, "pdf") != NULL;
    if (args_string(args, "figure") == NULL)
        return has_files ? error_new(ERROR_USAGE, "--svg and --pdf write a figure: say which with --figure NAME")
                         : ERROR_OK;
    if (!has_files)
        return error_new(ERROR_USAGE, "--figure needs a file: --svg FILE or --pdf FILE");
    if (args_flag(args, "json") || args_flag(args, "steady") || args_flag(args, "html"))
        return error_new(ERROR_USAGE, "--figure stands alone: leave out --json, --steady and --html");
    return figure_files_find(args_string(args, "figure"), &figure);
}

static struct error write_reports(const struct args *args, const struct metrics *metrics, const struct result *result,
                                  struct buffer *out)
{
    const struct result_manifest *manifest = &result->manifest;
    struct json_doc *scenario;
    TRY(json_doc_parse(&scenario, "scenario", text_of(manifest->scenario_json), ERROR_DATA));
    const char *given = args_string(args, "title");
    const char *format = manifest->workload.format;
    const struct run_show options = {
        .title = given != NULL ? given : title_of(scenario),
        .cluster = part_name(scenario, "cluster", CLUSTER_UNNAMED),
        .policy = result->facts.is_decided_outside ? "another program" : part_name(scenario, "policy", POLICY_UNNAMED),
        .arguments = result->host.arguments,
        .levels = &manifest->levels,
        .assumed = &manifest->workload.assumed,
        .manifest = args_flag(args, "html") || args_string(args, "figure") != NULL ? manifest : NULL,
        .is_activity_assumed = format != NULL && strcmp(format, "synth") == 0};
    struct show *show = run_show_new(metrics, &options);
    struct error error = ERROR_OK;
    if (args_string(args, "figure") != NULL) {
        error = write_figure(args, show);
    } else if (args_flag(args, "json")) {
        buffer_char(out, '{');
        metrics_write_json(metrics, out);
        if (manifest->levels.count > 0) {
            buffer_string(out, ",\n");
            service_levels_write_json(&manifest->levels, metrics, out);
        }
        if (args_flag(args, "steady"))
            error = write_steady(args, show, out);
        buffer_string(out, "}\n");
    } else {
        if (args_flag(args, "steady"))
            error = write_steady(args, show, out);
        show_text(show, out);
    }
    if (!error_is(error) && args_flag(args, "html"))
        error = run_show_write(show, args_operand(args, 0));
    show_free(show);
    json_doc_free(scenario);
    return error;
}

static struct error report(const struct args *args, struct metrics *metrics, struct buffer *out)
{
    const char *folder = args_operand(args, 0);
    struct record_sink sink = metrics_sink(metrics);
    struct result result;
    TRY(check_figure(args));
    TRY(result_read(&result, folder));
    metrics_set_prices(metrics, result.facts.pools, result.facts.pool_count);
    struct error error = record_read(folder, &sink);
    if (!error_is(error)) {
        metrics_finish(metrics);
        error = write_reports(args, metrics, &result, out);
    }
    result_release(&result);
    return error;
}

int verb_report(const struct args *args)
{
    struct metrics *metrics = metrics_new();
    struct buffer out = {0};
    struct error error = report(args, metrics, &out);
    metrics_free(metrics);
    if (error_is(error)) {
        buffer_release(&out);
        return tool_fail(&error);
    }
    return tool_print(&out);
}
