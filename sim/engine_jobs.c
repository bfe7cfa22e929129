/* The lives of jobs: what submissions, decisions and events do to them. */
#include <assert.h>

#include "sim/engine_state.h"

#define SLOT_NONE UINT32_MAX

static void step(struct sim_job *job, enum life_step what)
{
    enum life_state next = life_next((enum life_state)job->state, what);
    assert(next != LIFE_NONE);
    job->state = (uint8_t)next;
}

static uint32_t new_slot(struct engine *engine, job_id id)
{
    uint32_t slot;
    if (engine->free_count > 0) {
        slot = engine->free_slots[--engine->free_count];
    } else {
        MEM_GROW(engine->jobs, engine->job_capacity, (size_t)engine->job_used + 1);
        slot = engine->job_used++;
    }
    MEM_GROW(engine->slot_of, engine->slot_capacity, (size_t)id + 1);
    engine->slot_of[id] = slot;
    return slot;
}

static void free_slot(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    engine->slot_of[job->row.id] = SLOT_NONE;
    mem_free((void *)(uintptr_t)job->row.name);
    job->row.name = NULL;
    job->generation++;
    job->state = LIFE_NONE;
    MEM_GROW(engine->free_slots, engine->free_capacity, (size_t)engine->free_count + 1);
    engine->free_slots[engine->free_count++] = slot;
}

static uint32_t members_of(const struct job *job, bool minimum)
{
    uint32_t members = 0;
    for (uint32_t g = 0; g < job->group_count; g++)
        members += minimum ? job_group(job, g)->min_count : job_group(job, g)->count;
    return members;
}

/* Of all members; job_gpu_milli counts those that must run together. */
static int64_t asked_milli(const struct job *job)
{
    int64_t milli = 0;
    for (uint32_t g = 0; g < job->group_count; g++)
        milli += request_gpu_milli(&job_group(job, g)->request, NULL) * job_group(job, g)->count;
    return milli;
}

static bool is_exact(const struct job *job)
{
    for (uint32_t g = 0; g < job->group_count; g++)
        if (job_group(job, g)->request.gpu_memory_mib != 0 || job_group(job, g)->request.mig != 0)
            return false;
    return true;
}

static char *own_name(const struct job *job)
{
    return job->name != NULL ? mem_copy_text(job->name) : NULL;
}

static void fill_row(struct engine *engine, struct job_row *row, const struct job *job,
                     const struct job_truth *truth)
{
    const struct job_source *source = engine->config->source;
    const struct queue_table *queues = job_source_queues(engine->config->source);
    *row = (struct job_row){
        .id = job->id,
        .name = own_name(job),
        .queue = queues->queues[job->queue].name,
        .user = job->user != NAMES_NONE ? names_text(job_source_users(source), job->user) : "",
        .class = job->class,
        .priority = job->priority,
        .gpu_milli = asked_milli(job),
        .members = members_of(job, false),
        .model = 255,
        .submit = job->submit,
        .eligible = job->submit,
        .start = TIME_NEVER,
        .end = TIME_NEVER,
        .work_asked = truth->duration,
        .sm_active_milli = truth->sm_active_milli,
        .is_counted = job->submit >= engine->config->world.warmup};
}

/* Field by field: the slot keeps the storage of its pieces and its generation. */
static void fill_job(struct engine *engine, struct sim_job *own, const struct job *job,
                     const struct job_truth *truth)
{
    fill_row(engine, &own->row, job, truth);
    own->truth = *truth;
    own->checkpoint = job->checkpoint;
    own->trace_id = job->trace_id;
    own->is_exact = is_exact(job);
    own->asked_milli = own->row.gpu_milli;
    own->limit = job->limit;
    own->min_members = members_of(job, true);
    own->waiting_since = job->submit;
    own->attempt_start = own->attempt_restart = own->saved = 0;
    own->frozen_at = TIME_NEVER;
    own->piece_count = 0;
    own->attempts = 0;
    own->state = LIFE_NONE;
    own->evict_reason = REASON_NONE;
}

static void begin_wait(struct engine *engine, struct sim_job *job)
{
    job->waiting_since = engine->now;
    engine_level(engine, LEVEL_PENDING, 1);
    engine_level(engine, LEVEL_PENDING_GPU, job->asked_milli);
}

