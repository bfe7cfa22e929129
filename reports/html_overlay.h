/* reports/html_overlay.h -- curves of several runs over each other, as sections of a page.
 *
 * Allocated GPUs, SM-active GPUs, queue length and fragmented GPUs over time, and queue times by class; each a
 * drawing with a line for each run, and a table of its data.  Each line is what the page of that run shows.
 *
 *   html_overlay(runs, 3, NULL, &out);
 *
 * Law: names are escaped; the bytes depend on the arguments only (and on gnuplot's version).  What no run knows (SM
 * activity, what free GPUs are good for) and classes without jobs are left out.
 */
#ifndef REPORTS_HTML_OVERLAY_H
#define REPORTS_HTML_OVERLAY_H

#include "base/buffer.h"
#include "reports/metrics.h"
#include "reports/plot.h"

enum { HTML_OVERLAY_MAX = 8 };

/* Metrics that were fed the jobs, the samples and the facts, and finished. */
struct html_overlay_run {
    const char *name;
    const struct metrics *metrics;
    enum plot_colour colour; /* html_overlay_colour of its place, say */
};

/* count: 1 .. HTML_OVERLAY_MAX.  The first run's warm-up is marked.  tool NULL: the defaults. */
void html_overlay(const struct html_overlay_run *runs, size_t count, const struct plot_tool *tool, struct buffer *out);

/* A colour for each index below HTML_OVERLAY_MAX. */
enum plot_colour html_overlay_colour(size_t index);

#endif
