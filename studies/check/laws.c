#include "studies/check/laws.h"

#include <string.h>

#include "policies/order/order.h"
#include "policies/preemption/preemption.h"

const struct check_law_facts check_laws[CHECK_LAW_COUNT] = {
    [CHECK_ANSWERS] = {"answers", "each cycle is answered in time, with decisions that can be carried out", "cycles"},
    [CHECK_INVARIANTS] = {"invariants", "nothing is given twice, no job is lost, and all sums agree", "cycles"},
    [CHECK_ENDS] = {"ends", "each run ends, after a bounded number of cycles and evictions", "runs"},
    [CHECK_STARTS] = {"starts", "jobs that fit the idle cluster start, and end", "jobs"},
    [CHECK_GANG] = {"gang", "no job runs below its minimum, except a stale gang within its grace", "gangs"},
    [CHECK_RECLAIM] = {"reclaim", "what a queue deserves and borrowers hold comes back in bounded time",
                       "owners' jobs"},
    [CHECK_NO_LOOP] = {"no_loop", "no two jobs evict each other in turn", "evictions"},
    [CHECK_MINIMAL] = {"minimal", "every victim is needed", "victims"},
    [CHECK_STRICT] = {"strict", "jobs start in the order of their submission", "starts"},
};

enum check_law check_law_of(const char *name)
{
    int law = 0;
    while (law < CHECK_LAW_COUNT && strcmp(check_laws[law].name, name) != 0)
        law++;
    return (enum check_law)law;
}

static bool is_strict(const struct policy_config *policy)
{
    const struct headroom_config *headroom = &policy->headroom;
    const bool keeps_space = headroom->gpu_milli + headroom->whole_nodes + headroom->owners_milli + headroom->gpus_ppm +
                                 headroom->nodes_ppm + headroom->owners_ppm >
                             0;
    return policy_has_one_line(policy) && strcmp(policy->order[0]->name, "fifo") == 0 && !policy->preemption->evicts &&
           !policy->inference_first && !policy->backfill_config.overtakes &&
           policy->defrag_config.moves_per_plan == 0 && !keeps_space;
}

unsigned check_laws_of(const struct policy_config *policy)
{
    static const uint8_t by_guarantee[][2] = {{GUARANTEE_GANG, CHECK_GANG},
                                              {GUARANTEE_RECLAIM, CHECK_RECLAIM},
                                              {GUARANTEE_NO_LOOP, CHECK_NO_LOOP},
                                              {GUARANTEE_MINIMAL, CHECK_MINIMAL}};
    unsigned laws = CHECK_LAWS_OF_ALL;
    for (size_t i = 0; i < sizeof by_guarantee / sizeof *by_guarantee; i++)
        if (policy->guarantees & by_guarantee[i][0])
            laws |= 1u << by_guarantee[i][1];
    return is_strict(policy) ? laws | 1u << CHECK_STRICT : laws;
}
