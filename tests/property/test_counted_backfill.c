/* Backfill on logs that count processors, start by start, against an EASY and a conservative backfill that know nothing
 * but counts (Mu'alem and Feitelson 2001): the law of policies/reservation/planned_units.c.
 *
 * The logs are SWF texts like those of the 100 nodes of KTH's SP2: most jobs ask for one or a power of two of the
 * processors, run times are lognormal, and limits are multiples of them.  The same schedulers count one-GPU members on
 * nodes of several GPUs, and whole nodes. */
#include "tests/support/test.h"
#include <gsl/gsl_randist.h>

#include "base/random.h"
#include "policies/backfill/backfills.h"
#include "tests/support/interval.h"
#include "tests/support/random_jobs.h"
#include "tests/support/scratch.h"
#include "workloads/readers/source.h"

enum { LOG_JOBS = 3000, LOG_PROCESSORS = 100, STEPS_MAX = 4 * LOG_JOBS };

struct lot {
    time_ns submit, run, limit;
    uint32_t units;
    time_ns start, promised; /* TIME_NEVER: not yet */
    uint32_t made;           /* of the promise: a later one has a larger number */
    bool runs, has_ended;
};

struct counter {
    struct lot *lots;
    uint32_t count, submitted, made;
    int64_t units; /* of the cluster */
    time_ns now;
    uint32_t live[LOG_JOBS], live_count;       /* jobs that run, by their planned ends */
    uint32_t waiting[LOG_JOBS], waiting_count; /* in the order of arrival, or of the promises */
    time_ns at[STEPS_MAX];                     /* conservative: what is free over time; the last step has no end */
    int64_t free[STEPS_MAX];
    uint32_t step_count;
    uint32_t overtakers, moved_up;
};

static time_ns planned_end(const struct lot *lot)
{
    return lot->start + lot->limit;
}

static void start(struct counter *counter, uint32_t job)
{
    struct lot *own = &counter->lots[job];
    own->start = counter->now;
    own->runs = true;
    uint32_t at = counter->live_count++;
    for (; at > 0 && planned_end(&counter->lots[counter->live[at - 1]]) > planned_end(own); at--)
        counter->live[at] = counter->live[at - 1];
    counter->live[at] = job;
    for (uint32_t i = 0; i < job; i++)
        counter->overtakers += i < counter->submitted && counter->lots[i].start == TIME_NEVER;
}

static int64_t free_units(const struct counter *counter)
{
    int64_t left = counter->units;
    for (uint32_t r = 0; r < counter->live_count; r++)
        left -= counter->lots[counter->live[r]].units;
    return left;
}

/* ---- EASY ---- */

/* When the head can start, by the planned ends; *extra: the units that are then left. */
static time_ns shadow_time(const struct counter *counter, uint32_t units, int64_t *extra)
{
    int64_t left = free_units(counter);
    time_ns shadow = TIME_NEVER;
    for (uint32_t r = 0; r < counter->live_count; r++) {
        const struct lot *running = &counter->lots[counter->live[r]];
        if (shadow != TIME_NEVER && planned_end(running) > shadow)
            break;
        left += running->units;
        if (shadow == TIME_NEVER && left >= units)
            shadow = planned_end(running);
    }
    assert_true(shadow != TIME_NEVER);
    *extra = left - units;
    return shadow;
}

static void decide_easy(struct counter *counter)
{
    uint32_t kept = 0;
    time_ns shadow = TIME_NEVER;
    int64_t left = free_units(counter), extra = 0;
    for (uint32_t w = 0; w < counter->waiting_count; w++) {
        const uint32_t job = counter->waiting[w], units = counter->lots[job].units;
        const bool is_short = counter->now + counter->lots[job].limit <= shadow;
        if (units <= left && (kept == 0 || is_short || units <= extra)) {
            start(counter, job);
            left -= units;
            extra -= kept > 0 && !is_short ? units : 0;
            continue;
        }
        counter->waiting[kept++] = job;
        if (kept == 1)
            shadow = shadow_time(counter, units, &extra);
    }
    counter->waiting_count = kept;
}

/* ---- Conservative ---- */

