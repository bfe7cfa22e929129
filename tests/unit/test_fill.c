/* The order in which jobs of a trace fill a cluster, and what becomes of their times; workloads/readers/fill.h. */
#include <stdio.h>
#include <unistd.h>

#include "tests/support/test.h"

#include "base/mem.h"
#include "tests/support/trace_case.h"
#include "workloads/readers/fill.h"

#define S(seconds) ((seconds)*TIME_NS_PER_S)

static const struct workload_spec native = {.format = "native", .fill = {.load = 1.5, .interval = TIME_NS_PER_S}};

/* ---- The stream -------------------------------------------------------------------------------- */

/* Whole GPUs, shares, no GPU, a gang; 6.75 GPUs in all. */
#define MIXED                                                                                                          \
    "job_id,submit_s,duration_s,gpus,gpu_fraction,cpus,nodes,limit_s,estimate_s,deadline_s,"                           \
    "outcome,after,array,array_max\n"                                                                                  \
    "1,900,50,2,,,1,60,50,2000,failed,,,\n"                                                                            \
    "2,5,0,0,,4,,,,,cancelled,,,\n"                                                                                    \
    "3,5,70,1,0.25,,,,,,,,,\n"                                                                                         \
    "4,7,70,1,0.5,,,,,,,,a,1\n"                                                                                        \
    "5,7,70,4,,,2,,,,,3,a,1\n"

static const int64_t mixed_milli[] = {0, 2000, 0, 250, 500, 4000}; /* by trace_id */

TEST(test_each_job_once_then_any)
{
    struct cluster *cluster = cluster_uniform_new(2, 4);
    struct trace_case read = trace_case_read(MIXED, &native, cluster);
    unsigned seen = 0;
    int64_t asked = 0;
    assert_true(read.count > 5);
    for (uint32_t i = 0; i < read.count; i++) {
        const struct job *job = &read.jobs[i];
        assert_in_range(job->trace_id, 1, 5);
        assert_true(i >= 5 || (seen >> job->trace_id & 1) == 0);
        seen |= 1U << job->trace_id;
        assert_true(asked < 12000); /* 1.5 x 8 GPUs: nothing comes after who reaches it */
        asked += mixed_milli[job->trace_id];
        assert_int_equal(job_gpu_milli(job), mixed_milli[job->trace_id]);
        assert_int_equal(job->submit, S((time_ns)i));
        assert_int_equal(job->submit + read.truths[i].duration, S((time_ns)read.count));
        assert_int_equal(read.truths[i].outcome, OUTCOME_COMPLETED);
        assert_true(job->limit == TIME_NEVER && job->estimate == TIME_NEVER);
        assert_true(job->deadline == TIME_NEVER && job->after_count == 0);
        assert_true(job->array == 0 && job->array_max == 0);
    }
    assert_int_equal(seen, 0x3e);
    assert_true(asked >= 12000);
    assert_int_equal(read.facts.job_count, read.count);
    assert_true(read.facts.is_filling);
    assert_int_equal(read.facts.last_submit, S((time_ns)read.count - 1));
    trace_case_release(&read);
    cluster_free(cluster);
}

TEST(test_a_trace_without_fill_is_not_filling)
{
    struct workload_spec spec = {.format = "native"};
    struct trace_case read = trace_case_read(MIXED, &spec, NULL);
    assert_false(read.facts.is_filling);
    assert_int_equal(read.count, 5);
    trace_case_release(&read);
}

TEST(test_intervals)
{
    struct cluster *cluster = cluster_uniform_new(1, 2);
    struct workload_spec spec = native;
    spec.fill.interval = 1500 * TIME_NS_PER_MS;
    struct trace_case read = trace_case_read("job_id,submit_s,duration_s,gpus\n1,0,7,1\n", &spec, cluster);
    assert_int_equal(read.count, 3); /* 3 of 2 GPUs are 1.5 */
    assert_int_equal(read.jobs[1].submit, 1500 * TIME_NS_PER_MS);
    assert_int_equal(read.jobs[2].submit, S(3));
    assert_int_equal(read.truths[0].duration, 4500 * TIME_NS_PER_MS);
    assert_int_equal(read.truths[2].duration, 1500 * TIME_NS_PER_MS);
    assert_true(read.facts.recorded.all.asked_gpu_s == 4.5 + 3 + 1.5);
    trace_case_release(&read);
    cluster_free(cluster);
}

