/* studies/trace_page/trace_page_write.c -- the page of a trace. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "reports/view.h"
#include "studies/trace_page/trace_page_inside.h"
#include "topologies/queue_table.h"

enum { POINTS_MAX = 480, RANKS_MAX = 10, DAY_HOURS = 24, DATED_YEARS = 20 };

#define HOUR_S 3600.0

/* ---- Over time ---- */

/* Means of equal intervals of whole hours from the first submission to the last. */
struct over_time {
    size_t count;
    double *day, *demand, *recorded, *jobs; /* POINTS_MAX of each */
    double gpus, days;                      /* of the cluster; the length of the axis */
};

static struct over_time over_time_of(struct show *show, const struct trace_page *page, const struct cluster *cluster)
{
    double *numbers = show_numbers(show, 4 * POINTS_MAX);
    struct over_time over = {.day = numbers,
                             .demand = numbers + POINTS_MAX,
                             .recorded = numbers + 2 * POINTS_MAX,
                             .jobs = numbers + 3 * POINTS_MAX};
    const size_t hours = page->hour_count, step = (hours + POINTS_MAX - 1) / POINTS_MAX;
    struct hour_load_walk demand = hour_load_begin(&page->demand), recorded = hour_load_begin(&page->recorded);
    double demand_s = 0, recorded_s = 0;
    over.gpus = cluster->gpu_count;
    over.days = fmax(1.0 / DAY_HOURS, (double)hours / DAY_HOURS);
    for (size_t from = 0; from < hours; from += step) {
        const size_t to = from + step < hours ? from + step : hours, i = over.count++;
        const double span_s = (double)(to - from) * HOUR_S;
        const time_ns end = (time_ns)to * HOUR_LOAD_NS;
        const double demand_to_s = hour_load_to(&demand, end), recorded_to_s = hour_load_to(&recorded, end);
        over.day[i] = (double)(from + to) / 2 / DAY_HOURS;
        over.demand[i] = (demand_to_s - demand_s) / span_s;
        over.recorded[i] = (recorded_to_s - recorded_s) / span_s;
        demand_s = demand_to_s;
        recorded_s = recorded_to_s;
        for (size_t hour = from; hour < to; hour++)
            over.jobs[i] += (double)page->hour_jobs[hour];
        over.jobs[i] /= (double)(to - from);
    }
    return over;
}

static void add_section(struct show *show, const char *title, const char *note)
{
    show_section(show, title);
    buffer_string(show_line(show, SHOW_NOTE), note);
}

static void add_figure(struct show *show, const struct plot *plot, const char *y_text, const char *x_text,
                       const char *first)
{
    show_figure(show, &(struct show_figure){.plot = *plot, .y_text = y_text, .x_text = x_text, .first = first});
}

static void add_demand(struct show *show, const struct over_time *over, bool is_recorded)
{
    double *capacity = show_numbers(show, 4);
    memcpy(capacity, (const double[]){0, over->days, over->gpus, over->gpus}, 4 * sizeof *capacity);
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
    const double high = fmax(show_highest(over->demand, over->count), show_highest(over->recorded, over->count));
    const bool has_capacity = over->gpus <= 5 * high;
    if (has_capacity)
        series[count++] = (struct plot_series){
            .label = "capacity", .x = capacity, .y = capacity + 2, .count = 2, .colour = PLOT_BLACK};
    const struct plot plot = {.title = "GPUs over time",
                              .description = "GPUs that the jobs ask for over the span of the trace.",
                              .id = "demand",
                              .series = series,
                              .series_count = count,
                              .x_max = over->days,
                              .y_max = show_scale_end(1.02 * fmax(high, has_capacity ? over->gpus : 0))};
    add_section(show, "GPUs over time",
                is_recorded ? "In demand: what all jobs would hold if each started when it was submitted. By the "
                              "record: what they held, where their waits are known."
                            : "In demand: what all jobs would hold if each started when it was submitted. The trace "
                              "does not tell when they started.");
    add_figure(show, &plot, "GPUs", "days since the first submission", "Day");
}

static void add_jobs(struct show *show, const struct over_time *over)
{
    const struct plot_series series = {
        .label = "jobs per hour", .x = over->day, .y = over->jobs, .count = over->count, .colour = PLOT_BLUE};
    const struct plot plot = {.title = "Submissions over time",
                              .description = "Jobs submitted per hour over the span of the trace.",
                              .id = "submissions",
                              .series = &series,
                              .series_count = 1,
                              .x_max = over->days,
                              .y_max = show_scale_end(1.02 * show_highest(over->jobs, over->count))};
    add_section(show, "Submissions over time", "Means over each interval.");
    add_figure(show, &plot, "jobs per hour", "days since the first submission", "Day");
}

static void add_week(struct show *show, const struct trace_page *page, time_ns first_submit)
{
    double *day = show_numbers(show, 2 * WEEK_HOURS), *jobs = day + WEEK_HOURS;
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
                              .y_max = show_scale_end(1.02 * show_highest(jobs, WEEK_HOURS))};
    add_section(
        show, "The week",
        is_dated
            ? "Mean of all weeks, from Monday 0:00 on, in the zone of the trace's dates (UTC where they "
              "name one)."
            : "Mean of all weeks. The trace does not tell dates, so it is not known which day of the week day 0 is.");
    add_figure(show, &plot, "jobs per hour", "day of the week", "Day");
}

