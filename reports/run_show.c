#include "reports/run_show.h"

#include <math.h>
#include <string.h>

#include "base/output.h"
#include "reports/run_cuts.h"
#include "reports/run_figures.h"
#include "reports/run_tiles.h"
#include "reports/run_waterfall.h"
#include "reports/validation_show.h"
#include "reports/view.h"

static const char dot[] = " \xc2\xb7 "; /* U+00B7 */

#define METRIC(name) metrics_value(metrics, name)

/* "TITLE in 13d 00h" */
static void add_section(struct show *show, const char *title, double period_s)
{
    struct buffer text = {0};
    buffer_format(&text, "%s in ", title);
    view_duration(&text, period_s);
    show_section(show, buffer_c_string(&text));
    buffer_release(&text);
}

static void add_note(struct show *show, const char *note)
{
    buffer_string(show_line(show, SHOW_NOTE), note);
}

/* ---- what was run ---- */

/* What the jobs ask, and how a batch went. */
static void add_offered(struct show *show, const struct metrics *metrics)
{
    const struct offered_load *load = &metrics_facts(metrics)->offered;
    const double never_gpu_s = metrics_never_fit_gpu_s(metrics);
    struct buffer line = {0};
    if (view_makespan(&line, metrics))
        buffer_text(show_line(show, SHOW_LEAD), (struct text){line.bytes, line.length});
    line.length = 0;
    if (view_offered(&line, load)) {
        if (never_gpu_s > 0)
            view_words(&line, ", %e of it by jobs that never fit", never_gpu_s / load->all.asked_gpu_s);
        buffer_text(show_line(show, SHOW_LEAD), (struct text){line.bytes, line.length});
    }
    line.length = 0;
    if (view_offered_models(&line, metrics))
        buffer_text(show_line(show, SHOW_LEAD), (struct text){line.bytes, line.length});
    buffer_release(&line);
}

/* Until when GPU time is measured, where that is not the end of the arrivals and of the run alike. */
static void add_until(struct show *show, const struct run_facts *facts)
{
    const double until_s = time_to_seconds(metrics_until(facts));
    if (metrics_until(facts) < facts->end)
        view_words(show_line(show, SHOW_LEAD), "GPU time is measured until the last job %s, at %E",
                   facts->offered.kind == OFFERED_BATCH ? "ended" : "came", until_s);
    else if (!facts->is_partial && view_has_tail(&facts->offered, time_to_seconds(facts->warmup), until_s))
        view_words(show_line(show, SHOW_LEAD), "no job came after %E, but GPU time is measured until the end, at %E",
                   facts->offered.last_s, until_s);
}

static void add_lead(struct show *show, const struct metrics *metrics, const struct run_show *options)
{
    const struct run_facts *facts = metrics_facts(metrics);
    struct buffer *out = show_line(show, SHOW_LEAD);
    if (options->cluster != NULL) {
        view_name(out, options->cluster, 24);
        buffer_string(out, ": ");
    }
    view_size(out, metrics);
    if (options->policy != NULL) {
        buffer_format(out, "%spolicy ", dot);
        view_name(out, options->policy, 16);
    }
    view_words(out, " \xc2\xb7 %E simulated \xc2\xb7 %g jobs%s", time_to_seconds(facts->end), METRIC("jobs_submitted"),
               facts->warmup > 0 ? " counted" : "");
    add_offered(show, metrics);
    if (facts->warmup > 0)
        view_words(show_line(show, SHOW_LEAD), "counted and measured after a warm-up of %E",
                   time_to_seconds(facts->warmup));
    add_until(show, facts);
    if (options->assumed != NULL)
        assumed_lead(show, options->assumed);
    validation_lead(show, &facts->validation);
}

