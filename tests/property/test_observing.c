/* Two laws of what is told of a run, in random worlds with all physics on, under every preset and random policies.
 *
 * Observing changes nothing (sim/engine/engine.h): the same world runs plainly, with a row an hour, and again with each
 * invariant checked at every instant, many rows, a listener that asks why jobs wait, and moments saved; and its record
 * is read again from its files.  The decisions, the rows of jobs and attempts, the rows of the timeline at equal times
 * and all metrics but sampled means are equal.
 *
 * Every total is one sum (sim/record/record.h): rows of attempts, rows of jobs, the last row of the timeline, the causes
 * and the metrics agree to the last digit; so they do when the run is forked, under its policy and under another one.
 *
 * WINDTUNNEL_OBSERVING="FIRST COUNT" runs COUNT seeds from FIRST on.  A seed that breaks a law leaves its scenario in a
 * folder, which is named. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "policies/explain.h"
#include "reports/record_read.h"
#include "reports/result.h"
#include "sim/plugins/guard.h"
#include "sim/record/record_files.h"
#include "tests/support/interval.h"
#include "tests/support/rich_world.h"
#include "tests/support/scratch.h"
#include "tests/support/spent.h"

enum { SEEDS_SMALL = 60, SEEDS_FULL = 2000, VALUES = 39, ASKED_MOST = 64, ROWS_MOST = 5000 };

struct own { /* sums over the attempts of a job */
    gpu_time_ns held;
    time_ns run, saved;
    uint32_t evicted, resized;
};

/* What a run told. */
struct told {
    const struct rich_world *world;
    struct names *queues; /* names of queues outlive the run */
    struct job_row *jobs; /* by id */
    uint64_t *texts;      /* by id: a hash of the row's texts and parts */
    uint8_t *job_rows;    /* by id */
    uint64_t *hashes;     /* by id: of its attempts */
    size_t job_capacity, text_capacity, row_capacity, hash_capacity;
    job_id id_end;
    struct attempt_row *attempts; /* without placements */
    size_t attempt_count, attempt_capacity;
    struct timeline_row *samples;
    size_t sample_count, sample_capacity;
    uint64_t cycles; /* of which a listener heard */
    struct metrics *metrics;
    struct engine_result result;
};

static struct {
    uint64_t worlds, observed, read_again, forked, adopted, jobs, elastic, evicted, held_fewer, refused;
} count;

static char why[512]; /* the law that broke; "": none */

__attribute__((format(printf, 1, 2))) static void broken(const char *format, ...)
{
    va_list args;
    if (why[0] != '\0')
        return;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
}

/* ---- Rows ---- */

static void make_room(struct told *told, job_id id)
{
    MEM_GROW(told->jobs, told->job_capacity, (size_t)id + 1);
    MEM_GROW(told->texts, told->text_capacity, (size_t)id + 1);
    MEM_GROW(told->job_rows, told->row_capacity, (size_t)id + 1);
    MEM_GROW(told->hashes, told->hash_capacity, (size_t)id + 1);
    if (id >= told->id_end)
        told->id_end = id + 1;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return text != NULL ? hash_bytes(text, strlen(text), hash) : hash;
}

#define MIX(hash, value) ((hash) = hash_bytes(&(value), sizeof(value), (hash)))

static struct error on_job(void *self, const struct job_row *row)
{
    struct told *told = self;
    make_room(told, row->id);
    if (told->job_rows[row->id]++ > 0)
        broken("job %u has two rows", row->id);
    uint64_t hash = hash_text(hash_text(hash_text(1, row->name), row->queue), row->user);
    hash = hash_text(hash_text(hash_text(hash, row->workload_class), row->communication), row->activity);
    for (uint32_t left = row->waits != NULL ? row->waits->mask : 0; left != 0; left &= left - 1) {
        hash = hash_mix(hash, (uint64_t)__builtin_ctz(left));
        MIX(hash, row->waits->of[__builtin_ctz(left)]);
    }
    if (row->lost != NULL)
        MIX(hash, *row->lost);
    if (row->faults != NULL)
        MIX(hash, *row->faults);
    if (row->pulls != NULL)
        MIX(hash, *row->pulls);
    if (row->idle != NULL)
        MIX(hash, *row->idle);
    told->texts[row->id] = hash;
    const time_ns waited = row->state == END_REJECTED ? row->end - row->submit : row->wait_total;
    if (row->waits != NULL && wait_times_sum(row->waits) != waited)
        broken("job %u: its waits by reason do not add up to its wait", row->id);
    told->jobs[row->id] = *row;
    told->jobs[row->id].queue = names_text(told->queues, names_add(told->queues, text_of(row->queue)));
    return ERROR_OK;
}

