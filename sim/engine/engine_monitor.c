/* The monitor of the world, a part: it measures jobs that run, and tells the scheduler.
 *
 * Each period it takes the mean SM activity of each job over the window since the last period, or since the job came to
 * run; after the delay of world.monitor the scheduler is told (sched_job_observed), then there is a cycle.
 *
 * Laws
 *  - Only readings of sim/monitor/monitor.h are told: of jobs that still run, in the run that the window lies in.
 *  - A job is told of if the policy wants to know about its class (idle_listens), or facts are recorded, or another
 *    program decides.  There is a cycle only if the policy wants to know, or another program decides whose policy is
 *    not known; so a listener changes nothing.
 *  - The mean is exact for jobs with an activity of their own (sim/engine/engine_activity.h).  For others, whose
 *    activity is constant, it is the present one, at their present pace; no reading if their activity is not known.
 *
 * It counts what idle policies did, with the truth at hand (struct idle_row). */
#include <assert.h>
#include <string.h>

#include "sim/engine/engine_activity.h"

enum { EVENT_OF_TICK, EVENT_OF_REPORT }; /* the subject of an event */

struct reading {
    job_id job;
    uint32_t slot, run; /* of the job when it was measured */
    bool wants_cycle;
    struct observation observation;
};

struct watched { /* a job, by slot */
    bool is_on, is_told, wants_cycle;
    uint32_t run;              /* number of its run, among all of the slot */
    time_ns since;             /* the beginning of its present window */
    struct activity_sums sums; /* at `since` */
    struct idle_row row;
    /* GPUs that it lost as idle, and when that began; they count until it is back, at most until `given_until`. */
    int64_t given_milli;
    time_ns given_since, given_until;
};

struct monitor {
    struct watched *of;
    size_t capacity;
    uint32_t running; /* jobs that run */
    uint32_t *told;   /* slots of the running jobs whose readings the scheduler gets, sorted by job id */
    size_t told_capacity;
    uint32_t told_count;
    struct reading *readings; /* in the order of their reports, from `first` on */
    size_t reading_capacity;
    uint32_t first, reading_count;
    bool ticks; /* the event of a tick is pushed */
    uint64_t tick;
    uint64_t noise; /* monitor_noise */
};

static struct monitor *monitor_of(const struct engine *engine)
{
    return engine->states[PART_monitor];
}

static void *begin(struct engine *engine, uint32_t needs)
{
    (void)needs;
    if (engine->config->world.monitor.period == 0)
        return NULL;
    struct monitor *monitor = mem_zalloc(1, sizeof *monitor);
    monitor->noise = monitor_noise(engine->config->seed);
    return monitor;
}

static void release(struct engine *engine)
{
    struct monitor *monitor = monitor_of(engine);
    mem_free(monitor->of);
    mem_free(monitor->told);
    mem_free(monitor->readings);
    mem_free(monitor);
}

/* ---- Jobs ---- */

/* Does the policy want to know of the job? */
static void want(const struct engine *engine, uint32_t slot)
{
    const struct policy_config *policy = engine->policy;
    struct watched *own = &monitor_of(engine)->of[slot];
    const enum job_class class = (enum job_class)engine->jobs[slot].row.class;
    own->wants_cycle =
        policy == NULL ? engine->port.decider != NULL : idle_listens(policy->idle, &policy->idle_config, class);
    own->is_told = own->wants_cycle || engine->port.is_told;
}

static void submitted(struct engine *engine, uint32_t slot, const struct job_asked *asked)
{
    (void)asked;
    struct monitor *monitor = monitor_of(engine);
    MEM_GROW(monitor->of, monitor->capacity, (size_t)slot + 1);
    monitor->of[slot] = (struct watched){.run = monitor->of[slot].run};
    want(engine, slot);
}

