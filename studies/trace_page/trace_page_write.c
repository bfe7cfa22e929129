/* studies/trace_page/trace_page_write.c -- the page of a trace. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "reports/html_figure.h"
#include "reports/view.h"
#include "studies/trace_page/trace_page_inside.h"
#include "topologies/queue_table.h"

enum { POINTS_MAX = 480, RANKS_MAX = 10, DAY_HOURS = 24, DATED_YEARS = 20 };

#define HOUR_S 3600.0

/* ---- Over time ---- */

/* Means of equal intervals of whole hours from the first submission to the last. */
struct over_time {
    size_t count;
    double day[POINTS_MAX], demand[POINTS_MAX], recorded[POINTS_MAX], jobs[POINTS_MAX];
    double gpus, days; /* of the cluster; the length of the axis */
};

static void over_time_fill(struct over_time *over, const struct trace_page *page, const struct cluster *cluster)
{
    const size_t hours = page->hour_count, step = (hours + POINTS_MAX - 1) / POINTS_MAX;
    struct hour_load_walk demand = hour_load_begin(&page->demand), recorded = hour_load_begin(&page->recorded);
    double demand_s = 0, recorded_s = 0;
    over->gpus = cluster->gpu_count;
    over->days = fmax(1.0 / DAY_HOURS, (double)hours / DAY_HOURS);
    for (size_t from = 0; from < hours; from += step) {
        const size_t to = from + step < hours ? from + step : hours, i = over->count++;
        const double span_s = (double)(to - from) * HOUR_S;
        const time_ns end = (time_ns)to * HOUR_LOAD_NS;
        const double demand_to_s = hour_load_to(&demand, end), recorded_to_s = hour_load_to(&recorded, end);
        over->day[i] = (double)(from + to) / 2 / DAY_HOURS;
        over->demand[i] = (demand_to_s - demand_s) / span_s;
        over->recorded[i] = (recorded_to_s - recorded_s) / span_s;
        demand_s = demand_to_s;
        recorded_s = recorded_to_s;
        for (size_t hour = from; hour < to; hour++)
            over->jobs[i] += (double)page->hour_jobs[hour];
        over->jobs[i] /= (double)(to - from);
    }
}

static void section_open(const char *title, const char *note, struct buffer *out)
{
    buffer_format(out, "<section><h2>%s</h2>\n<p class=\"note\">%s</p>\n", title, note);
}

static void section_close(struct buffer *out)
{
    buffer_string(out, "</section>\n");
}

/* The table of what is drawn, in at most 28 rows. */
static void data_of(const struct plot *plot, const char *first, size_t drawn_from, struct buffer *out)
{
    enum { ROWS_MAX = 28 };
    const size_t count = plot->series[0].count, step = (count + ROWS_MAX - 1) / ROWS_MAX;
    size_t columns = 0;
    while (columns < plot->series_count && plot->series[columns].count == count)
        columns++;
    html_data_open(!html_has_drawing(out, drawn_from), first, out);
    for (size_t s = 0; s < columns; s++)
        buffer_format(out, "<th scope=\"col\">%s</th>", plot->series[s].label);
    buffer_string(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < count; i += step) {
        buffer_format(out, "<tr><th scope=\"row\">%.4g</th>", plot->series[0].x[i]);
        for (size_t s = 0; s < columns; s++)
            buffer_format(out, "<td>%.4g</td>", plot->series[s].y[i]);
        buffer_string(out, "</tr>\n");
    }
    html_data_close(out);
}

static void figure(const struct plot *plot, const char *y_text, const char *x_text, const char *first,
                   struct buffer *out)
{
    const size_t from = out->length;
    html_drawing(plot, NULL, y_text, x_text, out);
    data_of(plot, first, from, out);
}