static struct error on_attempt(void *self, const struct attempt_row *row)
{
    struct told *told = self;
    make_room(told, row->id);
    uint64_t hash = hash_text(told->hashes[row->id], row->placement);
    const int64_t values[] = {row->attempt,         row->start, row->end,  row->gpu_milli,  row->why,
                              row->reason,          row->saved, row->lost, row->is_partial, row->link_tier,
                              row->link_bytes_per_s};
    MIX(hash, values);
    told->hashes[row->id] = hash;
    MEM_GROW(told->attempts, told->attempt_capacity, told->attempt_count + 1);
    told->attempts[told->attempt_count] = *row;
    told->attempts[told->attempt_count++].placement = NULL;
    return ERROR_OK;
}

static struct error on_sample(void *self, const struct timeline_row *row)
{
    struct told *told = self;
    const char *wrong = spent_complaint(row, told->world->scenario.cluster->gpu_count);
    if (wrong != NULL)
        broken("at %.9f s %s", time_to_seconds(row->time), wrong);
    MEM_GROW(told->samples, told->sample_capacity, told->sample_count + 1);
    told->samples[told->sample_count++] = *row;
    return ERROR_OK;
}

static void told_open(struct told *told, const struct rich_world *world)
{
    *told = (struct told){.world = world, .metrics = metrics_new(), .queues = names_new()};
}

static void told_release(struct told *told)
{
    mem_free(told->jobs);
    mem_free(told->texts);
    mem_free(told->job_rows);
    mem_free(told->hashes);
    mem_free(told->attempts);
    mem_free(told->samples);
    metrics_free(told->metrics);
    names_free(told->queues);
    error_release(&told->result.stall);
}

/* ---- Runs ---- */

static struct error hear(void *self, const struct fact *fact)
{
    (void)self;
    (void)fact;
    return ERROR_OK;
}

static struct error hear_cycle(void *self, time_ns now, const struct decision *decisions, size_t number,
                               const struct wire_done *done)
{
    (void)self;
    (void)now;
    (void)decisions;
    (void)number;
    (void)done;
    return ERROR_OK;
}

/* Ask before some cycles why jobs wait, as `explain` does. */
static void ask(void *self, struct sched *sched, time_ns now)
{
    struct told *told = self;
    struct explanation explanation;
    (void)now;
    if (told->cycles++ % 16 != 0 || told->cycles > 16 * ASKED_MOST)
        return;
    (void)sched_explain(sched, (job_id)(told->cycles / 16 % told->world->jobs), &explanation);
}

struct kept { /* the last moment that was saved */
    bool has;
    time_ns at;
    struct buffer world, sched;
};

static struct error keep_moment(void *self, const struct moment *moment)
{
    struct kept *kept = self;
    kept->has = true;
    kept->at = moment->at;
    kept->world.length = kept->sched.length = 0;
    buffer_text(&kept->world, moment->world);
    buffer_text(&kept->sched, moment->sched);
    return ERROR_OK;
}

struct how {
    time_ns sample_interval;
    bool is_checked, has_listener;
    const time_ns *saves;
    uint32_t save_count;
    struct kept *kept;
    const struct moment *fork;
    const struct policy_config *policy; /* NULL: the world's */
    const struct record_sink *also;     /* gets the rows, too; NULL: nothing does */
};

