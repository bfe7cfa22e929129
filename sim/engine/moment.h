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
 *  - Same policy: a fork has the fingerprint of the run that was never forked.  It writes the same rows as that run,
 *    for each job and attempt that ends from T on, and for each sample after T.
 *  - Another policy starts with an empty scheduler.  Facts tell it the MIG layout of each GPU, the GPUs that each
 *    running job holds, which jobs are leaving, and when each waiting job was submitted.  It does not know what the old
 *    policy planned (claims, planned starts) or counted (past usage).
 *  - Rows of a fork begin at T.  Integrals and counts of the timeline continue from before T.  A row of a job covers
 *    the whole life of the job.
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
 * Cost: O(jobs that wait or run + events + GPUs) to save; to load that, and O(jobs submitted before T),
 * in a closed loop O(jobs) for both.
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
