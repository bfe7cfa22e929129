/* policies/eviction/plan_request.h -- what a plan is asked for; nothing in it changes while victims are searched. */
#ifndef POLICIES_EVICTION_PLAN_REQUEST_H
#define POLICIES_EVICTION_PLAN_REQUEST_H

#include "policies/quota/quota.h"
#include "policies/state/plan_kind.h"

struct plan_request {
    uint32_t preemptor; /* SLOT_NONE: the space is for no job */
    enum plan_kind kind;
    bool may_evict;     /* else the preemptor may only wait for space that is coming */
    bool is_moving;     /* units that may not be lost are taken too, if they find another place */
    int64_t loss_bound; /* units that would lose more GPU-ns are left out */
    struct quota_round rounds[QUOTA_ROUNDS_MAX];
    uint32_t round_count; /* 0: the quota policy asks for none */
};

#endif
