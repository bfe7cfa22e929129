/* reports/metrics_idle.c -- what idle policies did: sums and metrics. */
#include "reports/metrics_inside.h"

static void tally_add(struct idle_tally *tally, const struct idle_row *row)
{
    tally->jobs++;
    tally->notified += row->notified > 0;
    tally->shrunk += row->shrunk;
    tally->evicted += row->evicted;
    tally->disturbed += row->disturbed;
    tally->given_gpu_us += row->given_gpu_us;
}

void idle_add(struct tally *queue, struct tally *cell, const struct idle_row *row)
{
    tally_add(&queue->idle, row);
    tally_add(&cell->idle, row);
}

void idle_merge(struct idle_tally *into, const struct idle_tally *from)
{
    into->jobs += from->jobs;
    into->notified += from->notified;
    into->shrunk += from->shrunk;
    into->evicted += from->evicted;
    into->disturbed += from->disturbed;
    into->given_gpu_us += from->given_gpu_us;
}

void idle_fill(const struct idle_tally *tally, double *value)
{
    static const double us_per_hour = 3600e6;
    if (tally->jobs == 0)
        return;
    value[METRIC_IDLE_JOBS_TOLD] = (double)tally->notified;
    value[METRIC_IDLE_SHRINKS] = (double)tally->shrunk;
    value[METRIC_IDLE_EVICTIONS] = (double)tally->evicted;
    value[METRIC_IDLE_DISTURBED] = (double)tally->disturbed;
    value[METRIC_GIVEN_BACK_GPU_H] = (double)tally->given_gpu_us / us_per_hour;
}
