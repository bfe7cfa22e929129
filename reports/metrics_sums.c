/* reports/metrics_sums.c -- what only some jobs have: communication, activity, faults, cold starts...: sums, and the
 * metrics that are one sum, or one per another. */
#include "reports/metrics_inside.h"

enum { NEAR_PART = 10 };

#define NEAR_NS (60 * TIME_NS_PER_S)

#define US_PER_HOUR 3600e6
#define NS_PER_HOUR 3600e9

/* ---- sums ---- */

/* A job counts in the tally of its queue and in that of its cell. */
static void add(struct tally *queue, struct tally *cell, int sum, wide_int amount)
{
    queue->sums[sum] += amount;
    cell->sums[sum] += amount;
}

static void add_lost(struct tally *queue, struct tally *cell, const struct lost_row *row)
{
    add(queue, cell, SUM_CHARGED_JOBS, 1);
    for (int cause = 0; cause < LOST_CAUSE_COUNT; cause++)
        add(queue, cell, SUM_CHARGED_GPU_NS + cause, row->gpu_ns[cause]);
}

/* GPU time worked / the same at the best place, alone, in millionths; 0: the job has one GPU, or did not work. */
static int64_t slowdown_micro(const struct job_row *row)
{
    const wide_int worked_ns = row->held_milli_ns / GPU_MILLI - row->overhead_gpu_ns;
    const wide_int alone_ns = worked_ns - (wide_int)row->slowed_gpu_us * TIME_NS_PER_US;
    if (row->gpu_milli <= GPU_MILLI || alone_ns <= 0)
        return 0;
    return (int64_t)(worked_ns * 1000000 / alone_ns);
}

static void add_communication(struct metrics *metrics, struct tally *queue, struct tally *cell,
                              const struct job_row *row, struct point point)
{
    point.value = slowdown_micro(row);
    if (point.value > 0)
        points_add(&metrics->slowdowns, point);
    add(queue, cell, SUM_COMMUNICATION_JOBS, 1);
    add(queue, cell, SUM_HELD_MILLI_NS, row->held_milli_ns);
    add(queue, cell, SUM_EXPOSED_GPU_US, row->exposed_gpu_us);
    add(queue, cell, SUM_SLOWED_GPU_US, row->slowed_gpu_us);
    add(queue, cell, SUM_NETWORK_GPU_US, row->network_gpu_us);
    add(queue, cell, SUM_NETWORK_BYTE_US, (wide_int)row->network_gpu_us * row->network_bytes_per_s);
    add(queue, cell, SUM_PLANNED_GPU_US, row->planned_gpu_us);
    add(queue, cell, SUM_PLANNED_MFU_US, (wide_int)row->planned_gpu_us * row->mfu_micro);
    add(queue, cell, SUM_COMMUNICATION_SLOWED_JOBS, point.value > 0);
    add(queue, cell, SUM_COMMUNICATION_SLOWED_MICRO, point.value);
}

static void add_faults(struct tally *queue, struct tally *cell, const struct fault_row *row)
{
    add(queue, cell, SUM_FAULT_JOBS, 1);
    add(queue, cell, SUM_FAULTS, row->own);
    for (int cause = 0; cause < RECORD_FAULT_COUNT; cause++)
        add(queue, cell, SUM_KILLED_BY_NEIGHBOUR + cause, row->killed[cause]);
    add(queue, cell, SUM_LOST_BY_NEIGHBOUR_GPU_NS, row->lost_gpu_ns);
    if (row->blast_gpu_milli > queue->blast_gpu_milli_max)
        queue->blast_gpu_milli_max = row->blast_gpu_milli;
    if (row->blast_gpu_milli > cell->blast_gpu_milli_max)
        cell->blast_gpu_milli_max = row->blast_gpu_milli;
}

