/* Every preset, and random combinations of seams, in random worlds through the simulator with its checks on.
 *
 * Properties: the run ends without an error and twice the same; every submitted job has one row, and its attempts'
 * rows add up to it; the integrals of the timeline are the sums over attempts and waits; without an end of time
 * nothing is left waiting but what could not start on an empty cluster either, or stands behind such a job in a
 * strict line. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "policies/quota/quota.h"
#include "policies/sched.h"
#include "sim/engine.h"
#include "tests/support/interval.h"
#include "tests/support/random_case.h"

enum { JOBS_MAX = 150 };

struct planned {
    struct job job;
    struct job_group more[RANDOM_CASE_GROUPS_MAX];
    struct job_truth truth;
};

struct totals { /* what the attempts of a job say */
    uint32_t count, evicted;
    __int128 lost_milli_ns;
    int64_t saved, run;
    time_ns last_end;
};

struct random_run {
    uint64_t seed;
    struct cluster *cluster;
    struct random_case_policy policy;
    struct world_config world;
    struct planned *jobs;
    uint32_t job_count, next;
    struct job_source *source;
    /* what the sinks saw */
    struct job_row *rows;
    uint8_t *row_count;
    struct totals *totals;
    struct timeline_row sample;
    uint64_t hash;
    double allocated_gpu_s, waited_s;
};

static volatile uint64_t present_seed;

static void on_abort(int number)
{
    print_error("seed %llu: aborted\n", (unsigned long long)present_seed);
    signal(number, SIG_DFL);
}

static void fail_run(const struct random_run *run, const char *what, job_id job)
{
    const struct world_config *world = &run->world;
    print_error("seed %llu, job %u: %s\npolicy %s\nperiod %lld latency %lld queue limit %lld end "
                "%lld warmup %lld ns\n",
                (unsigned long long)run->seed, job, what, run->policy.text,
                (long long)world->scheduler_period, (long long)world->decision_latency,
                (long long)world->queue_limit, (long long)world->end, (long long)world->warmup);
    fail();
}

/* ---- Rows -------------------------------------------------------------------------------------- */

static struct error on_attempt(void *self, const struct attempt_row *row)
{
    struct random_run *run = self;
    struct totals *totals = &run->totals[row->id];
    if (run->row_count[row->id] != 0 || row->attempt != totals->count ||
        row->start < totals->last_end || row->end < row->start)
        fail_run(run, "attempts are out of order", row->id);
    if (row->saved < 0 || row->lost < 0 || row->saved + row->lost > row->end - row->start)
        fail_run(run, "an attempt saved or lost more than it ran", row->id);
    const struct checkpoint_plan *plan = &run->jobs[row->id].job.checkpoint;
    if (row->why == ATTEMPT_EVICTED && row->lost != 0 && plan->interval + plan->duration > 0 &&
        plan->duration <= run->policy.config.preempt.grace)
        fail_run(run, "a job lost work although it could save it", row->id);
    totals->count++;
    totals->evicted += row->why == ATTEMPT_EVICTED;
    totals->lost_milli_ns += (__int128)row->lost * row->gpu_milli;
    totals->saved += row->saved;
    totals->run += row->end - row->start;
    totals->last_end = row->end;
    run->allocated_gpu_s +=
        time_to_seconds(row->end - row->start) * (double)row->gpu_milli / GPU_MILLI;
    run->hash = hash_mix(run->hash,
                         hash_bytes(row->placement, strlen(row->placement), (uint64_t)row->start));
    return ERROR_OK;
}

static void check_times(const struct random_run *run, const struct job_row *row)
{
    bool has_started = row->start != TIME_NEVER, has_ended = row->end != TIME_NEVER;
    if (row->wait < 0 || row->wait_total < row->wait || row->run < 0 || row->work < 0 ||
        row->work > row->work_asked)
        fail_run(run, "a job's times are impossible", row->id);
    if (has_started && (row->start < row->submit || row->wait != row->start - row->submit))
        fail_run(run, "a job's wait is not the time to its start", row->id);
    if (has_ended && row->state != END_REJECTED &&
        row->end - row->submit != row->wait_total + row->run)
        fail_run(run, "waits and attempts do not fill a job's life", row->id);
    if ((row->state == END_COMPLETED || row->state == END_FAILED || row->state == END_CANCELLED) !=
        (has_ended && row->work == row->work_asked && row->state != END_REJECTED))
        fail_run(run, "a job's end does not agree with its work", row->id);
}

