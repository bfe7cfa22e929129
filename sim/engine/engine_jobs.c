/* The lives of jobs: what submissions, decisions and events do to them. */
#include "sim/engine/engine_activity.h"
#include "sim/engine/engine_monitor.h"
#include "sim/engine/engine_pulls.h"
#include "sim/engine/engine_saves.h"
#include "sim/engine/engine_spent.h"
#include "sim/engine/engine_state.h"
#include "topologies/communication.h"

#define ENGINE_SLOT_NONE UINT32_MAX

_Static_assert((int)RECORD_SOURCE_COUNT == (int)SOURCE_COUNT, "record_source_names must name them all");

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
    MEM_GROW(engine->id_of, engine->id_capacity, (size_t)slot + 1);
    engine->slot_of[id] = slot;
    engine->id_of[slot] = id;
    return slot;
}

static void free_slot(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    engine->slot_of[job->row.id] = ENGINE_SLOT_NONE;
    mem_free((void *)(uintptr_t)job->row.name);
    job->row.name = NULL;
    job->generation++;
    job->tenure++;
    job->state = LIFE_NONE;
    if (engine->free_count == engine->free_capacity)
        MEM_GROW(engine->free_slots, engine->free_capacity, (size_t)engine->free_count + 1);
    engine->free_slots[engine->free_count++] = slot;
}

/* The GPUs that all members ask for, and whether the job gets exactly these on any GPU model. */
static void fill_asked(struct sim_job *own, const struct job *job)
{
    own->asked_milli = 0;
    own->is_exact = true;
    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct job_group *group = job_group(job, g);
        own->asked_milli += request_gpu_milli(&group->request, NULL) * group->count;
        own->is_exact &= group->request.gpu_memory_mib == 0 && group->request.mig == 0;
    }
}

/* The pieces that its groups get in place of those that they ask for. */
static void map_pieces(const struct engine *engine, const struct job *job, struct job_group *groups)
{
    const struct policy_config *policy = engine->config->policy;
    if (policy == NULL || policy->sharing->map == NULL) {
        for (uint32_t g = 0; g < job->group_count; g++)
            groups[g] = *job_group(job, g);
        return;
    }
    const struct sharing sharing = {.policy = policy->sharing,
                                    .config = &policy->sharing_config,
                                    .cluster = engine->config->cluster,
                                    .queues = job_source_queues(engine->config->source),
                                    .recuts = policy->geometry->score != NULL};
    sharing_map(&sharing, job, groups);
}

/* The mean SM activity of the pieces that the job gets.  The trace has that of the requested ones: on another kind of
 * piece a job keeps as many SMs busy, at most all of the piece. */
static uint16_t activity(const struct engine *engine, const struct job *job, const struct job_truth *truth,
                         const struct job_group *groups)
{
    int64_t asked = 0, held = 0;
    if (truth->sm_active_milli == SM_ACTIVE_UNKNOWN)
        return truth->sm_active_milli;
    for (uint32_t g = 0; g < job->group_count; g++) {
        asked += engine_member_milli(engine, &job_group(job, g)->request) * job_group(job, g)->count;
        held += engine_member_milli(engine, &groups[g].request) * groups[g].count;
    }
    if (held == 0 || held == asked)
        return truth->sm_active_milli;
    const int64_t milli = (truth->sm_active_milli * asked + held / 2) / held;
    return (uint16_t)(milli < GPU_MILLI ? milli : GPU_MILLI);
}

static char *own_name(const struct job *job)
{
    return job->name != NULL ? mem_copy_text(job->name) : NULL;
}