/* ---- Distributions ---- */

static void add_spread(struct show *show, const struct spread *spread, const char *title, const char *id,
                       const char *note)
{
    double *edges = show_numbers(show, 3 * SPREAD_EDGES), *jobs = edges + SPREAD_EDGES, *gpu_h = jobs + SPREAD_EDGES;
    double jobs_sum = 0, gpu_h_sum = 0;
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
    add_section(show, title, note);
    add_figure(show, &plot, "share", "", "at most");
}

/* ---- Tables ---- */

static void open_table(struct show *show, const char *title, const char *first)
{
    show_section(show, title);
    show_table(show, first, "jobs", "share", "GPU h", "share", NULL);
}

static void add_share(struct show *show, const char *name, const struct share *share, const struct share *all)
{
    if (share->jobs == 0)
        return;
    show_row(show, name);
    show_value(show, view_count, (double)share->jobs);
    show_value(show, view_percent, (double)share->jobs / (double)all->jobs);
    show_value(show, view_amount, share->gpu_h);
    show_value(show, view_percent, all->gpu_h > 0 ? share->gpu_h / all->gpu_h : 0);
}

static void add_sizes(struct show *show, const struct trace_page *page)
{
    open_table(show, "GPUs of a job", "GPUs");
    for (size_t size = 0; size < SIZES; size++) {
        struct buffer name = {0};
        if (size < 4)
            buffer_string(&name, (const char *const[]){"0", "less than 1", "1", "2"}[size]);
        else
            buffer_format(&name, "%u to %u", (1U << (size - 3)) + 1, 1U << (size - 2));
        add_share(show, buffer_c_string(&name), &page->sizes[size], &page->all);
        buffer_release(&name);
    }
}

static void add_outcomes(struct show *show, const struct trace_page *page)
{
    open_table(show, "Outcomes", "outcome");
    for (size_t i = 0; i < OUTCOME_COUNT; i++)
        add_share(show, job_outcome_names[i], &page->outcomes[i], &page->all);
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

static void add_ranks(struct show *show, const struct trace_page *page, const struct shares *shares, const char *title,
                      const char *first, name_fn *name, const void *names)
{
    size_t used = 0;
    for (size_t i = 0; i < shares->count; i++)
        used += shares->list[i].jobs > 0;
    if (used < 2)
        return;
    struct share rest = {0};
    bool *is_shown = mem_zalloc(shares->count, sizeof *is_shown);
    open_table(show, title, first);
    for (int rank = 0; rank < RANKS_MAX; rank++) {
        const size_t id = next_rank(shares, is_shown);
        if (id == shares->count)
            break;
        is_shown[id] = true;
        add_share(show, name(names, id), &shares->list[id], &page->all);
    }
    for (size_t i = 0; i < shares->count; i++)
        if (!is_shown[i]) {
            rest.jobs += shares->list[i].jobs;
            rest.gpu_h += shares->list[i].gpu_h;
        }
    if (used > RANKS_MAX) {
        struct buffer others = {0};
        buffer_format(&others, "%zu others", used - RANKS_MAX);
        add_share(show, buffer_c_string(&others), &rest, &page->all);
        buffer_release(&others);
    }
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

static void add_lead(struct show *show, const struct trace_page *page, const struct workload_facts *facts)
{
    struct buffer *out = show_line(show, SHOW_LEAD);
    const double span_s = time_to_seconds(page->last_submit);
    view_words(out, "%g jobs in %E · %a GPU h · format %s", (double)page->all.jobs, span_s, page->all.gpu_h,
               facts->format);
    if (facts->bad_line_count > 0)
        view_words(out, " · %g unreadable lines left out", (double)facts->bad_line_count);
    for (uint32_t i = 0; i < facts->skipped.reason_count; i++)
        view_words(out, " · %g left out: %s", (double)facts->skipped.reasons[i].count, facts->skipped.reasons[i].why);
}

struct show *trace_page_show_new(const struct trace_page *page, const struct job_source *source, const char *name,
                                 const struct cluster *cluster)
{
    struct show *show = show_new(name);
    const struct workload_facts *facts = job_source_facts(source);
    add_lead(show, page, facts);
    if (page->all.jobs == 0)
        return show;
    const struct over_time over = over_time_of(show, page, cluster);
    add_demand(show, &over, page->waits.count > 0);
    add_jobs(show, &over);
    add_week(show, page, facts->first_submit);
    add_spread(show, &page->run_times, "Run time", "runtimes", "Shares of the jobs that run at most so long.");
    if (page->waits.count > 0)
        add_spread(show, &page->waits, "Recorded wait", "waits",
                   "Shares of the jobs that waited at most so long, where their waits are known.");
    add_sizes(show, page);
    add_outcomes(show, page);
    add_ranks(show, page, &page->queues, "Queues", "queue", queue_name, job_source_queue_table(source));
    add_ranks(show, page, &page->users, "Users", "user", user_name, job_source_users(source));
    return show;
}
