/* GPU time by cause; see sim/engine/engine_spent.h. */
#include "sim/engine/engine_spent.h"
#include "sim/engine/engine_demand.h"
#include "sim/engine/engine_use.h"

#include <math.h>
#include <string.h>

void engine_spent_open(struct engine *engine)
{
    engine->spent = mem_zalloc(1, sizeof *engine->spent);
    engine->levels[LEVEL_FREE].value = (int64_t)engine->config->cluster->gpu_count * GPU_MILLI;
}

void engine_spent_release(struct engine *engine)
{
    if (engine->spent == NULL)
        return;
    mem_free(engine->spent->of);
    mem_free(engine->spent->stopped);
    mem_free(engine->spent);
}

static struct sim_spending *spending_of(const struct engine *engine, uint32_t slot)
{
    return slot < engine->spent->capacity ? &engine->spent->of[slot] : NULL;
}

void engine_spent_asks(struct engine *engine, uint32_t slot)
{
    struct sim_spending *own = spending_of(engine, slot);
    if (own != NULL)
        *own = (struct sim_spending){.is_listed = own->is_listed};
}

time_ns engine_spent_works_from(const struct engine *engine, uint32_t slot)
{
    const struct sim_spending *own = spending_of(engine, slot);
    return own != NULL && own->is_on ? own->works_from : 0;
}

/* ---- What a job is from now on ---- */

/* all x part / whole, rounded down. */
static int64_t share(int64_t all, int64_t part, int64_t whole)
{
    if (part == whole)
        return all;
    return (int64_t)((wide_ns)all * part / whole);
}

/* Of `all` units `left` are useful: find what its slowest member loses on its piece, and its job by communication. */
static void divide_pace(const struct sim_speed *speed, struct sim_spending *own, int64_t all, int64_t left)
{
    int64_t on_pieces = left;
    if (speed->network != 1)
        on_pieces = speed->slow > 1 ? llrint((double)all / speed->slow) : all;
    if (on_pieces < left) /* a speed is rounded to a millionth */
        on_pieces = left;
    own->working[speed->is_sliced ? SPENT_SLICED : SPENT_NEIGHBOURS] = all - on_pieces;
    own->working[SPENT_COMMUNICATION] = on_pieces - left;
}

/* Divide what it holds by what makes its job slow. */
static void divide(const struct engine *engine, uint32_t slot, struct sim_spending *own)
{
    const struct sim_job *job = &engine->jobs[slot];
    const int64_t one = job->progress.one, speed = job->progress.speed, members = job->pieces.held_count;
    const int64_t pace = engine_full_pace(job), present = engine_pace(job);
    const int64_t full = (pace > one ? pace : one) * members;
    const int64_t force = speed / present; /* members that work */
    const int64_t all = share(own->held, force, members), rest = share(own->held, force * present, members * pace);
    const int64_t useful = share(own->held, force * present, full);
    memset(own->working, 0, sizeof own->working);
    own->working[SPENT_RESERVED] = own->held - all;
    if (job->is_paced)
        divide_pace(&job->speed, own, rest, useful);
    own->working[SPENT_RESTART] = all - rest;
    own->working_short = own->held - share(own->held, speed, full);
}

/* Rows are not due at each end of a warm-up, so the job is listed for the next one. */
static void list(struct engine *engine, uint32_t slot, struct sim_spending *own)
{
    if (own->is_listed || own->works_from <= engine->now || own->works_from == TIME_NEVER)
        return;
    MEM_GROW(engine->spent->stopped, engine->spent->stopped_capacity, (size_t)engine->spent->stopped_count + 1);
    engine->spent->stopped[engine->spent->stopped_count++] = slot;
    own->is_listed = true;
}

/* Of a constant activity: milli-GPU x milli-activity while it works. */
static int64_t working_active(const struct engine *engine, uint32_t slot)
{
    const struct sim_job *job = &engine->jobs[slot];
    if (job->row.activity != NULL || job->row.sm_active_milli == SM_ACTIVE_UNKNOWN)
        return 0;
    if (job->is_paced)
        return engine_busy(engine, slot, job->speed.sm_active_milli);
    return engine->has_phases ? share(job->held_milli * job->row.sm_active_milli, engine_pace(job), job->progress.one)
                              : 0;
}

static void plan(struct engine *engine, uint32_t slot, struct sim_spending *own)
{
    const struct sim_job *job = &engine->jobs[slot];
    own->is_on = true;
    own->held = job->held_milli * SPENT_ONE;
    own->works_from = progress_is_frozen(&job->progress) ? TIME_NEVER : job->progress.works_from;
    own->working_active = working_active(engine, slot);
    divide(engine, slot, own);
    list(engine, slot, own);
}

/* ---- Levels ---- */

static void move_level(struct level *level, int64_t delta, time_ns at)
{
    level->value += delta;
    level->excess += (__int128)delta * at;
}

static void set_parts(struct engine *engine, struct sim_spending *own, const int64_t part[SPENT_COUNT],
                      int64_t is_short, time_ns at)
{
    own->short_ns += (wide_ns)own->is_short * (at - own->since);
    own->since = at;
    if (own->is_short != is_short) {
        move_level(&engine->spent->falls_short, is_short - own->is_short, at);
        own->is_short = is_short;
    }
    for (int cause = 0; cause < SPENT_COUNT; cause++)
        if (own->part[cause] != part[cause]) {
            move_level(&engine->spent->cause[cause], part[cause] - own->part[cause], at);
            own->part[cause] = part[cause];
        }
}

