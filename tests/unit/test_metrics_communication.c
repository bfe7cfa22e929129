/* What communication costs, by hand: GPU time that waited, slowdowns, the network that jobs got, MFU. */
#include <math.h>

#include "tests/support/test.h"

#include "reports/view.h"
#include "tests/support/made_row.h"

#define S     TIME_NS_PER_S
#define GPU_S INT64_C(1000000) /* GPU microseconds */

static const char *const names[] = {
    "communication_gpu_h",         "communication_ratio",        "slowed_gpu_h",          "slowed_ratio",
    "communication_slowdown_mean", "communication_slowdown_p95", "network_gb_per_s_mean", "mfu_ratio"};
enum { NAME_COUNT = sizeof names / sizeof names[0] };

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("got %.12g, expected %.12g", value, expected);
}

static void feed(struct metrics *metrics, struct job_row row)
{
    struct record_sink sink = metrics_sink(metrics);
    row.user = "";
    if (row.queue == NULL)
        row.queue = "q";
    row = made_row(row);
    assert_false(error_is(sink.on_job(sink.self, &row)));
}

static void finish(struct metrics *metrics)
{
    static const char *const models[] = {"h100-80gb", "a100-80gb", NULL};
    struct record_sink sink = metrics_sink(metrics);
    const struct run_facts facts = {.end = 1000 * S, .gpu_count = 64, .model_names = models};
    assert_false(error_is(sink.on_finished(sink.self, &facts)));
    metrics_finish(metrics);
}

static double cut_value(const struct metrics *metrics, const char *cut, const char *key, const char *name)
{
    const char *found;
    for (size_t i = 0; (found = metrics_cut_key(metrics, cut, i)) != NULL; i++)
        if (strcmp(found, key) == 0)
            return view_cut_value(metrics, cut, i, name);
    fail_msg("no %s in %s", key, cut);
    return NAN;
}

/* A job of 16 GPUs that held 1,600 GPU seconds, of which it worked all. */
static struct job_row gang(void)
{
    return (struct job_row){.class = JOB_TRAINING,
                            .workload_class = "large training",
                            .gpu_milli = 16000,
                            .end = 100 * S,
                            .run = 100 * S,
                            .work = 80 * S,
                            .state = END_COMPLETED,
                            .is_counted = true,
                            .communication = "plan",
                            .exposed_gpu_us = 400 * GPU_S,
                            .slowed_gpu_us = 320 * GPU_S,
                            .network_gpu_us = 1600 * GPU_S,
                            .network_bytes_per_s = INT64_C(20000000000),
                            .planned_gpu_us = 1600 * GPU_S,
                            .mfu_micro = 300000};
}

TEST(a_run_without_declarations_has_none)
{
    struct metrics *metrics = metrics_new();
    struct job_row silent = gang();
    silent.communication = "";
    feed(metrics, silent);
    silent.communication = NULL;
    feed(metrics, silent);
    finish(metrics);
    struct buffer json = {0};
    metrics_write_json(metrics, &json);
    for (size_t i = 0; i < NAME_COUNT; i++) {
        assert_true(isnan(metrics_value(metrics, names[i])));
        assert_null(strstr(buffer_c_string(&json), names[i]));
    }
    buffer_release(&json);
    metrics_free(metrics);
}

