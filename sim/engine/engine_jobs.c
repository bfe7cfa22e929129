/* The lives of jobs: what submissions, decisions and events do to them. */
#include "sim/engine/engine_loop.h"
#include "sim/engine/engine_spent.h"
#include "sim/engine/engine_state.h"

_Static_assert((int)RECORD_SOURCE_COUNT == (int)SOURCE_COUNT, "record_source_names must name them all");

static uint32_t new_slot(struct engine *engine, job_id id)
{
    uint32_t slot;
    if (engine->slots.free_count > 0) {
        slot = engine->slots.free[--engine->slots.free_count];
    } else {
        MEM_GROW(engine->jobs, engine->job_capacity, (size_t)engine->job_used + 1);
        slot = engine->job_used++;
    }
    MEM_GROW(engine->slots.slot_of, engine->slots.slot_capacity, (size_t)id + 1);
    MEM_GROW(engine->slots.id_of, engine->slots.id_capacity, (size_t)slot + 1);
    engine->slots.slot_of[id] = slot;
    engine->slots.id_of[slot] = id;
    return slot;
}

static void free_slot(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    engine->slots.slot_of[job->row.id] = ENGINE_SLOT_NONE;
    mem_free((void *)(uintptr_t)job->row.name);
    job->row.name = NULL;
    job->generation++;
    job->tenure++;
    job->state = LIFE_NONE;
    if (engine->slots.free_count == engine->slots.free_capacity)
        MEM_GROW(engine->slots.free, engine->slots.free_capacity, (size_t)engine->slots.free_count + 1);
    engine->slots.free[engine->slots.free_count++] = slot;
}

static uint32_t submit(struct engine *engine, const struct job *job, const struct job_truth *truth)
{
    struct job room;
    uint32_t slot = new_slot(engine, job->id);
    engine_know(engine, slot, job, truth);
    if (slot < engine->before.capacity)
        engine->before.of[slot].mask = 0;
    struct sim_job *own = &engine->jobs[slot];
    engine_step(own, STEP_SUBMIT);
    engine->counts.submitted++;
    engine->counts.events++;
    if (engine->loop == NULL)
        offered_add(&engine->measured.offered, job, truth);
    if (engine->filling.is_on)
        engine->filling.milli += job_asked_milli(job, engine->config->cluster);
    engine_begin_wait(engine, own);
    engine_hash(engine, EVENT_SUBMIT, job->id);
    port_job_submitted(&engine->port, engine_told(engine, job, &room), engine->now);
    engine_want_cycle(engine, engine->now);
    return slot;
}

uint32_t engine_submit(struct engine *engine, const struct job *job, const struct job_truth *truth)
{
    if (!engine_silences(engine, job))
        return submit(engine, job, truth);
    struct job silent = *job;
    silent.communication = NULL;
    return submit(engine, &silent, truth);
}

/* Fill the row of a job that has ended, or that the end of the run cuts off. */
static void fill_end(struct sim_job *job, enum job_end_state state)
{
    job->row.state = (uint8_t)state;
    job->row.work = progress_reference(&job->progress, job->progress.work);
    job->row.evictions_wasted += job->owed; /* evictions that it made no use of */
    job->owed = 0;
}

static void finish_job(struct engine *engine, uint32_t slot, enum job_end_state state)
{
    struct sim_job *job = &engine->jobs[slot];
    fill_end(job, state);
    job->row.end = engine->now;
    if (engine->ended.is_on) {
        MEM_GROW(engine->ended.at, engine->ended.capacity, (size_t)job->row.id + 1);
        engine->ended.at[job->row.id] = engine->now;
    }
    if (engine->rows.wants_jobs)
        engine_emit_job(engine, job);
    const job_id id = job->row.id;
    free_slot(engine, slot);
    if (__builtin_expect(engine->loop != NULL, false))
        engine_loop_ended(engine, id);
}

/* Add what the job waited for before another policy took over. */
static void add_before(const struct engine *engine, uint32_t slot, struct wait_times *times)
{
    const struct wait_times *before = &engine->before.of[slot];
    for (uint32_t left = before->mask; left != 0; left &= left - 1)
        wait_times_add(times, (enum reason)__builtin_ctz(left), before->of[__builtin_ctz(left)]);
}

