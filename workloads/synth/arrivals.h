/* workloads/synth/arrivals.h -- one class's stream of arrival times: a Poisson process whose rate follows the hour,
 * the day of the week, and bursts of single services.
 *
 * The rate is mean x hour(t) x day(t) x (1 + (factor - 1) x P(bursting at t)) / norm, with
 *
 *   hour(t) = 1 + (peak - 1) cos(2 pi (h - peak_hour) / 24), constant within the hour h: mean 1, highest `peak`;
 *   day(t)  = 7 / (5 + 2w) from Monday to Friday, w times that on Saturday and Sunday: mean 1 over a week;
 *   P       = the sum of the shares of demand of the services that burst at t;
 *   norm    = 1 + (factor - 1) x per_day x burst / 24 h: the mean is kept over the draws of the bursts.
 *
 * Time 0 is a Monday, 00:00.  The day is cut into per_day equal slots; in each, each service bursts once, from a
 * uniform moment of the slot on.  Arrivals come by inversion of the piecewise constant rate: exact, and one
 * exponential draw each.
 *
 * Law: times never decrease, are whole microseconds, and depend on the stream and the shape alone.
 */
#ifndef WORKLOADS_SYNTH_ARRIVALS_H
#define WORKLOADS_SYNTH_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/random.h"
#include "base/time.h"

enum { HOURS_PER_DAY = 24 };

struct arrivals_shape {
    double peak;           /* rate in the peak hour / mean rate, 1..2; 1: flat */
    double peak_hour;      /* 0..23 */
    double weekend_factor; /* 1: all days are equal */
    double burst_factor;   /* > 1; 1: no bursts */
    time_ns burst_duration;
    uint32_t bursts_per_day;
};

struct burst {
    time_ns start, end;
    uint32_t service;
};

struct arrivals {
    struct arrivals_shape shape;
    const double *demand; /* by service: its share; the sum is 1; borrowed */
    uint32_t service_count;
    double mean_gap_s; /* INFINITY: no arrivals */
    bool is_plain;     /* constant rate */
    time_ns now;
    time_ns edge; /* when the rate changes next */
    double rate_per_s;
    double burst_extra; /* (factor - 1) x demand of the services in a burst */
    double hour_factor[HOURS_PER_DAY], day_factor[7];
    struct burst *today;  /* ordered by start */
    struct burst *active; /* bursts at present, in the order of their start */
    uint32_t today_count, today_next, active_count;
    time_ns day_end;
    struct random_stream gaps, bursts;
};

/* entity: names the random streams.  demand: NULL with service_count 0 means one service. */
void arrivals_init(struct arrivals *arrivals, struct arena *arena, const struct arrivals_shape *shape,
                   double rate_per_s, const double *demand, uint32_t service_count, uint64_t seed, uint64_t entity);

/* The next arrival; TIME_NEVER: none before `until`. */
time_ns arrivals_next(struct arrivals *arrivals, time_ns until);

/* The service of the last arrival, if it belongs to a burst (u: uniform in (0,1)); else UINT32_MAX: draw it by
 * demand. */
uint32_t arrivals_burst_service(const struct arrivals *arrivals, double u);

#endif
