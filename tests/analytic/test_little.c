/* Little's law, L = lambda W (J. D. C. Little, Operations Research 9(3), 1961), in every run.
 *
 * Over any span that contains what it counts it is an identity: the integral of the number of waiting jobs is the sum
 * of their waits.  The engine keeps integrals and rows apart, so that they check each other: at every sample the
 * integrals must be what the attempts' rows say up to then, and at the end what the jobs' rows say, for random
 * workloads under every preset, with evictions, rejections and jobs cut off by the end of the run.
 */
#include <math.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "policies/placement/placements.h"
#include "policies/sharing/sharings.h"
#include "tests/support/interval.h"
#include "tests/support/random_jobs.h"

enum { JOB_COUNT = 300, QUEUE_COUNT = 3 };

__extension__ typedef __int128 wide;

static const uint64_t *seed_shown; /* by the check that fails */

/* Equal but for the rounding of sums of doubles. */
static void check_equal(const char *what, double measured, wide sum, double unit)
{
    double expected = (double)sum / (1e9 * unit);
    if (fabs(measured - expected) > 1e-9 + 1e-12 * fabs(expected))
        fail_msg("seed %llu: %s: the timeline says %.9f, the rows %.9f", (unsigned long long)*seed_shown, what,
                 measured, expected);
}

static void check_count(const char *what, uint64_t counted, uint64_t expected)
{
    if (counted != expected)
        fail_msg("seed %llu: %s: the timeline says %llu, the rows %llu", (unsigned long long)*seed_shown, what,
                 (unsigned long long)counted, (unsigned long long)expected);
}

static time_ns overlap(time_ns from, time_ns to, time_ns until)
{
    time_ns end = to < until ? to : until;
    return end > from ? end - from : 0;
}

/* What rows say up to a time, in job ns, milli-GPU ns and (milli-GPU x milli-activity) ns. */
struct sums {
    wide pending, running, allocated, active;
};

/* A job waits from its submission, or an eviction, to the next attempt, its rejection or the end of the run. */
static struct sums sum_until(const struct run_log *log, time_ns *waits_since, time_ns until)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < log->result.submitted; i++)
        waits_since[i] = log->jobs[i].submit;
    for (uint32_t a = 0; a < log->attempt_count; a++) { /* of one job in order */
        const struct attempt_row *row = &log->attempts[a];
        time_ns ran = overlap(row->start, row->end, until);
        sums.pending += overlap(waits_since[row->id], row->start, until);
        sums.running += ran;
        sums.allocated += (wide)ran * row->gpu_milli;
        sums.active += (wide)ran * row->gpu_milli * log->jobs[row->id].sm_active_milli;
        waits_since[row->id] = row->why == ATTEMPT_EVICTED ? row->end : TIME_NEVER;
    }
    for (uint32_t i = 0; i < log->result.submitted; i++) {
        const struct job_row *row = &log->jobs[i];
        time_ns to = row->state == END_REJECTED ? row->end : log->result.facts.end;
        sums.pending += overlap(waits_since[i], to, until);
    }
    return sums;
}

static void check_samples(const struct run_log *log)
{
    time_ns *waits_since = mem_zalloc(log->job_count, sizeof *waits_since);
    for (uint32_t s = 0; s < log->sample_count; s++) {
        const struct timeline_row *row = &log->samples[s];
        struct sums sums = sum_until(log, waits_since, row->time);
        check_equal("pending_job_s", row->pending_job_s, sums.pending, 1);
        check_equal("running_job_s", row->running_job_s, sums.running, 1);
        check_equal("allocated_gpu_s", row->allocated_gpu_s, sums.allocated, GPU_MILLI);
        check_equal("active_gpu_s", row->active_gpu_s, sums.active, 1e3 * GPU_MILLI);
        assert_true(row->partial_gang_gpu_s == 0); /* all or nothing */
    }
    mem_free(waits_since);
}

/* The wait that metrics take is the one before the first start. */
static void check_first_wait(const struct run_log *log, const struct job_row *row)
{
    time_ns until = row->start != TIME_NEVER ? row->start : log->result.facts.end;
    assert_int_equal(row->wait, until - row->submit);
    assert_true(row->evictions == 0 ? row->wait == row->wait_total : row->wait <= row->wait_total);
}

static void check_little(const struct run_log *log)
{
    const struct timeline_row *last = run_last_sample(log);
    wide waits = 0, runs = 0;
    uint64_t ended = 0, rejected = 0, evictions = 0;
    for (uint32_t i = 0; i < log->result.submitted; i++) {
        const struct job_row *row = &log->jobs[i];
        waits += row->state == END_REJECTED ? row->end - row->submit : row->wait_total;
        runs += row->run;
        rejected += row->state == END_REJECTED;
        ended += row->end != TIME_NEVER && row->state != END_REJECTED;
        evictions += row->evictions;
        if (row->state != END_REJECTED)
            check_first_wait(log, row);
    }
    assert_true(last->time == log->result.facts.end);
    check_equal("L = lambda W of waiting jobs", last->pending_job_s, waits, 1);
    check_equal("L = lambda W of running jobs", last->running_job_s, runs, 1);
    check_count("submitted", last->submitted, log->result.submitted);
    check_count("ended", last->ended, ended);
    check_count("rejected", last->rejected, rejected);
    check_count("evicted", last->evicted, evictions);
    check_count("submitted", ended + rejected + last->pending_jobs + last->running_jobs, log->result.submitted);
}

