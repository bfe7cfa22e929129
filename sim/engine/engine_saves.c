/* Phases of jobs; see sim/engine/engine_saves.h. */
#include "sim/engine/engine_saves.h"

#include <math.h>

#include "sim/engine/engine_activity.h"
#include "sim/engine/engine_pace.h"
#include "sim/engine/engine_pulls.h"
#include "sim/storage/storage.h"

void engine_saves_open(struct engine *engine)
{
    const struct checkpoint_table *table = &engine->config->world.checkpoints;
    if (table->cost == CHECKPOINTS_FREE && engine->pulls == NULL)
        return;
    MEM_GROW(engine->saves, engine->saves_capacity, 1);
    engine->storage = storage_new(table->bytes_per_s, table->node_bytes_per_s);
    engine->storage_due = TIME_NEVER;
}

void engine_saves_release(struct engine *engine)
{
    mem_free(engine->saves);
    storage_free(engine->storage);
}

/* ---- Jobs ---- */

/* Units of an interval of its reference work. */
static wide_ns interval_units(const struct engine *engine, uint32_t slot)
{
    const struct progress *progress = &engine->jobs[slot].progress;
    return (wide_ns)engine->saves[slot].plan.interval * progress->members * progress->one;
}

static bool is_paced(const struct engine *engine, uint32_t slot)
{
    return engine->paces != NULL && engine->paces[slot].is_paced;
}

static struct job_names names_of(const struct engine *engine, const struct job *job, const struct job_truth *truth)
{
    const struct job_source *source = engine->config->source;
    return (struct job_names){.user = job->user != NAMES_NONE ? names_text(job_source_users(source), job->user) : "",
                              .workload_class = truth->workload_class != 0
                                                    ? names_text(job_source_classes(source), truth->workload_class - 1u)
                                                    : ""};
}

void engine_saves_asks(struct engine *engine, uint32_t slot, const struct job *job, const struct job_truth *truth)
{
    const struct engine_config *config = engine->config;
    const struct job_names names = names_of(engine, job, truth);
    struct sim_job *own = &engine->jobs[slot];
    MEM_GROW(engine->saves, engine->saves_capacity, (size_t)engine->job_used);
    engine->saves[slot] = (struct sim_saves){.plan = {.warmup = job->checkpoint.restart}, .done = TIME_NEVER};
    if (engine->pulls != NULL)
        engine_pulls_asks(engine, slot, job, names);
    if (!engine_charges(engine) || truth->failures != NULL)
        return;
    engine->saves[slot].plan = checkpoint_table_saving(&config->world.checkpoints, config->cluster, job, names);
    own->checkpoint = saving_declared(&engine->saves[slot].plan);
    if (engine->saves[slot].plan.is_asynchronous) /* its lower speed needs finer units */
        own->progress.one = PACE_ONE;
}

int64_t engine_saves_pace(const struct engine *engine, uint32_t slot)
{
    const struct sim_saves *saves = &engine->saves[slot];
    const int64_t pace = is_paced(engine, slot) ? engine->paces[slot].pace : engine->jobs[slot].progress.one;
    return saves->is_writing ? (int64_t)lrint(fmax(1, (double)pace * (1 - saves->plan.slowdown))) : pace;
}

bool engine_saves_is_pulling(const struct engine *engine, uint32_t slot)
{
    return engine->saves[slot].phase == SAVES_PULL;
}

bool engine_saves_is_leaving(const struct engine *engine, uint32_t slot)
{
    return engine->saves[slot].phase == SAVES_LEAVE;
}

bool engine_saves_spares(const struct engine *engine, uint32_t slot)
{
    return engine_saves_is_leaving(engine, slot) && engine->saves[slot].is_spared;
}

wide_ns engine_saves_gain(const struct engine *engine, uint32_t slot, wide_ns kept)
{
    return kept - engine->saves[slot].begun;
}

/* ---- Time that checkpoints took ---- */

