/* reports/table.c -- the run on one screen. */
#include "reports/table.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "reports/grid.h"
#include "reports/view.h"

enum { NAME_WIDTH = 30, NAME_WIDTH_SHORT = 24, NAME_WIDTH_SHORTEST = 20, LEVEL_WIDTH = 48, TABLE_LEVELS_AT_ONCE = 16 };

static void pad(struct buffer *out, size_t columns)
{
    while (columns-- > 0)
        buffer_char(out, ' ');
}

/* ---- sections ---- */

static const char *dot(const struct table_options *options)
{
    return options->is_ascii ? " | " : " \xc2\xb7 "; /* U+00B7 */
}

static void write_headline(const struct metrics *metrics, const struct table_options *options, struct buffer *out)
{
    const struct run_facts *facts = metrics_facts(metrics);
    if (options->cluster != NULL) {
        view_name(out, options->cluster, 24);
        buffer_string(out, ": ");
    }
    view_size(out, metrics);
    if (options->policy != NULL) {
        buffer_format(out, "%spolicy ", dot(options));
        view_name(out, options->policy, 16);
    }
    buffer_string(out, dot(options));
    view_duration(out, time_to_seconds(facts->end));
    buffer_string(out, " simulated");
    buffer_string(out, dot(options));
    view_count(out, metrics_value(metrics, "jobs_submitted"));
    buffer_string(out, facts->warmup > 0 ? " jobs counted\n" : " jobs\n");
    if (view_offered(out, metrics))
        buffer_char(out, '\n');
    if (view_offered_models(out, metrics))
        buffer_char(out, '\n');
    if (facts->warmup > 0) {
        buffer_string(out, "counted and measured after a warm-up of ");
        view_duration(out, time_to_seconds(facts->warmup));
        buffer_char(out, '\n');
    }
    if (metrics_until(facts) < facts->end) {
        buffer_string(out, "GPU time is measured until the last job came, at ");
        view_duration(out, time_to_seconds(metrics_until(facts)));
        buffer_char(out, '\n');
    }
    if (facts->is_partial)
        buffer_string(out, "PARTIAL: the run was stopped before its end\n");
    buffer_char(out, '\n');
}

enum { BAR_WIDTH = 50, BAR_LABEL_WIDTH = 9 };

static void write_bar(const char *label, double ratio, double gpu_h, const char *note, bool is_ascii,
                      struct buffer *out)
{
    long filled = lround(fmin(fmax(ratio, 0), 1) * BAR_WIDTH);
    buffer_format(out, "  %-*s  ", BAR_LABEL_WIDTH, label);
    for (long i = 0; i < BAR_WIDTH; i++)
        buffer_string(out, i < filled ? (is_ascii ? "#" : "\xe2\x96\x88") /* U+2588 */
                                      : (is_ascii ? "." : "\xe2\x96\x91") /* U+2591 */);
    struct buffer cell = {0};
    view_percent(&cell, ratio);
    pad(out, 9 - view_width((struct text){cell.bytes, cell.length}));
    buffer_bytes(out, cell.bytes, cell.length);
    cell.length = 0;
    view_count(&cell, gpu_h);
    pad(out, cell.length < 14 ? 14 - cell.length : 1);
    buffer_bytes(out, cell.bytes, cell.length);
    buffer_format(out, " GPU h%s\n", note);
    buffer_release(&cell);
}

static void write_gpu_time(const struct metrics *metrics, const struct table_options *options, struct buffer *out)
{
    const struct run_facts *facts = metrics_facts(metrics);
    struct view_gpu_time shares;
    if (!view_gpu_time(metrics, &shares))
        return;
    double gpu_h = time_to_seconds(metrics_until(facts) - facts->warmup) / 3600 * metrics_gpus(metrics);
    const struct {
        const char *label;
        double ratio;
    } bars[] = {
        {"allocated", shares.active + shares.inactive},
        {"SM-active", shares.active},
        {"reserved", shares.reserved},
        {"idle", shares.idle},
        {"down", shares.down},
    };
    buffer_string(out, "GPU time in ");
    view_duration(out, view_window_s(metrics));
    buffer_char(out, '\n');
    for (size_t i = 0; i < sizeof bars / sizeof bars[0]; i++)
        if (i == 1 && !shares.has_active)
            buffer_string(out, "  SM-active  not known: the workload does not tell\n");
        else
            write_bar(bars[i].label, bars[i].ratio, bars[i].ratio * gpu_h,
                      i == 1 && options->is_activity_assumed ? ", assumed" : "", options->is_ascii, out);
    buffer_char(out, '\n');
}

