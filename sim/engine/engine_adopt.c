/* Another policy takes over at a moment; see sim/engine/engine.h.
 *
 * STARTs of the old policy that are on their way take effect now: the new scheduler knows none of its decisions, and
 * may evict what they start.  Then it is told of what there is by the facts that a live adaptor would use.  Each fact
 * is tested: what the new policy cannot take over ends the run. */
#include "sim/engine/engine_gpus.h"
#include "sim/engine/engine_loop.h"
#include "sim/engine/engine_nodes.h"
#include "sim/engine/engine_state.h"

static struct error cannot(const struct engine *engine, const char *what, const char *why)
{
    struct error error = error_new(ERROR_CONFIG, "the policy '%s' cannot take over at this moment: %s%s",
                                   engine->policy->name, what, why);
    error_set_hint(&error, "fork at another moment");
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

static struct error adopt_gpus(struct engine *engine)
{
    const struct cluster *cluster = engine->config->cluster;
    const struct sim_gpu *gpus = engine_gpus_cut(engine);
    for (gpu_id g = 0; gpus != NULL && g < cluster->gpu_count; g++) {
        const struct sim_gpu *gpu = &gpus[g];
        const uint32_t index = g - cluster->nodes[gpu->node].first_gpu;
        const mig_layout_id layout = gpu->cut.is_partitioned ? mig_layout_of(&gpu->cut.layout) : MIG_LAYOUT_WHOLE;
        if (gpu->recut_milli > 0)
            return cannot(engine, "a GPU is being repartitioned", "");
        port_gpu_changed(&engine->port, gpu->node, index, layout, engine->now);
    }
    return ERROR_OK;
}

static void adopt_running(struct engine *engine, const struct sim_job *own, const struct job *told)
{
    port_tell(&engine->port, &(struct fact){.kind = FACT_JOB_ADOPTED,
                                            .now = engine->now,
                                            .id = told->id,
                                            .job = told,
                                            .pieces = job_pieces_all(&own->pieces),
                                            .piece_count = own->pieces.piece_count,
                                            .started = own->is_waiting ? engine->now : own->running_since});
    if (own->state == LIFE_LEAVING)
        port_tell(&engine->port,
                  &(struct fact){.kind = FACT_JOB_LEAVING, .now = engine->now, .id = told->id, .which = MEMBERS_ALL});
}

/* The jobs that it waited for and that have ended did so as it asked: else it had been rejected. */
static void drop_ended(const struct engine *engine, struct job *told, struct job_after *after)
{
    uint16_t count = 0;
    for (uint32_t i = 0; i < told->after_count; i++)
        if (engine->slots.slot_of[told->after[i].job] != UINT32_MAX)
            after[count++] = told->after[i];
    told->after = count > 0 ? after : NULL;
    told->after_count = count;
}

static struct error adopt_job(struct engine *engine, uint32_t slot, const struct job *job)
{
    struct sim_job *own = &engine->jobs[slot];
    const uint64_t refused = sched_refused(engine->port.sched)->count;
    struct job room, told = *engine_told(engine, job, &room);
    if (own->change_count > 0) /* the joins have been made */
        return cannot(engine, "some members of a job, but not all, are leaving their GPUs", "");
    struct job_after *after = mem_zalloc((size_t)told.after_count + 1, sizeof *after);
    drop_ended(engine, &told, after);
    if (own->state == LIFE_HOLDING)
        own->stale_since = engine->now; /* the new policy makes it whole, or releases it */
    own->stale_after = engine_stale_after(engine, job);
    told.attained_gpu_ns = (int64_t)(own->row.held_milli_ns / GPU_MILLI);
    if (own->pieces.piece_count > 0)
        adopt_running(engine, own, &told);
    else
        port_job_submitted(&engine->port, &told, engine->now);
    mem_free(after);
    return check_taken(engine, refused, job);
}

static void adopt_nodes(struct engine *engine)
{
    const struct engine_nodes *nodes = engine_nodes_of(engine);
    for (node_id n = 0; nodes != NULL && n < engine->config->cluster->node_count; n++)
        if (nodes->of[n].state != NODE_UP)
            port_node_changed(&engine->port, n, (enum node_state)nodes->of[n].state, engine->now);
}

static void join_all(struct engine *engine)
{
    for (uint32_t slot = 0; slot < engine->job_used; slot++) {
        struct sim_job *own = &engine->jobs[slot];
        for (uint32_t c = 0; c < own->change_count; c++)
            if (own->changes[c].is_join)
                own->changes[c].due = engine->now;
        engine_join_due(engine, slot);
    }
}

/* Keep what each job waited for so far.  Another program does not tell it. */
static void keep_waits(struct engine *engine)
{
    struct wait_times *before = mem_zalloc((size_t)engine->job_used + 1, sizeof *before);
    for (uint32_t slot = 0; slot < engine->job_used; slot++) {
        const struct sim_job *own = &engine->jobs[slot];
        if (own->state == LIFE_NONE || !engine->config->world.has_wait_times)
            continue;
        if (engine->port.sched != NULL)
            engine_waited(engine, slot, &before[slot]);
        else
            wait_times_add(&before[slot], REASON_SCHEDULING,
                           own->row.wait_total + (own->is_waiting ? engine->now - own->waiting_since : 0));
    }
    mem_free(engine->before.of);
    engine->before.of = before;
    engine->before.capacity = (size_t)engine->job_used + 1;
}

/* The declarations of the jobs that wait or run, in the order of their submission, from the same source again. */
static struct error adopt_jobs(struct engine *engine, struct job_source *source)
{
    const job_id id_count = engine_id_count(engine);
    for (job_id id = 0; id < id_count; id++) {
        struct job job;
        struct job_truth truth;
        bool has = true;
        if (engine->loop != NULL && !engine_loop_submitted(engine, id, &job, &truth))
            continue;
        if (engine->loop == NULL)
            TRY(job_source_next(source, &job, &truth, &has));
        if (!has || job.submit > engine->now)
            return error_new(ERROR_DATA, "the workload has changed since the run began");
        if (engine->slots.slot_of[id] == ENGINE_SLOT_NONE)
            continue;
        if (engine_silences(engine, &job))
            job.communication = NULL;
        TRY(adopt_job(engine, engine->slots.slot_of[id], &job));
    }
    return ERROR_OK;
}

struct error engine_adopt(struct engine *engine, const struct engine_policy *policy, struct job_source *source)
{
    assert(engine->config->listener == NULL);
    join_all(engine);
    keep_waits(engine);
    TRY(engine_open_sched(engine, policy, NULL));
    EACH_PART(engine, adopted)(engine);
    TRY(adopt_gpus(engine));
    TRY(adopt_jobs(engine, source));
    adopt_nodes(engine);
    engine_want_cycle(engine, engine->now);
    return ERROR_OK;
}
