/* sim/engine/moment.h -- a moment of a run as bytes: the world and the scheduler, so that a run can go on from it.
 *
 * The moment T is the state before anything of the time T happens.  A run saves the moments that it is asked for
 * (struct engine_config: saves), and another run begins at one (fork).  The part before T is not computed again; only
 * the jobs that were submitted by then are read, or drawn, once more, because most of what the world knows of a job
 * follows from its declaration.
 *
 * Words.  A fork is a run that begins at a moment.  It goes on under the policy that the moment was saved under, or
 * another policy adopts what runs.
 *
 * Laws
 *  - Same policy: the rows of jobs and attempts that end from T on, those of the timeline after T and the
 *    fingerprint are those of the run that was never forked.
 *  - Another policy starts with an empty scheduler.  It is told, as facts, of the layouts of GPUs, of the jobs that
 *    run, on the GPUs where they run, of those that leave, and of those that wait, with their true submission.  What
 *    the old policy planned (claims, planned starts, usage in the past) is not known to it.
 *  - Rows of a fork begin at T.  Integrals and counts in rows go on from before T; those of a job cover its whole life.
 *  - A run that saves moments is the same run as one that does not.
 *  - The same state gives the same bytes, also if it was loaded.
 *  - Bytes are tested before they are followed: docs/security.md.
 *
 * What cannot be saved, or cannot be taken over by the other policy, is an error when the run begins, not at T.
 *
 *   config.saves = &at;
 *   config.save_count = 1;
 *   config.on_moment = keep;                          gets a struct moment, borrowed for the call
 *   ...
 *   config.fork = &moment;
 *   TRY(engine_run(&config, &result));
 *
 * Cost: O(jobs that wait or run + events + GPUs) to save; to load that, and O(jobs submitted before T).
 *
 * It does not: write files (sim/live/moment_file.h), or change the world: a fork has the cluster, workload, world and
 * seed of its record.
 */
#ifndef SIM_ENGINE_MOMENT_H
#define SIM_ENGINE_MOMENT_H

#include "base/error.h"
#include "base/text.h"
#include "base/time.h"

/* The bytes can be loaded by the same version, byte order and size of pointers only, and record them. */
struct moment {
    time_ns at;
    struct text world, sched;
};

#endif
