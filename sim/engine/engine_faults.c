/* Faults of jobs in the world, and the neighbours that they take: a part.  sim/job/fault.h says when they strike, and
 * whom.
 *
 * A job that a fault takes, its own or a neighbour's, leaves its space at once: it falls back to its last periodic
 * checkpoint and waits again, as one that is killed with grace 0.  A fault strikes one GPU; a job that it takes loses
 * all members.  Faults strike jobs that work, also while they are told to leave.  All pieces of other jobs are searched
 * for neighbours: O(jobs) for each fault, and nothing while none strikes. */
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

struct faults {
    struct sim_fault *jobs; /* by slot */
    size_t capacity;
};

static struct sim_fault *fault_of(const struct engine *engine, uint32_t slot)
{
    return &((struct faults *)engine->states[PART_faults])->jobs[slot];
}

static void *begin(struct engine *engine, uint32_t needs)
{
    (void)needs;
    return fault_rates_are_set(&engine->config->world.faults) ? mem_zalloc(1, sizeof(struct faults)) : NULL;
}

static void release(struct engine *engine)
{
    struct faults *own = engine->states[PART_faults];
    mem_free(own->jobs);
    mem_free(own);
}

static void submitted(struct engine *engine, uint32_t slot, const struct job_asked *asked)
{
    struct faults *own = engine->states[PART_faults];
    MEM_GROW(own->jobs, own->capacity, (size_t)engine->job_used);
    own->jobs[slot] = (struct sim_fault){0};
    for (uint32_t g = 0; g < asked->job->group_count; g++)
        if (asked->got[g].request.mig != 0)
            own->jobs[slot].instance_groups |= UINT64_C(1) << g;
    fault_next(&engine->config->world.faults, engine->config->seed, asked->job->id, &own->jobs[slot].next);
}

/* The work at which its next fault strikes, in units; beyond all of its work: it has none before its end. */
static wide_ns strikes_at(const struct progress *progress, const struct fault *fault)
{
    return (wide_ns)fault->at * progress->members * progress->one;
}

static void plan(const struct engine *engine, uint32_t slot, struct sim_next *next)
{
    const struct progress *progress = &engine->jobs[slot].progress;
    const struct fault *fault = &fault_of(engine, slot)->next;
    if (fault->at >= progress->duration)
        return;
    const time_ns at = progress_reaches(progress, strikes_at(progress, fault));
    next->end = at < next->end ? at : next->end;
}

/* Has the work of the job reached its next fault? */
static bool is_due(const struct engine *engine, uint32_t slot)
{
    const struct progress *progress = &engine->jobs[slot].progress;
    const struct fault *next = &fault_of(engine, slot)->next;
    const wide_ns work = progress_work_at(progress, engine->now);
    return next->at < progress->duration && work >= strikes_at(progress, next) && !progress_is_done(progress, work);
}

/* ---- Which jobs a fault kills ---- */

static bool is_share(const struct engine *engine, uint32_t slot, const struct piece *piece)
{
    return piece->gpu_mask != 0 && piece->gpu_milli < GPU_MILLI &&
           (fault_of(engine, slot)->instance_groups >> piece->group & 1) == 0;
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

static void take_clients(struct engine *engine, uint32_t slot, const struct piece *share, enum fault_cause cause)
{
    int64_t held = 0;
    for (uint32_t s = 0; s < engine->job_used; s++) {
        if (s == slot || !is_client_of(engine, s, share))
            continue;
        held += engine->jobs[s].held_milli;
        fault_of(engine, s)->row.killed[cause]++;
        engine_take(engine, s, REASON_NEIGHBOUR_FAULT);
    }
    if (held > fault_of(engine, slot)->row.blast_gpu_milli)
        fault_of(engine, slot)->row.blast_gpu_milli = held;
}

static bool strikes(struct engine *engine, uint32_t slot)
{
    if (!is_due(engine, slot))
        return false;
    struct sim_fault *own = fault_of(engine, slot);
    const struct fault fault = own->next;
    const struct piece *share = struck(engine, slot, &fault);
    const struct piece where = share != NULL ? *share : (struct piece){0};
    engine_hash(engine, 0x60u + fault.cause, engine->jobs[slot].row.id);
    own->row.own++;
    fault_next(&engine->config->world.faults, engine->config->seed, engine->jobs[slot].row.id, &own->next);
    engine_take(engine, slot, REASON_FAULT);
    if (share != NULL && fault_takes_clients((enum fault_cause)fault.cause, where.share))
        take_clients(engine, slot, &where, (enum fault_cause)fault.cause);
    return true;
}

/* ---- What it did ---- */

static void lost(struct engine *engine, uint32_t slot, struct sim_loss *loss)
{
    if (engine->jobs[slot].evict_reason == REASON_NEIGHBOUR_FAULT)
        fault_of(engine, slot)->row.lost_gpu_ns += loss->overhead + loss->thrown - loss->own;
}

static void row(struct engine *engine, uint32_t slot, struct job_row *out)
{
    out->faults = &fault_of(engine, slot)->row;
}

const struct engine_part engine_part_faults = {.begin = begin,
                                               .release = release,
                                               .submitted = submitted,
                                               .row = row,
                                               .plan = plan,
                                               .strikes = strikes,
                                               .lost = lost};