void engine_spent_set(struct engine *engine, uint32_t slot, time_ns at, bool is_idle)
{
    struct sim_spending *own = spending_of(engine, slot);
    if (own == NULL || !own->is_on)
        return;
    if (at >= own->works_from && !is_idle) {
        set_parts(engine, own, own->working, own->working_short, at);
        return;
    }
    int64_t part[SPENT_COUNT] = {0};
    part[at < own->works_from ? SPENT_RESTART : SPENT_IDLE_HELD] = own->held;
    set_parts(engine, own, part, own->held, at);
}

/* Make the change that is due by `at`, if any, of a job without declared activity. */
static void engine_spent_carry(struct engine *engine, uint32_t slot, time_ns at)
{
    struct sim_spending *own = spending_of(engine, slot);
    if (own == NULL || !own->is_on || own->since >= own->works_from || own->works_from > at)
        return;
    engine_spent_set(engine, slot, own->works_from, false);
    if (engine->has_phases)
        engine_spent_active(engine, slot, true, own->works_from);
    else if (engine->jobs[slot].row.activity == NULL)
        engine_use_count(engine, slot, own->works_from, true, true, USE_CONSTANT);
}

void engine_spent_counts(struct engine *engine, uint32_t slot, bool is_held)
{
    static const int64_t none[SPENT_COUNT] = {0};
    if (!is_held) {
        struct sim_spending *own = spending_of(engine, slot);
        if (own == NULL || !own->is_on)
            return;
        engine_spent_carry(engine, slot, engine->now);
        set_parts(engine, own, none, 0, engine->now);
        own->is_on = false;
        return;
    }
    MEM_GROW(engine->spent->of, engine->spent->capacity, (size_t)engine->job_used);
    engine_spent_carry(engine, slot, engine->now);
    plan(engine, slot, &engine->spent->of[slot]);
    engine_spent_set(engine, slot, engine->now, false);
}

/* ---- Changes that no event announces ---- */

void engine_spent_active(struct engine *engine, uint32_t slot, bool is_held, time_ns at)
{
    struct sim_spending *own = spending_of(engine, slot);
    if (own == NULL)
        return;
    const bool works = at >= own->works_from || !engine->has_phases;
    const int64_t active = is_held && works ? own->working_active : 0;
    move_level(&engine->levels[LEVEL_ACTIVE], active - own->active, at);
    own->active_ns += (wide_ns)own->active * (at - own->active_since);
    own->active_since = at;
    own->active = active;
    engine_use_turn(engine, slot, at, is_held, at >= own->works_from, USE_CONSTANT);
}

void engine_spent_to(struct engine *engine, time_ns at)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < engine->spent->stopped_count; i++) {
        const uint32_t slot = engine->spent->stopped[i];
        struct sim_spending *own = &engine->spent->of[slot];
        if (own->is_on && own->since < own->works_from && own->works_from > at) {
            engine->spent->stopped[kept++] = slot;
            continue;
        }
        if (engine->jobs[slot].row.activity == NULL)
            engine_spent_carry(engine, slot, at);
        own->is_listed = false;
    }
    engine->spent->stopped_count = kept;
}

void engine_spent_close(struct engine *engine, uint32_t slot)
{
    struct job_row *row = &engine->jobs[slot].row;
    const struct sim_spending *own = spending_of(engine, slot);
    if (own == NULL || row->activity != NULL || row->sm_active_milli == SM_ACTIVE_UNKNOWN || row->held_milli_ns == 0)
        return;
    const wide_ns all = own->active_ns + (wide_ns)own->active * (engine->now - own->active_since);
    if (engine->jobs[slot].wanted > 0)
        engine_note_unserved(&engine->jobs[slot], (double)all / GPU_MILLI / (double)row->held_milli_ns);
    const wide_ns milli = (all + row->held_milli_ns / 2) / row->held_milli_ns;
    row->sm_active_milli = (uint16_t)(milli < GPU_MILLI ? milli : GPU_MILLI);
}

/* ---- Work thrown away ---- */

/* Its SM activity, now that it does not run. */
static wide_ns active_so_far(const struct engine *engine, uint32_t slot, const struct sim_spending *own)
{
    const struct sim_job *job = &engine->jobs[slot];
    if (job->row.activity != NULL)
        return own->declared_active_ns;
    if (engine->has_phases || job->is_paced)
        return own->active_ns;
    return job->row.sm_active_milli != SM_ACTIVE_UNKNOWN ? job->row.held_milli_ns * job->row.sm_active_milli : 0;
}

void engine_spent_lose(struct engine *engine, uint32_t slot, wide_ns thrown, wide_ns work)
{
    MEM_GROW(engine->spent->of, engine->spent->capacity, (size_t)engine->job_used);
    struct sim_spending *own = &engine->spent->of[slot];
    assert(!own->is_on && thrown > 0 && thrown <= work);
    const wide_ns useful = engine->jobs[slot].row.held_milli_ns * SPENT_ONE - own->short_ns - own->lost;
    /* useful x thrown does not fit 128 bits; at full speed useful is a multiple of work, and the rest is 0 */
    const wide_ns rest = useful % work;
    const wide_ns lost =
        thrown == work
            ? useful
            : useful / work * thrown + (rest > 0 ? (wide_ns)((double)rest * ((double)thrown / (double)work)) : 0);
    own->lost += lost;
    engine->spent->lost += lost;
    engine_use_lose(engine, own, active_so_far(engine, slot, own), thrown, work);
}
