#include "reports/run_show.h"

#include <math.h>
#include <string.h>

#include "base/output.h"
#include "reports/run_figures.h"
#include "reports/view.h"

static const char dot[] = " \xc2\xb7 "; /* U+00B7 */

typedef void view_fn(struct buffer *out, double value);

static void view_times(struct buffer *out, double factor)
{
    view_factor(out, factor);
    if (isfinite(factor))
        buffer_string(out, "\xc3\x97"); /* U+00D7 */
}

/* With its sign. */
static void view_difference(struct buffer *out, double seconds)
{
    if (fabs(seconds) >= 0.05)
        buffer_char(out, seconds < 0 ? '-' : '+');
    view_duration(out, fabs(seconds));
}

static void view_jain(struct buffer *out, double jain)
{
    buffer_format(out, "%.3f", jain);
}

static void view_usd(struct buffer *out, double usd)
{
    if (usd >= 1e6)
        buffer_format(out, "$%.2f M", usd / 1e6);
    else {
        buffer_char(out, '$');
        view_amount(out, usd);
    }
}

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

static void add_lead(struct show *show, const struct metrics *metrics, const struct run_show *options)
{
    const struct run_facts *facts = metrics_facts(metrics);
    struct buffer offered = {0}, *out = show_line(show, SHOW_LEAD);
    if (options->cluster != NULL) {
        view_name(out, options->cluster, 24);
        buffer_string(out, ": ");
    }
    view_size(out, metrics);
    if (options->policy != NULL) {
        buffer_format(out, "%spolicy ", dot);
        view_name(out, options->policy, 16);
    }
    buffer_string(out, dot);
    view_duration(out, time_to_seconds(facts->end));
    buffer_format(out, " simulated%s", dot);
    view_count(out, metrics_value(metrics, "jobs_submitted"));
    buffer_string(out, facts->warmup > 0 ? " jobs counted" : " jobs");
    if (view_offered(&offered, metrics))
        buffer_text(show_line(show, SHOW_LEAD), (struct text){offered.bytes, offered.length});
    offered.length = 0;
    if (view_offered_models(&offered, metrics))
        buffer_text(show_line(show, SHOW_LEAD), (struct text){offered.bytes, offered.length});
    buffer_release(&offered);
    if (facts->warmup > 0) {
        out = show_line(show, SHOW_LEAD);
        buffer_string(out, "counted and measured after a warm-up of ");
        view_duration(out, time_to_seconds(facts->warmup));
    }
    if (metrics_until(facts) < facts->end) {
        out = show_line(show, SHOW_LEAD);
        buffer_string(out, "GPU time is measured until the last job came, at ");
        view_duration(out, time_to_seconds(metrics_until(facts)));
    }
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
        struct buffer *out = show_line(show, SHOW_WARNING);
        buffer_string(out,
                      view_is_refused(metrics, reason) ? "Refused by the program that decides: " : "Rejected: ");
        view_count(out, (double)count);
        buffer_format(out, " jobs, %s.", view_rejection(reason));
    }
    show_on(show, SHOW_ALL);
}

/* ---- tiles ---- */

static void add_tile(struct show *show, const struct metrics *metrics, const char *label, const char *metric,
                     view_fn *view, const char *below)
{
    if (!isfinite(metrics_value(metrics, metric)))
        return;
    show_tile(show, label, view, metrics_value(metrics, metric));
    buffer_string(show_tile_below(show), below);
}

