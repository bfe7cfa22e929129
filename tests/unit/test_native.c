
#include "tests/support/test.h"

#include "tests/support/trace_case.h"
#include "topologies/mig.h"

#define HEADER "job_id,submit_s,duration_s,gpus"

static const struct workload_spec native = {.format = "native"};

TEST(test_required_columns_in_any_order)
{
    struct trace_case read = trace_case_read("gpus,extra,duration_s,job_id,submit_s\n"
                                             "4,x,66.5,77,10\n"
                                             "1,,0,job-b,12.000001\n",
                                             &native, NULL);
    assert_int_equal(read.count, 2);
    assert_int_equal(read.jobs[0].trace_id, 77);
    assert_null(read.jobs[0].name);
    assert_true(read.jobs[0].submit == 0); /* the first submission is the start */
    assert_true(read.truths[0].duration == 66500 * TIME_NS_PER_MS);
    assert_int_equal(read.jobs[0].first.count, 4); /* flat */
    assert_int_equal(read.jobs[0].first.min_count, 4);
    assert_int_equal(read.jobs[0].first.request.gpus, 1);
    assert_string_equal(read.jobs[1].name, "job-b");
    assert_true(read.jobs[1].submit == 2 * TIME_NS_PER_S + TIME_NS_PER_US);
    assert_true(read.jobs[1].limit == TIME_NEVER);
    assert_int_equal(read.jobs[1].user, NAMES_NONE);
    assert_string_equal(trace_case_queue(&read, 1), "default");
    assert_int_equal(read.truths[1].outcome, OUTCOME_COMPLETED);
    assert_int_equal(read.truths[1].would_do_milli, 1000);
    trace_case_release(&read);
}

TEST(test_workload_classes)
{
    struct trace_case read = trace_case_read(HEADER ",class,workload_class\n"
                                                    "1,0,10,1,training,small training\n"
                                                    "2,0,10,1,inference,\n"
                                                    "3,0,10,1,training,\"a, b\"\n"
                                                    "4,0,10,1,interactive,small training\n",
                                             &native, NULL);
    const struct names *names = job_source_classes(read.source);
    assert_int_equal(names_count(names), 2);
    assert_string_equal(names_text(names, read.truths[0].workload_class - 1u), "small training");
    assert_int_equal(read.truths[1].workload_class, 0);
    assert_string_equal(names_text(names, read.truths[2].workload_class - 1u), "a, b");
    assert_int_equal(read.truths[3].workload_class, read.truths[0].workload_class);
    trace_case_release(&read);
}

TEST(test_optional_columns)
{
    struct trace_case read = trace_case_read(
        HEADER ",nodes,queue,user,class,priority,preemptible,limit_s,cpus,memory_gb,min_members,outcome,"
               "sm_active,memory_bandwidth,would_do,checkpoint_interval_s,checkpoint_duration_s,restart_s\n"
               "1,0,10,32,4,\"a, "
               "\"\"b\"\"\",ann,inference,125,,3600,64.5,512,2,failed,0.25,0.7,0.333,1800,60,300\n"
               "2,0,10,8,1,q,bob,interactive,,false,,,,,cancelled,,,,,,\n"
               "3,0,10,8,1,q,ann,,-3,,,,,,,,,,,,\n",
        &native, NULL);
    const struct job *job = &read.jobs[0];
    assert_int_equal(job->first.count, 4);
    assert_int_equal(job->first.min_count, 2);
    assert_int_equal(job->first.request.gpus, 8);
    assert_int_equal(job->first.request.cpu_milli, 16125);
    assert_int_equal(job->first.request.memory_mib, 128 * 1024);
    assert_string_equal(trace_case_queue(&read, 0), "a, \"b\"");
    assert_string_equal(names_text(job_source_users(read.source), job->user), "ann");
    assert_int_equal(job->class, JOB_INFERENCE);
    assert_int_equal(job->priority, 125);
    assert_true(job->is_firm_by_priority);
    assert_true(job->limit == 3600 * TIME_NS_PER_S);
    assert_true(job->checkpoint.interval == 1800 * TIME_NS_PER_S);
    assert_true(job->checkpoint.duration == 60 * TIME_NS_PER_S);
    assert_true(job->checkpoint.restart == 300 * TIME_NS_PER_S);
    assert_int_equal(read.truths[0].outcome, OUTCOME_FAILED);
    assert_int_equal(read.truths[0].sm_active_milli, 250);
    assert_int_equal(read.truths[0].bandwidth_milli, 700);
    assert_int_equal(read.truths[1].bandwidth_milli, 0);
    assert_int_equal(read.truths[0].would_do_milli, 333);
    assert_int_equal(read.jobs[1].priority, 50);
    assert_false(read.jobs[1].is_preemptible);
    assert_int_equal(read.truths[1].outcome, OUTCOME_CANCELLED);
    assert_int_equal(read.jobs[2].user, job->user);
    assert_true(read.jobs[2].is_preemptible);
    assert_int_equal(read.jobs[2].priority, -3);
    trace_case_release(&read);
}