/* Every field is named, so that none is written twice. */
static void fill_row(struct engine *engine, struct sim_job *own, const struct job *job, const struct job_truth *truth)
{
    const struct job_source *source = engine->config->source;
    const struct queue_table *queues = job_source_queues(engine->config->source);
    own->row =
        (struct job_row){.id = job->id,
                         .name = own_name(job),
                         .queue = queues->queues[job->queue].name,
                         .user = job->user != NAMES_NONE ? names_text(job_source_users(source), job->user) : "",
                         .class = job->class,
                         .workload_class = truth->workload_class == 0
                                               ? job_class_name(job->class)
                                               : names_text(job_source_classes(source), truth->workload_class - 1u),
                         .priority = job->priority,
                         .gpu_milli = own->asked_milli,
                         .members = own->pieces.member_count,
                         .model = engine_asked_model(engine->config->cluster, job),
                         .submit = job->submit,
                         .eligible = job->submit,
                         .start = TIME_NEVER,
                         .end = TIME_NEVER,
                         .state = 0,
                         .reason = 0,
                         .wait = 0,
                         .wait_total = 0,
                         .run = 0,
                         .work = 0,
                         .work_asked = truth->duration,
                         .evictions = 0,
                         .lost_gpu_ns = 0,
                         .overhead_gpu_ns = 0,
                         .sm_active_milli = truth->sm_active_milli,
                         .is_counted = job->submit >= engine->config->world.warmup,
                         .source = 0,
                         .resizes = 0,
                         .held_gpu_us = 0,
                         .preempted_gpu_ns = 0,
                         .lost = NULL,
                         .pulls = NULL,
                         .evictions_wasted = 0,
                         .communication = job->communication != NULL ? communication_name(job->communication) : "",
                         .exposed_gpu_us = 0,
                         .slowed_gpu_us = 0,
                         .network_gpu_us = 0,
                         .network_bytes_per_s = 0,
                         .planned_gpu_us = 0,
                         .mfu_micro = 0,
                         .activity = NULL,
                         .active_gpu_us = 0,
                         .idle_held_gpu_us = 0,
                         .faults = NULL,
                         .idle = NULL,
                         .waits = NULL};
}

/* Copy its dependencies.  From the first job with dependencies on, the ends of jobs are remembered. */
static void fill_after(struct engine *engine, struct sim_job *own, const struct job *job)
{
    own->after_count = job->after_count;
    if (job->after_count == 0)
        return;
    engine->has_dependencies = true;
    MEM_GROW(engine->ended_at, engine->ended_capacity, (size_t)job->id + 1);
    MEM_GROW(own->after, own->after_capacity, (size_t)job->after_count);
    for (uint32_t i = 0; i < job->after_count; i++) {
        assert(job->after[i].job < job->id);
        own->after[i] = job->after[i];
    }
}

/* Field by field: the slot keeps its storage, its generation and its tenure. */
static void fill_job(struct engine *engine, struct sim_job *own, const struct job *job, const struct job_truth *truth)
{
    job_pieces_plan(&own->pieces, job);
    engine_check_asks(engine, own, job);
    fill_asked(own, job);
    fill_row(engine, own, job, truth);
    fill_after(engine, own, job);
    own->checkpoint = job->checkpoint;
    own->progress = progress_new(truth->duration, own->pieces.member_count, 1);
    own->outcome = truth->outcome;
    own->trace_id = job->trace_id;
    own->held_milli = 0;
    own->held_milli_ns = 0;
    own->limit = job->limit;
    own->running_since = own->leaves_at = own->thaws_at = 0;
    own->stale_since = TIME_NEVER;
    own->stale_after = job->stale_after;
    if (own->stale_after == JOB_AS_QUEUE)
        own->stale_after = queue_table_stale_after(job_source_queues(engine->config->source), job->queue,
                                                   engine->config->policy->stale_after);
    own->change_count = 0;
    own->attempts = 0;
    own->owed = 0;
    own->state = LIFE_NONE;
    own->evict_reason = REASON_NONE;
}

/* A sharing policy may give it pieces other than it asks for. */
static void fill_pieces(struct engine *engine, uint32_t slot, const struct job *job, const struct job_truth *truth)
{
    struct job_group groups[JOB_GROUPS_MAX];
    map_pieces(engine, job, groups);
    for (uint32_t g = 0; g < job->group_count; g++)
        engine->jobs[slot].is_exact &= request_is_same(&groups[g].request, &job_group(job, g)->request);
    engine->jobs[slot].row.sm_active_milli = activity(engine, job, truth, groups);
    if (engine_has_paces(engine, job))
        engine_pace_asks(engine, slot, job, truth, groups);
    if (engine->config->world.activity.count > 0)
        engine_activity_asks(engine, slot, job, groups);
}

