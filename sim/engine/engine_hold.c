/* What jobs hold: members come and go, attempts open and close, and GPU time is booked. */
#include "sim/engine/engine_state.h"
#include "sim/engine/engine_use.h"

void engine_begin_wait(struct engine *engine, struct sim_job *job)
{
    job->waiting_since = engine->now;
    job->is_waiting = true;
    engine_level(engine, LEVEL_PENDING, 1);
    engine->pending_milli += job->asked_milli;
}

void engine_end_wait(struct engine *engine, struct sim_job *job)
{
    job->row.wait_total += engine->now - job->waiting_since;
    job->is_waiting = false;
    engine_level(engine, LEVEL_PENDING, -1);
    engine->pending_milli -= job->asked_milli;
}

/* ---- GPU time ---------------------------------------------------------------------------------- */

/* Time x GPUs held, in GPU-nanoseconds; the product needs 128 bits before the division. */
static int64_t held_time(const struct sim_job *job, time_ns time)
{
    return (int64_t)((wide_ns)time * job->held_milli / GPU_MILLI);
}

/* GPU time of `work` units of work: a member counts as the mean of all members. */
static int64_t work_time(const struct sim_job *job, wide_ns work)
{
    const int64_t units = (int64_t)job->progress.members * job->progress.one;
    return (int64_t)(work * job->row.gpu_milli / GPU_MILLI / units);
}

static uint32_t slot_of(const struct engine *engine, const struct sim_job *job)
{
    return (uint32_t)(job - engine->jobs);
}

bool engine_is_preemption(uint8_t reason)
{
    return reason == REASON_PREEMPTED || reason == REASON_RECLAIMED || reason == REASON_CONSOLIDATED ||
           reason == REASON_HEADROOM || reason == REASON_GAP;
}

/* Book overhead and work that is thrown away. */
static void book_loss(struct engine *engine, struct sim_job *job, time_ns idle, const struct sim_spent *spent,
                      wide_ns work)
{
    struct sim_loss loss = {
        .spent = spent, .idle = idle, .thrown = work_time(job, work), .overhead = held_time(job, idle)};
    EACH_PART(engine, lost)(engine, slot_of(engine, job), &loss);
    job->row.overhead_gpu_ns += loss.overhead;
    job->row.lost_gpu_ns += loss.overhead + loss.thrown;
    if (engine_is_preemption(job->evict_reason))
        job->row.preempted_gpu_ns += loss.overhead + loss.thrown - loss.own;
}

/* Book the present attempt at its end: `work` units are done by now, and `kept` of them survive. */
static void book_attempt(struct engine *engine, struct sim_job *job, enum attempt_end why, wide_ns work, wide_ns kept)
{
    const struct progress *progress = &job->progress;
    const struct sim_folded folded = job->is_folded ? job->folded : (struct sim_folded){0};
    struct sim_spent spent = {0};
    EACH_PART(engine, attempt)(engine, slot_of(engine, job), &spent);
    job->is_folded = false;
    time_ns span = engine->now - progress->since + folded.span;
    if (!job->is_waiting) {
        const time_ns idle = progress_overhead(progress, engine->now) + folded.overhead + spent.slowed;
        job->row.run += span;
        job->row.held_milli_ns += (wide_ns)span * job->held_milli;
        if (idle > 0 || work > kept)
            book_loss(engine, job, idle, &spent, work - kept);
        if (work > kept)
            engine_spent_lose(engine, slot_of(engine, job), work - kept, work);
    }
    if (why == ATTEMPT_RESIZED && span == 0)
        return; /* all changes of one instant count as one */
    if (engine->rows.wants_attempts || (engine->rows.wants_gangs && job->held_milli > GPU_MILLI))
        engine_emit_attempt(engine, job,
                            &(struct sim_attempt){.start = engine->now - span,
                                                  .why = why,
                                                  .before = progress->work - folded.work,
                                                  .kept = kept,
                                                  .work = work});
    job->attempts++;
    job->row.resizes += why == ATTEMPT_RESIZED;
}

