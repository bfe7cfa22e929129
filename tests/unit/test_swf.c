
#include "tests/support/test.h"

#include "tests/support/trace_case.h"

static const struct workload_spec swf = {.format = "swf"};

/* job submit wait run procs cpu mem procs_asked time_asked mem_asked status user ... queue ... */
TEST(test_fields)
{
    struct trace_case read = trace_case_read("; Version: 2.2\n"
                                             " 5  10 3  600 8 -1 -1 16  900 -1 1  3 1 -1  1 -1 -1 -1\n"
                                             "; in the middle\n"
                                             " 6\t12 3 60.5 4 -1 -1 -1   -1 -1 0 -1 1 -1 -1 -1 -1 -1  \n"
                                             " 7  12 3    0 1 -1 -1  1    0 -1 5  3 1 -1  0 -1 -1 -1",
                                             &swf, NULL);
    assert_int_equal(read.count, 3);
    assert_int_equal(read.jobs[0].trace_id, 5);
    assert_int_equal(read.jobs[0].first.count, 16); /* asked, not given; flat */
    assert_int_equal(read.jobs[0].first.request.gpus, 1);
    assert_true(read.jobs[0].submit == 0);
    assert_true(read.jobs[0].limit == 900 * TIME_NS_PER_S);
    assert_string_equal(trace_case_queue(&read, 0), "q1");
    assert_string_equal(names_text(job_source_users(read.source), read.jobs[0].user), "u3");
    assert_int_equal(read.jobs[1].first.count, 4);
    assert_true(read.jobs[1].limit == TIME_NEVER);
    assert_true(read.truths[1].duration == 60500 * TIME_NS_PER_MS);
    assert_int_equal(read.truths[1].outcome, OUTCOME_FAILED);
    assert_int_equal(read.jobs[1].user, NAMES_NONE);
    assert_string_equal(trace_case_queue(&read, 1), "default");
    assert_true(read.jobs[2].limit == TIME_NEVER);
    assert_int_equal(read.truths[2].outcome, OUTCOME_CANCELLED);
    assert_true(read.truths[2].duration == 0);
    assert_string_equal(trace_case_queue(&read, 2), "q0");
    trace_case_release(&read);
}

TEST(test_jobs_that_never_ran_are_counted)
{
    struct trace_case read = trace_case_read("1 0 -1 -1 8 -1 -1 8 900 -1 5 1 1 -1 1 -1 -1 -1\n"
                                             "2 0 -1 10 0 -1 -1 -1 900 -1 1 1 1 -1 1 -1 -1 -1\n"
                                             "3 0 -1 10 1 -1 -1 1 900 -1 2 1 1 -1 1 -1 -1 -1\n" /* a part of a job */
                                             "4 0 -1 10 1 -1 -1 1 900 -1 1 1 1 -1 1 -1 -1 -1\n",
                                             &swf, NULL);
    assert_int_equal(read.count, 1);
    assert_int_equal(read.jobs[0].trace_id, 4);
    assert_int_equal(read.facts.skipped.count, 3);
    trace_case_release(&read);
    trace_case_refused("1 0 -1 -1 8 -1 -1 8 900 -1 5 1 1 -1 1 -1 -1 -1\n", &swf, NULL, 0, 0, "holds no jobs");
}

/* A list of nodes in the column of GPUs, the name of the queue, and a request of PBS. */
TEST(test_metacentrum)
{
    struct trace_case read = trace_case_read(
        "Version: 2.2\n"
        "Computer: a cluster 7\n"
        "3000000000 100 0 50 64 1 1024 64 86400 68719476736 1 62 1 1 -1 1 1 1 {12,12} q_1d 1:ppn=64:x86_64#excl\n"
        "3000000001 101 0 50 16 1 1024 16 86400 1024 1 62 1 1 -1 1 1 1 {12,13} gpu 2:ppn=8:gpu=4:x86_64\n",
        &(struct workload_spec){.gpus_per_node = 8}, NULL);
    assert_int_equal(read.count, 2);
    assert_string_equal(read.facts.format, "swf");
    assert_true(read.jobs[0].trace_id == 3000000000);
    assert_true(read.jobs[0].first.count == 64 && read.jobs[0].first.request.gpus == 1);
    assert_string_equal(trace_case_queue(&read, 0), "q_1d");
    assert_true(read.jobs[1].first.count == 2 && read.jobs[1].first.request.gpus == 4);
    assert_int_equal(read.jobs[1].first.request.cpu_milli, 8000);
    trace_case_release(&read);
    trace_case_refused("1 0 -1 10 1 -1 -1 1 900 -1 1 1 1 -1 1 -1 -1 -1\nNote: late\n", &swf, NULL, 2, 0,
                       "a line of SWF must have 18 fields");
}