static void add_warnings(struct show *show, const struct metrics *metrics)
{
    static const double little_error_max = 0.01; /* if waits add up worse than this, the record is broken */
    const double error = metrics_value(metrics, "little_error_ratio");
    if (metrics_facts(metrics)->is_partial)
        buffer_string(show_line(show, SHOW_WARNING), "Partial: the run was stopped before its end.");
    if (metrics_facts(metrics)->stuck_jobs > 0)
        buffer_string(show_line(show, SHOW_WARNING), metrics_facts(metrics)->stuck);
    if (error > little_error_max)
        buffer_format(show_line(show, SHOW_WARNING),
                      "The waits and the queue length disagree by %.1f %% (Little's law): this record is not "
                      "consistent.",
                      error * 100);
    show_on(show, SHOW_PAGE);
    for (enum reason reason = REASON_NONE; reason < REASON_COUNT; reason++) {
        const uint64_t count = metrics_rejected(metrics, reason);
        if (count == 0)
            continue;
        view_words(show_line(show, SHOW_WARNING), "%s: %g jobs, %s.",
                   view_is_refused(metrics, reason) ? "Refused by the program that decides" : "Rejected", (double)count,
                   view_rejection(reason));
    }
    show_on(show, SHOW_ALL);
}

/* ---- levels and GPU time ---- */

static void add_levels(struct show *show, const struct metrics *metrics, const struct service_levels *levels)
{
    static const char signs[] = {'+', '-', '~'};
    if (levels == NULL || levels->count == 0)
        return;
    show_section(show, "Service levels");
    show_table(show, "metric", "state", "value", "bound", NULL);
    for (size_t i = 0; i < levels->count; i++) {
        const struct service_level *level = &levels->levels[i];
        const enum level_state state = service_level_state(metrics, level);
        const double value = metric_selector_value(metrics, &level->of);
        struct buffer name = {0};
        metric_selector_write(&level->of, &name);
        show_row(show, buffer_c_string(&name));
        buffer_release(&name);
        buffer_string(show_cell(show), level_state_names[state]);
        show_state(show, signs[state]);
        service_level_value(level, value, show_cell(show));
        show_number(show, value);
        service_level_bound(level, show_cell(show));
    }
}

static void add_gpu_time(struct show *show, const struct metrics *metrics, bool is_assumed)
{
    const struct run_facts *facts = metrics_facts(metrics);
    struct view_gpu_time shares;
    if (!view_gpu_time(metrics, &shares))
        return;
    const double gpu_h = time_to_seconds(metrics_until(facts) - facts->warmup) / 3600 * metrics_gpus(metrics);
    const struct {
        const char *label;
        double ratio;
        enum plot_colour colour;
    } bars[] = {
        {"allocated", shares.active + shares.inactive, PLOT_SKY},
        {"useful", METRIC("useful_ratio"), PLOT_PINK},
        {"GPU_UTIL", METRIC("gpu_util_ratio"), PLOT_YELLOW},
        {is_assumed ? "SM-active, assumed" : "SM-active", shares.active, PLOT_BLUE},
        {"reserved", shares.reserved, PLOT_ORANGE},
        {"idle", shares.idle, PLOT_GREEN},
        {"down", shares.down, PLOT_VERMILLION},
    };
    add_section(show, "GPU time", view_window_s(metrics));
    show_table(show, "", "<", "share", "GPU h", NULL);
    for (size_t i = 0; i < sizeof bars / sizeof bars[0]; i++) {
        if ((bars[i].colour == PLOT_PINK && !(bars[i].ratio > 0)) ||
            ((bars[i].colour == PLOT_BLUE || bars[i].colour == PLOT_YELLOW) && !shares.has_active))
            continue;
        show_row(show, bars[i].label);
        show_bar(show, bars[i].ratio, bars[i].colour);
        show_value(show, view_percent, bars[i].ratio);
        show_value(show, view_count, bars[i].ratio * gpu_h);
    }
    show_on(show, SHOW_PAGE);
    if (shares.has_active)
        add_note(show, "GPU_UTIL is the time in which a kernel is on the GPU, as nvidia-smi shows it; SM-active counts "
                       "the SMs that are busy, as DCGM does.");
    show_on(show, SHOW_ALL);
    if (!shares.has_active)
        add_note(show, "SM-active is not known: the workload does not tell.");
}

