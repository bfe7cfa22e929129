/* A fault strikes: whom it takes, and that they leave; see sim/engine/engine_faults.h. */
#include "sim/engine/engine_faults.h"

/* ---- Which jobs a fault kills ---- */

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

void engine_fault_take(struct engine *engine, uint32_t slot, enum reason reason)
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
        engine_fault_take(engine, s, REASON_NEIGHBOUR_FAULT);
    }
    if (held > engine->faults[slot].row.blast_gpu_milli)
        engine->faults[slot].row.blast_gpu_milli = held;
}

bool engine_fault_strikes(struct engine *engine, uint32_t slot)
{
    if (!engine_fault_is_due(engine, slot))
        return false;
    struct sim_fault *own = &engine->faults[slot];
    const struct fault fault = own->next;
    const struct piece *share = struck(engine, slot, &fault);
    const struct piece where = share != NULL ? *share : (struct piece){0};
    engine_hash(engine, 0x60u + fault.cause, engine->jobs[slot].row.id);
    own->row.own++;
    fault_next(&engine->config->world.faults, engine->config->seed, engine->jobs[slot].row.id, &own->next);
    engine_fault_take(engine, slot, REASON_FAULT);
    if (share != NULL && fault_takes_clients((enum fault_cause)fault.cause, where.share))
        take_clients(engine, slot, &where, (enum fault_cause)fault.cause);
    return true;
}
