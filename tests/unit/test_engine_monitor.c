/* The monitor of the world (sim/engine/engine_monitor.c): what it measures, what the scheduler knows of it, and what
 * its idle policies did. */
#include <stdio.h>

#include "tests/support/test.h"

#include "policies/idle/idles.h"
#include "policies/preemption/preemptions.h"
#include "policies/sharing/sharings.h"
#include "sim/monitor/monitor.h"
#include "tests/support/run.h"

#define MINUTE (60 * TIME_NS_PER_S)
#define HOUR   (60 * MINUTE)

struct world {
    struct cluster *cluster;
    struct arena arena;
    struct run_setup setup;
};

/* One node of 4 GPUs; notebooks as `activity` says; reclaim after 30 and 10 minutes. */
static void world_open(struct world *world, const char *activity)
{
    struct error error = ERROR_OK;
    struct json_doc *doc;
    *world = (struct world){.cluster = cluster_uniform_new(1, 4)};
    world->setup = run_setup_default(world->cluster);
    world->setup.policy.is_strict = false;
    world->setup.policy.idle = &idle_reclaim;
    world->setup.policy.idle_config = idle_reclaim.defaults;
    world->setup.policy.preemption = &preemption_checkpoint;
    world->setup.policy.preempt.grace = MINUTE;
    world->setup.policy.action_count = 1; /* allocate: no job is evicted for another */
    world->setup.world.monitor = (struct monitor_config){.period = MINUTE};
    error = json_doc_parse(&doc, "activity", text_of(activity), ERROR_CONFIG);
    assert_false(error_is(error));
    const struct json_value root = json_doc_root(doc, &error);
    world->setup.world.activity = activity_table_read(&root, &world->arena, NULL);
    assert_false(error_is(error));
    json_doc_free(doc);
}

static void world_close(struct world *world)
{
    arena_release(&world->arena);
    cluster_free(world->cluster);
}

/* A burst of five minutes, then a gap, and so on. */
#define NOTEBOOK(gap)                                                                                                  \
    "[{\"class\": \"interactive\", \"kind\": \"notebook\", \"level\": 0.5,"                                            \
    " \"burst\": {\"distribution\": \"constant\", \"mean\": \"5m\"},"                                                  \
    " \"gap\": {\"distribution\": \"constant\", \"mean\": \"" gap "\"}}]"

/* A notebook of 4 GPUs for 20 hours, and a job that wants them after `wait`. */
static struct run_log *run(struct world *world, time_ns wait)
{
    struct run_job jobs[2] = {run_job_make(0, 20 * HOUR, 1, 4), run_job_make(wait, HOUR, 1, 4)};
    jobs[0].job.class = JOB_INTERACTIVE;
    jobs[0].job.is_preemptible = true;
    jobs[0].job.checkpoint = (struct checkpoint_plan){.duration = 30 * TIME_NS_PER_S, .restart = MINUTE};
    return run_jobs(&world->setup, jobs, 2);
}

/* Idle from minute 5: told at 35, evicted at 45, away 30 s later.  The other job has the GPUs for an hour. */
TEST(told_evicted_and_given_back)
{
    struct world world;
    world_open(&world, NOTEBOOK("19h"));
    struct run_log *log = run(&world, MINUTE);
    const struct attempt_row *first = run_attempt(log, 0, 0);
    assert_int_equal(first->end, 45 * MINUTE + 30 * TIME_NS_PER_S);
    assert_int_equal(first->reason, REASON_IDLE);
    assert_int_equal(log->jobs[1].start, first->end);
    const struct attempt_row *second = run_attempt(log, 0, 1);
    assert_int_equal(second->start, first->end + HOUR); /* its rest of half an hour is over by then */
    assert_true(log->idle[0].notified >= 1);
    assert_int_equal(log->idle[0].evicted, 1);
    assert_int_equal(log->idle[0].disturbed, 0);
    assert_int_equal(log->idle[0].given_gpu_us, 4 * (int64_t)(HOUR / 1000));
    assert_int_equal(log->idle[1].notified, 0);
    run_log_free(log);
    world_close(&world);
}