static void end_wait(struct engine *engine, struct sim_job *job)
{
    job->row.wait_total += engine->now - job->waiting_since;
    engine_level(engine, LEVEL_PENDING, -1);
    engine_level(engine, LEVEL_PENDING_GPU, -job->asked_milli);
}

uint32_t engine_submit(struct engine *engine, const struct job *job, const struct job_truth *truth)
{
    uint32_t slot = new_slot(engine, job->id);
    struct sim_job *own = &engine->jobs[slot];
    fill_job(engine, own, job, truth);
    step(own, STEP_SUBMIT);
    engine->submitted++;
    engine->event_count++;
    begin_wait(engine, own);
    engine_hash(engine, EVENT_SUBMIT, job->id);
    sched_job_submitted(engine->sched, job, engine->now);
    engine_want_cycle(engine, engine->now);
    return slot;
}

static void finish_job(struct engine *engine, uint32_t slot, enum job_end_state state)
{
    struct sim_job *job = &engine->jobs[slot];
    job->row.state = (uint8_t)state;
    job->row.end = engine->now;
    job->row.work = job->saved;
    if (engine->wants_jobs)
        engine_emit_job(engine, job);
    free_slot(engine, slot);
}

void engine_reject(struct engine *engine, uint32_t slot, enum reason reason)
{
    struct sim_job *job = &engine->jobs[slot];
    end_wait(engine, job);
    step(job, STEP_REJECT);
    engine->rejected++;
    engine_hash(engine, 0x10, job->row.id);
    if (reason == REASON_QUEUE_FULL) {
        engine->result->queue_full++;
        sched_job_cancelled(engine->sched, job->row.id, engine->now);
    } else {
        engine->result->never_fits++;
    }
    job->row.reason = (uint8_t)reason;
    job->row.wait = job->row.wait_total = 0;
    finish_job(engine, slot, END_REJECTED);
}

static int64_t active_of(const struct sim_job *job)
{
    return job->row.sm_active_milli == SM_ACTIVE_UNKNOWN
               ? 0
               : job->row.gpu_milli * job->row.sm_active_milli;
}

static void hold_gpus(struct engine *engine, const struct sim_job *job, int sign)
{
    uint32_t members = 0;
    for (uint32_t i = 0; i < job->piece_count; i++)
        members += job->pieces[i].member_count;
    engine_level(engine, LEVEL_RUNNING, sign);
    engine_level(engine, LEVEL_ALLOCATED, sign * job->row.gpu_milli);
    engine_level(engine, LEVEL_ACTIVE, sign * active_of(job));
    if (members < job->min_members)
        engine_level(engine, LEVEL_PARTIAL, sign * job->row.gpu_milli);
}

/* Time x GPUs, in GPU-nanoseconds; the product alone may pass 64 bits. */
static int64_t gpu_time(const struct sim_job *job, time_ns time)
{
    return (int64_t)((__int128)time * job->row.gpu_milli / GPU_MILLI);
}

/* Time lost in coming back, of an attempt that ran until `at`. */
static time_ns restart_until(const struct sim_job *job, time_ns at)
{
    time_ns ran = at - job->attempt_start;
    return ran < job->attempt_restart ? ran : job->attempt_restart;
}

static void charge_overhead(struct sim_job *job, time_ns time)
{
    job->row.overhead_gpu_ns += gpu_time(job, time);
    job->row.lost_gpu_ns += gpu_time(job, time);
}

/* What its pieces hold: of a job that asks memory this is known only now, and differs by model. */
static int64_t held_milli(const struct sim_job *job)
{
    int64_t held = 0;
    for (uint32_t i = 0; i < job->piece_count; i++)
        held += (int64_t)__builtin_popcount(job->pieces[i].gpu_mask) * job->pieces[i].gpu_milli;
    return held;
}

/* Reference work done by `at` in this attempt, earlier ones included. */
static time_ns work_at(const struct sim_job *job, time_ns at)
{
    time_ns worked = at - job->attempt_start - job->attempt_restart;
    time_ns work = job->saved + (worked > 0 ? worked : 0);
    return work < job->truth.duration ? work : job->truth.duration;
}

