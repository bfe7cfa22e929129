/* Recorded attempts and failures: merged, the last alone, replayed, left out; by each format that has them. */
#include <stdio.h>

#include "tests/support/test.h"

#include "tests/support/json_text.h"
#include "tests/support/scratch.h"
#include "tests/support/trace_case.h"

#define S(n) ((time_ns)(n)*TIME_NS_PER_S)

/* What a job with the attempts 60, 30.5 and 100 s becomes. */
static void check_job(const struct job_truth *truth, enum attempts_kind kind)
{
    assert_true(truth->duration == (kind == ATTEMPTS_MERGED ? S(381) / 2 : S(100)));
    if (kind != ATTEMPTS_REPLAYED) {
        assert_null(truth->failures);
        return;
    }
    assert_non_null(truth->failures);
    assert_int_equal(truth->failures->count, 2);
    assert_true(truth->failures->work[0] == S(60) && truth->failures->work[1] == S(61) / 2);
    assert_true(job_truth_work(truth) == S(381) / 2);
}

/* The first job of the text, with each choice; `otherwise`: without one. */
static void check_choices(const char *format, const char *text, enum attempts_kind otherwise)
{
    for (int kind = ATTEMPTS_AS_FORMAT; kind <= ATTEMPTS_REPLAYED; kind++) {
        const struct workload_spec spec = {.format = format, .attempts = (enum attempts_kind)kind, .gpus_per_node = 8};
        struct trace_case read = trace_case_read(text, &spec, NULL);
        assert_int_equal(read.count, 2);
        check_job(&read.truths[0], kind == ATTEMPTS_AS_FORMAT ? otherwise : (enum attempts_kind)kind);
        assert_null(read.truths[1].failures);
        trace_case_release(&read);
    }
}

TEST(test_choices)
{
    check_choices("native", "job_id,submit_s,duration_s,gpus,failed_attempts_s\n1,0,100,8,60;0;30.5\n2,1,5,1,\n",
                  ATTEMPTS_REPLAYED);
    check_choices("jsonl",
                  "{'job_id': 1, 'submit_s': 0, 'duration_s': 100, 'gpus': 8, 'failed_attempts_s': '60;30.5'}\n"
                  "{'job_id': 2, 'submit_s': 0, 'duration_s': 5, 'gpus': 8, 'failed_attempts_s': null}\n",
                  ATTEMPTS_REPLAYED);
    check_choices("sacct",
                  "JobID|Submit|Start|End|State|AllocTRES\n1|10|10|70|NODE_FAIL|gres/gpu=1\n"
                  "1|70|80|110.5|REQUEUED|gres/gpu=1\n2|90|90|95|COMPLETED|gres/gpu=1\n"
                  "1|111|120|220|COMPLETED|gres/gpu=1\n",
                  ATTEMPTS_LAST);
    char *log =
        json_text_new("[{'status': 'Pass', 'vc': 'v', 'jobid': 'a', 'user': 'u', 'submitted_time': '2017-10-01 "
                      "10:00:00', 'attempts': ["
                      "{'start_time': '2017-10-01 10:00:00', 'end_time': '2017-10-01 10:01:00', 'detail': [{'ip': 'm', "
                      "'gpus': ['g']}]},"
                      "{'start_time': '2017-10-01 10:02:00', 'end_time': '2017-10-01 10:02:30.5', 'detail': []},"
                      "{'start_time': '2017-10-01 10:03:00', 'end_time': '2017-10-01 10:04:40', 'detail': []}]},\n"
                      "{'status': 'Pass', 'vc': 'v', 'jobid': 'b', 'user': 'u', 'submitted_time': '2017-10-01 "
                      "11:00:00', 'attempts': ["
                      "{'start_time': '2017-10-01 11:00:00', 'end_time': '2017-10-01 11:01:00', 'detail': [{'ip': 'm', "
                      "'gpus': ['g']}]}"
                      "]}]");
    check_choices("philly-log", log, ATTEMPTS_MERGED);
    free(log);
}

/* Parts of SWF stand anywhere, in any order; the whole has a run time of its own. */
TEST(test_swf_parts)
{
    static const char text[] = "7 300 9 100 8 -1 -1 8 900 -1 3 1 1 -1 1 -1 -1 -1\n"
                               "7 10 2 190.5 8 -1 -1 8 900 -1 1 1 1 -1 1 -1 -1 -1\n"
                               "7 10 0 60 8 -1 -1 8 900 -1 2 1 1 -1 1 -1 -1 -1\n"
                               "8 20 0 5 8 -1 -1 8 900 -1 1 1 1 -1 1 -1 -1 -1\n"
                               "9 20 0 5 8 -1 -1 8 900 -1 2 1 1 -1 1 -1 -1 -1\n" /* of a job without a line */
                               "7 100 0 30.5 8 -1 -1 8 900 -1 2 1 1 -1 1 -1 -1 -1\n"
                               "7 120 0 -1 8 -1 -1 8 900 -1 2 1 1 -1 1 -1 -1 -1\n"; /* it did not run */
    check_choices("swf", text, ATTEMPTS_MERGED);
    const struct workload_spec spec = {.format = "swf", .attempts = ATTEMPTS_REPLAYED};
    struct trace_case read = trace_case_read(text, &spec, NULL);
    assert_int_equal(read.facts.skipped.count, 5);
    trace_case_release(&read);
    trace_case_refused("7 10 0 60 8 -1 -1 8 900 -1 two 1 1 -1 1 -1 -1 -1\n", &spec, NULL, 1, 28, "'status'");
}

