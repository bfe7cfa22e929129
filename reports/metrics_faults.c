/* reports/metrics_faults.c -- what faults of jobs did: sums and metrics. */
#include "reports/metrics_inside.h"

static void tally_add(struct fault_tally *tally, const struct fault_row *row)
{
    tally->jobs++;
    tally->own += row->own;
    for (int cause = 0; cause < RECORD_FAULT_COUNT; cause++)
        tally->killed[cause] += row->killed[cause];
    tally->lost_gpu_ns += row->lost_gpu_ns;
    if (row->blast_gpu_milli > tally->blast_gpu_milli)
        tally->blast_gpu_milli = row->blast_gpu_milli;
}

void faults_add(struct tally *queue, struct tally *cell, const struct fault_row *row)
{
    tally_add(&queue->faults, row);
    tally_add(&cell->faults, row);
}

void faults_merge(struct fault_tally *into, const struct fault_tally *from)
{
    into->jobs += from->jobs;
    into->own += from->own;
    for (int cause = 0; cause < RECORD_FAULT_COUNT; cause++)
        into->killed[cause] += from->killed[cause];
    into->lost_gpu_ns += from->lost_gpu_ns;
    if (from->blast_gpu_milli > into->blast_gpu_milli)
        into->blast_gpu_milli = from->blast_gpu_milli;
}

void faults_fill(const struct fault_tally *tally, double *value)
{
    static const double ns_per_hour = 3600e9;
    if (tally->jobs == 0)
        return;
    value[METRIC_FAULTS] = (double)tally->own;
    for (int cause = 0; cause < RECORD_FAULT_COUNT; cause++)
        value[METRIC_KILLED_BY_NEIGHBOUR_FROM + cause] = (double)tally->killed[cause];
    value[METRIC_LOST_BY_NEIGHBOUR_GPU_H] = (double)tally->lost_gpu_ns / ns_per_hour;
    value[METRIC_BLAST_RADIUS_GPUS_MAX] = (double)tally->blast_gpu_milli / GPU_MILLI;
}