TEST(test_a_trace_that_asks_more_is_cut)
{
    struct cluster *cluster = cluster_uniform_new(1, 2);
    struct trace_case read = trace_case_read(
        "job_id,submit_s,duration_s,gpus\n1,0,7,1\n2,0,7,1\n3,0,7,1\n4,0,7,1\n5,0,7,1\n", &native, cluster);
    unsigned seen = 0;
    assert_int_equal(read.count, 3);
    for (uint32_t i = 0; i < 3; i++)
        seen |= 1U << read.jobs[i].trace_id;
    assert_int_equal(__builtin_popcount(seen), 3);
    trace_case_release(&read);
    cluster_free(cluster);
}

/* 1.3 x 3 is above 3.9 in binary, and 39 jobs of a tenth reach it all the same. */
TEST(test_decimal_loads_ask_for_no_further_job)
{
    struct cluster *cluster = cluster_uniform_new(1, 3);
    struct workload_spec spec = native;
    spec.fill.load = 1.3;
    assert_true(spec.fill.load * 3 * 1000 > 3900);
    struct trace_case read =
        trace_case_read("job_id,submit_s,duration_s,gpus,gpu_fraction\n1,0,7,1,0.1\n", &spec, cluster);
    assert_int_equal(read.count, 39);
    trace_case_release(&read);
    cluster_free(cluster);
}

/* Memory counts by its share of the GPU, not as a whole one. */
TEST(test_pieces_count_by_the_cluster)
{
    struct cluster *cluster = cluster_uniform_new(1, 1);
    char text[128];
    snprintf(text, sizeof text, "job_id,submit_s,duration_s,gpus,gpu_memory_gb\n1,0,1,1,%u\n",
             cluster->models[0].memory_mib / 4 / 1024);
    struct trace_case read = trace_case_read(text, &native, cluster);
    assert_int_equal(read.count, 6);
    trace_case_release(&read);
    cluster_free(cluster);
}

TEST(test_pods_without_times)
{
    struct cluster *cluster = cluster_uniform_new(1, 2);
    struct workload_spec spec = native;
    spec.format = "openb";
    struct trace_case read =
        trace_case_read("name,cpu_milli,memory_mib,num_gpu,gpu_milli\npod,1000,1024,1,500\n", &spec, cluster);
    assert_int_equal(read.count, 6);
    assert_string_equal(read.jobs[5].name, "pod");
    trace_case_release(&read);
    cluster_free(cluster);
}

/* Longer than what is kept of traces that are replayed. */
TEST(test_long_traces_are_held)
{
    enum { JOBS = 265000 };
    char path[] = "/tmp/fill-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    struct workload_spec spec = native;
    struct cluster *cluster = cluster_uniform_new(1, 1);
    struct job_source *source;
    assert_non_null(file);
    fputs("job_id,submit_s,duration_s,gpus,gpu_fraction\n", file);
    for (int i = 0; i < JOBS; i++)
        fprintf(file, "%d,%d,1,1,0.001\n", i, i);
    fclose(file);
    spec.trace = path;
    spec.fill.load = JOBS / 1000.0; /* each of them once */
    assert_false(error_is(job_source_open(&source, &spec, cluster, 1)));
    assert_int_equal(job_source_facts(source)->job_count, JOBS);
    job_source_close(source);
    unlink(path);
    cluster_free(cluster);
}

