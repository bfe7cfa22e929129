/* What jobs do with the GPUs that they hold, in whole runs: by renewal theory, and by walking each job's process over
 * the time that it ran.
 *
 * A notebook that turns between bursts and gaps is active for mean burst / (mean burst + mean gap) of its life (D. R.
 * Cox, Renewal Theory, 1962).  The process of a job is a function of the time that it ran: an eviction halts it.  So
 * the integral of a job's row is that of its process from 0 to run_s, whatever the scheduler did.
 */
#include <math.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "policies/order/orders.h"
#include "policies/preemption/preemptions.h"
#include "tests/support/activity_mean.h"
#include "tests/support/interval.h"
#include "tests/support/json_text.h"
#include "tests/support/run.h"

#define S(seconds) ((seconds)*TIME_NS_PER_S)

__extension__ typedef __int128 wide;

static struct activity_table table_read(struct arena *arena, const char *json)
{
    struct error error = ERROR_OK;
    struct json_doc *doc = json_text_parse("activity", json);
    const struct json_value root = json_doc_root(doc, &error);
    const struct activity_table table = activity_table_read(&root, arena, NULL);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    json_doc_free(doc);
    return table;
}

static const char notebooks[] = "[{'class': 'interactive', 'kind': 'notebook', 'level': 0.5, 'level_sd': 0.1,"
                                "  'burst': {'distribution': 'exponential', 'mean': '5m'},"
                                "  'gap': {'distribution': 'lognormal', 'median': '12m', 'sigma': 0.8}},"
                                " {'class': 'training', 'kind': 'training', 'level': 0.8, 'level_sd': 0.1,"
                                "  'work': {'distribution': 'exponential', 'mean': '7m'},"
                                "  'stall': {'distribution': 'constant', 'mean': 40}}]";

static void sum_rows(const struct run_log *log, double *active_s, double *idle_s)
{
    *active_s = *idle_s = 0;
    for (uint32_t i = 0; i < log->job_count; i++) {
        *active_s += (double)log->jobs[i].active_gpu_us / 1e6;
        *idle_s += (double)log->jobs[i].idle_held_gpu_us / 1e6;
    }
}

/* 40 notebooks of 20 days on a GPU each: the shares of the closed form, within 99 % intervals over the notebooks. */
TEST(test_renewal)
{
    enum { COUNT = 40 };
    struct arena arena = {0};
    struct run_job jobs[COUNT];
    double active[COUNT], idle[COUNT];
    struct run_setup setup = run_setup_default(cluster_uniform_new(5, 8));
    setup.world.activity = table_read(&arena, notebooks);
    for (int i = 0; i < COUNT; i++) {
        jobs[i] = run_job_make(S(i), S(20 * 86400), 1, 1);
        jobs[i].job.class = JOB_INTERACTIVE;
    }
    struct run_log *log = run_jobs(&setup, jobs, COUNT);
    for (int i = 0; i < COUNT; i++) {
        const double held_us = (double)log->jobs[i].run / 1000;
        active[i] = (double)log->jobs[i].active_gpu_us / held_us;
        idle[i] = (double)log->jobs[i].idle_held_gpu_us / held_us;
        assert_int_equal(log->jobs[i].sm_active_milli, lrint(1000 * active[i]));
    }
    const struct interval of_active = interval_99(active, COUNT), of_idle = interval_99(idle, COUNT);
    const struct activity_plan *plan = &setup.world.activity.rows[0].plan;
    assert_true(interval_holds(&of_active, activity_mean(plan)));
    assert_true(interval_holds(&of_idle, activity_idle_mean(plan)));
    assert_true(of_idle.half_width < 0.02); /* so that the interval says something */
    double active_s, idle_s;
    sum_rows(log, &active_s, &idle_s);
    assert_true(fabs(run_last_sample(log)->active_gpu_s - active_s) < 1e-6 * active_s);
    assert_true(fabs(run_last_sample(log)->idle_held_gpu_s - idle_s) < 1e-6 * idle_s);
    run_log_free(log);
    cluster_free((struct cluster *)(uintptr_t)setup.cluster);
    arena_release(&arena);
}

/* The process of the job walked over the time that it ran, on one GPU. */
static void check_walk(const struct run_setup *setup, const struct run_job *made, const struct job_row *row)
{
    struct activity activity;
    const struct activity_plan *plan =
        activity_table_plan(&setup->world.activity, &made->job, 1, (struct job_names){"", ""});
    wide active = 0, idle = 0;
    activity_begin(&activity, plan, 1, row->id); /* run_jobs runs with seed 1 */
    for (time_ns now = 0, span; now < row->run; now += span) {
        const time_ns left = row->run - now, holds = activity_holds(&activity, now);
        span = holds < left ? holds : left;
        active += (wide)activity_level(&activity, now) * span;
        idle += activity_level(&activity, now) == 0 ? span : 0;
        activity_run(&activity, span);
    }
    assert_int_equal(row->active_gpu_us, (int64_t)(active / 1000000));
    assert_int_equal(row->idle_held_gpu_us, (int64_t)(idle / 1000));
}

/* Priorities evict and the run is cut off; every row is as its process says, and the timeline as the rows. */
TEST(test_evicted)
{
    enum { COUNT = 120 };
    struct arena arena = {0};
    struct run_job jobs[COUNT];
    struct random_stream chance;
    struct run_setup setup = run_setup_default(cluster_uniform_new(2, 8));
    uint32_t evictions = 0;
    random_stream_init(&chance, 11, "test", 0);
    setup.policy.order[0] = &order_priority;
    setup.policy.order_count = 1;
    setup.policy.is_strict = false;
    setup.policy.preemption = &preemption_checkpoint;
    setup.policy.preempt.grace = S(60);
    setup.policy.preempt.preempt_min_runtime = 0;
    setup.world.activity = table_read(&arena, notebooks);
    setup.world.end = S(40 * 3600);
    for (int i = 0; i < COUNT; i++) {
        jobs[i] = run_job_make(S(600 * i), S(3600 + random_below(&chance, 40000)), 1, 1);
        jobs[i].job.class = i % 2 == 0 ? JOB_INTERACTIVE : JOB_TRAINING;
        jobs[i].job.priority = (int32_t)random_below(&chance, 100);
        jobs[i].job.checkpoint = (struct checkpoint_plan){.interval = S(900), .duration = S(20), .restart = S(100)};
    }
    struct run_log *log = run_jobs(&setup, jobs, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        check_walk(&setup, &jobs[i], &log->jobs[i]);
        evictions += log->jobs[i].evictions;
    }
    assert_true(evictions > 20);
    double active_s, idle_s;
    sum_rows(log, &active_s, &idle_s);
    assert_true(fabs(run_last_sample(log)->active_gpu_s - active_s) < 1e-3);
    assert_true(fabs(run_last_sample(log)->idle_held_gpu_s - idle_s) < 1e-3);
    for (uint32_t s = 0; s < log->sample_count; s++)
        assert_true(log->samples[s].idle_held_gpu_milli <= log->samples[s].allocated_gpu_milli);
    run_log_free(log);
    cluster_free((struct cluster *)(uintptr_t)setup.cluster);
    arena_release(&arena);
}
