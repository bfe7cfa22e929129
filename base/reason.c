/* base/reason.c -- see base/reason.h. */
#include "base/reason.h"

#include <assert.h>
#include <stddef.h>

const char *reason_name(enum reason reason)
{
    static const char *const names[REASON_COUNT] = {
        [REASON_NONE] = "None",
        [REASON_RESOURCES] = "Resources",
        [REASON_PRIORITY] = "Priority",
        [REASON_QUOTA_LIMIT] = "QuotaLimit",
        [REASON_NEVER_FITS] = "NeverFits",
        [REASON_HELD] = "Held",
        [REASON_RESERVED] = "Reserved",
        [REASON_QUEUE_FULL] = "QueueFull",
        [REASON_PREEMPTED] = "Preempted",
        [REASON_RECLAIMED] = "Reclaimed",
        [REASON_NODE_DOWN] = "NodeDown",
        [REASON_DEPENDENCY] = "Dependency",
        [REASON_DEPENDENCY_NEVER] = "DependencyNeverSatisfied",
        [REASON_ARRAY_LIMIT] = "JobArrayTaskLimit",
        [REASON_CONSOLIDATED] = "Consolidated",
        [REASON_STALE_GANG] = "StaleGang",
        [REASON_HEADROOM] = "Headroom",
    };
    assert((size_t)reason < REASON_COUNT && names[reason] != NULL);
    return names[reason];
}