static struct error play(struct told *told, const struct how *how)
{
    const struct scenario *scenario = &told->world->scenario;
    struct job_source *source;
    const struct record_sink rows = {.self = told, .on_job = on_job, .on_attempt = on_attempt, .on_sample = on_sample};
    const struct port_outside listener = {.self = told, .on_fact = hear, .on_cycle = hear_cycle, .on_cycle_begin = ask};
    const struct record_sink sinks[] = {rows, metrics_sink(told->metrics),
                                        how->also != NULL ? *how->also : (struct record_sink){.self = NULL}};
    TRY(scenario_open(scenario, &source));
    job_source_keep_arrivals(source);
    struct engine_config config = {.watch = &guard_watch,
                                   .cluster = scenario->cluster,
                                   .source = source,
                                   .policy = how->policy != NULL ? how->policy : &scenario->policy,
                                   .world = scenario->world,
                                   .typical = scenario->typical,
                                   .typical_count = scenario->typical_count,
                                   .seed = scenario->seed,
                                   .sinks = sinks,
                                   .sink_count = 3,
                                   .is_checked = how->is_checked,
                                   .listener = how->has_listener ? &listener : NULL,
                                   .saves = how->saves,
                                   .save_count = how->save_count,
                                   .on_moment = keep_moment,
                                   .moment_self = how->kept,
                                   .fork = how->fork};
    config.world.sample_interval = how->sample_interval;
    struct error error = engine_run(&config, &told->result);
    job_source_close(source);
    if (!error_is(error))
        metrics_finish(told->metrics);
    return error;
}

/* ---- Observing changes nothing ---- */

/* The numbers of a row, in the order of these names. */
static const char *const value_names[VALUES] = {"class",
                                                "priority",
                                                "gpus",
                                                "members",
                                                "model",
                                                "submit_s",
                                                "eligible_s",
                                                "start_s",
                                                "end_s",
                                                "state",
                                                "reason",
                                                "wait_s",
                                                "wait_total_s",
                                                "run_s",
                                                "work_s",
                                                "work_asked_s",
                                                "evictions",
                                                "lost_gpu_s",
                                                "overhead_gpu_s",
                                                "sm_active_ratio",
                                                "is_counted",
                                                "source",
                                                "resizes",
                                                "held_gpu_s",
                                                "held_gpu_s",
                                                "preempted_gpu_s",
                                                "evictions_wasted",
                                                "exposed_gpu_s",
                                                "slowed_gpu_s",
                                                "network_gpu_s",
                                                "network_gb_per_s",
                                                "planned_gpu_s",
                                                "mfu_ratio",
                                                "active_gpu_s",
                                                "idle_held_gpu_s",
                                                "limit_s",
                                                "estimate_s",
                                                "deadline_s",
                                                "recorded_wait_s"};

static void values_of(const struct job_row *row, int64_t values[VALUES])
{
    const int64_t all[] = {row->class,
                           row->priority,
                           row->gpu_milli,
                           row->members,
                           row->model,
                           row->submit,
                           row->eligible,
                           row->start,
                           row->end,
                           row->state,
                           row->reason,
                           row->wait,
                           row->wait_total,
                           row->run,
                           row->work,
                           row->work_asked,
                           row->evictions,
                           row->lost_gpu_ns,
                           row->overhead_gpu_ns,
                           row->sm_active_milli,
                           row->is_counted,
                           row->source,
                           row->resizes,
                           (int64_t)(row->held_milli_ns / GPU_MILLI),
                           (int64_t)(row->held_milli_ns % GPU_MILLI),
                           row->preempted_gpu_ns,
                           row->evictions_wasted,
                           row->exposed_gpu_us,
                           row->slowed_gpu_us,
                           row->network_gpu_us,
                           row->network_bytes_per_s,
                           row->planned_gpu_us,
                           row->mfu_micro,
                           row->active_gpu_us,
                           row->idle_held_gpu_us,
                           row->limit,
                           row->estimate,
                           row->deadline,
                           row->recorded_wait};
    _Static_assert(sizeof all / sizeof *all <= VALUES, "room for all");
    memset(values, 0, VALUES * sizeof *values);
    memcpy(values, all, sizeof all);
}

static void compare_job(const struct told *a, const struct told *b, job_id id)
{
    int64_t x[VALUES], y[VALUES];
    values_of(&a->jobs[id], x);
    values_of(&b->jobs[id], y);
    for (int v = 0; v < VALUES && value_names[v] != NULL; v++)
        if (x[v] != y[v])
            broken("job %u: %s is %lld, observed %lld", id, value_names[v], (long long)x[v], (long long)y[v]);
    if (a->texts[id] != b->texts[id])
        broken("job %u: a text, its waits or its losses differ when observed", id);
}

