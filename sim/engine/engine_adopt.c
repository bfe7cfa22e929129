/* Another policy takes over at a moment; see sim/engine/moment.h.
 *
 * The new scheduler is told of what there is by the facts that a live adaptor would use.  Members that a decision of
 * the old policy starts hold their space already: they are told as running.  Each fact is tested: what the new policy
 * cannot take over ends the run before it begins. */
#include "sim/engine/engine_moment.h"

static struct error cannot(const struct engine *engine, const char *what, const char *why)
{
    struct error error = error_new(ERROR_CONFIG, "the policy '%s' cannot take over at this moment: %s%s",
                                   engine->config->policy->name, what, why);
    error_set_hint(&error, "save another moment with --save-at, or fork to a policy that shares GPUs alike");
    return error;
}

/* Was the last fact taken? */
static struct error check_taken(const struct engine *engine, uint64_t refused_before, const struct job *job)
{
    const struct refused_facts *refused = sched_refused(engine->port.sched);
    char what[64];
    if (refused->count == refused_before)
        return ERROR_OK;
    snprintf(what, sizeof what, "of job %lld, ", (long long)job->trace_id);
    return cannot(engine, what, wrong_fact_text(refused->last));
}

struct error engine_adopt_gpus(struct engine *engine)
{
    const struct cluster *cluster = engine->config->cluster;
    for (gpu_id g = 0; engine->gpus != NULL && g < cluster->gpu_count; g++) {
        const struct sim_gpu *gpu = &engine->gpus[g];
        const uint32_t index = g - cluster->nodes[gpu->node].first_gpu;
        const mig_layout_id layout = gpu->cut.is_partitioned ? mig_layout_of(&gpu->cut.layout) : MIG_LAYOUT_WHOLE;
        if (gpu->recut_milli > 0)
            return cannot(engine, "a GPU is being repartitioned", "");
        port_gpu_changed(&engine->port, gpu->node, index, layout, engine->now);
    }
    return ERROR_OK;
}

/* All pieces that it holds, or that it is about to hold. */
static struct piece *list_pieces(const struct sim_job *own, uint32_t *count)
{
    uint32_t all = own->pieces.piece_count;
    for (uint32_t c = 0; c < own->change_count; c++)
        all += own->changes[c].is_join ? own->changes[c].piece_count : 0;
    struct piece *pieces = mem_zalloc((size_t)all + 1, sizeof *pieces);
    memcpy(pieces, job_pieces_all(&own->pieces), own->pieces.piece_count * sizeof *pieces);
    *count = own->pieces.piece_count;
    for (uint32_t c = 0; c < own->change_count; c++)
        for (uint32_t p = 0; p < own->changes[c].piece_count && own->changes[c].is_join; p++)
            pieces[(*count)++] = own->changes[c].pieces[p];
    return pieces;
}

static void adopt_running(struct engine *engine, struct sim_job *own, const struct job *told)
{
    uint32_t count;
    struct piece *pieces = list_pieces(own, &count);
    port_tell(&engine->port, &(struct fact){.kind = FACT_JOB_ADOPTED,
                                            .now = engine->now,
                                            .id = told->id,
                                            .job = told,
                                            .pieces = pieces,
                                            .piece_count = count,
                                            .started = own->is_waiting ? engine->now : own->running_since});
    if (own->state == LIFE_LEAVING)
        port_tell(&engine->port,
                  &(struct fact){.kind = FACT_JOB_LEAVING, .now = engine->now, .id = told->id, .which = MEMBERS_ALL});
    mem_free(pieces);
}

/* The jobs that it waited for and that have ended did so as it asked: else it had been rejected. */
static void drop_ended(const struct engine *engine, struct job *told, struct job_after *after)
{
    uint16_t count = 0;
    for (uint32_t i = 0; i < told->after_count; i++)
        if (engine->slot_of[told->after[i].job] != UINT32_MAX)
            after[count++] = told->after[i];
    told->after = count > 0 ? after : NULL;
    told->after_count = count;
}

static struct error check_leaving(const struct engine *engine, const struct sim_job *own)
{
    for (uint32_t c = 0; c < own->change_count; c++)
        if (!own->changes[c].is_join)
            return cannot(engine, "some members of a job, but not all, are leaving their GPUs", "");
    return ERROR_OK;
}

struct error engine_adopt_job(struct engine *engine, uint32_t slot, const struct job *job)
{
    struct sim_job *own = &engine->jobs[slot];
    const uint64_t refused = sched_refused(engine->port.sched)->count;
    struct job room, told = *engine_told(engine, job, &room);
    TRY(check_leaving(engine, own));
    struct job_after *after = mem_zalloc((size_t)told.after_count + 1, sizeof *after);
    drop_ended(engine, &told, after);
    if (own->state == LIFE_HOLDING)
        own->stale_since = engine->now; /* the new policy makes it whole, or releases it */
    told.attained_gpu_ns = (int64_t)(own->row.held_milli_ns / GPU_MILLI);
    if (own->pieces.piece_count > 0 || own->change_count > 0)
        adopt_running(engine, own, &told);
    else
        port_job_submitted(&engine->port, &told, engine->now);
    mem_free(after);
    return check_taken(engine, refused, job);
}
