/* What the metrics say of members that come and go, of what starts are owed to and of evictions that were for
 * nothing. */
#include <math.h>

#include "tests/support/test.h"

#include "reports/view.h"
#include "tests/support/made_row.h"

#define S TIME_NS_PER_S

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("got %.12g, expected %.12g", value, expected);
}

/* A job that was resized: its GPU time is what it held; what others had of evictions counts with the preemptor. */
TEST(members_that_come_and_go)
{
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    struct job_row elastic = {.id = 0,
                              .queue = "q1",
                              .user = "",
                              .class = JOB_TRAINING,
                              .gpu_milli = 4000,
                              .model = 0,
                              .submit = 0,
                              .start = 10 * S,
                              .end = 110 * S,
                              .wait = 10 * S,
                              .wait_total = 10 * S,
                              .run = 100 * S,
                              .work = 60 * S,
                              .work_asked = 60 * S,
                              .state = END_COMPLETED,
                              .evictions = 2,
                              .lost_gpu_ns = 50 * S,
                              .preempted_gpu_ns = 30 * S,
                              .is_counted = true,
                              .source = 3,
                              .resizes = 2,
                              .held_milli_ns = 300 * (gpu_time_ns)RECORD_MILLI_NS_PER_GPU_S};
    struct job_row preemptor = elastic;
    preemptor.id = 1;
    preemptor.class = JOB_INFERENCE;
    preemptor.resizes = 0;
    preemptor.held_milli_ns = 0; /* 4 GPUs x 100 s */
    preemptor.source = 1;
    preemptor.evictions = preemptor.evictions_wasted = 3;
    preemptor.lost_gpu_ns = preemptor.preempted_gpu_ns = 0;
    struct job_row waiting = preemptor;
    waiting.id = 2;
    waiting.start = waiting.end = TIME_NEVER;
    waiting.state = END_PENDING;
    waiting.run = waiting.work = 0;
    waiting.held_milli_ns = 0;
    waiting.evictions = 0;
    waiting.evictions_wasted = 1;
    elastic = made_row(elastic);
    assert_false(error_is(sink.on_job(sink.self, &elastic)));
    preemptor = made_row(preemptor);
    assert_false(error_is(sink.on_job(sink.self, &preemptor)));
    waiting = made_row(waiting);
    assert_false(error_is(sink.on_job(sink.self, &waiting)));
    assert_false(error_is(sink.on_sample(sink.self, &(struct timeline_row){.time = 0})));
    assert_false(error_is(sink.on_sample(sink.self, &(struct timeline_row){.time = 200 * S, .reserved_gpu_s = 7200})));
    assert_false(error_is(sink.on_finished(sink.self, &(struct run_facts){.end = 200 * S, .gpu_count = 8})));
    metrics_finish(metrics);
    near(metrics_value(metrics, "allocated_gpu_h"), (300.0 + 400) / 3600);
    near(metrics_value(metrics, "goodput_ratio"), (240.0 + 240) / 700);
    near(metrics_value(metrics, "lost_by_preemption_gpu_h"), 30.0 / 3600);
    near(metrics_value(metrics, "lost_per_eviction_s"), 50.0 / 5);
    near(metrics_value(metrics, "evictions_wasted"), 4);
    near(metrics_value(metrics, "admissions_free"), 0);
    near(metrics_value(metrics, "admissions_headroom"), 1); /* not that which never started */
    near(metrics_value(metrics, "admissions_grace_0"), 0);
    near(metrics_value(metrics, "admissions_eviction"), 1);
    near(metrics_value(metrics, "idle_reserved_gpu_h"), 2);
    assert_string_equal(metrics_cut_key(metrics, "class", 0), "training");
    assert_string_equal(metrics_cut_key(metrics, "class", 1), "inference");
    near(view_cut_value(metrics, "class", 0, "admissions_eviction"), 1);
    near(view_cut_value(metrics, "class", 1, "evictions_wasted"), 4);
    near(view_cut_value(metrics, "class", 1, "admissions_eviction"), 0);
    metrics_free(metrics);
}
