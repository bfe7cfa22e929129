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
    enum reason evicted_by;          /* why tasks were evicted since its last start; REASON_NONE: none was */
    const struct case_place *places; /* nodes on which it runs, or else leaves, or else is to start; each once */
    uint32_t place_count;
    const struct case_place *reserved_places; /* nodes of its reserved space; each once */
    uint32_t reserved_place_count;
    const uint32_t *evicted_tasks; /* of the tasks that ran at first; ascending */
    uint32_t evicted_task_count;
};

/* Append the differences, separated from the text before by "; "; append nothing if there are none. */
void case_compare(const struct case_spec *spec, const struct case_job *job, const struct case_state *state,
                  struct buffer *differs);

/* Append "running 3 tasks, 3 GPUs, on node0:0-2" or the like. */
void case_describe(const struct case_spec *spec, const struct case_state *state, struct buffer *out);

#endif
