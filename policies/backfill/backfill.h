/* policies/backfill/backfill.h -- the seam "what may overtake".
 *
 * The jobs at the front get planned starts: when, and on which GPUs, their space comes, by the declared lengths of
 * running jobs (policies/reservation/planned_start.c).  A job behind them may start now if that delays no
 * planned start.  A policy says which jobs get one, how long it stands, and how often starts are planned.
 *
 * Law: in planned time no job with a planned start starts later because another overtook it; where planned starts are
 * made anew (COMPRESSION_REPLAN) that is so of the first job in line, and of others only until then.  What runs
 * without a limit and without an estimate never ends as far as is known: then nobody overtakes whom it keeps waiting.
 *
 * A policy is one const struct; add it to policies/config/registry.c.
 */
#ifndef POLICIES_BACKFILL_H
#define POLICIES_BACKFILL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

/* How promises become earlier when space comes free early. */
enum compression {
    COMPRESSION_IN_ORDER, /* one by one, by their starts; none becomes later */
    COMPRESSION_REPLAN,   /* all anew, by the chain; that of its first job does not become later */
};

struct backfill_config {
    int64_t reservations; /* jobs that have a planned start at once, at least 1 */
    int64_t depth;        /* jobs looked at in one pass, in the order of the chain; at least 1 */
    int64_t per_user;     /* of one user, in one pass; 0: no bound */
    time_ns window;       /* nobody is given a planned start that is further away; TIME_NEVER: no bound */
    time_ns resolution;   /* planned ends are rounded up to its multiples; 0: exact */
    time_ns interval;     /* between passes; 0: one in each cycle */
    int64_t compression;  /* enum compression, where planned starts stand */
};

struct order_view;

enum { BACKFILL_ALL = 1000000000 }; /* a number of jobs without bound */

struct backfill_policy {
    const char *name;
    uint32_t version;
    const char *summary;
    bool overtakes;   /* at all */
    bool keeps;       /* a planned start stands until its job starts, or until `compression` makes it anew */
    bool is_windowed; /* all but `reservations` may be configured; else that alone, unless it keeps */
    struct backfill_config defaults;
    /* Is this job, which does not fit now, to be given a planned start, so that nobody may delay it?  Not of a policy
     * that keeps planned starts.  Called for each job that would be given one, in each pass; pure.  NULL: it is. */
    bool (*reserves)(const struct order_view *view);
};

extern const struct backfill_policy *const backfill_policies[]; /* NULL-terminated */

#endif
