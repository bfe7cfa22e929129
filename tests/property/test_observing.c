/* Two laws of what is told of a run, in random worlds with all physics on, under every preset and random policies.
 *
 * Observing changes nothing (sim/engine/engine.h): the same world runs plainly, with a row an hour, and again with each
 * invariant checked at every instant, many rows, and a listener that asks why jobs wait; and its record is read again
 * from its files.  The decisions, the rows of jobs and attempts, the rows of the timeline at equal times
 * and all metrics but sampled means are equal.
 *
 * Every total is one sum (sim/record/record.h): rows of attempts, rows of jobs, the last row of the timeline, the
 * causes and the metrics agree to the last digit; so they do in a fork of the run, under its policy and another one.
 *
 * WINDTUNNEL_OBSERVING="FIRST COUNT" runs COUNT seeds from FIRST on.  A seed that breaks a law leaves its scenario in a
 * folder, which is named. */
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "base/hash.h"
#include "policies/explain.h"
#include "reports/record_read.h"
#include "reports/result.h"
#include "sim/record/record_files.h"
#include "tests/support/forked.h"
#include "tests/support/interval.h"
#include "tests/support/rich_world.h"
#include "tests/support/scratch.h"
#include "tests/support/told.h"

enum { SEEDS_SMALL = 60, SEEDS_FULL = 2000, ASKED_MOST = 64, ROWS_MOST = 5000 };

struct own { /* sums over the attempts of a job */
    gpu_time_ns held;
    time_ns run, saved;
    uint32_t evicted, resized;
};

static struct rich_world world; /* of the present seed */
static volatile uint64_t present_seed;

/* Their runs once changed when they were observed. */
static const uint64_t once_broken[] = {248, 261, 1183, 1300, 1330, 43505, 63430};

static struct {
    uint64_t worlds, observed, read_again, forked, adopted, jobs, elastic, evicted, held_fewer, refused;
} count;

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
    uint64_t *cycles = self;
    struct explanation explanation;
    (void)now;
    if ((*cycles)++ % 16 == 0 && *cycles < 16 * ASKED_MOST)
        (void)sched_explain(sched, (job_id)(*cycles / 16 % world.jobs), &explanation);
}

struct how {
    time_ns sample_interval;
    bool is_checked, has_listener;
    time_ns fork_at;                    /* 0: not forked */
    const struct engine_policy *policy; /* that takes over there; NULL: none */
    const struct record_sink *also;     /* gets the rows, too; NULL: nothing does */
};

