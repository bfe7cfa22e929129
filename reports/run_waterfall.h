/* reports/run_waterfall.h -- the section of a run that leads from all GPU time to SM activity (reports/waterfall.h).
 *
 * A table in all media, and on the page the same as bars, each below the end of the one above it. */
#ifndef REPORTS_RUN_WATERFALL_H
#define REPORTS_RUN_WATERFALL_H

#include "reports/metrics.h"
#include "reports/show.h"

/* Nothing, if the run has no window. */
void run_waterfall(struct show *show, const struct metrics *metrics, bool has_page);

#endif