static void compare_samples(const struct told *a, const struct told *b)
{
    for (size_t i = 0, j = 0; i < a->sample_count && j < b->sample_count;) {
        const struct timeline_row *x = &a->samples[i], *y = &b->samples[j];
        if (x->time != y->time) {
            *(x->time < y->time ? &i : &j) += 1;
            continue;
        }
        const double reals[][2] = {
            {x->allocated_gpu_s, y->allocated_gpu_s}, {x->active_gpu_s, y->active_gpu_s},
            {x->reserved_gpu_s, y->reserved_gpu_s},   {x->pending_job_s, y->pending_job_s},
            {x->running_job_s, y->running_job_s},     {x->partial_gang_gpu_s, y->partial_gang_gpu_s},
            {x->idle_held_gpu_s, y->idle_held_gpu_s}};
        static const char *const names[] = {"allocated_gpu_s", "active_gpu_s",       "reserved_gpu_s", "pending_job_s",
                                            "running_job_s",   "partial_gang_gpu_s", "idle_held_gpu_s"};
        for (size_t r = 0; r < sizeof names / sizeof *names; r++)
            if (reals[r][0] != reals[r][1])
                broken("%s at %.9f s is %.17g, observed %.17g", names[r], time_to_seconds(x->time), reals[r][0],
                       reals[r][1]);
        for (int cause = 0; cause < SPENT_COUNT; cause++)
            if (x->spent[cause] != y->spent[cause])
                broken("spent_%s at %.9f s is %.9f, observed %.9f", spent_names[cause], time_to_seconds(x->time),
                       (double)x->spent[cause] / 1e9, (double)y->spent[cause] / 1e9);
        if (x->pending_jobs != y->pending_jobs || x->running_jobs != y->running_jobs ||
            x->allocated_gpu_milli != y->allocated_gpu_milli || x->reserved_gpu_milli != y->reserved_gpu_milli ||
            x->active_gpu_milli != y->active_gpu_milli || x->idle_held_gpu_milli != y->idle_held_gpu_milli ||
            x->evicted != y->evicted || x->started != y->started || x->ended != y->ended ||
            memcmp(&x->space, &y->space, sizeof x->space) != 0)
            broken("the state at %.9f s differs when observed", time_to_seconds(x->time));
        i++;
        j++;
    }
}

static bool is_sampled(const struct metric *metric)
{
    return strncmp(metric->definition, "Sampled mean", 12) == 0;
}

static void compare_metrics(const struct metrics *a, const struct metrics *b, bool has_equal_samples)
{
    size_t number, other;
    const struct metric *x = metrics_all(a, &number), *y = metrics_all(b, &other);
    for (size_t m = 0; m < number; m++)
        if ((has_equal_samples || !is_sampled(&x[m])) && memcmp(&x[m].value, &y[m].value, sizeof(double)) != 0 &&
            !(isnan(x[m].value) && isnan(y[m].value)))
            broken("%s is %.17g, observed %.17g", x[m].name, x[m].value, y[m].value);
    for (int c = 0; metrics_cut_names[c] != NULL; c++)
        for (size_t i = 0; metrics_cut_key(a, metrics_cut_names[c], i) != NULL; i++) {
            x = metrics_cut(a, metrics_cut_names[c], i, &number);
            y = metrics_cut(b, metrics_cut_names[c], i, &other);
            for (size_t m = 0; m < number && y != NULL; m++)
                if (x[m].value != y[m].value && !(isnan(x[m].value) && isnan(y[m].value)))
                    broken("%s of %s %s is %.17g, observed %.17g", x[m].name, metrics_cut_names[c],
                           metrics_cut_key(a, metrics_cut_names[c], i), x[m].value, y[m].value);
        }
}

static void compare(const struct told *a, const struct told *b)
{
    if (a->result.fingerprint != b->result.fingerprint)
        broken("the decisions differ when observed");
    if (a->id_end != b->id_end)
        broken("there are %u jobs, observed %u", a->id_end, b->id_end);
    for (job_id id = 0; id < a->id_end && id < b->id_end; id++) {
        compare_job(a, b, id);
        if (a->hashes[id] != b->hashes[id])
            broken("job %u: its attempts differ when observed", id);
    }
    compare_samples(a, b);
    compare_metrics(a->metrics, b->metrics, false);
}

/* ---- Every total is one sum ---- */

