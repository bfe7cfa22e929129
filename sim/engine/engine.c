/* The loop over instants; see sim/engine/engine.h. */
#include "sim/engine/engine.h"

#include <assert.h>
#include <stddef.h>

#include "base/random.h"
#include "sim/engine/engine_loop.h"
#include "sim/engine/engine_spent.h"
#include "sim/engine/engine_state.h"
#include "sim/engine/engine_use.h"
#include "sim/engine/row_limit.h"

enum { PROGRESS_EVENTS = 65536 };
#define LAST_INSTANT (2 * TIME_NS_MAX) /* a span of an input can be added without overflow */

struct world_config world_config_default(void)
{
    return (struct world_config){.queue_limit = -1,
                                 .has_wait_times = true,
                                 .end = TIME_NEVER,
                                 .sample_interval = 600 * TIME_NS_PER_S,
                                 .recut = recut_costs_default(),
                                 .stall_steps = STALL_STEPS_DEFAULT};
}

/* The sample after one at `at`: the next on the grid, and one exactly at the end of the warm-up. */
static time_ns sample_after(const struct engine *engine, time_ns at)
{
    const struct world_config *world = &engine->config->world;
    time_ns next = (at / world->sample_interval + 1) * world->sample_interval;
    return at < world->warmup && next > world->warmup ? world->warmup : next;
}

/* Make the changes that no event announces. */
static void carry_to(struct engine *engine, time_ns at)
{
    EACH_PART(engine, carry)(engine, at);
    engine_spent_to(engine, at);
}

static void sample(struct engine *engine, time_ns at)
{
    if (engine->rows.wants_samples)
        carry_to(engine, at);
    engine_emit_sample(engine, at);
}

static bool is_told_to_stop(const struct engine *engine)
{
    return engine->config->stop != NULL && *engine->config->stop != 0;
}

/* A row shows the state after all events of its time, so it is written when time moves on.  Returns that time: `to`, or
 * that of the last row if the run is to end. */
static time_ns emit_samples(struct engine *engine, time_ns to)
{
    if (to > engine->now && (engine->samples.wants_row || engine->samples.next == engine->now)) {
        sample(engine, engine->now);
        engine->samples.wants_row = false;
        if (engine->samples.next == engine->now)
            engine->samples.next = sample_after(engine, engine->now);
    }
    if (engine->samples.next < to) {
        engine->error = row_limit_check(engine->samples.count, engine->samples.next, time_to_seconds(to),
                                        engine->config->world.sample_interval);
        if (error_is(engine->error))
            return engine->now;
    }
    while (engine->samples.next < to) {
        const time_ns at = engine->samples.next;
        sample(engine, at);
        engine->samples.count++;
        engine->samples.next = sample_after(engine, at);
        if (error_is(engine->error) || is_told_to_stop(engine))
            return at;
    }
    return to;
}

/* False: the run is to end, at a time before `to`. */
static inline bool advance(struct engine *engine, time_ns to)
{
    if (to > engine->now)
        engine_use_pause(engine);
    engine->now = engine->samples.wants_row || engine->samples.next < to ? emit_samples(engine, to) : to;
    return engine->now == to;
}

static void tell_queues(struct engine *engine)
{
    const struct queue_table *queues = job_source_queues(engine->config->source);
    if (queues->count == engine->queues_known)
        return;
    port_queues_changed(&engine->port, queues, engine->queues_known, engine->now);
    engine->queues_known = queues->count;
}

static void fetch(struct engine *engine)
{
    if (error_is(engine->error))
        return;
    if (engine->loop != NULL)
        engine_loop_taken(engine);
    else
        engine->error =
            job_source_next(engine->config->source, &engine->next.job, &engine->next.truth, &engine->next.is_there);
    if (error_is(engine->error))
        engine->next.is_there = false;
    if (engine->loop != NULL ? engine_loop_is_over(engine) : !engine->next.is_there)
        engine->samples.wants_row =
            true; /* GPU time is measured until the last submission, so a row is written at its time */
}

