#include "policies/wire/wire_kinds.h"
#include "policies/wire/wire_fields.h"

const char *const wire_fact_keys[] = {
    [FACT_JOB_SUBMITTED] = "job_submitted",       [FACT_JOB_RELEASED] = "job_released",
    [FACT_JOB_CANCELLED] = "job_cancelled",       [FACT_JOB_ADOPTED] = "job_adopted",
    [FACT_JOB_STARTED] = "job_started",           [FACT_JOB_LEAVING] = "job_leaving",
    [FACT_JOB_EVICTED] = "job_evicted",           [FACT_JOB_ENDED] = "job_ended",
    [FACT_JOB_CHECKPOINTED] = "job_checkpointed", [FACT_JOB_OBSERVED] = "job_observed",
    [FACT_DECISION_REFUSED] = "decision_refused", [FACT_NODE_CHANGED] = "node_changed",
    [FACT_GPU_CHANGED] = "gpu_changed",           [FACT_QUEUES_CHANGED] = "queues_changed",
    [FACT_TYPICAL_TOLD] = "typical_told",         [FACT_JOB_HISTORY_TOLD] = "job_history_told",
    [FACT_USER_USAGE_TOLD] = "user_usage_told",   [FACT_COUNT] = NULL,
};

const char *const wire_decision_keys[] = {
    [DECISION_START] = "start",     [DECISION_EVICT] = "evict",
    [DECISION_RESERVE] = "reserve", [DECISION_RELEASE] = "release",
    [DECISION_REJECT] = "reject",   [DECISION_REPARTITION] = "repartition",
    [DECISION_NOTIFY] = "notify",   NULL,
};

const char *const wire_sources[] = {
    [SOURCE_FREE] = "free",         [SOURCE_HEADROOM] = "headroom", [SOURCE_GRACE_0] = "grace_0",
    [SOURCE_EVICTION] = "eviction", [SOURCE_GAP] = "gap",           [SOURCE_COUNT] = NULL,
};

const char *const wire_job_ends[] = {
    [JOB_END_COMPLETED] = "completed",
    [JOB_END_FAILED] = "failed",
    [JOB_END_CANCELLED] = "cancelled",
    [JOB_END_LIMIT] = "limit",
    NULL,
};

const char *const wire_evict_ends[] = {[EVICT_SAVED] = "saved", [EVICT_LOST] = "lost", NULL};

const char *const wire_refusals[] = {
    [REFUSED_STALE] = "stale", [REFUSED_NODE_DOWN] = "node_down", [REFUSED_BUSY] = "busy", NULL};

const char *const wire_node_states[] = {
    [NODE_UP] = "up",     [NODE_CORDONED] = "cordoned", [NODE_DRAINING] = "draining",
    [NODE_DOWN] = "down", [NODE_ABSENT] = "absent",     NULL,
};

const struct wire_field wire_decision_fields[] = {
    WIRE_INT(struct decision, job, "job", 0, JOB_NONE - 1, WIRE_NEEDED),
    WIRE_INT(struct decision, for_job, "for_job", 0, JOB_NONE - 1, JOB_NONE),
    WIRE_TIME(struct decision, grace, "grace_ns", 0),
    WIRE_BOOL(struct decision, is_partial, "partial", false),
    WIRE_NAME(struct decision, source, "source", wire_sources, SOURCE_FREE),
    {0},
};

const struct wire_field wire_done_fields[] = {
    WIRE_INT(struct wire_done, wake_at, "wake_at", 0, TIME_NEVER - 1, TIME_NEVER),
    WIRE_INT(struct wire_done, reserved_gpu_milli, "reserved_gpu_milli", 0, INT64_MAX, 0),
    {0},
};