/* ---- Attempts ---------------------------------------------------------------------------------- */

/* False: its SM activity is the same as long as it runs, and is not counted yet. */
static bool count_use(struct engine *engine, uint32_t slot, bool is_held)
{
    for (const struct engine_part *const *part = engine->parts; *part != NULL; part++)
        if ((*part)->counts != NULL && (*part)->counts(engine, slot, is_held))
            return true;
    if (engine_spent_must_count(engine, slot, is_held))
        engine_spent_counts(engine, slot, is_held);
    const bool is_counted = engine->has_phases || engine->jobs[slot].is_paced;
    if (is_counted)
        engine_spent_active(engine, slot, is_held, engine->now);
    return is_counted;
}

void engine_recount(struct engine *engine, uint32_t slot)
{
    if (!count_use(engine, slot, true))
        engine_use_again(engine, slot);
}

static void count_held(struct engine *engine, const struct sim_job *job, int sign)
{
    int64_t held = sign * job->held_milli;
    if (job->is_waiting) {
        engine_level(engine, LEVEL_PARTIAL, held);
        return;
    }
    engine_level(engine, LEVEL_ALLOCATED, held);
    if (count_use(engine, slot_of(engine, job), sign > 0))
        return;
    if (job->row.sm_active_milli != SM_ACTIVE_UNKNOWN)
        engine_level(engine, LEVEL_ACTIVE, held * job->row.sm_active_milli);
    engine_use_held(engine, slot_of(engine, job), held);
}

static void close_attempt(struct engine *engine, struct sim_job *job, enum attempt_end why, wide_ns work, wide_ns kept)
{
    count_held(engine, job, -1);
    book_attempt(engine, job, why, work, kept);
}

/* The attempt ends because the job's members change; no work is lost. */
static void resize_attempt(struct engine *engine, struct sim_job *job)
{
    const wide_ns work = progress_work_at(&job->progress, engine->now);
    close_attempt(engine, job, ATTEMPT_RESIZED, work, work);
}

static wide_ns work_now(const struct engine *engine, const struct sim_job *job)
{
    return progress_work_at(&job->progress, engine->now);
}

static void add_pieces(struct engine *engine, struct sim_job *job, const struct piece *pieces, uint32_t count)
{
    const int64_t milli = pieces_gpu_milli(pieces, count);
    job_pieces_add(&job->pieces, pieces, count);
    job->held_milli += milli;
    engine_level(engine, LEVEL_FREE, -milli);
    EACH_PART(engine, taken)(engine, pieces, count, 1);
    if (engine->config->is_checked) {
        engine_check_take(engine, pieces, count);
        engine_check_pieces(engine, job);
    }
}

static void take_pieces(struct engine *engine, struct sim_job *job, const struct piece *pieces, uint32_t count)
{
    bool were_held = job_pieces_take(&job->pieces, pieces, count);
    assert(were_held);
    (void)were_held;
    const int64_t milli = pieces_gpu_milli(pieces, count);
    job->held_milli -= milli;
    engine_level(engine, LEVEL_FREE, milli);
    EACH_PART(engine, taken)(engine, pieces, count, -1);
    if (engine->config->is_checked)
        engine_check_give(engine, pieces, count);
}

static void take_all(struct engine *engine, struct sim_job *job)
{
    if (engine->config->is_checked)
        engine_check_give(engine, job_pieces_all(&job->pieces), job->pieces.piece_count);
    EACH_PART(engine, taken)(engine, job_pieces_all(&job->pieces), job->pieces.piece_count, -1);
    job_pieces_clear(&job->pieces);
    engine_level(engine, LEVEL_FREE, job->held_milli);
    job->held_milli = 0;
}

/* Push the event of its end at its present speed: its work is done, or its limit is reached.  The limit does not kill a
 * leaving job that writes its last checkpoint. */
