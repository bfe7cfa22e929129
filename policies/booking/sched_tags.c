/* See policies/booking/sched_tags.h. */
#include "policies/booking/sched_tags.h"

static bool is_passing(const struct holding *holding)
{
    return holding->phase == HOLDING_CLAIMED || holding->phase == HOLDING_LEAVING;
}

/* Append the job's claimed and leaving holdings (passing), or the others; returns how many. */
static uint32_t list_holdings(const struct sched_job *job, bool passing, struct piece_list *out)
{
    const uint32_t before = out->count;
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        if (is_passing(holding) != passing)
            continue;
        MEM_GROW(out->pieces, out->capacity, (size_t)out->count + 1);
        out->pieces[out->count++] = holding->piece;
    }
    return out->count - before;
}

bool tags_match(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct request_class *request_class = &sched->request_classes.at[job->request_class];
    struct piece_list *held = &sched->held_pieces;
    if (!ledger_tags_bind(sched->ledger, request_class->tags))
        return false;
    held->count = 0;
    struct own_spaces own = {.stay_count = list_holdings(job, false, held)};
    own.passing_count = list_holdings(job, true, held);
    struct space *spaces = mem_alloc(held->count * sizeof *spaces);
    for (uint32_t p = 0; p < held->count; p++)
        spaces[p] = request_class_space(request_class, &held->pieces[p], slot);
    own.spaces = spaces;
    ledger_tags_match(sched->ledger, request_class->tags, own);
    mem_free(spaces);
    return true;
}

bool tags_shut_claims(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    bool is_shut = false;
    if (!tags_match(sched, slot))
        return false;
    for (uint32_t i = 0; i < job->holding_count; i++)
        is_shut |= sched_job_holding(job, i)->phase == HOLDING_CLAIMED &&
                   !ledger_tags_met(sched->ledger, sched_job_holding(job, i)->piece.node);
    return is_shut;
}

const char *tags_check(const struct sched *sched)
{
    struct ledger again = {.cluster = sched->cluster};
    if (sched->ledger->tags == NULL) {
        for (uint32_t s = 0; s < sched->jobs.used; s++)
            if (sched->jobs.jobs[s].state != SJOB_NONE &&
                sched->request_classes.at[sched->jobs.jobs[s].request_class].tags != NULL)
                return "tags of a job are not counted";
        return NULL;
    }
    ledger_tags_use(&again);
    for (uint32_t s = 0; s < sched->jobs.used; s++) {
        const struct sched_job *job = &sched->jobs.jobs[s];
        for (uint32_t i = 0; job->state != SJOB_NONE && i < job->holding_count; i++) {
            const struct holding *holding = sched_job_holding(job, i);
            const struct space space =
                request_class_space(&sched->request_classes.at[job->request_class], &holding->piece, s);
            ledger_tags_count(&again, &space, !is_passing(holding), true);
        }
    }
    const bool is_same = ledger_tags_are_same(&again, sched->ledger);
    ledger_tags_free(&again);
    return is_same ? NULL : "tags are counted where their members are not";
}