static void spent_grid(const struct view_spent *spent, size_t count, const char *title, struct buffer *out)
{
    const char *const heads[] = {title, "GPU h", "share", NULL};
    struct grid grid = {0};
    if (count == 0)
        return;
    grid_head(&grid, heads);
    for (size_t i = 0; i < count; i++) {
        grid_row(&grid, spent[i].label, NAME_WIDTH);
        view_amount(grid_cell(&grid, 1), spent[i].gpu_h);
        view_percent(grid_cell(&grid, 2), spent[i].share);
    }
    grid_write(&grid, out);
    buffer_char(out, '\n');
}

static void write_spent(const struct metrics *metrics, struct buffer *out)
{
    struct view_spent spent[SPENT_COUNT], lost[LOST_CAUSE_COUNT];
    spent_grid(spent, view_spent(metrics, spent), "GPU hours by cause", out);
    spent_grid(lost, view_lost(metrics, lost), "Lost by jobs", out);
}

static void wait_cells(struct grid *grid, const struct metrics *metrics, const char *cut, size_t index)
{
    static const char *const waits[] = {"queue_time_p50_s", "queue_time_p95_s", "queue_time_p99_s", "queue_time_max_s"};
    bool is_whole = cut == NULL;
    view_count(grid_cell(grid, 1), is_whole ? metrics_value(metrics, "jobs_accepted")
                                            : view_cut_value(metrics, cut, index, "jobs_accepted"));
    for (size_t i = 0; i < 4; i++)
        view_duration(grid_cell(grid, 2 + i),
                      is_whole ? metrics_value(metrics, waits[i]) : view_cut_value(metrics, cut, index, waits[i]));
    view_count(grid_cell(grid, 6),
               is_whole ? metrics_value(metrics, "jobs_pending") : view_cut_value(metrics, cut, index, "jobs_pending"));
    view_count(grid_cell(grid, 7), is_whole ? metrics_value(metrics, "jobs_rejected")
                                            : view_cut_value(metrics, cut, index, "jobs_rejected"));
}

static void write_waits(const struct metrics *metrics, struct buffer *out)
{
    static const char *const heads[] = {"Queue time", "jobs",          "p50",      "p95", "p99",
                                        "max",        "still waiting", "rejected", NULL};
    struct grid grid = {0};
    grid_head(&grid, heads);
    const char *key;
    size_t count = 0;
    for (; (key = metrics_cut_key(metrics, "workload_class", count)) != NULL; count++)
        if (count < TABLE_CLASSES_MAX) {
            grid_row(&grid, key, NAME_WIDTH_SHORT);
            wait_cells(&grid, metrics, "workload_class", count);
        }
    grid_row(&grid, "all", NAME_WIDTH);
    wait_cells(&grid, metrics, NULL, 0);
    grid_write(&grid, out);
    if (count > TABLE_CLASSES_MAX)
        buffer_format(out, "  and %zu more classes\n", count - TABLE_CLASSES_MAX);
    for (size_t i = 0; metrics_cut_key(metrics, "class", i) != NULL; i++) {
        struct buffer text = {0};
        if (view_class_rejections(&text, metrics, i))
            buffer_format(out, "  %s\n", buffer_c_string(&text));
        buffer_release(&text);
    }
    buffer_char(out, '\n');
}

_Static_assert((int)TABLE_CLASSES_MAX + 1 < (int)GRID_ROWS, "the classes have a row each");
_Static_assert((int)TABLE_QUEUES_MAX < (int)GRID_ROWS, "the queues have a row each");

