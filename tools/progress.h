/* tools/progress.h -- a line on the terminal while a run goes on: simulated days, jobs/s, time left.
 * Silent unless standard error is a terminal. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include "sim/engine.h"

struct progress {
    double started_s, shown_s; /* wall clock */
    bool is_shown;             /* a line stands on the terminal */
    bool is_on;
};

void progress_begin(struct progress *progress, bool is_wanted);
void progress_show(void *progress,
                   const struct engine_progress *state); /* an engine's on_progress */
void progress_end(struct progress *progress);            /* wipe the line */

/* Seconds of wall clock since progress_begin. */
double progress_elapsed_s(const struct progress *progress);

#endif
