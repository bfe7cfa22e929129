/* Every preset, and random combinations of seams, in random worlds through the simulator with its checks on.
 *
 * Properties: the run ends without an error and twice the same; every submitted job has one row, and its attempts'
 * rows add up to it; the integrals of the timeline are the sums over attempts and waits; without an end of time
 * nothing is left waiting but what could not start on an empty cluster either, or stands behind such a job in a
 * strict line. */
#include <math.h>
#include <signal.h>

#include "tests/support/test.h"

#include "policies/gang/gang.h"
#include "policies/quota/quotas.h"
#include "policies/sched.h"
#include "tests/support/interval.h"
#include "tests/support/random_run.h"
#include "tests/support/random_sizes.h"

static volatile uint64_t present_seed;

static void on_abort(int number)
{
    print_error("seed %llu: aborted\n", (unsigned long long)present_seed);
    signal(number, SIG_DFL);
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * (1 + fabs(a) + fabs(b));
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
    job.after_count = 0;
    job.after = NULL;
    struct sched *sched = sched_new(run->cluster, job_source_queues(run->source), &run->policy.config, &error);
    assert_non_null(sched);
    sched_job_submitted(sched, &job, job.submit);
    size_t count = sched_cycle(sched, job.submit, &decisions, &wake_at);
    enum decision_kind kind = count > 0 ? decisions[0].kind : DECISION_RELEASE; /* nothing */
    sched_free(sched);
    return kind;
}

/* In a strict line a job that cannot start holds up all behind it. */
static bool stands_behind(const struct random_run *run, job_id id)
{
    for (job_id other = 0; other < run->job_count && run->policy.config.is_strict; other++)
        if (run->row_count[other] == 1 && run->rows[other].state == END_PENDING &&
            (run->policy.config.quota == &quota_none || run->jobs[other].job.queue == run->jobs[id].job.queue) &&
            alone(run, &run->jobs[other].job) != DECISION_START)
            return true;
    return false;
}

/* It depends on a job that waits for ever, or its array is full of such. */
static bool waits_for_another(const struct random_run *run, job_id id)
{
    const struct job *job = &run->jobs[id].job;
    for (uint16_t i = 0; i < job->after_count; i++)
        if (run->rows[job->after[i].job].state == END_PENDING)
            return true;
    uint32_t waiting = 0;
    for (job_id other = 0; other < run->job_count && job->array != 0; other++)
        waiting += other != id && run->jobs[other].job.array == job->array && run->row_count[other] == 1 &&
                   run->rows[other].state == END_PENDING;
    return waiting >= RANDOM_RUN_ARRAY_MAX;
}

static void check_leftovers(const struct random_run *run)
{
    for (job_id id = 0; id < run->job_count; id++) {
        const struct job_row *row = &run->rows[id];
        if (run->row_count[id] == 0)
            random_run_fail(run, "a job has no row", id);
        if (row->state == END_RUNNING)
            random_run_fail(run, "a job runs on for ever", id);
        if (row->state == END_PENDING && run->policy.config.gang->is_all_or_nothing && !waits_for_another(run, id) &&
            alone(run, &run->jobs[id].job) == DECISION_START && !stands_behind(run, id))
            random_run_fail(run, "a job waits for ever although it could start", id);
    }
}

static bool has_ended(const struct job_row *row)
{
    return row->state != END_PENDING && row->state != END_RUNNING;
}

/* What it depends on has ended as asked; -1: otherwise; 0: not yet. */
static int is_met(const struct random_run *run, const struct job_after *after)
{
    const struct job_row *row = &run->rows[after->job];
    if (!has_ended(row))
        return 0;
    bool is_ok = row->state == END_COMPLETED;
    return after->kind == AFTER_ANY || (after->kind == AFTER_OK) == is_ok ? 1 : -1;
}

static void check_after(const struct random_run *run, job_id id)
{
    const struct job *job = &run->jobs[id].job;
    const struct job_row *row = &run->rows[id];
    bool is_never = false;
    for (uint16_t i = 0; i < job->after_count; i++) {
        int met = is_met(run, &job->after[i]);
        is_never |= met < 0;
        if (row->start != TIME_NEVER && (met <= 0 || run->rows[job->after[i].job].end > row->start))
            random_run_fail(run, "a job started before what it depends on had ended as asked", id);
    }
    if (row->state == END_REJECTED && row->reason == REASON_DEPENDENCY_NEVER && !is_never)
        random_run_fail(run, "a job was rejected for a dependency that it could wait for", id);
    if (is_never && row->state != END_REJECTED && run->world.end == TIME_NEVER)
        random_run_fail(run, "a job waits for what can never be", id);
}

/* Elements of an array that run at the start of this one, it included: time that they wait after an eviction
 * counts as theirs. */
static void check_array(const struct random_run *run, job_id id)
{
    const struct job_row *row = &run->rows[id];
    uint32_t running = 0, array = run->jobs[id].job.array;
    for (job_id other = 0; other < run->job_count && array != 0; other++)
        running += run->row_count[other] == 1 && run->jobs[other].job.array == array &&
                   run->rows[other].start <= row->start && run->rows[other].end > row->start;
    if (row->start != TIME_NEVER && running > RANDOM_RUN_ARRAY_MAX)
        random_run_fail(run, "more elements of an array run than may", id);
}

