/* reports/export/series.c -- see reports/export/series.h. */
#include "reports/export/series.h"

#include "base/mem.h"
#include "base/names.h"

#define STEP_MIN (3600 * TIME_NS_PER_S)

struct group {
    double *sums[JOB_SUM_COUNT]; /* by point; NULL: no job so far */
};

struct series {
    time_ns end, step;
    uint32_t points;
    struct names *queue_names;
    struct group classes[JOB_CLASS_COUNT];
    struct group *queues;
    size_t queue_capacity;
};

struct series *series_new(time_ns end)
{
    struct series *series = mem_zalloc(1, sizeof *series);
    const time_ns hours = (end + STEP_MIN - 1) / STEP_MIN;
    const time_ns factor = (hours + SERIES_POINTS_MAX - 2) / (SERIES_POINTS_MAX - 1);
    series->end = end;
    series->step = STEP_MIN * (factor > 0 ? factor : 1);
    series->points = (uint32_t)((end + series->step - 1) / series->step) + 1;
    series->queue_names = names_new();
    return series;
}

static void release(struct group *group)
{
    for (int sum = 0; sum < JOB_SUM_COUNT; sum++)
        mem_free(group->sums[sum]);
}

void series_free(struct series *series)
{
    if (series == NULL)
        return;
    for (int c = 0; c < JOB_CLASS_COUNT; c++)
        release(&series->classes[c]);
    for (size_t q = 0; q < series->queue_capacity; q++)
        release(&series->queues[q]);
    names_free(series->queue_names);
    mem_free(series->queues);
    mem_free(series);
}

uint32_t series_points(const struct series *series)
{
    return series->points;
}

time_ns series_time(const struct series *series, uint32_t point)
{
    return point + 1 < series->points ? point * series->step : series->end;
}

/* The first point that is not before this moment; a moment after the end of the run has the last. */
static uint32_t point_at(const struct series *series, time_ns at)
{
    if (at >= series->end)
        return series->points - 1;
    return (uint32_t)((at + series->step - 1) / series->step);
}

static void add(struct series *series, struct group *group, enum job_sum sum, time_ns at, double value)
{
    if (group->sums[sum] == NULL)
        group->sums[sum] = mem_zalloc(series->points, sizeof *group->sums[sum]);
    group->sums[sum][point_at(series, at)] += value;
}

static void add_job(struct series *series, struct group *group, const struct job_row *row)
{
    const bool has_ended = row->state != END_PENDING && row->state != END_RUNNING;
    add(series, group, SUM_SUBMITTED, row->submit, 1);
    add(series, group, SUM_STARTED, row->start, row->start != TIME_NEVER);
    add(series, group, SUM_WAIT_S, row->start, row->start != TIME_NEVER ? time_to_seconds(row->wait) : 0);
    add(series, group, SUM_ENDED, row->end, has_ended);
    add(series, group, SUM_EVICTIONS, row->end, row->evictions);
    add(series, group, SUM_GPU_S, row->end, (double)row->held_milli_ns / (double)RECORD_MILLI_NS_PER_GPU_S);
    add(series, group, SUM_LOST_GPU_S, row->end, time_to_seconds(row->lost_gpu_ns));
}

void series_add(struct series *series, const struct job_row *row)
{
    const uint32_t queue = names_add(series->queue_names, text_of(row->queue));
    MEM_GROW(series->queues, series->queue_capacity, (size_t)queue + 1);
    add_job(series, &series->queues[queue], row);
    add_job(series, &series->classes[row->class], row);
}

/* From what each step adds to sums. */
static void accumulate(const struct series *series, struct group *group)
{
    for (int sum = 0; sum < JOB_SUM_COUNT; sum++)
        for (uint32_t p = 1; group->sums[sum] != NULL && p < series->points; p++)
            group->sums[sum][p] += group->sums[sum][p - 1];
}

void series_finish(struct series *series)
{
    for (int c = 0; c < JOB_CLASS_COUNT; c++)
        accumulate(series, &series->classes[c]);
    for (uint32_t q = 0; q < names_count(series->queue_names); q++)
        accumulate(series, &series->queues[q]);
}

uint32_t series_queues(const struct series *series)
{
    return names_count(series->queue_names);
}

const char *series_queue_name(const struct series *series, uint32_t queue)
{
    return names_text(series->queue_names, queue);
}

const double *series_of_class(const struct series *series, uint8_t class, enum job_sum sum)
{
    return series->classes[class].sums[sum];
}

const double *series_of_queue(const struct series *series, uint32_t queue, enum job_sum sum)
{
    return series->queues[queue].sums[sum];
}
