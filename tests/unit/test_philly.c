
#include "tests/support/test.h"

#include "tests/support/trace_case.h"

#define HEADER "timestamp,duration,num_gpus,gpu_time,cluster\n"

static const struct workload_spec philly = {.format = "philly", .gpus_per_node = 8};

TEST(test_jobs_are_shaped_and_sorted)
{
    struct trace_case read = trace_case_read(HEADER "2017-10-09 07:00:10,66.0,1,66.0,vc1\n"
                                                    "2017-10-09 07:00:00,10,16,160,vc2\n"
                                                    "2017-10-09 07:00:10,5.5,11,60.5,vc1\n\n",
                                             &philly, NULL);
    assert_int_equal(read.count, 3);
    assert_int_equal(read.jobs[0].first.count, 2);
    assert_int_equal(read.jobs[0].first.request.gpus, 8);
    assert_true(read.jobs[0].submit == 0);
    assert_int_equal(read.jobs[0].trace_id, 2); /* the row, from 1 */
    assert_true(read.jobs[1].submit == 10 * TIME_NS_PER_S);
    assert_int_equal(read.jobs[1].trace_id, 1); /* equal times keep the file's order */
    assert_int_equal(read.jobs[2].trace_id, 3);
    assert_int_equal(read.jobs[2].first.count, 11);
    assert_true(read.truths[2].duration == 5500 * TIME_NS_PER_MS);
    assert_string_equal(trace_case_queue(&read, 0), "vc2");
    assert_string_equal(trace_case_queue(&read, 2), "vc1");
    assert_true(read.facts.first_submit == INT64_C(1507532400) * TIME_NS_PER_S);
    trace_case_release(&read);
}

TEST(test_zone_and_flat)
{
    struct workload_spec spec = {.format = "philly", .zone = {.is_given = true, .offset = -8 * 3600 * TIME_NS_PER_S}};
    struct trace_case read = trace_case_read(HEADER "2017-10-09 07:00:00,66.0,4,264.0,vc1\n", &spec, NULL);
    assert_true(read.facts.first_submit == (INT64_C(1507532400) + 8 * 3600) * TIME_NS_PER_S);
    assert_int_equal(read.jobs[0].first.count, 4); /* gpus_per_node 0: flat */
    trace_case_release(&read);
}

TEST(test_bad_lines)
{
    trace_case_refused(HEADER "yesterday,66,1,66,vc\n", &philly, NULL, 2, 1, "a date and time");
    trace_case_refused(HEADER "2017-10-09 07:00:00,-66,1,66,vc\n", &philly, NULL, 2, 21, "duration");
    trace_case_refused(HEADER "2017-10-09 07:00:00,66,x,66,vc\n", &philly, NULL, 2, 24, "num_gpus");
    trace_case_refused("timestamp,duration,cluster\n", &philly, NULL, 1, 0, "num_gpus");
}

TEST(test_sample)
{
    struct workload_spec spec = {.trace = "workloads/samples/philly.csv", .gpus_per_node = 8};
    struct cluster *cluster = cluster_uniform_new(10, 8);
    struct workload_facts facts = trace_real_read(&spec, cluster);
    assert_int_equal(facts.job_count, 11);
    assert_string_equal(facts.format, "philly");
    cluster_free(cluster);
}

TEST(test_real_trace)
{
    struct workload_spec spec = {.gpus_per_node = 8};
    spec.trace = trace_real("philly/philly_jobs.csv.zst");
    if (spec.trace == NULL)
        skip();
    struct cluster *cluster = cluster_uniform_new(352, 8);
    struct workload_facts facts = trace_real_read(&spec, cluster);
    assert_int_equal(facts.job_count, 82247);
    assert_int_equal(facts.bad_line_count, 0);
    print_message("philly: load recorded %.3f on 2,816 GPUs, %.0f GPU-h\n", facts.recorded.ratio,
                  facts.recorded.all.asked_gpu_s / 3600);
    cluster_free(cluster);
}