static void add_pulls(struct metrics *metrics, struct tally *queue, struct tally *cell, const struct job_row *row,
                      struct point point)
{
    const int64_t *bytes = row->pulls->bytes;
    const wide_int far_bytes = (wide_int)bytes[RECORD_PULL_REGISTRY] + bytes[RECORD_PULL_RACK];
    const bool is_ready = row->pulls->ready != TIME_NEVER;
    if (is_ready) {
        point.value = row->pulls->ready - row->start;
        points_add(&metrics->cold, point);
        add(queue, cell, SUM_READY_JOBS, 1);
        add(queue, cell, SUM_COLD_NS, point.value);
    }
    point.value = is_ready ? row->pulls->ready - row->submit : row->submit;
    point.flags = is_ready ? 0 : POINT_SUBMIT;
    points_add(&metrics->ready, point);
    add(queue, cell, SUM_PULL_JOBS, 1);
    for (int source = 0; source < RECORD_PULL_COUNT; source++)
        add(queue, cell, SUM_PULLED_BYTES + source, bytes[source]);
    add(queue, cell, SUM_PULLED_FAR_BYTES, far_bytes);
    add(queue, cell, SUM_PULLED_ALL_BYTES, far_bytes + bytes[RECORD_PULL_LOCAL]);
}

static void add_idle(struct tally *queue, struct tally *cell, const struct idle_row *row)
{
    add(queue, cell, SUM_MONITORED_JOBS, 1);
    add(queue, cell, SUM_NOTIFIED_JOBS, row->notified > 0);
    add(queue, cell, SUM_SHRINKS, row->shrunk);
    add(queue, cell, SUM_IDLE_EVICTIONS, row->evicted);
    add(queue, cell, SUM_DISTURBED, row->disturbed);
    add(queue, cell, SUM_GIVEN_GPU_US, row->given_gpu_us);
}

static void add_recorded(struct tally *queue, struct tally *cell, const struct job_row *row)
{
    const time_ns error = row->wait - row->recorded_wait, apart = error < 0 ? -error : error;
    add(queue, cell, SUM_RECORDED_JOBS, 1);
    add(queue, cell, SUM_NEAR_JOBS, apart <= NEAR_NS || apart <= row->recorded_wait / NEAR_PART);
    add(queue, cell, SUM_RECORDED_NS, row->recorded_wait);
    add(queue, cell, SUM_WAIT_ERROR_NS, error);
    add(queue, cell, SUM_WAIT_ERROR_ABS_NS, apart);
}

/* A job that has not ended is seen last when the run ended: it waited or ran all the time since its submission. */
static void add_deadline(struct tally *queue, struct tally *cell, const struct job_row *row)
{
    const time_ns seen = row->end != TIME_NEVER ? row->end : row->submit + row->wait_total + row->run;
    add(queue, cell, SUM_DEADLINE_JOBS, 1);
    add(queue, cell, SUM_MISSED_JOBS, seen > row->deadline);
    add(queue, cell, SUM_LATE_NS, seen > row->deadline ? seen - row->deadline : 0);
}

void sums_add(struct metrics *metrics, const struct job_row *row, struct tally *queue, struct tally *cell,
              struct point point)
{
    if (row->lost != NULL)
        add_lost(queue, cell, row->lost);
    if (job_row_communicates(row))
        add_communication(metrics, queue, cell, row, point);
    if (job_row_is_active(row)) {
        add(queue, cell, SUM_ACTIVITY_JOBS, 1);
        add(queue, cell, SUM_ACTIVE_GPU_US, row->active_gpu_us);
        add(queue, cell, SUM_IDLE_HELD_GPU_US, row->idle_held_gpu_us);
    }
    if (row->sm_active_milli != UINT16_MAX) {
        add(queue, cell, SUM_KNOWN_JOBS, 1);
        add(queue, cell, SUM_UNSERVED_GPU_US, row->unserved_gpu_us);
    }
    if (row->faults != NULL)
        add_faults(queue, cell, row->faults);
    if (row->pulls != NULL)
        add_pulls(metrics, queue, cell, row, point);
    if (row->idle != NULL)
        add_idle(queue, cell, row->idle);
    if (row->has_recorded_wait)
        add_recorded(queue, cell, row);
    if (row->deadline != TIME_NEVER)
        add_deadline(queue, cell, row);
}