static void add_spent_table(struct show *show, const struct view_spent *spent, size_t count)
{
    show_table(show, "cause", "GPU h", "share", NULL);
    for (size_t i = 0; i < count; i++) {
        show_row(show, spent[i].label);
        show_value(show, view_amount, spent[i].gpu_h);
        show_value(show, view_percent, spent[i].share);
    }
}

static void add_spent(struct show *show, const struct metrics *metrics, bool has_page)
{
    struct view_spent spent[SPENT_COUNT], lost[LOST_CAUSE_COUNT];
    const size_t count = view_spent(metrics, spent), lost_count = view_lost(metrics, lost);
    if (count > 0) {
        show_section(show, "GPU hours by cause");
        show_on(show, SHOW_PAGE);
        add_note(show, "What became of all GPU time of the cluster. Useful is work at the speed of the trace that was "
                       "not thrown away. What is blank below the capacity is idle. Work counts as lost when it is "
                       "thrown away; what exceeds the useful work of that interval stands in the intervals before.");
        show_on(show, SHOW_ALL);
        add_spent_table(show, spent, count);
        if (has_page)
            run_figure_spent(show, metrics);
    }
    if (lost_count > 0) {
        show_section(show, "Lost by jobs");
        add_spent_table(show, lost, lost_count);
    }
}

static void add_reasons(struct show *show, const struct metrics *metrics)
{
    struct view_wait waits[REASON_COUNT];
    double job_h;
    const size_t count = view_waits(metrics, waits, &job_h);
    if (count == 0)
        return;
    show_section(show, "Wait by reason");
    show_table(show, "reason", "job h", "share", NULL);
    for (size_t i = 0; i < count; i++) {
        show_row(show, reason_name(waits[i].reason));
        show_value(show, view_amount, waits[i].job_h);
        show_value(show, view_percent, waits[i].job_h / job_h);
    }
}

/* What the closed loop did to the submissions. */
static void add_loop(struct show *show, const struct metrics *metrics)
{
    const double shift_s = metrics_value(metrics, "closed_loop_shift_mean_s");
    if (!isfinite(shift_s))
        return;
    show_section(show, "");
    view_words(show_line(show, SHOW_PLAIN),
               "Closed loop: %g jobs followed another one; submissions moved by %G on average, %E without signs; %g "
               "jobs held back to the end",
               METRIC("closed_loop_jobs"), shift_s, METRIC("closed_loop_shift_abs_mean_s"),
               METRIC("closed_loop_held_jobs"));
}

/* ---- what became of the jobs ---- */

/* Jobs by outcome or reason, in one row; nothing if there are none. */
static void add_counts(struct show *show, const char *name, const char *const *words, const double *counts,
                       size_t count, const char *tail)
{
    struct buffer *out = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!(counts[i] > 0))
            continue;
        if (out == NULL) {
            show_row(show, name);
            out = show_cell(show);
        } else {
            buffer_string(out, dot);
        }
        view_count(out, counts[i]);
        buffer_format(out, " %s", words[i]);
    }
    if (out != NULL)
        buffer_string(out, tail);
}

static void add_outcomes(struct show *show, const struct metrics *metrics)
{
    static const char *const names[] = {"jobs_completed", "jobs_failed",  "jobs_cancelled",
                                        "jobs_limit",     "jobs_running", "jobs_pending"};
    static const char *const words[] = {"completed", "failed", "cancelled", "over limit", "running", "pending"};
    const char *reasons[REASON_COUNT];
    double counts[6], rejected[2][REASON_COUNT] = {{0}};
    for (size_t i = 0; i < 6; i++)
        counts[i] = metrics_value(metrics, names[i]);
    for (enum reason reason = REASON_NONE; reason < REASON_COUNT; reason++) {
        reasons[reason] = view_rejection(reason);
        rejected[view_is_refused(metrics, reason)][reason] = (double)metrics_rejected(metrics, reason);
    }
    add_counts(show, "Jobs", words, counts, 6, "");
    add_counts(show, "Rejected", reasons, rejected[0], REASON_COUNT, "");
    add_counts(show, "Refused", reasons, rejected[1], REASON_COUNT, ", by the program that decides");
}

