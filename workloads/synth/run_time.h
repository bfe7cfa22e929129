/* workloads/synth/run_time.h -- run times and spans of a synthesized job, drawn from a constant, exponential or
 * lognormal distribution (workloads/distribution/distribution.h, which has their means).
 *
 * Law: `max` truncates: what exceeds it is drawn again.
 */
#ifndef WORKLOADS_SYNTH_RUN_TIME_H
#define WORKLOADS_SYNTH_RUN_TIME_H

#include "workloads/distribution/distribution.h"

/* In seconds.  Takes about 50 ns; a truncated distribution needs at most 2 tries on average. */
double run_time_draw_s(const struct distribution *run_time, struct random_stream *stream);

#endif
