/* reports/metrics_deadlines.c -- which jobs missed their deadlines, and by how much: sums and metrics. */
#include "reports/metrics_inside.h"

/* When it ended; of a job that has not ended, when the run did: it waited or ran all the time since its submission. */
static time_ns last_seen(const struct job_row *row)
{
    return row->end != TIME_NEVER ? row->end : row->submit + row->wait_total + row->run;
}

void deadlines_add(struct tally *queue, struct tally *cell, const struct job_row *row)
{
    const time_ns late = last_seen(row) - row->deadline;
    const struct deadline_tally job = {.jobs = 1, .missed = late > 0, .late_ns = late > 0 ? late : 0};
    deadlines_merge(&queue->deadlines, &job);
    deadlines_merge(&cell->deadlines, &job);
}

void deadlines_merge(struct deadline_tally *into, const struct deadline_tally *from)
{
    into->jobs += from->jobs;
    into->missed += from->missed;
    into->late_ns += from->late_ns;
}

void deadlines_fill(const struct deadline_tally *tally, double *value)
{
    if (tally->jobs == 0)
        return;
    value[METRIC_DEADLINE_JOBS] = (double)tally->jobs;
    value[METRIC_DEADLINES_MISSED] = (double)tally->missed;
    value[METRIC_DEADLINES_MISSED_RATIO] = (double)tally->missed / (double)tally->jobs;
    value[METRIC_TARDINESS_MEAN_S] = (double)tally->late_ns / (double)tally->jobs / 1e9;
}