static void write_levels(const struct metrics *metrics, const struct service_levels *levels, struct buffer *out)
{
    static const char *const heads[] = {"Service levels", "state", "value", "bound", NULL};
    struct grid grid = {0};
    if (levels == NULL || levels->count == 0)
        return;
    for (size_t i = 0; i < levels->count; i++) {
        const struct service_level *level = &levels->levels[i];
        struct buffer name = {0};
        if (i % TABLE_LEVELS_AT_ONCE == 0)
            grid_head(&grid, heads);
        metric_selector_write(&level->of, &name);
        grid_row(&grid, buffer_c_string(&name), LEVEL_WIDTH);
        buffer_string(grid_cell(&grid, 1), level_state_names[service_level_state(metrics, level)]);
        service_level_value(level, metric_selector_value(metrics, &level->of), grid_cell(&grid, 2));
        service_level_bound(level, grid_cell(&grid, 3));
        buffer_release(&name);
        if ((i + 1) % TABLE_LEVELS_AT_ONCE == 0 || i + 1 == levels->count)
            grid_write(&grid, out);
    }
    buffer_char(out, '\n');
}

static void write_reasons(const struct metrics *metrics, struct buffer *out)
{
    static const char *const heads[] = {"Wait by reason", "job h", "share", NULL};
    struct view_wait waits[REASON_COUNT];
    double job_h;
    size_t count = view_waits(metrics, waits, &job_h);
    if (count == 0)
        return;
    struct grid grid = {0};
    grid_head(&grid, heads);
    for (size_t i = 0; i < count; i++) {
        grid_row(&grid, reason_name(waits[i].reason), NAME_WIDTH);
        view_amount(grid_cell(&grid, 1), waits[i].job_h);
        view_percent(grid_cell(&grid, 2), waits[i].job_h / job_h);
    }
    grid_write(&grid, out);
    buffer_char(out, '\n');
}

/* With its sign. */
static void write_difference(struct buffer *out, double seconds)
{
    if (fabs(seconds) >= 0.05)
        buffer_char(out, seconds < 0 ? '-' : '+');
    view_duration(out, fabs(seconds));
}

/* cut NULL: the whole run. */
static void recorded_cells(struct grid *grid, const struct metrics *metrics, const char *cut, size_t index)
{
    static const char *const names[] = {"recorded_jobs", "recorded_wait_mean_s", "wait_error_mean_s",
                                        "wait_error_abs_mean_s", "wait_near_ratio"};
    double values[sizeof names / sizeof names[0]];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        values[i] = cut != NULL ? view_cut_value(metrics, cut, index, names[i]) : metrics_value(metrics, names[i]);
    view_count(grid_cell(grid, 1), values[0]);
    view_duration(grid_cell(grid, 2), values[1]);
    write_difference(grid_cell(grid, 3), values[2]);
    view_duration(grid_cell(grid, 4), values[3]);
    view_percent(grid_cell(grid, 5), values[4]);
}

/* Write what the closed loop did to the submissions. */
static void write_loop(const struct metrics *metrics, struct buffer *out)
{
    const double shift_s = metrics_value(metrics, "closed_loop_shift_mean_s");
    if (!isfinite(shift_s))
        return;
    buffer_string(out, "Closed loop: ");
    view_count(out, metrics_value(metrics, "closed_loop_jobs"));
    buffer_string(out, " jobs followed another one; submissions moved by ");
    write_difference(out, shift_s);
    buffer_string(out, " on average, ");
    view_duration(out, metrics_value(metrics, "closed_loop_shift_abs_mean_s"));
    buffer_string(out, " without signs; ");
    view_count(out, metrics_value(metrics, "closed_loop_held_jobs"));
    buffer_string(out, " jobs held back to the end\n\n");
}

static void write_recorded_load(const struct metrics *metrics, struct buffer *out)
{
    const double error = metrics_value(metrics, "allocation_error_ratio");
    if (!isfinite(error))
        return;
    buffer_string(out, "  GPUs allocated: ");
    view_percent(out, metrics_value(metrics, "recorded_allocation_ratio"));
    buffer_string(out, " of the cluster by the record, ");
    view_percent(out, metrics_value(metrics, "allocation_ratio"));
    buffer_string(out, " simulated; in a mean hour they are ");
    view_percent(out, metrics_value(metrics, "allocation_error_abs_ratio"));
    buffer_string(out, " apart\n");
}