static void add_tiles(struct show *show, const struct metrics *metrics, bool is_assumed)
{
    struct buffer *out;
    show_on(show, SHOW_PAGE);
    show_tile(show, "Queue time", view_duration, metrics_value(metrics, "queue_time_p95_s"));
    out = show_tile_below(show);
    buffer_string(out, "p95; median ");
    view_duration(out, metrics_value(metrics, "queue_time_p50_s"));
    buffer_string(out, ", p99 ");
    view_duration(out, metrics_value(metrics, "queue_time_p99_s"));
    add_tile(show, metrics, "Allocated", "allocation_ratio", view_percent, "of all GPU time");
    add_tile(show, metrics, "SM-active", "sm_active_ratio", view_percent,
             is_assumed ? "of all GPU time, as the workload assumes: not measured"
                        : "of all GPU time, as the trace tells");
    show_tile(show, "Jobs completed", view_count, metrics_value(metrics, "jobs_completed"));
    out = show_tile_below(show);
    buffer_string(out, "in ");
    view_duration(out, view_period_s(metrics));
    buffer_string(out, "; ");
    view_count(out, metrics_value(metrics, "jobs_pending"));
    buffer_string(out, " still waiting, ");
    view_count(out, metrics_value(metrics, "jobs_running"));
    buffer_string(out, " running");
    add_tile(show, metrics, "Goodput", "goodput_ratio", view_percent, "of held GPU time became kept work");
    show_tile(show, "Lost GPU hours", view_amount, metrics_value(metrics, "lost_gpu_h"));
    out = show_tile_below(show);
    view_count(out, metrics_value(metrics, "preemptions"));
    buffer_string(out, " preemptions in ");
    view_duration(out, view_period_s(metrics));
    add_tile(show, metrics, "Fairness", "jain_fairness", view_jain, "Jain, over queues; 1 is equal service");
    if (isfinite(metrics_value(metrics, "cost_usd"))) {
        show_tile(show, "Cost of the cluster", view_usd, metrics_value(metrics, "cost_usd"));
        out = show_tile_below(show);
        view_amount(out, metrics_value(metrics, "cost_per_job_usd"));
        buffer_string(out, " USD per completed job; all GPUs in ");
        view_duration(out, view_window_s(metrics));
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
        {is_assumed ? "SM-active, assumed" : "SM-active", shares.active, PLOT_BLUE},
        {"reserved", shares.reserved, PLOT_ORANGE},
        {"idle", shares.idle, PLOT_GREEN},
        {"down", shares.down, PLOT_VERMILLION},
    };
    add_section(show, "GPU time", view_window_s(metrics));
    show_table(show, "", "<", "share", "GPU h", NULL);
    for (size_t i = 0; i < sizeof bars / sizeof bars[0]; i++) {
        if (i == 1 && !shares.has_active)
            continue;
        show_row(show, bars[i].label);
        show_bar(show, bars[i].ratio, bars[i].colour);
        show_value(show, view_percent, bars[i].ratio);
        show_value(show, view_count, bars[i].ratio * gpu_h);
    }
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

/* ---- cuts ---- */

/* A column of numbers, of the run or of a key of a cut. */
struct column {
    const char *head, *metric;
    view_fn *view;
};

/* cut NULL: the whole run. */
static double value_of(const struct metrics *metrics, const char *cut, size_t index, const char *metric)
{
    return cut == NULL ? metrics_value(metrics, metric) : view_cut_value(metrics, cut, index, metric);
}

/* The heads; columns end with one that has no head. */
static void open_table(struct show *show, const char *first, const struct column *columns)
{
    show_table(show, first, NULL);
    for (; columns->head != NULL; columns++)
        show_column(show, columns->head);
}

/* A metric "demand" or "served": of the GPU time asked for. */
static void add_row(struct show *show, const char *name, const struct metrics *metrics, const char *cut, size_t index,
                    const struct column *columns)
{
    const double in_all = metrics_value(metrics, "asked_gpu_h");
    const double asked = value_of(metrics, cut, index, "asked_gpu_h");
    show_row(show, name);
    for (; columns->head != NULL; columns++)
        if (strcmp(columns->metric, "demand") == 0)
            show_value(show, view_percent, in_all > 0 ? asked / in_all : NAN);
        else if (strcmp(columns->metric, "served") == 0)
            show_value(show, view_percent,
                       asked > 0 ? value_of(metrics, cut, index, "allocated_gpu_h") / asked : NAN);
        else
            show_value(show, columns->view, value_of(metrics, cut, index, columns->metric));
}

/* The keys for which `needed` is defined (NULL: all) in at most `max` rows, and how many are left out. */
static void add_keys(struct show *show, const struct metrics *metrics, const char *cut, const char *needed, size_t max,
                     const struct column *columns)
{
    size_t count = 0;
    const char *key;
    for (size_t i = 0; (key = metrics_cut_key(metrics, cut, i)) != NULL; i++)
        if ((needed == NULL || isfinite(view_cut_value(metrics, cut, i, needed))) && count++ < max)
            add_row(show, key, metrics, cut, i, columns);
    if (count > max) {
        struct buffer more = {0};
        buffer_format(&more, "and %zu more classes", count - max);
        show_row(show, buffer_c_string(&more));
        buffer_release(&more);
    }
}

static const struct column cut_columns[] = {{"jobs", "jobs_accepted", view_count},
                                            {"demand", "demand", NULL},
                                            {"served", "served", NULL},
                                            {"wait p50", "queue_time_p50_s", view_duration},
                                            {"p95", "queue_time_p95_s", view_duration},
                                            {"p99", "queue_time_p99_s", view_duration},
                                            {"max", "queue_time_max_s", view_duration},
                                            {"slowdown", "slowdown_bounded_mean", view_times},
                                            {"goodput", "goodput_ratio", view_percent},
                                            {"evictions", "preemptions", view_count},
                                            {"lost GPU h", "lost_gpu_h", view_amount},
                                            {"over limit GPU h", "limit_gpu_h", view_amount},
                                            {"pending", "jobs_pending", view_count},
                                            {"rejected", "jobs_rejected", view_count},
                                            {0}};

static void add_waits(struct show *show, const struct metrics *metrics, bool has_page)
{
    static const struct column columns[] = {{"jobs", "jobs_accepted", view_count},
                                            {"p50", "queue_time_p50_s", view_duration},
                                            {"p95", "queue_time_p95_s", view_duration},
                                            {"p99", "queue_time_p99_s", view_duration},
                                            {"max", "queue_time_max_s", view_duration},
                                            {"still waiting", "jobs_pending", view_count},
                                            {"rejected", "jobs_rejected", view_count},
                                            {0}};
    show_section(show, "Queue time");
    if (has_page)
        run_figure_waits(show, metrics);
    show_on(show, SHOW_WORDS);
    open_table(show, "class", columns);
    add_keys(show, metrics, "workload_class", NULL, RUN_CLASSES_SHOWN, columns);
    add_row(show, "all", metrics, NULL, 0, columns);
    show_on(show, SHOW_ALL);
    for (size_t i = 0; metrics_cut_key(metrics, "class", i) != NULL; i++) {
        struct buffer text = {0};
        if (view_class_rejections(&text, metrics, i))
            buffer_text(show_line(show, SHOW_NOTE), (struct text){text.bytes, text.length});
        buffer_release(&text);
    }
}

static size_t key_count(const struct metrics *metrics, const char *cut)
{
    size_t count = 0;
    while (metrics_cut_key(metrics, cut, count) != NULL)
        count++;
    return count;
}

static void add_cut(struct show *show, const struct metrics *metrics, const char *cut, const char *title,
                    const char *head)
{
    if (key_count(metrics, cut) == 0)
        return;
    show_section(show, title);
    open_table(show, head, cut_columns);
    add_keys(show, metrics, cut, NULL, SIZE_MAX, cut_columns);
}

/* The keys that asked for most, first. */
static void add_by_demand(struct show *show, const struct metrics *metrics, const char *cut, const char *title,
                          size_t shown, size_t max, const struct column *columns)
{
    size_t count;
    size_t *order = view_by_demand_new(metrics, cut, &count);
    if (count > 0) {
        show_section(show, title);
        if (columns == cut_columns)
            add_note(show, "Ordered by demand, the GPU time asked for. Served is the GPU time held as a share of it: it "
                           "passes 100 % where work was repeated, and stays below where jobs had not run, or not "
                           "finished, at the end.");
        open_table(show, cut, columns);
        show_rows_shown(show, shown);
        for (size_t i = 0; i < count && i < max; i++)
            add_row(show, metrics_cut_key(metrics, cut, order[i]), metrics, cut, order[i], columns);
        if (count > max)
            buffer_format(show_line(show, SHOW_NOTE), "and %zu more, in result.json.", count - max);
    }
    mem_free(order);
}

static void add_queues(struct show *show, const struct metrics *metrics)
{
    static const struct column columns[] = {{"jobs", "jobs_accepted", view_count},
                                            {"demand", "demand", NULL},
                                            {"served", "served", NULL},
                                            {"p50", "queue_time_p50_s", view_duration},
                                            {"p99", "queue_time_p99_s", view_duration},
                                            {"lost GPU h", "lost_gpu_h", view_amount},
                                            {"rejected", "jobs_rejected", view_count},
                                            {0}};
    enum { AT_ONCE = 15 };
    show_on(show, SHOW_WORDS);
    add_by_demand(show, metrics, "queue", "Queues by demand", RUN_QUEUES_SHOWN, SIZE_MAX, columns);
    show_on(show, SHOW_PAGE);
    if (view_has_tenants(metrics))
        add_by_demand(show, metrics, "tenant", "By tenant", AT_ONCE, RUN_QUEUES_MAX, cut_columns);
    add_by_demand(show, metrics, "queue", "By queue", AT_ONCE, RUN_QUEUES_MAX, cut_columns);
    add_cut(show, metrics, "workload_class", "By class", "class");
    add_cut(show, metrics, "class_size", "By class and size", "class/GPUs asked");
    add_cut(show, metrics, "size", "By size", "GPUs asked");
    if (key_count(metrics, "gpu_model") > 1)
        add_cut(show, metrics, "gpu_model", "By GPU model", "GPU model");
    show_on(show, SHOW_ALL);
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
    for (size_t i = 0; i < count; i++)
        if (reason_legend(waits[i].reason) != NULL)
            buffer_format(show_line(show, SHOW_NOTE), "%s: %s", reason_name(waits[i].reason),
                          reason_legend(waits[i].reason));
}

/* What the closed loop did to the submissions. */
static void add_loop(struct show *show, const struct metrics *metrics)
{
    const double shift_s = metrics_value(metrics, "closed_loop_shift_mean_s");
    if (!isfinite(shift_s))
        return;
    show_section(show, "");
    struct buffer *out = show_line(show, SHOW_PLAIN);
    buffer_string(out, "Closed loop: ");
    view_count(out, metrics_value(metrics, "closed_loop_jobs"));
    buffer_string(out, " jobs followed another one; submissions moved by ");
    view_difference(out, shift_s);
    buffer_string(out, " on average, ");
    view_duration(out, metrics_value(metrics, "closed_loop_shift_abs_mean_s"));
    buffer_string(out, " without signs; ");
    view_count(out, metrics_value(metrics, "closed_loop_held_jobs"));
    buffer_string(out, " jobs held back to the end");
}

/* How the simulated waits differ from the waits that the trace recorded. */
static void add_recorded(struct show *show, const struct metrics *metrics)
{
    static const struct column columns[] = {{"jobs", "recorded_jobs", view_count},
                                            {"mean", "recorded_wait_mean_s", view_duration},
                                            {"error", "wait_error_mean_s", view_difference},
                                            {"|error|", "wait_error_abs_mean_s", view_duration},
                                            {"near", "wait_near_ratio", view_percent},
                                            {0}};
    if (!isfinite(metrics_value(metrics, "recorded_jobs")))
        return;
    show_section(show, "Recorded waits");
    open_table(show, "class", columns);
    add_keys(show, metrics, "workload_class", "recorded_jobs", RUN_CLASSES_SHOWN, columns);
    for (size_t i = 0; metrics_cut_key(metrics, "size", i) != NULL && i < RUN_CLASSES_SHOWN; i++) {
        struct buffer name = {0};
        buffer_format(&name, "%s GPUs", metrics_cut_key(metrics, "size", i));
        if (isfinite(view_cut_value(metrics, "size", i, "recorded_jobs")))
            add_row(show, buffer_c_string(&name), metrics, "size", i, columns);
        buffer_release(&name);
    }
    add_row(show, "all", metrics, NULL, 0, columns);
    add_note(show, "error: simulated minus recorded; near: within a minute or a tenth");
    if (!isfinite(metrics_value(metrics, "allocation_error_ratio")))
        return;
    struct buffer *out = show_line(show, SHOW_NOTE);
    buffer_string(out, "GPUs allocated: ");
    view_percent(out, metrics_value(metrics, "recorded_allocation_ratio"));
    buffer_string(out, " of the cluster by the record, ");
    view_percent(out, metrics_value(metrics, "allocation_ratio"));
    buffer_string(out, " simulated; in a mean hour they are ");
    view_percent(out, metrics_value(metrics, "allocation_error_abs_ratio"));
    buffer_string(out, " apart");
}

/* Nothing if no job declares communication. */
static void add_communication(struct show *show, const struct metrics *metrics)
{
    static const struct column columns[] = {{"waiting", "communication_gpu_h", view_amount},
                                            {"share", "communication_ratio", view_percent},
                                            {"slowed", "slowed_gpu_h", view_amount},
                                            {"share", "slowed_ratio", view_percent},
                                            {"slowdown", "communication_slowdown_mean", view_times},
                                            {"p95", "communication_slowdown_p95", view_times},
                                            {"GB/s", "network_gb_per_s_mean", view_amount},
                                            {"MFU", "mfu_ratio", view_percent},
                                            {0}};
    if (!isfinite(metrics_value(metrics, "communication_gpu_h")))
        return;
    show_section(show, "Communication, GPU h");
    open_table(show, "class", columns);
    add_keys(show, metrics, "workload_class", "communication_gpu_h", RUN_CLASSES_SHOWN, columns);
    add_row(show, "all", metrics, NULL, 0, columns);
    add_note(show, "Of the jobs that declare communication. Waiting: GPU time that it took and compute did not hide. "
                   "Slowed: above the GPU time at the best place, alone; slowdown: mean over jobs of more than one "
                   "GPU. GB/s: per GPU, while it sent. MFU: of jobs with a plan.");
}

/* ---- what became of the jobs ---- */

/* Begins a row of facts, and goes on in it behind a dot. */
struct fact {
    struct show *show;
    struct buffer *out;
};

static struct buffer *fact(struct fact *row, const char *name)
{
    if (name != NULL) {
        show_row(row->show, name);
        row->out = show_cell(row->show);
    } else {
        buffer_string(row->out, dot);
    }
    return row->out;
}

/* view(value), then the words; name NULL: of the row that is begun. */
static void add_fact(struct fact *row, const char *name, view_fn *view, double value, const char *words)
{
    struct buffer *out = fact(row, name);
    view(out, value);
    buffer_string(out, words);
}

static void add_outcomes(struct fact *row, const struct metrics *metrics)
{
    static const struct {
        const char *metric, *text;
    } outcomes[] = {
        {"jobs_completed", " completed"}, {"jobs_failed", " failed"},   {"jobs_cancelled", " cancelled"},
        {"jobs_limit", " over limit"},    {"jobs_running", " running"}, {"jobs_pending", " pending"},
    };
    for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++) {
        const double count = metrics_value(metrics, outcomes[i].metric);
        if (count != 0 || i == 0)
            add_fact(row, i == 0 ? "Jobs" : NULL, view_count, count, outcomes[i].text);
    }
}

