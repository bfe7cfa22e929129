#include "workloads/synth/run_time.h"

#include <gsl/gsl_randist.h>
#include <math.h>

double run_time_draw_s(const struct distribution *run_time, struct random_stream *stream)
{
    double seconds;
    if (run_time->kind == DISTRIBUTION_CONSTANT)
        return run_time->scale;
    do /* cheaper than the inverse */
        seconds = run_time->scale * (run_time->kind == DISTRIBUTION_EXPONENTIAL
                                         ? -log(random_uniform(stream))
                                         : exp(run_time->sigma * gsl_ran_gaussian_ziggurat(random_gsl(stream), 1)));
    while (seconds > run_time->max);
    return seconds;
}
