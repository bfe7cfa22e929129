/* reports/run_figures.h -- figures of a run for its page, and of several runs over each other.
 *
 * Each is a section or a part of one (reports/show.h).  What a run does not know (SM activity, what free GPUs are good
 * for) and classes without jobs are left out; a run that ended at once has no figures over time.
 *
 *   run_figures_over_time(show, metrics);
 *   run_overlay(show, (const struct run_line[]){{"fifo", a, PLOT_BLACK}, {"kai", b, PLOT_BLUE}}, 2);
 */
#ifndef REPORTS_RUN_FIGURES_H
#define REPORTS_RUN_FIGURES_H

#include "reports/metrics.h"
#include "reports/show.h"

/* The figures of a run that stand alone in a file, too: the name that users type, and the plot's id (reports/plot.h).
 * Ends with a NULL name. */
struct run_figure {
    const char *name, *id;
};
extern const struct run_figure run_figures[];

/* Sections: utilization, free GPUs, queue length. */
void run_figures_over_time(struct show *show, const struct metrics *metrics);

/* In the section that is begun: GPU time by cause as a stack; queue times by class as distributions. */
void run_figure_spent(struct show *show, const struct metrics *metrics);
void run_figure_waits(struct show *show, const struct metrics *metrics);

enum { RUN_LINES_MAX = 8 };

/* Metrics that were fed the jobs, the samples and the facts, and finished. */
struct run_line {
    const char *name;
    const struct metrics *metrics;
    enum plot_colour colour; /* run_line_colour of its place, say */
};

/* Sections: allocated GPUs, SM activity, queue length and fragmented GPUs over time, and queue times by class, with a
 * line for each run.  count: 1 .. RUN_LINES_MAX.  The first run's warm-up is marked. */
void run_overlay(struct show *show, const struct run_line *lines, size_t count);

/* A colour for each index below RUN_LINES_MAX. */
enum plot_colour run_line_colour(size_t index);

#endif
