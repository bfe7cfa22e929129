/* policies/backfill/backfill.h -- the seam "what may overtake".
 *
 * Whoever waits in front is given a forecast: when, and on which GPUs, its space comes, by what running jobs say of
 * their length (policies/forecast.c).  Who stands behind may start now where that delays no forecast.  A policy says how
 * many are given one.
 *
 * Law: in planned time no job with a forecast starts later because another overtook it.  What runs without a limit
 * and without an estimate never ends as far as is known: then nobody overtakes.
 *
 * A policy is one const struct; add it to policies/registry.c.
 */
#ifndef POLICIES_BACKFILL_H
#define POLICIES_BACKFILL_H

#include <stdbool.h>
#include <stdint.h>

struct backfill_config {
    int64_t reservations; /* jobs that are given a forecast at once, at least 1 */
};

struct backfill_policy {
    const char *name;
    uint32_t version;
    const char *summary;
    bool overtakes; /* at all */
};

extern const struct backfill_policy *const backfill_policies[]; /* NULL-terminated */

#endif