bool engine_waited(struct engine *engine, uint32_t slot, struct wait_times *times)
{
    const bool has_waited = port_waited(&engine->port, engine->jobs[slot].row.id, engine->now, times);
    if (slot >= engine->before.capacity || !engine->config->world.has_wait_times)
        return has_waited;
    if (!has_waited)
        times->mask = 0;
    add_before(engine, slot, times);
    return times->mask != 0;
}

/* For its row, before the scheduler forgets the job. */
static void engine_note_waits(struct engine *engine, struct sim_job *job)
{
    if ((job->is_waiting || job->row.wait_total > 0) &&
        engine_waited(engine, (uint32_t)(job - engine->jobs), &engine->rows.waits))
        job->row.waits = &engine->rows.waits;
}

/* The GPU time of a batch is measured until its last job has gone, so a row is written at that time. */
static void note_gone(struct engine *engine)
{
    engine->measured.last_end = engine->now;
    if (!engine->next.is_there && engine->counts.ended + engine->counts.rejected == engine->counts.submitted &&
        offered_is_batch(&engine->measured.offered))
        engine->samples.wants_row = true;
}

void engine_reject(struct engine *engine, uint32_t slot, enum reason reason)
{
    struct sim_job *job = &engine->jobs[slot];
    engine_end_wait(engine, job);
    engine_step(job, STEP_REJECT);
    engine->counts.rejected++;
    note_gone(engine);
    engine_hash(engine, 0x10, job->row.id);
    if (reason == REASON_QUEUE_FULL) {
        engine->result->queue_full++;
        engine_note_waits(engine, job);
        port_job_cancelled(&engine->port, job->row.id, engine->now);
    } else if (engine->port.decider != NULL) {
        engine->result->refused += reason != REASON_DEPENDENCY_NEVER;
    } else if (reason == REASON_NEVER_FITS) {
        engine->result->never_fits++;
    }
    job->row.reason = (uint8_t)reason;
    job->row.wait = job->row.wait_total = 0;
    finish_job(engine, slot, END_REJECTED);
}

/* ---- Decisions --------------------------------------------------------------------------------- */

static void push_change(struct engine *engine, uint32_t slot, const struct decision *decision, time_ns due)
{
    struct sim_job *job = &engine->jobs[slot];
    bool is_join = decision->kind == DECISION_START;
    struct piece *pieces = mem_zalloc(decision->piece_count, sizeof *pieces);
    for (uint32_t i = 0; i < decision->piece_count; i++)
        pieces[i] = decision->pieces[i];
    if (is_join)
        engine_level(engine, LEVEL_STARTING, pieces_gpu_milli(pieces, decision->piece_count));
    if (is_join)
        EACH_PART(engine, taken)(engine, pieces, decision->piece_count, 1);
    MEM_GROW(job->changes, job->change_capacity, (size_t)job->change_count + 1);
    job->changes[job->change_count++] = (struct sim_change){.due = due,
                                                            .decision = decision->id,
                                                            .pieces = pieces,
                                                            .piece_count = decision->piece_count,
                                                            .reason = (uint8_t)decision->reason,
                                                            .is_join = is_join,
                                                            .awaits_save = !is_join && job->phase == PHASE_LEAVE};
    event_queue_push(&engine->events, due, is_join ? EVENT_EFFECT : EVENT_EVICT, slot, job->tenure);
}

static void apply_start(struct engine *engine, uint32_t slot, const struct decision *decision)
{
    struct sim_job *job = &engine->jobs[slot];
    if (job->state == LIFE_PENDING)
        engine_step(job, STEP_START);
    if (job->row.start == TIME_NEVER && decision->source > job->row.source)
        job->row.source = (uint8_t)decision->source; /* if it starts in parts: the costliest source */
    job->owed = 0;
    for (uint32_t i = 0; i < decision->piece_count; i++)
        engine_hash(engine, 0x20, (uint64_t)decision->pieces[i].node << 16 | decision->pieces[i].gpu_mask);
    if (engine->config->world.decision_latency == 0)
        engine_join(engine, slot, decision->pieces, decision->piece_count, decision->id);
    else
        push_change(engine, slot, decision, engine->now + engine->config->world.decision_latency);
}

