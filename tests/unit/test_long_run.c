/* Series of one long run, from rows made by hand; reports/long_run.h. */
#include <math.h>

#include "tests/support/test.h"

#include "base/reason.h"
#include "reports/long_run.h"
#include "workloads/job.h"

#define S(seconds) ((time_ns)(seconds)*TIME_NS_PER_S)

enum { JOBS = 900 };

/* Job i: a third each of class 0, 1 and none counted; waits 10 + i % 7 s and `more` s; the last has not started. */
static void fill(struct long_run *run, int64_t more)
{
    const struct record_sink sink = long_run_sink(run);
    for (uint32_t i = JOBS; i-- > 0;) { /* rows come in any order */
        const struct job_row row = {.id = i,
                                    .submit = S(i),
                                    .class = (uint8_t)(i % 3 == 1),
                                    .is_counted = i % 3 != 2,
                                    .state = END_COMPLETED,
                                    .start = i == JOBS - 3 ? TIME_NEVER : S(i + 10),
                                    .wait = S(10 + i % 7 + (i % 3 == 0 ? more : 0))};
        assert_false(error_is(sink.on_job(sink.self, &row)));
    }
}

TEST(the_queue_times_of_the_metrics_count)
{
    struct long_run run = {0};
    fill(&run, 0);
    const struct steady all = long_run_waits(&run.waits, LONG_RUN_ALL, 0.95),
                        own = long_run_waits(&run.waits, JOB_INTERACTIVE, 0.95),
                        none = long_run_waits(&run.waits, JOB_INFERENCE, 0.95);
    assert_int_equal(all.count, 600);
    assert_int_equal(own.count, 300);
    assert_int_equal(all.pending, 1);
    assert_int_equal(all.left_out, 0);
    assert_int_equal(none.count, 0);
    double sum = 0;
    for (uint32_t i = 0; i < JOBS; i++)
        sum += i % 3 != 2 ? 10 + i % 7 : 0;
    assert_true(fabs(all.mean_all - sum / 600) < 1e-12);
    assert_true(inference_has_interval(&all.mean.of));
    assert_true(all.from == S((all.mean.warmup_count / 2) * 3 + all.mean.warmup_count % 2));
    run.waits.jobs[0].state = JOB_WAIT_REJECTED;
    assert_int_equal(long_run_waits(&run.waits, LONG_RUN_ALL, 0.95).left_out, 1);
    assert_int_equal(long_run_waits(&run.waits, LONG_RUN_ALL, 0.95).count, 599);
    long_run_release(&run);
}

TEST(jobs_are_paired_by_their_ids)
{
    struct long_run a = {0}, b = {0};
    fill(&a, 0);
    fill(&b, 5);
    struct steady of = long_run_differences(&a.waits, &b.waits, JOB_TRAINING, 0.95);
    assert_int_equal(of.count, 300);
    assert_int_equal(of.unequal, 300);
    assert_int_equal(of.pending, 1);
    assert_true(of.mean.of.low == 5 && of.mean.of.high == 5 && of.mean_all == 5);
    of = long_run_differences(&a.waits, &b.waits, JOB_INTERACTIVE, 0.95);
    assert_int_equal(of.unequal, 0);
    assert_true(of.mean_all == 0);
    of = long_run_differences(&b.waits, &a.waits, LONG_RUN_ALL, 0.95);
    assert_true(of.mean_all == -2.5);
    /* rejected on one side, and on one side only */
    a.waits.jobs[0].state = JOB_WAIT_REJECTED;
    b.waits.count = JOBS - 3;
    of = long_run_differences(&a.waits, &b.waits, LONG_RUN_ALL, 0.95);
    assert_int_equal(of.count, 597);
    assert_int_equal(of.left_out, 3);
    long_run_release(&a);
    long_run_release(&b);
}

/* Samples at each 100 s, and at 150 s where the warm-up ends; half of 10 GPUs is allocated, all of them from 20,000 s
 * on. */
TEST(allocation_is_by_whole_steps)
{
    struct long_run run = {0};
    const struct record_sink sink = long_run_sink(&run);
    const struct run_facts facts = {.end = S(50050), .warmup = S(150), .measured_until = S(40050), .gpu_count = 10};
    for (uint32_t t = 0; t <= 50000; t += t == 100 || t == 150 ? 50 : 100) {
        const struct timeline_row row = {.time = S(t),
                                         .allocated_gpu_s = t < 20000 ? 5.0 * t : 1e5 + 10.0 * (t - 20000)};
        assert_false(error_is(sink.on_sample(sink.self, &row)));
    }
    assert_false(error_is(sink.on_finished(sink.self, &facts)));
    const struct steady of = long_run_allocation(&run, 0.95);
    assert_true(of.step == S(100));
    assert_int_equal(of.count, 398); /* from 200 s to 40,000 s */
    assert_true(fabs(of.mean_all - (198 * 0.5 + 200) / 398) < 1e-12);
    long_run_release(&run);
}

TEST(what_there_is_too_little_of_has_a_reason)
{
    struct buffer text = {0};
    const struct steady of = long_run_allocation(&(struct long_run){0}, 0.95);
    assert_int_equal(of.count, 0);
    assert_true(steady_write_reason(&of, &text));
    assert_string_equal(buffer_c_string(&text), "no interval: 0 jobs after the warm-up, and 100 are needed");
    text.length = 0;
    steady_write_json(&of, &text);
    assert_non_null(strstr(buffer_c_string(&text), "\"mean\": 0, \"low\": null, \"high\": null,"));
    buffer_release(&text);
}
