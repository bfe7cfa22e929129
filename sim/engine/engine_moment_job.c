/* A job in a moment: what its declaration does not tell.  See sim/engine/moment.h.
 *
 * Whatever follows from the declaration is there already when a job is loaded (engine_know): its row's names, its plan,
 * the pieces that it gets.  All numbers that are followed later are tested. */
#include <math.h>

#include "sim/engine/engine_activity.h"
#include "sim/engine/engine_faults.h"
#include "sim/engine/engine_moment.h"
#include "sim/engine/engine_monitor.h"
#include "sim/engine/engine_pace.h"
#include "sim/engine/engine_pulls.h"
#include "sim/engine/engine_retries.h"
#include "sim/engine/engine_saves.h"
#include "sim/engine/engine_spent.h"

#define WORK_MAX ((wide_ns)1 << 120) /* so that sums of two do not overflow */

static bool is_amount(wide_ns amount)
{
    return amount > -WORK_MAX && amount < WORK_MAX;
}

/* ---- Its life ---- */

static void archive_progress(struct archive *archive, struct progress *progress, time_ns now)
{
    ARCHIVE_KNOWS(struct progress, 80); /* duration, members and `one` follow from the declaration */
    ARCHIVE(archive, progress->work);
    ARCHIVE(archive, progress->saved);
    ARCHIVE(archive, progress->speed);
    ARCHIVE(archive, progress->since);
    ARCHIVE(archive, progress->works_from);
    ARCHIVE(archive, progress->frozen_at);
    const wide_ns all = (wide_ns)progress->duration * progress->members * progress->one;
    archive_expect(archive, progress->saved >= 0 && progress->saved <= progress->work && progress->work <= all &&
                                progress->speed >= 0 && progress->since >= 0 && progress->since <= now &&
                                progress->works_from >= progress->since && moment_is_time(progress->works_from) &&
                                progress->frozen_at >= progress->since && moment_is_time(progress->frozen_at));
    archive_expect(archive, progress->speed <= (int64_t)progress->members * 2 * PACE_ONE * GPU_MILLI);
}

static void archive_row(struct archive *archive, struct job_row *row, const struct cluster *cluster)
{
    ARCHIVE_KNOWS(struct job_row, 384); /* names and declared amounts follow from the declaration; the rest is set at
                                           the end of its life */
    ARCHIVE(archive, row->gpu_milli);
    ARCHIVE(archive, row->model);
    ARCHIVE(archive, row->eligible);
    ARCHIVE(archive, row->start);
    ARCHIVE(archive, row->wait);
    ARCHIVE(archive, row->wait_total);
    ARCHIVE(archive, row->run);
    ARCHIVE(archive, row->evictions);
    ARCHIVE(archive, row->lost_gpu_ns);
    ARCHIVE(archive, row->overhead_gpu_ns);
    ARCHIVE(archive, row->source);
    ARCHIVE(archive, row->resizes);
    ARCHIVE(archive, row->preempted_gpu_ns);
    ARCHIVE(archive, row->evictions_wasted);
    ARCHIVE(archive, row->exposed_gpu_us);
    ARCHIVE(archive, row->slowed_gpu_us);
    ARCHIVE(archive, row->network_gpu_us);
    ARCHIVE(archive, row->planned_gpu_us);
    archive_expect(archive, (row->model < cluster->model_count || row->model == MODEL_ANY) &&
                                row->source < RECORD_SOURCE_COUNT && moment_is_time(row->eligible) &&
                                moment_is_time(row->start) && moment_is_time(row->wait) &&
                                moment_is_time(row->wait_total));
}

/* Members that come or go. */
static void archive_change(struct archive *archive, struct sim_change *change, const struct engine *engine,
                           uint32_t group_count)
{
    size_t capacity = change->piece_count;
    ARCHIVE_KNOWS(struct sim_change, 32);
    ARCHIVE(archive, change->due);
    ARCHIVE(archive, change->decision);
    ARCHIVE(archive, change->reason);
    ARCHIVE(archive, change->is_join);
    ARCHIVE(archive, change->awaits_save);
    pieces_archive(archive, &change->pieces, &capacity, &change->piece_count, engine->config->cluster, group_count);
    archive_expect(archive, change->reason < REASON_COUNT && change->due >= engine->now &&
                                moment_is_time(change->due) && change->piece_count > 0);
}