void engine_saves_count(struct engine *engine, uint32_t slot)
{
    const struct progress *progress = &engine->jobs[slot].progress;
    struct sim_saves *saves = &engine->saves[slot];
    const time_ns idle = progress_overhead(progress, engine->now);
    /* It stands still in `work` to write a checkpoint that is free. */
    const time_ns stood =
        saves->phase == SAVES_WORK && progress_is_frozen(progress) ? engine->now - progress->frozen_at : 0;
    time_ns *const spent[] = {[SAVES_WORK] = &saves->spent.warmup,
                              [SAVES_PULL] = &saves->spent.pull,
                              [SAVES_LOAD] = &saves->spent.load,
                              [SAVES_WRITE] = &saves->spent.write,
                              [SAVES_LEAVE] = &saves->spent.leave};
    *spent[saves->phase] += idle - stood;
    saves->spent.leave += stood;
    if (saves->is_writing)
        saves->spent.slowed += llrint((double)(engine->now - progress->since - idle) * saves->plan.slowdown);
}

/* End the present interval: fold what it did so far.  Called before the phase or the speed changes. */
static void fold(struct engine *engine, uint32_t slot)
{
    struct progress *progress = &engine->jobs[slot].progress;
    struct sim_folded *folded = &engine->saves[slot].folded;
    if (engine->activities != NULL)
        engine_activity_carry(engine, slot);
    if (is_paced(engine, slot)) {
        engine_pace_fold(engine, slot);
        return;
    }
    const wide_ns before = progress->work;
    engine_saves_count(engine, slot);
    folded->span += engine->now - progress->since;
    folded->overhead += progress_overhead(progress, engine->now);
    progress_turn(progress, engine->now, progress->speed);
    folded->work += progress->work - before;
}

struct sim_folded engine_saves_unfold(struct engine *engine, uint32_t slot, struct sim_spent *spent)
{
    struct sim_saves *saves = &engine->saves[slot];
    if (!engine->jobs[slot].is_waiting)
        engine_saves_count(engine, slot);
    const struct sim_folded folded = saves->folded;
    *spent = saves->spent;
    saves->folded = (struct sim_folded){0};
    saves->spent = (struct sim_spent){0};
    return folded;
}

/* Time x GPUs held, in GPU-nanoseconds. */
static int64_t held_time(const struct sim_job *job, time_ns time)
{
    return (int64_t)((wide_ns)time * job->held_milli / GPU_MILLI);
}

int64_t engine_saves_book(struct engine *engine, uint32_t slot, const struct sim_spent *spent, int64_t thrown)
{
    const struct sim_job *job = &engine->jobs[slot];
    int64_t *sums = engine->saves[slot].lost.gpu_ns, overhead = 0;
    const int64_t parts[] = {[LOST_WRITE] = held_time(job, spent->write + spent->slowed),
                             [LOST_LEAVE] = held_time(job, spent->leave),
                             [LOST_LOAD] = held_time(job, spent->load),
                             [LOST_WARMUP] = held_time(job, spent->warmup),
                             [LOST_PULL] = held_time(job, spent->pull)};
    for (int cause = LOST_WRITE; cause <= LOST_PULL; cause++) {
        sums[cause] += parts[cause];
        overhead += parts[cause];
    }
    sums[engine_is_preemption(job->evict_reason)       ? LOST_WORK_PREEMPTED
         : job->evict_reason == REASON_NODE_DOWN       ? LOST_WORK_NODE
         : job->evict_reason == REASON_NEIGHBOUR_FAULT ? LOST_WORK_NEIGHBOUR
                                                       : LOST_WORK_OTHER] += thrown;
    return overhead;
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
    const time_ns due = storage_next(engine->storage);
    if (due == engine->storage_due)
        return;
    engine->storage_due = due;
    engine->storage_generation++;
    if (due != TIME_NEVER)
        event_queue_push(&engine->events, due > engine->now ? due : engine->now, EVENT_STORAGE, UINT32_MAX,
                         engine->storage_generation);
}

