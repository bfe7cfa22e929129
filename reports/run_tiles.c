#include "reports/run_tiles.h"

#include <math.h>

#include "reports/view.h"

#define METRIC(name) metrics_value(metrics, name)

typedef void view_fn(struct buffer *out, double value);

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

/* The line below the number. */
static struct buffer *add_tile(struct show *show, const struct metrics *metrics, const char *label, const char *metric,
                               view_fn *view)
{
    show_tile(show, label, view, metrics_value(metrics, metric));
    return show_tile_below(show);
}

static void add_makespan_tile(struct show *show, const struct metrics *metrics)
{
    const bool is_done = !(METRIC("jobs_pending") + METRIC("jobs_running") > 0);
    show_tile(show, "Makespan", view_duration, is_done ? METRIC("makespan_s") : NAN);
    struct buffer *below = show_tile_below(show);
    if (!is_done)
        buffer_string(below, "not known: jobs have not ended; ");
    view_words(below, "at least %E", METRIC("makespan_bound_s"));
    if (isfinite(METRIC("makespan_over_bound")))
        view_words(below, "; %f times that", METRIC("makespan_over_bound"));
}

/* The cut whose classes have queue times of their own; NULL: all jobs are of one. */
static const char *classes_of(const struct metrics *metrics)
{
    static const char *const cuts[] = {"workload_class", "class"};
    for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++)
        if (metrics_cut_key(metrics, cuts[c], 1) != NULL)
            return cuts[c];
    return NULL;
}

/* A tile for each class of jobs, since a quantile over notebooks and large training together is that of neither: the
 * classes that ask most GPU time.  One tile if there is one class. */
static void add_queue_time_tiles(struct show *show, const struct metrics *metrics)
{
    enum { TILES = 4, CLASS_NAME_MAX = 24 };
    const char *cut = classes_of(metrics);
    if (cut == NULL) {
        view_words(add_tile(show, metrics, "Queue time", "queue_time_p95_s", view_duration), "p95; median %E, p99 %E",
                   METRIC("queue_time_p50_s"), METRIC("queue_time_p99_s"));
        return;
    }
    size_t count, shown = 0;
    size_t *order = view_by_demand_new(metrics, cut, &count);
    for (size_t i = 0; i < count && shown < TILES; i++) {
        const double p95 = view_cut_value(metrics, cut, order[i], "queue_time_p95_s");
        struct buffer label = {0};
        if (!isfinite(p95))
            continue;
        buffer_string(&label, "Queue time, ");
        view_name(&label, metrics_cut_key(metrics, cut, order[i]), CLASS_NAME_MAX);
        show_tile(show, buffer_c_string(&label), view_duration, p95);
        view_words(show_tile_below(show), "p95; median %E, p99 %E",
                   view_cut_value(metrics, cut, order[i], "queue_time_p50_s"),
                   view_cut_value(metrics, cut, order[i], "queue_time_p99_s"));
        buffer_release(&label);
        shown++;
    }
    mem_free(order);
}

void run_tiles(struct show *show, const struct metrics *metrics, bool is_assumed)
{
    const double period_s = view_period_s(metrics);
    show_on(show, SHOW_PAGE);
    if (metrics_facts(metrics)->offered.kind == OFFERED_BATCH)
        add_makespan_tile(show, metrics);
    add_queue_time_tiles(show, metrics);
    if (METRIC("useful_ratio") > 0)
        buffer_string(add_tile(show, metrics, "Useful", "useful_ratio", view_percent),
                      "of all GPU time was work that is kept");
    if (isfinite(METRIC("allocation_ratio")))
        buffer_string(add_tile(show, metrics, "Allocated", "allocation_ratio", view_percent),
                      "of all GPU time, work that was lost included");
    if (isfinite(METRIC("sm_active_ratio")))
        buffer_string(add_tile(show, metrics, "SM-active", "sm_active_ratio", view_percent),
                      is_assumed ? "of all GPU time, as the workload assumes: not measured"
                                 : "of all GPU time, as the trace tells");
    if (isfinite(METRIC("gpu_util_ratio")))
        buffer_string(add_tile(show, metrics, "GPU_UTIL", "gpu_util_ratio", view_percent),
                      "of all GPU time a kernel was on the GPU");
    view_words(add_tile(show, metrics, "Jobs completed", "jobs_completed", view_count),
               "in %E; %g still waiting, %g running", period_s, METRIC("jobs_pending"), METRIC("jobs_running"));
    if (isfinite(METRIC("goodput_ratio")))
        buffer_string(add_tile(show, metrics, "Goodput", "goodput_ratio", view_percent),
                      "of held GPU time became kept work");
    view_words(add_tile(show, metrics, "Lost GPU hours", "lost_gpu_h", view_amount), "%g preemptions in %E",
               METRIC("preemptions"), period_s);
    if (isfinite(METRIC("jain_fairness")))
        buffer_string(add_tile(show, metrics, "Fairness", "jain_fairness", view_jain),
                      "Jain, over queues; 1 is equal service");
    if (isfinite(METRIC("cost_usd")))
        view_words(add_tile(show, metrics, "Cost of the cluster", "cost_usd", view_usd),
                   "%a USD per completed job; all GPUs in %E", METRIC("cost_per_job_usd"), view_window_s(metrics));
    show_on(show, SHOW_ALL);
}