static uint32_t step_at(struct counter *counter, time_ns at)
{
    uint32_t s = counter->step_count;
    while (counter->at[s - 1] > at)
        s--;
    if (counter->at[s - 1] == at)
        return s - 1;
    assert_true(counter->step_count < STEPS_MAX);
    memmove(&counter->at[s + 1], &counter->at[s], (counter->step_count - s) * sizeof *counter->at);
    memmove(&counter->free[s + 1], &counter->free[s], (counter->step_count - s) * sizeof *counter->free);
    counter->at[s] = at;
    counter->free[s] = counter->free[s - 1];
    counter->step_count++;
    return s;
}

static void take(struct counter *counter, time_ns from, time_ns until, int64_t units)
{
    if (from >= until)
        return;
    const uint32_t first = step_at(counter, from), end = step_at(counter, until);
    for (uint32_t s = first; s < end; s++)
        counter->free[s] -= units;
}

static void draw(struct counter *counter)
{
    counter->step_count = 1;
    counter->at[0] = counter->now;
    counter->free[0] = counter->units;
    for (uint32_t r = 0; r < counter->live_count; r++)
        take(counter, counter->now, planned_end(&counter->lots[counter->live[r]]),
             counter->lots[counter->live[r]].units);
    for (uint32_t w = 0; w < counter->waiting_count; w++) {
        const struct lot *lot = &counter->lots[counter->waiting[w]];
        if (lot->promised != TIME_NEVER)
            take(counter, lot->promised, lot->promised + lot->limit, lot->units);
    }
}

static time_ns earliest(const struct counter *counter, const struct lot *lot)
{
    time_ns since = TIME_NEVER;
    for (uint32_t s = 0; s < counter->step_count; s++) {
        if (since != TIME_NEVER && counter->at[s] - since >= lot->limit)
            return since;
        if (counter->free[s] < lot->units)
            since = TIME_NEVER;
        else if (since == TIME_NEVER)
            since = counter->at[s];
    }
    assert_true(since != TIME_NEVER);
    return since;
}

static bool is_promised_before(const struct lot *a, const struct lot *b)
{
    return a->promised != b->promised ? a->promised < b->promised : a->made < b->made;
}

/* Promise the job its earliest start.  It may have a promise, which is then taken back first. */
static void promise(struct counter *counter, struct lot *lot)
{
    if (lot->promised != TIME_NEVER)
        take(counter, lot->promised, lot->promised + lot->limit, -(int64_t)lot->units);
    const time_ns at = earliest(counter, lot);
    assert_true(at <= lot->promised);
    counter->moved_up += lot->promised != TIME_NEVER && at < lot->promised;
    if (at < lot->promised)
        lot->made = ++counter->made;
    lot->promised = at;
    take(counter, at, at + lot->limit, lot->units);
}

static void decide_conservative(struct counter *counter, bool has_ended_early)
{
    for (uint32_t w = 1; w < counter->waiting_count; w++) { /* new jobs come last, in their order */
        const uint32_t job = counter->waiting[w];
        uint32_t at = w;
        for (; at > 0 && is_promised_before(&counter->lots[job], &counter->lots[counter->waiting[at - 1]]); at--)
            counter->waiting[at] = counter->waiting[at - 1];
        counter->waiting[at] = job;
    }
    draw(counter);
    uint32_t kept = 0;
    for (uint32_t w = 0; w < counter->waiting_count; w++) {
        const uint32_t job = counter->waiting[w];
        struct lot *lot = &counter->lots[job];
        if (lot->promised == TIME_NEVER || (has_ended_early && lot->promised > counter->now))
            promise(counter, lot);
        if (lot->promised > counter->now)
            counter->waiting[kept++] = job;
        else
            start(counter, job);
    }
    counter->waiting_count = kept;
}

/* ---- The run ---- */

static time_ns next_instant(const struct counter *counter)
{
    time_ns next = counter->submitted < counter->count ? counter->lots[counter->submitted].submit : TIME_NEVER;
    for (uint32_t r = 0; r < counter->live_count; r++) {
        const struct lot *lot = &counter->lots[counter->live[r]];
        next = lot->start + lot->run < next ? lot->start + lot->run : next;
    }
    for (uint32_t w = 0; w < counter->waiting_count; w++)
        next = counter->lots[counter->waiting[w]].promised < next ? counter->lots[counter->waiting[w]].promised : next;
    return next;
}

