/* sim/engine/stall.h -- detects runs that never end: counts the steps without progress.
 *
 * A step is a cycle of the scheduler, or an eviction that took effect.  The two are counted separately, in steps and
 * simulated time, never in clock time, so that every machine ends the run at the same step.
 *
 *   progress          a job is submitted, starts for the first time, ends or is rejected: resets both counts
 *   time that passes  60 s of simulated time in which the world has an event, a submission or the end of the run to
 *                     come: resets the count of cycles
 *   work that stays   60 s of reference run time that evicted jobs keep: resets the count of evictions
 *
 * A run stalls when a count exceeds the limit (world.stall_steps).  What never stalls: any number of jobs submitted or
 * started at one instant; one job started per cycle; jobs rotated again and again that save their work; a cycle every
 * minute for years while jobs run.
 *
 * It does not: know jobs or events, or end the run (sim/engine/engine.c does).
 */
#ifndef SIM_ENGINE_STALL_H
#define SIM_ENGINE_STALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

enum { STALL_STEPS_DEFAULT = 1000000 };
#define MEANINGFUL_SPAN (60 * TIME_NS_PER_S) /* simulated time, or work, that counts as progress */

struct stall {
    uint64_t limit;    /* for each count; 0: a run never stalls */
    uint64_t progress; /* submissions, first starts, ends and rejections so far, as of the last step */
    uint64_t cycles, evictions;
    time_ns since; /* when the first cycle of the count was */
    time_ns kept;  /* reference run time kept by the evictions of the count */
};

/* Count a cycle at `now`.  progress: submissions, first starts, ends and rejections so far.  has_more: the world has
 * something to come.  True: the run stalls.  O(1). */
static inline bool stall_cycle(struct stall *stall, uint64_t progress, time_ns now, bool has_more)
{
    if (progress != stall->progress) {
        stall->progress = progress;
        stall->cycles = stall->evictions = 0;
        stall->kept = 0;
    }
    if (stall->cycles == 0 || (has_more && now - stall->since >= MEANINGFUL_SPAN)) {
        stall->cycles = 0;
        stall->since = now;
    }
    stall->cycles++;
    return stall->limit != 0 && (stall->cycles > stall->limit || stall->evictions > stall->limit);
}

/* Count an eviction of a job that keeps `kept` of the reference run time of the attempt that it ends.  The next call of
 * stall_cycle tells whether the run stalls.  O(1). */
void stall_eviction(struct stall *stall, time_ns kept);

#endif