/* The columns of AleaNG: GPUs apart, processors are CPUs, memory is per node. */
TEST(test_a_column_of_gpus)
{
    const struct workload_spec spec = {.format = NULL};
    struct trace_case read =
        trace_case_read("3 120 30 3600 16 -1 -1 16 7200 2097152 1 u7 2 -1 1 -1 -1 -1 8 -1 normal:2x8\n"
                        "4 121 -1 60 4 -1 -1 4 -1 -1 0 -1 2 -1 1 -1 -1 -1 0 -1 -1\n"
                        "5 122 -1 60 4 -1 -1 4 -1 -1 1 9 2 -1 1 -1 -1 -1 3 -1 2x2\n"
                        "6 123 -1 -1 4 -1 -1 4 -1 -1 5 9 2 -1 1 -1 -1 -1 3 -1 2x2\n",
                        &spec, NULL);
    assert_string_equal(read.facts.format, "swf");
    assert_int_equal(read.count, 3);
    assert_int_equal(read.jobs[0].first.count, 2);
    assert_int_equal(read.jobs[0].first.request.gpus, 4);
    assert_int_equal(read.jobs[0].first.request.cpu_milli, 8000);
    assert_int_equal(read.jobs[0].first.request.memory_mib, 2048);
    assert_true(read.truths[0].recorded_wait == 30 * TIME_NS_PER_S);
    assert_string_equal(names_text(job_source_users(read.source), read.jobs[0].user), "u7");
    assert_int_equal(read.jobs[1].first.request.gpus, 0);
    assert_int_equal(read.jobs[1].first.request.cpu_milli, 4000);
    assert_int_equal(read.jobs[1].user, NAMES_NONE);
    assert_int_equal(read.jobs[2].first.count * read.jobs[2].first.request.gpus, 3); /* 3 GPUs are on no 2 nodes */
    assert_string_equal(names_text(job_source_users(read.source), read.jobs[2].user), "u9");
    assert_int_equal(read.facts.skipped.count, 1);
    trace_case_release(&read);
    trace_case_refused("3 120 30 3600 16 -1 -1 16 7200 -1 1 u7 2 -1 1 -1 -1 -1 8.5 -1 2x8\n", &swf, NULL, 1, 56,
                       "'GPUs'");
}

static void check_gpus(double per_gpu, const char *processors, uint32_t gpus)
{
    struct workload_spec spec = {.format = "swf", .processors_per_gpu = per_gpu};
    char text[128] = "1 0 -1 5 -1 -1 -1 ";
    strcat(strcat(text, processors), " -1 -1 1 1 1 -1 1 -1 -1 -1\n");
    struct trace_case read = trace_case_read(text, &spec, NULL);
    assert_int_equal(read.jobs[0].first.count, gpus);
    trace_case_release(&read);
}

TEST(test_processors_become_gpus_rounded_up)
{
    check_gpus(1, "7", 7);
    check_gpus(0, "7", 7); /* a spec made by hand */
    check_gpus(16, "16", 1);
    check_gpus(16, "17", 2);
    check_gpus(0.5, "3", 6);
}

TEST(test_bad_lines)
{
    trace_case_refused("1 0 -1\n", &swf, NULL, 1, 0, "18 fields, got 3");
    trace_case_refused("1 x -1 5 8 -1 -1 8 900 -1 5 1 1 -1 1 -1 -1 -1\n", &swf, NULL, 1, 3, "submit");
    trace_case_refused("1 0 -1 -5 8 -1 -1 8 900 -1 5 1 1 -1 1 -1 -1 -1\n", &swf, NULL, 1, 8, "run time");
    trace_case_refused("1 0 -1 5 8 -1 -1 8 1e400 -1 5 1 1 -1 1 -1 -1 -1\n", &swf, NULL, 1, 20, "requested time");
    trace_case_refused("1 0 -1 5 8 -1 -1 2000000 9 -1 5 1 1 -1 1 -1 -1 -1\n", &swf, NULL, 1, 18,
                       "requested processors");
}

static void check_real(const char *name, uint64_t count)
{
    struct workload_spec spec = {.processors_per_gpu = 1};
    spec.trace = trace_real(name);
    if (spec.trace == NULL)
        skip();
    struct cluster *cluster = cluster_uniform_new(32, 8);
    struct workload_facts facts = trace_real_read(&spec, cluster);
    assert_int_equal(facts.job_count, count);
    assert_int_equal(facts.skipped.count, 0);
    assert_string_equal(facts.format, "swf");
    print_message("%s: load %.3f on 256 GPUs\n", name, facts.recorded.ratio);
    cluster_free(cluster);
}

TEST(test_real_traces)
{
    check_real("swf/NASA-iPSC-1993-3.1-cln.swf.zst", 18239);
    check_real("swf/LCG-2005.swf.zst", 188041);
    check_real("swf/lublin_256.swf.zst", 10000);
}

TEST(test_sample)
{
    struct workload_spec spec = {.trace = "workloads/samples/small.swf"};
    struct cluster *cluster = cluster_uniform_new(10, 8);
    struct workload_facts facts = trace_real_read(&spec, cluster);
    assert_int_equal(facts.job_count, 9);
    assert_int_equal(facts.skipped.count, 3);
    cluster_free(cluster);
}
