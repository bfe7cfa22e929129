/* workloads/synth/run_time.h -- distributions of run times with their means in closed form.
 *
 * Law: `max` truncates: what exceeds it is drawn again (not cut to it), and the mean is that of the
 * truncated distribution.
 */
#ifndef WORKLOADS_SYNTH_RUN_TIME_H
#define WORKLOADS_SYNTH_RUN_TIME_H

#include "base/json.h"
#include "base/random.h"

enum run_time_kind { RUN_TIME_LOGNORMAL, RUN_TIME_EXPONENTIAL, RUN_TIME_CONSTANT };
extern const char *const run_time_names[]; /* NULL-terminated */

struct run_time {
    enum run_time_kind kind;
    double scale_s; /* lognormal: the median; else the mean, before truncation */
    double sigma;   /* lognormal only */
    double max_s;   /* INFINITY: not truncated; at least scale_s */
};

/* Read {"distribution": "lognormal", "median": "2h", "sigma": 1, "max": "3d"}, or "exponential" or "constant" with a
 * "mean".  Fails through the sticky error. */
void run_time_read(const struct json_value *value, struct run_time *run_time);

double run_time_mean_s(const struct run_time *run_time);

/* Takes about 50 ns; a truncated distribution needs at most 2 tries on average. */
double run_time_draw_s(const struct run_time *run_time, struct random_stream *stream);

#endif