/* Jobs rejected here, or refused by another program; nothing if there are none. */
static void add_rejections(struct fact *row, const struct metrics *metrics, bool is_refused)
{
    bool is_first = true;
    for (enum reason reason = REASON_NONE; reason < REASON_COUNT; reason++) {
        const uint64_t count = metrics_rejected(metrics, reason);
        if (count == 0 || view_is_refused(metrics, reason) != is_refused)
            continue;
        add_fact(row, !is_first ? NULL : is_refused ? "Refused" : "Rejected", view_count, (double)count, " ");
        buffer_string(row->out, view_rejection(reason));
        is_first = false;
    }
    if (!is_first && is_refused)
        buffer_string(row->out, ", by the program that decides");
}

/* The sources of inference jobs' space, if space was made for any of them. */
static void add_admissions(struct fact *row, const struct metrics *metrics)
{
    static const struct {
        const char *metric, *words;
    } sources[] = {{"admissions_free", " free"},
                   {"admissions_headroom", " headroom"},
                   {"admissions_grace_0", " by grace-0 evictions"},
                   {"admissions_eviction", " by others"}};
    const char *key;
    size_t i = 0;
    while ((key = metrics_cut_key(metrics, "class", i)) != NULL && strcmp(key, job_class_name(JOB_INFERENCE)) != 0)
        i++;
    double made = 0;
    for (size_t s = 1; s < 4 && key != NULL; s++)
        made += view_cut_value(metrics, "class", i, sources[s].metric);
    if (!(made > 0))
        return;
    buffer_string(fact(row, "Admissions"), "inference ");
    for (size_t s = 0; s < 4; s++) {
        buffer_string(row->out, s > 0 ? dot : "");
        view_count(row->out, view_cut_value(metrics, "class", i, sources[s].metric));
        buffer_string(row->out, sources[s].words);
    }
}