/* Jobs without a run time end when they start: they are run in instants of their own, one after the other. */
static bool remove_ended(struct counter *counter)
{
    bool has_ended_early = false;
    uint32_t kept = 0;
    for (uint32_t r = 0; r < counter->live_count; r++) {
        struct lot *lot = &counter->lots[counter->live[r]];
        if (lot->start + lot->run > counter->now) {
            counter->live[kept++] = counter->live[r];
            continue;
        }
        has_ended_early |= planned_end(lot) > counter->now;
    }
    counter->live_count = kept;
    return has_ended_early;
}

static void run_counter(struct counter *counter, bool is_easy)
{
    for (time_ns next = next_instant(counter); next != TIME_NEVER; next = next_instant(counter)) {
        counter->now = next;
        const bool has_ended_early = remove_ended(counter);
        while (counter->submitted < counter->count && counter->lots[counter->submitted].submit <= next)
            counter->waiting[counter->waiting_count++] = counter->submitted++;
        if (is_easy)
            decide_easy(counter);
        else
            decide_conservative(counter, has_ended_early);
    }
    assert_int_equal(counter->waiting_count, 0);
}

static struct counter *counter_new(uint32_t count, int64_t units)
{
    struct counter *counter = mem_zalloc(1, sizeof *counter);
    assert_true(count <= LOG_JOBS);
    counter->count = count;
    counter->units = units;
    counter->lots = mem_zalloc(count, sizeof *counter->lots);
    for (uint32_t i = 0; i < count; i++)
        counter->lots[i].start = counter->lots[i].promised = TIME_NEVER;
    return counter;
}

static void counter_free(struct counter *counter)
{
    mem_free(counter->lots);
    mem_free(counter);
}

/* ---- Logs ---- */

static uint32_t random_size(struct random_stream *random)
{
    const uint32_t dice = random_below(random, 100);
    return dice < 30   ? 1
           : dice < 75 ? 1u << random_below(random, 7)
                       : 1 + random_below(random, dice < 97 ? LOG_PROCESSORS / 3 : LOG_PROCESSORS);
}

/* A log of whole seconds, with an offered load near 0.9, written to a file; returns its path. */
static const char *make_log(struct counter *counter, uint64_t seed)
{
    struct buffer text = {0};
    struct random_stream random;
    double at = 0;
    random_stream_init(&random, seed, "log", 0);
    buffer_format(&text, "; Version: 2.2\n; MaxProcs: %d\n", LOG_PROCESSORS);
    for (uint32_t i = 0; i < counter->count; i++) {
        struct lot *lot = &counter->lots[i];
        const double run = gsl_ran_lognormal(random_gsl(&random), 6.4, 2);
        const int64_t run_s = run < 1 ? 1 : run > 60 * 3600 ? 60 * 3600 : (int64_t)run;
        const int64_t limit_s = random_below(&random, 6) == 0 ? run_s : run_s * (1 + random_below(&random, 9)) + 60;
        lot->units = random_size(&random);
        lot->submit = (int64_t)at * TIME_NS_PER_S;
        lot->run = run_s * TIME_NS_PER_S;
        lot->limit = limit_s * TIME_NS_PER_S;
        buffer_format(&text, "%u %lld -1 %lld %u -1 -1 %u %lld -1 1 %u -1 -1 -1 -1 -1 -1\n", i + 1, (long long)at,
                      (long long)run_s, lot->units, lot->units, (long long)limit_s, i % 7);
        at += gsl_ran_exponential(random_gsl(&random), 620);
    }
    const char *path = scratch_write("log.swf", text.bytes, text.length);
    buffer_release(&text);
    return path;
}

/* ---- The comparison ---- */

static struct run_setup setup_of(const struct cluster *cluster, bool is_easy)
{
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = run_preset(is_easy ? "easy" : "conservative");
    setup.policy.backfill_config.depth = BACKFILL_ALL;
    setup.is_unchecked = true;
    return setup;
}