/* Where the job is in `told`, or belongs. */
static uint32_t place_of(const struct engine *engine, job_id id)
{
    const struct monitor *monitor = monitor_of(engine);
    uint32_t from = 0, to = monitor->told_count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (engine->slots.id_of[monitor->told[middle]] < id)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void list(struct engine *engine, uint32_t slot)
{
    struct monitor *monitor = monitor_of(engine);
    const uint32_t at = place_of(engine, engine->slots.id_of[slot]);
    MEM_GROW(monitor->told, monitor->told_capacity, (size_t)monitor->told_count + 1);
    memmove(&monitor->told[at + 1], &monitor->told[at], (monitor->told_count - at) * sizeof *monitor->told);
    monitor->told[at] = slot;
    monitor->told_count++;
}

static void unlist(struct engine *engine, uint32_t slot)
{
    struct monitor *monitor = monitor_of(engine);
    const uint32_t at = place_of(engine, engine->slots.id_of[slot]);
    assert(monitor->told[at] == slot);
    monitor->told_count--;
    memmove(&monitor->told[at], &monitor->told[at + 1], (monitor->told_count - at) * sizeof *monitor->told);
}

/* Another policy may want to know of other jobs. */
static void adopted(struct engine *engine)
{
    struct monitor *monitor = monitor_of(engine);
    monitor->told_count = 0;
    for (uint32_t slot = 0; slot < engine->job_used; slot++) {
        want(engine, slot);
        if (monitor->of[slot].is_on && monitor->of[slot].is_told)
            list(engine, slot);
    }
    for (uint32_t i = monitor->first; i < monitor->reading_count; i++)
        monitor->readings[i].wants_cycle = monitor->of[monitor->readings[i].slot].wants_cycle;
}

static void push_timer(struct engine *engine, time_ns at, uint32_t what)
{
    event_queue_push(&engine->events, at, EVENT_TIMER, what, 0);
}

static bool is_of_others(const void *engine, const struct event *event)
{
    return event_kind(event) != EVENT_TIMER && !engine_is_stale(engine, event);
}

/* O(events), if no job runs. */
static bool is_alone(const struct engine *engine)
{
    return monitor_of(engine)->running == 0 && !event_queue_has(&engine->events, is_of_others, engine);
}

/* The next tick on the grid. */
static void push_tick(struct engine *engine)
{
    const time_ns period = engine->config->world.monitor.period;
    monitor_of(engine)->tick = (uint64_t)(engine->now / period) + 1;
    monitor_of(engine)->ticks = true;
    push_timer(engine, (time_ns)monitor_of(engine)->tick * period, EVENT_OF_TICK);
}

static void runs(struct engine *engine, uint32_t slot, bool is_first)
{
    (void)is_first;
    struct monitor *monitor = monitor_of(engine);
    struct watched *own = &monitor->of[slot];
    if (own->is_on)
        return;
    if (own->is_told)
        list(engine, slot);
    monitor->running++;
    own->is_on = true;
    own->run++;
    own->since = engine->now;
    own->sums = engine_activity_sums(engine, slot);
    if (!monitor->ticks)
        push_tick(engine);
}

static void stops(struct engine *engine, uint32_t slot)
{
    struct monitor *monitor = monitor_of(engine);
    struct watched *own = &monitor->of[slot];
    if (!own->is_on)
        return;
    if (own->is_told)
        unlist(engine, slot);
    monitor->running--;
    own->is_on = false;
}

/* ---- Readings ---- */

/* The mean SM activity over its window, in milli; negative: not known. */
static double mean_of(struct engine *engine, uint32_t slot, const struct watched *own, struct activity_sums sums)
{
    const wide_ns held = sums.held_ns - own->sums.held_ns;
    if (held > 0)
        return (double)(sums.active_ns - own->sums.active_ns) / (double)held;
    return engine_activity_constant(engine, slot);
}

static void take(struct engine *engine, uint32_t slot)
{
    struct monitor *monitor = monitor_of(engine);
    struct watched *own = &monitor->of[slot];
    const struct activity_sums sums = engine_activity_sums(engine, slot);
    const double mean = mean_of(engine, slot, own, sums);
    const job_id id = engine->slots.id_of[slot];
    uint16_t milli;
    if (own->since < engine->now && mean >= 0 &&
        monitor_reads(&engine->config->world.monitor, monitor->noise, id, monitor->tick, mean, &milli)) {
        MEM_GROW(monitor->readings, monitor->reading_capacity, (size_t)monitor->reading_count + 1);
        monitor->readings[monitor->reading_count++] =
            (struct reading){.job = id,
                             .slot = slot,
                             .run = own->run,
                             .wants_cycle = own->wants_cycle,
                             .observation = {.since = own->since, .until = engine->now, .sm_active_milli = milli}};
    }
    own->since = engine->now;
    own->sums = sums;
}

/* When they are half of all. */
static void forget_told(struct monitor *monitor)
{
    const uint32_t left = monitor->reading_count - monitor->first;
    if (monitor->first < left)
        return;
    if (left > 0)
        memmove(monitor->readings, &monitor->readings[monitor->first], left * sizeof *monitor->readings);
    monitor->first = 0;
    monitor->reading_count = left;
}

static void tick(struct engine *engine)
{
    struct monitor *monitor = monitor_of(engine);
    forget_told(monitor);
    const uint32_t before = monitor->reading_count;
    for (uint32_t i = 0; i < monitor->told_count; i++)
        take(engine, monitor->told[i]);
    if (monitor->reading_count > before)
        push_timer(engine, time_after(engine->now, engine->config->world.monitor.delay), EVENT_OF_REPORT);
    monitor->ticks = false;
    if (monitor->running > 0)
        push_tick(engine);
}

/* Tell the readings that are due. */
static void report(struct engine *engine)
{
    struct monitor *monitor = monitor_of(engine);
    const time_ns until = engine->now - engine->config->world.monitor.delay;
    for (; monitor->first < monitor->reading_count && monitor->readings[monitor->first].observation.until <= until;
         monitor->first++) {
        const struct reading *reading = &monitor->readings[monitor->first];
        const struct watched *own = &monitor->of[reading->slot];
        if (!own->is_on || own->run != reading->run)
            continue;
        port_job_observed(&engine->port, reading->job, &reading->observation, engine->now);
        if (reading->wants_cycle)
            engine_want_cycle(engine, engine->now);
    }
}

static void on_event(struct engine *engine, const struct event *event)
{
    if (event->subject == EVENT_OF_TICK)
        tick(engine);
    else
        report(engine);
}

/* ---- What idle policies did ---- */

/* A job that is busy so soon after it lost space as idle was disturbed wrongly: ten minutes, assumed. */
#define DISTURBED_WITHIN (600 * TIME_NS_PER_S)

static void decided(struct engine *engine, uint32_t slot, const struct decision *decision)
{
    struct idle_row *row = &monitor_of(engine)->of[slot].row;
    if (decision->kind == DECISION_NOTIFY) {
        row->notified++;
        return;
    }
    if (decision->reason != REASON_IDLE)
        return;
    row->evicted += !decision->is_partial;
    row->shrunk += decision->is_partial;
    row->disturbed += engine_activity_idle_for(engine, slot) < DISTURBED_WITHIN;
}

/* How long it would still hold its GPUs: until its work is done at full speed, or its limit kills it. */
static time_ns life_left(const struct engine *engine, const struct sim_job *job)
{
    const time_ns work = job->progress.duration - progress_reference(&job->progress, job->progress.work);
    const time_ns ran = engine->now - job->running_since;
    if (!engine->config->world.kills_at_limit || job->limit == TIME_NEVER)
        return work;
    const time_ns left = job->limit > ran ? job->limit - ran : 0;
    return left < work ? left : work;
}

static void settle_given(const struct engine *engine, struct watched *own)
{
    const time_ns to = engine->now < own->given_until ? engine->now : own->given_until;
    if (to > own->given_since)
        own->row.given_gpu_us += (int64_t)((wide_ns)(to - own->given_since) * own->given_milli / GPU_MILLI / 1000);
    own->given_since = engine->now;
}

static void left(struct engine *engine, uint32_t slot, int64_t milli, uint8_t reason)
{
    struct watched *own = &monitor_of(engine)->of[slot];
    if (reason != REASON_IDLE)
        return;
    settle_given(engine, own);
    own->given_milli += milli;
    own->given_until = time_after(engine->now, life_left(engine, &engine->jobs[slot]));
}

static void came(struct engine *engine, uint32_t slot, int64_t milli)
{
    struct watched *own = &monitor_of(engine)->of[slot];
    if (own->given_milli == 0)
        return;
    settle_given(engine, own);
    own->given_milli = own->given_milli > milli ? own->given_milli - milli : 0;
}

static void row(struct engine *engine, uint32_t slot, struct job_row *out)
{
    struct watched *own = &monitor_of(engine)->of[slot];
    settle_given(engine, own);
    own->given_milli = 0;
    out->idle = &own->row;
}

const struct engine_part engine_part_monitor = {.begin = begin,
                                                .adopted = adopted,
                                                .release = release,
                                                .events = 1u << EVENT_TIMER,
                                                .event = on_event,
                                                .is_alone = is_alone,
                                                .submitted = submitted,
                                                .decided = decided,
                                                .runs = runs,
                                                .stops = stops,
                                                .came = came,
                                                .left = left,
                                                .row = row};