/* Nothing if there were no evictions. */
static void add_evictions(struct fact *row, const struct metrics *metrics)
{
    if (metrics_value(metrics, "preemptions") > 0) {
        add_fact(row, "Evictions", view_duration, metrics_value(metrics, "lost_per_eviction_s"),
                 " of a GPU lost by each");
        add_fact(row, NULL, view_count, metrics_value(metrics, "evictions_wasted"), " for nothing");
        add_fact(row, NULL, view_count,
                 metrics_value(metrics, "admissions_grace_0") + metrics_value(metrics, "admissions_eviction"),
                 " jobs started by them");
    }
    if (metrics_value(metrics, "partial_gang_gpu_h") > 0)
        add_fact(row, "Partial", view_amount, metrics_value(metrics, "partial_gang_gpu_h"),
                 " GPU h held by gangs below their minimum");
}

/* What idle policies did, if they did anything. */
static void add_idle(struct fact *row, const struct metrics *metrics)
{
    if (!(metrics_value(metrics, "idle_jobs_told") > 0)) /* or not defined */
        return;
    add_fact(row, "Idle jobs", view_count, metrics_value(metrics, "idle_jobs_told"), " told");
    add_fact(row, NULL, view_count, metrics_value(metrics, "idle_evictions") + metrics_value(metrics, "idle_shrinks"),
             " times evicted or shrunk, ");
    view_count(row->out, metrics_value(metrics, "idle_disturbed"));
    buffer_string(row->out, " wrongly");
    add_fact(row, NULL, view_amount, metrics_value(metrics, "given_back_gpu_h"), " GPU h given back");
}