static void begin_attempt(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    end_wait(engine, job);
    step(job, STEP_EFFECT);
    engine->started++;
    if (job->row.start == TIME_NEVER) {
        job->row.start = engine->now;
        job->row.wait = engine->now - job->row.submit;
    }
    job->row.model = cluster_node_type(engine->config->cluster, job->pieces[0].node)->model;
    job->row.gpu_milli = held_milli(job);
    job->attempt_start = engine->now;
    job->attempt_restart = job->row.evictions > 0 ? job->checkpoint.restart : 0;
    job->frozen_at = TIME_NEVER;
    time_ns run = job->attempt_restart + job->truth.duration - job->saved;
    if (engine->config->world.kills_at_limit && run > job->limit)
        run = job->limit;
    event_queue_push(&engine->events, engine->now + run, EVENT_END, slot, job->generation);
    hold_gpus(engine, job, 1);
    if (engine->config->is_checked)
        engine_check_take(engine, job);
    engine_hash(engine, EVENT_EFFECT, job->row.id);
    sched_job_started(engine->sched, job->row.id, engine->now);
}

static void apply_start(struct engine *engine, uint32_t slot, const struct decision *decision)
{
    struct sim_job *job = &engine->jobs[slot];
    step(job, STEP_START);
    MEM_GROW(job->pieces, job->piece_capacity, (size_t)decision->piece_count);
    job->piece_count = decision->piece_count;
    for (uint32_t i = 0; i < decision->piece_count; i++) {
        job->pieces[i] = decision->pieces[i];
        engine_hash(engine, 0x20,
                    (uint64_t)decision->pieces[i].node << 16 | decision->pieces[i].gpu_mask);
    }
    if (engine->config->world.decision_latency == 0)
        begin_attempt(engine, slot);
    else
        event_queue_push(&engine->events, engine->now + engine->config->world.decision_latency,
                         EVENT_EFFECT, slot, job->generation);
}

/* The victim of an eviction decides what to do with its grace; see sim/engine.h. */
static void apply_evict(struct engine *engine, uint32_t slot, const struct decision *decision)
{
    struct sim_job *job = &engine->jobs[slot];
    const struct checkpoint_plan *plan = &job->checkpoint;
    bool can_save = plan->interval > 0 || plan->duration > 0;
    time_ns leaves_at = engine->now;
    step(job, STEP_EVICT);
    job->evict_reason = (uint8_t)decision->reason;
    engine_hash(engine, EVENT_EVICT, job->row.id);
    if (can_save && plan->duration <= decision->grace) {
        leaves_at += plan->duration;
        if (job->truth.duration - work_at(job, engine->now) > plan->duration) {
            job->frozen_at = engine->now; /* else it is done before the checkpoint would be */
            job->generation++;
        }
    } else if (can_save) {
        leaves_at += decision->grace;
    }
    event_queue_push(&engine->events, leaves_at, EVENT_EVICT, slot, job->generation);
}

void engine_apply(struct engine *engine, const struct decision *decision)
{
    uint32_t slot = engine->slot_of[decision->job];
    switch (decision->kind) {
    case DECISION_START:
        apply_start(engine, slot, decision);
        break;
    case DECISION_EVICT:
        apply_evict(engine, slot, decision);
        break;
    case DECISION_REJECT:
        engine_reject(engine, slot, decision->reason);
        break;
    case DECISION_RESERVE: /* the space shows in sched_count; nothing happens in the world */
        engine->has_reserved = true;
        engine_hash(engine, 0x30 + decision->kind, decision->job);
        break;
    case DECISION_RELEASE:
        engine_hash(engine, 0x30 + decision->kind, decision->job);
        break;
    }
}

static void end_attempt(struct engine *engine, struct sim_job *job, enum attempt_end why,
                        time_ns saved, time_ns lost)
{
    hold_gpus(engine, job, -1);
    if (engine->config->is_checked)
        engine_check_give(engine, job);
    job->row.run += engine->now - job->attempt_start;
    if (engine->wants_attempts)
        engine_emit_attempt(engine, job, why, saved, lost);
    job->attempts++;
    job->generation++;
}

