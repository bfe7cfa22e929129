#include "sim/engine/engine_activity.h"

#include "sim/engine/engine_demand.h"
#include "sim/engine/engine_spent.h"
#include "sim/engine/engine_use.h"
#include "workloads/activity/activity.h"

enum sim_spends { SPENDS_UNKNOWN, SPENDS_STOPPED, SPENDS_IDLE, SPENDS_WORKING };

struct sim_activity {
    bool is_declared; /* the job of this slot has a process */
    bool is_on;       /* it runs */
    bool is_open;     /* it is asked for work that comes anyway: a level is what would be active if all were served */
    struct activity process;
    int64_t gpus_milli, got_milli; /* GPUs on which its members have pieces, and those of the pieces that they get */
    double served;                 /* of a level there, on what its members ask for */
    time_ns since;                 /* up to here its integrals are complete */
    time_ns until;                 /* while it is on: its parts stay as they are until then */
    uint8_t spends;                /* enum sim_spends: what engine_spent_set was told last */
    int64_t active, idle;          /* its parts of LEVEL_ACTIVE and LEVEL_IDLE */
    wide_ns active_ns, idle_ns;    /* their integrals */
    int64_t held;                  /* milli-GPUs that it holds */
    wide_ns held_ns;               /* their integral */
    int64_t wanted;                /* if it is open: what would be active if all were served */
    wide_ns wanted_ns;             /* its integral */
    uint32_t on_index;             /* in `running`, if it is on */
};

struct activities {
    struct sim_activity **of; /* by slot; owned */
    size_t capacity;
    uint32_t *running; /* slots of jobs that run and have a process, in any order */
    size_t running_capacity;
    uint32_t running_count;
};

static struct activities *activities_of(const struct engine *engine) /* NULL: no kind of job declares its activity */
{
    return engine->states[PART_activity];
}

static void *begin(struct engine *engine, uint32_t needs)
{
    (void)needs;
    return engine->config->world.activity.count > 0 ? mem_zalloc(1, sizeof(struct activities)) : NULL;
}

/* ---- the process of a job ---- */

static struct sim_activity *activity_of(const struct engine *engine, uint32_t slot)
{
    const struct activities *all = activities_of(engine);
    struct sim_activity *own = all != NULL && slot < all->capacity ? all->of[slot] : NULL;
    return own != NULL && own->is_declared ? own : NULL;
}

/* What a level is of, and what it is on. */
static void fill_scale(const struct engine *engine, struct sim_activity *own, const struct job_asked *job)
{
    const struct engine_asked asked = engine_asked_of(engine, job->job, job->truth);
    own->gpus_milli = asked.gpus_milli;
    own->served = asked.served;
    own->is_open = asked.is_open;
    own->got_milli = 0;
    for (uint32_t g = 0; g < job->job->group_count; g++)
        own->got_milli += engine_member_milli(engine, &job->got[g].request) * job->got[g].count;
}

static void submitted(struct engine *engine, uint32_t slot, const struct job_asked *asked)
{
    struct activities *all = activities_of(engine);
    const struct job *job = asked->job;
    struct sim_job *of = &engine->jobs[slot];
    const struct job_names names = {.user = of->row.user, .workload_class = of->row.workload_class};
    const struct activity_plan *plan =
        activity_table_plan(&engine->config->world.activity, job, (of->asked_milli + GPU_MILLI - 1) / GPU_MILLI, names);
    MEM_GROW(all->of, all->capacity, (size_t)engine->job_used);
    if (all->of[slot] == NULL)
        all->of[slot] = mem_zalloc(1, sizeof(struct sim_activity));
    struct sim_activity *own = all->of[slot];
    assert(!own->is_on);
    own->is_declared = plan != NULL && of->asked_milli > 0;
    if (!own->is_declared)
        return;
    activity_begin(&own->process, plan, engine->config->seed, job->id);
    fill_scale(engine, own, asked);
    own->active = own->idle = 0;
    own->active_ns = own->idle_ns = own->held_ns = own->wanted_ns = 0;
    own->wanted = 0;
    own->held = 0;
    of->row.activity = activity_kind_names[plan->kind];
}