TEST(test_pieces_of_gpus)
{
    struct cluster *cluster = cluster_uniform_new(1, 8);
    struct trace_case read = trace_case_read(HEADER ",gpu_fraction,gpu_memory_gb,mig_profile,cpus,gpu_model\n"
                                                    "1,0,1,1,0.142,,,,\n"
                                                    "2,0,1,1,1,,,,\n"
                                                    "3,0,1,0,,20,,,\n"
                                                    "4,0,1,1,,,2g.20gb,,\n"
                                                    "5,0,1,0,,,,4,\n"
                                                    "6,0,1,1,,,,,no-such-gpu\n"
                                                    "7,0,1,1,0,,,,\n",
                                             &native, cluster);
    assert_int_equal(read.jobs[0].first.request.gpu_milli, 142);
    assert_int_equal(read.jobs[0].first.request.gpus, 0);
    assert_int_equal(read.jobs[1].first.request.gpus, 1);
    assert_int_equal(read.jobs[1].first.request.gpu_milli, 0);
    assert_int_equal(read.jobs[2].first.request.gpu_memory_mib, 20 * 1024);
    assert_int_equal(read.jobs[3].first.request.mig, MIG_2G + 1);
    assert_int_equal(read.jobs[4].first.request.cpu_milli, 4000);
    assert_int_equal(job_gpu_milli(&read.jobs[4]), 0);
    assert_true(read.jobs[5].first.request.gpu_models == UINT64_C(1) << CLUSTER_MODELS_MAX);
    assert_int_equal(read.jobs[6].first.request.gpus, 1);
    trace_case_release(&read);
    cluster_free(cluster);
}

static void refused(const char *text, unsigned line, unsigned column, const char *says)
{
    trace_case_refused(text, &native, NULL, line, column, says);
}

TEST(test_bad_values_are_named_by_place)
{
    refused(HEADER "\n1,0,5,1\n2,0,-5,1\n", 3, 5, "'duration_s' must be");
    refused(HEADER "\n1,0,nan,1\n", 2, 5, "duration_s");
    refused(HEADER "\n1,0,1e400,1\n", 2, 5, "duration_s");
    refused(HEADER "\n1,-1,5,1\n", 2, 3, "submit_s");
    refused(HEADER "\n1,0,5,8x\n", 2, 7, "'gpus' must be an integer from 0 to 1000000");
    refused(HEADER "\n1,0,5,2000000\n", 2, 7, "gpus");
    refused(HEADER "\n1,0,5,0\n", 2, 7, "asks for nothing");
    refused(HEADER "\n1,0,5,\n", 2, 0, "'gpus' is empty");
    refused(HEADER ",nodes\n1,0,5,8,3\n", 2, 9, "must divide");
    refused(HEADER ",gpu_fraction\n1,0,5,2,0.5\n", 2, 9, "excludes more than one GPU");
    refused(HEADER ",gpu_fraction\n1,0,5,1,1.5\n", 2, 9, "a number from 0 to 1");
    refused(HEADER ",gpu_fraction\n1,0,5,1,0.0001\n", 2, 9, "0.001");
    refused(HEADER ",mig_profile\n1,0,5,1,11g\n", 2, 9, "a MIG profile");
    refused(HEADER ",gpu_fraction,mig_profile\n1,0,5,1,0.5,1g.10gb\n", 2, 9, "in one way only");
    refused(HEADER ",class\n1,0,5,1,batch\n", 2, 9, "training, interactive, inference");
    refused(HEADER ",outcome\n1,0,5,1,ok\n", 2, 9, "completed, failed, cancelled");
    refused(HEADER ",limit_s\n1,0,5,1,0\n", 2, 9, "more than 0");
    refused(HEADER ",min_members\n1,0,5,4,5\n", 2, 9, "number of members");
    refused(HEADER ",priority\n1,0,5,4,1.5\n", 2, 9, "priority");
    refused(HEADER ",preemptible\n1,0,5,4,maybe\n", 2, 9, "preemptible");
}

TEST(test_bad_structure)
{
    refused("job_id,submit_s,gpus\n1,0,1\n", 1, 0, "no column 'duration_s'");
    refused(HEADER ",gpus\n1,0,1,1,1\n", 1, 33, "stands twice");
    refused(HEADER "\n1,0,1\n", 2, 0, "4 fields as the header has, got 3");
    refused(HEADER "\n1,0,1,1,9,9\n", 2, 0, "got 6");
    refused(HEADER "\n\"1,0,1,1\n", 2, 1, "not closed");
    refused(HEADER "\n\"1\"x,0,1,1\n", 2, 1, "followed by a comma");
    refused(HEADER "\n", 0, 0, "holds no jobs");
    refused("", 0, 0, "holds no jobs");
    refused("\n\n", 0, 0, "holds no jobs");
}

TEST(test_bad_lines_within_the_budget_are_counted)
{
    struct workload_spec spec = {.format = "native", .bad_lines_max = 2};
    const char *text = HEADER "\n1,0,5,1\nrubbish\n2,1,5,x\n3,2,5,1\n";
    struct trace_case read = trace_case_read(text, &spec, NULL);
    assert_int_equal(read.count, 2);
    assert_int_equal(read.facts.bad_line_count, 2);
    trace_case_release(&read);
    spec.bad_lines_max = 1;
    trace_case_refused(text, &spec, NULL, 4, 7, "gpus");
}

TEST(test_sample)
{
    struct workload_spec spec = {.trace = "workloads/samples/native.csv"};
    struct cluster *cluster = cluster_uniform_new(10, 8);
    struct workload_facts facts = trace_real_read(&spec, cluster);
    assert_int_equal(facts.job_count, 14);
    assert_string_equal(facts.format, "native"); /* told by its header */
    assert_int_equal(strlen(facts.digest), 32);
    cluster_free(cluster);
}