static struct error compare_start(void *self, const struct job_row *row)
{
    const struct counter *counter = self;
    const struct lot *lot = &counter->lots[row->id];
    if (row->start != lot->start)
        fail_msg("job %u, submitted at %.0f s with a limit of %.0f s for %u processors, started at %.0f s, expected "
                 "%.0f s",
                 row->id, time_to_seconds(lot->submit), time_to_seconds(lot->limit), lot->units,
                 time_to_seconds(row->start), time_to_seconds(lot->start));
    return ERROR_OK;
}

static void compare_logs(bool is_easy)
{
    const struct test_seeds seeds = test_seeds(3, 20);
    uint64_t compared = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct counter *counter = counter_new(LOG_JOBS, LOG_PROCESSORS);
        struct cluster *cluster = cluster_uniform_new(LOG_PROCESSORS, 1);
        const struct run_setup setup = setup_of(cluster, is_easy);
        const struct workload_spec spec = {.trace = make_log(counter, seed)};
        struct job_source *source;
        run_counter(counter, is_easy);
        assert_false(error_is(job_source_open(&source, &spec, cluster, 1)));
        run_source(&setup, source, &(struct record_sink){.self = counter, .on_job = compare_start});
        assert_true(counter->overtakers > 100 && (is_easy || counter->moved_up > 100));
        compared += counter->count;
        counter_free(counter);
        cluster_free(cluster);
    }
    print_message("%llu starts equal under %s\n", (unsigned long long)compared, is_easy ? "easy" : "conservative");
}

TEST(easy_on_logs)
{
    compare_logs(true);
}

TEST(conservative_on_logs)
{
    compare_logs(false);
}

/* One-GPU members on nodes of several GPUs, or members of whole nodes. */
static void compare_jobs(bool is_easy, unsigned request_classes, uint16_t unit, uint16_t gpus, uint64_t seed)
{
    const struct random_jobs spec = {.count = 150,
                                     .nodes = 2 + (uint32_t)(seed % 7),
                                     .gpus = gpus,
                                     .request_classes = request_classes,
                                     .load = 0.7 + 0.1 * (double)(seed % 6)};
    struct run_job *jobs = random_jobs_new(&spec, seed);
    struct cluster *cluster = cluster_uniform_new(spec.nodes, gpus);
    struct run_setup setup = setup_of(cluster, is_easy);
    struct counter *counter = counter_new(spec.count, (int64_t)spec.nodes * gpus / unit);
    struct random_stream random;
    setup.is_unchecked = false;
    random_stream_init(&random, seed, "limits", unit);
    for (uint32_t i = 0; i < spec.count; i++) {
        const struct job_group *group = job_group(&jobs[i].job, 0);
        const time_ns run = jobs[i].truth.duration > 0 ? jobs[i].truth.duration : 1;
        const uint32_t dice = random_below(&random, 8);
        assert_int_equal(group->request.gpus, unit);
        jobs[i].truth.duration = run;
        jobs[i].job.limit = dice < 4 ? run : run + run / 4 * dice;
        counter->lots[i].submit = jobs[i].job.submit;
        counter->lots[i].run = run;
        counter->lots[i].limit = jobs[i].job.limit;
        counter->lots[i].units = group->count;
    }
    run_counter(counter, is_easy);
    struct run_log *log = run_jobs(&setup, jobs, spec.count);
    for (uint32_t i = 0; i < spec.count; i++)
        if (log->jobs[i].start != counter->lots[i].start)
            fail_msg("seed %llu: job %u of %u units started at %lld ns, expected %lld ns", (unsigned long long)seed, i,
                     counter->lots[i].units, (long long)log->jobs[i].start, (long long)counter->lots[i].start);
    run_log_free(log);
    counter_free(counter);
    cluster_free(cluster);
    random_jobs_free(jobs);
}

TEST(on_nodes_of_several_gpus)
{
    const struct test_seeds seeds = test_seeds(40, 1000);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++)
        for (int is_easy = 0; is_easy <= 1; is_easy++) {
            compare_jobs(is_easy, RANDOM_FLAT, 1, (uint16_t)(1 + seed % 8), seed);
            compare_jobs(is_easy, RANDOM_GANG, (uint16_t)(1 + seed % 8), (uint16_t)(1 + seed % 8), seed);
        }
}

TEST_GROUP(scratch_make, scratch_remove)
