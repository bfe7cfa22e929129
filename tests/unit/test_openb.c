
#include "tests/support/test.h"

#include "tests/support/trace_case.h"

#define SHORT_HEADER "name,cpu_milli,memory_mib,num_gpu,gpu_milli"
#define HEADER       SHORT_HEADER ",gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"

static const struct workload_spec openb = {.format = "openb"};

TEST(test_requests)
{
    struct cluster *cluster = cluster_uniform_new(1, 8);
    uint64_t absent = UINT64_C(1) << CLUSTER_MODELS_MAX;
    struct trace_case read = trace_case_read(HEADER "a,12000,16384,1,1000,,LS,Running,0,100,0\n"
                                                    "b,6000,12288,1,460,,LS,Running,0,100,0\n"
                                                    "c,6000,1,8,1000,V100M16|V100M32,LS,Running,0,100,0\n"
                                                    "d,4000,512,0,0,,LS,Running,0,100,0\n",
                                             &openb, cluster);
    assert_int_equal(read.jobs[0].first.request.gpus, 1);
    assert_int_equal(read.jobs[0].first.request.cpu_milli, 12000);
    assert_int_equal(read.jobs[0].first.request.memory_mib, 16384);
    assert_string_equal(read.jobs[0].name, "a");
    assert_int_equal(read.jobs[1].first.request.gpus, 0);
    assert_int_equal(read.jobs[1].first.request.gpu_milli, 460);
    assert_true(read.jobs[1].first.request.gpu_models == 0);
    assert_int_equal(read.jobs[2].first.count, 1); /* a pod stands on one node */
    assert_int_equal(read.jobs[2].first.request.gpus, 8);
    assert_true(read.jobs[2].first.request.gpu_models == absent);
    assert_int_equal(job_gpu_milli(&read.jobs[3]), 0);
    assert_int_equal(read.jobs[3].first.request.cpu_milli, 4000);
    trace_case_release(&read);
    cluster_free(cluster);
}

TEST(test_classes_outcomes_and_times)
{
    struct trace_case read = trace_case_read(HEADER "a,1,1,0,0,,LS,Running,10,100,20\n"
                                                    "b,1,1,0,0,,BE,Failed,10,100,10\n"
                                                    "c,1,1,0,0,,Burstable,Pending,10,100,\n"
                                                    "d,1,1,0,0,,Guaranteed,Succeeded,30,30,30\n"
                                                    "e,1,1,0,0,,,Running,5,6,5\n",
                                             &openb, NULL);
    static const int classes[] = {JOB_TRAINING, JOB_INFERENCE, JOB_TRAINING, JOB_INFERENCE, JOB_INFERENCE};
    static const int outcomes[] = {OUTCOME_COMPLETED, OUTCOME_COMPLETED, OUTCOME_FAILED, OUTCOME_CANCELLED,
                                   OUTCOME_COMPLETED};
    static const int seconds[] = {1, 80, 90, 90, 0};
    static const int submits[] = {0, 5, 5, 5, 25};
    assert_int_equal(read.count, 5);
    for (uint32_t i = 0; i < read.count; i++) {
        assert_int_equal(read.jobs[i].class, classes[i]);
        assert_int_equal(read.truths[i].outcome, outcomes[i]);
        assert_true(read.truths[i].duration == seconds[i] * TIME_NS_PER_S);
        assert_true(read.jobs[i].submit == submits[i] * TIME_NS_PER_S);
    }
    trace_case_release(&read);
}

TEST(test_lists_without_times)
{
    const char *text = SHORT_HEADER "\na,1,1,2,1000\nb,1,1,1,500\n";
    struct workload_spec spec = {.format = "openb", .default_duration = 3600 * TIME_NS_PER_S};
    trace_case_refused(text, &openb, NULL, 1, 0, "default_duration");
    struct trace_case read = trace_case_read(text, &spec, NULL);
    assert_int_equal(read.count, 2);
    assert_true(read.jobs[1].submit == TIME_NS_PER_S);
    assert_true(read.truths[1].duration == 3600 * TIME_NS_PER_S);
    trace_case_release(&read);
}

static void refused(const char *line, unsigned column, const char *says)
{
    char text[512] = HEADER;
    trace_case_refused(strcat(text, line), &openb, NULL, 2, column, says);
}

TEST(test_bad_lines)
{
    refused("a,1,1,1,1001,,LS,Running,0,100,0\n", 9, "'gpu_milli'");
    refused("a,1,1,1,0,,LS,Running,0,100,0\n", 9, "'gpu_milli'");
    refused("a,-1,1,1,1,,LS,Running,0,100,0\n", 3, "'cpu_milli'");
    refused("a,0,0,0,0,,LS,Running,0,100,0\n", 7, "asks for nothing");
    refused("a,1,1,1,1,,LS,Running,50,40,50\n", 26, "'deletion_time'");
    refused("a,1,1,1,1,,LS,Running,50,,50\n", 26, "'deletion_time'");
    refused("a,1,1,1,1,,LS,Running,x,10,50\n", 23, "'creation_time'");
}

static void check_real(const char *name, uint64_t count, time_ns default_duration)
{
    struct workload_spec spec = {.default_duration = default_duration};
    spec.trace = trace_real(name);
    if (spec.trace == NULL)
        skip();
    struct cluster *cluster = cluster_uniform_new(777, 8);
    assert_int_equal(trace_real_read(&spec, cluster).job_count, count);
    cluster_free(cluster);
}

TEST(test_real_trace)
{
    check_real("openb/openb_pod_list_default.csv.zst", 8152, 0);
    check_real("openb/openb_pod_list_multigpu20.csv.zst", 8324, TIME_NS_PER_S);
}

TEST(test_sample)
{
    struct workload_spec spec = {.trace = "workloads/samples/openb_pods.csv"};
    struct cluster *cluster = cluster_uniform_new(10, 8);
    struct workload_facts facts = trace_real_read(&spec, cluster);
    assert_int_equal(facts.job_count, 10);
    assert_string_equal(facts.format, "openb");
    cluster_free(cluster);
}
