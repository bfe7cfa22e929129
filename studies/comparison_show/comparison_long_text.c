/* studies/comparison_show/comparison_long_text.c -- one run of each side in words: the queue times of the same jobs. */
#include "reports/view.h"
#include "studies/comparison_show/comparison_view.h"

enum { NAME_WIDTH = 12 };

static char mark_of(const struct steady *steady)
{
    if (steady->unequal == 0)
        return '=';
    if (!inference_has_interval(&steady->mean.of))
        return '?';
    return steady->mean.of.low > 0 ? '-' : steady->mean.of.high < 0 ? '+' : '~';
}

static void write_change(double seconds, struct buffer *out)
{
    view_change(out, "queue_time_mean_s", "s", seconds);
}

static void write_line(const char *name, const struct steady *steady, const char *indent, struct buffer *out)
{
    const struct series_mean *mean = &steady->mean;
    buffer_format(out, "%s%c %-*s", indent, mark_of(steady), NAME_WIDTH, name);
    if (steady->unequal == 0) {
        buffer_string(out, "equal for each of ");
        view_count(out, (double)steady->count);
        buffer_string(out, " jobs\n");
        return;
    }
    write_change(mean->of.mean, out);
    buffer_string(out, " (");
    if (steady_write_reason(steady, out)) {
        buffer_string(out, ")\n");
        return;
    }
    write_change(mean->of.low, out);
    buffer_string(out, " to ");
    write_change(mean->of.high, out);
    buffer_format(out, "), %zu batches of ", mean->batch_count);
    view_count(out, (double)mean->batch_size);
    buffer_string(out, " jobs, without the first ");
    view_count(out, (double)mean->warmup_count);
    if (mean->warmup_count > 0) {
        buffer_string(out, " (with them ");
        write_change(steady->mean_all, out);
        buffer_char(out, ')');
    }
    buffer_char(out, '\n');
}

bool comparison_write_long(const struct comparison *comparison, size_t side, const char *indent, struct buffer *out)
{
    const struct comparison_long *one_run = &comparison->sides[side].one_run;
    if (!one_run->is_known && one_run->unknown == NULL)
        return false;
    if (!one_run->is_known) {
        buffer_format(out, "%snot known: ", indent);
        view_name(out, one_run->unknown, 200);
        buffer_char(out, '\n');
        return true;
    }
    write_line("all jobs", &one_run->all, indent, out);
    for (int c = 0; c < JOB_CLASS_COUNT; c++)
        if (one_run->by_class[c].count > 0)
            write_line(job_class_names[c], &one_run->by_class[c], indent, out);
    if (one_run->all.pending > 0) {
        buffer_format(out, "%s  had not started at the end, on one side at least: ", indent);
        view_count(out, (double)one_run->all.pending);
        buffer_string(out, " (their wait so far counts)\n");
    }
    if (one_run->all.left_out > 0) {
        buffer_format(out, "%s  left out: ", indent);
        view_count(out, (double)one_run->all.left_out);
        buffer_string(out, " (rejected, or on one side only)\n");
    }
    return true;
}
