/* reports/metrics_recorded.c -- how simulated waits differ from the waits that a trace recorded: sums and
 * metrics. */
#include "reports/metrics_inside.h"

enum { NEAR_PART = 10 };

#define NEAR_NS (60 * TIME_NS_PER_S)

void recorded_add(struct recorded_tally *tally, const struct job_row *row)
{
    const time_ns error = row->wait - row->recorded_wait, apart = error < 0 ? -error : error;
    tally->jobs++;
    tally->near += apart <= NEAR_NS || apart <= row->recorded_wait / NEAR_PART;
    tally->recorded += row->recorded_wait;
    tally->simulated += row->wait;
    tally->apart += apart;
}

void recorded_merge(struct recorded_tally *into, const struct recorded_tally *from)
{
    into->jobs += from->jobs;
    into->near += from->near;
    into->recorded += from->recorded;
    into->simulated += from->simulated;
    into->apart += from->apart;
}

void recorded_fill(const struct recorded_tally *tally, double *value)
{
    if (tally->jobs == 0)
        return;
    const double ns_of_all = 1e9 * (double)tally->jobs;
    value[METRIC_RECORDED_JOBS] = (double)tally->jobs;
    value[METRIC_RECORDED_WAIT_MEAN] = (double)tally->recorded / ns_of_all;
    value[METRIC_WAIT_ERROR_MEAN] = (double)(tally->simulated - tally->recorded) / ns_of_all;
    value[METRIC_WAIT_ERROR_ABS_MEAN] = (double)tally->apart / ns_of_all;
    value[METRIC_WAIT_NEAR_RATIO] = (double)tally->near / (double)tally->jobs;
}