static struct error on_job(void *self, const struct job_row *row)
{
    struct random_run *run = self;
    const struct totals *totals = &run->totals[row->id];
    if (run->row_count[row->id]++ != 0)
        fail_run(run, "a job has two rows", row->id);
    check_times(run, row);
    if (totals->run != row->run || totals->evicted != row->evictions || totals->saved != row->work)
        fail_run(run, "a job's attempts do not add up to its row", row->id);
    int64_t lost = row->lost_gpu_ns - row->overhead_gpu_ns,
            from_attempts = (int64_t)(totals->lost_milli_ns / GPU_MILLI);
    if (row->overhead_gpu_ns < 0 || llabs(lost - from_attempts) > 64)
        fail_run(run, "a job's lost time is not that of its attempts", row->id);
    if (row->overhead_gpu_ns > row->run / GPU_MILLI * row->gpu_milli + 64 * GPU_MILLI)
        fail_run(run, "a job's overhead exceeds its run time", row->id);
    if (row->state != END_REJECTED)
        run->waited_s += time_to_seconds(row->wait_total);
    run->rows[row->id] = *row;
    run->hash =
        hash_mix(hash_mix(run->hash, row->id), (uint64_t)row->end ^ (uint64_t)row->state << 56);
    return ERROR_OK;
}

static struct error on_sample(void *self, const struct timeline_row *row)
{
    struct random_run *run = self;
    const struct timeline_row *last = &run->sample;
    int64_t gpus = (int64_t)run->cluster->gpu_count * GPU_MILLI;
    if (row->time < last->time || row->allocated_gpu_s < last->allocated_gpu_s ||
        row->submitted < last->submitted)
        fail_run(run, "the timeline goes back", JOB_NONE);
    if (row->allocated_gpu_milli < 0 || row->allocated_gpu_milli > gpus ||
        row->reserved_gpu_milli < 0)
        fail_run(run, "more is allocated than there is", JOB_NONE);
    if (row->submitted != row->ended + row->rejected + row->pending_jobs + row->running_jobs)
        fail_run(run, "the timeline loses a job", JOB_NONE);
    run->sample = *row;
    return ERROR_OK;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * (1 + fabs(a) + fabs(b));
}

/* ---- Worlds ------------------------------------------------------------------------------------ */

static time_ns some_duration(struct random_stream *stream)
{
    static const uint32_t most_s[] = {1, 300, 600, 1200, 3600, 40 * 86400};
    uint32_t kind = random_below(stream, 24);
    if (kind == 0)
        return 0;
    time_ns seconds = random_below(stream, most_s[kind % 6] + 1);
    return seconds * TIME_NS_PER_S +
           (random_case_once_in(stream, 3) ? random_below(stream, TIME_NS_PER_S) : 0);
}

static void plan_jobs(struct random_stream *stream, struct random_run *run,
                      struct random_case_job_options *options, uint32_t queue_count)
{
    uint32_t gap_s = random_case_once_in(stream, 2) ? 20 : 100;
    time_ns now = 0;
    run->job_count = 1 + random_below(stream, JOBS_MAX);
    for (uint32_t i = 0; i < run->job_count; i++) {
        struct planned *planned = &run->jobs[i];
        planned->job = random_case_job(stream, run->cluster, queue_count, options);
        memcpy(planned->more, options->more, sizeof planned->more);
        if (planned->job.more != NULL)
            planned->job.more = planned->more;
        if (random_case_once_in(stream, 3)) /* else in a burst */
            now += (time_ns)random_below(stream, gap_s) * TIME_NS_PER_S + random_below(stream, 3);
        planned->job.submit = now;
        planned->job.trace_id = i;
        planned->truth = (struct job_truth){.duration = some_duration(stream),
                                            .outcome = (uint8_t)random_below(stream, OUTCOME_COUNT),
                                            .sm_active_milli = (uint16_t)random_below(stream, 1001),
                                            .would_do_milli = GPU_MILLI};
    }
}

