/* reports/metrics_lost.c -- lost GPU time by cause, where checkpoints are charged. */
#include "reports/metrics_inside.h"

void lost_add(struct tally *queue, struct tally *cell, const struct lost_row *row)
{
    struct lost_tally job = {.jobs = 1};
    for (int cause = 0; cause < LOST_CAUSE_COUNT; cause++)
        job.gpu_ns[cause] = row->gpu_ns[cause];
    lost_merge(&queue->lost, &job);
    lost_merge(&cell->lost, &job);
}

void lost_merge(struct lost_tally *into, const struct lost_tally *from)
{
    into->jobs += from->jobs;
    for (int cause = 0; cause < LOST_CAUSE_COUNT; cause++)
        into->gpu_ns[cause] += from->gpu_ns[cause];
}

void lost_fill(const struct lost_tally *tally, double *value)
{
    const double ns_per_hour = 3600e9;
    for (int cause = 0; cause < LOST_CAUSE_COUNT && tally->jobs > 0; cause++)
        value[METRIC_LOST_FROM + cause] = (double)tally->gpu_ns[cause] / ns_per_hour;
}
