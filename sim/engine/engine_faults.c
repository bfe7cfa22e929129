/* Faults of jobs, and the neighbours that they take; see sim/job/fault.h.
 *
 * A job that a fault takes, its own or a neighbour's, leaves its space at once: it falls back to its last periodic
 * checkpoint and waits again, as one that is killed with grace 0.  A fault strikes one GPU; a job that it takes loses
 * all members.  Faults strike jobs that work, also while they are told to leave.  All pieces of other jobs are searched
 * for neighbours: O(jobs) for each fault, and nothing while none strikes. */
#include "sim/engine/engine_state.h"

struct sim_fault {
    struct fault next;
    uint64_t instance_groups; /* bit g: members of group g get MIG instances */
    struct fault_row row;
};
_Static_assert(JOB_GROUPS_MAX <= 64, "instance_groups has a bit for each");

void engine_fault_asks(struct engine *engine, uint32_t slot, const struct job *job, const struct job_group *got)
{
    MEM_GROW(engine->faults, engine->fault_capacity, (size_t)engine->job_used);
    struct sim_fault *own = &engine->faults[slot];
    *own = (struct sim_fault){0};
    for (uint32_t g = 0; g < job->group_count; g++)
        if (got[g].request.mig != 0)
            own->instance_groups |= UINT64_C(1) << g;
    fault_next(&engine->config->world.faults, engine->config->seed, job->id, &own->next);
}

/* The work at which its next fault strikes, in units; beyond all of its work: it has none before its end. */
static wide_ns strikes_at(const struct progress *progress, const struct fault *fault)
{
    return (wide_ns)fault->at * progress->members * progress->one;
}

time_ns engine_fault_before(const struct engine *engine, uint32_t slot, time_ns end)
{
    const struct progress *progress = &engine->jobs[slot].progress;
    const struct fault *next = &engine->faults[slot].next;
    if (next->at >= progress->duration)
        return end;
    const time_ns at = progress_reaches(progress, strikes_at(progress, next));
    return at < end ? at : end;
}

static bool is_due(const struct engine *engine, uint32_t slot)
{
    const struct progress *progress = &engine->jobs[slot].progress;
    const struct fault *next = &engine->faults[slot].next;
    const wide_ns work = progress_work_at(progress, engine->now);
    return next->at < progress->duration && work >= strikes_at(progress, next) && !progress_is_done(progress, work);
}

/* ---- Who is taken ---- */

static bool is_share(const struct engine *engine, uint32_t slot, const struct piece *piece)
{
    return piece->gpu_mask != 0 && piece->gpu_milli < GPU_MILLI &&
           (engine->faults[slot].instance_groups >> piece->group & 1) == 0;
}

/* The share that the fault strikes; NULL: the job has none. */
static const struct piece *struck(const struct engine *engine, uint32_t slot, const struct fault *fault)
{
    const struct job_pieces *own = &engine->jobs[slot].pieces;
    const struct piece *pieces = job_pieces_all(own), *least = NULL;
    uint64_t least_key = 0;
    for (uint32_t p = 0; p < own->piece_count; p++) {
        if (!is_share(engine, slot, &pieces[p]))
            continue;
        const uint64_t key = fault_key(fault, pieces[p].node, (uint32_t)__builtin_ctz(pieces[p].gpu_mask));
        const bool is_lower = least != NULL && (pieces[p].node != least->node ? pieces[p].node < least->node
                                                                              : pieces[p].gpu_mask < least->gpu_mask);
        if (least == NULL || key < least_key || (key == least_key && is_lower)) {
            least = &pieces[p];
            least_key = key;
        }
    }
    return least;
}

static bool is_client_of(const struct engine *engine, uint32_t slot, const struct piece *share)
{
    const struct sim_job *job = &engine->jobs[slot];
    const struct piece *pieces = job_pieces_all(&job->pieces);
    if ((job->state != LIFE_RUNNING && job->state != LIFE_LEAVING) || job->is_waiting)
        return false;
    for (uint32_t p = 0; p < job->pieces.piece_count; p++)
        if (pieces[p].node == share->node && pieces[p].gpu_mask == share->gpu_mask &&
            is_share(engine, slot, &pieces[p]))
            return true;
    return false;
}

/* ---- What it does ---- */

/* The job loses all members, without a decision of the scheduler. */
static void take(struct engine *engine, uint32_t slot, enum reason reason)
{
    struct sim_job *job = &engine->jobs[slot];
    if (job->state == LIFE_RUNNING)
        port_tell(
            &engine->port,
            &(struct fact){.kind = FACT_JOB_LEAVING, .now = engine->now, .id = job->row.id, .which = MEMBERS_ALL});
    job->evict_reason = (uint8_t)reason;
    engine_leave(engine, slot);
}

static void take_clients(struct engine *engine, uint32_t slot, const struct piece *share, enum fault_cause cause)
{
    int64_t held = 0;
    for (uint32_t s = 0; s < engine->job_used; s++) {
        if (s == slot || !is_client_of(engine, s, share))
            continue;
        held += engine->jobs[s].held_milli;
        engine->faults[s].row.killed[cause]++;
        take(engine, s, REASON_NEIGHBOUR_FAULT);
    }
    if (held > engine->faults[slot].row.blast_gpu_milli)
        engine->faults[slot].row.blast_gpu_milli = held;
}

bool engine_fault_strikes(struct engine *engine, uint32_t slot)
{
    if (!is_due(engine, slot))
        return false;
    struct sim_fault *own = &engine->faults[slot];
    const struct fault fault = own->next;
    const struct piece *share = struck(engine, slot, &fault);
    const struct piece where = share != NULL ? *share : (struct piece){0};
    engine_hash(engine, 0x60u + fault.cause, engine->jobs[slot].row.id);
    own->row.own++;
    fault_next(&engine->config->world.faults, engine->config->seed, engine->jobs[slot].row.id, &own->next);
    take(engine, slot, REASON_FAULT);
    if (share != NULL && fault_takes_clients((enum fault_cause)fault.cause, where.share))
        take_clients(engine, slot, &where, (enum fault_cause)fault.cause);
    return true;
}

void engine_fault_loss(struct engine *engine, uint32_t slot, int64_t lost_gpu_ns)
{
    engine->faults[slot].row.lost_gpu_ns += lost_gpu_ns;
}

const struct fault_row *engine_fault_row(const struct engine *engine, uint32_t slot)
{
    return &engine->faults[slot].row;
}