/* When the job leaves its space; how it uses its grace is told in sim/engine/engine.h. */
static time_ns leave_time(struct engine *engine, uint32_t slot, const struct decision *decision)
{
    struct sim_job *job = &engine->jobs[slot];
    const time_ns grace = decision->grace;
    time_ns at;
    for (const struct engine_part *const *part = engine->parts; *part != NULL; part++)
        if ((*part)->leaves != NULL && (*part)->leaves(engine, slot, decision, &at))
            return at;
    const struct checkpoint_plan *plan = &job->checkpoint;
    bool can_save = plan->interval > 0 || plan->duration > 0;
    if (job->is_waiting || !can_save || grace == 0)
        return engine->now;
    if (progress_is_frozen(&job->progress)) /* it writes a checkpoint already */
        return job->thaws_at < engine->now + grace ? job->thaws_at : engine->now + grace;
    if (plan->duration > grace)
        return engine->now + grace;
    /* It does not stop to write a checkpoint if it ends before that would be written.  If others then make it slower,
     * it has the rest of its grace to end. */
    if (progress_end(&job->progress) - engine->now <= plan->duration)
        return engine->now + grace;
    progress_freeze(&job->progress, engine->now);
    job->thaws_at = engine->now + plan->duration;
    job->generation++;
    engine_recount(engine, slot);
    return job->thaws_at;
}

/* Count the eviction against the preemptor until it starts. */
static void note_owed(struct engine *engine, job_id gainer)
{
    if (gainer != JOB_NONE && engine->slots.slot_of[gainer] != ENGINE_SLOT_NONE)
        engine->jobs[engine->slots.slot_of[gainer]].owed++;
}

static void apply_evict(struct engine *engine, uint32_t slot, const struct decision *decision)
{
    struct sim_job *job = &engine->jobs[slot];
    note_owed(engine, decision->for_job);
    engine_note_eviction(engine, decision);
    engine_hash(engine, EVENT_EVICT, job->row.id);
    time_ns leaves_at = leave_time(engine, slot, decision);
    if (decision->is_partial) {
        if (job->state == LIFE_LEAVING && job->leaves_at < leaves_at)
            leaves_at = job->leaves_at;
        push_change(engine, slot, decision, leaves_at);
        return;
    }
    engine_step(job, STEP_EVICT);
    engine_drop_changes(engine, job, true);
    job->evict_reason = (uint8_t)decision->reason;
    job->leaves_at = leaves_at;
    event_queue_push(&engine->events, leaves_at, EVENT_EVICT, slot, job->tenure);
}

/* The preemptor gives up its claim, so the evictions for it were wasted. */
static void apply_release(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    job->row.evictions_wasted += job->owed;
    job->owed = 0;
}

/* What a job waited for that the scheduler rejects. */
static void note_rejected(struct engine *engine, uint32_t slot, const struct wait_times *waited)
{
    if (slot < engine->before.capacity && waited != NULL) {
        engine->rows.waits = *waited;
        add_before(engine, slot, &engine->rows.waits);
        waited = &engine->rows.waits;
    }
    engine->jobs[slot].row.waits = waited != NULL && waited->mask != 0 ? waited : NULL;
}

void engine_apply(struct engine *engine, const struct decision *decision)
{
    uint32_t slot = engine->slots.slot_of[decision->job];
    if (decision->kind == DECISION_REPARTITION && (engine->needs & NEED_REPARTITION) == 0)
        engine_parts_need(engine, NEED_REPARTITION);
    EACH_PART(engine, decided)(engine, slot, decision);
    switch (decision->kind) {
    case DECISION_START:
        apply_start(engine, slot, decision);
        break;
    case DECISION_EVICT:
        apply_evict(engine, slot, decision);
        break;
    case DECISION_REJECT:
        note_rejected(engine, slot, decision->waited);
        engine_reject(engine, slot, decision->reason);
        break;
    case DECISION_NOTIFY: /* no user of this world reacts */
        engine_hash(engine, 0x30 + decision->kind, decision->job);
        break;
    case DECISION_RESERVE: /* nothing happens in the world; sched_count counts the space */
        engine->has_reserved = true;
        engine_hash(engine, 0x30 + decision->kind, decision->job);
        break;
    case DECISION_REPARTITION: /* it is of the part that has the GPUs */
        break;
    case DECISION_RELEASE:
        apply_release(engine, slot);
        engine_hash(engine, 0x30 + decision->kind, decision->job);
        break;
    }
}