/* The delay moves all of it; the truth of the delayed minutes is not known to the policy. */
TEST(delay_moves_decisions)
{
    struct world world;
    world_open(&world, NOTEBOOK("19h"));
    world.setup.world.monitor.delay = 7 * MINUTE;
    struct run_log *log = run(&world, MINUTE);
    assert_int_equal(run_attempt(log, 0, 0)->end, 52 * MINUTE + 30 * TIME_NS_PER_S);
    run_log_free(log);
    world_close(&world);
}

/* No peeking: where nothing is measured, a notebook that idles for ever and one that never does are treated alike. */
TEST(without_measurements_nothing_is_known)
{
    uint64_t fingerprints[2];
    static const char *const activities[] = {NOTEBOOK("19h"), NOTEBOOK("1s")};
    for (int i = 0; i < 2; i++) {
        struct world world;
        world_open(&world, activities[i]);
        world.setup.world.monitor.missing = 1;
        struct run_log *log = run(&world, MINUTE);
        assert_int_equal(log->idle[0].notified + log->idle[0].evicted, 0);
        fingerprints[i] = log->result.fingerprint;
        run_log_free(log);
        world_close(&world);
    }
    assert_int_equal(fingerprints[0], fingerprints[1]);
}

/* No peeking: two notebooks that are alike until they are evicted, and then not: both are evicted at the same time.
 * A policy that saw the truth would spare the one whose user comes back 5 minutes later.  The metrics see it. */
TEST(what_comes_later_is_not_known)
{
    static const char *const activities[] = {NOTEBOOK("19h"), NOTEBOOK("45m")};
    for (int i = 0; i < 2; i++) {
        struct world world;
        world_open(&world, activities[i]);
        struct run_log *log = run(&world, MINUTE);
        assert_int_equal(run_attempt(log, 0, 0)->end, 45 * MINUTE + 30 * TIME_NS_PER_S);
        assert_int_equal(run_attempt(log, 0, 0)->reason, REASON_IDLE);
        assert_int_equal(log->idle[0].disturbed, i);
        run_log_free(log);
        world_close(&world);
    }
}

/* No peeking: bursts of a quarter of a second at 0.8 and of half a second at 0.4 are different truths, but every window
 * of the monitor holds whole seconds, so its readings are equal.  All decisions are. */
#define SECONDS_OF(level, burst, gap, abandoned)                                                                       \
    "[{\"class\": \"interactive\", \"kind\": \"notebook\", \"level\": " level ", \"abandoned\": " abandoned ","        \
    " \"burst\": {\"distribution\": \"constant\", \"mean\": " burst "},"                                               \
    " \"gap\": {\"distribution\": \"constant\", \"mean\": " gap "}}]"

struct decided {
    uint64_t fingerprint;
    uint32_t evicted;
    int64_t idle_gpu_us;
};

static struct decided decide(const char *activity)
{
    enum { COUNT = 24 };
    struct run_job jobs[COUNT];
    struct decided decided = {0};
    struct world world;
    world_open(&world, activity);
    world.setup.world.monitor.delay = 45 * TIME_NS_PER_S;
    world.setup.world.monitor.noise = 0.01;
    world.setup.world.monitor.missing = 0.05;
    for (int i = 0; i < COUNT; i++) {
        jobs[i] = run_job_make((i / 4 * 20 + i % 4) * MINUTE, 3 * HOUR, 1, 1);
        jobs[i].job.class = JOB_INTERACTIVE;
        jobs[i].job.is_preemptible = true;
        jobs[i].job.checkpoint = (struct checkpoint_plan){.duration = 30 * TIME_NS_PER_S, .restart = MINUTE};
    }
    struct run_log *log = run_jobs(&world.setup, jobs, COUNT);
    decided.fingerprint = log->result.fingerprint;
    for (int i = 0; i < COUNT; i++) {
        decided.evicted += log->idle[i].evicted;
        decided.idle_gpu_us += log->jobs[i].idle_held_gpu_us;
    }
    run_log_free(log);
    world_close(&world);
    return decided;
}