static struct buffer *add_fact(struct show *show, const char *name)
{
    show_row(show, name);
    return show_cell(show);
}

/* The sources of inference jobs' space, if space was made for any of them. */
static void add_admissions(struct show *show, const struct metrics *metrics)
{
    static const char *const names[] = {"admissions_free", "admissions_headroom", "admissions_grace_0",
                                        "admissions_eviction"};
    double counts[4];
    const char *key;
    size_t i = 0;
    while ((key = metrics_cut_key(metrics, "class", i)) != NULL && strcmp(key, job_class_name(JOB_INFERENCE)) != 0)
        i++;
    for (size_t s = 0; s < 4; s++)
        counts[s] = key != NULL ? view_cut_value(metrics, "class", i, names[s]) : 0;
    if (counts[1] + counts[2] + counts[3] > 0)
        view_words(add_fact(show, "Admissions"),
                   "inference %g free \xc2\xb7 %g headroom \xc2\xb7 %g by grace-0 evictions \xc2\xb7 %g by others",
                   counts[0], counts[1], counts[2], counts[3]);
}

static void add_facts(struct show *show, const struct metrics *metrics)
{
    show_section(show, "");
    show_table(show, NULL);
    add_outcomes(show, metrics);
    view_words(add_fact(show, "Preemptions"), "%g \xc2\xb7 %a GPU h lost in %E \xc2\xb7 goodput %e",
               METRIC("preemptions"), METRIC("lost_gpu_h"), view_period_s(metrics), METRIC("goodput_ratio"));
    if (METRIC("jobs_limit") > 0)
        view_words(add_fact(show, "Over limit"), "%g jobs killed \xc2\xb7 %a GPU h of theirs, which is no goodput",
                   METRIC("jobs_limit"), METRIC("limit_gpu_h"));
    add_admissions(show, metrics);
    if (METRIC("preemptions") > 0)
        view_words(add_fact(show, "Evictions"),
                   "%E of a GPU lost by each \xc2\xb7 %g for nothing \xc2\xb7 %g jobs started by them",
                   METRIC("lost_per_eviction_s"), METRIC("evictions_wasted"),
                   METRIC("admissions_grace_0") + METRIC("admissions_eviction"));
    if (METRIC("partial_gang_gpu_h") > 0)
        view_words(add_fact(show, "Partial"), "%a GPU h held by gangs below their minimum",
                   METRIC("partial_gang_gpu_h"));
    if (METRIC("unserved_gpu_h") > 0)
        view_words(add_fact(show, "Unserved"),
                   "%a GPU h of SM time that services and notebooks needed and their pieces of GPUs did not have",
                   METRIC("unserved_gpu_h"));
    if (METRIC("idle_jobs_told") > 0)
        view_words(add_fact(show, "Idle jobs"),
                   "%g told \xc2\xb7 %g times evicted or shrunk, %g wrongly \xc2\xb7 %a GPU h given back",
                   METRIC("idle_jobs_told"), METRIC("idle_evictions") + METRIC("idle_shrinks"),
                   METRIC("idle_disturbed"), METRIC("given_back_gpu_h"));
    if (isfinite(METRIC("jain_fairness")))
        buffer_format(add_fact(show, "Fairness"), "%.3f (Jain, over queues; 1 is equal service)",
                      METRIC("jain_fairness"));
    if (isfinite(METRIC("cost_usd")))
        view_words(add_fact(show, "Cost"), "%a USD in %E \xc2\xb7 %a USD per completed job", METRIC("cost_usd"),
                   view_window_s(metrics), METRIC("cost_per_job_usd"));
}

/* ---- what made the run ---- */