static void take_submissions(struct engine *engine)
{
    while (engine->next.is_there && engine->next.job.submit <= engine->now) {
        tell_queues(engine);
        uint32_t slot = engine_submit(engine, &engine->next.job, &engine->next.truth);
        engine->measured.last_submit = engine->now;
        if (engine->config->world.queue_limit >= 0) {
            MEM_GROW(engine->fresh.slots, engine->fresh.capacity, (size_t)engine->fresh.count + 1);
            engine->fresh.slots[engine->fresh.count++] = slot;
        }
        fetch(engine);
    }
}

/* Prefetch the job of the next event, which has left the nearest caches since it started.  The first call for an event
 * fetches the job, the next call the pieces that it points to. */
static void foresee(struct engine *engine)
{
    enum { LINE_BYTES = 64 };
    uint32_t slot = engine->events.count > 0 ? engine->events.heap[0].subject : UINT32_MAX;
    if (slot >= engine->job_used || event_kind(&engine->events.heap[0]) == EVENT_NODE)
        return;
    const struct sim_job *job = &engine->jobs[slot];
    if (slot == engine->foreseen) {
        __builtin_prefetch(job->pieces.more);
        return;
    }
    engine->foreseen = slot;
    for (size_t at = 0; at < offsetof(struct sim_job, checkpoint); at += LINE_BYTES)
        __builtin_prefetch((const char *)job + at, 1);
}

/* Handle the events that are due; false: there were none. */
static bool take_events(struct engine *engine)
{
    bool has_any = false;
    while (engine->events.count > 0 && engine->events.heap[0].time <= engine->now) {
        struct event event = event_queue_pop(&engine->events);
        if (event_kind(&event) == EVENT_END)
            __builtin_prefetch(engine->jobs[event.subject].pieces.more);
        foresee(engine);
        engine_event(engine, &event);
        has_any = true;
    }
    return has_any;
}

/* While too many jobs wait, reject jobs submitted since the last cycle that did not start, the latest first.  A job for
 * which space is being freed is kept. */
static void enforce_queue_limit(struct engine *engine)
{
    while (engine->fresh.count > 0) {
        uint32_t slot = engine->fresh.slots[--engine->fresh.count];
        const struct sim_job *job = &engine->jobs[slot];
        struct sched_counts counts;
        port_count(&engine->port, &counts);
        if (job->state == LIFE_PENDING &&
            counts.pending_jobs - counts.reserved_jobs > engine->config->world.queue_limit &&
            port_why(&engine->port, job->row.id) != REASON_RESERVED)
            engine_reject(engine, slot, REASON_QUEUE_FULL);
    }
}

static void note_reserved(struct engine *engine)
{
    struct sched_counts counts;
    port_count(&engine->port, &counts);
    engine_level(engine, LEVEL_RESERVED, counts.reserved_gpu_milli - engine->levels[LEVEL_RESERVED].value);
}

static void watch_begin(const struct engine *engine)
{
    if (engine->config->watch != NULL)
        engine->config->watch->begin();
}

static struct error watch_done(const struct engine *engine)
{
    return engine->config->watch != NULL ? engine->config->watch->done() : ERROR_OK;
}

static void run_cycle(struct engine *engine)
{
    const struct decision *decisions;
    time_ns wake_at;
    engine->cycle_due = TIME_NEVER;
    engine->last_cycle = engine->now;
    engine->counts.cycles++;
    watch_begin(engine);
    size_t count = port_cycle(&engine->port, engine->now, &decisions, &wake_at);
    engine->error = watch_done(engine);
    if (error_is(engine->error))
        return;
    for (size_t i = 0; i < count; i++)
        engine_apply(engine, &decisions[i]);
    engine->counts.decisions += count;
    if (wake_at != TIME_NEVER)
        engine_want_cycle(engine, wake_at);
    if (engine->fresh.count > 0)
        enforce_queue_limit(engine);
    engine_detect_stall(engine);
}

