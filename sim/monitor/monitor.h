/* sim/monitor/monitor.h -- what a monitor of GPUs reports of the SM activity of a job: late, noisy, and with gaps.
 *
 *   const uint64_t noise = monitor_noise(seed);                     once
 *   uint16_t reading;
 *   if (monitor_reads(&config, noise, job->id, tick, mean_milli, &reading)) ...      else the reading is missing
 *
 * Laws
 *  - A reading depends on (seed, job, number of the tick, true mean) alone.
 *  - It lies in 0..1000.  Without noise it is the true mean, rounded to a thousandth.
 *
 * It does not: know what the truth is (sim/engine/engine_activity.h), or who listens.
 */
#ifndef SIM_MONITOR_MONITOR_H
#define SIM_MONITOR_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

struct monitor_config {
    time_ns period; /* between two readings of a job; 0: there is no monitor */
    time_ns delay;  /* from the end of a window to the report */
    double noise;   /* standard deviation of a reading, as SM activity; normal */
    double missing; /* chance of a reading to be missing */
};

/* {"period_s": 60, ...}.  DCGM's exporter samples each 30 s, Prometheus scrapes each 15 to 60 s by default, and reports
 * are as late as the next scrape; noise and gaps are assumed to be 0. */
#define MONITOR_DEFAULTS ((struct monitor_config){.period = 60 * TIME_NS_PER_S, .delay = 30 * TIME_NS_PER_S})

/* What the noise and the gaps of all readings of a run are drawn by. */
uint64_t monitor_noise(uint64_t seed);

/* false: it is missing. */
bool monitor_reads(const struct monitor_config *config, uint64_t noise, uint64_t job, uint64_t tick, double mean_milli,
                   uint16_t *reading);

#endif
