/* sim/cases/case_state.h -- the state of a job of a case right after a cycle, in the terms of expectations. */
#ifndef SIM_CASES_CASE_STATE_H
#define SIM_CASES_CASE_STATE_H

#include "sim/cases/case.h"

struct case_place {
    node_id node;
    uint16_t gpu_mask;
};

struct case_state {
    enum case_status status;
    int64_t running, gpu_milli;
    int64_t evicted;                 /* tasks, so far */
    int64_t reserved;                /* tasks */
    enum reason why;                 /* why it waits; REASON_NONE: it does not */
    enum reason evicted_by;          /* why tasks of it were evicted since it last started; REASON_NONE */
    const struct case_place *places; /* where it runs, or else leaves, or else is to start; a node once */
    uint32_t place_count;
    const struct case_place *reserved_places; /* of what is promised to it; a node once */
    uint32_t reserved_place_count;
    const uint32_t *evicted_tasks; /* of those that ran at first; ascending */
    uint32_t evicted_task_count;
};

/* Append the differences, separated by "; " from the text before; nothing if there are none. */
void case_compare(const struct case_spec *spec, const struct case_job *job, const struct case_state *state,
                  struct buffer *differs);

/* "running 3 tasks, 3 GPUs, on node0:0-2", for people. */
void case_describe(const struct case_spec *spec, const struct case_state *state, struct buffer *out);

#endif