/* Drop the first events if they were cancelled.  Else the last of them would be the end of a run that has none. */
static void drop_stale(struct engine *engine)
{
    while (event_queue_time(&engine->events) <= engine->config->world.end && engine->events.count > 0 &&
           engine_is_stale(engine, &engine->events.heap[0])) {
        const struct event event = event_queue_pop(&engine->events);
        engine->counts.events += engine_is_of_parts(&event);
    }
}

static bool is_part_alone(const struct engine *engine)
{
    for (const struct engine_part *const *part = engine->parts; *part != NULL; part++)
        if ((*part)->is_alone != NULL && (*part)->is_alone(engine))
            return true;
    return false;
}

static time_ns next_instant(const struct engine *engine)
{
    time_ns at = engine->cycle_due;
    if (engine->next.is_there && engine->next.job.submit < at)
        at = engine->next.job.submit;
    const time_ns part = engine_parts_next(engine);
    at = part < at ? part : at;
    if (at == TIME_NEVER && is_part_alone(engine))
        return TIME_NEVER;
    const time_ns first = event_queue_time(&engine->events);
    return first < at ? first : at;
}

static void tell_progress(struct engine *engine)
{
    if (engine->config->on_progress == NULL)
        return;
    struct engine_progress progress = {.now = engine->now,
                                       .end = engine->config->world.end,
                                       .submitted = engine->counts.submitted,
                                       .finished = engine->counts.ended + engine->counts.rejected,
                                       .total_jobs = job_source_facts(engine->config->source)->job_count,
                                       .events = engine->counts.events};
    engine->config->on_progress(engine->config->progress_self, &progress);
}

static bool is_stopped(const struct engine *engine)
{
    return error_is(engine->error) || error_is(engine->port.error) || error_is(engine->result->stall) ||
           is_told_to_stop(engine);
}

static void run_instant(struct engine *engine, time_ns at)
{
    if (!advance(engine, at))
        return;
    EACH_PART(engine, instant)(engine);
    if (!take_events(engine))
        foresee(engine);
    EACH_PART(engine, settle)(engine);
    take_submissions(engine);
    const bool has_cycle = engine->cycle_due <= at && !error_is(engine->error);
    if (has_cycle)
        run_cycle(engine);
    if (engine->has_reserved) /* facts change it too: space of a victim arrives, a node leaves */
        note_reserved(engine);
    if (has_cycle && engine->filling.is_on)
        engine_emit_arrived(engine);
    if (engine->config->is_checked) {
        carry_to(engine, at);
        engine_check_instant(engine);
    }
}

/* The instants up to `until`; true: the run has some after it. */
static bool loop(struct engine *engine, time_ns until)
{
    uint64_t next_progress = engine->counts.events / PROGRESS_EVENTS * PROGRESS_EVENTS + PROGRESS_EVENTS;
    while (!is_stopped(engine)) {
        if (!engine->next.is_there && engine->cycle_due == TIME_NEVER)
            drop_stale(engine);
        time_ns at = next_instant(engine);
        if (at == TIME_NEVER)
            return false;
        if (at > until)
            return true;
        if (at > LAST_INSTANT) {
            engine->result->stall =
                error_new(ERROR_INTERNAL, "the run is not over after %.0f s, more than simulated time can hold",
                          time_to_seconds(engine->now));
            return false;
        }
        run_instant(engine, at);
        if (engine->counts.events >= next_progress) {
            next_progress += PROGRESS_EVENTS;
            tell_progress(engine);
        }
    }
    return false;
}

