/* The phases of jobs, a part: pulls, and checkpoints that cost time (writes, loads and warm-ups).
 *
 * Only under world.checkpoints "charged" or with world.cold_starts.  A job is in one phase at a time:
 *
 *    pull -> load -> work <-> write           a pull, a load and a blocking write stop the job (progress_freeze)
 *                      |        |
 *                      +-> leave <-+          it stops to write its last checkpoint, because members must leave
 *
 * If checkpoints are free there are only `pull` and `work`: periodic checkpoints are part of the run time, and a job
 * that writes one because it must leave stands still in `work`.
 *
 * It warms up at the beginning of `work`.  An asynchronous write goes on during `work`, at a lower speed.
 *
 * Law.
 *  - A write begins when the job has done its interval of reference work since the work that its last checkpoint holds;
 *    not before the write under way is whole, not if the job ends by then, and not while the whole job leaves.
 *  - A checkpoint counts from the nanosecond in which it is whole, and holds the work at the beginning of its write.
 *    An interruption before throws the write away.
 *  - A job that must leave with a grace stops and writes, if that would take no longer than the grace alone and it does
 *    not end sooner; it leaves when the checkpoint is whole, or when the grace ends.  A write under way is taken for it
 *    if it is a blocking one; an asynchronous one is given up.  A job without unsaved work leaves at once.
 *  - A job pulls each time that it begins to run, if not all of its objects are there (sim/caches/pulls.h).  It leaves
 *    at once if it must.
 *  - Loads and writes with a size share the storage with those of all jobs.  After a change of members the rest is
 *    moved by the nodes that the job has then.
 */
#include <math.h>

#include "sim/checkpoints/checkpoint_table.h"
#include "sim/engine/engine_pulls.h"
#include "sim/engine/engine_state.h"
#include "sim/storage/storage.h"

struct sim_saves {
    struct saving plan;
    wide_ns next;           /* units of work at which the next write begins */
    wide_ns held;           /* units that the checkpoint of the asynchronous write under way holds */
    time_ns done;           /* when the write or load is whole; TIME_NEVER: the storage tells */
    struct sim_spent spent; /* of the present attempt, before its present interval */
    struct lost_row lost;   /* of the job, for its row */
    bool is_first;          /* it began to run for the first time, and not again */
    bool is_spared;         /* in PHASE_LEAVE: all members leave */
    bool is_writing;        /* an asynchronous write is under way; in PHASE_WORK only */
};

struct saves {
    struct sim_saves *jobs; /* by slot */
    size_t capacity;
    struct storage *storage;
    time_ns due;         /* of the event that was pushed for the storage last */
    uint32_t generation; /* of that event */
};

static struct saves *saves_of(const struct engine *engine)
{
    return engine->states[PART_saves];
}

static void *begin(struct engine *engine, uint32_t needs)
{
    (void)needs;
    const struct checkpoint_table *table = &engine->config->world.checkpoints;
    engine->has_charges = table->cost != CHECKPOINTS_FREE;
    engine->has_phases = engine->has_charges || engine->config->world.cold_starts.is_on;
    if (!engine->has_phases)
        return NULL;
    struct saves *own = mem_zalloc(1, sizeof *own);
    own->storage = storage_new(table->bytes_per_s, table->node_bytes_per_s);
    own->due = TIME_NEVER;
    return own;
}

static void release(struct engine *engine)
{
    struct saves *own = saves_of(engine);
    mem_free(own->jobs);
    storage_free(own->storage);
    mem_free(own);
}

/* ---- Jobs ---- */

/* Units of an interval of its reference work. */
static wide_ns interval_units(const struct engine *engine, uint32_t slot)
{
    const struct progress *progress = &engine->jobs[slot].progress;
    return (wide_ns)saves_of(engine)->jobs[slot].plan.interval * progress->members * progress->one;
}

static void submitted(struct engine *engine, uint32_t slot, const struct job_asked *asked)
{
    struct saves *own = saves_of(engine);
    struct sim_job *job = &engine->jobs[slot];
    MEM_GROW(own->jobs, own->capacity, (size_t)engine->job_used);
    own->jobs[slot] = (struct sim_saves){.plan = {.warmup = asked->job->checkpoint.restart}, .done = TIME_NEVER};
    if (!engine->has_charges || asked->truth->failures != NULL)
        return;
    const struct saving *plan = &own->jobs[slot].plan;
    own->jobs[slot].plan =
        checkpoint_table_saving(&engine->config->world.checkpoints, engine->config->cluster, asked->job, asked->names);
    job->checkpoint = saving_declared(plan);
    if (plan->is_asynchronous) /* its lower speed needs finer units */
        job->progress.one = PACE_ONE;
}