static void push_end(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    struct sim_next next = {.end = progress_end(&job->progress),
                            .due = TIME_NEVER,
                            .has_limit = engine->config->world.kills_at_limit &&
                                         (job->state == LIFE_RUNNING || !progress_is_frozen(&job->progress))};
    job->generation++;
    EACH_PART(engine, plan)(engine, slot, &next);
    if (next.has_limit && job->limit < next.end - job->running_since)
        next.end = job->running_since + job->limit;
    const bool is_due = __builtin_expect(next.due < next.end, false);
    const time_ns at = is_due ? next.due : next.end;
    if (at != TIME_NEVER)
        event_queue_push(&engine->events, at > engine->now ? at : engine->now, is_due ? EVENT_CHECKPOINT : EVENT_END,
                         slot, job->generation);
}

/* Members in force: those that work while the gang is complete.  Members that replace leaving ones add nothing until
 * these have left. */
static uint32_t force_of(const struct job_pieces *own)
{
    if (!job_pieces_is_complete(own))
        return 0;
    const uint32_t working = job_pieces_working(own);
    return working < own->member_count ? working : own->member_count;
}

static inline int64_t speed_of(const struct sim_job *job)
{
    return force_of(&job->pieces) * engine_pace(job);
}

/* ---- Speeds ---- */

static bool is_running(const struct sim_job *job)
{
    return !job->is_waiting && job->pieces.piece_count > 0;
}

void engine_fold(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    struct progress *progress = &job->progress;
    const wide_ns before = progress->work;
    if (!is_running(job))
        return;
    if (!job->is_folded)
        job->folded = (struct sim_folded){0};
    job->is_folded = true;
    EACH_PART(engine, fold)(engine, slot);
    job->folded.span += engine->now - progress->since;
    job->folded.overhead += progress_overhead(progress, engine->now);
    progress_turn(progress, engine->now, progress->speed);
    job->folded.work += progress->work - before;
}

void engine_make_paced(struct engine *engine, uint32_t slot, const struct job_truth *truth)
{
    struct sim_job *job = &engine->jobs[slot];
    const uint16_t milli = truth->sm_active_milli == SM_ACTIVE_UNKNOWN ? truth->would_do_milli : truth->sm_active_milli;
    job->is_paced = true;
    job->progress.one = PACE_ONE;
    job->speed = (struct sim_speed){.pace = PACE_ONE,
                                    .sm_active_milli = milli,
                                    .slow = 1,
                                    .network = 1,
                                    .served = 1,
                                    .host = (double)job->parts.host / 1e6};
}

void engine_set_speed(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    struct sim_speed speed = job->speed;
    speed.slow = speed.network = 1;
    speed.is_sliced = false;
    EACH_PART(engine, slows)(engine, slot, &speed);
    speed.pace = (uint32_t)lrint(fmax(1, PACE_ONE * speed.network / speed.slow));
    const bool is_same = speed.pace == job->speed.pace;
    const bool is_same_cause = speed.is_sliced == job->speed.is_sliced && speed.served == job->speed.served;
    if (!is_same)
        engine_fold(engine, slot);
    job->speed = speed;
    if (!is_running(job))
        return;
    if (!is_same)
        engine_turn(engine, slot);
    else if (!is_same_cause)
        engine_recount(engine, slot);
}

void engine_turn(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    progress_turn(&job->progress, engine->now, speed_of(job));
    push_end(engine, slot);
    engine_recount(engine, slot);
}

/* ---- Members come ------------------------------------------------------------------------------ */

/* When the last job that it depends on ended, but not before its submission. */
static time_ns eligible_at(const struct engine *engine, const struct sim_job *job)
{
    time_ns eligible = job->row.submit;
    for (uint32_t i = 0; i < job->after_count; i++)
        if (engine->ended.at[job->after[i].job] > eligible)
            eligible = engine->ended.at[job->after[i].job];
    return eligible;
}

/* GPUs of the whole job.  If it asks for GPU memory this depends on the GPU model, so it is known only now; members
 * that are not there yet count as the mean of the others. */
static int64_t whole_milli(const struct sim_job *job)
{
    if (job->is_exact)
        return job->asked_milli;
    return job->held_milli * job->pieces.member_count / job->pieces.held_count;
}