/* It gets the pieces that it asks for. */
static void fill_as_asked(struct engine *engine, uint32_t slot, const struct job *job, const struct job_truth *truth)
{
    struct job_group groups[JOB_GROUPS_MAX];
    if (engine->config->world.activity.count > 0)
        engine_activity_asks(engine, slot, job, NULL);
    if (!engine_has_paces(engine, job))
        return;
    map_pieces(engine, job, groups);
    engine_pace_asks(engine, slot, job, truth, groups);
}

static void fill_faults(struct engine *engine, uint32_t slot, const struct job *job)
{
    struct job_group groups[JOB_GROUPS_MAX];
    map_pieces(engine, job, groups);
    engine_fault_asks(engine, slot, job, groups);
}

/* With the run time that the submitter declares, or an estimate by the world's setting; with the checkpoint plan of the
 * world, if it has them. */
const struct job *engine_told(const struct engine *engine, const struct job *job, const struct job_truth *truth,
                              struct job *room)
{
    const struct estimates *estimates = &engine->config->world.estimates;
    if (estimates->kind == ESTIMATES_AS_DECLARED && !engine_has_phases(engine))
        return job;
    *room = *job;
    if (estimates->kind != ESTIMATES_AS_DECLARED)
        room->estimate = estimates_make(estimates, engine->config->seed, job->id, truth->duration, job->estimate);
    room->checkpoint = engine->jobs[engine->slot_of[job->id]].checkpoint;
    if (engine->pulls != NULL)
        room->objects = engine_pulls_objects(engine, engine->slot_of[job->id]);
    return room;
}

static inline void know(struct engine *engine, uint32_t slot, const struct job *job, const struct job_truth *truth)
{
    fill_job(engine, &engine->jobs[slot], job, truth);
    const struct policy_config *policy = engine->config->policy;
    if (policy != NULL && policy->sharing->map != NULL)
        fill_pieces(engine, slot, job, truth);
    else
        fill_as_asked(engine, slot, job, truth);
    if (engine->has_faults)
        fill_faults(engine, slot, job);
    if (engine_has_phases(engine))
        engine_saves_asks(engine, slot, job, truth);
    if (engine->spendings != NULL)
        engine_spent_asks(engine, slot);
    if (engine->monitor != NULL)
        engine_monitor_asks(engine, slot);
}

static uint32_t submit(struct engine *engine, const struct job *job, const struct job_truth *truth)
{
    struct job room;
    uint32_t slot = new_slot(engine, job->id);
    know(engine, slot, job, truth);
    if (slot < engine->before_capacity)
        engine->before[slot].mask = 0;
    struct sim_job *own = &engine->jobs[slot];
    engine_step(own, STEP_SUBMIT);
    engine->submitted++;
    engine->event_count++;
    if (engine->is_filling)
        engine->arrived_milli += job_asked_milli(job, engine->config->cluster);
    engine_begin_wait(engine, own);
    engine_hash(engine, EVENT_SUBMIT, job->id);
    port_job_submitted(&engine->port, engine_told(engine, job, truth, &room), engine->now);
    engine_want_cycle(engine, engine->now);
    return slot;
}

/* In a world whose network costs nothing jobs declare no communication. */
static bool is_silenced(const struct engine *engine, const struct job *job)
{
    return job->communication != NULL && engine->config->world.network == NETWORK_FREE;
}

uint32_t engine_submit(struct engine *engine, const struct job *job, const struct job_truth *truth)
{
    if (!is_silenced(engine, job))
        return submit(engine, job, truth);
    struct job silent = *job;
    silent.communication = NULL;
    return submit(engine, &silent, truth);
}

void engine_know(struct engine *engine, uint32_t slot, const struct job *job, const struct job_truth *truth)
{
    struct job silent = *job;
    if (is_silenced(engine, job))
        silent.communication = NULL;
    know(engine, slot, &silent, truth);
}