static void add_facts(struct show *show, const struct metrics *metrics)
{
    struct fact row = {.show = show};
    show_section(show, "");
    show_table(show, NULL);
    add_outcomes(&row, metrics);
    add_rejections(&row, metrics, false);
    add_rejections(&row, metrics, true);
    add_fact(&row, "Preemptions", view_count, metrics_value(metrics, "preemptions"), "");
    add_fact(&row, NULL, view_amount, metrics_value(metrics, "lost_gpu_h"), " GPU h lost in ");
    view_duration(row.out, view_period_s(metrics));
    buffer_string(fact(&row, NULL), "goodput ");
    view_percent(row.out, metrics_value(metrics, "goodput_ratio"));
    if (metrics_value(metrics, "jobs_limit") > 0) {
        add_fact(&row, "Over limit", view_count, metrics_value(metrics, "jobs_limit"), " jobs killed");
        add_fact(&row, NULL, view_amount, metrics_value(metrics, "limit_gpu_h"),
                 " GPU h of theirs, which is no goodput");
    }
    add_admissions(&row, metrics);
    add_evictions(&row, metrics);
    add_idle(&row, metrics);
    if (isfinite(metrics_value(metrics, "jain_fairness")))
        add_fact(&row, "Fairness", view_jain, metrics_value(metrics, "jain_fairness"),
                 " (Jain, over queues; 1 is equal service)");
    if (isfinite(metrics_value(metrics, "cost_usd"))) {
        add_fact(&row, "Cost", view_amount, metrics_value(metrics, "cost_usd"), " USD in ");
        view_duration(row.out, view_window_s(metrics));
        add_fact(&row, NULL, view_amount, metrics_value(metrics, "cost_per_job_usd"), " USD per completed job");
    }
}

