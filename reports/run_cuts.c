#include "reports/run_cuts.h"

#include <math.h>
#include <string.h>

#include "reports/run_figures.h"
#include "reports/run_show.h"
#include "reports/view.h"

#define METRIC(name) metrics_value(metrics, name)

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

static void add_note(struct show *show, const char *note)
{
    buffer_string(show_line(show, SHOW_NOTE), note);
}

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

/* A cost stands in the tables of a cluster with prices alone. */
static bool is_shown(const struct metrics *metrics, const struct column *column)
{
    return strcmp(column->metric, "held_cost_usd") != 0 || isfinite(metrics_value(metrics, "held_cost_usd"));
}

/* The heads; columns end with one that has no head. */
static void open_table(struct show *show, const struct metrics *metrics, const char *first,
                       const struct column *columns)
{
    show_table(show, first, NULL);
    for (; columns->head != NULL; columns++)
        if (is_shown(metrics, columns))
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
        if (!is_shown(metrics, columns))
            continue;
        else if (strcmp(columns->metric, "demand") == 0)
            show_value(show, view_percent, in_all > 0 ? asked / in_all : NAN);
        else if (strcmp(columns->metric, "served") == 0)
            show_value(show, view_percent, asked > 0 ? value_of(metrics, cut, index, "allocated_gpu_h") / asked : NAN);
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
                                            {"cost, USD", "held_cost_usd", view_amount},
                                            {0}};

void run_cuts_waits(struct show *show, const struct metrics *metrics, bool has_page)
{
    static const struct column columns[] = {
        {"jobs", "jobs_accepted", view_count},      {"p50", "queue_time_p50_s", view_duration},
        {"p95", "queue_time_p95_s", view_duration}, {"p99", "queue_time_p99_s", view_duration},
        {"max", "queue_time_max_s", view_duration}, {"still waiting", "jobs_pending", view_count},
        {"rejected", "jobs_rejected", view_count},  {0}};
    show_section(show, "Queue time");
    if (has_page)
        run_figure_waits(show, metrics);
    show_on(show, SHOW_WORDS);
    open_table(show, metrics, "class", columns);
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
    open_table(show, metrics, head, cut_columns);
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
            add_note(show,
                     "Ordered by demand, the GPU time asked for. Served is the GPU time held as a share of it: it "
                     "passes 100 % where work was repeated, and stays below where jobs had not run, or not "
                     "finished, at the end.");
        open_table(show, metrics, cut, columns);
        show_rows_shown(show, shown);
        for (size_t i = 0; i < count && i < max; i++)
            add_row(show, metrics_cut_key(metrics, cut, order[i]), metrics, cut, order[i], columns);
        if (count > max && max == shown)
            show_rows_beyond(show, count - max);
        else if (count > max)
            buffer_format(show_line(show, SHOW_NOTE), "and %zu more, in result.json.", count - max);
    }
    mem_free(order);
}

void run_cuts_queues(struct show *show, const struct metrics *metrics, bool has_page)
{
    static const struct column columns[] = {{"jobs", "jobs_accepted", view_count},
                                            {"demand", "demand", NULL},
                                            {"served", "served", NULL},
                                            {"p50", "queue_time_p50_s", view_duration},
                                            {"p99", "queue_time_p99_s", view_duration},
                                            {"lost GPU h", "lost_gpu_h", view_amount},
                                            {"rejected", "jobs_rejected", view_count},
                                            {"cost, USD", "held_cost_usd", view_amount},
                                            {0}};
    enum { AT_ONCE = 15 };
    show_on(show, SHOW_WORDS);
    add_by_demand(show, metrics, "queue", "Queues by demand", RUN_QUEUES_SHOWN, RUN_QUEUES_SHOWN, columns);
    if (!has_page) {
        show_on(show, SHOW_ALL);
        return;
    }
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

/* How the simulated waits differ from the waits that the trace recorded. */
void run_cuts_recorded(struct show *show, const struct metrics *metrics)
{
    static const struct column columns[] = {
        {"jobs", "recorded_jobs", view_count},           {"mean", "recorded_wait_mean_s", view_duration},
        {"error", "wait_error_mean_s", view_difference}, {"|error|", "wait_error_abs_mean_s", view_duration},
        {"near", "wait_near_ratio", view_percent},       {0}};
    if (!isfinite(metrics_value(metrics, "recorded_jobs")))
        return;
    show_section(show, "Recorded waits");
    open_table(show, metrics, "class", columns);
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
    view_words(show_line(show, SHOW_NOTE),
               "GPUs allocated: %e of the cluster by the record, %e simulated; in a mean hour they are %e apart",
               METRIC("recorded_allocation_ratio"), METRIC("allocation_ratio"), METRIC("allocation_error_abs_ratio"));
}

/* Nothing if no job declares communication. */
void run_cuts_communication(struct show *show, const struct metrics *metrics)
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
    open_table(show, metrics, "class", columns);
    add_keys(show, metrics, "workload_class", "communication_gpu_h", RUN_CLASSES_SHOWN, columns);
    add_row(show, "all", metrics, NULL, 0, columns);
    add_note(show, "Of the jobs that declare communication. Waiting: GPU time that it took and compute did not hide. "
                   "Slowed: above the GPU time at the best place, alone; slowdown: mean over jobs of more than one "
                   "GPU. GB/s: per GPU, while it sent. MFU: of jobs with a plan.");
}