/* `takes`: its time if it moves nothing through the storage. */
static void begin_transfer(struct engine *engine, uint32_t slot, time_ns takes)
{
    struct sim_saves *saves = &engine->saves[slot];
    if (saves->plan.bytes == 0) {
        saves->done = time_after(engine->now, takes);
        return;
    }
    saves->done = TIME_NEVER;
    storage_begin(engine->storage, slot, saves->plan.bytes, node_count(engine, slot), engine->now);
    push_moved(engine);
}

static void stop_transfer(struct engine *engine, uint32_t slot)
{
    engine->saves[slot].done = TIME_NEVER;
    if (!storage_has(engine->storage, slot))
        return;
    storage_stop(engine->storage, slot, engine->now);
    push_moved(engine);
}

void engine_saves_move(struct engine *engine, uint32_t slot)
{
    if (engine->jobs[slot].is_waiting || !storage_has(engine->storage, slot))
        return;
    storage_resize(engine->storage, slot, node_count(engine, slot), engine->now);
    push_moved(engine);
}

static bool is_whole(const struct engine *engine, uint32_t slot)
{
    return storage_has(engine->storage, slot) ? storage_is_whole(engine->storage, slot, engine->now)
                                              : engine->saves[slot].done <= engine->now;
}

/* ---- Phases ---- */

static void enter(struct engine *engine, uint32_t slot, enum saves_phase phase)
{
    engine->saves[slot].phase = (uint8_t)phase;
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
    engine->saves[slot].next = work + interval_units(engine, slot);
}

/* All that it pulls is there. */
static void restart(struct engine *engine, uint32_t slot)
{
    struct progress *progress = &engine->jobs[slot].progress;
    const struct sim_saves *saves = &engine->saves[slot];
    if (saves->is_first)
        return;
    if (saves->plan.bytes > 0 && progress->saved > 0) {
        freeze(engine, slot);
        enter(engine, slot, SAVES_LOAD);
        begin_transfer(engine, slot, 0);
        return;
    }
    progress_begin(progress, engine->now, saves->plan.warmup, progress->speed);
}

void engine_saves_begin(struct engine *engine, uint32_t slot, bool is_first)
{
    struct progress *progress = &engine->jobs[slot].progress;
    struct sim_saves *saves = &engine->saves[slot];
    saves->begun = progress->saved;
    note_saved(engine, slot, progress->saved);
    saves->phase = SAVES_WORK;
    saves->is_first = is_first;
    if (engine->pulls == NULL || engine_pulls_begin(engine, slot)) {
        restart(engine, slot);
        return;
    }
    freeze(engine, slot);
    saves->done = TIME_NEVER;
    enter(engine, slot, SAVES_PULL);
}

void engine_saves_pulled(struct engine *engine, uint32_t slot)
{
    struct progress *progress = &engine->jobs[slot].progress;
    assert(engine_saves_is_pulling(engine, slot));
    fold(engine, slot);
    enter(engine, slot, SAVES_WORK);
    progress_begin(progress, engine->now, 0, progress->speed);
    restart(engine, slot);
    engine_turn(engine, slot);
}

void engine_saves_stop(struct engine *engine, uint32_t slot)
{
    struct sim_saves *saves = &engine->saves[slot];
    if (engine->pulls != NULL)
        engine_pulls_stop(engine, slot);
    stop_transfer(engine, slot);
    saves->phase = SAVES_WORK;
    saves->is_writing = false;
    saves->begun = engine->jobs[slot].progress.saved;
}

static void loaded(struct engine *engine, uint32_t slot)
{
    struct progress *progress = &engine->jobs[slot].progress;
    fold(engine, slot);
    stop_transfer(engine, slot);
    enter(engine, slot, SAVES_WORK);
    progress_begin(progress, engine->now, engine->saves[slot].plan.warmup, progress->speed);
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
    fold(engine, slot);
    stop_transfer(engine, slot);
    progress_thaw(progress);
    note_saved(engine, slot, progress->work);
    enter(engine, slot, SAVES_WORK);
    engine_turn(engine, slot);
    tell_saved(engine, slot);
}

static void end_asynchronous(struct engine *engine, uint32_t slot)
{
    fold(engine, slot);
    stop_transfer(engine, slot);
    engine->saves[slot].is_writing = false;
}

