/* reports/run_tiles.h -- the large numbers at the head of a run's page.
 *
 * Queue times stand by class of jobs (workload_class, else class), the four that ask most GPU time: a quantile over
 * notebooks and large training together is that of neither.
 */
#ifndef REPORTS_RUN_TILES_H
#define REPORTS_RUN_TILES_H

#include "reports/metrics.h"
#include "reports/show.h"

/* is_activity_assumed: the SM activity is what the workload assumes, and no measurement. */
void run_tiles(struct show *show, const struct metrics *metrics, bool is_activity_assumed);

#endif