/* ---- Time that checkpoints took ---- */

static void fold(struct engine *engine, uint32_t slot)
{
    const struct progress *progress = &engine->jobs[slot].progress;
    struct sim_saves *saves = &saves_of(engine)->jobs[slot];
    const time_ns idle = progress_overhead(progress, engine->now);
    /* It stands still in `work` to write a checkpoint that is free. */
    const time_ns stood =
        engine->jobs[slot].phase == PHASE_WORK && progress_is_frozen(progress) ? engine->now - progress->frozen_at : 0;
    time_ns *const spent[] = {[PHASE_WORK] = &saves->spent.warmup,
                              [PHASE_PULL] = &saves->spent.pull,
                              [PHASE_LOAD] = &saves->spent.load,
                              [PHASE_WRITE] = &saves->spent.write,
                              [PHASE_LEAVE] = &saves->spent.leave};
    *spent[engine->jobs[slot].phase] += idle - stood;
    saves->spent.leave += stood;
    if (saves->is_writing)
        saves->spent.slowed += llrint((double)(engine->now - progress->since - idle) * saves->plan.slowdown);
}

static void attempt(struct engine *engine, uint32_t slot, struct sim_spent *spent)
{
    struct sim_saves *saves = &saves_of(engine)->jobs[slot];
    if (!engine->jobs[slot].is_waiting)
        fold(engine, slot);
    *spent = saves->spent;
    saves->spent = (struct sim_spent){0};
}

/* Time x GPUs held, in GPU-nanoseconds. */
static int64_t held_time(const struct sim_job *job, time_ns time)
{
    return (int64_t)((wide_ns)time * job->held_milli / GPU_MILLI);
}

static void lost(struct engine *engine, uint32_t slot, struct sim_loss *loss)
{
    const struct sim_job *job = &engine->jobs[slot];
    struct sim_saves *saves = &saves_of(engine)->jobs[slot];
    const struct sim_spent *spent = loss->spent;
    int64_t *sums = saves->lost.gpu_ns;
    loss->overhead = 0;
    const int64_t parts[] = {[LOST_WRITE] = held_time(job, spent->write + spent->slowed),
                             [LOST_LEAVE] = held_time(job, spent->leave),
                             [LOST_LOAD] = held_time(job, spent->load),
                             [LOST_WARMUP] = held_time(job, spent->warmup),
                             [LOST_PULL] = held_time(job, spent->pull)};
    for (int cause = LOST_WRITE; cause <= LOST_PULL; cause++) {
        sums[cause] += parts[cause];
        loss->overhead += parts[cause];
    }
    sums[engine_is_preemption(job->evict_reason)       ? LOST_WORK_PREEMPTED
         : job->evict_reason == REASON_NODE_DOWN       ? LOST_WORK_NODE
         : job->evict_reason == REASON_NEIGHBOUR_FAULT ? LOST_WORK_NEIGHBOUR
                                                       : LOST_WORK_OTHER] += loss->thrown;
    loss->own = held_time(job, spent->write + spent->slowed + (saves->is_first ? spent->pull : 0));
}

/* ---- Transfers ---- */

static uint32_t node_count(const struct engine *engine, uint32_t slot)
{
    const struct job_pieces *own = &engine->jobs[slot].pieces;
    const struct piece *pieces = job_pieces_all(own);
    uint32_t count = 0;
    for (uint32_t p = 0; p < own->piece_count; p++) {
        bool is_new = true;
        for (uint32_t q = 0; q < p && is_new; q++)
            is_new = pieces[q].node != pieces[p].node;
        count += is_new;
    }
    assert(count > 0);
    return count;
}

/* Push the event of the next transfer that is whole, if it is another or at another time than before. */
static void push_moved(struct engine *engine)
{
    const time_ns due = storage_next(saves_of(engine)->storage);
    if (due == saves_of(engine)->due)
        return;
    saves_of(engine)->due = due;
    saves_of(engine)->generation++;
    if (due != TIME_NEVER)
        event_queue_push(&engine->events, due > engine->now ? due : engine->now, EVENT_STORAGE, UINT32_MAX,
                         saves_of(engine)->generation);
}