/* Fill the row of a job that has ended, or that the end of the run cuts off. */
static void fill_end(struct sim_job *job, enum job_end_state state)
{
    enum { MILLI_NS_PER_US = GPU_MILLI * 1000 };
    job->row.state = (uint8_t)state;
    job->row.work = progress_reference(&job->progress, job->progress.work);
    if (job->row.resizes > 0)
        job->row.held_gpu_us = (int64_t)(job->held_milli_ns / MILLI_NS_PER_US);
    job->row.evictions_wasted += job->owed; /* evictions that it made no use of */
    job->owed = 0;
}

static void finish_job(struct engine *engine, uint32_t slot, enum job_end_state state)
{
    struct sim_job *job = &engine->jobs[slot];
    fill_end(job, state);
    job->row.end = engine->now;
    if (engine->has_dependencies) {
        MEM_GROW(engine->ended_at, engine->ended_capacity, (size_t)job->row.id + 1);
        engine->ended_at[job->row.id] = engine->now;
    }
    if (engine->wants_jobs)
        engine_emit_job(engine, job);
    free_slot(engine, slot);
}

/* Before another policy took over, and since. */
bool engine_waited(struct engine *engine, uint32_t slot, struct wait_times *times)
{
    const bool has_waited = port_waited(&engine->port, engine->jobs[slot].row.id, engine->now, times);
    if (slot >= engine->before_capacity || engine->before[slot].mask == 0)
        return has_waited;
    if (!has_waited)
        times->mask = 0;
    const struct wait_times *before = &engine->before[slot];
    for (uint32_t left = before->mask; left != 0; left &= left - 1)
        wait_times_add(times, (enum reason)__builtin_ctz(left), before->of[__builtin_ctz(left)]);
    return true;
}

void engine_note_waits(struct engine *engine, struct sim_job *job)
{
    if ((job->is_waiting || job->row.wait_total > 0) &&
        engine_waited(engine, (uint32_t)(job - engine->jobs), &engine->waits))
        job->row.waits = &engine->waits;
}

