/* reports/metrics_communication.c -- what communication costs the jobs that declare it: sums and metrics. */
#include "reports/metrics_inside.h"

static const double us_per_hour = 3600e6;

static void tally_add(struct communication_tally *tally, const struct job_row *row, wide_int held_milli_ns)
{
    tally->jobs++;
    tally->held_milli_ns += held_milli_ns;
    tally->exposed_gpu_us += row->exposed_gpu_us;
    tally->slowed_gpu_us += row->slowed_gpu_us;
    tally->network_gpu_us += row->network_gpu_us;
    tally->network_byte_us += (wide_int)row->network_gpu_us * row->network_bytes_per_s;
    tally->planned_gpu_us += row->planned_gpu_us;
    tally->planned_mfu_us += (wide_int)row->planned_gpu_us * row->mfu_micro;
}

/* GPU time worked / the same at the best place, alone, in millionths; 0: the job has one GPU, or did not work. */
static int64_t slowdown_micro(const struct job_row *row, wide_int held_milli_ns)
{
    const wide_int worked_ns = held_milli_ns / GPU_MILLI - row->overhead_gpu_ns;
    const wide_int alone_ns = worked_ns - (wide_int)row->slowed_gpu_us * TIME_NS_PER_US;
    if (row->gpu_milli <= GPU_MILLI || alone_ns <= 0)
        return 0;
    return (int64_t)(worked_ns * 1000000 / alone_ns);
}

void communication_add(struct metrics *metrics, const struct job_row *row, uint32_t queue, struct cell *cell,
                       wide_int held_milli_ns)
{
    struct communication_tally *tallies[] = {&metrics->queue_tallies[queue].communication, &cell->tally.communication};
    const int64_t slowdown = slowdown_micro(row, held_milli_ns);
    for (int t = 0; t < 2; t++) {
        tally_add(tallies[t], row, held_milli_ns);
        tallies[t]->slowdowns += slowdown > 0;
        tallies[t]->slowdown_micro += slowdown;
    }
    if (slowdown > 0)
        points_add(&metrics->slowdowns,
                   (struct point){.value = slowdown, .queue = queue, .cell = (uint16_t)(cell - metrics->cells)});
}

void communication_merge(struct communication_tally *into, const struct communication_tally *from)
{
    into->jobs += from->jobs;
    into->slowdowns += from->slowdowns;
    into->held_milli_ns += from->held_milli_ns;
    into->exposed_gpu_us += from->exposed_gpu_us;
    into->slowed_gpu_us += from->slowed_gpu_us;
    into->network_gpu_us += from->network_gpu_us;
    into->network_byte_us += from->network_byte_us;
    into->planned_gpu_us += from->planned_gpu_us;
    into->planned_mfu_us += from->planned_mfu_us;
    into->slowdown_micro += from->slowdown_micro;
}

void communication_fill(const struct group *group, double *value)
{
    const struct communication_tally *tally = &group->tally.communication;
    if (tally->jobs == 0)
        return;
    value[METRIC_COMMUNICATION_GPU_H] = (double)tally->exposed_gpu_us / us_per_hour;
    value[METRIC_SLOWED_GPU_H] = (double)tally->slowed_gpu_us / us_per_hour;
    if (tally->held_milli_ns > 0) {
        const double held_gpu_us = (double)tally->held_milli_ns / (GPU_MILLI * 1e3);
        value[METRIC_COMMUNICATION_RATIO] = (double)tally->exposed_gpu_us / held_gpu_us;
        value[METRIC_SLOWED_RATIO] = (double)tally->slowed_gpu_us / held_gpu_us;
    }
    if (tally->slowdowns > 0) {
        value[METRIC_COMMUNICATION_SLOWDOWN_MEAN] = (double)tally->slowdown_micro / (double)tally->slowdowns / 1e6;
        value[METRIC_COMMUNICATION_SLOWDOWN_P95] = (double)group->slowdown.value[0] / 1e6;
    }
    if (tally->network_gpu_us > 0)
        value[METRIC_NETWORK_GB_PER_S_MEAN] = (double)tally->network_byte_us / (double)tally->network_gpu_us / 1e9;
    if (tally->planned_gpu_us > 0)
        value[METRIC_MFU_RATIO] = (double)tally->planned_mfu_us / (double)tally->planned_gpu_us / 1e6;
}
