/* The laws that hold between the books, and their hash. */
#include "policies/sched_state.h"

/* What the jobs hold, against what the ledger and the tree say. */
static const char *check_job(const struct sched *sched, uint32_t slot, int64_t *held,
                             int64_t *charged)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct shape *shape = &sched->shapes.shapes[job->shape];
    uint32_t members[JOB_GROUPS_MAX] = {0};
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        if (holding->phase == HOLDING_LEAVING)
            continue;
        *held += piece_milli(&holding->piece);
        members[holding->piece.group] += holding->piece.member_count;
    }
    for (uint32_t g = 0; g < shape->group_count; g++) {
        uint32_t counted = job->held_more != NULL ? job->held_more[g] : job->held_one;
        if (counted != members[g])
            return "a job's members differ from its holdings";
        *charged += members[g] * shape->member_charge[g][QUEUE_SUM_GPU];
    }
    if (job->holding_count != 0 && (job->state == SJOB_PENDING || job->state == SJOB_HELD))
        return "a job that waits holds space";
    return NULL;
}

const char *sched_check(const struct sched *sched)
{
    const char *broken = ledger_check(sched->ledger);
    int64_t held = 0, charged = 0;
    for (uint32_t s = 0; s < sched->jobs.used && broken == NULL; s++)
        if (sched->jobs.jobs[s].state != SJOB_NONE)
            broken = check_job(sched, s, &held, &charged);
    broken = broken != NULL ? broken : roster_check(sched);
    broken = broken != NULL ? broken : agenda_check(sched);
    if (broken != NULL)
        return broken;
    if (held != sched->ledger->used_milli + sched->ledger->claimed_milli)
        return "what jobs hold differs from what the ledger counts as used";
    if (charged != sched->ledger->sums[QUEUE_ROOT][QUEUE_SUM_GPU])
        return "what jobs ask differs from what the root queue is charged";
    return NULL;
}

uint64_t sched_hash(const struct sched *sched)
{
    return ledger_hash(sched->ledger);
}