static void finish(struct engine *engine)
{
    struct engine_result *result = engine->result;
    time_ns end = engine->config->world.end;
    bool is_partial = error_is(engine->result->stall) || is_told_to_stop(engine);
    struct sched_counts counts;
    port_count(&engine->port, &counts);
    is_partial |= !advance(engine, end == TIME_NEVER || is_partial ? engine->now : end);
    if (!is_partial)
        engine_find_stuck(engine);
    carry_to(engine, engine->now);
    engine_close(engine);
    if (engine->config->on_end != NULL)
        engine->config->on_end(engine->config->end_self, engine->port.sched, engine->now);
    sample(engine, engine->now);
    struct random_stream last;
    random_stream_init(&last, engine->config->seed, "fingerprint", 0);
    engine_hash(engine, 0xff, random_below(&last, UINT32_MAX));
    result->fingerprint = engine->fingerprint;
    result->submitted = engine->counts.submitted;
    result->finished = engine->counts.ended;
    result->evicted = engine->counts.evicted;
    const struct sched_counts *before = &engine->measured.before;
    result->plans = counts.plans - before->plans;
    result->facts.is_partial = is_partial;
    result->facts.promised_starts = counts.promised_starts - before->promised_starts;
    result->facts.late_starts = counts.late_starts - before->late_starts;
    if (engine->loop != NULL)
        result->facts.loop = engine_loop_facts(engine);
    engine_emit_finished(engine);
}

/* As far as it is known how long the run takes. */
static struct error check_rows(const struct engine_config *config)
{
    const struct workload_facts *facts = job_source_facts(config->source);
    double end_s = time_to_seconds(facts->last_submit - facts->first_submit) * facts->arrival_factor;
    if (config->world.end != TIME_NEVER)
        end_s = time_to_seconds(config->world.end);
    return row_limit_check(0, 0, end_s, config->world.sample_interval);
}

static void set_sinks(struct engine *engine, const struct record_sink *sinks, size_t count)
{
    engine->rows.sinks = sinks;
    engine->rows.sink_count = count;
    engine->rows.wants_jobs = engine->rows.wants_attempts = engine->rows.wants_gangs = engine->rows.wants_samples =
        false;
    for (size_t i = 0; i < count; i++) {
        engine->rows.wants_jobs |= sinks[i].on_job != NULL;
        engine->rows.wants_attempts |= sinks[i].on_attempt != NULL;
        engine->rows.wants_gangs |= sinks[i].on_gang != NULL;
        engine->rows.wants_samples |= sinks[i].on_sample != NULL;
    }
}

static void release(struct engine *engine)
{
    for (uint32_t s = 0; s < engine->job_used; s++) {
        mem_free((void *)(uintptr_t)engine->jobs[s].row.name);
        job_pieces_release(&engine->jobs[s].pieces);
        engine_drop_changes(engine, &engine->jobs[s], false);
        mem_free(engine->jobs[s].changes);
        mem_free(engine->jobs[s].after);
        mem_free(engine->jobs[s].close);
    }
    EACH_PART(engine, release)(engine);
    engine_spent_release(engine);
    engine_loop_release(engine);
    offered_release(&engine->measured.offered);
    mem_free(engine->rows.places);
    mem_free(engine->jobs);
    mem_free(engine->slots.free);
    mem_free(engine->slots.slot_of);
    mem_free(engine->slots.id_of);
    mem_free(engine->fresh.slots);
    mem_free(engine->ended.at);
    mem_free(engine->before.of);
    mem_free(engine->gpu_used);
    mem_free(engine->kernels);
    mem_free(engine->level_parts);
    buffer_release(&engine->rows.placement);
    buffer_release(&engine->rows.number);
    mem_free(engine->space.typical.jobs);
    census_memo_release(&engine->space.census);
    event_queue_release(&engine->events);
    sched_free(engine->port.sched);
}

struct error engine_open_sched(struct engine *engine, const struct engine_policy *policy,
                               const struct port_outside *decider)
{
    const struct engine_config *config = engine->config;
    const struct queue_table *queues = job_source_queues(config->source);
    struct error error = ERROR_OK;
    struct sched *sched = NULL;
    engine->queues_known = queues->count;
    engine->policy = policy->policy;
    if (decider == NULL) {
        sched = sched_new(config->cluster, queues, engine->policy, &error);
        TRY(error);
        sched_count_waits(sched, config->world.has_wait_times);
        sched_stop_at(sched, config->stop);
        sched_trust_jobs(sched, !config->is_checked); /* a source gives valid jobs */
    }
    sched_free(engine->port.sched);
    census_memo_release(&engine->space.census);
    engine->space.census = (struct census_memo){0};
    engine->port = port_new(sched, decider, config->listener);
    if (policy->typical_count > 0)
        port_typical_told(&engine->port, policy->typical, policy->typical_count, engine->now);
    return ERROR_OK;
}