/* Write how the simulated waits differ from the waits that the trace recorded, by workload class and by size. */
static void write_recorded(const struct metrics *metrics, struct buffer *out)
{
    static const char *const heads[] = {"Recorded waits", "jobs", "mean", "error", "|error|", "near", NULL};
    static const char *const cuts[] = {"workload_class", "size"};
    struct grid grid = {0};
    if (!isfinite(metrics_value(metrics, "recorded_jobs")))
        return;
    grid_head(&grid, heads);
    for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++)
        for (size_t i = 0; metrics_cut_key(metrics, cuts[c], i) != NULL && i < TABLE_CLASSES_MAX; i++) {
            struct buffer name = {0};
            if (!isfinite(view_cut_value(metrics, cuts[c], i, "recorded_jobs")))
                continue;
            buffer_format(&name, "%s%s", metrics_cut_key(metrics, cuts[c], i), c == 1 ? " GPUs" : "");
            grid_row(&grid, buffer_c_string(&name), NAME_WIDTH);
            buffer_release(&name);
            recorded_cells(&grid, metrics, cuts[c], i);
        }
    grid_row(&grid, "all", NAME_WIDTH);
    recorded_cells(&grid, metrics, NULL, 0);
    grid_write(&grid, out);
    buffer_string(out, "  error: simulated minus recorded; near: within a minute or a tenth\n");
    write_recorded_load(metrics, out);
    buffer_char(out, '\n');
}

static void write_queues(const struct metrics *metrics, struct buffer *out)
{
    static const char *const heads[] = {"Queues by demand", "jobs",     "demand", "served", "p50", "p99",
                                        "lost GPU h",       "rejected", NULL};
    if (metrics_cut_key(metrics, "queue", 0) == NULL)
        return;
    size_t count;
    size_t *order = view_by_demand_new(metrics, "queue", &count);
    double asked = metrics_value(metrics, "asked_gpu_h");
    struct grid grid = {0};
    grid_head(&grid, heads);
    for (size_t i = 0; i < count && i < TABLE_QUEUES_MAX; i++) {
        size_t q = order[i];
        double asked_here = view_cut_value(metrics, "queue", q, "asked_gpu_h");
        double served = view_cut_value(metrics, "queue", q, "allocated_gpu_h");
        const char *name = metrics_cut_key(metrics, "queue", q);
        grid_row(&grid, name[0] == '\0' ? "(none)" : name, NAME_WIDTH);
        view_count(grid_cell(&grid, 1), view_cut_value(metrics, "queue", q, "jobs_accepted"));
        view_percent(grid_cell(&grid, 2), asked > 0 ? asked_here / asked : NAN);
        view_percent(grid_cell(&grid, 3), asked_here > 0 ? served / asked_here : NAN);
        view_duration(grid_cell(&grid, 4), view_cut_value(metrics, "queue", q, "queue_time_p50_s"));
        view_duration(grid_cell(&grid, 5), view_cut_value(metrics, "queue", q, "queue_time_p99_s"));
        view_amount(grid_cell(&grid, 6), view_cut_value(metrics, "queue", q, "lost_gpu_h"));
        view_count(grid_cell(&grid, 7), view_cut_value(metrics, "queue", q, "jobs_rejected"));
    }
    grid_write(&grid, out);
    if (count > TABLE_QUEUES_MAX) {
        buffer_string(out, "  and ");
        view_count(out, (double)(count - TABLE_QUEUES_MAX));
        buffer_string(out, " more\n");
    }
    buffer_char(out, '\n');
    mem_free(order);
}

static void communication_cells(struct grid *grid, const struct metric *values, size_t count)
{
    static const struct {
        const char *metric;
        void (*view)(struct buffer *out, double value);
    } columns[] = {
        {"communication_gpu_h", view_amount},
        {"communication_ratio", view_percent},
        {"slowed_gpu_h", view_amount},
        {"slowed_ratio", view_percent},
        {"communication_slowdown_mean", view_factor},
        {"communication_slowdown_p95", view_factor},
        {"network_gb_per_s_mean", view_amount},
        {"mfu_ratio", view_percent},
    };
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
        columns[c].view(grid_cell(grid, c + 1), view_value(values, count, columns[c].metric));
}

