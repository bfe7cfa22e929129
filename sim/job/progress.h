/* sim/job/progress.h -- how far a job's work is, in whole numbers.
 *
 * The reference work of a job is its run time on all its members.  With n of its N members it progresses at n/N of
 * that speed (linear; communication costs nothing here), so work is counted in member-nanoseconds: all of it is
 * duration x N, and n members do n of them in a nanosecond.  Members whose speed is not that of a whole GPU
 * (sim/engine/engine_pace.c) need finer units: of those `one` make a member-nanosecond, and n members at a fifth of
 * the speed do n x one / 5. Nothing is rounded but the end, up to the nanosecond.
 *
 * An interval goes from `since` on with constant members.  In it the job works from works_from (after its restart)
 * until frozen_at (when it stopped to write a checkpoint), or on.
 *
 * Law: saved <= work <= duration x members x one.
 *
 * It does not: know events, GPUs, or why members come and go.
 */
#ifndef SIM_JOB_PROGRESS_H
#define SIM_JOB_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

__extension__ typedef __int128 wide_ns;

struct progress {
    wide_ns work;       /* units done at `since` */
    wide_ns saved;      /* units of these that no eviction can undo */
    time_ns duration;   /* reference work */
    uint32_t members;   /* N */
    uint32_t one;       /* units of a member-ns, >= 1 */
    int64_t speed;      /* units done in a ns; 0: none */
    time_ns since;      /* the interval's beginning */
    time_ns works_from; /* >= since */
    time_ns frozen_at;  /* TIME_NEVER: it is not */
};

/* No work is done. */
struct progress progress_new(time_ns duration, uint32_t members, uint32_t one);

/* Continue from the saved work, after a restart. */
void progress_begin(struct progress *progress, time_ns now, time_ns restart, int64_t speed);

/* From `now` on `speed` units are done per nanosecond.  The rest of a restart still counts; a frozen job stays
 * frozen. */
void progress_turn(struct progress *progress, time_ns now, int64_t speed);

void progress_freeze(struct progress *progress, time_ns now);
void progress_thaw(struct progress *progress); /* directly after a turn */

/* Fall back to `kept` and do nothing; call it directly after a turn or before a begin. */
void progress_stop(struct progress *progress, wide_ns kept);

wide_ns progress_work_at(const struct progress *progress, time_ns at);
time_ns progress_end(const struct progress *progress); /* TIME_NEVER: it does not end at this speed */
/* The time at which the job has done `work` at its present speed, even if that is more than it has to do.  If the job
 * has done `work` already: the time from which it works.  TIME_NEVER: the job stands still. */
time_ns progress_reaches(const struct progress *progress, wide_ns work);
bool progress_is_done(const struct progress *progress, wide_ns work); /* is `work` all of it? */

/* Reference work of `work` units, rounded down. */
time_ns progress_reference(const struct progress *progress, wide_ns work);

/* The work that survives if all members leave at `at` without a save: that of the last checkpoint, one per `interval`
 * of reference work (0: the job makes none). */
wide_ns progress_kept(const struct progress *progress, time_ns at, time_ns interval);

/* Time between the start of the interval and `at` without work: restart, or frozen. */
time_ns progress_overhead(const struct progress *progress, time_ns at);

static inline bool progress_is_frozen(const struct progress *progress)
{
    return progress->frozen_at != TIME_NEVER;
}

#endif
