/* reports/html_tables.c -- the cuts as tables. */
#include <math.h>

#include "base/mem.h"
#include "reports/html_inside.h"
#include "reports/view.h"

void html_name(struct buffer *out, const char *name)
{
    struct buffer shown = {0};
    view_name(&shown, name[0] == '\0' ? "(none)" : name, 120);
    buffer_html(out, (struct text){shown.bytes, shown.length});
    buffer_release(&shown);
}

enum form { FORM_COUNT, FORM_AMOUNT, FORM_PERCENT, FORM_DURATION, FORM_FACTOR, FORM_SLOWDOWN };

static void cell(struct buffer *out, enum form form, double value)
{
    buffer_string(out, "<td>");
    switch (form) {
    case FORM_COUNT:
        view_count(out, value);
        break;
    case FORM_AMOUNT:
        view_amount(out, value);
        break;
    case FORM_PERCENT:
        view_percent(out, value);
        break;
    case FORM_DURATION:
        view_duration(out, value);
        break;
    case FORM_FACTOR:
        view_amount(out, value);
        if (isfinite(value))
            buffer_string(out, "\xc3\x97"); /* U+00D7 */
        break;
    case FORM_SLOWDOWN:
        view_factor(out, value);
        if (isfinite(value))
            buffer_string(out, "\xc3\x97"); /* U+00D7 */
        break;
    }
    buffer_string(out, "</td>");
}

static const struct {
    const char *head, *metric;
    enum form form;
} columns[] = {
    {"jobs", "jobs_accepted", FORM_COUNT},
    {"wait p50", "queue_time_p50_s", FORM_DURATION},
    {"p95", "queue_time_p95_s", FORM_DURATION},
    {"p99", "queue_time_p99_s", FORM_DURATION},
    {"max", "queue_time_max_s", FORM_DURATION},
    {"slowdown", "slowdown_bounded_mean", FORM_FACTOR},
    {"goodput", "goodput_ratio", FORM_PERCENT},
    {"evictions", "preemptions", FORM_COUNT},
    {"over limit GPU h", "limit_gpu_h", FORM_AMOUNT},
    {"pending", "jobs_pending", FORM_COUNT},
    {"rejected", "jobs_rejected", FORM_COUNT},
};

static void head_row(struct buffer *out, const char *first)
{
    buffer_format(out,
                  "<thead><tr><th scope=\"col\">%s</th><th scope=\"col\">demand</th>"
                  "<th scope=\"col\">served</th>",
                  first);
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
        buffer_format(out, "<th scope=\"col\">%s</th>", columns[c].head);
    buffer_string(out, "</tr></thead>\n");
}

static void body_row(const struct metrics *metrics, const char *cut, size_t index, struct buffer *out)
{
    double asked_in_all = metrics_value(metrics, "asked_gpu_h");
    double asked = view_cut_value(metrics, cut, index, "asked_gpu_h");
    double allocated = view_cut_value(metrics, cut, index, "allocated_gpu_h");
    buffer_string(out, "<tr><th scope=\"row\">");
    html_name(out, metrics_cut_key(metrics, cut, index));
    buffer_string(out, "</th>");
    cell(out, FORM_PERCENT, asked_in_all > 0 ? asked / asked_in_all : NAN);
    cell(out, FORM_PERCENT, asked > 0 ? allocated / asked : NAN);
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
        cell(out, columns[c].form, view_cut_value(metrics, cut, index, columns[c].metric));
    buffer_string(out, "</tr>\n");
}

/* At most rows_max rows, in the given order; NULL: in the order of the cut. */
static void table(const struct metrics *metrics, const char *cut, const char *head, const size_t *order, size_t from,
                  size_t to, struct buffer *out)
{
    buffer_string(out, "<div class=\"scroll\"><table>\n");
    head_row(out, head);
    buffer_string(out, "<tbody>\n");
    for (size_t i = from; i < to; i++)
        body_row(metrics, cut, order != NULL ? order[i] : i, out);
    buffer_string(out, "</tbody></table></div>\n");
}

static size_t key_count(const struct metrics *metrics, const char *cut)
{
    size_t count = 0;
    while (metrics_cut_key(metrics, cut, count) != NULL)
        count++;
    return count;
}

static void plain_section(const struct metrics *metrics, const char *cut, const char *title, const char *head,
                          struct buffer *out)
{
    size_t count = key_count(metrics, cut);
    if (count == 0)
        return;
    buffer_format(out, "<section><h2>%s</h2>\n", title);
    table(metrics, cut, head, NULL, 0, count, out);
    buffer_string(out, "</section>\n");
}

enum { QUEUES_AT_ONCE = 15 };

