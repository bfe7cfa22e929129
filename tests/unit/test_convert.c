
#include "tests/support/test.h"

#include "tests/support/scratch.h"
#include "tests/support/trace_case.h"
#include "workloads/readers/convert.h"

enum target { TO_NATIVE, TO_SWF };

static struct job_source *source_of(const struct workload_spec *spec, const struct cluster *cluster)
{
    struct job_source *source;
    struct error error = job_source_open(&source, spec, cluster, 1);
    assert_false(error_is(error));
    job_source_keep_arrivals(source);
    return source;
}

static void convert(struct job_source *source, const struct cluster *cluster, enum target target, const char *path,
                    struct reason_tally *lost)
{
    struct output *output;
    struct error error = output_open(&output, path, OUTPUT_PLAIN);
    assert_false(error_is(error));
    error = target == TO_NATIVE ? convert_native(source, cluster, &(struct convert_form){0}, output, lost)
                                : convert_swf(source, cluster, output, lost);
    assert_false(error_is(error));
    error = output_commit(&output);
    assert_false(error_is(error));
}

/* Nothing is lost: what is read back has the arrivals of the original (a hash of all declarations, run times and ends,
 * workloads/readers/freeze.h). */
static void check_native(const struct workload_spec *spec, const struct cluster *cluster)
{
    struct job job;
    struct job_truth truth;
    bool has = true;
    struct reason_tally lost = {0};
    const char *path = scratch_path("converted.csv");
    struct job_source *source = source_of(spec, cluster);
    convert(source, cluster, TO_NATIVE, path, &lost);
    for (uint32_t i = 0; i < lost.reason_count; i++) /* the cluster has no GPU models with names */
        assert_non_null(strstr(lost.reasons[i].why, "names of GPU models"));
    const struct workload_spec again = {.trace = path, .format = "native", .gpus_per_node = 8};
    struct job_source *back = source_of(&again, cluster);
    while (has) {
        struct error error = job_source_next(back, &job, &truth, &has);
        assert_false(error_is(error));
    }
    assert_int_equal(job_source_facts(back)->job_count, job_source_facts(source)->job_count);
    assert_true(job_source_arrivals(back) == job_source_arrivals(source));
    job_source_close(back);
    job_source_close(source);
}

TEST(test_native_keeps_all_that_it_can_say)
{
    static const char *const samples[] = {"native.csv", "philly.csv",      "openb_pods.csv",
                                          "helios.csv", "trace_seren.csv", "trace_kalos.csv",
                                          "muri.csv",   "chronus.csv",     "philly_log.json"};
    struct cluster *cluster = cluster_uniform_new(100, 8);
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        char path[128] = "workloads/samples/";
        const struct workload_spec spec = {.trace = strcat(path, samples[i]), .gpus_per_node = 8};
        check_native(&spec, cluster);
    }
    cluster_free(cluster);
}

TEST(test_real_traces)
{
    static const char *const traces[] = {"philly/philly_jobs.csv.zst", "openb/openb_pod_list_default.csv.zst"};
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        const char *path = trace_real(traces[i]);
        if (path == NULL)
            skip();
        struct cluster *cluster = cluster_uniform_new(100, 8);
        const struct workload_spec spec = {.trace = path, .gpus_per_node = 8};
        check_native(&spec, cluster);
        cluster_free(cluster);
    }
}

TEST(test_what_native_cannot_say_is_counted)
{
    static const char text[] =
        "{'job_id': 1, 'submit_s': 0, 'duration_s': 1, 'gpus': 1, 'after': '', 'array': 'x'}\n"
        "{'job_id': 2, 'submit_s': 0, 'duration_s': 1, 'groups': [{'count': 1, 'gpus': 1}, {'count': 2, 'gpus': 2}]}\n"
        "{'job_id': 3, 'submit_s': 0, 'duration_s': 1, 'groups': [{'count': 2, 'gpu_fraction': 0.5}]}\n";
    struct reason_tally lost = {0};
    struct cluster *cluster = cluster_uniform_new(10, 8);
    const struct workload_spec spec = {.trace = scratch_write_json("jobs.jsonl", text), .format = "jsonl"};
    struct job_source *source = source_of(&spec, cluster);
    convert(source, cluster, TO_NATIVE, scratch_path("out.csv"), &lost);
    assert_int_equal(lost.count, 2);
    assert_int_equal(lost.reasons[0].count, 2); /* left out */
    job_source_close(source);
    cluster_free(cluster);
}

/* SWF keeps submissions, waits, run times, limits, outcomes and numbers of GPUs. */
TEST(test_swf)
{
    struct reason_tally lost = {0};
    struct job_source *source =
        source_of(&(struct workload_spec){.trace = "workloads/samples/sacct.txt", .gpus_per_node = 8}, NULL);
    convert(source, NULL, TO_SWF, scratch_path("out.swf"), &lost);
    struct workload_facts told = *job_source_facts(source);
    job_source_close(source);
    struct job first, job;
    struct job_truth first_truth, truth;
    bool has = true, has_first = true;
    const struct workload_spec spec = {.trace = scratch_path("out.swf"), .format = "swf", .processors_per_gpu = 1};
    source = source_of(&(struct workload_spec){.trace = "workloads/samples/sacct.txt", .gpus_per_node = 8}, NULL);
    struct job_source *back = source_of(&spec, NULL);
    while (true) {
        struct error error = job_source_next(source, &first, &first_truth, &has_first);
        assert_false(error_is(error));
        if (has_first && job_gpu_milli(&first) == 0)
            continue; /* left out, and counted */
        error = job_source_next(back, &job, &truth, &has);
        assert_false(error_is(error));
        assert_int_equal(has, has_first);
        if (!has)
            break;
        assert_true(job.submit == first.submit && truth.duration == first_truth.duration && job.limit == first.limit);
        assert_true(truth.recorded_wait == first_truth.recorded_wait);
        assert_int_equal(truth.outcome, first_truth.outcome);
        assert_true(job_gpu_milli(&job) == job_gpu_milli(&first));
    }
    assert_int_equal(job_source_facts(back)->job_count + 1, told.job_count);
    job_source_close(back);
    job_source_close(source);
}

TEST_GROUP(scratch_make, scratch_remove)
