/* reports/html.c -- the page: head, tiles, GPU time, manifest. */
#include "reports/html.h"

#include <math.h>
#include <string.h>

#include "base/output.h"
#include "reports/html_inside.h"
#include "reports/view.h"

void html_page_open(const char *title, struct buffer *out)
{
    buffer_string(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                       "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    html_name(out, title);
    buffer_string(out, "</title>\n<style>\n");
    buffer_string(out, html_style);
    buffer_string(out, "</style>\n</head>\n<body><main>\n");
}

void html_page_close(struct buffer *out)
{
    buffer_string(out, "</main></body>\n</html>\n");
}

static void headline(const struct metrics *metrics, const struct html_options *options, const char *title,
                     struct buffer *out)
{
    static const char dot[] = " \xc2\xb7 "; /* U+00B7 */
    const struct run_facts *facts = metrics_facts(metrics);
    buffer_string(out, "<h1>");
    html_name(out, title);
    buffer_string(out, "</h1>\n<p class=\"sub\">");
    if (options->cluster != NULL) {
        html_name(out, options->cluster);
        buffer_string(out, dot);
    }
    view_size(out, metrics);
    if (options->policy != NULL) {
        buffer_string(out, dot);
        buffer_string(out, "policy ");
        html_name(out, options->policy);
    }
    buffer_string(out, dot);
    view_duration(out, time_to_seconds(facts->end));
    buffer_string(out, " simulated");
    if (facts->warmup > 0) {
        buffer_string(out, ", measured after a warm-up of ");
        view_duration(out, time_to_seconds(facts->warmup));
    }
    if (metrics_until(facts) < facts->end) {
        buffer_string(out, ", GPU time measured until the last job came, at ");
        view_duration(out, time_to_seconds(metrics_until(facts)));
    }
    buffer_string(out, dot);
    view_count(out, metrics_value(metrics, "jobs_submitted"));
    buffer_string(out, " jobs");
    struct buffer offered = {0};
    if (view_offered(&offered, metrics)) {
        buffer_string(out, dot);
        buffer_bytes(out, offered.bytes, offered.length);
    }
    buffer_release(&offered);
    buffer_string(out, "</p>\n");
}

/* Rejected jobs by reason, and the classes that lost many. */
static void rejections(const struct metrics *metrics, struct buffer *out)
{
    for (enum reason reason = REASON_NONE; reason < REASON_COUNT; reason++) {
        uint64_t count = metrics_rejected(metrics, reason);
        if (count == 0)
            continue;
        buffer_format(out, "<p class=\"warn\">%s: ",
                      view_is_refused(metrics, reason) ? "Refused by the program that decides" : "Rejected");
        view_count(out, (double)count);
        buffer_format(out, " jobs, %s.</p>\n", view_rejection(reason));
    }
    for (size_t i = 0; metrics_cut_key(metrics, "class", i) != NULL; i++) {
        struct buffer text = {0};
        if (view_class_rejections(&text, metrics, i)) {
            buffer_string(out, "<p class=\"warn\">");
            buffer_html(out, (struct text){text.bytes, text.length});
            buffer_string(out, ".</p>\n");
        }
        buffer_release(&text);
    }
}

/* Warnings about the whole report. */
static void warnings(const struct metrics *metrics, struct buffer *out)
{
    static const double little_error_max = 0.01; /* if waits add up worse than this, the record is broken */
    if (metrics_facts(metrics)->is_partial)
        buffer_string(out, "<p class=\"warn\">Partial: the run was stopped before its end.</p>\n");
    if (metrics_facts(metrics)->stuck_jobs > 0) {
        buffer_string(out, "<p class=\"warn\">");
        buffer_html(out, text_of(metrics_facts(metrics)->stuck));
        buffer_string(out, "</p>\n");
    }
    rejections(metrics, out);
    double error = metrics_value(metrics, "little_error_ratio");
    if (error > little_error_max)
        buffer_format(out,
                      "<p class=\"warn\">The waits and the queue length disagree by %.1f %% "
                      "(Little's law): this record is not consistent.</p>\n",
                      error * 100);
}

static void tile_open(const char *label, struct buffer *out)
{
    buffer_format(out, "<dl class=\"tile\"><dt>%s</dt><dd>", label);
}

static void tile_close(const char *below, struct buffer *out)
{
    buffer_format(out, "</dd><dd>%s</dd></dl>\n", below);
}

static void tile_ratio(const struct metrics *metrics, const char *label, const char *metric, const char *below,
                       struct buffer *out)
{
    if (!isfinite(metrics_value(metrics, metric)))
        return;
    tile_open(label, out);
    view_percent(out, metrics_value(metrics, metric));
    tile_close(below, out);
}

static void tile_wait(const struct metrics *metrics, struct buffer *out)
{
    struct buffer below = {0};
    buffer_string(&below, "p95; median ");
    view_duration(&below, metrics_value(metrics, "queue_time_p50_s"));
    buffer_string(&below, ", p99 ");
    view_duration(&below, metrics_value(metrics, "queue_time_p99_s"));
    tile_open("Queue time", out);
    view_duration(out, metrics_value(metrics, "queue_time_p95_s"));
    tile_close(buffer_c_string(&below), out);
    buffer_release(&below);
}

/* " in 13d 00h" */
static void period(struct buffer *out, double seconds)
{
    buffer_string(out, " in ");
    view_duration(out, seconds);
}

static void tile_jobs(const struct metrics *metrics, struct buffer *out)
{
    struct buffer below = {0};
    buffer_string(&below, "in ");
    view_duration(&below, view_period_s(metrics));
    buffer_string(&below, "; ");
    view_count(&below, metrics_value(metrics, "jobs_pending"));
    buffer_string(&below, " still waiting, ");
    view_count(&below, metrics_value(metrics, "jobs_running"));
    buffer_string(&below, " running");
    tile_open("Jobs completed", out);
    view_count(out, metrics_value(metrics, "jobs_completed"));
    tile_close(buffer_c_string(&below), out);
    buffer_release(&below);
}

static void tile_losses(const struct metrics *metrics, struct buffer *out)
{
    struct buffer below = {0};
    view_count(&below, metrics_value(metrics, "preemptions"));
    buffer_string(&below, " preemptions");
    period(&below, view_period_s(metrics));
    tile_open("Lost GPU hours", out);
    view_amount(out, metrics_value(metrics, "lost_gpu_h"));
    tile_close(buffer_c_string(&below), out);
    buffer_release(&below);
}

static void tile_cost(const struct metrics *metrics, struct buffer *out)
{
    double cost = metrics_value(metrics, "cost_usd");
    if (!isfinite(cost))
        return;
    struct buffer below = {0};
    view_amount(&below, metrics_value(metrics, "cost_per_job_usd"));
    buffer_string(&below, " USD per completed job; all GPUs");
    period(&below, view_window_s(metrics));
    tile_open("Cost of the cluster", out);
    buffer_char(out, '$');
    if (cost >= 1e6)
        buffer_format(out, "%.2f M", cost / 1e6);
    else
        view_amount(out, cost);
    tile_close(buffer_c_string(&below), out);
    buffer_release(&below);
}

static bool is_activity_assumed(const struct result_manifest *manifest)
{
    return manifest->workload.format != NULL && strcmp(manifest->workload.format, "synth") == 0;
}

static void tiles(const struct metrics *metrics, const struct result_manifest *manifest, struct buffer *out)
{
    double jain = metrics_value(metrics, "jain_fairness");
    buffer_string(out, "<div class=\"tiles\">\n");
    tile_wait(metrics, out);
    tile_ratio(metrics, "Allocated", "allocation_ratio", "of all GPU time", out);
    tile_ratio(metrics, "SM-active", "sm_active_ratio",
               is_activity_assumed(manifest) ? "of all GPU time, as the workload assumes: not measured"
                                             : "of all GPU time, as the trace tells",
               out);
    tile_jobs(metrics, out);
    tile_ratio(metrics, "Goodput", "goodput_ratio", "of held GPU time became kept work", out);
    tile_losses(metrics, out);
    if (isfinite(jain)) {
        tile_open("Fairness", out);
        buffer_format(out, "%.3f", jain);
        tile_close("Jain, over queues; 1 is equal service", out);
    }
    tile_cost(metrics, out);
    buffer_string(out, "</div>\n");
}

static void levels(const struct metrics *metrics, const struct service_levels *levels, struct buffer *out)
{
    static const char *const classes[] = {"met", "unmet", "unknown"};
    if (levels->count == 0)
        return;
    buffer_string(out, "<section><h2>Service levels</h2>\n<div class=\"scroll\"><table>\n<thead><tr>"
                       "<th scope=\"col\">metric</th><th scope=\"col\">state</th>"
                       "<th scope=\"col\">value</th><th scope=\"col\">bound</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < levels->count; i++) {
        const struct service_level *level = &levels->levels[i];
        const enum level_state state = service_level_state(metrics, level);
        struct buffer name = {0};
        metric_selector_write(&level->of, &name);
        buffer_string(out, "<tr><th scope=\"row\">");
        html_name(out, buffer_c_string(&name));
        buffer_format(out, "</th><td class=\"%s\">%s</td><td>", classes[state], level_state_names[state]);
        service_level_value(level, metric_selector_value(metrics, &level->of), out);
        buffer_string(out, "</td><td>");
        service_level_bound(level, out);
        buffer_string(out, "</td></tr>\n");
        buffer_release(&name);
    }
    buffer_string(out, "</tbody></table></div></section>\n");
}

static void gpu_time(const struct metrics *metrics, bool is_assumed, struct buffer *out)
{
    struct view_gpu_time shares;
    if (!view_gpu_time(metrics, &shares))
        return;
    const struct {
        const char *label, *colour;
        double share;
    } parts[] = {
        {is_assumed ? "SM-active (assumed)" : "SM-active", "c6", shares.active},
        {shares.has_active ? "allocated, SMs idle" : "allocated", "c3", shares.inactive},
        {"reserved", "c2", shares.reserved},
        {"idle", "c0", shares.idle},
        {"down", "c7", shares.down},
    };
    size_t count = sizeof parts / sizeof parts[0];
    buffer_string(out, "<section><h2>Where the GPU time went");
    period(out, view_window_s(metrics));
    buffer_string(out, "</h2>\n<div class=\"bar\" aria-hidden=\"true\">");
    for (size_t i = 0; i < count; i++)
        buffer_format(out, "<span class=\"fill %s\" style=\"width:%.2f%%\"></span>", parts[i].colour,
                      fmax(0, parts[i].share) * 100);
    buffer_string(out, "</div>\n<ul class=\"legend\">");
    for (size_t i = shares.has_active ? 0 : 1; i < count; i++) {
        buffer_format(out, "<li class=\"%s\"><i class=\"box\"%s></i>%s ", parts[i].colour,
                      parts[i].colour[1] == '0' ? " style=\"border:1px solid var(--dim)\"" : "", parts[i].label);
        view_percent(out, parts[i].share);
        buffer_string(out, "</li>");
    }
    buffer_string(out, "</ul></section>\n");
}

static void pair(struct buffer *out, const char *name, const char *value)
{
    buffer_format(out, "<tr><th scope=\"row\">%s</th><td><code>", name);
    html_name(out, value);
    buffer_string(out, "</code></td></tr>\n");
}

static void manifest_inputs(const struct result_manifest *manifest, struct buffer *out)
{
    for (size_t i = 0; i < manifest->input_count; i++) {
        const struct result_input *input = &manifest->inputs[i];
        buffer_string(out, "<tr><th scope=\"row\">");
        html_name(out, input->role);
        buffer_string(out, "</th><td><code>");
        html_name(out, input->name);
        if (input->plugin != NULL) {
            buffer_string(out, "</code> <code>");
            html_name(out, input->plugin);
            buffer_char(out, ' ');
            html_name(out, input->version);
        }
        buffer_string(out, "</code><br><code>");
        html_name(out, input->digest);
        buffer_string(out, "</code></td></tr>\n");
    }
}

static void arguments_row(const char *const *arguments, struct buffer *out)
{
    if (arguments == NULL)
        return;
    buffer_string(out, "<tr><th scope=\"row\">arguments</th><td><code>");
    for (size_t i = 0; arguments[i] != NULL; i++) {
        buffer_string(out, i > 0 ? " " : "");
        html_name(out, arguments[i]);
    }
    buffer_string(out, "</code></td></tr>\n");
}

static void manifest_work(const struct result_workload *workload, struct buffer *out)
{
    if (!(workload->gpu_h_per_day > 0))
        return;
    buffer_string(out, "<tr><th scope=\"row\">work</th><td>");
    view_amount(out, workload->gpu_h_per_day);
    buffer_string(out, " GPU hours asked a day");
    if (workload->load_gpus > 0) {
        buffer_string(out, ", from a load of ");
        view_count(out, (double)workload->load_gpus);
        buffer_string(out, " GPUs");
    }
    buffer_string(out, "</td></tr>\n");
}

static void manifest_communication(const struct result_workload *workload, struct buffer *out)
{
    uint64_t by_table = 0;
    for (uint32_t i = 0; i < workload->declared_row_count; i++)
        by_table += workload->declared_by_row[i];
    if (workload->declared_count == 0 && workload->declared_row_count == 0)
        return;
    buffer_string(out, "<tr><th scope=\"row\">communication</th><td>");
    view_count(out, (double)workload->declared_count);
    buffer_string(out, " jobs declare it; the scenario's table declares it for ");
    view_count(out, (double)by_table);
    buffer_string(out, "</td></tr>\n");
}

static void manifest_section(const struct metrics *metrics, const struct result_manifest *manifest,
                             const char *const *arguments, struct buffer *out)
{
    const struct run_facts *facts = metrics_facts(metrics);
    buffer_string(out, "<section><h2>What made this run</h2>\n<p class=\"note\">The same inputs, "
                       "arguments and seed give the same fingerprint on every machine.</p>\n"
                       "<table class=\"pairs\"><tbody>\n");
    pair(out, "fingerprint", manifest->fingerprint);
    if (manifest->arrivals != NULL)
        pair(out, "arrivals", manifest->arrivals);
    pair(out, "version", manifest->version);
    buffer_format(out, "<tr><th scope=\"row\">seed</th><td><code>%llu</code></td></tr>\n",
                  (unsigned long long)manifest->seed);
    manifest_inputs(manifest, out);
    manifest_work(&manifest->workload, out);
    manifest_communication(&manifest->workload, out);
    arguments_row(arguments, out);
    buffer_string(out, "<tr><th scope=\"row\">engine</th><td>");
    view_count(out, (double)facts->events);
    buffer_string(out, " events, ");
    view_count(out, (double)facts->cycles);
    buffer_string(out, " scheduling cycles, ");
    view_count(out, (double)facts->decisions);
    buffer_string(out, " decisions</td></tr>\n</tbody></table>\n");
    if (manifest->scenario_json != NULL) {
        buffer_string(out, "<details><summary>Resolved scenario</summary><pre>");
        buffer_html(out, text_of(manifest->scenario_json));
        buffer_string(out, "</pre></details>\n");
    }
    buffer_string(out, "</section>\n");
}

void html_text(const struct metrics *metrics, const struct result_manifest *manifest,
               const struct html_options *options, struct buffer *out)
{
    static const struct html_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    const char *title = options->title != NULL ? options->title : "Windtunnel run";
    html_page_open(title, out);
    headline(metrics, options, title, out);
    warnings(metrics, out);
    tiles(metrics, manifest, out);
    levels(metrics, &manifest->levels, out);
    gpu_time(metrics, is_activity_assumed(manifest), out);
    html_plots(metrics, &options->tool, out);
    html_tables(metrics, out);
    manifest_section(metrics, manifest, options->arguments, out);
    html_page_close(out);
}

struct error html_write(const char *folder, const struct metrics *metrics, const struct result_manifest *manifest,
                        const struct html_options *options)
{
    struct output *output;
    TRY(output_open_inside(&output, folder, HTML_FILE, OUTPUT_PLAIN));
    html_text(metrics, manifest, options, output_buffer(output));
    return output_commit(&output);
}