static void written_asynchronously(struct engine *engine, uint32_t slot)
{
    end_asynchronous(engine, slot);
    note_saved(engine, slot, engine->saves[slot].held);
    enter(engine, slot, SAVES_WORK);
    engine_turn(engine, slot);
    tell_saved(engine, slot);
}

/* It has done its interval of work. */
static void begin_write(struct engine *engine, uint32_t slot)
{
    struct sim_saves *saves = &engine->saves[slot];
    fold(engine, slot);
    if (saves->plan.is_asynchronous) {
        saves->held = engine->jobs[slot].progress.work;
        saves->is_writing = true;
    } else {
        freeze(engine, slot);
        enter(engine, slot, SAVES_WRITE);
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
    fold(engine, slot);
    engine_turn(engine, slot);
}

void engine_saves_event(struct engine *engine, uint32_t slot)
{
    struct sim_saves *saves = &engine->saves[slot];
    switch (saves->phase) {
    case SAVES_LOAD:
        loaded(engine, slot);
        break;
    case SAVES_WRITE:
        written(engine, slot);
        break;
    case SAVES_LEAVE:
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

void engine_saves_moved(struct engine *engine)
{
    uint32_t slot;
    engine->storage_due = TIME_NEVER;
    while (storage_take(engine->storage, engine->now, &slot)) {
        engine->saves[slot].done = engine->now;
        engine_saves_event(engine, slot);
    }
    push_moved(engine);
}

time_ns engine_saves_due(const struct engine *engine, uint32_t slot, time_ns end)
{
    const struct sim_job *job = &engine->jobs[slot];
    const struct sim_saves *saves = &engine->saves[slot];
    if (saves->phase != SAVES_WORK || saves->is_writing)
        return saves->done;
    if (saves->plan.interval == 0 || job->state != LIFE_RUNNING)
        return TIME_NEVER;
    const time_ns due = progress_reaches(&job->progress, saves->next);
    return due < end ? due : TIME_NEVER;
}

/* ---- Members leave ---- */

/* It stops and writes, or goes on with the write under way, and then leaves. */
static void write_to_leave(struct engine *engine, uint32_t slot, bool is_spared)
{
    struct sim_saves *saves = &engine->saves[slot];
    const bool is_new = saves->phase == SAVES_WORK;
    saves->is_spared = is_spared || (saves->phase == SAVES_LEAVE && saves->is_spared);
    if (saves->is_writing)
        end_asynchronous(engine, slot);
    else
        fold(engine, slot);
    if (is_new)
        freeze(engine, slot);
    enter(engine, slot, SAVES_LEAVE);
    if (is_new)
        begin_transfer(engine, slot, saves->plan.write);
    engine_turn(engine, slot);
}

time_ns engine_saves_leave(struct engine *engine, uint32_t slot, const struct decision *evict)
{
    struct sim_job *job = &engine->jobs[slot];
    struct sim_saves *saves = &engine->saves[slot];
    const struct checkpoint_plan *plan = &job->checkpoint;
    const bool can_save = plan->interval > 0 || plan->duration > 0;
    const bool is_stopped = saves->phase == SAVES_WRITE || saves->phase == SAVES_LEAVE;
    if (job->is_waiting || !can_save || evict->grace == 0)
        return engine->now;
    if (!is_stopped && progress_work_at(&job->progress, engine->now) == job->progress.saved)
        return engine->now;
    if (is_stopped || (plan->duration <= evict->grace && progress_end(&job->progress) - engine->now > plan->duration))
        write_to_leave(engine, slot, !evict->is_partial);
    return time_after(engine->now, evict->grace);
}

void engine_saves_settle(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    const struct sim_saves *saves = &engine->saves[slot];
    if (job->is_waiting || (saves->phase == SAVES_WORK && !saves->is_writing) || saves->phase == SAVES_LOAD ||
        saves->phase == SAVES_PULL || !is_whole(engine, slot))
        return;
    if (saves->is_writing)
        written_asynchronously(engine, slot);
    else if (job->state == LIFE_LEAVING)
        job->thaws_at = engine->now;
    else
        written(engine, slot);
}