static void on_end(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    time_ns work = work_at(job, engine->now);
    bool is_done = work >= job->truth.duration;
    static const enum job_end_state ends[] = {END_COMPLETED, END_FAILED, END_CANCELLED};
    static const enum job_end told[] = {JOB_END_COMPLETED, JOB_END_FAILED, JOB_END_CANCELLED};
    charge_overhead(job, restart_until(job, engine->now));
    step(job, STEP_END);
    engine->ended++;
    engine_hash(engine, EVENT_END, job->row.id);
    end_attempt(engine, job, ATTEMPT_ENDED, work - job->saved, 0);
    job->saved = work;
    sched_job_ended(engine->sched, job->row.id, is_done ? told[job->truth.outcome] : JOB_END_LIMIT,
                    false, engine->now);
    finish_job(engine, slot, is_done ? ends[job->truth.outcome] : END_LIMIT);
}

/* Reference work that survives if the job leaves now. */
static time_ns kept_work(const struct sim_job *job, time_ns now)
{
    if (job->frozen_at != TIME_NEVER)
        return work_at(job, job->frozen_at);
    if (job->checkpoint.interval == 0)
        return job->saved;
    time_ns kept = work_at(job, now) / job->checkpoint.interval * job->checkpoint.interval;
    return kept > job->saved ? kept : job->saved;
}

static void on_evicted(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    time_ns kept = kept_work(job, engine->now);
    time_ns stopped = job->frozen_at != TIME_NEVER ? job->frozen_at : engine->now;
    time_ns lost = work_at(job, stopped) - kept;
    /* Overhead: the restart as far as it got, and the time spent writing the checkpoint. */
    time_ns overhead = restart_until(job, stopped) + engine->now - stopped;
    step(job, STEP_LEFT);
    engine->evicted++;
    engine_hash(engine, EVENT_EVICT + 0x40, job->row.id);
    charge_overhead(job, overhead);
    job->row.lost_gpu_ns += gpu_time(job, lost);
    end_attempt(engine, job, ATTEMPT_EVICTED, kept - job->saved, lost);
    bool is_saved = job->frozen_at != TIME_NEVER;
    job->saved = kept;
    job->row.evictions++;
    job->frozen_at = TIME_NEVER;
    begin_wait(engine, job);
    sched_job_evicted(engine->sched, job->row.id, is_saved ? EVICT_SAVED : EVICT_LOST, engine->now);
}

void engine_event(struct engine *engine, const struct event *event)
{
    if (engine->jobs[event->subject].generation != event->generation)
        return; /* cancelled */
    engine->event_count++;
    switch (event_kind(event)) {
    case EVENT_END:
        on_end(engine, event->subject);
        engine_want_cycle(engine, engine->now);
        break;
    case EVENT_EVICT:
        on_evicted(engine, event->subject);
        engine_want_cycle(engine, engine->now);
        break;
    case EVENT_EFFECT:
        begin_attempt(engine, event->subject);
        engine_want_cycle(engine, engine->now);
        break;
    default:
        assert(false && "an event of a kind that is never pushed");
    }
}

static void close_running(struct engine *engine, struct sim_job *job)
{
    time_ns worked_until = job->frozen_at != TIME_NEVER ? job->frozen_at : engine->now;
    time_ns work = work_at(job, worked_until);
    charge_overhead(job, restart_until(job, worked_until) + engine->now - worked_until);
    job->row.run += engine->now - job->attempt_start;
    if (engine->wants_attempts)
        engine_emit_attempt(engine, job, ATTEMPT_UNFINISHED, work - job->saved, 0);
    job->row.work = work;
    job->row.state = END_RUNNING;
}

static void close_waiting(struct engine *engine, struct sim_job *job)
{
    job->row.wait_total += engine->now - job->waiting_since;
    job->row.reason = (uint8_t)sched_why(engine->sched, job->row.id);
    job->row.work = job->saved;
    job->row.state = END_PENDING;
    if (job->row.start == TIME_NEVER)
        job->row.wait = engine->now - job->row.submit;
}

void engine_close(struct engine *engine)
{
    uint32_t id_count = (uint32_t)engine->submitted;
    for (job_id id = 0; id < id_count; id++) {
        if (engine->slot_of[id] == SLOT_NONE)
            continue;
        struct sim_job *job = &engine->jobs[engine->slot_of[id]];
        if (job->state == LIFE_RUNNING || job->state == LIFE_LEAVING)
            close_running(engine, job);
        else
            close_waiting(engine, job);
        if (engine->wants_jobs)
            engine_emit_job(engine, job);
    }
}