/* ---- Events ------------------------------------------------------------------------------------ */

static void on_end(struct engine *engine, uint32_t slot)
{
    for (const struct engine_part *const *part = engine->parts; *part != NULL; part++)
        if ((*part)->strikes != NULL && (*part)->strikes(engine, slot))
            return;
    struct sim_job *job = &engine->jobs[slot];
    const wide_ns work = progress_work_at(&job->progress, engine->now);
    const bool is_done = progress_is_done(&job->progress, work);
    static const enum job_end_state ends[] = {END_COMPLETED, END_FAILED, END_CANCELLED};
    static const enum job_end told[] = {JOB_END_COMPLETED, JOB_END_FAILED, JOB_END_CANCELLED};
    engine_hash(engine, EVENT_END, job->row.id);
    engine->counts.ended++;
    note_gone(engine);
    engine_let_go(engine, slot, work);
    engine_step(job, STEP_END);
    engine_note_waits(engine, job);
    port_job_ended(&engine->port, job->row.id, is_done ? told[job->outcome] : JOB_END_LIMIT, false, engine->now);
    finish_job(engine, slot, is_done ? ends[job->outcome] : END_LIMIT);
}

static void on_evicted(struct engine *engine, uint32_t slot)
{
    const struct sim_job *job = &engine->jobs[slot];
    EACH_PART(engine, due)(engine, slot);
    if (job->state == LIFE_LEAVING && job->leaves_at <= engine->now) {
        engine_leave(engine, slot);
        return;
    }
    engine_shrink_due(engine, slot);
}

void engine_event(struct engine *engine, const struct event *event)
{
    const bool is_stale = engine_is_stale(engine, event);
    engine->counts.events += !is_stale || engine_is_of_parts(event);
    if (is_stale)
        return;
    switch (event_kind(event)) {
    case EVENT_END:
        on_end(engine, event->subject);
        break;
    case EVENT_EVICT:
        on_evicted(engine, event->subject);
        break;
    case EVENT_EFFECT:
        engine_join_due(engine, event->subject);
        break;
    default:
        engine_part_of(engine, event_kind(event))->event(engine, event);
        return; /* it wants its own cycle */
    }
    engine_want_cycle(engine, engine->now);
}

/* ---- The end of the run ------------------------------------------------------------------------ */

/* If a job that it depends on has not ended, it was never eligible. */
static time_ns eligible_by_now(const struct engine *engine, const struct sim_job *job)
{
    time_ns eligible = job->row.submit;
    for (uint32_t i = 0; i < job->after_count; i++) {
        job_id after = job->after[i].job;
        if (engine->slots.slot_of[after] != ENGINE_SLOT_NONE)
            return TIME_NEVER;
        if (engine->ended.at[after] > eligible)
            eligible = engine->ended.at[after];
    }
    return eligible;
}

static void close_waiting(struct engine *engine, struct sim_job *job)
{
    job->row.wait_total += engine->now - job->waiting_since;
    job->waiting_since = engine->now;
    job->row.reason = (uint8_t)port_why(&engine->port, job->row.id);
    if (job->row.start != TIME_NEVER)
        return;
    job->row.eligible = eligible_by_now(engine, job);
    job->row.wait = job->row.eligible != TIME_NEVER ? engine->now - job->row.eligible : 0;
}

void engine_close(struct engine *engine)
{
    const job_id id_count = engine_id_count(engine);
    for (job_id id = 0; id < id_count; id++) {
        if (engine->slots.slot_of[id] == ENGINE_SLOT_NONE)
            continue;
        struct sim_job *job = &engine->jobs[engine->slots.slot_of[id]];
        engine_close_job(engine, job);
        if (job->is_waiting)
            close_waiting(engine, job);
        fill_end(job, job->is_waiting ? END_PENDING : END_RUNNING);
        engine_note_waits(engine, job);
        if (engine->rows.wants_jobs)
            engine_emit_job(engine, job);
    }
}
