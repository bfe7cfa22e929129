/* policies/state/plan_kind.h -- why running jobs may be evicted. */
#ifndef POLICIES_STATE_PLAN_KIND_H
#define POLICIES_STATE_PLAN_KIND_H

/* The purposes of evictions. */
enum plan_kind {
    PLAN_CONSOLIDATE,
    PLAN_RECLAIM,
    PLAN_PREEMPT,
    PLAN_KIND_COUNT,
    PLAN_HEADROOM = PLAN_KIND_COUNT /* for no job: space that is kept for inference */
};

#endif