static void same(const char *what, double is, double should)
{
    if (is != should)
        broken("%s is %.17g, and the rows add up to %.17g", what, is, should);
}

/* Add the attempts that ended before `until`. */
static void add_attempts(const struct told *told, time_ns until, struct own *own, gpu_time_ns *partial)
{
    for (size_t a = 0; a < told->attempt_count; a++) {
        const struct attempt_row *row = &told->attempts[a];
        const gpu_time_ns held = (gpu_time_ns)(row->end - row->start) * row->gpu_milli;
        if (row->end >= until)
            continue;
        own[row->id].saved += row->saved;
        own[row->id].evicted += row->why == ATTEMPT_EVICTED;
        own[row->id].resized += row->why == ATTEMPT_RESIZED;
        if (row->is_partial) {
            *partial += held;
            continue;
        }
        own[row->id].held += held;
        own[row->id].run += row->end - row->start;
    }
}

static void check_job(const struct job_row *row, const struct own *own)
{
    if (row->held_milli_ns != own->held)
        broken("job %u: held_gpu_s is %.12f, and its attempts held %.12f", row->id, (double)row->held_milli_ns / 1e12,
               (double)own->held / 1e12);
    if (row->run != own->run || row->work != own->saved)
        broken("job %u: run_s or work_s is not that of its attempts", row->id);
    if (row->evictions != own->evicted || row->resizes != own->resized)
        broken("job %u: evictions or resizes are not those of its attempts", row->id);
    count.jobs++;
    count.held_fewer +=
        row->resizes == 0 && row->run > 0 && row->held_milli_ns != (gpu_time_ns)row->gpu_milli * row->run;
    count.elastic += row->resizes > 0;
    count.evicted += row->evictions > 0;
}

struct sums {
    gpu_time_ns held, wait, run, counted_held, counted_lost, counted_asked;
    uint64_t evictions, ended, rejected, counted_evictions;
};

static void add_job(struct sums *sums, const struct job_row *row)
{
    const bool is_rejected = row->state == END_REJECTED;
    sums->held += row->held_milli_ns;
    sums->run += row->run;
    sums->wait += is_rejected ? row->end - row->submit : row->wait_total;
    sums->evictions += row->evictions;
    sums->rejected += is_rejected;
    sums->ended += !is_rejected && row->end != TIME_NEVER;
    if (!row->is_counted || is_rejected)
        return;
    sums->counted_held += row->held_milli_ns;
    sums->counted_lost += row->lost_gpu_ns;
    sums->counted_asked += (gpu_time_ns)row->gpu_milli * row->work_asked;
    sums->counted_evictions += row->evictions;
}

/* The causes from useful to reserved follow each other, so their rounded sum is within a nanosecond of the exact one.
 * In a cluster without instances, at times without a START on its way, they are what jobs held and what was reserved. */
static void check_causes(const struct told *told, const struct sums *sums, gpu_time_ns partial)
{
    const struct timeline_row *last = &told->samples[told->sample_count - 1];
    const struct rich_world *world = told->world;
    gpu_time_ns spent = 0;
    if (world->has_instances || world->scenario.world.decision_latency > 0)
        return;
    for (int cause = 0; cause <= SPENT_RESERVED; cause++)
        spent += last->spent[cause];
    const double reserved = last->reserved_gpu_s - last->partial_gang_gpu_s;
    const double rows = (double)(sums->held + partial) / 1e12 + reserved;
    if (fabs((double)spent / 1e9 - rows) > 1e-9 + 1e-14 * rows)
        broken("the causes from useful to reserved are %.9f GPU s, jobs held and reserved %.9f", (double)spent / 1e9,
               rows);
}

static bool is_of(const struct job_row *row, const char *cut, const char *key)
{
    return strcmp(cut[0] == 'q' ? row->queue : job_class_names[row->class], key) == 0;
}

