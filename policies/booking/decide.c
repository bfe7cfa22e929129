/* The decisions of a cycle, and the notes for the next one; see policies/booking/decide.h. */
#include <assert.h>

#include "policies/booking/decide.h"
#include "policies/state/waits.h"

struct decision *sched_decide(struct sched *sched, enum decision_kind kind, uint32_t slot)
{
    if (sched->decided.count == sched->decided.capacity)
        MEM_GROW(sched->decided.decisions, sched->decided.capacity, (size_t)sched->decided.count + 1);
    struct sched_job *job = &sched->jobs.jobs[slot];
    struct decision *decision = &sched->decided.decisions[sched->decided.count++];
    /* decision->pieces is set when the cycle ends: until then the array of pieces may be reallocated. */
    *decision = (struct decision){
        .id = ++sched->decided.sequence << 32 | job->id, .kind = kind, .job = job->id, .for_job = JOB_NONE};
    if (kind == DECISION_START)
        job->decided_cycle = sched->cycle;
    sched->changes++;
    return decision;
}

void sched_tell_piece(struct sched *sched, const struct piece *piece)
{
    if (sched->decided.pieces.count == sched->decided.pieces.capacity)
        MEM_GROW(sched->decided.pieces.pieces, sched->decided.pieces.capacity, (size_t)sched->decided.pieces.count + 1);
    sched->decided.pieces.pieces[sched->decided.pieces.count++] = *piece;
    sched->decided.decisions[sched->decided.count - 1].piece_count++;
}

void sched_reject(struct sched *sched, job_id job, struct asking asking, enum reason reason)
{
    MEM_GROW(sched->decided.rejects, sched->decided.reject_capacity, (size_t)sched->decided.reject_count + 1);
    struct refusal_note *note = &sched->decided.rejects[sched->decided.reject_count++];
    *note = (struct refusal_note){
        .job = job, .reason = reason, .request_class = asking.request_class, .queue = asking.queue, .at = sched->now};
    sched_waited(sched, job, sched->now, &note->waited);
}

void decided_untell(struct sched *sched, decision_id start, const struct piece *piece)
{
    struct decided *decided = &sched->decided;
    struct piece_list *told = &decided->pieces;
    uint32_t d = 0, p = 0;
    for (; decided->decisions[d].id != start; d++)
        p += decided->decisions[d].piece_count;
    const uint32_t end = p + decided->decisions[d].piece_count;
    while (memcmp(&told->pieces[p], piece, sizeof *piece) != 0)
        p++;
    assert(p < end);
    (void)end;
    told->count--;
    memmove(&told->pieces[p], &told->pieces[p + 1], (told->count - p) * sizeof *piece);
    if (--decided->decisions[d].piece_count > 0)
        return;
    decided->count--;
    memmove(&decided->decisions[d], &decided->decisions[d + 1], (decided->count - d) * sizeof *decided->decisions);
}

struct decision *decided_reserve(const struct sched *sched, job_id job)
{
    for (uint32_t d = 0; d < sched->decided.count; d++)
        if (sched->decided.decisions[d].kind == DECISION_RESERVE && sched->decided.decisions[d].job == job)
            return &sched->decided.decisions[d];
    return NULL;
}

void decided_unreserve(struct sched *sched, job_id job)
{
    struct decided *decided = &sched->decided;
    const uint32_t at = (uint32_t)(decided_reserve(sched, job) - decided->decisions);
    const uint32_t count = decided->decisions[at].piece_count;
    uint32_t first = 0;
    for (uint32_t d = 0; d < at; d++)
        first += decided->decisions[d].piece_count;
    decided->pieces.count -= count;
    memmove(&decided->pieces.pieces[first], &decided->pieces.pieces[first + count],
            (decided->pieces.count - first) * sizeof *decided->pieces.pieces);
    decided->count--;
    memmove(&decided->decisions[at], &decided->decisions[at + 1], (decided->count - at) * sizeof *decided->decisions);
}

void decided_release(struct sched *sched, job_id job)
{
    struct decided *decided = &sched->decided;
    MEM_GROW(decided->releases, decided->release_capacity, (size_t)decided->release_count + 1);
    decided->releases[decided->release_count++] = job;
}

static void tell_rejects(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->decided.reject_count; i++) {
        struct refusal_note *note = &sched->decided.rejects[i];
        if (!sched->waits.is_off)
            wait_times_add(&note->waited, note->reason, sched->now - note->at);
        MEM_GROW(sched->decided.decisions, sched->decided.capacity, (size_t)sched->decided.count + 1);
        sched->decided.decisions[sched->decided.count++] =
            (struct decision){.id = ++sched->decided.sequence << 32 | note->job,
                              .kind = DECISION_REJECT,
                              .job = note->job,
                              .for_job = JOB_NONE,
                              .reason = note->reason,
                              .waited = &note->waited};
    }
    sched->decided.reject_count = 0;
}

static void tell_releases(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->decided.release_count; i++) {
        uint32_t slot = job_table_find(&sched->jobs, sched->decided.releases[i]);
        if (slot != SLOT_NONE)
            sched_decide(sched, DECISION_RELEASE, slot);
    }
    sched->decided.release_count = 0;
}

void decided_begin_cycle(struct sched *sched)
{
    sched->decided.told_before = sched->decided.sequence;
    sched->decided.count = 0;
    sched->decided.pieces.count = 0;
    sched->decided.recalls_after = UINT64_MAX;
}

void decided_tell_notes(struct sched *sched)
{
    tell_rejects(sched);
    tell_releases(sched);
}

void decided_end_cycle(struct sched *sched)
{
    const struct piece *piece = sched->decided.pieces.pieces;
    for (uint32_t i = 0; i < sched->decided.count; i++) {
        sched->decided.decisions[i].pieces = piece;
        if (sched->decided.decisions[i].piece_count > 0)
            piece += sched->decided.decisions[i].piece_count;
    }
}

/* The holdings of the job in `slot` that stand for the decision. */
static void rename_holdings(struct sched *sched, uint32_t slot, decision_id was, decision_id is)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (sched_job_holding(job, i)->decision == was)
            sched_job_holdings(job)[i].decision = is;
}

void decided_close_gaps(struct sched *sched)
{
    struct decided *decided = &sched->decided;
    if (decided->sequence - decided->told_before == decided->count)
        return; /* nothing was taken back */
    decided->sequence = decided->told_before;
    for (uint32_t i = 0; i < decided->count; i++) {
        struct decision *decision = &decided->decisions[i];
        const decision_id was = decision->id;
        decision->id = ++decided->sequence << 32 | decision->job;
        const uint32_t slot = job_table_find(&sched->jobs, decision->job);
        if (decision->id == was || slot == SLOT_NONE)
            continue;
        rename_holdings(sched, slot, was, decision->id);
        OBSERVERS_TELL(sched, renamed, was, decision->id);
    }
}

void decided_allow_recalls(struct sched *sched, bool may)
{
    sched->decided.recalls_after = may ? sched->decided.sequence : UINT64_MAX;
}

void decided_release_all(struct sched *sched)
{
    mem_free(sched->decided.rejects);
    mem_free(sched->decided.releases);
    mem_free(sched->decided.decisions);
    piece_list_release(&sched->decided.pieces);
}
