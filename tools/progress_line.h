/* tools/progress_line.h -- a line on the terminal while a run goes on: simulated days, jobs/s, time left.
 * Silent unless standard error is a terminal. */
#ifndef TOOLS_PROGRESS_LINE_H
#define TOOLS_PROGRESS_LINE_H

#include "sim/engine/engine.h"
#include "workloads/readers/workload_spec.h"

struct progress_line {
    double started_s, shown_s; /* wall clock */
    double runs_started_s;     /* when `runs_done` was last below what it was */
    size_t runs_done;
    bool is_shown; /* a line is on the terminal */
    bool is_on;
};

void progress_line_begin(struct progress_line *progress, bool is_wanted);
void progress_line_show(void *progress, const struct engine_progress *state); /* an engine's on_progress */
/* The same for a number of runs. */
void progress_line_show_runs(struct progress_line *progress, size_t done, size_t total);
/* While a trace is read: a listener of workloads/readers/workload_spec.h. */
struct reading_listener progress_line_reading(struct progress_line *progress);
void progress_line_end(struct progress_line *progress); /* erase the line */

/* Seconds of wall clock since progress_line_begin. */
double progress_line_elapsed_s(const struct progress_line *progress);

#endif
