
#include "tests/support/test.h"

#include "tests/support/trace_case.h"
#include "topologies/mig.h"

#define MUST "{'job_id': 1, 'submit_s': 0, 'duration_s': 60"

static const struct workload_spec jsonl = {.format = "jsonl"};

TEST(test_native_names)
{
    struct trace_case read =
        trace_case_read("{'job_id': 7, 'submit_s': 1.5, 'duration_s': 1e3, 'gpus': 16, 'nodes': 2, 'queue': 'a/b', "
                        "'user': null, 'preemptible': false, 'extra': {'deep': [1, ']}', {'gpus': 3}]}}\n"
                        "{'gpus':1,'duration_s':0.000000001,'submit_s':2,'job_id':'x\\'\\u00e9'}\n",
                        &jsonl, NULL);
    assert_int_equal(read.count, 2);
    assert_int_equal(read.jobs[0].trace_id, 7);
    assert_int_equal(read.jobs[0].first.count, 2);
    assert_int_equal(read.jobs[0].first.request.gpus, 8);
    assert_int_equal(read.jobs[0].user, NAMES_NONE);
    assert_false(read.jobs[0].is_preemptible);
    assert_true(read.truths[0].duration == 1000 * TIME_NS_PER_S);
    assert_string_equal(trace_case_queue(&read, 0), "a/b");
    assert_true(read.truths[1].duration == 1); /* digits, not doubles */
    assert_string_equal(read.jobs[1].name, "x\"\xc3\xa9");
    assert_true(read.jobs[1].submit == 500 * TIME_NS_PER_MS);
    trace_case_release(&read);
}

TEST(test_groups)
{
    struct trace_case read =
        trace_case_read(MUST ", 'groups': [{'count': 2, 'gpus': 4, 'cpus': 16, 'memory_gb': 1}, {'count': 8, "
                             "'min_members': 3, 'cpus': 0.5}, {'mig': '1g.10gb'}, {'gpu_fraction': 0.285}, "
                             "{'gpu_memory_gb': 40}]}\n" MUST ", 'gpus': 12, 'groups': [{'count': 3, 'gpus': 4}]}\n",
                        &jsonl, NULL);
    const struct job *job = &read.jobs[0];
    assert_int_equal(job->group_count, 5);
    assert_int_equal(job_group(job, 0)->count, 2);
    assert_int_equal(job_group(job, 0)->min_count, 2);
    assert_int_equal(job_group(job, 0)->request.gpus, 4);
    assert_int_equal(job_group(job, 0)->request.cpu_milli, 16000); /* per member */
    assert_int_equal(job_group(job, 0)->request.memory_mib, 1024);
    assert_int_equal(job_group(job, 1)->count, 8);
    assert_int_equal(job_group(job, 1)->min_count, 3);
    assert_int_equal(job_group(job, 1)->request.cpu_milli, 500);
    assert_int_equal(job_group(job, 2)->request.mig, MIG_1G + 1);
    assert_int_equal(job_group(job, 3)->request.gpu_milli, 285);
    assert_int_equal(job_group(job, 4)->request.gpu_memory_mib, 40 * 1024);
    assert_int_equal(read.jobs[1].group_count, 1);
    assert_null(read.jobs[1].more);
    assert_int_equal(job_gpu_milli(&read.jobs[1]), 12000);
    trace_case_release(&read);
}

/* They count for the minimum, and what is left is the job. */
TEST(members_that_have_succeeded_are_left_out)
{
    struct trace_case read =
        trace_case_read(MUST ", 'groups': [{'count': 5, 'min_members': 3, 'gpus': 1, 'succeeded': 2}]}\n" MUST
                             ", 'groups': [{'count': 5, 'min_members': 3, 'gpus': 1, 'succeeded': 4}]}\n" MUST
                             ", 'sets': [{'name': 'a'}, {'name': 'b', 'min_members': 2}], 'groups': [{'gpus': 2, "
                             "'set': 'a', 'succeeded': 1}, {'count': 4, 'gpus': 1, 'set': 'b', 'succeeded': 1}]}\n",
                        &jsonl, NULL);
    assert_int_equal(read.jobs[0].first.count, 3);
    assert_int_equal(read.jobs[0].first.min_count, 1);
    assert_int_equal(read.jobs[1].first.count, 1);
    assert_int_equal(read.jobs[1].first.min_count, 1); /* any one will do */
    assert_int_equal(read.jobs[2].group_count, 1);     /* nothing is left of the other */
    assert_int_equal(read.jobs[2].first.count, 3);
    assert_int_equal(read.jobs[2].first.set, 1);
    assert_int_equal(read.jobs[2].sets[0].min_members, 0);
    assert_int_equal(read.jobs[2].sets[1].min_members, 1);
    trace_case_release(&read);
}

