
#include "tests/support/test.h"

#include "tests/support/json_text.h"
#include "tests/support/trace_case.h"

#define S(n) ((time_ns)(n)*TIME_NS_PER_S)

static const struct workload_spec philly_log = {.format = "philly-log", .gpus_per_node = 8};

TEST(test_sample)
{
    const struct workload_spec spec = {.trace = "workloads/samples/philly_log.json", .gpus_per_node = 8};
    struct workload_facts facts = trace_real_read(&spec, NULL);
    assert_string_equal(facts.format, "philly-log");
    assert_int_equal(facts.job_count, 2);
    assert_int_equal(facts.skipped.count, 2);
    assert_float_equal(facts.recorded.all.asked_gpu_s, 4 * 3590 + 180,
                       1e-6); /* the second job ran twice: 60 s and 120 s */
}

/* As trace_case_read and trace_case_refused, with ' for ". */
static struct trace_case log_read(const char *text)
{
    char *json = json_text_new(text);
    struct trace_case read = trace_case_read(json, &philly_log, NULL);
    free(json);
    return read;
}

static void log_refused(const char *text, unsigned line, unsigned column, const char *says)
{
    char *json = json_text_new(text);
    trace_case_refused(json, &philly_log, NULL, line, column, says);
    free(json);
}

#define JOB(id, more)                                                                                                  \
    "{'status': 'Pass', 'vc': 'v', 'jobid': '" id "', 'user': 'u', 'submitted_time': '2017-10-01 10:00:00', "          \
    "'attempts': [{'start_time': '2017-10-01 10:00:07', 'end_time': '2017-10-01 10:01:07', "                           \
    "'detail': [{'ip': 'm', 'gpus': ['gpu0']}]}" more "]}"

/* Lines may break anywhere, and brackets in texts do not count. */
TEST(test_lines)
{
    struct trace_case read = log_read("[" JOB("a", "") ", " JOB("b]}", "") " ,\n" JOB("c\\\\", "") "]");
    assert_int_equal(read.count, 3);
    assert_string_equal(read.jobs[1].name, "b]}");
    assert_string_equal(read.jobs[2].name, "c\\");
    assert_true(read.truths[2].duration == S(60) && read.truths[2].recorded_wait == S(7));
    trace_case_release(&read);
}

TEST(test_bad_logs)
{
    log_refused("[" JOB("a", "") ",\n  7]", 2, 3, "an object must stand here");
    log_refused("[" JOB("a", "") "\n", 1, 0, "not closed");
    log_refused("[" JOB("a", "") ",\n {'status': 'Pass',\n", 2, 2, "not closed");
    log_refused("[\n  {'status': 'Pass', 'vc': }\n]", 2, 28, "token");
    log_refused("[\n  {'status': 'Pass', 'jobid': 'x', 'attempts': []}\n]", 2, 3, "'submitted_time'");
    log_refused("[\n" JOB("a", ", {'start_time': 'soon', 'detail': []}") "]", 2, 1, "'start_time'");
}