/* Queues, or the tenants above them. */
static void queue_section(const struct metrics *metrics, const char *cut, struct buffer *out)
{
    size_t count;
    size_t *order = view_by_demand_new(metrics, cut, &count);
    if (count > 0) {
        size_t shown = count < QUEUES_AT_ONCE ? count : QUEUES_AT_ONCE;
        size_t listed = count < HTML_QUEUES_MAX ? count : HTML_QUEUES_MAX;
        buffer_format(out,
                      "<section class=\"long\"><h2>By %s</h2>\n<p class=\"note\">Ordered by demand, "
                      "the GPU time asked for. Served is the GPU time held as a share of it: "
                      "it passes 100&nbsp;%% where work was repeated, and stays below where jobs "
                      "had not run, or not finished, at the end.</p>\n",
                      cut);
        table(metrics, cut, cut, order, 0, shown, out);
        if (listed > shown) {
            buffer_format(out, "<details><summary>the next %zu</summary>\n", listed - shown);
            table(metrics, cut, cut, order, shown, listed, out);
            buffer_string(out, "</details>\n");
        }
        if (count > listed)
            buffer_format(out, "<p class=\"note\">and %zu more, in result.json.</p>\n", count - listed);
        buffer_string(out, "</section>\n");
    }
    mem_free(order);
}

static void reason_section(const struct metrics *metrics, struct buffer *out)
{
    struct view_wait waits[REASON_COUNT];
    double job_h;
    size_t count = view_waits(metrics, waits, &job_h);
    if (count == 0)
        return;
    buffer_string(out, "<section><h2>Wait by reason</h2>\n<p class=\"note\">The time that jobs "
                       "waited in ");
    view_duration(out, view_period_s(metrics));
    buffer_string(out, ", all their waits together, by what kept them waiting.</p>\n"
                       "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">reason</th>"
                       "<th scope=\"col\">job h</th><th scope=\"col\">share</th></tr></thead>\n"
                       "<tbody>\n");
    for (size_t i = 0; i < count; i++) {
        buffer_format(out, "<tr><th scope=\"row\">%s</th>", reason_name(waits[i].reason));
        cell(out, FORM_AMOUNT, waits[i].job_h);
        cell(out, FORM_PERCENT, waits[i].job_h / job_h);
        buffer_string(out, "</tr>\n");
    }
    buffer_string(out, "</tbody></table></div>\n</section>\n");
}

static const struct {
    const char *head, *metric;
    enum form form;
} communication_columns[] = {
    {"GPU h waiting", "communication_gpu_h", FORM_AMOUNT},
    {"share", "communication_ratio", FORM_PERCENT},
    {"GPU h slowed", "slowed_gpu_h", FORM_AMOUNT},
    {"share", "slowed_ratio", FORM_PERCENT},
    {"slowdown", "communication_slowdown_mean", FORM_SLOWDOWN},
    {"p95", "communication_slowdown_p95", FORM_SLOWDOWN},
    {"GB/s", "network_gb_per_s_mean", FORM_AMOUNT},
    {"MFU", "mfu_ratio", FORM_PERCENT},
};

/* A row, unless none of these jobs declares communication. */
static void communication_row(const char *name, const struct metric *values, size_t count, struct buffer *out)
{
    if (!isfinite(view_value(values, count, "communication_gpu_h")))
        return;
    buffer_string(out, "<tr><th scope=\"row\">");
    html_name(out, name);
    buffer_string(out, "</th>");
    for (size_t c = 0; c < sizeof communication_columns / sizeof communication_columns[0]; c++)
        cell(out, communication_columns[c].form, view_value(values, count, communication_columns[c].metric));
    buffer_string(out, "</tr>\n");
}

static void communication_section(const struct metrics *metrics, struct buffer *out)
{
    size_t count;
    if (!isfinite(metrics_value(metrics, "communication_gpu_h")))
        return;
    buffer_string(out, "<section><h2>Communication</h2>\n<p class=\"note\">Of the jobs that declare communication. "
                       "Waiting: GPU time that communication took and compute did not hide, with its share of the GPU "
                       "time that these jobs held. Slowed: GPU time above that of the best place on empty nodes, with "
                       "the network to themselves; the slowdown is of jobs with more than one GPU. GB/s: what a GPU "
                       "got on the network while it sent. MFU: of jobs with a plan.</p>\n"
                       "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">class</th>");
    for (size_t c = 0; c < sizeof communication_columns / sizeof communication_columns[0]; c++)
        buffer_format(out, "<th scope=\"col\">%s</th>", communication_columns[c].head);
    buffer_string(out, "</tr></thead>\n<tbody>\n");
    const char *key;
    for (size_t i = 0; (key = metrics_cut_key(metrics, "workload_class", i)) != NULL; i++) {
        const struct metric *values = metrics_cut(metrics, "workload_class", i, &count);
        communication_row(key, values, count, out);
    }
    const struct metric *all = metrics_all(metrics, &count);
    communication_row("all", all, count, out);
    buffer_string(out, "</tbody></table></div></section>\n");
}

void html_tables(const struct metrics *metrics, struct buffer *out)
{
    reason_section(metrics, out);
    communication_section(metrics, out);
    plain_section(metrics, "workload_class", "By class", "class", out);
    plain_section(metrics, "class_size", "By class and size", "class/GPUs asked", out);
    if (view_has_tenants(metrics))
        queue_section(metrics, "tenant", out);
    queue_section(metrics, "queue", out);
    plain_section(metrics, "size", "By size", "GPUs asked", out);
    if (key_count(metrics, "gpu_model") > 1)
        plain_section(metrics, "gpu_model", "By GPU model", "GPU model", out);
}