static void refused(const char *text, unsigned line, unsigned column, const char *says)
{
    trace_case_refused(text, &jsonl, NULL, line, column, says);
}

TEST(test_bad_lines)
{
    refused(MUST ", 'gpus': 1}\n" MUST ", 'gpus': '8'}\n", 2, 56, "a number without quotes");
    refused(MUST ", 'gpus': -1}\n", 1, 56, "'gpus' must be an integer");
    refused(MUST ", 'gpus': 1, 'class': 3}\n", 1, 68, "'class' must be a string");
    refused(MUST ", 'gpus': 1, 'preemptible': 1}\n", 1, 74, "true or false");
    refused(MUST ", 'gpus': true}\n", 1, 56, "a number without quotes");
    refused(MUST "}\n", 1, 0, "'gpus' is missing");
    refused(MUST ", 'gpus': 1, 'gpus': 2}\n", 1, 0, "duplicate");
    refused(MUST ", 'gpus': 1e400}\n", 1, 0, "not JSON");
    refused(MUST ", 'gpus': NaN}\n", 1, 0, "not JSON");
    refused(MUST ", 'gpus': 1} {}\n", 1, 0, "not JSON");
    refused(MUST ", 'gpus': 1\n", 1, 0, "not JSON");
    refused("[1, 2]\n", 1, 0, "a line must hold a JSON object");
    refused("7\n", 1, 0, "not JSON");
    refused("\n\n" MUST ", 'gpus': 1, 'user': '\xff'}\n", 3, 0, "not JSON");
}

TEST(test_bad_groups)
{
    refused(MUST ", 'groups': []}\n", 1, 58, "at least one");
    refused(MUST ", 'groups': {}}\n", 1, 58, "must be an array");
    refused(MUST ", 'groups': [3]}\n", 1, 59, "must be an object");
    refused(MUST ", 'groups': [{}]}\n", 1, 59, "asks for nothing");
    refused(MUST ", 'groups': [{'count': 0, 'gpus': 1}]}\n", 1, 69, "'count' must be");
    refused(MUST ", 'groups': [{'count': 2, 'min_members': 3, 'gpus': 1}]}\n", 1, 87,
            "'min_members' must be an integer from 1 to 2");
    refused(MUST ", 'groups': [{'gpus': 2, 'gpu_fraction': 0.5}]}\n", 1, 87, "excludes");
    refused(MUST ", 'gpus': 5, 'groups': [{'gpus': 4}]}\n", 1, 56, "not the sum");
    refused(MUST ", 'nodes': 2, 'groups': [{'gpus': 4}]}\n", 1, 57, "excludes 'groups'");
}

TEST(test_too_many_groups)
{
    char text[4096] = MUST ", 'groups': [{'gpus': 1}";
    for (int i = 0; i < JOB_GROUPS_MAX - 1; i++)
        strcat(text, ",{'gpus': 1}");
    size_t length = strlen(text);
    strcat(text, "]}\n");
    struct trace_case read = trace_case_read(text, &jsonl, NULL);
    assert_int_equal(read.jobs[0].group_count, JOB_GROUPS_MAX);
    assert_int_equal(job_gpu_milli(&read.jobs[0]), JOB_GROUPS_MAX * GPU_MILLI);
    trace_case_release(&read);
    strcpy(text + length, ",{'gpus': 1}]}\n");
    refused(text, 1, 0, "at most 64 groups");
}

TEST(test_sample)
{
    struct workload_spec spec = {.trace = "workloads/samples/native.jsonl"};
    struct cluster *cluster = cluster_uniform_new(10, 8);
    struct workload_facts facts = trace_real_read(&spec, cluster);
    assert_int_equal(facts.job_count, 12);
    assert_string_equal(facts.format, "jsonl");
    cluster_free(cluster);
}