TEST(test_refusals)
{
    struct cluster *cluster = cluster_uniform_new(1, 2), *bare = cluster_uniform_new(1, 0);
    struct workload_spec spec = native;
    const char *cpus = "job_id,submit_s,duration_s,gpus,cpus\n1,0,7,0,4\n2,0,7,0,8\n",
               *gpus = "job_id,submit_s,duration_s,gpus\n1,0,7,1\n";
    trace_case_refused(cpus, &spec, cluster, 0, 0, "none of its jobs asks for a GPU");
    trace_case_refused(gpus, &spec, bare, 0, 0, "the cluster has no GPUs");
    trace_case_refused(gpus, &spec, NULL, 0, 0, "the cluster has no GPUs");
    trace_case_refused("job_id,submit_s,duration_s,gpus\n", &spec, cluster, 0, 0, "holds no jobs");
    spec.fill.interval = INT64_MAX / 2 - 1; /* the third job would end past the end of time */
    trace_case_refused(gpus, &spec, cluster, 0, 0, "more than 2 jobs");
    cluster_free(cluster);
    cluster_free(bare);
}

/* ---- Chance ------------------------------------------------------------------------------------ */

enum { HELD_JOBS = 3, SEEDS = 6000 };

static void hold_jobs(struct held *held)
{
    struct job job = job_default();
    struct job_truth truth = {.outcome = OUTCOME_COMPLETED};
    job.first.request.gpus = 1;
    for (job.trace_id = 0; job.trace_id < HELD_JOBS; job.trace_id++)
        held_add(held, &job, &truth);
}

/* Which jobs come, as a number of the base HELD_JOBS, the first one first. */
static unsigned order_of(const struct held *held, const struct cluster *cluster, double load, uint64_t seed)
{
    const struct fill_plan plan = {.load = load, .interval = S(1)};
    struct fill fill;
    struct job job;
    struct job_truth truth;
    unsigned order = 0;
    assert_false(error_is(fill_begin(&fill, held, cluster, &plan, "held", seed)));
    while (fill_next(&fill, &job, &truth))
        order = order * HELD_JOBS + (unsigned)job.trace_id;
    fill_release(&fill);
    return order;
}

/* Two jobs more than the trace has: 6 orders of the three, and 9 of what follows, each 1/54 of the seeds.  Chi square
 * of 53 degrees of freedom is below 90.6 but once in 1,000; seeds are fixed. */
TEST(test_all_orders_are_equally_likely)
{
    enum { ORDERS = 243, POSSIBLE = 54 };
    struct cluster *cluster = cluster_uniform_new(1, 5);
    struct held held = {0};
    unsigned counts[ORDERS] = {0}, possible = 0;
    double chi_square = 0, expected = (double)SEEDS / POSSIBLE;
    hold_jobs(&held);
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        counts[order_of(&held, cluster, 1, seed)]++;
    for (unsigned order = 0; order < ORDERS; order++) {
        unsigned a = order / 81, b = order / 27 % 3, c = order / 9 % 3;
        bool is_possible = a != b && b != c && a != c;
        possible += is_possible;
        assert_true(is_possible || counts[order] == 0);
        if (is_possible)
            chi_square += (counts[order] - expected) * (counts[order] - expected) / expected;
    }
    assert_int_equal(possible, POSSIBLE);
    assert_true(chi_square < 90.6);
    held_release(&held);
    cluster_free(cluster);
}

TEST(test_the_seed_says_the_order)
{
    struct cluster *cluster = cluster_uniform_new(1, 16);
    struct held held = {0};
    hold_jobs(&held);
    assert_int_equal(order_of(&held, cluster, 1, 7), order_of(&held, cluster, 1, 7));
    assert_int_not_equal(order_of(&held, cluster, 1, 7), order_of(&held, cluster, 1, 8));
    /* more load asks for more jobs behind the same ones */
    assert_int_equal(order_of(&held, cluster, 0.5, 7), order_of(&held, cluster, 1, 7) / 6561); /* 3 to the power of 8 */
    held_release(&held);
    cluster_free(cluster);
}
