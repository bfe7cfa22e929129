/* base/reason.c -- see base/reason.h. */
#include "base/reason.h"

#include <assert.h>
#include <stddef.h>

_Static_assert(REASON_COUNT <= 32, "wait_times.mask has a bit for each");

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
        [REASON_FRAGMENTATION] = "Fragmentation",
        [REASON_TOPOLOGY] = "Topology",
        [REASON_RESERVED_FOR_OTHER] = "ReservedForOther",
        [REASON_SCHEDULING] = "WaitingForScheduling",
        [REASON_CONFIGURING] = "Configuring",
        [REASON_GANG_ON_SLICES] = "GangOnSlices",
        [REASON_AFFINITY] = "Affinity",
        [REASON_FAULT] = "Fault",
        [REASON_NEIGHBOUR_FAULT] = "NeighbourFault",
        [REASON_IDLE] = "Idle",
        [REASON_GAP] = "Gap",
    };
    assert((size_t)reason < REASON_COUNT && names[reason] != NULL);
    return names[reason];
}

time_ns wait_times_sum(const struct wait_times *times)
{
    time_ns sum = 0;
    for (uint32_t left = times->mask; left != 0; left &= left - 1)
        sum += times->of[__builtin_ctz(left)];
    return sum;
}