void engine_reject(struct engine *engine, uint32_t slot, enum reason reason)
{
    struct sim_job *job = &engine->jobs[slot];
    engine_end_wait(engine, job);
    engine_step(job, STEP_REJECT);
    engine->rejected++;
    engine_hash(engine, 0x10, job->row.id);
    if (reason == REASON_QUEUE_FULL) {
        engine->result->queue_full++;
        engine_note_waits(engine, job);
        port_job_cancelled(&engine->port, job->row.id, engine->now);
    } else if (engine->config->decider != NULL) {
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
    MEM_GROW(job->changes, job->change_capacity, (size_t)job->change_count + 1);
    job->changes[job->change_count++] =
        (struct sim_change){.due = due,
                            .decision = decision->id,
                            .pieces = pieces,
                            .piece_count = decision->piece_count,
                            .reason = (uint8_t)decision->reason,
                            .is_join = is_join,
                            .awaits_save = !is_join && engine_charges(engine) && engine_saves_is_leaving(engine, slot)};
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
    if (engine_has_phases(engine) && engine_saves_is_pulling(engine, slot))
        return engine->now;
    if (engine_charges(engine))
        return engine_saves_leave(engine, slot, decision);
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
    if (gainer != JOB_NONE && engine->slot_of[gainer] != ENGINE_SLOT_NONE)
        engine->jobs[engine->slot_of[gainer]].owed++;
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

void engine_apply(struct engine *engine, const struct decision *decision)
{
    uint32_t slot = engine->slot_of[decision->job];
    if (engine->monitor != NULL)
        engine_monitor_decided(engine, slot, decision);
    switch (decision->kind) {
    case DECISION_START:
        apply_start(engine, slot, decision);
        break;
    case DECISION_EVICT:
        apply_evict(engine, slot, decision);
        break;
    case DECISION_REJECT:
        engine->jobs[slot].row.waits =
            decision->waited != NULL && decision->waited->mask != 0 ? decision->waited : NULL;
        engine_reject(engine, slot, decision->reason);
        break;
    case DECISION_NOTIFY: /* no user of this world reacts */
        engine_hash(engine, 0x30 + decision->kind, decision->job);
        break;
    case DECISION_RESERVE: /* nothing happens in the world; sched_count counts the space */
        engine->has_reserved = true;
        engine_hash(engine, 0x30 + decision->kind, decision->job);
        break;
    case DECISION_REPARTITION:
        engine_recut(engine, decision);
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
    if (engine->faults != NULL && engine_fault_strikes(engine, slot))
        return;
    struct sim_job *job = &engine->jobs[slot];
    const wide_ns work = progress_work_at(&job->progress, engine->now);
    const bool is_done = progress_is_done(&job->progress, work);
    static const enum job_end_state ends[] = {END_COMPLETED, END_FAILED, END_CANCELLED};
    static const enum job_end told[] = {JOB_END_COMPLETED, JOB_END_FAILED, JOB_END_CANCELLED};
    engine_hash(engine, EVENT_END, job->row.id);
    engine->ended++;
    engine_let_go(engine, slot, work);
    engine_step(job, STEP_END);
    engine_note_waits(engine, job);
    port_job_ended(&engine->port, job->row.id, is_done ? told[job->outcome] : JOB_END_LIMIT, false, engine->now);
    finish_job(engine, slot, is_done ? ends[job->outcome] : END_LIMIT);
}

static void on_evicted(struct engine *engine, uint32_t slot)
{
    const struct sim_job *job = &engine->jobs[slot];
    if (engine_charges(engine))
        engine_saves_settle(engine, slot);
    if (job->state == LIFE_LEAVING && job->leaves_at <= engine->now) {
        engine_leave(engine, slot);
        return;
    }
    engine_part_due(engine, slot);
}

void engine_event(struct engine *engine, const struct event *event)
{
    if (event_kind(event) == EVENT_NODE) {
        engine->event_count++;
        engine_gpu_done(engine, event->subject);
        engine_want_cycle(engine, engine->now);
        return;
    }
    if (event_kind(event) == EVENT_STORAGE) {
        engine->event_count++;
        if (event->generation == engine->storage_generation)
            engine_saves_moved(engine);
        return;
    }
    if (event_kind(event) == EVENT_PULLS) {
        engine->event_count++;
        engine_pulls_event(engine, event->generation);
        return;
    }
    if (event_kind(event) == EVENT_TIMER) {
        engine->event_count++;
        engine_monitor_event(engine, event->subject);
        return; /* it wants its own cycle */
    }
    if (engine_is_stale(engine, event))
        return;
    engine->event_count++;
    switch (event_kind(event)) {
    case EVENT_CHECKPOINT:
        engine_saves_event(engine, event->subject);
        return; /* a fact that it told wants its own cycle */
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
        assert(false && "an event of a kind that is never pushed");
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
        if (engine->slot_of[after] != ENGINE_SLOT_NONE)
            return TIME_NEVER;
        if (engine->ended_at[after] > eligible)
            eligible = engine->ended_at[after];
    }
    return eligible;
}

static void close_waiting(struct engine *engine, struct sim_job *job)
{
    job->row.wait_total += engine->now - job->waiting_since;
    job->row.reason = (uint8_t)port_why(&engine->port, job->row.id);
    if (job->row.start != TIME_NEVER)
        return;
    job->row.eligible = eligible_by_now(engine, job);
    job->row.wait = job->row.eligible != TIME_NEVER ? engine->now - job->row.eligible : 0;
}

void engine_close(struct engine *engine)
{
    uint32_t id_count = (uint32_t)engine->submitted;
    for (job_id id = 0; id < id_count; id++) {
        if (engine->slot_of[id] == ENGINE_SLOT_NONE)
            continue;
        struct sim_job *job = &engine->jobs[engine->slot_of[id]];
        engine_close_job(engine, job);
        if (job->is_waiting)
            close_waiting(engine, job);
        fill_end(job, job->is_waiting ? END_PENDING : END_RUNNING);
        engine_note_waits(engine, job);
        if (engine->wants_jobs)
            engine_emit_job(engine, job);
    }
}
