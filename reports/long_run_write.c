/* reports/long_run_write.c -- a long run as a section and as JSON. */
#include "reports/long_run.h"
#include "reports/view.h"
#include "workloads/job.h"

/* As tests/analytic/test_intervals.c measures at full size; docs/statistics.md has the table. */
static const double level_measured = 0.95;
static const char coverage_measured[] =
    "of M/M/1 queues at load 0.8 such intervals hold the truth in 88 % of runs of 2,000 "
    "jobs, 93 % of 10,000, 95 % of 40,000 (docs/statistics.md)";

bool steady_write_reason(const struct steady *steady, struct buffer *out)
{
    const struct series_mean *mean = &steady->mean;
    const char *what = steady->step > 0 ? "steps" : "jobs";
    if (inference_has_interval(&mean->of))
        return false;
    buffer_string(out, "no interval: ");
    if (mean->of.state == INFERENCE_TOO_FEW) {
        buffer_format(out, "%zu %s after the warm-up, and %d are needed", steady->count - mean->warmup_count, what,
                      SERIES_MIN);
    } else if (!mean->is_warmup_found) {
        buffer_string(out, "the warm-up has no end in the first half of the ");
        view_count(out, (double)steady->count);
        buffer_format(out, " %s", what);
    } else if (mean->of.state == INFERENCE_CORRELATED) {
        buffer_format(out, "the run is too short: the means of %zu batches depend on each other", mean->batch_count);
    } else {
        buffer_string(out, "its values allow none");
    }
    return true;
}

void steady_write_json(const struct steady *steady, struct buffer *out)
{
    const struct series_mean *mean = &steady->mean;
    struct buffer reason = {0};
    if (steady->step > 0)
        buffer_members(out, "{'steps': %zu, 'step_s': %g", steady->count, time_to_seconds(steady->step));
    else
        buffer_members(out, "{'jobs': %zu, 'pending': %zu, 'left_out': %zu", steady->count, steady->pending,
                       steady->left_out);
    buffer_members(out,
                   ", 'mean_all': %g, 'mean': %g, 'low': %g, 'high': %g, 'level': %g, 'warmup': %zu, 'from_s': %g, "
                   "'batches': %zu, 'batch_size': %zu, 'autocorrelation': %g, 'reason': %s}",
                   steady->mean_all, mean->of.mean, mean->of.low, mean->of.high, mean->of.level, mean->warmup_count,
                   time_to_seconds(steady->from), mean->batch_count, mean->batch_size, mean->autocorrelation,
                   steady_write_reason(steady, &reason) ? buffer_c_string(&reason) : NULL);
    buffer_release(&reason);
}

/* ---- as a section ---- */

static char mark_of(const struct steady *steady)
{
    if (steady->unequal == 0)
        return '=';
    if (!inference_has_interval(&steady->mean.of))
        return '?';
    return steady->mean.of.low > 0 ? '-' : steady->mean.of.high < 0 ? '+' : '~';
}

static void write_value(const struct steady *steady, bool is_difference, double value, struct buffer *out)
{
    if (is_difference)
        view_change(out, "queue_time_mean_s", "s", value);
    else
        (steady->step > 0 ? view_percent : view_duration)(out, value);
}

static void write_size(const struct steady *steady, size_t count, struct buffer *out)
{
    if (steady->step > 0)
        view_duration(out, time_to_seconds(steady->step) * (double)count);
    else
        view_words(out, count == 1 ? "%g job" : "%g jobs", (double)count);
}

void steady_show(struct show *show, const char *name, const struct steady *steady, bool is_difference)
{
    const struct series_mean *mean = &steady->mean;
    show_row(show, name);
    if (is_difference)
        show_mark(show, mark_of(steady));
    struct buffer *out = show_cell(show);
    if (is_difference && steady->unequal == 0) {
        view_words(show_cell(show), "equal for each of %g jobs", (double)steady->count);
        return;
    }
    write_value(steady, is_difference, mean->of.mean, out);
    out = show_cell(show);
    buffer_char(out, '(');
    if (steady_write_reason(steady, out)) {
        buffer_char(out, ')');
        return;
    }
    write_value(steady, is_difference, mean->of.low, out);
    buffer_string(out, " to ");
    write_value(steady, is_difference, mean->of.high, out);
    buffer_format(out, "), %zu batches of ", mean->batch_count);
    write_size(steady, mean->batch_size, out);
    view_words(out, " from %E on", time_to_seconds(steady->from));
    if (mean->warmup_count == 0)
        return;
    buffer_string(out, "; without ");
    write_size(steady, mean->warmup_count, out);
    buffer_string(out, " before that (with them ");
    write_value(steady, is_difference, steady->mean_all, out);
    buffer_char(out, ')');
}

void steady_show_left(struct show *show, const struct steady *steady, const char *why)
{
    if (steady->pending > 0)
        view_words(show_line(show, SHOW_NOTE), "had not started at the end: %g (their wait so far counts)",
                   (double)steady->pending);
    if (steady->left_out > 0)
        view_words(show_line(show, SHOW_NOTE), "left out: %g (%s)", (double)steady->left_out, why);
}

void long_run_show(struct show *show, const struct long_run *run, double level)
{
    const struct steady all = long_run_waits(&run->waits, LONG_RUN_ALL, level),
                        allocation = long_run_allocation(run, level);
    struct buffer title = {0};
    buffer_format(&title, "Steady state: means after the warm-up, %.3g %% intervals by batch means", 100 * level);
    show_section(show, buffer_c_string(&title));
    show_table(show, "", "mean", "<", NULL);
    for (int c = LONG_RUN_ALL; c < JOB_CLASS_COUNT; c++) {
        const struct steady steady = long_run_waits(&run->waits, c, level);
        title.length = 0;
        buffer_format(&title, "queue time, %s", c == LONG_RUN_ALL ? "all jobs" : job_class_names[c]);
        if (steady.count > 0)
            steady_show(show, buffer_c_string(&title), &steady, false);
    }
    buffer_release(&title);
    steady_show(show, "allocation", &allocation, false);
    steady_show_left(show, &all, "rejected");
    if (level == level_measured)
        buffer_string(show_line(show, SHOW_NOTE), coverage_measured);
}

void long_run_write_json(const struct long_run *run, double level, struct buffer *out)
{
    const struct steady all = long_run_waits(&run->waits, LONG_RUN_ALL, level),
                        allocation = long_run_allocation(run, level);
    const char *before = "";
    buffer_string(out, "\"steady\": {\"queue_time_mean_s\": ");
    steady_write_json(&all, out);
    buffer_string(out, ",\n \"queue_time_mean_s_by_class\": {");
    for (int c = 0; c < JOB_CLASS_COUNT; c++) {
        const struct steady steady = long_run_waits(&run->waits, c, level);
        if (steady.count == 0)
            continue;
        buffer_format(out, "%s\"%s\": ", before, job_class_names[c]);
        steady_write_json(&steady, out);
        before = ",\n  ";
    }
    buffer_string(out, "},\n \"allocation_ratio\": ");
    steady_write_json(&allocation, out);
    buffer_char(out, '}');
}