/* Two plans, a sensitivity within a node, a job without any, and jobs that do not count. */
TEST(costs_add_up)
{
    struct metrics *metrics = metrics_new();
    struct job_row slow = gang(), fast = gang(), inside = gang(), silent = gang(), early = gang(), refused = gang();
    fast.queue = "other";
    fast.model = 1;
    fast.exposed_gpu_us = 100 * GPU_S;
    fast.network_gpu_us = 400 * GPU_S;
    fast.network_bytes_per_s = INT64_C(50000000000);
    fast.planned_gpu_us = 800 * GPU_S;
    fast.mfu_micro = 450000;
    fast.evictions = 1; /* 10 s of each GPU for a restart: it worked for 1,440 GPU seconds */
    fast.lost_gpu_ns = fast.overhead_gpu_ns = 160 * S;
    fast.slowed_gpu_us = 144 * GPU_S;
    inside.communication = "all_reduce_bound";
    inside.workload_class = "small training";
    inside.gpu_milli = 4000;
    inside.exposed_gpu_us = 40 * GPU_S;
    inside.slowed_gpu_us = inside.network_gpu_us = inside.planned_gpu_us = 0;
    inside.network_bytes_per_s = inside.mfu_micro = 0;
    silent.communication = "";
    silent.workload_class = "other training";
    early.is_counted = false;
    refused.state = END_REJECTED;
    refused.start = TIME_NEVER;
    const struct job_row rows[] = {slow, fast, inside, silent, early, refused};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        feed(metrics, rows[i]);
    finish(metrics);
    near(metrics_value(metrics, "communication_gpu_h"), 540.0 / 3600);
    near(metrics_value(metrics, "communication_ratio"), 540.0 / (1600 + 1600 + 400));
    near(metrics_value(metrics, "slowed_gpu_h"), 464.0 / 3600);
    near(metrics_value(metrics, "slowed_ratio"), 464.0 / 3600);                             /* of as many GPU seconds */
    near(metrics_value(metrics, "communication_slowdown_mean"), (1.25 + 1.111111 + 1) / 3); /* in millionths */
    near(metrics_value(metrics, "communication_slowdown_p95"), 1.25);
    near(metrics_value(metrics, "network_gb_per_s_mean"), (1600 * 20.0 + 400 * 50) / 2000);
    near(metrics_value(metrics, "mfu_ratio"), (1600 * 0.3 + 800 * 0.45) / 2400);
    near(cut_value(metrics, "queue", "other", "communication_slowdown_p95"), 1.111111);
    near(cut_value(metrics, "queue", "q", "communication_slowdown_mean"), 1.125);
    near(cut_value(metrics, "gpu_model", "a100-80gb", "network_gb_per_s_mean"), 50);
    near(cut_value(metrics, "class", "training", "communication_gpu_h"), 540.0 / 3600);
    near(cut_value(metrics, "workload_class", "large training", "mfu_ratio"), 0.35);
    near(cut_value(metrics, "workload_class", "small training", "communication_ratio"), 0.1);
    near(cut_value(metrics, "class_size", "small training/3-4", "communication_slowdown_p95"), 1);
    near(cut_value(metrics, "size", "9-16", "slowed_gpu_h"), 464.0 / 3600);
    assert_true(isnan(cut_value(metrics, "workload_class", "small training", "network_gb_per_s_mean")));
    assert_true(isnan(cut_value(metrics, "workload_class", "small training", "mfu_ratio")));
    for (size_t i = 0; i < NAME_COUNT; i++)
        assert_true(isnan(cut_value(metrics, "workload_class", "other training", names[i])));
    metrics_free(metrics);
}

/* A job that declares, and has one GPU or never worked, has no slowdown; its GPU time counts. */
TEST(jobs_without_a_slowdown)
{
    struct metrics *metrics = metrics_new();
    struct job_row single = gang(), waiting = gang(), restarting = gang();
    single.gpu_milli = 1000;
    single.exposed_gpu_us = single.slowed_gpu_us = single.network_gpu_us = 0;
    waiting.start = waiting.end = TIME_NEVER;
    waiting.state = END_PENDING;
    waiting.run = 0;
    waiting.exposed_gpu_us = waiting.slowed_gpu_us = waiting.network_gpu_us = waiting.planned_gpu_us = 0;
    restarting = waiting; /* for all the time that it held its GPUs */
    restarting.start = 0;
    restarting.state = END_RUNNING;
    restarting.run = 10 * S;
    restarting.overhead_gpu_ns = restarting.lost_gpu_ns = 160 * S;
    feed(metrics, single);
    feed(metrics, waiting);
    feed(metrics, restarting);
    finish(metrics);
    near(metrics_value(metrics, "communication_gpu_h"), 0);
    near(metrics_value(metrics, "communication_ratio"), 0);
    near(metrics_value(metrics, "mfu_ratio"), 0.3);
    assert_true(isnan(metrics_value(metrics, "communication_slowdown_mean")));
    assert_true(isnan(metrics_value(metrics, "communication_slowdown_p95")));
    assert_true(isnan(metrics_value(metrics, "network_gb_per_s_mean")));
    metrics_free(metrics);
}

/* The 95th of 100 slowdowns of 1.01, 1.02, ..., whatever the order; a job of many GPUs for long does not overflow. */
TEST(the_percentile_is_exact)
{
    struct metrics *metrics = metrics_new();
    for (int64_t i = 0; i < 100; i++) {
        struct job_row row = gang();
        row.gpu_milli = INT64_C(100000000);
        row.run = (1 + i * 37 % 100 + 100) * 86400 * S; /* 101 % to 200 % of what it takes alone */
        row.slowed_gpu_us = (1 + i * 37 % 100) * 86400 * 100000 * GPU_S;
        feed(metrics, row);
    }
    finish(metrics);
    near(metrics_value(metrics, "communication_slowdown_p95"), 1.95);
    near(metrics_value(metrics, "communication_slowdown_mean"), 1.505);
    near(metrics_value(metrics, "slowed_gpu_h"), 5050.0 * 24 * 100000);
    metrics_free(metrics);
}
