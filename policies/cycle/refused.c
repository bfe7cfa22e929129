/* What the world may ask of facts that were dropped (policies/booking/told.h). */
#include "policies/state/sched_state.h"

void sched_trust_jobs(struct sched *sched, bool is_on)
{
    sched->trusts_jobs = is_on;
}

const struct refused_facts *sched_refused(const struct sched *sched)
{
    return &sched->refused;
}

const char *wrong_fact_text(enum wrong_fact wrong)
{
    static const char *const texts[WRONG_COUNT] = {
        [WRONG_NOTHING] = "nothing is wrong",
        [WRONG_TIME] = "its time is before the last fact or cycle, or too far away",
        [WRONG_JOB] = "its job is not valid",
        [WRONG_JOB_ID] = "its job was told before, or its number is too large",
        [WRONG_QUEUE] = "its queue is not known",
        [WRONG_NODE] = "its node is not in the cluster",
        [WRONG_GPU] = "its GPU is not on the node",
        [WRONG_LAYOUT] = "the GPU cannot have this layout",
        [WRONG_PIECES] = "its pieces do not match the job, or are not free",
        [WRONG_QUEUES] = "its queues do not continue those that are known",
        [WRONG_VALUE] = "a value is none of those that it may be",
    };
    return (unsigned)wrong < WRONG_COUNT ? texts[wrong] : "it is wrong in an unknown way";
}
