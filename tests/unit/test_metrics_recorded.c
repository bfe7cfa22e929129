/* The metrics of how simulated waits differ from recorded ones. */
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

static struct metrics *metrics_of(const struct job_row *rows, size_t count)
{
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    for (size_t i = 0; i < count; i++) {
        const struct job_row row = made_row(rows[i]);
        assert_false(error_is(sink.on_job(sink.self, &row)));
    }
    assert_false(error_is(sink.on_sample(sink.self, &(struct timeline_row){.time = 0})));
    assert_false(error_is(sink.on_sample(sink.self, &(struct timeline_row){.time = 9000 * S})));
    assert_false(error_is(sink.on_finished(sink.self, &(struct run_facts){.end = 9000 * S, .gpu_count = 8})));
    metrics_finish(metrics);
    return metrics;
}

static struct job_row job_of(uint8_t class, time_ns wait, time_ns recorded)
{
    return (struct job_row){.queue = "q",
                            .user = "",
                            .class = class,
                            .gpu_milli = 1000,
                            .start = wait,
                            .end = wait + 10 * S,
                            .wait = wait,
                            .wait_total = wait,
                            .run = 10 * S,
                            .work = 10 * S,
                            .work_asked = 10 * S,
                            .state = END_COMPLETED,
                            .is_counted = true,
                            .recorded_wait = recorded,
                            .has_recorded_wait = recorded >= 0};
}

TEST(errors_of_waits)
{
    struct job_row rows[] = {job_of(JOB_TRAINING, 100 * S, 40 * S),      /* +60 s: near, a minute apart */
                             job_of(JOB_TRAINING, 0, 61 * S),            /* -61 s: not near */
                             job_of(JOB_TRAINING, 1100 * S, 1000 * S),   /* +100 s: near, a tenth */
                             job_of(JOB_TRAINING, 2000 * S, -1),         /* not recorded */
                             job_of(JOB_INFERENCE, 3000 * S, 1000 * S),  /* +2000 s */
                             job_of(JOB_INFERENCE, 4000 * S, 1000 * S)}; /* rejected */
    rows[4].start = rows[4].end = TIME_NEVER;                            /* it still waits */
    rows[4].state = END_PENDING;
    rows[4].run = rows[4].work = 0;
    rows[5].state = END_REJECTED;
    struct metrics *metrics = metrics_of(rows, sizeof rows / sizeof rows[0]);
    near(metrics_value(metrics, "recorded_jobs"), 4);
    near(metrics_value(metrics, "recorded_wait_mean_s"), (40. + 61 + 1000 + 1000) / 4);
    near(metrics_value(metrics, "wait_error_mean_s"), (60. - 61 + 100 + 2000) / 4);
    near(metrics_value(metrics, "wait_error_abs_mean_s"), (60. + 61 + 100 + 2000) / 4);
    near(metrics_value(metrics, "wait_near_ratio"), 2. / 4);
    near(view_cut_value(metrics, "class", 0, "recorded_jobs"), 3);
    near(view_cut_value(metrics, "class", 0, "wait_error_mean_s"), (60. - 61 + 100) / 3);
    metrics_free(metrics);
}

/* By the record 2 GPUs from 0:30 to 3:15, 4 from 1:00 to 2:00, and 8 from 9:00 on, which is past the end; in the run 3
 * GPUs from 0:00 to 2:00 and none after that.  Without the first hour, which is warm-up, until 4:00. */
TEST(errors_of_allocation)
{
    enum { HOUR = 3600, GPUS = 8 };
    struct job_row rows[] = {job_of(JOB_TRAINING, 0, 1800 * S), job_of(JOB_TRAINING, 0, 2400 * S),
                             job_of(JOB_TRAINING, 0, 9 * HOUR * S), job_of(JOB_TRAINING, 0, -1)};
    rows[0].gpu_milli = 2000;
    rows[0].work_asked = 9900 * S;
    rows[1].gpu_milli = 4000;
    rows[1].submit = 1200 * S;
    rows[1].work_asked = HOUR * S;
    rows[1].is_counted = false; /* a job of the warm-up holds GPUs too */
    rows[2].gpu_milli = 8000;
    const struct timeline_row samples[] = {{.time = 0},
                                           {.time = 2 * HOUR * S, .allocated_gpu_s = 6 * HOUR},
                                           {.time = 4 * HOUR * S, .allocated_gpu_s = 6 * HOUR}};
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_false(error_is(sink.on_job(sink.self, &rows[i])));
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        assert_false(error_is(sink.on_sample(sink.self, &samples[i])));
    assert_false(error_is(
        sink.on_finished(sink.self, &(struct run_facts){.warmup = HOUR * S, .end = 4 * HOUR * S, .gpu_count = GPUS})));
    metrics_finish(metrics);
    const double recorded = 2 + 4 + 2 + 2 * 0.25, simulated = 3; /* GPU hours from 1:00 to 4:00 */
    near(metrics_value(metrics, "recorded_allocation_ratio"), recorded / (3 * GPUS));
    near(metrics_value(metrics, "allocation_error_ratio"), (simulated - recorded) / (3 * GPUS));
    near(metrics_value(metrics, "allocation_error_abs_ratio"), ((6 - 3) + 2 + 0.5) / (3 * GPUS));
    near(metrics_recorded_gpus(metrics, 0, HOUR * S), 1);
    near(metrics_recorded_gpus(metrics, 2 * HOUR * S, 4 * HOUR * S), 2.5 / 2);
    near(metrics_recorded_gpus(metrics, 20 * HOUR * S, 21 * HOUR * S), 0);
    metrics_free(metrics);
}

TEST(nothing_was_recorded)
{
    const struct job_row row = job_of(JOB_TRAINING, 100 * S, -1);
    struct metrics *metrics = metrics_of(&row, 1);
    assert_true(isnan(metrics_value(metrics, "recorded_jobs")));
    assert_true(isnan(metrics_value(metrics, "wait_error_mean_s")));
    assert_true(isnan(metrics_value(metrics, "recorded_allocation_ratio")));
    metrics_free(metrics);
}
