/* studies/run/replay_shake.h -- a replay is one draw: which shaking gives it seeds, where the scenario names none.
 *
 *   struct scenario_options shaken;
 *   if (replay_shake_apply(scenario.resolved, &options, &arena, &shaken))
 *       ... trials of `shaken` have seeds; one trial of `options` is the replay as it is ...
 *
 * A replay whose jobs, world and workload draw nothing (chance.h) gives one value of each metric.  It is exact, but it
 * is one of many that could as well have been: in a busy cluster a job that comes a second later moves every queue
 * after it, so a difference between two replays may be such an accident.  Comparisons, plans and `run --shakes`
 * therefore run it shaken a little (workloads/readers/shake.h), with as many seeds as are wanted, and show the replay
 * as it is beside them.
 *
 * The amounts are stated here alone: arrivals by up to a minute, which is less than users notice, and run times by a
 * percent, which is less than two runs of one job on one machine differ by.  docs/statistics.md has what they and
 * larger ones do.
 *
 * Laws
 *  - A scenario that has chance, with `shake` or `blocks` of its own among others, is left as it is.
 *  - All traces of a merge are shaken.
 */
#ifndef STUDIES_RUN_REPLAY_SHAKE_H
#define STUDIES_RUN_REPLAY_SHAKE_H

#include "base/mem.h"
#include "sim/scenario/scenario.h"

/* The value of "workload.shake". */
#define REPLAY_SHAKE "{\"arrivals_s\": 60, \"run_time_sigma\": 0.01}"

/* *out becomes the options, with settings behind theirs that shake each trace, in the arena.  resolved: the scenario
 * that the options make.  False: it has chance, and *out is not set. */
bool replay_shake_apply(const char *resolved, const struct scenario_options *options, struct arena *arena,
                        struct scenario_options *out);

#endif
