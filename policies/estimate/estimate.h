/* policies/estimate/estimate.h -- the seam "how long": which of the lengths that a job declares is believed, and what
 * is learned from those that ended.
 *
 * What plans in time (policies/reservation/planned_start.c) asks here.  What a job really runs is nowhere in the
 * scheduler; a simulator may write estimates of its own into jobs before they are submitted.
 *
 * Words.  A policy that learns has a state for each user, and one for each user and request class
 * (policies/jobs/request_class.h: all jobs of a request class ask the same); policies/state/run_times.h keeps them and
 * says what counts as a run.  What the state predicts takes the place of the estimate that the job declares.
 *
 * Laws
 *  - All hooks are pure functions of what they are given, but for note_run, which writes the state.
 *
 * A policy is one const struct; add it to policies/config/registry.c.
 */
#ifndef POLICIES_ESTIMATE_H
#define POLICIES_ESTIMATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "policies/own.h"

struct estimate_policy {
    const char *name;
    uint32_t version;
    const char *summary;
    /* Run time, of what was declared (each TIME_NEVER if it was not); TIME_NEVER: not known.  estimate: what was
     * learned, if anything was.  own: of a plug-in's policy; NULL: it is built in.  Called whenever a length is
     * needed; the same for one job from first to last, so of a plug-in's own only the parameters count. */
    time_ns (*length)(time_ns limit, time_ns estimate, const struct policy_own *own);

    /* Of a policy that learns; 0: it does not, and the hooks below are not called. */
    size_t state_size; /* bytes of a state; zeroed before the first run */
    /* A job of this user (and request class) ended after so long, at least 1 ns.  Called twice for a run, once for
     * each state. */
    void (*note_run)(void *state, time_ns ran);
    /* How long the next one will run; TIME_NEVER: not known.  Called once or twice for a job, when it first comes to
     * wait for its turn: of its user and request class, then, if that knows nothing, of its user. */
    time_ns (*predict)(const void *state);
};

extern const struct estimate_policy *const estimate_policies[]; /* NULL-terminated */

#endif
