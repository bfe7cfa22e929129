/* policies/idle/idle.h -- the seam "what becomes of jobs that hold GPUs and leave them idle".
 *
 * A monitor measures the SM activity of running jobs (sched_job_observed).  A hoarder is a job that was seen idle for
 * `window`.  The policy says what follows: the submitter is told (NOTIFY), and after a grace in which the job stayed
 * idle it loses space.  How much and of whom, a policy file says:
 *
 *   {"idle": {"policy": "reclaim", "classes": ["interactive"], "threshold": 0.05, "window_s": 1800,
 *             "grace_s": 600, "rest_s": 1800}}
 *
 * Words.  Idle time: the sum of the windows of measurements that found the job idle, since one last found it active.
 *
 * Laws
 *  - No peeking: a policy sees what was measured, and nothing else of the activity of a job.
 *  - Hysteresis: a job becomes idle below `threshold`, and active again only at IDLE_WAKE_MILLI or above (or at
 *    `threshold`, if that is more).
 *  - Space is taken only while some job waits for space, and only of jobs that can save their work.
 *  - A time without a measurement is neither idle nor active.
 *  - No job loses space before it was told and stayed idle for the grace.  The grace doubles each time that a job loses
 *    space as idle, and so does the rest; after IDLE_STRIKES_MAX times it loses none.
 *
 * A policy is one const struct; add it to policies/config/registry.c.  policies/hoarders/hoarders.c acts on it.
 *
 * It does not: put a job on a share of a GPU instead of a whole one.  A job cannot change its kind of piece while it
 * runs, and request classes do not tell a job on two kinds of pieces apart.
 */
#ifndef POLICIES_IDLE_H
#define POLICIES_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/sched.h"

enum { IDLE_STRIKES_MAX = 12, IDLE_WAKE_MILLI = 100 };

struct idle_config {
    uint16_t threshold_milli; /* SM activity below which a job is idle */
    uint8_t classes;          /* bits of enum job_class: the jobs that it applies to */
    time_ns window;           /* idle time until a job is told, > 0 */
    time_ns grace;            /* further idle time until it loses space */
    time_ns rest;             /* an evicted job comes back to its queue after this time */
};

struct idle_policy {
    const char *name;
    uint32_t version;
    const char *summary; /* when it works and when it fails */
    bool tells;          /* false: it does nothing */
    bool reclaims;       /* jobs are evicted */
    struct idle_config defaults;
};

extern const struct idle_policy *const idle_policies[]; /* NULL-terminated */

/* What was measured of a job since it last came to run. */
struct idle_spell {
    time_ns seen; /* the end of the last window */
    time_ns idle; /* its idle time */
    time_ns told; /* `idle` when it was told; TIME_NEVER: it was not */
};
#define IDLE_SPELL_NEW ((struct idle_spell){.told = TIME_NEVER})

/* Add a measurement.  Of a window that overlaps the last one only the rest counts.  True: the job was idle, and now is
 * active. */
bool idle_note(const struct idle_config *config, struct idle_spell *spell, const struct observation *observation);

enum idle_step { IDLE_WAITS, IDLE_TELLS, IDLE_ACTS };

/* The time between the NOTIFY and the loss of space, for a job that lost space so often; TIME_NEVER: it loses none. */
time_ns idle_grace(const struct idle_policy *policy, const struct idle_config *config, uint32_t strikes);
/* What is due now. */
enum idle_step idle_step(const struct idle_policy *policy, const struct idle_config *config,
                         const struct idle_spell *spell, uint32_t strikes);
/* How long a job rests that was evicted so often, this time included. */
time_ns idle_rest(const struct idle_config *config, uint32_t strikes);

/* Does the policy want to know about jobs of this class? */
static inline bool idle_listens(const struct idle_policy *policy, const struct idle_config *config,
                                enum job_class class)
{
    return policy->tells && (config->classes >> class & 1);
}

#endif