/* The GPU model of its first piece.  In a cluster of equal nodes the node is not read. */
static uint8_t model_of(const struct engine *engine, const struct sim_job *job)
{
    const struct cluster *cluster = engine->config->cluster;
    return cluster->type_count == 1 ? cluster->types[0].model
                                    : cluster_node_type(cluster, job_pieces_all(&job->pieces)->node)->model;
}

/* Its gang is complete, so it runs. */
static void begin_run(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    bool is_first = job->row.start == TIME_NEVER;
    engine_end_wait(engine, job);
    engine_step(job, STEP_EFFECT);
    engine_level(engine, LEVEL_RUNNING, 1);
    engine->counts.started++;
    if (is_first) {
        engine->counts.first_starts++;
        job->row.start = engine->now;
        job->row.eligible = eligible_at(engine, job);
        job->row.wait = engine->now - job->row.eligible;
    }
    job->row.model = model_of(engine, job);
    job->row.gpu_milli = whole_milli(job);
    job->running_since = engine->now;
    job->stale_since = TIME_NEVER;
    progress_begin(&job->progress, engine->now, is_first || engine->has_phases ? 0 : job->checkpoint.restart,
                   speed_of(job));
    EACH_PART(engine, runs)(engine, slot, is_first);
}

void engine_join(struct engine *engine, uint32_t slot, const struct piece *pieces, uint32_t count, decision_id decision)
{
    struct sim_job *job = &engine->jobs[slot];
    if (job->state != LIFE_STARTING)
        resize_attempt(engine, job);
    add_pieces(engine, job, pieces, count);
    if (!job->is_waiting)
        progress_turn(&job->progress, engine->now, speed_of(job));
    else if (job_pieces_is_complete(&job->pieces))
        begin_run(engine, slot);
    else if (job->state == LIFE_STARTING)
        engine_step(job, STEP_PART);
    if (job->is_waiting)
        progress_turn(&job->progress, engine->now, 0);
    else
        push_end(engine, slot);
    count_held(engine, job, 1);
    EACH_PART(engine, moved)(engine, slot);
    EACH_PART(engine, came)(engine, slot, pieces_gpu_milli(pieces, count));
    engine_hash(engine, EVENT_EFFECT, job->row.id);
    port_job_started(&engine->port, job->row.id, decision, engine->now);
}

/* ---- Members go -------------------------------------------------------------------------------- */

/* A START with these pieces takes effect, or never will. */
static void leave_starting(struct engine *engine, const struct sim_change *change)
{
    if (!change->is_join)
        return;
    engine_level(engine, LEVEL_STARTING, -pieces_gpu_milli(change->pieces, change->piece_count));
    EACH_PART(engine, taken)(engine, change->pieces, change->piece_count, -1);
}

void engine_drop_changes(struct engine *engine, struct sim_job *job, bool joins_only)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < job->change_count; i++) {
        if (joins_only && !job->changes[i].is_join) {
            job->changes[kept++] = job->changes[i];
            continue;
        }
        leave_starting(engine, &job->changes[i]);
        mem_free(job->changes[i].pieces);
    }
    job->change_count = kept;
}

/* Work that survives if all members leave now. */
static wide_ns kept_work(const struct engine *engine, const struct sim_job *job)
{
    if (progress_is_frozen(&job->progress) && job->thaws_at <= engine->now)
        return work_now(engine, job); /* the checkpoint is written */
    return progress_kept(&job->progress, engine->now, engine->has_charges ? 0 : job->checkpoint.interval);
}

/* The job stops running and falls back to the work that was kept. */
static void stop_run(struct engine *engine, struct sim_job *job, wide_ns kept)
{
    if (!job->is_waiting) {
        engine_level(engine, LEVEL_RUNNING, -1);
        engine_begin_wait(engine, job);
    }
    job->generation++;
    progress_turn(&job->progress, engine->now, 0);
    progress_stop(&job->progress, kept);
    EACH_PART(engine, stops)(engine, slot_of(engine, job));
}

