/* reports/metrics_pulls.c -- cold starts: when jobs are ready, and what they pull. */
#include "reports/metrics_inside.h"

void pulls_add(struct metrics *metrics, const struct job_row *row, uint32_t queue, struct cell *cell)
{
    struct pull_tally job = {.jobs = 1, .ready = row->pulls->ready != TIME_NEVER};
    struct point point = {.queue = queue, .cell = (uint16_t)(cell - metrics->cells)};
    for (int source = 0; source < RECORD_PULL_COUNT; source++)
        job.bytes[source] = row->pulls->bytes[source];
    if (job.ready) {
        point.value = row->pulls->ready - row->start;
        job.cold_ns = point.value;
        points_add(&metrics->cold, point);
    }
    point.value = job.ready ? row->pulls->ready - row->submit : row->submit;
    point.flags = job.ready ? 0 : POINT_SUBMIT;
    points_add(&metrics->ready, point);
    pulls_merge(&metrics->queue_tallies[queue].pulls, &job);
    pulls_merge(&cell->tally.pulls, &job);
}

void pulls_merge(struct pull_tally *into, const struct pull_tally *from)
{
    into->jobs += from->jobs;
    into->ready += from->ready;
    into->cold_ns += from->cold_ns;
    for (int source = 0; source < RECORD_PULL_COUNT; source++)
        into->bytes[source] += from->bytes[source];
}

void pulls_fill(const struct group *group, double *value)
{
    const double bytes_per_tb = 1e12;
    const struct pull_tally *tally = &group->tally.pulls;
    const wide_int pulled = tally->bytes[RECORD_PULL_REGISTRY] + tally->bytes[RECORD_PULL_RACK];
    const wide_int all = pulled + tally->bytes[RECORD_PULL_LOCAL];
    if (tally->jobs == 0)
        return;
    value[METRIC_READY_P50_S] = time_to_seconds(group->ready.value[0]);
    value[METRIC_READY_P99_S] = time_to_seconds(group->ready.value[1]);
    if (tally->ready > 0) {
        value[METRIC_COLD_START_P50_S] = time_to_seconds(group->cold.value[0]);
        value[METRIC_COLD_START_P99_S] = time_to_seconds(group->cold.value[1]);
        value[METRIC_COLD_START_MEAN_S] = (double)tally->cold_ns / (double)tally->ready / 1e9;
    }
    value[METRIC_PULLED_REGISTRY_TB] = (double)tally->bytes[RECORD_PULL_REGISTRY] / bytes_per_tb;
    value[METRIC_PULLED_RACK_TB] = (double)tally->bytes[RECORD_PULL_RACK] / bytes_per_tb;
    if (all > 0)
        value[METRIC_NODE_CACHE_HIT_RATIO] = (double)tally->bytes[RECORD_PULL_LOCAL] / (double)all;
    if (pulled > 0)
        value[METRIC_RACK_CACHE_HIT_RATIO] = (double)tally->bytes[RECORD_PULL_RACK] / (double)pulled;
}
