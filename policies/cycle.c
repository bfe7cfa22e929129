/* The cycle: from what is known to decisions.
 *
 *   tell rejections and given-up reservations
 *   reopen what new free space may hold
 *   start reserved jobs whose space has come
 *   allocate: the contest names a lane, its head is placed or its lane is closed
 *   evict: for heads that did not fit, if the preemption policy knows how
 */
#include <assert.h>

#include "policies/sched_state.h"

static void decide_start(struct sched *sched, uint32_t slot, time_ns now)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    struct decision *decision = sched_decide(sched, DECISION_START, slot);
    decision->pieces = job->pieces;
    decision->piece_count = job->piece_count;
    job->state = SJOB_STARTING;
    job->decided = now;
    sched->booked_running++;
    sched_list_running(sched, slot);
}

static void tell_rejects(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->reject_count; i++) {
        MEM_GROW(sched->decisions, sched->decision_capacity, sched->decision_count + 1);
        sched->decisions[sched->decision_count++] =
            (struct decision){.id = ++sched->decision_sequence << 32 | sched->rejects[i],
                              .kind = DECISION_REJECT,
                              .job = sched->rejects[i],
                              .for_job = JOB_NONE,
                              .reason = REASON_NEVER_FITS};
    }
    sched->reject_count = 0;
}

static void tell_releases(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->release_count; i++) {
        uint32_t slot = job_table_find(&sched->jobs, sched->releases[i]);
        if (slot != SLOT_NONE)
            sched_decide(sched, DECISION_RELEASE, slot);
    }
    sched->release_count = 0;
}

/* A shape that did not fit may fit again only through nodes that gained space. */
static void reopen_shapes(struct sched *sched)
{
    const node_id *nodes;
    uint32_t count = ledger_take_grown(sched->ledger, &nodes);
    for (uint32_t id = 0; id < sched->shapes.count && sched->shapes.blocked_count > 0; id++) {
        if (!sched->shapes.shapes[id].is_blocked)
            continue;
        for (uint32_t n = 0; n < count; n++)
            if (shape_fits_member(&sched->shapes.shapes[id], sched->ledger, nodes[n])) {
                sched_block_shape(sched, id, false);
                break;
            }
    }
}

static bool has_all_its_space(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct shape *shape = &sched->shapes.shapes[job->shape];
    for (uint32_t i = 0; i < job->piece_count; i++) {
        struct space space = placement_space(shape, &job->pieces[i], slot);
        if (!ledger_is_there(sched->ledger, &space))
            return false;
    }
    return true;
}

static void start_claims(struct sched *sched, time_ns now)
{
    uint32_t kept = 0;
    for (uint32_t c = 0; c < sched->claim_count; c++) {
        uint32_t slot = sched->claims[c];
        if (!has_all_its_space(sched, slot)) {
            sched->claims[kept++] = slot;
            continue;
        }
        sched->claimed_piece_milli -= sched_held_milli(&sched->jobs.jobs[slot]);
        decide_start(sched, slot, now);
    }
    sched->claim_count = kept;
}

/* Try the head of the lane; close the lane if it cannot go. */
static void try_head(struct sched *sched, uint32_t lane_id, time_ns now)
{
    struct lane *lane = &sched->pending.lanes[lane_id];
    uint32_t slot = lane->heap[0].slot;
    struct sched_job *job = &sched->jobs.jobs[slot];
    const struct shape *shape = sched_shape(sched, job);
    const struct quota_policy *quota = sched->policy.quota;
    queue_id forbids = quota->forbids != NULL
                           ? quota->forbids(&sched->tree, job->queue, shape->charge)
                           : QUEUE_NONE;
    if (forbids != QUEUE_NONE) {
        lane->quota_block = forbids;
        sched->tree.queues[forbids].has_closed_lanes = true;
        queue_tree_touch(&sched->tree, lane->line);
        return;
    }
    sched->attempts++;
    size_t mark = ledger_mark(sched->ledger);
    if (!placement_place(sched->policy.placement, sched->ledger, shape, slot, &sched->pieces)) {
        ledger_rollback(sched->ledger, mark);
        sched_block_shape(sched, job->shape, true);
        return;
    }
    ledger_commit(sched->ledger, mark);
    sched_unwait(sched, slot);
    sched_job_set_pieces(job, sched->pieces.pieces, sched->pieces.count);
    sched_charge(sched, slot, 1);
    lane->failed_plans = 0;
    decide_start(sched, slot, now);
}

static void allocate(struct sched *sched, time_ns now)
{
    for (uint32_t lane = contest_next(&sched->tree, &sched->pending); lane != LANE_NONE;
         lane = contest_next(&sched->tree, &sched->pending))
        try_head(sched, lane, now);
}

size_t sched_cycle(struct sched *sched, time_ns now, const struct decision **out, time_ns *wake_at)
{
    sched->cycle++;
    sched->decision_count = 0;
    *wake_at = TIME_NEVER;
    tell_rejects(sched);
    tell_releases(sched);
    if (sched->pending.job_count > 0 || sched->shapes.blocked_count > 0)
        reopen_shapes(sched);
    start_claims(sched, now);
    allocate(sched, now);
    if (sched->policy.preemption->compare != NULL && sched->pending.job_count > 0) {
        if (eviction_cycle(sched, now))
            allocate(sched,
                     now); /* victims give headroom back, and the gainer holds up nobody any more */
        *wake_at = eviction_wake(sched, now);
    }
    *out = sched->decisions;
    return sched->decision_count;
}
