/* reports/run_curves.c -- what a run was like over time, as series of a plot. */
#include <math.h>

#include "reports/run_curves.h"

enum { POINTS_MAX = 480, PLAIN_COUNT = 9 };

static void choose_unit(struct run_curves *curves, double end_s)
{
    static const struct {
        double above_s, unit_s;
        const char *name;
    } units[] = {{2 * 86400.0, 86400, "days"}, {2 * 3600.0, 3600, "hours"}, {120, 60, "minutes"}};
    curves->unit_s = 1;
    curves->unit = "seconds";
    for (size_t i = 0; i < 3; i++)
        if (end_s > units[i].above_s) {
            curves->unit_s = units[i].unit_s;
            curves->unit = units[i].name;
            break;
        }
    curves->end = end_s / curves->unit_s;
}

/* A mean over an interval is a difference of the running integrals, so it is exact for any width. */
static void add_interval(struct run_curves *curves, const struct timeline_row *from, const struct timeline_row *to)
{
    double start_s = time_to_seconds(from->time), end_s = time_to_seconds(to->time);
    double span_s = end_s - start_s;
    size_t i = curves->count++;
    curves->time[i] = (start_s + end_s) / 2 / curves->unit_s;
    curves->allocated[i] = (to->allocated_gpu_s - from->allocated_gpu_s) / span_s;
    curves->active[i] = (to->active_gpu_s - from->active_gpu_s) / span_s;
    curves->kernel[i] = (double)(to->use_us[USE_KERNEL] - from->use_us[USE_KERNEL]) / 1e6 / span_s;
    curves->reserved[i] = (to->reserved_gpu_s - from->reserved_gpu_s) / span_s;
    curves->down[i] = (to->down_gpu_s - from->down_gpu_s) / span_s;
    curves->pending[i] = (to->pending_job_s - from->pending_job_s) / span_s;
    for (int cause = 0; cause < SPENT_COUNT; cause++)
        curves->spent[cause][i] = (double)(to->spent[cause] - from->spent[cause]) / 1e9;
}

/* Work is booked as lost in the interval in which it was thrown away.  What exceeds the useful work of that interval
 * was done before: book it as lost there.  Then turn GPU time into GPUs. */
static void settle_spent(struct run_curves *curves, const double *spans_s)
{
    double *useful = curves->spent[SPENT_USEFUL], *lost = curves->spent[SPENT_LOST];
    for (size_t i = curves->count; i-- > 0;) {
        const double more = useful[i] < 0 ? -useful[i] : 0;
        useful[i] += more;
        lost[i] -= more;
        if (i > 0) {
            useful[i - 1] -= more;
            lost[i - 1] += more;
        }
    }
    for (int cause = 0; cause < SPENT_COUNT; cause++)
        for (size_t i = 0; i < curves->count; i++)
            curves->spent[cause][i] /= spans_s[i];
}

static void space_sum(double sum[SPACE_COUNT], const struct space_row *row)
{
    sum[SPACE_IDLE] += (double)row->idle_gpu_milli / GPU_MILLI;
    sum[SPACE_FRAGMENTED] += space_fragmented_gpus(row);
    sum[SPACE_STRANDED] += (double)row->stranded_gpu_milli / GPU_MILLI;
    sum[SPACE_GANG] += (double)row->gang_gpus[RECORD_GANG_SIZE_COUNT - 1];
    for (int c = 0; c < RECORD_CAUSE_COUNT; c++)
        sum[SPACE_CAUSES + c] += row->fragmented_gpus[c];
}

struct run_curves run_curves_of(struct show *show, const struct metrics *metrics, double end_s)
{
    static const struct timeline_row run_start = {0};
    size_t count;
    const struct timeline_row *samples = metrics_samples(metrics, &count);
    double *numbers = show_numbers(show, (PLAIN_COUNT + SPACE_COUNT + SPENT_COUNT) * (POINTS_MAX + 1));
    double spans_s[POINTS_MAX + 1];
    struct run_curves curves = {.time = numbers};
    double **columns[] = {&curves.allocated, &curves.active,  &curves.kernel,   &curves.reserved,
                          &curves.down,      &curves.pending, &curves.recorded, &curves.in_service};
    for (size_t c = 0; c < PLAIN_COUNT - 1; c++)
        *columns[c] = numbers + (c + 1) * (POINTS_MAX + 1);
    for (size_t c = 0; c < SPACE_COUNT; c++)
        curves.space[c] = numbers + (c + PLAIN_COUNT) * (POINTS_MAX + 1);
    for (size_t c = 0; c < SPENT_COUNT; c++)
        curves.spent[c] = numbers + (c + PLAIN_COUNT + SPACE_COUNT) * (POINTS_MAX + 1);
    if (count == 0)
        return curves;
    choose_unit(&curves, fmax(end_s, time_to_seconds(samples[count - 1].time)));
    size_t stride = (count + POINTS_MAX - 1) / POINTS_MAX;
    const struct timeline_row *from = &run_start;
    double space[SPACE_COUNT] = {0}, space_samples = 0;
    for (size_t i = 0; i < count; i++) {
        curves.has_space |= samples[i].space.is_known;
        space_sum(space, &samples[i].space);
        space_samples++;
        bool is_kept = i % stride == stride - 1 || i + 1 == count;
        if (!is_kept || samples[i].time <= from->time)
            continue;
        for (size_t c = 0; c < SPACE_COUNT; c++) {
            curves.space[c][curves.count] = space[c] / space_samples;
            space[c] = 0;
        }
        space_samples = 0;
        spans_s[curves.count] = time_to_seconds(samples[i].time - from->time);
        add_interval(&curves, from, &samples[i]);
        curves.recorded[curves.count - 1] = metrics_recorded_gpus(metrics, from->time, samples[i].time);
        from = &samples[i];
    }
    settle_spent(&curves, spans_s);
    for (size_t i = 0; i < curves.count; i++)
        curves.in_service[i] = (double)metrics_facts(metrics)->gpu_count - curves.spent[SPENT_ABSENT][i];
    return curves;
}

struct plot_series run_capacity_series(const struct metrics *metrics, const struct run_curves *curves, double *xy)
{
    const bool is_level = !(show_highest(curves->spent[SPENT_ABSENT], curves->count) > 0);
    xy[0] = 0;
    xy[1] = curves->end;
    xy[2] = xy[3] = (double)metrics_facts(metrics)->gpu_count;
    return (struct plot_series){.label = "capacity",
                                .x = is_level ? xy : curves->time,
                                .y = is_level ? xy + 2 : curves->in_service,
                                .count = is_level ? 2 : curves->count,
                                .colour = PLOT_BLACK};
}

bool run_warmup_series(const struct metrics *metrics, const struct run_curves *curves, double top, double *xy,
                       struct plot_series *series)
{
    const double at = time_to_seconds(metrics_facts(metrics)->warmup) / curves->unit_s;
    if (!(at > 0 && at < curves->end))
        return false;
    xy[0] = xy[1] = at;
    xy[2] = 0;
    xy[3] = top;
    *series = (struct plot_series){
        .label = "end of the warm-up", .x = xy, .y = xy + 2, .count = 2, .colour = PLOT_PINK, .is_dashed = true};
    return true;
}