static void add_inputs(struct show *show, const struct result_manifest *manifest)
{
    for (size_t i = 0; i < manifest->input_count; i++) {
        const struct result_input *input = &manifest->inputs[i];
        struct buffer *out = add_fact(show, input->role);
        buffer_string(out, input->name);
        if (input->plugin != NULL)
            buffer_format(out, " %s %s", input->plugin, input->version);
        buffer_string(show_below(show), input->digest);
    }
}

static void add_workload(struct show *show, const struct result_workload *workload)
{
    uint64_t by_table = 0;
    if (workload->load_gpus > 0 && workload->gpu_h_per_day > 0)
        view_words(add_fact(show, "work"), "%a GPU hours asked a day, from a load of %g GPUs", workload->gpu_h_per_day,
                   (double)workload->load_gpus);
    else if (workload->gpu_h_per_day > 0)
        view_words(add_fact(show, "work"), "%a GPU hours asked a day", workload->gpu_h_per_day);
    for (uint32_t i = 0; i < workload->declared_row_count; i++)
        by_table += workload->declared_by_row[i];
    if (workload->declared_count == 0 && workload->declared_row_count == 0)
        return;
    view_words(add_fact(show, "communication"), "%g jobs declare it; the scenario's table declares it for %g",
               (double)workload->declared_count, (double)by_table);
}

static void add_manifest(struct show *show, const struct metrics *metrics, const struct run_show *options)
{
    const struct run_facts *facts = metrics_facts(metrics);
    const struct result_manifest *manifest = options->manifest;
    show_on(show, SHOW_PAGE);
    show_section(show, "What made this run");
    add_note(show, "The same inputs, arguments and seed give the same fingerprint on every machine.");
    show_table(show, NULL);
    buffer_string(add_fact(show, "fingerprint"), manifest->fingerprint);
    if (manifest->arrivals != NULL)
        buffer_string(add_fact(show, "arrivals"), manifest->arrivals);
    buffer_string(add_fact(show, "version"), manifest->version);
    buffer_format(add_fact(show, "seed"), "%llu", (unsigned long long)manifest->seed);
    add_inputs(show, manifest);
    add_workload(show, &manifest->workload);
    if (options->arguments != NULL) {
        struct buffer *out = add_fact(show, "arguments");
        for (size_t i = 0; options->arguments[i] != NULL; i++)
            buffer_format(out, "%s%s", i > 0 ? " " : "", options->arguments[i]);
    }
    view_words(add_fact(show, "engine"), "%g events, %g scheduling cycles, %g decisions", (double)facts->events,
               (double)facts->cycles, (double)facts->decisions);
    if (manifest->scenario_json != NULL) {
        show_fold(show, "Resolved scenario", false);
        buffer_string(show_line(show, SHOW_CODE), manifest->scenario_json);
        show_unfold(show);
    }
    show_on(show, SHOW_ALL);
}

struct show *run_show_new(const struct metrics *metrics, const struct run_show *options)
{
    struct show *show = show_new(options->title != NULL ? options->title : "Windtunnel run");
    const bool has_page = options->manifest != NULL;
    add_lead(show, metrics, options);
    add_warnings(show, metrics);
    run_tiles(show, metrics, options->is_activity_assumed);
    add_levels(show, metrics, options->levels);
    add_gpu_time(show, metrics, options->is_activity_assumed);
    run_waterfall(show, metrics, has_page);
    if (has_page)
        run_figures_over_time(show, metrics);
    add_spent(show, metrics, has_page);
    run_cuts_waits(show, metrics, has_page);
    add_loop(show, metrics);
    run_cuts_recorded(show, metrics);
    add_reasons(show, metrics);
    run_cuts_queues(show, metrics, has_page);
    run_cuts_communication(show, metrics);
    validation_show(show, &metrics_facts(metrics)->validation);
    add_facts(show, metrics);
    if (has_page)
        add_manifest(show, metrics, options);
    return show;
}

struct error run_show_write(const struct show *show, const char *folder)
{
    struct output *output;
    TRY(output_open_inside(&output, folder, HTML_FILE, OUTPUT_PLAIN));
    show_page(show, NULL, output_buffer(output));
    return output_commit(&output);
}
