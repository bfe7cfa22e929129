/* sim/engine/engine_faults.h -- faults of jobs in the world, and the neighbours that they take: engine_faults.c (those
 * to come, and what they did) and engine_strike.c (one strikes).  sim/job/fault.h says when they strike, and whom.
 *
 * A job that a fault takes, its own or a neighbour's, leaves its space at once: it falls back to its last periodic
 * checkpoint and waits again, as one that is killed with grace 0.  A fault strikes one GPU; a job that it takes loses
 * all members.  Faults strike jobs that work, also while they are told to leave.  All pieces of other jobs are searched
 * for neighbours: O(jobs) for each fault, and nothing while none strikes.
 */
#ifndef SIM_ENGINE_ENGINE_FAULTS_H
#define SIM_ENGINE_ENGINE_FAULTS_H

#include "sim/engine/engine_state.h"

struct sim_fault { /* of one job */
    struct fault next;
    uint64_t instance_groups; /* bit g: members of group g get MIG instances */
    struct fault_row row;
};
_Static_assert(JOB_GROUPS_MAX <= 64, "instance_groups has a bit for each");
_Static_assert((int)RECORD_FAULT_MEMORY == (int)FAULT_OUT_OF_MEMORY &&
                   (int)RECORD_FAULT_RUNAWAY == (int)FAULT_RUNAWAY && (int)RECORD_FAULT_FATAL == (int)FAULT_FATAL &&
                   (int)RECORD_FAULT_COUNT == (int)FAULT_CAUSE_COUNT,
               "the record has them in this order");

/* Has the work of the job reached its next fault? */
bool engine_fault_is_due(const struct engine *engine, uint32_t slot);

#endif