/* milli-GPU x milli-activity of the pieces that it holds, at that level. */
static int64_t busy_now(const struct engine *engine, const struct sim_activity *own, uint32_t slot, uint32_t level)
{
    const struct sim_job *job = &engine->jobs[slot];
    if (job->is_paced)
        return engine_busy(engine, slot, level);
    double milli = level;
    if (own->got_milli != own->gpus_milli && own->got_milli > 0)
        milli *= own->served * (double)own->gpus_milli / (double)own->got_milli;
    const int64_t busy = job->held_milli * lrint(fmin(GPU_MILLI, milli));
    return engine->has_phases ? (int64_t)((wide_ns)busy * engine_pace(job) / job->progress.one) : busy;
}

static int64_t wanted_now(const struct sim_activity *own, int64_t held_milli, uint32_t level)
{
    if (!own->is_open || own->got_milli == 0)
        return 0;
    return llrint((double)level * (double)own->gpus_milli / (double)own->got_milli * (double)held_milli);
}

static void move_level(struct engine *engine, enum level_id id, int64_t delta, time_ns at)
{
    engine->levels[id].value += delta;
    engine->levels[id].excess += (__int128)delta * at;
}

static void set_parts(struct engine *engine, struct sim_activity *own, int64_t active, int64_t idle, time_ns at)
{
    move_level(engine, LEVEL_ACTIVE, active - own->active, at);
    move_level(engine, LEVEL_IDLE, idle - own->idle, at);
    own->active = active;
    own->idle = idle;
}

/* Count what it is from `at` on: its integrals are complete up to there. */
static void count_at(struct engine *engine, struct sim_activity *own, uint32_t slot, time_ns at)
{
    const uint32_t level = activity_level(&own->process, at);
    const time_ns works_from = engine_spent_works_from(engine, slot);
    own->held = engine->jobs[slot].held_milli;
    const bool works = !engine->has_phases || works_from <= at;
    const bool is_idle = works && level == 0;
    own->wanted = wanted_now(own, own->held, level);
    set_parts(engine, own, works ? busy_now(engine, own, slot, level) : 0, is_idle ? own->held : 0, at);
    const enum sim_spends spends = at < works_from ? SPENDS_STOPPED : is_idle ? SPENDS_IDLE : SPENDS_WORKING;
    if (own->spends != spends)
        engine_spent_set(engine, slot, at, is_idle);
    own->spends = (uint8_t)spends;
    engine_use_turn(engine, slot, at, true, works && at >= works_from, (int)level);
    own->until = time_after(at, activity_holds(&own->process, at));
    if (at < works_from && works_from < own->until)
        own->until = works_from;
}

static void carry_on(struct engine *engine, uint32_t slot, time_ns to)
{
    struct sim_activity *own = activities_of(engine)->of[slot];
    while (own->since < to) {
        const time_ns span = (own->until < to ? own->until : to) - own->since;
        own->active_ns += (wide_ns)own->active * span;
        own->idle_ns += (wide_ns)own->idle * span;
        own->held_ns += (wide_ns)own->held * span;
        own->wanted_ns += (wide_ns)own->wanted * span;
        activity_run(&own->process, span);
        own->since += span;
        if (own->since == own->until)
            count_at(engine, own, slot, own->since);
    }
}

/* ---- the jobs that run ---- */

static void switch_on(struct engine *engine, struct sim_activity *own, uint32_t slot)
{
    struct activities *all = activities_of(engine);
    MEM_GROW(all->running, all->running_capacity, (size_t)all->running_count + 1);
    own->on_index = all->running_count;
    all->running[all->running_count++] = slot;
    own->since = engine->now;
    own->is_on = true;
}

static void switch_off(struct engine *engine, struct sim_activity *own)
{
    struct activities *all = activities_of(engine);
    const uint32_t last = all->running[--all->running_count];
    all->running[own->on_index] = last;
    all->of[last]->on_index = own->on_index;
    own->is_on = false;
}

/* Carry its process on to now, before its speed changes. */
static void fold(struct engine *engine, uint32_t slot)
{
    const struct sim_activity *own = activity_of(engine, slot);
    if (own != NULL && own->is_on)
        carry_on(engine, slot, engine->now);
}