/* Nothing if no job declares communication. */
static void write_communication(const struct metrics *metrics, struct buffer *out)
{
    static const char *const heads[] = {
        "Communication, GPU h", "waiting", "share", "slowed", "share", "slowdown", "p95", "GB/s", "MFU", NULL};
    size_t count, rows = 0;
    const struct metric *values = metrics_all(metrics, &count);
    if (!isfinite(view_value(values, count, "communication_gpu_h")))
        return;
    struct grid grid = {0};
    grid_head(&grid, heads);
    const char *key;
    for (size_t i = 0; (key = metrics_cut_key(metrics, "workload_class", i)) != NULL; i++) {
        values = metrics_cut(metrics, "workload_class", i, &count);
        if (!isfinite(view_value(values, count, "communication_gpu_h")) || rows++ >= TABLE_CLASSES_MAX)
            continue;
        grid_row(&grid, key, NAME_WIDTH_SHORTEST);
        communication_cells(&grid, values, count);
    }
    grid_row(&grid, "all", NAME_WIDTH);
    values = metrics_all(metrics, &count);
    communication_cells(&grid, values, count);
    grid_write(&grid, out);
    if (rows > TABLE_CLASSES_MAX)
        buffer_format(out, "  and %zu more classes\n", rows - TABLE_CLASSES_MAX);
    buffer_string(out,
                  "  slowed: above the GPU time at the best place, alone; slowdown: mean over jobs; GB/s: per GPU\n\n");
}

static void write_outcomes(const struct metrics *metrics, const struct table_options *options, struct buffer *out)
{
    static const struct {
        const char *metric, *text;
    } outcomes[] = {
        {"jobs_completed", "completed"}, {"jobs_failed", "failed"},   {"jobs_cancelled", "cancelled"},
        {"jobs_limit", "over limit"},    {"jobs_running", "running"}, {"jobs_pending", "pending"},
    };
    buffer_string(out, "Jobs         ");
    for (size_t i = 0, shown = 0; i < sizeof outcomes / sizeof outcomes[0]; i++) {
        double count = metrics_value(metrics, outcomes[i].metric);
        if (count == 0 && i > 0)
            continue;
        buffer_string(out, shown++ > 0 ? dot(options) : "");
        view_count(out, count);
        buffer_format(out, " %s", outcomes[i].text);
    }
    buffer_char(out, '\n');
    if (metrics_facts(metrics)->stuck_jobs > 0) {
        buffer_string(out, "Stuck        ");
        buffer_shown(out, text_of(metrics_facts(metrics)->stuck));
        buffer_char(out, '\n');
    }
}

/* Jobs rejected here, or refused by another program; nothing if there are none. */
static void write_reasons_of(const struct metrics *metrics, const struct table_options *options, bool is_refused,
                             const char *head, const char *tail, struct buffer *out)
{
    bool is_first = true;
    for (enum reason reason = REASON_NONE; reason < REASON_COUNT; reason++) {
        uint64_t count = metrics_rejected(metrics, reason);
        if (count == 0 || view_is_refused(metrics, reason) != is_refused)
            continue;
        buffer_string(out, is_first ? head : dot(options));
        view_count(out, (double)count);
        buffer_format(out, " %s", view_rejection(reason));
        is_first = false;
    }
    if (!is_first)
        buffer_format(out, "%s\n", tail);
}

static void write_rejections(const struct metrics *metrics, const struct table_options *options, struct buffer *out)
{
    write_reasons_of(metrics, options, false, "Rejected     ", "", out);
    write_reasons_of(metrics, options, true, "Refused      ", ", by the program that decides", out);
}

/* The sources of inference jobs' space, if space was made for any of them. */
static void write_admissions(const struct metrics *metrics, const struct table_options *options, struct buffer *out)
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
    buffer_string(out, "Admissions   inference ");
    for (size_t s = 0; s < 4; s++) {
        buffer_string(out, s > 0 ? dot(options) : "");
        view_count(out, view_cut_value(metrics, "class", i, sources[s].metric));
        buffer_string(out, sources[s].words);
    }
    buffer_char(out, '\n');
}