/* ---- metrics ---- */

/* sums[sum] / unit, or if per_unit > 0: sums[sum] / (sums[of] x per_unit) / unit; both only if sums[of] > 0. */
struct sum_metric {
    int metric, count; /* enum metric_id; of metrics and sums in a row */
    int sum, of;       /* enum tally_sum */
    double per_unit, unit;
};

static const struct sum_metric sum_metrics[] = {
    {METRIC_LOST_FROM, LOST_CAUSE_COUNT, SUM_CHARGED_GPU_NS, SUM_CHARGED_JOBS, 0, NS_PER_HOUR},
    {METRIC_COMMUNICATION_GPU_H, 1, SUM_EXPOSED_GPU_US, SUM_COMMUNICATION_JOBS, 0, US_PER_HOUR},
    {METRIC_SLOWED_GPU_H, 1, SUM_SLOWED_GPU_US, SUM_COMMUNICATION_JOBS, 0, US_PER_HOUR},
    {METRIC_COMMUNICATION_SLOWDOWN_MEAN, 1, SUM_COMMUNICATION_SLOWED_MICRO, SUM_COMMUNICATION_SLOWED_JOBS, 1, 1e6},
    {METRIC_NETWORK_GB_PER_S_MEAN, 1, SUM_NETWORK_BYTE_US, SUM_NETWORK_GPU_US, 1, 1e9},
    {METRIC_MFU_RATIO, 1, SUM_PLANNED_MFU_US, SUM_PLANNED_GPU_US, 1, 1e6},
    {METRIC_ACTIVE_GPU_H, 1, SUM_ACTIVE_GPU_US, SUM_ACTIVITY_JOBS, 0, US_PER_HOUR},
    {METRIC_IDLE_HELD_GPU_H, 1, SUM_IDLE_HELD_GPU_US, SUM_ACTIVITY_JOBS, 0, US_PER_HOUR},
    {METRIC_UNSERVED_GPU_H, 1, SUM_UNSERVED_GPU_US, SUM_KNOWN_JOBS, 0, US_PER_HOUR},
    {METRIC_FAULTS, 1, SUM_FAULTS, SUM_FAULT_JOBS, 0, 1},
    {METRIC_KILLED_BY_NEIGHBOUR_FROM, RECORD_FAULT_COUNT, SUM_KILLED_BY_NEIGHBOUR, SUM_FAULT_JOBS, 0, 1},
    {METRIC_LOST_BY_NEIGHBOUR_GPU_H, 1, SUM_LOST_BY_NEIGHBOUR_GPU_NS, SUM_FAULT_JOBS, 0, NS_PER_HOUR},
    {METRIC_COLD_START_MEAN_S, 1, SUM_COLD_NS, SUM_READY_JOBS, 1, 1e9},
    {METRIC_PULLED_REGISTRY_TB, 1, SUM_PULLED_BYTES + RECORD_PULL_REGISTRY, SUM_PULL_JOBS, 0, 1e12},
    {METRIC_PULLED_RACK_TB, 1, SUM_PULLED_BYTES + RECORD_PULL_RACK, SUM_PULL_JOBS, 0, 1e12},
    {METRIC_NODE_CACHE_HIT_RATIO, 1, SUM_PULLED_BYTES + RECORD_PULL_LOCAL, SUM_PULLED_ALL_BYTES, 1, 1},
    {METRIC_RACK_CACHE_HIT_RATIO, 1, SUM_PULLED_BYTES + RECORD_PULL_RACK, SUM_PULLED_FAR_BYTES, 1, 1},
    {METRIC_IDLE_JOBS_TOLD, 1, SUM_NOTIFIED_JOBS, SUM_MONITORED_JOBS, 0, 1},
    {METRIC_IDLE_SHRINKS, 1, SUM_SHRINKS, SUM_MONITORED_JOBS, 0, 1},
    {METRIC_IDLE_EVICTIONS, 1, SUM_IDLE_EVICTIONS, SUM_MONITORED_JOBS, 0, 1},
    {METRIC_IDLE_DISTURBED, 1, SUM_DISTURBED, SUM_MONITORED_JOBS, 0, 1},
    {METRIC_GIVEN_BACK_GPU_H, 1, SUM_GIVEN_GPU_US, SUM_MONITORED_JOBS, 0, US_PER_HOUR},
    {METRIC_RECORDED_JOBS, 1, SUM_RECORDED_JOBS, SUM_RECORDED_JOBS, 0, 1},
    {METRIC_RECORDED_WAIT_MEAN, 1, SUM_RECORDED_NS, SUM_RECORDED_JOBS, 1e9, 1},
    {METRIC_WAIT_ERROR_MEAN, 1, SUM_WAIT_ERROR_NS, SUM_RECORDED_JOBS, 1e9, 1},
    {METRIC_WAIT_ERROR_ABS_MEAN, 1, SUM_WAIT_ERROR_ABS_NS, SUM_RECORDED_JOBS, 1e9, 1},
    {METRIC_WAIT_NEAR_RATIO, 1, SUM_NEAR_JOBS, SUM_RECORDED_JOBS, 1, 1},
    {METRIC_DEADLINE_JOBS, 1, SUM_DEADLINE_JOBS, SUM_DEADLINE_JOBS, 0, 1},
    {METRIC_DEADLINES_MISSED, 1, SUM_MISSED_JOBS, SUM_DEADLINE_JOBS, 0, 1},
    {METRIC_DEADLINES_MISSED_RATIO, 1, SUM_MISSED_JOBS, SUM_DEADLINE_JOBS, 1, 1},
    {METRIC_TARDINESS_MEAN_S, 1, SUM_LATE_NS, SUM_DEADLINE_JOBS, 1, 1e9},
};