/* kept: the work of the job that survives. */
static void count_eviction(struct engine *engine, struct sim_job *job, wide_ns kept)
{
    const wide_ns gain = kept - (engine->has_charges ? job->begun : job->progress.saved);
    stall_eviction(&engine->stalls.steps, progress_reference(&job->progress, gain));
    engine->counts.evicted++;
    job->row.evictions++;
    engine_hash(engine, EVENT_EVICT + 0x40, job->row.id);
}

/* It holds nothing any more; members of it may be starting. */
static void wait_again(struct sim_job *job)
{
    engine_step(job, STEP_LEFT);
    for (uint32_t i = 0; i < job->change_count; i++)
        if (job->changes[i].is_join && job->state == LIFE_PENDING)
            engine_step(job, STEP_START);
}

/* Too few members are left to run: unsaved work is lost, and the job waits with the space of the other members. */
static bool part_short(struct engine *engine, struct sim_job *job, const struct sim_change *change)
{
    wide_ns kept = kept_work(engine, job);
    wide_ns work = work_now(engine, job);
    job->evict_reason = change->reason;
    close_attempt(engine, job, ATTEMPT_EVICTED, work, kept);
    count_eviction(engine, job, kept);
    take_pieces(engine, job, change->pieces, change->piece_count);
    stop_run(engine, job, kept);
    job->stale_since = engine->now;
    if (job->pieces.piece_count > 0)
        engine_step(job, STEP_SHORT);
    else
        wait_again(job);
    return kept == work;
}

/* The other members go on at once, without loss. */
static void part_on(struct engine *engine, uint32_t slot, const struct sim_change *change)
{
    struct sim_job *job = &engine->jobs[slot];
    bool thaws = progress_is_frozen(&job->progress) && job->state == LIFE_RUNNING && job->thaws_at <= engine->now;
    job->evict_reason = change->reason;
    resize_attempt(engine, job);
    take_pieces(engine, job, change->pieces, change->piece_count);
    progress_turn(&job->progress, engine->now, speed_of(job));
    if (thaws) {
        progress_thaw(&job->progress);
        job->progress.saved = job->progress.work;
    }
    push_end(engine, slot);
}

/* The job waits, so it has no unsaved work. */
static void part_waiting(struct engine *engine, struct sim_job *job, const struct sim_change *change)
{
    bool is_last =
        change->piece_count > 0 && pieces_member_count(change->pieces, change->piece_count) == job->pieces.held_count;
    job->evict_reason = change->reason;
    close_attempt(engine, job, is_last ? ATTEMPT_EVICTED : ATTEMPT_RESIZED, work_now(engine, job), job->progress.work);
    take_pieces(engine, job, change->pieces, change->piece_count);
    progress_turn(&job->progress, engine->now, 0);
    if (!is_last)
        return;
    count_eviction(engine, job, job->progress.saved);
    if (job->state == LIFE_HOLDING)
        wait_again(job);
}

static void engine_shrink(struct engine *engine, uint32_t slot, const struct sim_change *change)
{
    struct sim_job *job = &engine->jobs[slot];
    struct members which = {change->decision, NODE_NONE};
    bool is_saved = true;
    if (job->is_waiting)
        part_waiting(engine, job, change);
    else if (job->state == LIFE_RUNNING &&
             !job_pieces_is_complete_without(&job->pieces, change->pieces, change->piece_count))
        is_saved = part_short(engine, job, change);
    else
        part_on(engine, slot, change);
    count_held(engine, job, 1);
    EACH_PART(engine, moved)(engine, slot);
    EACH_PART(engine, left)(engine, slot, pieces_gpu_milli(change->pieces, change->piece_count), change->reason);
    engine_hash(engine, EVENT_EVICT + 0x50, job->row.id);
    port_job_evicted(&engine->port, job->row.id, which, is_saved ? EVICT_SAVED : EVICT_LOST, engine->now);
}

/* ---- Changes that are due ---- */