/* `takes`: its time if it moves nothing through the storage. */
static void begin_transfer(struct engine *engine, uint32_t slot, time_ns takes)
{
    struct sim_saves *saves = &saves_of(engine)->jobs[slot];
    if (saves->plan.bytes == 0) {
        saves->done = time_after(engine->now, takes);
        return;
    }
    saves->done = TIME_NEVER;
    storage_begin(saves_of(engine)->storage, slot, saves->plan.bytes, node_count(engine, slot), engine->now);
    push_moved(engine);
}

static void stop_transfer(struct engine *engine, uint32_t slot)
{
    saves_of(engine)->jobs[slot].done = TIME_NEVER;
    if (!storage_has(saves_of(engine)->storage, slot))
        return;
    storage_stop(saves_of(engine)->storage, slot, engine->now);
    push_moved(engine);
}

static void moved(struct engine *engine, uint32_t slot)
{
    if (engine->jobs[slot].is_waiting || !storage_has(saves_of(engine)->storage, slot))
        return;
    storage_resize(saves_of(engine)->storage, slot, node_count(engine, slot), engine->now);
    push_moved(engine);
}

static bool is_whole(const struct engine *engine, uint32_t slot)
{
    return storage_has(saves_of(engine)->storage, slot) ? storage_is_whole(saves_of(engine)->storage, slot, engine->now)
                                                        : saves_of(engine)->jobs[slot].done <= engine->now;
}

/* ---- Phases ---- */

static void enter(struct engine *engine, uint32_t slot, enum sim_phase phase)
{
    engine->jobs[slot].phase = (uint8_t)phase;
    engine_hash(engine, EVENT_CHECKPOINT + 0x40 + phase, engine->jobs[slot].row.id);
}

/* It stands still from now on. */
static void freeze(struct engine *engine, uint32_t slot)
{
    progress_freeze(&engine->jobs[slot].progress, engine->now);
    engine->jobs[slot].thaws_at = TIME_NEVER;
}

/* Its last checkpoint holds that work. */
static void note_saved(struct engine *engine, uint32_t slot, wide_ns work)
{
    engine->jobs[slot].progress.saved = work;
    saves_of(engine)->jobs[slot].next = work + interval_units(engine, slot);
}

/* All that it pulls is there. */
static void restart(struct engine *engine, uint32_t slot)
{
    struct progress *progress = &engine->jobs[slot].progress;
    const struct sim_saves *saves = &saves_of(engine)->jobs[slot];
    if (saves->is_first)
        return;
    if (saves->plan.bytes > 0 && progress->saved > 0) {
        freeze(engine, slot);
        enter(engine, slot, PHASE_LOAD);
        begin_transfer(engine, slot, 0);
        return;
    }
    progress_begin(progress, engine->now, saves->plan.warmup, progress->speed);
}

static void runs(struct engine *engine, uint32_t slot, bool is_first)
{
    struct progress *progress = &engine->jobs[slot].progress;
    struct sim_saves *saves = &saves_of(engine)->jobs[slot];
    engine->jobs[slot].begun = progress->saved;
    note_saved(engine, slot, progress->saved);
    engine->jobs[slot].phase = PHASE_WORK;
    saves->is_first = is_first;
    if (engine->states[PART_pulls] == NULL || engine_pulls_begin(engine, slot)) {
        restart(engine, slot);
        return;
    }
    freeze(engine, slot);
    saves->done = TIME_NEVER;
    enter(engine, slot, PHASE_PULL);
}

/* All that it pulls is there. */
static void pulled(struct engine *engine, uint32_t slot)
{
    struct progress *progress = &engine->jobs[slot].progress;
    assert(engine->jobs[slot].phase == PHASE_PULL);
    engine_fold(engine, slot);
    enter(engine, slot, PHASE_WORK);
    progress_begin(progress, engine->now, 0, progress->speed);
    restart(engine, slot);
    engine_turn(engine, slot);
}

static void stops(struct engine *engine, uint32_t slot)
{
    struct sim_saves *saves = &saves_of(engine)->jobs[slot];
    stop_transfer(engine, slot);
    engine->jobs[slot].phase = PHASE_WORK;
    saves->is_writing = engine->jobs[slot].is_slowed = false;
    engine->jobs[slot].begun = engine->jobs[slot].progress.saved;
}