static struct error begin(struct engine *engine)
{
    const struct engine_config *config = engine->config;
    TRY(check_rows(config));
    engine->filling.is_on = job_source_facts(config->source)->is_filling;
    const struct engine_policy policy = {config->policy, config->typical, config->typical_count};
    TRY(engine_open_sched(engine, &policy, config->decider));
    if (config->is_checked)
        engine->gpu_used = mem_zalloc(config->cluster->gpu_count, sizeof *engine->gpu_used);
    set_sinks(engine, config->sinks, config->sink_count);
    engine_spent_open(engine);
    engine_parts_begin(engine);
    TRY(engine_know_typical(engine));
    EACH_PART(engine, instant)(engine);
    const struct workload_facts *facts = job_source_facts(config->source);
    offered_begin(&engine->measured.offered, workload_arrivals(facts), config->cluster, TIME_NEVER);
    TRY(engine_loop_open(engine));
    if (engine->loop != NULL)
        engine_loop_show(engine);
    else
        fetch(engine);
    return engine->error;
}

struct error engine_open(struct engine **out, const struct engine_config *config, struct engine_result *result)
{
    struct engine *engine = *out = mem_zalloc(1, sizeof *engine);
    engine->config = config;
    engine->result = result;
    engine->cycle_due = TIME_NEVER;
    engine->last_cycle = -1;
    engine->fingerprint = config->seed;
    engine->stalls.steps.limit = config->world.stall_steps;
    *result = (struct engine_result){0};
    struct error error = begin(engine);
    if (error_is(error))
        engine_drop(out);
    return error;
}

/* The first error of the instants so far. */
static struct error error_of(struct engine *engine)
{
    if (!error_is(engine->error)) /* facts after the last cycle may have called plug-ins */
        engine->error = watch_done(engine);
    if (error_is(engine->error))
        error_release(&engine->port.error);
    else
        engine->error = engine->port.error;
    engine->port.error = ERROR_OK;
    return engine->error;
}

struct error engine_replay(struct engine *engine, time_ns at)
{
    const struct world_config *world = &engine->config->world;
    const bool has_more = loop(engine, at - 1);
    TRY(error_of(engine));
    const struct error stall = engine->result->stall;
    engine->result->stall = ERROR_OK;
    if (error_is(stall) || is_told_to_stop(engine))
        return stall;
    const bool lasts = world->end == TIME_NEVER ? has_more : at <= world->end;
    if (lasts && advance(engine, at))
        return ERROR_OK;
    TRY(error_of(engine));
    return error_new(ERROR_DATA, "the run is over at %.9g s, before the moment at %.9g s",
                     time_to_seconds(world->end != TIME_NEVER ? world->end : engine->now), time_to_seconds(at));
}

void engine_show(struct engine *engine, const struct record_sink *sinks, size_t sink_count)
{
    set_sinks(engine, sinks, sink_count);
    engine->measured.from = engine->now;
    engine->samples.wants_row = true; /* a row of the beginning */
    port_count(&engine->port, &engine->measured.before);
}

struct error engine_finish(struct engine **engine)
{
    struct engine *own = *engine;
    loop(own, own->config->world.end);
    struct error error = error_of(own);
    if (!error_is(error)) {
        finish(own);
        error = own->error;
    } else {
        error_release(&own->result->stall);
    }
    engine_drop(engine);
    return error;
}

void engine_drop(struct engine **engine)
{
    if (*engine == NULL)
        return;
    release(*engine);
    mem_free(*engine);
    *engine = NULL;
}

struct error engine_run(const struct engine_config *config, struct engine_result *result)
{
    struct engine *engine;
    TRY(engine_open(&engine, config, result));
    return engine_finish(&engine);
}