/* Nothing if there were no evictions. */
static void write_evictions(const struct metrics *metrics, const struct table_options *options, struct buffer *out)
{
    double wasted = metrics_value(metrics, "evictions_wasted");
    double partial = metrics_value(metrics, "partial_gang_gpu_h");
    if (metrics_value(metrics, "preemptions") > 0) {
        buffer_string(out, "Evictions    ");
        view_duration(out, metrics_value(metrics, "lost_per_eviction_s"));
        buffer_string(out, " of a GPU lost by each");
        buffer_string(out, dot(options));
        view_count(out, wasted);
        buffer_string(out, " for nothing");
        buffer_string(out, dot(options));
        view_count(out, metrics_value(metrics, "admissions_grace_0") + metrics_value(metrics, "admissions_eviction"));
        buffer_string(out, " jobs started by them\n");
    }
    if (isfinite(partial) && partial > 0) {
        buffer_string(out, "Partial      ");
        view_amount(out, partial);
        buffer_string(out, " GPU h held by gangs below their minimum\n");
    }
}

/* What idle policies did, if they did anything. */
static void write_idle(const struct metrics *metrics, const struct table_options *options, struct buffer *out)
{
    const double told = metrics_value(metrics, "idle_jobs_told");
    if (!(told > 0)) /* or not defined */
        return;
    buffer_string(out, "Idle jobs    ");
    view_count(out, told);
    buffer_string(out, " told");
    buffer_string(out, dot(options));
    view_count(out, metrics_value(metrics, "idle_evictions") + metrics_value(metrics, "idle_shrinks"));
    buffer_string(out, " times evicted or shrunk, ");
    view_count(out, metrics_value(metrics, "idle_disturbed"));
    buffer_string(out, " wrongly");
    buffer_string(out, dot(options));
    view_amount(out, metrics_value(metrics, "given_back_gpu_h"));
    buffer_string(out, " GPU h given back\n");
}

static void write_losses(const struct metrics *metrics, const struct table_options *options, struct buffer *out)
{
    buffer_string(out, "Preemptions  ");
    view_count(out, metrics_value(metrics, "preemptions"));
    buffer_string(out, dot(options));
    view_amount(out, metrics_value(metrics, "lost_gpu_h"));
    buffer_string(out, " GPU h lost in ");
    view_duration(out, view_period_s(metrics));
    buffer_string(out, dot(options));
    buffer_string(out, "goodput ");
    view_percent(out, metrics_value(metrics, "goodput_ratio"));
    buffer_char(out, '\n');
    if (metrics_value(metrics, "jobs_limit") > 0) {
        buffer_string(out, "Over limit   ");
        view_count(out, metrics_value(metrics, "jobs_limit"));
        buffer_string(out, " jobs killed");
        buffer_string(out, dot(options));
        view_amount(out, metrics_value(metrics, "limit_gpu_h"));
        buffer_string(out, " GPU h of theirs, which is no goodput\n");
    }
    write_admissions(metrics, options, out);
    write_evictions(metrics, options, out);
    write_idle(metrics, options, out);
    double jain = metrics_value(metrics, "jain_fairness");
    if (isfinite(jain))
        buffer_format(out, "Fairness     %.3f (Jain, over queues; 1 is equal service)\n", jain);
    double cost = metrics_value(metrics, "cost_usd");
    if (isfinite(cost)) {
        buffer_string(out, "Cost         ");
        view_amount(out, cost);
        buffer_string(out, " USD in ");
        view_duration(out, view_window_s(metrics));
        buffer_string(out, dot(options));
        view_amount(out, metrics_value(metrics, "cost_per_job_usd"));
        buffer_string(out, " USD per completed job\n");
    }
}

void table_run(const struct metrics *metrics, const struct table_options *options, struct buffer *out)
{
    static const struct table_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    write_headline(metrics, options, out);
    write_levels(metrics, options->levels, out);
    write_gpu_time(metrics, options, out);
    write_spent(metrics, out);
    write_waits(metrics, out);
    write_loop(metrics, out);
    write_recorded(metrics, out);
    write_reasons(metrics, out);
    write_queues(metrics, out);
    write_communication(metrics, out);
    write_outcomes(metrics, options, out);
    write_rejections(metrics, options, out);
    write_losses(metrics, options, out);
}