TEST(test_amounts)
{
    static const char text[] = "job_id,submit_s,duration_s,gpus,failed_attempts_s\n1,0,100,8,60;40\n2,50,100,8,\n";
    struct workload_spec spec = {.format = "native", .duration_scale = 0.5};
    struct trace_case read = trace_case_read(text, &spec, NULL);
    assert_true(read.truths[0].failures->work[0] == S(30) && read.truths[0].duration == S(50));
    assert_float_equal(read.facts.recorded.all.asked_gpu_s, 8 * (100 + 50),
                       1e-6); /* attempts that fail need GPUs too */
    trace_case_release(&read);
    spec.fill = (struct fill_plan){.load = 1, .interval = S(1)};
    struct cluster *cluster = cluster_uniform_new(2, 8);
    read = trace_case_read(text, &spec, cluster);
    for (uint32_t i = 0; i < read.count; i++)
        assert_null(read.truths[i].failures);
    trace_case_release(&read);
    cluster_free(cluster);
}

TEST(test_bad_attempts)
{
    static const struct workload_spec spec = {.format = "native"};
    static const char head[] = "job_id,submit_s,duration_s,gpus,failed_attempts_s,checkpoint_interval_s\n";
    static const struct {
        const char *row, *says;
        unsigned column;
    } cases[] = {{"1,0,9,1,60;x,\n", "'failed_attempts_s' must be a number of seconds", 9},
                 {"1,0,9,1,60;-1,\n", "'failed_attempts_s' must be a number of seconds", 9},
                 {"1,0,9,1,60;;1,\n", "seconds between semicolons", 9},
                 {"1,0,9,1,60,5\n", "left out where the job writes checkpoints", 9}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s%s", head, cases[i].row);
        trace_case_refused(text, &spec, NULL, 2, cases[i].column, cases[i].says);
    }
}

/* Jobs that failed or were cancelled are left out, and counted; who depends on one depends on it no more. */
TEST(test_failures_left_out)
{
    static const char text[] = "job_id,submit_s,duration_s,gpus,outcome,after\n1,0,10,1,completed,\n"
                               "2,1,10,1,failed,\n3,2,10,1,cancelled,1\n4,3,10,1,completed,2\n5,4,10,1,,1;4\n";
    struct workload_spec spec = {.format = "native"};
    struct trace_case read = trace_case_read(text, &spec, NULL);
    assert_int_equal(read.count, 5);
    trace_case_release(&read);
    spec.has_no_failures = true;
    read = trace_case_read(text, &spec, NULL);
    assert_int_equal(read.count, 3);
    assert_int_equal(read.facts.skipped.count, 2);
    assert_string_equal(read.facts.skipped.reasons[0].why, "they failed or were cancelled");
    assert_int_equal(read.jobs[1].trace_id, 4);
    assert_int_equal(read.jobs[1].after_count, 0);
    assert_int_equal(read.jobs[2].after_count, 2);
    assert_int_equal(read.jobs[2].after[0].job, 0);
    assert_int_equal(read.jobs[2].after[1].job, 1);
    trace_case_release(&read);
}

/* A long trace comes through a file that sorts it; attempts stay with their jobs. */
TEST(test_long_trace)
{
    enum { ROWS = 264000 }; /* more than are held in memory */
    struct buffer text = {0};
    buffer_string(&text, "job_id,submit_s,duration_s,gpus,failed_attempts_s\n");
    for (int i = 0; i < ROWS; i++)
        buffer_format(&text, i % 1000 == 0 ? "%d,%d,10,1,%d\n" : "%d,%d,10,1,\n", i, ROWS - i, i / 1000 + 1);
    const struct workload_spec spec = {.trace = scratch_write("long.csv", text.bytes, text.length)};
    buffer_release(&text);
    struct job_source *source;
    struct job job;
    struct job_truth truth;
    bool has = true;
    uint32_t with_failures = 0;
    struct error error = job_source_open(&source, &spec, NULL, 1);
    while (!error_is(error)) {
        error = job_source_next(source, &job, &truth, &has);
        if (!has)
            break;
        assert_int_equal(truth.failures != NULL, job.trace_id % 1000 == 0);
        if (truth.failures == NULL)
            continue;
        with_failures++;
        assert_true(truth.failures->count == 1 && truth.failures->work[0] == S(job.trace_id / 1000 + 1));
    }
    assert_false(error_is(error));
    assert_int_equal(with_failures, ROWS / 1000);
    job_source_close(source);
}

TEST_GROUP(scratch_make, scratch_remove)