/* ---- what made the run ---- */

static void add_pair(struct show *show, const char *name, const char *value)
{
    show_row(show, name);
    buffer_string(show_cell(show), value);
}

static void add_inputs(struct show *show, const struct result_manifest *manifest)
{
    for (size_t i = 0; i < manifest->input_count; i++) {
        const struct result_input *input = &manifest->inputs[i];
        show_row(show, input->role);
        struct buffer *out = show_cell(show);
        buffer_string(out, input->name);
        if (input->plugin != NULL)
            buffer_format(out, " %s %s", input->plugin, input->version);
        buffer_string(show_below(show), input->digest);
    }
}

static void add_workload(struct show *show, const struct result_workload *workload)
{
    uint64_t by_table = 0;
    struct buffer *out;
    if (workload->gpu_h_per_day > 0) {
        show_row(show, "work");
        out = show_cell(show);
        view_amount(out, workload->gpu_h_per_day);
        buffer_string(out, " GPU hours asked a day");
        if (workload->load_gpus > 0) {
            buffer_string(out, ", from a load of ");
            view_count(out, (double)workload->load_gpus);
            buffer_string(out, " GPUs");
        }
    }
    for (uint32_t i = 0; i < workload->declared_row_count; i++)
        by_table += workload->declared_by_row[i];
    if (workload->declared_count == 0 && workload->declared_row_count == 0)
        return;
    show_row(show, "communication");
    out = show_cell(show);
    view_count(out, (double)workload->declared_count);
    buffer_string(out, " jobs declare it; the scenario's table declares it for ");
    view_count(out, (double)by_table);
}