static void write_demand(const struct over_time *over, bool is_recorded, struct buffer *out)
{
    const double capacity_x[2] = {0, over->days}, capacity_y[2] = {over->gpus, over->gpus};
    struct plot_series series[3] = {{.label = "in demand",
                                     .x = over->day,
                                     .y = over->demand,
                                     .count = over->count,
                                     .colour = PLOT_SKY,
                                     .is_filled = true}};
    size_t count = 1;
    if (is_recorded)
        series[count++] = (struct plot_series){
            .label = "by the record", .x = over->day, .y = over->recorded, .count = over->count, .colour = PLOT_PINK};
    const double high = fmax(html_highest(over->demand, over->count), html_highest(over->recorded, over->count));
    const bool has_capacity = over->gpus <= 5 * high;
    if (has_capacity)
        series[count++] = (struct plot_series){
            .label = "capacity", .x = capacity_x, .y = capacity_y, .count = 2, .colour = PLOT_BLACK};
    const struct plot plot = {.title = "GPUs over time",
                              .description = "GPUs that the jobs ask for over the span of the trace.",
                              .id = "demand",
                              .series = series,
                              .series_count = count,
                              .x_max = over->days,
                              .y_max = html_scale_end(1.02 * fmax(high, has_capacity ? over->gpus : 0))};
    section_open("GPUs over time",
                 is_recorded ? "In demand: what all jobs would hold if each started when it was submitted. By the "
                               "record: what they held, where their waits are known."
                             : "In demand: what all jobs would hold if each started when it was submitted. The trace "
                               "does not tell when they started.",
                 out);
    figure(&plot, "GPUs", "days since the first submission", "Day", out);
    section_close(out);
}

static void write_jobs(const struct over_time *over, struct buffer *out)
{
    const struct plot_series series = {
        .label = "jobs per hour", .x = over->day, .y = over->jobs, .count = over->count, .colour = PLOT_BLUE};
    const struct plot plot = {.title = "Submissions over time",
                              .description = "Jobs submitted per hour over the span of the trace.",
                              .id = "submissions",
                              .series = &series,
                              .series_count = 1,
                              .x_max = over->days,
                              .y_max = html_scale_end(1.02 * html_highest(over->jobs, over->count))};
    section_open("Submissions over time", "Means over each interval.", out);
    figure(&plot, "jobs per hour", "days since the first submission", "Day", out);
    section_close(out);
}

static void write_week(const struct trace_page *page, time_ns first_submit, struct buffer *out)
{
    double day[WEEK_HOURS], jobs[WEEK_HOURS];
    const double weeks = fmax(1, time_to_seconds(page->last_submit) / (WEEK_HOURS * HOUR_S));
    const bool is_dated = first_submit > (time_ns)DATED_YEARS * 365 * DAY_HOURS * HOUR_LOAD_NS;
    for (size_t hour = 0; hour < WEEK_HOURS; hour++) {
        day[hour] = (double)hour / DAY_HOURS;
        jobs[hour] = (double)page->week_jobs[hour] / weeks;
    }
    const struct plot_series series = {
        .label = "jobs per hour", .x = day, .y = jobs, .count = WEEK_HOURS, .colour = PLOT_BLUE, .is_filled = true};
    const struct plot plot = {.title = "The week",
                              .description = "Jobs submitted in each hour of the week, on average.",
                              .id = "week",
                              .series = &series,
                              .series_count = 1,
                              .x_max = 7,
                              .y_max = html_scale_end(1.02 * html_highest(jobs, WEEK_HOURS))};
    section_open(
        "The week",
        is_dated
            ? "Mean of all weeks, from Monday 0:00 on, in the zone of the trace's dates (UTC where they "
              "name one)."
            : "Mean of all weeks. The trace does not tell dates, so it is not known which day of the week day 0 is.",
        out);
    figure(&plot, "jobs per hour", "day of the week", "Day", out);
    section_close(out);
}

/* ---- Distributions ---- */