/* Does the job hold each member that is about to leave? */
static bool holds_what_leaves(const struct sim_job *own, const struct job *job)
{
    struct job_pieces held = {0};
    bool is_held = true;
    job_pieces_plan(&held, job);
    job_pieces_add(&held, job_pieces_all(&own->pieces), own->pieces.piece_count);
    for (uint32_t c = 0; c < own->change_count && is_held; c++)
        if (!own->changes[c].is_join)
            is_held = job_pieces_take(&held, own->changes[c].pieces, own->changes[c].piece_count);
    job_pieces_release(&held);
    return is_held;
}

static void archive_changes(struct archive *archive, struct engine *engine, struct sim_job *own, const struct job *job)
{
    bool has_joins = false;
    ARCHIVE_ROOM(archive, own->changes, own->change_capacity, own->change_count);
    for (uint32_t c = 0; c < own->change_count; c++) {
        archive_change(archive, &own->changes[c], engine, job != NULL ? job->group_count : UINT32_MAX);
        has_joins |= own->changes[c].is_join;
    }
    const bool may_grow = own->state == LIFE_STARTING || own->state == LIFE_HOLDING || own->state == LIFE_RUNNING;
    archive_expect(archive, !has_joins || may_grow);
    archive_expect(archive, own->change_count == 0 || own->state != LIFE_PENDING);
    if (job != NULL && !archive->is_broken)
        archive_expect(archive, holds_what_leaves(own, job));
}

/* Its state, and what it holds, suit each other. */
static bool is_possible(struct sim_job *own)
{
    const bool holds = own->pieces.piece_count > 0;
    switch (own->state) {
    case LIFE_PENDING:
    case LIFE_STARTING:
        return own->is_waiting && !holds;
    case LIFE_HOLDING:
        return own->is_waiting && holds;
    case LIFE_RUNNING:
        return !own->is_waiting && holds && job_pieces_is_complete(&own->pieces);
    case LIFE_LEAVING:
        return holds;
    default:
        return false;
    }
}

static void archive_life(struct archive *archive, struct engine *engine, uint32_t slot, const struct job *job)
{
    const struct cluster *cluster = engine->config->cluster;
    struct sim_job *own = &engine->jobs[slot];
    ARCHIVE_KNOWS(struct sim_job, 784);
    ARCHIVE(archive, own->state);
    ARCHIVE(archive, own->evict_reason);
    ARCHIVE(archive, own->is_waiting);
    ARCHIVE(archive, own->attempts);
    ARCHIVE(archive, own->owed);
    ARCHIVE(archive, own->row.held_milli_ns);
    ARCHIVE(archive, own->waiting_since);
    ARCHIVE(archive, own->running_since);
    ARCHIVE(archive, own->stale_since);
    ARCHIVE(archive, own->leaves_at);
    ARCHIVE(archive, own->thaws_at);
    archive_row(archive, &own->row, cluster);
    archive_progress(archive, &own->progress, engine->now);
    job_pieces_archive(archive, &own->pieces, cluster, job != NULL ? job->group_count : UINT32_MAX);
    archive_changes(archive, engine, own, job);
    archive_expect(archive, own->evict_reason < REASON_COUNT && is_amount(own->row.held_milli_ns) &&
                                moment_is_time(own->waiting_since) && moment_is_time(own->running_since) &&
                                moment_is_time(own->stale_since) && moment_is_time(own->leaves_at) &&
                                moment_is_time(own->thaws_at));
    archive_expect(archive, is_possible(own));
    if (archive_is_reading(archive) && !archive->is_broken)
        own->held_milli = pieces_gpu_milli(job_pieces_all(&own->pieces), own->pieces.piece_count);
}

/* ---- What the parts of the world know of it ---- */

static void archive_fault(struct archive *archive, struct sim_fault *own)
{
    ARCHIVE_KNOWS(struct sim_fault, 64);
    ARCHIVE(archive, own->next.at);
    ARCHIVE(archive, own->next.number);
    ARCHIVE(archive, own->next.salt);
    ARCHIVE(archive, own->next.cause);
    ARCHIVE(archive, own->row.own);
    ARCHIVE(archive, own->row.killed);
    ARCHIVE(archive, own->row.lost_gpu_ns);
    ARCHIVE(archive, own->row.blast_gpu_milli);
    archive_expect(archive, own->next.cause < FAULT_CAUSE_COUNT && own->next.at >= 0);
}