static void loaded(struct engine *engine, uint32_t slot)
{
    struct progress *progress = &engine->jobs[slot].progress;
    engine_fold(engine, slot);
    stop_transfer(engine, slot);
    enter(engine, slot, PHASE_WORK);
    progress_begin(progress, engine->now, saves_of(engine)->jobs[slot].plan.warmup, progress->speed);
    engine_turn(engine, slot);
}

/* A periodic checkpoint of a job that runs on is whole. */
static void tell_saved(struct engine *engine, uint32_t slot)
{
    port_job_checkpointed(&engine->port, engine->jobs[slot].row.id, engine->now);
    engine_want_cycle(engine, engine->now);
}

/* A blocking write is whole, and the job goes on. */
static void written(struct engine *engine, uint32_t slot)
{
    struct progress *progress = &engine->jobs[slot].progress;
    engine_fold(engine, slot);
    stop_transfer(engine, slot);
    progress_thaw(progress);
    note_saved(engine, slot, progress->work);
    enter(engine, slot, PHASE_WORK);
    engine_turn(engine, slot);
    tell_saved(engine, slot);
}

static void end_asynchronous(struct engine *engine, uint32_t slot)
{
    engine_fold(engine, slot);
    stop_transfer(engine, slot);
    saves_of(engine)->jobs[slot].is_writing = engine->jobs[slot].is_slowed = false;
}

static void written_asynchronously(struct engine *engine, uint32_t slot)
{
    end_asynchronous(engine, slot);
    note_saved(engine, slot, saves_of(engine)->jobs[slot].held);
    enter(engine, slot, PHASE_WORK);
    engine_turn(engine, slot);
    tell_saved(engine, slot);
}

/* It has done its interval of work. */
static void begin_write(struct engine *engine, uint32_t slot)
{
    struct sim_saves *saves = &saves_of(engine)->jobs[slot];
    engine_fold(engine, slot);
    if (saves->plan.is_asynchronous) {
        saves->held = engine->jobs[slot].progress.work;
        saves->is_writing = engine->jobs[slot].is_slowed = true;
        engine->jobs[slot].speed.write = saves->plan.slowdown;
    } else {
        freeze(engine, slot);
        enter(engine, slot, PHASE_WRITE);
    }
    begin_transfer(engine, slot, saves->plan.write);
    engine_turn(engine, slot);
}

/* The checkpoint of a job that must leave is whole, so it leaves, or those members that wait for it do. */
static void saved_to_leave(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    engine_want_cycle(engine, engine->now);
    if (job->state == LIFE_LEAVING) {
        job->thaws_at = job->leaves_at = engine->now;
        engine_leave(engine, slot);
        return;
    }
    written(engine, slot);
    engine_shrink_saved(engine, slot);
}

/* It would write now, but the whole job leaves meanwhile. */
static void only_end(struct engine *engine, uint32_t slot)
{
    engine_fold(engine, slot);
    engine_turn(engine, slot);
}

/* What `plan` said has come. */
static void come(struct engine *engine, uint32_t slot)
{
    struct sim_saves *saves = &saves_of(engine)->jobs[slot];
    switch (engine->jobs[slot].phase) {
    case PHASE_LOAD:
        loaded(engine, slot);
        break;
    case PHASE_WRITE:
        written(engine, slot);
        break;
    case PHASE_LEAVE:
        saved_to_leave(engine, slot);
        break;
    default:
        if (saves->is_writing)
            written_asynchronously(engine, slot);
        else if (engine->jobs[slot].state == LIFE_RUNNING)
            begin_write(engine, slot);
        else
            only_end(engine, slot);
    }
}

static bool is_stale(const struct engine *engine, const struct event *event)
{
    return event_kind(event) == EVENT_PULLS ? !engine_pulls_are_due(engine, event->generation)
                                            : event->generation != saves_of(engine)->generation;
}

static void on_event(struct engine *engine, const struct event *event)
{
    struct saves *own = saves_of(engine);
    uint32_t slot;
    if (event_kind(event) == EVENT_CHECKPOINT) {
        come(engine, event->subject);
        return;
    }
    if (event_kind(event) == EVENT_PULLS) {
        while (engine_pulls_take(engine, &slot))
            pulled(engine, slot);
        return;
    }
    own->due = TIME_NEVER;
    while (storage_take(own->storage, engine->now, &slot)) {
        own->jobs[slot].done = engine->now;
        come(engine, slot);
    }
    push_moved(engine);
}