static void check_cut(const struct told *told, const char *cut)
{
    const char *key;
    size_t number;
    for (size_t i = 0; (key = metrics_cut_key(told->metrics, cut, i)) != NULL; i++) {
        struct sums sums = {0};
        const struct metric *values = metrics_cut(told->metrics, cut, i, &number);
        for (job_id id = 0; id < told->id_end; id++)
            if (told->job_rows[id] > 0 && is_of(&told->jobs[id], cut, key))
                add_job(&sums, &told->jobs[id]);
        for (size_t m = 0; m < number; m++) {
            if (strcmp(values[m].name, "allocated_gpu_h") == 0)
                same("allocated_gpu_h of a cut", values[m].value, (double)sums.counted_held / (GPU_MILLI * 3600e9));
            if (strcmp(values[m].name, "lost_gpu_h") == 0)
                same("lost_gpu_h of a cut", values[m].value, (double)sums.counted_lost / 3600e9);
        }
    }
}

/* before: the run that this one was forked from at `at`; NULL: it was not forked. */
static void check_sums(const struct told *told, const struct told *before, time_ns at)
{
    struct sums sums = {0};
    gpu_time_ns partial = 0;
    struct own *own = mem_zalloc((size_t)told->id_end + (before != NULL ? before->id_end : 0) + 1, sizeof *own);
    if (before != NULL)
        add_attempts(before, at, own, &partial);
    add_attempts(told, TIME_NEVER, own, &partial);
    for (job_id id = 0; id < told->id_end; id++)
        if (told->job_rows[id] > 0) {
            check_job(&told->jobs[id], &own[id]);
            add_job(&sums, &told->jobs[id]);
        }
    same("allocated_gpu_h", metrics_value(told->metrics, "allocated_gpu_h"),
         (double)sums.counted_held / (GPU_MILLI * 3600e9));
    same("asked_gpu_h", metrics_value(told->metrics, "asked_gpu_h"), (double)sums.counted_asked / (GPU_MILLI * 3600e9));
    same("lost_gpu_h", metrics_value(told->metrics, "lost_gpu_h"), (double)sums.counted_lost / 3600e9);
    same("preemptions", metrics_value(told->metrics, "preemptions"), (double)sums.counted_evictions);
    for (job_id id = 0; before != NULL && id < before->id_end; id++)
        if (before->job_rows[id] > 0 && before->jobs[id].end < at)
            add_job(&sums, &before->jobs[id]);
    const struct timeline_row *last = &told->samples[told->sample_count - 1];
    same("allocated_gpu_s", last->allocated_gpu_s, (double)sums.held / (1e9 * GPU_MILLI));
    same("partial_gang_gpu_s", last->partial_gang_gpu_s, (double)partial / (1e9 * GPU_MILLI));
    same("running_job_s", last->running_job_s, (double)sums.run / 1e9);
    same("pending_job_s", last->pending_job_s, (double)sums.wait / 1e9);
    same("evicted", (double)last->evicted, (double)sums.evictions);
    same("ended", (double)last->ended, (double)sums.ended);
    same("rejected", (double)last->rejected, (double)sums.rejected);
    check_causes(told, &sums, partial);
    check_cut(told, "queue");
    check_cut(told, "class");
    mem_free(own);
}

/* ---- Worlds ---- */

/* The record as files, read again: the same metrics. */
static void check_read_again(const struct rich_world *world)
{
    struct told told;
    struct record_files *files;
    told_open(&told, world);
    struct error error = record_files_open(&files, scratch_path("record"), NULL);
    assert_false(error_is(error));
    const struct record_sink sink = record_files_sink(files);
    error = play(&told, &(struct how){.sample_interval = world->coarse, .also = &sink});
    assert_false(error_is(error));
    error = record_files_commit(&files);
    assert_false(error_is(error));
    error = result_write(scratch_path("record"), &(struct result_manifest){.version = "x", .fingerprint = ""},
                         told.metrics, NULL);
    assert_false(error_is(error));
    struct metrics *again = metrics_new();
    struct record_sink into = metrics_sink(again);
    error = record_read(scratch_path("record"), &into);
    if (error_is(error))
        broken("the record cannot be read: %s", error_message(&error));
    error_release(&error);
    if (why[0] == '\0') {
        metrics_finish(again);
        compare_metrics(told.metrics, again, true);
    }
    metrics_free(again);
    told_release(&told);
    count.read_again++;
}