static struct error next_planned(void *self, struct job *job, struct job_truth *truth, bool *has)
{
    struct random_run *run = self;
    *has = run->next < run->job_count;
    if (*has) {
        *job = run->jobs[run->next].job;
        *truth = run->jobs[run->next++].truth;
    }
    return ERROR_OK;
}

static struct world_config some_world(struct random_stream *stream)
{
    static const int64_t periods[] = {0, 0, 1, 7, 60}, latencies[] = {0, 0, 0, 3, 200};
    struct world_config world = world_config_default();
    world.scheduler_period = periods[random_below(stream, 5)] * TIME_NS_PER_S;
    world.decision_latency = latencies[random_below(stream, 5)] * TIME_NS_PER_S;
    world.kills_at_limit = random_case_once_in(stream, 2);
    if (random_case_once_in(stream, 4))
        world.queue_limit = random_below(stream, 20);
    if (random_case_once_in(stream, 4))
        world.end = (time_ns)(1 + random_below(stream, 4000)) * TIME_NS_PER_S;
    if (random_case_once_in(stream, 2))
        world.warmup = (time_ns)random_below(stream, 1000) * TIME_NS_PER_S;
    if (world.warmup >= world.end)
        world.warmup = 0;
    world.sample_interval = (time_ns)(1 + random_below(stream, 3600)) * TIME_NS_PER_S * 24;
    return world;
}

static void open_storage(struct random_run *run)
{
    run->jobs = calloc(JOBS_MAX, sizeof *run->jobs);
    run->rows = calloc(JOBS_MAX, sizeof *run->rows);
    run->row_count = calloc(JOBS_MAX, 1);
    run->totals = calloc(JOBS_MAX, sizeof *run->totals);
    assert_true(run->jobs != NULL && run->rows != NULL && run->row_count != NULL &&
                run->totals != NULL);
}

static void open_run(struct random_run *run, uint64_t seed, uint32_t choice)
{
    struct random_stream stream;
    struct random_case_job_options options = {.max_groups = RANDOM_CASE_GROUPS_MAX};
    *run = (struct random_run){.seed = seed};
    random_stream_init(&stream, seed, "presets", choice);
    run->cluster = random_case_cluster(&stream);
    run->source = job_source_custom(next_planned, run);
    struct queue_table *queues = job_source_queues(run->source);
    random_case_queues(&stream, queues, run->cluster, random_case_once_in(&stream, 2));
    random_case_policy(&stream, choice, &run->policy);
    run->world = some_world(&stream);
    open_storage(run);
    plan_jobs(&stream, run, &options, queues->count);
}

static void close_run(struct random_run *run)
{
    job_source_close(run->source);
    cluster_free(run->cluster);
    free(run->jobs);
    free(run->rows);
    free(run->row_count);
    free(run->totals);
}

static struct engine_result run_engine(struct random_run *run)
{
    struct engine_result result;
    struct record_sink sink = {
        .self = run, .on_job = on_job, .on_attempt = on_attempt, .on_sample = on_sample};
    struct engine_config config = {.cluster = run->cluster,
                                   .source = run->source,
                                   .policy = &run->policy.config,
                                   .world = run->world,
                                   .seed = run->seed,
                                   .sinks = &sink,
                                   .sink_count = 1,
                                   .is_checked = true};
    struct error error = engine_run(&config, &result);
    if (error_is(error))
        fail_run(run, error_message(&error), JOB_NONE);
    return result;
}