/* When its next write begins, or the present one is whole; TIME_NEVER: unknown, or never.  end: of its work. */
static time_ns due_at(const struct engine *engine, uint32_t slot, time_ns end)
{
    const struct sim_job *job = &engine->jobs[slot];
    const struct sim_saves *saves = &saves_of(engine)->jobs[slot];
    if (engine->jobs[slot].phase != PHASE_WORK || saves->is_writing)
        return saves->done;
    if (saves->plan.interval == 0 || job->state != LIFE_RUNNING)
        return TIME_NEVER;
    const time_ns due = progress_reaches(&job->progress, saves->next);
    return due < end ? due : TIME_NEVER;
}

static void plan(const struct engine *engine, uint32_t slot, struct sim_next *next)
{
    next->due = due_at(engine, slot, next->end);
    next->has_limit &= engine->jobs[slot].phase != PHASE_LEAVE || !saves_of(engine)->jobs[slot].is_spared;
}

/* ---- Members leave ---- */

/* It stops and writes, or goes on with the write under way, and then leaves. */
static void write_to_leave(struct engine *engine, uint32_t slot, bool is_spared)
{
    struct sim_saves *saves = &saves_of(engine)->jobs[slot];
    const bool is_new = engine->jobs[slot].phase == PHASE_WORK;
    saves->is_spared = is_spared || (engine->jobs[slot].phase == PHASE_LEAVE && saves->is_spared);
    if (saves->is_writing)
        end_asynchronous(engine, slot);
    else
        engine_fold(engine, slot);
    if (is_new)
        freeze(engine, slot);
    enter(engine, slot, PHASE_LEAVE);
    if (is_new)
        begin_transfer(engine, slot, saves->plan.write);
    engine_turn(engine, slot);
}

static time_ns leave(struct engine *engine, uint32_t slot, const struct decision *evict)
{
    struct sim_job *job = &engine->jobs[slot];
    const struct checkpoint_plan *plan = &job->checkpoint;
    const bool can_save = plan->interval > 0 || plan->duration > 0;
    const bool is_stopped = job->phase == PHASE_WRITE || job->phase == PHASE_LEAVE;
    if (job->is_waiting || !can_save || evict->grace == 0)
        return engine->now;
    if (!is_stopped && progress_work_at(&job->progress, engine->now) == job->progress.saved)
        return engine->now;
    if (is_stopped || (plan->duration <= evict->grace && progress_end(&job->progress) - engine->now > plan->duration))
        write_to_leave(engine, slot, !evict->is_partial);
    return time_after(engine->now, evict->grace);
}

static bool leaves(struct engine *engine, uint32_t slot, const struct decision *evict, time_ns *at)
{
    const bool is_pulling = engine->jobs[slot].phase == PHASE_PULL;
    if (is_pulling || engine->has_charges)
        *at = is_pulling ? engine->now : leave(engine, slot, evict);
    return is_pulling || engine->has_charges;
}

/* A checkpoint that is whole by now is taken for whole. */
static void due(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    const struct sim_saves *saves = &saves_of(engine)->jobs[slot];
    if (!engine->has_charges || job->is_waiting || (engine->jobs[slot].phase == PHASE_WORK && !saves->is_writing) ||
        engine->jobs[slot].phase == PHASE_LOAD || engine->jobs[slot].phase == PHASE_PULL || !is_whole(engine, slot))
        return;
    if (saves->is_writing)
        written_asynchronously(engine, slot);
    else if (job->state == LIFE_LEAVING)
        job->thaws_at = engine->now;
    else
        written(engine, slot);
}

static void row(struct engine *engine, uint32_t slot, struct job_row *out)
{
    out->lost = &saves_of(engine)->jobs[slot].lost;
}

const struct engine_part engine_part_saves = {.begin = begin,
                                              .release = release,
                                              .events =
                                                  1u << EVENT_CHECKPOINT | 1u << EVENT_STORAGE | 1u << EVENT_PULLS,
                                              .event = on_event,
                                              .is_stale = is_stale,
                                              .submitted = submitted,
                                              .runs = runs,
                                              .stops = stops,
                                              .moved = moved,
                                              .row = row,
                                              .plan = plan,
                                              .leaves = leaves,
                                              .due = due,
                                              .fold = fold,
                                              .attempt = attempt,
                                              .lost = lost};
