/* policies/backfill/backfill.h -- the seam that decides which jobs may overtake.
 *
 * A policy is a name for a configuration, whose parts a policy file may change, and perhaps one hook.
 *
 * The jobs at the front get planned starts: when, and on which GPUs unless any will do, their space comes, by the
 * declared lengths of running jobs (policies/reservation/planned_start.c).  A job behind them may start now if that
 * delays no planned start.  A policy says which jobs get one, how long it stands, and how often starts are planned.
 *
 * Law: in planned time no job with a planned start starts later because another overtook it.  A
 * running job without a limit and an estimate has no planned end: no job overtakes a job that waits for its space.
 *
 * A policy is one const struct; add it to policies/config/registry.c.
 */
#ifndef POLICIES_BACKFILL_H
#define POLICIES_BACKFILL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

struct backfill_config {
    bool overtakes;       /* false: no job overtakes by time */
    bool keeps;           /* a planned start stands until its job starts */
    bool names_gpus;      /* planned starts name GPUs also where any will do (policies/reservation/planned_units.c) */
    bool fills_gaps;      /* jobs fill gaps before planned starts, which name GPUs (policies/reservation/fillers.h) */
    int64_t reservations; /* the most jobs with a planned start, at least 1 */
    int64_t depth;      /* jobs looked at in one pass, in the order of the chain; where planned starts stand, jobs with
                           * one and no job that starts; at least 1 */
    int64_t per_user;   /* of one user, in one pass; 0: no bound */
    time_ns window;     /* planned starts are at most this far away; TIME_NEVER: no bound */
    time_ns resolution; /* planned ends are rounded up to its multiples; 0: exact */
    time_ns interval;   /* between passes; 0: one in each cycle */
};

struct order_view;

enum { BACKFILL_ALL = 1000000000 }; /* no bound on a number of jobs */

struct backfill_policy {
    const char *name;
    uint32_t version;
    const char *summary;
    /* A policy file may change: with a window, all but `reservations`; else that one alone, or `depth` if it keeps; and
     * `interval` and `fills_gaps` unless it keeps, and `names_gpus`, if it overtakes. */
    struct backfill_config defaults;
    /* Does this job, which does not fit now, get a planned start?  Pure; called in each pass for each job that would
     * get one.  NULL: every job does.  A policy that keeps planned starts must have NULL. */
    bool (*reserves)(const struct order_view *view);
};

extern const struct backfill_policy *const backfill_policies[]; /* NULL-terminated */

#endif