static struct error play(struct told *told, const struct how *how)
{
    const struct scenario *scenario = &world.scenario;
    uint64_t cycles = 0;
    struct job_source *source;
    const struct port_outside listener = {
        .self = &cycles, .on_fact = hear, .on_cycle = hear_cycle, .on_cycle_begin = ask};
    const struct record_sink sinks[] = {told_sink(told), metrics_sink(told->metrics),
                                        how->also != NULL ? *how->also : (struct record_sink){.self = NULL}};
    TRY(scenario_open(scenario, &source));
    job_source_keep_arrivals(source);
    struct engine_config config = scenario_engine(scenario, source);
    config.sinks = sinks;
    config.sink_count = 3;
    config.is_checked = how->is_checked;
    config.listener = how->has_listener ? &listener : NULL;
    config.world.sample_interval = how->sample_interval;
    struct error error = how->fork_at == 0 ? engine_run(&config, &told->result)
                                           : forked_run(&config, scenario, how->fork_at, how->policy, &told->result);
    job_source_close(source);
    if (!error_is(error))
        metrics_finish(told->metrics);
    return error;
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
 * In a cluster without instances, with no START on its way, they are what jobs held and what was reserved. */
static void check_causes(const struct told *told, const struct sums *sums, gpu_time_ns partial)
{
    const struct timeline_row *last = &told->samples[told->sample_count - 1];
    gpu_time_ns spent = 0;
    if (world.has_instances || world.scenario.world.decision_latency > 0)
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
static void check_read_again(void)
{
    struct told told;
    struct record_files *files;
    told_open(&told, world.scenario.cluster->gpu_count);
    struct error error = record_files_open(&files, scratch_path("record"), NULL);
    assert_false(error_is(error));
    const struct record_sink sink = record_files_sink(files);
    error = play(&told, &(struct how){.sample_interval = world.coarse, .also = &sink});
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
    if (told_broken()[0] == '\0') {
        metrics_finish(again);
        told_compare_metrics(told.metrics, again, true);
    }
    metrics_free(again);
    told_release(&told);
    count.read_again++;
}

static void check_fork(const struct told *whole, time_ns at, const struct engine_policy *policy)
{
    struct told told;
    told_open(&told, world.scenario.cluster->gpu_count);
    struct error error = play(
        &told, &(struct how){.sample_interval = world.coarse, .is_checked = true, .fork_at = at, .policy = policy});
    if (error_is(error) || error_is(told.result.stall)) {
        if (policy == NULL)
            broken("a fork under the same policy: %s", error_is(error) ? error_message(&error) : "it stalls");
        count.refused++;
    } else {
        check_sums(&told, whole, at);
        *(policy == NULL ? &count.forked : &count.adopted) += 1;
    }
    error_release(&error);
    told_release(&told);
}

static void check_world(uint64_t seed)
{
    struct told plain, observed;
    const time_ns at = seed % 4 == 0 ? world.span / 7 + 1 : seed % 4 == 1 ? world.span / 3 + 2 : 0; /* 0: no fork */
    told_open(&plain, world.scenario.cluster->gpu_count);
    told_open(&observed, world.scenario.cluster->gpu_count);
    struct error error = play(&plain, &(struct how){.sample_interval = world.coarse});
    if (!error_is(error) && !error_is(plain.result.stall)) {
        const time_ns end = plain.result.facts.end; /* of a wait for ever more is told than rows can be kept */
        const struct how how = {.sample_interval = world.fine > end / ROWS_MOST ? world.fine : end / ROWS_MOST + 1,
                                .is_checked = seed % 2 == 0,
                                .has_listener = true};
        check_sums(&plain, NULL, 0);
        error = play(&observed, &how);
        if (error_is(error))
            broken("observed, it ends with an error: %s", error_message(&error));
        else
            told_compare(&plain, &observed);
        count.observed++;
        if (told_broken()[0] == '\0' && seed % 8 == 1)
            check_read_again();
        const bool has_moment = at > 0 && at < end;
        if (told_broken()[0] == '\0' && has_moment)
            check_fork(&plain, at, NULL);
        if (told_broken()[0] == '\0' && has_moment && world.has_other)
            check_fork(&plain, at,
                       &(struct engine_policy){&world.other.policy, world.other.typical, world.other.typical_count});
    } else {
        count.refused++; /* a run that does not end: tests/property/test_endless.c */
    }
    error_release(&error);
    told_release(&plain);
    told_release(&observed);
    count.worlds++;
}

static void on_abort(int signal_number)
{
    signal(signal_number, SIG_DFL);
    rich_world_keep(present_seed, "aborted");
}

/* False: a law is broken. */
static bool is_lawful(uint64_t seed)
{
    told_forget();
    present_seed = seed;
    rich_world_load(&world, seed);
    check_world(seed);
    if (told_broken()[0] != '\0')
        rich_world_keep(seed, told_broken());
    rich_world_release(&world);
    scratch_empty();
    return told_broken()[0] == '\0';
}

TEST(test_worlds)
{
    const struct test_seeds seeds = test_seeds(SEEDS_SMALL, SEEDS_FULL);
    unsigned long long first = seeds.first, number = seeds.count;
    const char *told = getenv("WINDTUNNEL_OBSERVING");
    uint64_t broke = 0;
    if (told != NULL)
        assert_int_equal(sscanf(told, "%llu %llu", &first, &number), 2);
    signal(SIGABRT, on_abort);
    for (uint64_t seed = first; seed < first + number; seed++)
        broke += !is_lawful(seed);
    for (size_t i = 0; told == NULL && i < sizeof once_broken / sizeof *once_broken; i++)
        broke += !is_lawful(once_broken[i]);
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

TEST_GROUP(scratch_make, scratch_remove)