/* A hand-made run on `nodes` of 4 GPUs; jobs are set by the caller. */
static void open_plain(struct random_run *run, uint32_t nodes, const char *preset_text,
                       uint32_t jobs)
{
    struct json_doc *doc;
    struct error error = json_doc_parse(&doc, "policy", text_of(preset_text), ERROR_CONFIG);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    *run = (struct random_run){.world = world_config_default(), .job_count = jobs};
    policy_config_read(&run->policy.config, &root);
    assert_false(error_is(error));
    json_doc_free(doc);
    run->cluster = cluster_uniform_new(nodes, 4);
    run->source = job_source_custom(next_planned, run);
    open_storage(run);
    for (uint32_t i = 0; i < jobs; i++) {
        run->jobs[i].job = job_default();
        run->jobs[i].job.first =
            (struct job_group){.request = {.gpus = 4}, .count = 1, .min_count = 1};
        run->jobs[i].truth =
            (struct job_truth){.duration = 1000 * TIME_NS_PER_S, .would_do_milli = GPU_MILLI};
    }
}

/* ---- What must hold at the end ----------------------------------------------------------------- */

/* What the scheduler decides on the job if there is nothing else in the world. */
static enum decision_kind alone(const struct random_run *run, const struct job *planned)
{
    struct error error;
    const struct decision *decisions;
    time_ns wake_at;
    struct job job = *planned;
    job.id = 0;
    struct sched *sched =
        sched_new(run->cluster, job_source_queues(run->source), &run->policy.config, &error);
    assert_non_null(sched);
    sched_job_submitted(sched, &job, job.submit);
    size_t count = sched_cycle(sched, job.submit, &decisions, &wake_at);
    enum decision_kind kind = count == 1 ? decisions[0].kind : DECISION_RELEASE; /* nothing */
    sched_free(sched);
    return kind;
}

/* In a strict line a job that cannot start holds up all behind it. */
static bool stands_behind(const struct random_run *run, job_id id)
{
    for (job_id other = 0; other < run->job_count && run->policy.config.is_strict; other++)
        if (run->row_count[other] == 1 && run->rows[other].state == END_PENDING &&
            (run->policy.config.quota == &quota_none ||
             run->jobs[other].job.queue == run->jobs[id].job.queue) &&
            alone(run, &run->jobs[other].job) != DECISION_START)
            return true;
    return false;
}

static void check_leftovers(const struct random_run *run)
{
    for (job_id id = 0; id < run->job_count; id++) {
        const struct job_row *row = &run->rows[id];
        if (run->row_count[id] == 0)
            fail_run(run, "a job has no row", id);
        if (row->state == END_RUNNING)
            fail_run(run, "a job runs on for ever", id);
        if (row->state == END_PENDING && alone(run, &run->jobs[id].job) == DECISION_START &&
            !stands_behind(run, id))
            fail_run(run, "a job waits for ever although it could start", id);
    }
}

static void check_all(const struct random_run *run, const struct engine_result *result)
{
    uint64_t rows = 0, rejected = 0;
    for (job_id id = 0; id < run->job_count; id++) {
        bool was_submitted = run->jobs[id].job.submit <= run->world.end;
        if (run->row_count[id] != was_submitted)
            fail_run(run, "not every job that came has one row", id);
        rows += run->row_count[id];
        rejected += run->row_count[id] == 1 && run->rows[id].state == END_REJECTED;
        if (run->row_count[id] == 1 &&
            (run->rows[id].state == END_REJECTED && run->rows[id].reason == REASON_NEVER_FITS) &&
            alone(run, &run->jobs[id].job) != DECISION_REJECT)
            fail_run(run, "a job was rejected that fits", id);
    }
    if (rows != result->submitted || rejected != result->never_fits + result->queue_full)
        fail_run(run, "the counts of the result are wrong", JOB_NONE);
    if (!is_near(run->sample.allocated_gpu_s, run->allocated_gpu_s))
        fail_run(run, "the timeline's GPU time is not that of the attempts", JOB_NONE);
    if (rejected == 0 && !is_near(run->sample.pending_job_s, run->waited_s))
        fail_run(run, "the timeline's waiting time is not that of the jobs", JOB_NONE);
    if (run->world.end == TIME_NEVER)
        check_leftovers(run);
}

static void check_case(uint64_t seed, uint32_t choice)
{
    struct random_run run, again;
    present_seed = seed;
    open_run(&run, seed, choice);
    struct engine_result result = run_engine(&run);
    check_all(&run, &result);
    open_run(&again, seed, choice);
    struct engine_result second = run_engine(&again);
    if (second.fingerprint != result.fingerprint || again.hash != run.hash)
        fail_run(&run, "the same run gave another result", JOB_NONE);
    close_run(&run);
    close_run(&again);
}