static void archive_folded(struct archive *archive, struct sim_folded *folded)
{
    ARCHIVE_KNOWS(struct sim_folded, 32);
    ARCHIVE(archive, folded->span);
    ARCHIVE(archive, folded->overhead);
    ARCHIVE(archive, folded->work);
    archive_expect(archive, folded->span >= 0 && moment_is_time(folded->span) && is_amount(folded->work));
}

static bool is_ratio(double value)
{
    return isfinite(value) && value >= 0 && value <= 1;
}

/* Where its GPUs stand follows from the pieces that it holds. */
static void archive_network(struct archive *archive, struct engine *engine, uint32_t slot)
{
    const struct sim_job *job = &engine->jobs[slot];
    struct pace_network *network = engine->paces[slot].network;
    ARCHIVE_KNOWS(struct pace_network, 432);
    ARCHIVE(archive, network->bytes_per_s);
    ARCHIVE(archive, network->time);
    ARCHIVE(archive, network->network_us_bytes);
    ARCHIVE(archive, network->planned_us_micro);
    archive_expect(archive, isfinite(network->bytes_per_s) && network->bytes_per_s >= 0 &&
                                isfinite(network->time.step_s) && is_ratio(network->time.exposed_ratio) &&
                                is_ratio(network->time.network_ratio) && is_ratio(network->time.speed) &&
                                is_ratio(network->time.mfu_ratio));
    if (archive_is_reading(archive) && !archive->is_broken && !job->is_waiting)
        engine_network_find(engine, slot);
}

static void archive_pace(struct archive *archive, struct engine *engine, uint32_t slot, const struct job *job)
{
    struct sim_pace *pace = &engine->paces[slot];
    ARCHIVE_KNOWS(struct sim_pace, 160);
    ARCHIVE(archive, pace->pace);
    ARCHIVE(archive, pace->slow);
    ARCHIVE(archive, pace->is_sliced);
    ARCHIVE(archive, pace->seen);
    ARCHIVE(archive, pace->active);
    ARCHIVE(archive, pace->active_since);
    ARCHIVE(archive, pace->active_ns);
    archive_folded(archive, &pace->folded);
    pieces_archive(archive, &pace->shares, &pace->share_capacity, &pace->share_count, engine->config->cluster,
                   job != NULL ? job->group_count : UINT32_MAX);
    for (uint32_t s = 0; s < pace->share_count && !archive->is_broken; s++)
        archive_expect(archive, pace->is_client && engine_clients_share(pace, &pace->shares[s]));
    archive_expect(archive, pace->pace >= 1 && pace->pace <= 2 * PACE_ONE * GPU_MILLI && isfinite(pace->slow) &&
                                pace->slow > 0 && moment_is_time(pace->active_since) && is_amount(pace->active_ns));
    if (pace->has_network && !archive->is_broken)
        archive_network(archive, engine, slot);
}

static void archive_activity(struct archive *archive, struct sim_activity *own, time_ns now)
{
    enum { PHILOX_WORDS = 4 };
    struct random_philox *stream = &own->process.stream.state;
    ARCHIVE_KNOWS(struct sim_activity, 224);
    ARCHIVE_KNOWS(struct random_philox, 44);
    ARCHIVE(archive, own->is_on);
    ARCHIVE(archive, *stream);
    ARCHIVE(archive, own->process.left);
    ARCHIVE(archive, own->process.own_milli);
    ARCHIVE(archive, own->process.is_active);
    ARCHIVE(archive, own->since);
    ARCHIVE(archive, own->active);
    ARCHIVE(archive, own->idle);
    ARCHIVE(archive, own->active_ns);
    ARCHIVE(archive, own->idle_ns);
    ARCHIVE(archive, own->held);
    ARCHIVE(archive, own->held_ns);
    archive_expect(archive, stream->used <= PHILOX_WORDS && own->process.left > 0 &&
                                own->process.own_milli <= GPU_MILLI && own->since >= 0 && own->since <= now &&
                                is_amount(own->active_ns) && is_amount(own->idle_ns) && is_amount(own->held_ns));
}

static void archive_spent_times(struct archive *archive, struct sim_spent *spent)
{
    ARCHIVE_KNOWS(struct sim_spent, 48);
    ARCHIVE(archive, *spent);
}