static void write_spread(const struct spread *spread, const char *title, const char *id, const char *note,
                         struct buffer *out)
{
    double edges[SPREAD_EDGES], jobs[SPREAD_EDGES], gpu_h[SPREAD_EDGES], jobs_sum = 0, gpu_h_sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < SPREAD_EDGES && (count == 0 || jobs_sum < (double)spread->count); i++) {
        jobs_sum += (double)spread->jobs[i];
        gpu_h_sum += spread->gpu_h[i];
        edges[count] = spread_edge(i);
        jobs[count] = 100 * jobs_sum / (double)spread->count;
        gpu_h[count++] = spread->gpu_h_sum > 0 ? fmin(100, 100 * gpu_h_sum / spread->gpu_h_sum) : 0;
    }
    struct plot_series series[2] = {
        {.label = "of the jobs", .x = edges, .y = jobs, .count = count, .colour = PLOT_BLUE},
        {.label = "of their GPU time", .x = edges, .y = gpu_h, .count = count, .colour = PLOT_ORANGE}};
    const struct plot plot = {.title = title,
                              .description = "Shares of the jobs, and of their GPU time, up to each value.",
                              .id = id,
                              .series = series,
                              .series_count = spread->gpu_h_sum > 0 ? 2 : 1,
                              .x_kind = PLOT_X_DURATION_LOG,
                              .y_kind = PLOT_Y_PERCENT,
                              .x_min = 1,
                              .x_max = fmax(10, edges[count - 1]),
                              .y_max = 100};
    section_open(title, note, out);
    figure(&plot, "share", "", "Seconds", out);
    section_close(out);
}

/* ---- Tables ---- */

static void table_open(const char *title, const char *first, struct buffer *out)
{
    buffer_format(out,
                  "<section><h2>%s</h2>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\">%s</th>"
                  "<th scope=\"col\">jobs</th><th scope=\"col\">share</th><th scope=\"col\">GPU h</th>"
                  "<th scope=\"col\">share</th></tr></thead><tbody>\n",
                  title, first);
}

static void share_cells(const struct share *share, const struct share *all, struct buffer *out)
{
    buffer_string(out, "<td>");
    view_count(out, (double)share->jobs);
    buffer_string(out, "</td><td>");
    view_percent(out, (double)share->jobs / (double)all->jobs);
    buffer_string(out, "</td><td>");
    view_amount(out, share->gpu_h);
    buffer_string(out, "</td><td>");
    view_percent(out, all->gpu_h > 0 ? share->gpu_h / all->gpu_h : 0);
    buffer_string(out, "</td></tr>\n");
}

static void share_row(const char *name, const struct share *share, const struct share *all, struct buffer *out)
{
    if (share->jobs == 0)
        return;
    buffer_string(out, "<tr><th scope=\"row\">");
    html_name(out, name);
    buffer_string(out, "</th>");
    share_cells(share, all, out);
}

static void table_close(struct buffer *out)
{
    buffer_string(out, "</tbody></table></div></section>\n");
}

static void write_sizes(const struct trace_page *page, struct buffer *out)
{
    table_open("GPUs of a job", "GPUs", out);
    for (size_t size = 0; size < SIZES; size++) {
        struct buffer name = {0};
        if (size < 4)
            buffer_string(&name, (const char *const[]){"0", "less than 1", "1", "2"}[size]);
        else
            buffer_format(&name, "%u to %u", (1U << (size - 3)) + 1, 1U << (size - 2));
        share_row(buffer_c_string(&name), &page->sizes[size], &page->all, out);
        buffer_release(&name);
    }
    table_close(out);
}

static void write_outcomes(const struct trace_page *page, struct buffer *out)
{
    table_open("Outcomes", "outcome", out);
    for (size_t i = 0; i < OUTCOME_COUNT; i++)
        share_row(job_outcome_names[i], &page->outcomes[i], &page->all, out);
    table_close(out);
}

/* The index of the entry (a queue or a user) that the table shows next: of those that are not shown yet, the one with
 * the most GPU hours; if several have as many, the one with the most jobs.  shares->count: all are shown. */