static void fill_queues(struct queue_table *queues)
{
    static const char *const names[QUEUE_COUNT] = {"a", "b", "c"};
    for (uint32_t q = 0; q < QUEUE_COUNT; q++) {
        queue_id id = queue_table_add(queues, text_of(names[q]), QUEUE_ROOT);
        queues->queues[id].deserved[RESOURCE_GPU] = 8000 * q;
    }
}

static struct run_setup draw_setup(struct random_stream *stream, const struct cluster *cluster, const char *preset)
{
    static const time_ns periods[] = {0, TIME_NS_PER_S, 7 * TIME_NS_PER_S};
    static const time_ns latencies[] = {0, 0, 1300 * TIME_NS_PER_MS};
    static const int64_t limits[] = {-1, -1, 0, 3, 20};
    struct run_setup setup = run_setup_default(cluster);
    setup.policy = run_preset(preset);
    setup.policy.sharing = &sharing_as_asked; /* the rows give the SM activity of the pieces that jobs ask for */
    setup.policy.sharing_config = sharing_as_asked.defaults;
    setup.policy.placement = placement_policies[random_below(stream, 3)];
    setup.policy.preempt.grace = random_below(stream, 40) * TIME_NS_PER_S;
    setup.policy.preempt.preempt_min_runtime = setup.policy.preempt.reclaim_min_runtime =
        random_below(stream, 60) * TIME_NS_PER_S;
    setup.fill_queues = fill_queues;
    setup.world.scheduler_period = periods[random_below(stream, 3)];
    setup.world.decision_latency = latencies[random_below(stream, 3)];
    setup.world.queue_limit = limits[random_below(stream, 5)];
    setup.world.kills_at_limit = random_below(stream, 2) == 0;
    setup.world.end = random_below(stream, 2) == 0 ? TIME_NEVER : 700 * TIME_NS_PER_S;
    setup.world.warmup = random_below(stream, 2) * 100 * TIME_NS_PER_S;
    setup.world.sample_interval = 37 * TIME_NS_PER_S;
    return setup;
}

struct seen { /* over all seeds: the test is empty if nothing happened */
    uint64_t evictions, rejected, cut_waiting, cut_running;
};

static void note_seen(struct seen *seen, const struct run_log *log)
{
    for (uint32_t i = 0; i < log->result.submitted; i++) {
        seen->evictions += log->jobs[i].evictions;
        seen->rejected += log->jobs[i].state == END_REJECTED;
        seen->cut_waiting += log->jobs[i].state == END_PENDING;
        seen->cut_running += log->jobs[i].state == END_RUNNING;
    }
}

static struct seen check_preset(const char *preset, unsigned request_classes)
{
    struct seen seen = {0};
    uint64_t seeds = test_is_full() ? 1000 : 60;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "little", 0);
        struct random_jobs spec = {.count = JOB_COUNT,
                                   .nodes = 2 + random_below(&stream, 6),
                                   .gpus = (uint16_t)(1 + random_below(&stream, 8)),
                                   .request_classes = request_classes,
                                   .load = 0.5 + random_uniform(&stream),
                                   .queues = QUEUE_COUNT,
                                   .has_checkpoints = true};
        struct cluster *cluster = cluster_uniform_new(spec.nodes, spec.gpus);
        struct run_setup setup = draw_setup(&stream, cluster, preset);
        struct run_job *jobs = random_jobs_new(&spec, seed);
        seed_shown = &seed;
        struct run_log *log = run_jobs(&setup, jobs, spec.count);
        check_samples(log);
        check_little(log);
        note_seen(&seen, log);
        run_log_free(log);
        random_jobs_free(jobs);
        cluster_free(cluster);
    }
    assert_true(seen.rejected > 0 && seen.cut_waiting > 0 && seen.cut_running > 0);
    return seen;
}

static const unsigned everything = RANDOM_SINGLE | RANDOM_GANG | RANDOM_FLAT | RANDOM_SHARE | RANDOM_GROUPS;

TEST(test_fifo)
{
    check_preset("fifo", everything);
}

TEST(test_priority)
{
    check_preset("priority", everything);
}

TEST(test_windtunnel)
{
    assert_true(check_preset("windtunnel", everything).evictions > 0);
    assert_true(check_preset("windtunnel", RANDOM_GANG).evictions > 0);
}
