/* reports/hour_load.h -- how many GPUs many jobs hold, hour by hour.
 *
 *   struct hour_load load = {0};
 *   hour_load_add(&load, start, duration, 8000);            (8 GPUs)
 *   struct hour_load_walk walk = hour_load_begin(&load);
 *   double before = hour_load_to(&walk, from);
 *   double mean = (hour_load_to(&walk, to) - before) / time_to_seconds(to - from);
 *   hour_load_release(&load);
 *
 * Law: the GPU time up to a time is exact where an hour ends; within an hour its mean holds.  A job costs the same
 * however long it is.  Memory: 32 bytes an hour, up to the last end, a century at most; what is beyond is left out.
 */
#ifndef REPORTS_HOUR_LOAD_H
#define REPORTS_HOUR_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

#define HOUR_LOAD_NS (3600 * TIME_NS_PER_S)

struct hour_load_hour {
    __extension__ __int128 part_milli_ns; /* of jobs that start or end in the hour */
    int64_t change_milli;                 /* of the GPUs that are held for all of the hour, against the hour before */
};

struct hour_load { /* {0}: nothing is held */
    struct hour_load_hour *hours;
    size_t count, capacity;
};

void hour_load_add(struct hour_load *load, time_ns start, time_ns duration, int64_t gpu_milli);
void hour_load_release(struct hour_load *load);

struct hour_load_walk {
    const struct hour_load *load;
    size_t hour;        /* those before are in `gpu_s` */
    int64_t full_milli; /* held for all of `hour` */
    double gpu_s, hour_gpu_s;
};

struct hour_load_walk hour_load_begin(const struct hour_load *load);

/* GPU seconds from 0 to a time, which must not be earlier than that of the call before. */
double hour_load_to(struct hour_load_walk *walk, time_ns time);

#endif
