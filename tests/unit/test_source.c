#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/support/test.h"

#include "base/hash.h"
#include "tests/support/json_text.h"
#include "tests/support/trace_case.h"
#include "workloads/readers/reader.h"
#include "workloads/synth/synth.h"

#define HEADER "job_id,submit_s,duration_s,gpus\n"

static const struct workload_spec native = {.format = "native"};

TEST(test_sorts_and_numbers)
{
    struct trace_case read = trace_case_read(HEADER "10,30,1,1\nb,20,1,1\n30,20,1,1\n40,25,1,1\n", &native, NULL);
    static const int seconds[] = {0, 0, 5, 10};
    assert_int_equal(read.count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(read.jobs[i].submit == seconds[i] * TIME_NS_PER_S);
    assert_string_equal(read.jobs[0].name, "b"); /* equal times keep the file's order */
    assert_int_equal(read.jobs[1].trace_id, 30);
    assert_int_equal(read.jobs[3].trace_id, 10);
    assert_true(read.facts.first_submit == 20 * TIME_NS_PER_S);
    assert_true(read.facts.last_submit == 30 * TIME_NS_PER_S);
    trace_case_release(&read);
}

TEST(test_window)
{
    const char *text = HEADER "1,5,1,1\n2,10,1,1\n3,14.5,1,1\n4,20,1,1\n";
    struct workload_spec spec = native;
    spec.window_from = 10 * TIME_NS_PER_S;
    spec.window_to = 20 * TIME_NS_PER_S;
    struct trace_case read = trace_case_read(text, &spec, NULL);
    assert_int_equal(read.count, 2); /* from <= submit < to */
    assert_int_equal(read.jobs[0].trace_id, 2);
    assert_true(read.jobs[0].submit == 0);
    assert_true(read.jobs[1].submit == 4500 * TIME_NS_PER_MS);
    trace_case_release(&read);
    spec.window_from = 7 * TIME_NS_PER_S;
    read = trace_case_read(text, &spec, NULL);
    assert_true(read.jobs[0].submit == 3 * TIME_NS_PER_S); /* 0 is where the window begins */
    trace_case_release(&read);
    spec.window_from = 100 * TIME_NS_PER_S;
    spec.window_to = 200 * TIME_NS_PER_S;
    trace_case_refused(text, &spec, NULL, 0, 0, "no jobs in the window");
}

/* 100 s of 4 GPUs in 20 s of 10 GPUs are a load of 2. */
TEST(test_load)
{
    const char *text = HEADER "1,100,50,4\n2,104,10,16\n3,104,10,4\n4,120,0,1\n";
    struct cluster *cluster = cluster_uniform_new(5, 2);
    struct workload_spec spec = native;
    struct trace_case read = trace_case_read(text, &spec, cluster);
    assert_true(read.facts.recorded.all.asked_gpu_s == 400);
    assert_true(read.facts.recorded.ratio == 2);
    assert_true(read.facts.arrival_factor == 1);
    trace_case_release(&read);
    spec.load = 0.8;
    read = trace_case_read(text, &spec, cluster);
    assert_true(fabs(read.facts.arrival_factor - 2.5) < 1e-12);
    assert_true(read.jobs[1].submit == 10 * TIME_NS_PER_S);
    assert_true(read.jobs[2].submit == read.jobs[1].submit);
    assert_true(read.jobs[3].submit == 50 * TIME_NS_PER_S);
    assert_true(read.truths[0].duration == 50 * TIME_NS_PER_S);
    trace_case_release(&read);
    spec.duration_scale = 0.5; /* halves the work, hence the factor */
    read = trace_case_read(text, &spec, cluster);
    assert_true(read.facts.recorded.all.asked_gpu_s == 200);
    assert_true(fabs(read.facts.arrival_factor - 1.25) < 1e-12);
    assert_true(read.truths[0].duration == 25 * TIME_NS_PER_S);
    trace_case_release(&read);
    trace_case_refused(HEADER "1,5,10,1\n2,5,10,1\n", &spec, cluster, 0, 0, "cannot be scaled");
    trace_case_refused(HEADER "1,5,0,1\n2,9,0,1\n", &spec, cluster, 0, 0, "cannot be scaled");
    trace_case_refused(text, &spec, NULL, 0, 0, "cannot be scaled");
    cluster_free(cluster);
}

TEST(test_duration_scale_takes_limits_along)
{
    struct workload_spec spec = native;
    spec.duration_scale = 3;
    struct trace_case read =
        trace_case_read("job_id,submit_s,duration_s,gpus,limit_s\n1,0,10.5,1,60\n2,0,1,1,\n", &spec, NULL);
    assert_true(read.truths[0].duration == 31500 * TIME_NS_PER_MS);
    assert_true(read.jobs[0].limit == 180 * TIME_NS_PER_S);
    assert_true(read.jobs[1].limit == TIME_NEVER);
    trace_case_release(&read);
}

TEST(test_pieces_count_by_the_cluster)
{
    struct cluster *cluster = cluster_uniform_new(1, 1);
    uint32_t quarter_gb = cluster->models[0].memory_mib / 4 / 1024;
    char text[256];
    snprintf(text, sizeof text,
             "job_id,submit_s,duration_s,gpus,gpu_memory_gb,gpu_fraction\n1,0,100,1,%u,\n2,1,10,1,,"
             "0.5\n",
             quarter_gb);
    struct trace_case read = trace_case_read(text, &native, cluster);
    assert_true(read.facts.recorded.all.asked_gpu_s == 30);
    trace_case_release(&read);
    cluster_free(cluster);
}

/* ---- Long traces: not held, read twice --------------------------------------------------------- */

enum { LONG_JOBS = 265001 }; /* more than are held; the last has a number for a name */

static void long_trace_write(const char *path, bool is_sorted)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(HEADER, file);
    for (int i = 0; i < LONG_JOBS; i++) {
        int submit = is_sorted || i != LONG_JOBS - 1 ? i / 2 : 0;
        fprintf(file, "%s%d,%d,%d,%d\n", i % 3 == 0 ? "name-" : "", i, submit, i % 100, 1 + i % 8);
    }
    assert_int_equal(fclose(file), 0);
}

