#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/json_text.h"
#include "tests/support/scratch.h"
#include "tests/support/trace_case.h"

#define S(n) ((time_ns)(n)*TIME_NS_PER_S)

static struct workload_spec with(const char *instances)
{
    struct workload_spec spec = {.format = "borg", .table_count = 1};
    spec.tables[0] = (struct table_path){TEXT("instance"), scratch_write_json("instances.jsonl", instances)};
    return spec;
}

/* The sample, whose events are in no order; expected values by hand. */
static void test_sample(void **state)
{
    (void)state;
    struct workload_spec spec = {.trace = "workloads/samples/borg_collection_events.jsonl", .table_count = 1};
    spec.tables[0] = (struct table_path){TEXT("instance"), "workloads/samples/borg_instance_events.jsonl"};
    struct job_source *source;
    struct job job;
    struct job_truth truth;
    bool has;
    struct error error = job_source_open(&source, &spec, NULL, 1);
    assert_false(error_is(error));
    assert_string_equal(job_source_facts(source)->format, "borg");
    assert_int_equal(job_source_facts(source)->job_count, 2);
    assert_int_equal(job_source_facts(source)->skipped.count, 4);
    assert_int_equal(job_source_facts(source)->skipped.reason_count, 4);
    assert_int_equal(job_source_facts(source)->sides->files[0].row_count, 8);
    error = job_source_next(source, &job, &truth, &has);
    assert_true(!error_is(error) && has);
    assert_true(job.submit == 0 && truth.recorded_wait == S(1) && truth.duration == S(599));
    assert_int_equal(job.trace_id, 42);
    assert_int_equal(job.first.count, 2);
    assert_int_equal(job.first.min_count, 1);
    assert_int_equal(job.first.request.cpu_milli, 800);   /* 0.0125 of 64 CPUs */
    assert_int_equal(job.first.request.memory_mib, 2622); /* 0.005 of 512 GB, rounded up */
    assert_true(job.priority == 200 && !job.is_preemptible && truth.outcome == OUTCOME_COMPLETED);
    error = job_source_next(source, &job, &truth, &has);
    assert_true(!error_is(error) && has);
    assert_true(job.submit == S(100) && truth.recorded_wait == S(20) && truth.duration == S(80));
    assert_true(job.is_preemptible && truth.outcome == OUTCOME_CANCELLED);
    job_source_close(source);
}

#define SUBMIT(id) "{'time': '5000000', 'type': '0', 'collection_id': '" id "'}\n"
#define RUNS(id)                                                                                                       \
    "{'time': 7000000, 'type': 3, 'collection_id': '" id "', 'instance_index': 0, "                                    \
    "'resource_request': {'cpus': 0.5, 'memory': 0}}\n"

/* A collection that ended, and was submitted again, goes on; one that ended twice ended when it did last. */
static void test_ends(void **state)
{
    (void)state;
    const struct workload_spec spec = with(RUNS("1") RUNS("2") RUNS("3") RUNS("4"));
    struct trace_case read = trace_case_read(
        SUBMIT("1") "{'time': 9000000, 'type': 5, 'collection_id': '1'}\n{'time': 8000000, 'type': 6, 'collection_id': "
                    "'1'}\n" SUBMIT(
                        "2") "{'time': 8000000, 'type': 5, 'collection_id': '2'}\n{'time': 9000000, 'type': 0, "
                             "'collection_id': '2'}\n" SUBMIT("3") "{'time': 6000000, 'type': 8, 'collection_id': "
                                                                   "'3'}\n" SUBMIT("4") "{'time': 9223372036854775807, "
                                                                                        "'type': 6, 'collection_id': "
                                                                                        "'4'}\n" SUBMIT("5") "{'time': "
                                                                                                             "9000000, "
                                                                                                             "'type': "
                                                                                                             "6, "
                                                                                                             "'collecti"
                                                                                                             "on_id': "
                                                                                                             "'5'}\n",
        &spec, NULL);
    assert_int_equal(read.count, 1);
    assert_true(read.truths[0].duration == S(2) && read.truths[0].outcome == OUTCOME_FAILED);
    assert_int_equal(read.facts.skipped.count, 4);
    trace_case_release(&read);
}

/* CPUs and memory are parts of the cluster's largest node. */
static void test_parts_of_nodes(void **state)
{
    (void)state;
    struct json_doc *doc;
    struct error error = json_text_read(&doc, "cluster",
                                        "{'pools': [{'nodes': 2, 'gpus_per_node': 0, 'cpus': 16, 'memory_gb': 64}, "
                                        "{'nodes': 1, 'gpus_per_node': 8, 'cpus': 96, 'memory_gb': 32}]}");
    assert_false(error_is(error));
    const struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    json_doc_free(doc);
    assert_non_null(cluster);
    const struct workload_spec spec = with("{'time': 7000000, 'type': 3, 'collection_id': '1', 'instance_index': '2', "
                                           "'resource_request': {'cpus': 0.5, 'memory': 0.25}}\n");
    struct trace_case read =
        trace_case_read(SUBMIT("1") "{'time': 9000000, 'type': 6, 'collection_id': '1'}\n", &spec, cluster);
    assert_int_equal(read.jobs[0].first.count, 3);
    assert_int_equal(read.jobs[0].first.request.cpu_milli, 48000);
    assert_int_equal(read.jobs[0].first.request.memory_mib, 16 * 1024);
    trace_case_release(&read);
    cluster_free(cluster);
}

static void test_bad_lines(void **state)
{
    (void)state;
    static const char end[] = "{'time': 9000000, 'type': 6, 'collection_id': '1'}\n";
    struct workload_spec spec = with(RUNS("1"));
    trace_case_refused("{'time': 5, 'type': 0}\n", &spec, NULL, 1, 0, "'collection_id' is missing");
    trace_case_refused("{'time': 5, 'type': 11, 'collection_id': '1'}\n", &spec, NULL, 1, 21, "'type'");
    trace_case_refused("{'time': -5, 'type': 1, 'collection_id': '1'}\n", &spec, NULL, 1, 10, "'time'");
    trace_case_refused("{'time': 5, 'type': 1, 'collection_id': '1'\n", &spec, NULL, 1, 0, "not JSON");
    trace_case_refused(RUNS("1"), &spec, NULL, 1, 70, "this is an event of an instance");
    spec = with(RUNS("1") "{'time': 5, 'type': 0, 'collection_id': '1'}\n");
    trace_case_refused(SUBMIT("1") "", &spec, NULL, 2, 0, "'instance_index' is missing");
    spec = with(RUNS("1") "{'time': 5, 'type': 0, 'collection_id': '1', 'instance_index': 0, "
                          "'resource_request': {'cpus': -1}}\n"
                          "oops\n");
    trace_case_refused(SUBMIT("1"), &spec, NULL, 2, 96, "'cpus'");
    spec.bad_lines_max = 3;
    char text[512];
    snprintf(text, sizeof text, "%s%s%s", SUBMIT("1"), "{'time': 5, 'type': 11, 'collection_id': '1'}\n", end);
    struct trace_case read = trace_case_read(text, &spec, NULL);
    assert_int_equal(read.count, 1);
    assert_int_equal(read.facts.bad_line_count, 3);
    trace_case_release(&read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_parts_of_nodes),
        cmocka_unit_test(test_bad_lines),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