TEST(other_truths_with_equal_readings_are_treated_alike)
{
    const struct decided one = decide(SECONDS_OF("0.8", "0.25", "0.75", "0.0003"));
    const struct decided other = decide(SECONDS_OF("0.4", "0.5", "0.5", "0.0003"));
    assert_true(one.evicted > 10);
    assert_true(one.idle_gpu_us > other.idle_gpu_us + 3600 * INT64_C(1000000)); /* the truths do differ */
    assert_int_equal(one.fingerprint, other.fingerprint);
    /* Readings that differ change decisions. */
    assert_true(decide(SECONDS_OF("0.8", "0.25", "0.75", "0")).fingerprint != one.fingerprint);
}

/* One in twenty-five of the time on a GPU that it shares with three more: that is a sixth of the quarter that it holds,
 * and a hundredth is a twenty-fifth of it.  Less than the threshold of 0.05 is idle. */
TEST(a_reading_is_of_what_a_job_holds)
{
    for (int i = 0; i < 2; i++) {
        struct world world;
        world_open(&world, "[]");
        world.setup.policy.sharing = &sharing_timeslice;
        world.setup.policy.sharing_config = sharing_timeslice.defaults;
        world.setup.policy.idle_config.threshold_milli = 50;
        struct run_job job = run_job_make(0, 20 * HOUR, 1, 1);
        job.job.class = JOB_INTERACTIVE;
        job.job.is_preemptible = true;
        job.truth.sm_active_milli = i == 0 ? 40 : 10;
        struct run_log *log = run_jobs(&world.setup, &job, 1);
        assert_int_equal(log->jobs[0].sm_active_milli, i == 0 ? 160 : 40);
        assert_true(i == 0 ? log->idle[0].notified == 0 : log->idle[0].notified > 0);
        run_log_free(log);
        world_close(&world);
    }
}

/* A monitor changes nothing where no policy listens. */
TEST(a_monitor_alone_changes_nothing)
{
    struct world world;
    world_open(&world, NOTEBOOK("19h"));
    world.setup.policy.idle = &idle_none;
    struct run_log *with = run(&world, MINUTE);
    world.setup.world.monitor.period = 0;
    struct run_log *without = run(&world, MINUTE);
    assert_int_equal(with->result.fingerprint, without->result.fingerprint);
    assert_int_equal(run_last_sample(with)->time, run_last_sample(without)->time);
    run_log_free(with);
    run_log_free(without);
    world_close(&world);
}

/* ---- Readings ---- */

TEST(readings_have_noise_and_gaps)
{
    enum { COUNT = 20000 };
    const struct monitor_config config = {.period = MINUTE, .noise = 0.02, .missing = 0.1};
    double sum = 0, squares = 0;
    int got = 0;
    for (uint64_t tick = 0; tick < COUNT; tick++) {
        uint16_t reading, again;
        const bool is_there = monitor_reads(&config, monitor_noise(1), tick % 7, tick, 500, &reading);
        assert_int_equal(monitor_reads(&config, monitor_noise(1), tick % 7, tick, 500, &again), is_there);
        if (!is_there)
            continue;
        assert_int_equal(reading, again); /* of (seed, job, tick) alone */
        sum += reading;
        squares += (double)reading * reading;
        got++;
    }
    const double mean = sum / got, sd2 = squares / got - mean * mean;
    assert_in_range(got, COUNT * 89 / 100, COUNT * 91 / 100);
    assert_in_range((int)(mean * 10), 4990, 5010);
    assert_in_range((int)sd2, 380, 420); /* 20 squared */
}

TEST(readings_are_clamped)
{
    const struct monitor_config config = {.period = MINUTE, .noise = 1};
    uint16_t reading;
    for (uint64_t tick = 0; tick < 1000; tick++) {
        assert_true(monitor_reads(&config, monitor_noise(1), 1, tick, tick % 2 == 0 ? 0 : 1000, &reading));
        assert_in_range(reading, 0, 1000);
    }
    assert_true(monitor_reads(&(struct monitor_config){.period = MINUTE}, monitor_noise(1), 1, 1, 34.6, &reading));
    assert_int_equal(reading, 35);
}