static void add_manifest(struct show *show, const struct metrics *metrics, const struct run_show *options)
{
    const struct run_facts *facts = metrics_facts(metrics);
    const struct result_manifest *manifest = options->manifest;
    show_on(show, SHOW_PAGE);
    show_section(show, "What made this run");
    add_note(show, "The same inputs, arguments and seed give the same fingerprint on every machine.");
    show_table(show, NULL);
    add_pair(show, "fingerprint", manifest->fingerprint);
    if (manifest->arrivals != NULL)
        add_pair(show, "arrivals", manifest->arrivals);
    add_pair(show, "version", manifest->version);
    show_row(show, "seed");
    buffer_format(show_cell(show), "%llu", (unsigned long long)manifest->seed);
    add_inputs(show, manifest);
    add_workload(show, &manifest->workload);
    if (options->arguments != NULL) {
        show_row(show, "arguments");
        struct buffer *out = show_cell(show);
        for (size_t i = 0; options->arguments[i] != NULL; i++)
            buffer_format(out, "%s%s", i > 0 ? " " : "", options->arguments[i]);
    }
    show_row(show, "engine");
    struct buffer *out = show_cell(show);
    view_count(out, (double)facts->events);
    buffer_string(out, " events, ");
    view_count(out, (double)facts->cycles);
    buffer_string(out, " scheduling cycles, ");
    view_count(out, (double)facts->decisions);
    buffer_string(out, " decisions");
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
    add_tiles(show, metrics, options->is_activity_assumed);
    add_levels(show, metrics, options->levels);
    add_gpu_time(show, metrics, options->is_activity_assumed);
    if (has_page)
        run_figures_over_time(show, metrics);
    add_spent(show, metrics, has_page);
    add_waits(show, metrics, has_page);
    add_loop(show, metrics);
    add_recorded(show, metrics);
    add_reasons(show, metrics);
    add_queues(show, metrics);
    add_communication(show, metrics);
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
