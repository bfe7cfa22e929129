/* reports/export/series.h -- the series of an OpenMetrics export that count jobs by class and by queue.
 *
 * A point is a moment of simulated time; the series are sums over the jobs up to it.  There is a point every hour, or
 * less often so that there are no more than SERIES_POINTS_MAX, and one at the end of the run.
 *
 * Memory: SERIES_POINTS_MAX values for each class and queue and each sum, however many jobs there are.
 */
#ifndef REPORTS_EXPORT_SERIES_H
#define REPORTS_EXPORT_SERIES_H

#include "sim/record/record.h"

enum { SERIES_POINTS_MAX = 2000 };

enum job_sum {
    SUM_SUBMITTED,
    SUM_STARTED,
    SUM_ENDED,     /* rejected ones too */
    SUM_EVICTIONS, /* at the end of the job, as the next two */
    SUM_GPU_S,     /* held */
    SUM_LOST_GPU_S,
    SUM_WAIT_S, /* until the first start, when it starts */
    JOB_SUM_COUNT
};

struct series; /* opaque */

struct series *series_new(time_ns end);  /* of the run */
void series_free(struct series *series); /* NULL is allowed */

void series_add(struct series *series, const struct job_row *row);
void series_finish(struct series *series); /* once, after the last job */

uint32_t series_points(const struct series *series);
time_ns series_time(const struct series *series, uint32_t point);

/* Queues in the order in which they appear. */
uint32_t series_queues(const struct series *series);
const char *series_queue_name(const struct series *series, uint32_t queue);

/* By point; borrowed. */
const double *series_of_class(const struct series *series, uint8_t class, enum job_sum sum);
const double *series_of_queue(const struct series *series, uint32_t queue, enum job_sum sum);

#endif