static uint64_t long_trace_hash(const struct workload_spec *spec, const struct cluster *cluster,
                                int64_t *last_but_first)
{
    struct job_source *source;
    struct job job;
    struct job_truth truth;
    bool has = true;
    uint64_t hash = 0, count = 0;
    time_ns previous = 0;
    assert_false(error_is(job_source_open(&source, spec, cluster, 1)));
    while (true) {
        assert_false(error_is(job_source_next(source, &job, &truth, &has)));
        if (!has)
            break;
        assert_true(job.id == count && job.submit >= previous);
        previous = job.submit;
        if (count == 2)
            *last_but_first = job.trace_id;
        if (job.name != NULL)
            hash = hash_mix(hash, hash_bytes(job.name, strlen(job.name), 0));
        hash = hash_mix(hash, (uint64_t)job.submit ^ (uint64_t)job.trace_id);
        hash = hash_mix(hash, (uint64_t)truth.duration ^ (uint64_t)job_gpu_milli(&job));
        count++;
    }
    assert_int_equal(count, LONG_JOBS);
    assert_int_equal(job_source_facts(source)->job_count, LONG_JOBS);
    job_source_close(source);
    return hash;
}

TEST(test_long_traces_stream_or_sort)
{
    char path[] = "/tmp/trace-long-XXXXXX";
    struct cluster *cluster = cluster_uniform_new(4, 8);
    struct workload_spec spec = native;
    int64_t third = 0;
    close(mkstemp(path));
    spec.trace = path;
    long_trace_write(path, true);
    uint64_t streamed = long_trace_hash(&spec, cluster, &third);
    assert_int_equal(third, 2);
    assert_true(streamed == long_trace_hash(&spec, cluster, &third));
    spec.load = 0.5;
    assert_true(streamed != long_trace_hash(&spec, cluster, &third));
    spec.load = 0;
    long_trace_write(path, false);
    assert_true(streamed != long_trace_hash(&spec, cluster, &third));
    assert_int_equal(third, LONG_JOBS - 1); /* the last line comes third: its time is 0 */
    unlink(path);
    cluster_free(cluster);
}

/* ---- Formats, errors, synthesis ---------------------------------------------------------------- */

TEST(test_unknown_formats)
{
    struct workload_spec spec = {.format = NULL};
    struct workload_spec odd = {.format = "slurm", .trace = "workloads/samples/native.csv"};
    struct job_source *source;
    trace_case_refused("what,is,this\n1,2,3\n", &spec, NULL, 1, 0, "cannot be told");
    struct error error = job_source_open(&source, &odd, NULL, 1);
    assert_int_equal(error.kind, ERROR_CONFIG);
    assert_null(source);
    error_release(&error);
}

TEST(test_missing_file_and_folder)
{
    const char *const paths[] = {"workloads/samples/no-such-file.csv", "workloads/samples"};
    for (int i = 0; i < 2; i++) {
        struct workload_spec spec = {.trace = paths[i]};
        struct job_source *source;
        struct error error = job_source_open(&source, &spec, NULL, 1);
        assert_int_equal(error.kind, ERROR_IO);
        assert_null(source);
        error_release(&error);
    }
}

TEST(test_names_of_formats_agree)
{
    size_t count = 0;
    for (; trace_format_names[count] != NULL; count++)
        assert_string_equal(trace_format_names[count], trace_formats[count]->name);
    assert_null(trace_formats[count]);
}

TEST(test_synthesized_source)
{
    static const char json[] = "{'synth': {'jobs': 5000, 'load_whole_gpu': 0.5, 'classes': [{'share': 1, "
                               "'sizes': [{'gpus': 2, 'nodes': 1}], 'run_time': {'distribution': 'constant', "
                               "'mean': 60}}]}}";
    struct workload_spec spec;
    struct json_doc *doc;
    struct job_source *source;
    struct job job;
    struct job_truth truth;
    bool has = true;
    struct cluster *cluster = cluster_uniform_new(10, 8);
    assert_false(error_is(json_text_read(&doc, "test", json)));
    struct error error = ERROR_OK;
    struct json_value root = json_doc_root(doc, &error);
    workload_read(&spec, &root, NULL);
    assert_false(error_is(error));
    assert_false(error_is(job_source_open(&source, &spec, cluster, 3)));
    for (uint32_t id = 0;; id++) {
        assert_false(error_is(job_source_next(source, &job, &truth, &has)));
        if (!has)
            break;
        assert_int_equal(job.id, id);
        assert_null(job_complaint(&job));
    }
    const struct workload_facts *facts = job_source_facts(source);
    assert_int_equal(facts->job_count, 5000);
    assert_true(facts->recorded.all.asked_gpu_s == 5000 * 120);
    assert_true(fabs(facts->recorded.ratio - 0.5) < 0.04); /* 5 sigma of the span of 5,000 arrivals */
    assert_string_equal(facts->digest, "");
    assert_string_equal(facts->format, "synth");
    job_source_close(source);
    error = job_source_open(&source, &spec, NULL, 3);
    assert_int_equal(error.kind, ERROR_CONFIG);
    error_release(&error);
    workload_release(&spec);
    json_doc_free(doc);
    cluster_free(cluster);
}
