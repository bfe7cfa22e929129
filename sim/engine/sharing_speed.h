/* sim/engine/sharing_speed.h -- the slowdown of a member on a piece of a GPU, or beside others, against a whole GPU
 * alone.
 *
 * Pure functions of the clients of a GPU.  A member's time on a whole GPU has three parts: `latency` (host, launches),
 * which does not change; `compute`, which grows with fewer SMs; `bandwidth`, which grows with fewer memory slices.
 *
 *   slow = sharing_slow_mig(mix, 132, 16, 1);     a 1g.10gb of an H100
 *   slow = sharing_slow_mps(0.443, 3 * 0.443);
 *
 * Sources: the measured table of nebuly-ai/nos, demos/gpu-sharing-comparison/README.md (YOLOS on an A100), to which
 * the forms for MIG, MPS and time-slicing were fitted; 1388 measured pairs of Lucid
 * (simulation/data/colocate_info.csv).  `windtunnel validate-model` prints them beside these functions, and
 * tests/unit/test_sharing_speed.c holds them.
 */
#ifndef SIM_ENGINE_SHARING_SPEED_H
#define SIM_ENGINE_SHARING_SPEED_H

/* Parts of a member's time on a whole GPU; they sum to 1. */
struct sharing_mix {
    double latency, compute, bandwidth;
};

extern const struct sharing_mix sharing_small_inference;               /* fitted to the table */
extern const struct sharing_mix sharing_training, sharing_interactive; /* assumed */

/* The part of the time that a GPU is busy / its SM activity in that time.  Half of the GPUs of Acme's Seren cluster are
 * busy 99 % of the time or more and active 50 % or more; of Kalos 98 % and 34 % (Hu et al., NSDI 2024: the medians of
 * the published samples). */
extern const double sharing_busy_per_sm_active;

/* Time on an instance of `sms` SMs and `memory_slices` / time on a whole GPU of `gpu_sms` SMs: 1 or more. */
double sharing_slow_mig(struct sharing_mix mix, double gpu_sms, double sms, double memory_slices);

/* A client under MPS that uses the part `own` of a GPU's issue slots when alone, where all clients together would use
 * `used`: max(1, min(0.535, 1 - own) + used).  A client alone is not slowed down. */
double sharing_slow_mps(double own, double used);

/* Clients under time-slicing, together busy `used` of the time (each at most 1 when alone): 1 while that fits, else
 * 1.11 x used, because switching costs 11 %.  A client alone is not slowed down, even if it is always busy. */
double sharing_slow_timeslice(double used);

/* Clients that use the part `demand` of a GPU's memory bandwidth when alone, all together, where they get `available`:
 * max(1, demand / available).  Of GROMACS on an A100 this gives 0.342, 0.685 and 1 of its speed on 1, 2 and 4 memory
 * slices, measured 0.365, 0.685 and 0.974 (NJIT, GROMACS on MIG): a client that waits for memory alone. */
double sharing_slow_bandwidth(double demand, double available);

/* Clients beside each other, under MPS or in turns, together busy `busy` of the time (each at most 1 when alone): the
 * mean of measured pairs.  1 / (0.985 - 0.371 x max(0, busy - 1)) up to 2, the most that a pair can be busy; beyond
 * it, where nothing was measured, the work done in all is taken to stay what it is at 2.  Not for a client alone. */
double sharing_slow_pairs(double busy);

#endif