static void each_seed(uint32_t choice, uint64_t small, uint64_t full)
{
    const char *only = getenv("WINDTUNNEL_TEST_SEED");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t count = only != NULL ? 1 : test_is_full() ? full : small;
    signal(SIGABRT, on_abort);
    for (uint64_t seed = first; seed < first + count; seed++)
        check_case(seed, choice);
}

static void test_presets(void **state)
{
    (void)state;
    for (uint32_t preset = 0; preset < random_case_preset_count(); preset++)
        each_seed(preset, 40, 1000);
}

static void test_random_policies(void **state)
{
    (void)state;
    each_seed(UINT32_MAX, 150, 5000);
}

#define PREEMPTING                                                                                 \
    "{\"order\": [\"priority\"], \"blocking\": \"skip\", \"preemption\": {\"policy\": "            \
    "\"checkpoint\", \"min_runtime_s\": 10}}"

/* A victim that is slow to start is taken when it runs: that, too, is told to the scheduler. */
static void test_evicts_what_started_late(void **state)
{
    (void)state;
    struct random_run run;
    open_plain(&run, 1, PREEMPTING, 2);
    run.world.decision_latency = 100 * TIME_NS_PER_S;
    run.jobs[1].job.submit = TIME_NS_PER_S;
    run.jobs[1].job.priority = 90;
    struct engine_result result = run_engine(&run);
    check_all(&run, &result);
    assert_int_equal(run.rows[0].evictions, 1);
    assert_int_equal(run.rows[1].start, 200 * TIME_NS_PER_S);
    close_run(&run);
}

/* 400 GPUs that lose 40 days: more milli-GPU nanoseconds than 63 bits hold. */
static void test_large_losses(void **state)
{
    (void)state;
    struct random_run run;
    open_plain(&run, 100, PREEMPTING, 2);
    time_ns days = INT64_C(40) * 86400 * TIME_NS_PER_S;
    run.jobs[0].job.first.count = run.jobs[0].job.first.min_count = 100;
    run.jobs[0].truth.duration = 2 * days;
    run.jobs[1].job.submit = days;
    run.jobs[1].job.priority = 90;
    struct engine_result result = run_engine(&run);
    check_all(&run, &result);
    assert_int_equal(run.rows[0].lost_gpu_ns, 400 * days);
    close_run(&run);
}

/* One may wait: it is not sent away because another is about to start. */
static void test_queue_limit_counts_who_waits(void **state)
{
    (void)state;
    struct random_run run;
    open_plain(&run, 1, "{}", 3);
    run.world.decision_latency = 100 * TIME_NS_PER_S;
    run.world.queue_limit = 1;
    struct engine_result result = run_engine(&run);
    check_all(&run, &result);
    assert_int_equal(run.rows[0].state, END_COMPLETED);
    assert_int_equal(run.rows[1].state, END_COMPLETED);
    assert_int_equal(run.rows[2].state, END_REJECTED);
    close_run(&run);
}

/* Members that need a quarter of a GPU's memory share it; the books count what they hold. */
static void test_memory_shares_a_gpu(void **state)
{
    (void)state;
    struct random_run run;
    open_plain(&run, 1, "{}", 16);
    for (uint32_t i = 0; i < 16; i++)
        run.jobs[i].job.first.request =
            (struct request){.gpu_memory_mib = run.cluster->models[0].memory_mib / 4};
    struct engine_result result = run_engine(&run);
    check_all(&run, &result);
    assert_int_equal(run.rows[15].start, 0);
    assert_true(is_near(run.sample.allocated_gpu_s, 4 * 1000.0));
    close_run(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_random_policies),
        cmocka_unit_test(test_evicts_what_started_late),
        cmocka_unit_test(test_large_losses),
        cmocka_unit_test(test_queue_limit_counts_who_waits),
        cmocka_unit_test(test_memory_shares_a_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