static void check_all(const struct random_run *run, const struct engine_result *result)
{
    uint64_t rows = 0, rejected = 0, by_policy = 0;
    for (job_id id = 0; id < run->job_count; id++) {
        bool was_submitted = run->jobs[id].job.submit <= run->world.end;
        if (run->row_count[id] != was_submitted)
            random_run_fail(run, "not every job that came has one row", id);
        rows += run->row_count[id];
        if (run->row_count[id] == 0)
            continue;
        check_after(run, id);
        check_array(run, id);
        by_policy += run->rows[id].state == END_REJECTED &&
                     (run->rows[id].reason == REASON_DEPENDENCY_NEVER || run->rows[id].reason == REASON_GANG_ON_SLICES);
        rejected += run->row_count[id] == 1 && run->rows[id].state == END_REJECTED;
        if (run->row_count[id] == 1 &&
            (run->rows[id].state == END_REJECTED && run->rows[id].reason == REASON_NEVER_FITS) &&
            alone(run, &run->jobs[id].job) != DECISION_REJECT)
            random_run_fail(run, "a job was rejected that fits", id);
    }
    if (rows != result->submitted || rejected != result->never_fits + result->queue_full + by_policy)
        random_run_fail(run, "the counts of the result are wrong", JOB_NONE);
    if (!is_near(run->sample.allocated_gpu_s, run->allocated_gpu_s))
        random_run_fail(run, "the timeline's GPU time is not that of the attempts", JOB_NONE);
    if (!is_near(run->sample.partial_gang_gpu_s, run->partial_gpu_s))
        random_run_fail(run, "the timeline's partial gangs are not those of the attempts", JOB_NONE);
    if (rejected == 0 && !is_near(run->sample.pending_job_s, run->waited_s))
        random_run_fail(run, "the timeline's waiting time is not that of the jobs", JOB_NONE);
    if (run->world.end == TIME_NEVER)
        check_leftovers(run);
}

/* In every third world nodes leave and come back, during all of the submissions and longer. */
static void resize(struct random_run *run, struct capacity_step steps[RANDOM_SIZES])
{
    const time_ns span = 2 * run->jobs[run->job_count - 1].job.submit + 5000 * TIME_NS_PER_S;
    if (run->seed % 3 == 0)
        run->world.capacity = random_sizes(steps, run->cluster, run->seed, span);
}

static void check_case(uint64_t seed, uint32_t choice)
{
    struct random_run run, again;
    struct capacity_step steps[RANDOM_SIZES];
    present_seed = seed;
    random_run_open(&run, seed, choice);
    resize(&run, steps);
    struct engine_result result = random_run_engine(&run);
    check_all(&run, &result);
    random_run_open(&again, seed, choice);
    again.world.capacity = run.world.capacity;
    struct engine_result second = random_run_engine(&again);
    if (second.fingerprint != result.fingerprint || again.hash != run.hash)
        random_run_fail(&run, "the same run gave another result", JOB_NONE);
    random_run_close(&run);
    random_run_close(&again);
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

TEST(test_presets)
{
    for (uint32_t preset = 0; preset < random_case_preset_count(); preset++)
        each_seed(preset, 40, 1000);
}

TEST(test_random_policies)
{
    each_seed(UINT32_MAX, 150, 5000);
}

#define PREEMPTING                                                                                                     \
    "{'order': ['priority'], 'blocking': 'skip', 'preemption': {'policy': "                                            \
    "'checkpoint', 'min_runtime_s': 10}}"

/* A victim that is slow to start is taken when it runs: that, too, is told to the scheduler. */
TEST(test_evicts_what_started_late)
{
    struct random_run run;
    random_run_plain(&run, 1, PREEMPTING, 2);
    run.world.decision_latency = 100 * TIME_NS_PER_S;
    run.jobs[1].job.submit = TIME_NS_PER_S;
    run.jobs[1].job.priority = 90;
    struct engine_result result = random_run_engine(&run);
    check_all(&run, &result);
    assert_int_equal(run.rows[0].evictions, 1);
    assert_int_equal(run.rows[1].start, 200 * TIME_NS_PER_S);
    random_run_close(&run);
}

/* 400 GPUs that lose 40 days: more milli-GPU nanoseconds than 63 bits hold. */
TEST(test_large_losses)
{
    struct random_run run;
    random_run_plain(&run, 100, PREEMPTING, 2);
    time_ns days = INT64_C(40) * 86400 * TIME_NS_PER_S;
    run.jobs[0].job.first.count = run.jobs[0].job.first.min_count = 100;
    run.jobs[0].truth.duration = 2 * days;
    run.jobs[1].job.submit = days;
    run.jobs[1].job.priority = 90;
    struct engine_result result = random_run_engine(&run);
    check_all(&run, &result);
    assert_int_equal(run.rows[0].lost_gpu_ns, 400 * days);
    random_run_close(&run);
}

/* One may wait: it is not sent away because another is about to start. */
TEST(test_queue_limit_counts_who_waits)
{
    struct random_run run;
    random_run_plain(&run, 1, "{}", 3);
    run.world.decision_latency = 100 * TIME_NS_PER_S;
    run.world.queue_limit = 1;
    struct engine_result result = random_run_engine(&run);
    check_all(&run, &result);
    assert_int_equal(run.rows[0].state, END_COMPLETED);
    assert_int_equal(run.rows[1].state, END_COMPLETED);
    assert_int_equal(run.rows[2].state, END_REJECTED);
    random_run_close(&run);
}

/* Members that need a quarter of a GPU's memory share it; the books count what they hold. */
TEST(test_memory_shares_a_gpu)
{
    struct random_run run;
    random_run_plain(&run, 1, "{}", 16);
    for (uint32_t i = 0; i < 16; i++)
        run.jobs[i].job.first.request = (struct request){.gpu_memory_mib = run.cluster->models[0].memory_mib / 4};
    struct engine_result result = random_run_engine(&run);
    check_all(&run, &result);
    assert_int_equal(run.rows[15].start, 0);
    assert_true(is_near(run.sample.allocated_gpu_s, 4 * 1000.0));
    random_run_close(&run);
}