static void check_fork(const struct told *whole, const struct kept *kept, const struct policy_config *policy)
{
    struct told told;
    const struct moment moment = {.at = kept->at,
                                  .world = {kept->world.bytes, kept->world.length},
                                  .sched = {kept->sched.bytes, kept->sched.length}};
    told_open(&told, whole->world);
    struct error error =
        play(&told, &(struct how){.sample_interval = whole->world->coarse, .fork = &moment, .policy = policy});
    if (error_is(error) || error_is(told.result.stall)) {
        if (policy == NULL)
            broken("a fork under the same policy: %s", error_is(error) ? error_message(&error) : "it stalls");
        count.refused++;
    } else {
        check_sums(&told, whole, kept->at);
        *(policy == NULL ? &count.forked : &count.adopted) += 1;
    }
    error_release(&error);
    told_release(&told);
}

static void check_world(const struct rich_world *world, uint64_t seed)
{
    struct told plain, observed;
    struct kept kept = {.has = false};
    const time_ns saves[] = {world->span / 7 + 1, world->span / 3 + 2};
    told_open(&plain, world);
    told_open(&observed, world);
    struct error error = play(&plain, &(struct how){.sample_interval = world->coarse});
    if (!error_is(error) && !error_is(plain.result.stall)) {
        const time_ns end = plain.result.facts.end; /* of a wait for ever more is told than rows can be kept */
        const struct how how = {.sample_interval = world->fine > end / ROWS_MOST ? world->fine : end / ROWS_MOST + 1,
                                .is_checked = seed % 2 == 0,
                                .has_listener = true,
                                .saves = saves,
                                .save_count = seed % 4 < 2 ? 2 : 0,
                                .kept = &kept};
        check_sums(&plain, NULL, 0);
        error = play(&observed, &how);
        if (error_is(error))
            broken("observed, it ends with an error: %s", error_message(&error));
        else
            compare(&plain, &observed);
        count.observed++;
        if (why[0] == '\0' && seed % 8 == 1)
            check_read_again(world);
        if (why[0] == '\0' && kept.has)
            check_fork(&plain, &kept, NULL);
        const bool has_starts = world->scenario.world.decision_latency > 0; /* a START on its way is not adopted yet */
        if (why[0] == '\0' && kept.has && world->has_other && !has_starts)
            check_fork(&plain, &kept, &world->other.policy);
    } else {
        count.refused++; /* a run that does not end: tests/property/test_endless.c */
    }
    error_release(&error);
    told_release(&plain);
    told_release(&observed);
    buffer_release(&kept.world);
    buffer_release(&kept.sched);
    count.worlds++;
}

static volatile uint64_t present_seed;

static void on_abort(int signal_number)
{
    signal(signal_number, SIG_DFL);
    rich_world_keep(present_seed, "aborted");
}

static void test_worlds(void **state)
{
    (void)state;
    const struct test_seeds seeds = test_seeds(SEEDS_SMALL, SEEDS_FULL);
    unsigned long long first = seeds.first, number = seeds.count;
    const char *told = getenv("WINDTUNNEL_OBSERVING");
    uint64_t broke = 0;
    if (told != NULL)
        assert_int_equal(sscanf(told, "%llu %llu", &first, &number), 2);
    signal(SIGABRT, on_abort);
    for (uint64_t seed = first; seed < first + number; seed++) {
        struct rich_world world;
        why[0] = '\0';
        present_seed = seed;
        rich_world_load(&world, seed);
        check_world(&world, seed);
        if (why[0] != '\0') {
            broke++;
            rich_world_keep(seed, why);
        }
        rich_world_release(&world);
        scratch_empty();
    }
    signal(SIGABRT, SIG_DFL);
    print_message("%llu worlds: %llu observed, %llu records read again, %llu forks, %llu under another policy, %llu "
                  "not taken over or without an end; of %llu jobs %llu were resized, %llu evicted, %llu held fewer "
                  "members from start to end\n",
                  (unsigned long long)count.worlds, (unsigned long long)count.observed,
                  (unsigned long long)count.read_again, (unsigned long long)count.forked,
                  (unsigned long long)count.adopted, (unsigned long long)count.refused, (unsigned long long)count.jobs,
                  (unsigned long long)count.elastic, (unsigned long long)count.evicted,
                  (unsigned long long)count.held_fewer);
    assert_int_equal(broke, 0);
    if (number < SEEDS_SMALL)
        return;
    assert_true(count.elastic > 0 && count.evicted > 0 && count.held_fewer > 0 && count.forked > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_worlds)};
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
