/* reports/run_cuts.h -- tables of a run by class, queue, size and GPU model; for run_show.c only. */
#ifndef REPORTS_RUN_CUTS_H
#define REPORTS_RUN_CUTS_H

#include "reports/metrics.h"
#include "reports/show.h"

/* Waits by class, with the figure of their distributions if has_page. */
void run_cuts_waits(struct show *show, const struct metrics *metrics, bool has_page);

/* How the simulated waits differ from the waits that the trace recorded; nothing if it recorded none. */
void run_cuts_recorded(struct show *show, const struct metrics *metrics);

/* The queues that asked for most; on the page all cuts. */
void run_cuts_queues(struct show *show, const struct metrics *metrics, bool has_page);

/* What communication cost; nothing if no job declares it. */
void run_cuts_communication(struct show *show, const struct metrics *metrics);

#endif