static bool counts(struct engine *engine, uint32_t slot, bool is_held)
{
    struct sim_activity *own = activity_of(engine, slot);
    if (own == NULL)
        return false;
    if (own->is_on)
        carry_on(engine, slot, engine->now);
    else if (is_held)
        switch_on(engine, own, slot);
    engine_spent_counts(engine, slot, is_held);
    own->spends = SPENDS_UNKNOWN;
    if (is_held) {
        count_at(engine, own, slot, engine->now);
    } else if (own->is_on) {
        set_parts(engine, own, 0, 0, engine->now);
        engine_use_turn(engine, slot, engine->now, false, false, 0);
        engine->spent->of[slot].declared_active_ns = own->active_ns;
        switch_off(engine, own);
    }
    return true;
}

static void carry(struct engine *engine, time_ns at)
{
    const struct activities *all = activities_of(engine);
    for (uint32_t i = 0; i < all->running_count; i++)
        if (all->of[all->running[i]]->until <= at)
            carry_on(engine, all->running[i], at);
}

static void closed(struct engine *engine, uint32_t slot)
{
    enum { MILLI_NS_PER_US = GPU_MILLI * 1000 };
    struct sim_job *job = &engine->jobs[slot];
    struct sim_activity *own = activity_of(engine, slot);
    if (own == NULL)
        return;
    if (own->is_on)
        carry_on(engine, slot, engine->now);
    job->row.active_gpu_us = (int64_t)(own->active_ns / GPU_MILLI / MILLI_NS_PER_US);
    job->row.idle_held_gpu_us = (int64_t)(own->idle_ns / MILLI_NS_PER_US);
    const wide_ns missing = own->wanted_ns - own->active_ns;
    job->row.unserved_gpu_us = missing > 0 ? llrint((double)missing / GPU_MILLI / MILLI_NS_PER_US) : 0;
    if (job->row.held_milli_ns == 0)
        return;
    const wide_ns milli = (own->active_ns + job->row.held_milli_ns / 2) / job->row.held_milli_ns;
    job->row.sm_active_milli = (uint16_t)(milli < GPU_MILLI ? milli : GPU_MILLI);
}

/* ---- What a monitor measures ---- */

struct activity_sums engine_activity_sums(struct engine *engine, uint32_t slot)
{
    const struct sim_activity *own = activity_of(engine, slot);
    if (own == NULL)
        return (struct activity_sums){0};
    if (own->is_on && own->until <= engine->now)
        carry_on(engine, slot, engine->now);
    const time_ns span = own->is_on ? engine->now - own->since : 0;
    return (struct activity_sums){own->active_ns + (wide_ns)own->active * span,
                                  own->held_ns + (wide_ns)own->held * span};
}

double engine_activity_constant(const struct engine *engine, uint32_t slot)
{
    const struct sim_job *job = &engine->jobs[slot];
    const uint16_t milli = job->row.sm_active_milli;
    if (milli == SM_ACTIVE_UNKNOWN || job->held_milli == 0 || activity_of(engine, slot) != NULL)
        return -1;
    if (job->is_paced)
        return (double)engine_busy(engine, slot, job->speed.sm_active_milli) / (double)job->held_milli;
    return milli;
}

time_ns engine_activity_idle_for(struct engine *engine, uint32_t slot)
{
    struct sim_activity *own = activity_of(engine, slot);
    if (own == NULL)
        return engine_activity_constant(engine, slot) > 0 ? 0 : TIME_NEVER;
    if (own->is_on)
        carry_on(engine, slot, engine->now);
    return activity_level(&own->process, engine->now) > 0 ? 0 : activity_holds(&own->process, engine->now);
}

static void release(struct engine *engine)
{
    struct activities *all = activities_of(engine);
    for (size_t s = 0; s < all->capacity; s++)
        mem_free(all->of[s]);
    mem_free(all->of);
    mem_free(all->running);
    mem_free(all);
}

const struct engine_part engine_part_activity = {.begin = begin,
                                                 .release = release,
                                                 .carry = carry,
                                                 .submitted = submitted,
                                                 .closed = closed,
                                                 .fold = fold,
                                                 .counts = counts};