/* Does its phase suit its state? */
static bool is_phase(const struct sim_job *own, const struct sim_saves *saves)
{
    if (own->is_waiting)
        return saves->phase == SAVES_WORK && !saves->is_writing;
    return saves->phase == SAVES_WORK || (!saves->is_writing && progress_is_frozen(&own->progress));
}

static void archive_saves(struct archive *archive, struct sim_saves *saves, const struct sim_job *own)
{
    ARCHIVE_KNOWS(struct sim_saves, 288); /* the plan follows from the declaration */
    ARCHIVE(archive, saves->next);
    ARCHIVE(archive, saves->held);
    ARCHIVE(archive, saves->begun);
    ARCHIVE(archive, saves->done);
    archive_folded(archive, &saves->folded);
    archive_spent_times(archive, &saves->spent);
    ARCHIVE(archive, saves->lost.gpu_ns);
    ARCHIVE(archive, saves->phase);
    ARCHIVE(archive, saves->is_first);
    ARCHIVE(archive, saves->is_spared);
    ARCHIVE(archive, saves->is_writing);
    archive_expect(archive, saves->phase <= SAVES_PULL && is_amount(saves->next) && is_amount(saves->held) &&
                                is_amount(saves->begun) && moment_is_time(saves->done) && is_phase(own, saves));
}

static void archive_spending(struct archive *archive, struct sim_spending *own)
{
    ARCHIVE_KNOWS(struct sim_spending, 288); /* is_listed: by the list of the engine */
    ARCHIVE(archive, own->is_on);
    ARCHIVE(archive, own->held);
    ARCHIVE(archive, own->works_from);
    ARCHIVE(archive, own->working);
    ARCHIVE(archive, own->working_short);
    ARCHIVE(archive, own->part);
    ARCHIVE(archive, own->is_short);
    ARCHIVE(archive, own->since);
    ARCHIVE(archive, own->short_ns);
    ARCHIVE(archive, own->lost);
    ARCHIVE(archive, own->working_active);
    ARCHIVE(archive, own->active);
    archive_expect(archive, moment_is_time(own->works_from) && moment_is_time(own->since) && is_amount(own->short_ns) &&
                                is_amount(own->lost));
}

/* What it waited for so far; another policy's scheduler does not know it. */
static void archive_waits(struct archive *archive, struct engine *engine, uint32_t slot)
{
    struct wait_times times = {.mask = 0};
    if (!archive_is_reading(archive))
        engine_waited(engine, slot, &times);
    ARCHIVE(archive, times.mask);
    archive_expect(archive, times.mask >> REASON_COUNT == 0);
    for (uint32_t left = archive->is_broken ? 0 : times.mask; left != 0; left &= left - 1) {
        ARCHIVE(archive, times.of[__builtin_ctz(left)]);
        archive_expect(archive, times.of[__builtin_ctz(left)] > 0);
    }
    if (archive_is_reading(archive) && engine->before != NULL && !archive->is_broken)
        engine->before[slot] = times;
}

void engine_moment_job(struct archive *archive, struct engine *engine, uint32_t slot, const struct job *job)
{
    if (slot < engine->retry_capacity)
        engine_retry_archive(archive, engine, slot);
    archive_life(archive, engine, slot, job);
    if (archive->is_broken)
        return;
    if (engine->faults != NULL)
        archive_fault(archive, &engine->faults[slot]);
    if (engine->paces != NULL && engine->paces[slot].is_paced)
        archive_pace(archive, engine, slot, job);
    if (engine_activity_has(engine, slot))
        archive_activity(archive, engine->activities[slot], engine->now);
    if (engine_has_phases(engine))
        archive_saves(archive, &engine->saves[slot], &engine->jobs[slot]);
    if (engine->pulls != NULL)
        engine_pulls_archive_job(archive, engine, slot);
    if (engine->monitor != NULL)
        engine_monitor_archive_job(archive, engine, slot);
    bool is_spending = engine_spent_has(engine, slot);
    ARCHIVE(archive, is_spending);
    if (is_spending && !archive->is_broken) {
        MEM_GROW(engine->spendings, engine->spending_capacity, (size_t)engine->job_used);
        archive_spending(archive, &engine->spendings[slot]);
    }
    archive_waits(archive, engine, slot);
}
