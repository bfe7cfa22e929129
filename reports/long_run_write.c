/* reports/long_run_write.c -- a long run as text and as JSON. */
#include "reports/long_run.h"
#include "reports/view.h"
#include "workloads/job.h"

enum { NAME_WIDTH = 24 };

/* As tests/analytic/test_intervals.c measures at full size; docs/statistics.md has the table. */
static const double level_measured = 0.95;
static const char coverage_measured[] =
    "  of M/M/1 queues at load 0.8 such intervals hold the truth in 88 % of runs of 2,000 "
    "jobs, 93 % of 10,000,\n  95 % of 40,000 (docs/statistics.md)\n";

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
    buffer_format(out, "{\"%s\": %zu, ", steady->step > 0 ? "steps" : "jobs", steady->count);
    if (steady->step > 0) {
        buffer_string(out, "\"step_s\": ");
        buffer_double(out, time_to_seconds(steady->step));
        buffer_string(out, ", ");
    } else {
        buffer_format(out, "\"pending\": %zu, \"left_out\": %zu, ", steady->pending, steady->left_out);
    }
    buffer_string(out, "\"mean_all\": ");
    buffer_double(out, steady->mean_all);
    buffer_string(out, ", \"mean\": ");
    buffer_double(out, mean->of.mean);
    buffer_string(out, ", \"low\": ");
    buffer_double(out, mean->of.low); /* null if it is infinite */
    buffer_string(out, ", \"high\": ");
    buffer_double(out, mean->of.high);
    buffer_string(out, ", \"level\": ");
    buffer_double(out, mean->of.level);
    buffer_format(out, ", \"warmup\": %zu, \"from_s\": ", mean->warmup_count);
    buffer_double(out, time_to_seconds(steady->from));
    buffer_format(out, ", \"batches\": %zu, \"batch_size\": %zu, \"autocorrelation\": ", mean->batch_count,
                  mean->batch_size);
    buffer_double(out, mean->autocorrelation);
    buffer_string(out, ", \"reason\": ");
    if (steady_write_reason(steady, &reason))
        buffer_json(out, (struct text){reason.bytes, reason.length});
    else
        buffer_string(out, "null");
    buffer_char(out, '}');
    buffer_release(&reason);
}

/* ---- the section of a report ---- */

static void write_jobs(size_t count, struct buffer *out)
{
    view_count(out, (double)count);
    buffer_string(out, count == 1 ? " job" : " jobs");
}

static void write_line(const char *name, const struct steady *steady, struct buffer *out)
{
    const struct series_mean *mean = &steady->mean;
    const bool is_steps = steady->step > 0;
    const char *metric = is_steps ? "allocation_ratio" : "queue_time_mean_s", *unit = is_steps ? "ratio" : "s";
    buffer_format(out, "  %-*s", NAME_WIDTH, name);
    view_metric(out, metric, unit, mean->of.mean);
    buffer_string(out, " (");
    if (!steady_write_reason(steady, out)) {
        view_metric(out, metric, unit, mean->of.low);
        buffer_string(out, " to ");
        view_metric(out, metric, unit, mean->of.high);
        buffer_format(out, "), %zu batches of ", mean->batch_count);
        if (is_steps)
            view_duration(out, time_to_seconds(steady->step) * (double)mean->batch_size);
        else
            write_jobs(mean->batch_size, out);
        buffer_string(out, " from ");
        view_duration(out, time_to_seconds(steady->from));
        buffer_string(out, " on; before that ");
        if (is_steps)
            view_duration(out, time_to_seconds(steady->step) * (double)mean->warmup_count);
        else
            write_jobs(mean->warmup_count, out);
        buffer_string(out, !is_steps && mean->warmup_count == 1 ? " is left out\n" : " are left out\n");
        return;
    }
    buffer_string(out, ")\n");
}

static void write_class(const struct long_run *run, int class, double level, struct buffer *out)
{
    struct buffer name = {0};
    const struct steady steady = long_run_waits(&run->waits, class, level);
    buffer_format(&name, "queue time, %s", class == LONG_RUN_ALL ? "all jobs" : job_class_names[class]);
    if (steady.count > 0)
        write_line(buffer_c_string(&name), &steady, out);
    buffer_release(&name);
}

void long_run_write_text(const struct long_run *run, double level, struct buffer *out)
{
    const struct steady all = long_run_waits(&run->waits, LONG_RUN_ALL, level),
                        allocation = long_run_allocation(run, level);
    buffer_format(out, "\nSteady state: means after the warm-up, %.3g %% intervals by batch means\n", 100 * level);
    for (int c = LONG_RUN_ALL; c < JOB_CLASS_COUNT; c++)
        write_class(run, c, level, out);
    write_line("allocation", &allocation, out);
    if (all.pending > 0) {
        buffer_string(out, "  had not started at the end: ");
        view_count(out, (double)all.pending);
        buffer_string(out, " (their wait so far counts)\n");
    }
    if (all.left_out > 0) {
        buffer_string(out, "  left out: ");
        view_count(out, (double)all.left_out);
        buffer_string(out, " (rejected)\n");
    }
    if (level == level_measured)
        buffer_string(out, coverage_measured);
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