void sums_fill(const struct group *group, double *value)
{
    const wide_int *sums = group->tally.sums;
    for (size_t i = 0; i < sizeof sum_metrics / sizeof sum_metrics[0]; i++) {
        const struct sum_metric *row = &sum_metrics[i];
        const double per = row->per_unit > 0 ? (double)sums[row->of] * row->per_unit : 1;
        for (int n = 0; n < row->count && sums[row->of] > 0; n++)
            value[row->metric + n] = (double)sums[row->sum + n] / per / row->unit;
    }
    if (sums[SUM_HELD_MILLI_NS] > 0) {
        const double held_gpu_us = (double)sums[SUM_HELD_MILLI_NS] / (GPU_MILLI * 1e3);
        value[METRIC_COMMUNICATION_RATIO] = (double)sums[SUM_EXPOSED_GPU_US] / held_gpu_us;
        value[METRIC_SLOWED_RATIO] = (double)sums[SUM_SLOWED_GPU_US] / held_gpu_us;
    }
    if (sums[SUM_COMMUNICATION_SLOWED_JOBS] > 0)
        value[METRIC_COMMUNICATION_SLOWDOWN_P95] = (double)group->slowdown.value[0] / 1e6;
    if (sums[SUM_FAULT_JOBS] > 0)
        value[METRIC_BLAST_RADIUS_GPUS_MAX] = (double)group->tally.blast_gpu_milli_max / GPU_MILLI;
    for (int i = 0; i < 2 && sums[SUM_PULL_JOBS] > 0; i++)
        value[METRIC_READY_P50_S + i] = time_to_seconds(group->ready.value[i]);
    for (int i = 0; i < 2 && sums[SUM_READY_JOBS] > 0; i++)
        value[METRIC_COLD_START_P50_S + i] = time_to_seconds(group->cold.value[i]);
}
