/* What the world may ask of facts that were dropped (policies/booking/told.h), and of decisions that are open. */
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
        [WRONG_UNKNOWN_JOB] = "its job is not known: it never came, or it has ended or was rejected",
        [WRONG_DECISION] = "its decision is not open: it was never made, or it has taken effect or was refused",
    };
    return (unsigned)wrong < WRONG_COUNT ? texts[wrong] : "it is wrong in an unknown way";
}

decision_id sched_open_decision(const struct sched *sched, uint64_t number)
{
    if (number == 0)
        return 0;
    for (uint32_t slot = 0; slot < sched->jobs.used; slot++) {
        const struct sched_job *job = &sched->jobs.jobs[slot];
        for (uint32_t i = 0; job->state != SJOB_NONE && i < job->holding_count; i++)
            if (decision_number(sched_job_holding(job, i)->decision) == number)
                return sched_job_holding(job, i)->decision;
    }
    decision_id open = 0;
    OBSERVERS_EACH(sched, open, each)
    open = open != 0 ? open : each->hooks->open(sched, each->own, number);
    return open;
}