static size_t next_rank(const struct shares *shares, const bool *is_shown)
{
    size_t best = shares->count;
    for (size_t i = 0; i < shares->count; i++) {
        const struct share *share = &shares->list[i], *most = best < shares->count ? &shares->list[best] : NULL;
        if (is_shown[i] || share->jobs == 0)
            continue;
        if (most == NULL || share->gpu_h > most->gpu_h || (share->gpu_h == most->gpu_h && share->jobs > most->jobs))
            best = i;
    }
    return best;
}

typedef const char *name_fn(const void *names, size_t id);

static void write_ranks(const struct trace_page *page, const struct shares *shares, const char *title,
                        const char *first, name_fn *name, const void *names, struct buffer *out)
{
    size_t used = 0;
    for (size_t i = 0; i < shares->count; i++)
        used += shares->list[i].jobs > 0;
    if (used < 2)
        return;
    struct share rest = {0};
    bool *is_shown = mem_zalloc(shares->count, sizeof *is_shown);
    table_open(title, first, out);
    for (int rank = 0; rank < RANKS_MAX; rank++) {
        const size_t id = next_rank(shares, is_shown);
        if (id == shares->count)
            break;
        is_shown[id] = true;
        share_row(name(names, id), &shares->list[id], &page->all, out);
    }
    for (size_t i = 0; i < shares->count; i++)
        if (!is_shown[i]) {
            rest.jobs += shares->list[i].jobs;
            rest.gpu_h += shares->list[i].gpu_h;
        }
    if (used > RANKS_MAX) {
        buffer_format(out, "<tr><th scope=\"row\">%zu others</th>", used - RANKS_MAX);
        share_cells(&rest, &page->all, out);
    }
    table_close(out);
    mem_free(is_shown);
}

static const char *queue_name(const void *queues, size_t id)
{
    return ((const struct queue_table *)queues)->queues[id].name;
}

static const char *user_name(const void *users, size_t id)
{
    return names_text(users, (uint32_t)id);
}

/* ---- The page ---- */

static void write_head(const struct trace_page *page, const struct job_source *source, const char *name,
                       struct buffer *out)
{
    const struct workload_facts *facts = job_source_facts(source);
    buffer_string(out, "<h1>");
    html_name(out, name);
    buffer_string(out, "</h1>\n<p class=\"sub\">");
    view_count(out, (double)page->all.jobs);
    buffer_string(out, " jobs in ");
    view_duration(out, time_to_seconds(page->last_submit));
    buffer_string(out, " · ");
    view_amount(out, page->all.gpu_h);
    buffer_format(out, " GPU h · format %s", facts->format);
    if (facts->bad_line_count > 0) {
        buffer_string(out, " · ");
        view_count(out, (double)facts->bad_line_count);
        buffer_string(out, " unreadable lines left out");
    }
    for (uint32_t i = 0; i < facts->skipped.reason_count; i++) {
        buffer_string(out, " · ");
        view_count(out, (double)facts->skipped.reasons[i].count);
        buffer_string(out, " left out: ");
        html_name(out, facts->skipped.reasons[i].why);
    }
    buffer_string(out, "</p>\n");
}

void trace_page_write(const struct trace_page *page, const struct job_source *source, const char *name,
                      const struct cluster *cluster, struct buffer *out)
{
    struct over_time *over = mem_zalloc(1, sizeof *over);
    html_page_open(name, out);
    write_head(page, source, name, out);
    if (page->all.jobs > 0) {
        over_time_fill(over, page, cluster);
        write_demand(over, page->waits.count > 0, out);
        write_jobs(over, out);
        write_week(page, job_source_facts(source)->first_submit, out);
        write_spread(&page->run_times, "Run time", "runtimes", "Shares of the jobs that run at most so long.", out);
        if (page->waits.count > 0)
            write_spread(&page->waits, "Recorded wait", "waits",
                         "Shares of the jobs that waited at most so long, where their waits are known.", out);
        write_sizes(page, out);
        write_outcomes(page, out);
        write_ranks(page, &page->queues, "Queues", "queue", queue_name, job_source_queue_table(source), out);
        write_ranks(page, &page->users, "Users", "user", user_name, job_source_users(source), out);
    }
    html_page_close(out);
    mem_free(over);
}