/* Take the first due change of that kind off the list; false: there is none. */
static bool take_due(struct engine *engine, struct sim_job *job, bool is_join, struct sim_change *change)
{
    for (uint32_t i = 0; i < job->change_count; i++) {
        if (job->changes[i].is_join != is_join || job->changes[i].due > engine->now)
            continue;
        *change = job->changes[i];
        leave_starting(engine, change);
        for (job->change_count--; i < job->change_count; i++)
            job->changes[i] = job->changes[i + 1];
        return true;
    }
    return false;
}

void engine_join_due(struct engine *engine, uint32_t slot)
{
    struct sim_change change;
    while (take_due(engine, &engine->jobs[slot], true, &change)) {
        engine_join(engine, slot, change.pieces, change.piece_count, change.decision);
        mem_free(change.pieces);
    }
}

void engine_shrink_due(struct engine *engine, uint32_t slot)
{
    struct sim_change change;
    while (take_due(engine, &engine->jobs[slot], false, &change)) {
        engine_shrink(engine, slot, &change);
        mem_free(change.pieces);
    }
}

void engine_shrink_saved(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    for (uint32_t i = 0; i < job->change_count; i++)
        if (job->changes[i].awaits_save)
            job->changes[i].due = engine->now;
    engine_shrink_due(engine, slot);
}

/* ---- All members go ---- */

void engine_leave(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    wide_ns kept = job->is_waiting ? job->progress.work : kept_work(engine, job);
    bool is_saved = progress_is_frozen(&job->progress) && job->thaws_at <= engine->now;
    if (engine->has_charges || job->phase == PHASE_PULL)
        is_saved |= kept == work_now(engine, job);
    close_attempt(engine, job, ATTEMPT_EVICTED, work_now(engine, job), kept);
    count_eviction(engine, job, kept);
    const int64_t held_milli = job->held_milli;
    take_all(engine, job);
    engine_drop_changes(engine, job, false);
    job->tenure++;
    stop_run(engine, job, kept);
    EACH_PART(engine, moved)(engine, slot);
    engine_step(job, STEP_LEFT);
    EACH_PART(engine, left)(engine, slot, held_milli, job->evict_reason);
    port_job_evicted(&engine->port, job->row.id, MEMBERS_ALL, is_saved ? EVICT_SAVED : EVICT_LOST, engine->now);
}

void engine_take(struct engine *engine, uint32_t slot, enum reason reason)
{
    struct sim_job *job = &engine->jobs[slot];
    if (job->state == LIFE_RUNNING)
        port_tell(
            &engine->port,
            &(struct fact){.kind = FACT_JOB_LEAVING, .now = engine->now, .id = job->row.id, .which = MEMBERS_ALL});
    job->evict_reason = (uint8_t)reason;
    engine_leave(engine, slot);
}

static void close_parts(struct engine *engine, uint32_t slot)
{
    if (engine->jobs[slot].is_paced)
        engine_spent_close(engine, slot);
    else if (engine->jobs[slot].wanted > 0)
        engine_note_unserved(&engine->jobs[slot], engine->jobs[slot].served);
    EACH_PART(engine, closed)(engine, slot);
}

void engine_let_go(struct engine *engine, uint32_t slot, wide_ns work)
{
    struct sim_job *job = &engine->jobs[slot];
    close_attempt(engine, job, ATTEMPT_ENDED, work, work);
    engine_level(engine, LEVEL_RUNNING, -1);
    take_all(engine, job);
    engine_drop_changes(engine, job, false);
    EACH_PART(engine, stops)(engine, slot);
    EACH_PART(engine, moved)(engine, slot);
    close_parts(engine, slot);
    job->progress.work = job->progress.saved = work;
}

void engine_close_job(struct engine *engine, struct sim_job *job)
{
    const wide_ns work = work_now(engine, job);
    if (job->pieces.piece_count > 0)
        book_attempt(engine, job, ATTEMPT_UNFINISHED, work, work);
    close_parts(engine, slot_of(engine, job));
    job->progress.work = work;
}
