/* by.arrived_pct: how full the cluster is when that part of it has been asked. */
#include "tests/support/test.h"

#include "reports/metrics_inside.h"
#include "reports/result.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define S(seconds) ((seconds)*TIME_NS_PER_S)

/* Fill the cluster with the trace's jobs and take the metrics. */
static struct metrics *metrics_of(const char *text, const struct run_setup *setup, double load)
{
    struct workload_spec spec = {.trace = scratch_write("jobs.csv", text, strlen(text)),
                                 .format = "native",
                                 .fill = {.load = load, .interval = S(1)}};
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    struct job_source *source;
    assert_false(error_is(job_source_open(&source, &spec, setup->cluster, 1)));
    run_source(setup, source, &sink);
    metrics_finish(metrics);
    return metrics;
}

/* The rows from `from` to `to` percent all say this. */
static void check_rows(const struct metrics *metrics, uint32_t from, uint32_t to, double ratio)
{
    const struct arrived_row *rows = metrics->arrived;
    assert_true(to <= metrics->arrived_count);
    for (uint32_t percent = from; percent <= to; percent++) {
        assert_int_equal(rows[percent - 1].percent, percent);
        assert_true(rows[percent - 1].allocation_ratio == ratio);
    }
}

static void check_count(const struct metrics *metrics, size_t expected)
{
    assert_int_equal(metrics->arrived_count, expected);
}

static struct run_setup open_setup(uint32_t nodes, uint16_t gpus)
{
    struct run_setup setup = run_setup_default(cluster_uniform_new(nodes, gpus));
    setup.world.queue_limit = 0;
    return setup;
}

static void close_setup(struct run_setup *setup, struct metrics *metrics)
{
    metrics_free(metrics);
    cluster_free((struct cluster *)(uintptr_t)setup->cluster);
}

/* Two GPUs, jobs of half a one: each is a quarter of what there is.  From the fifth on they are dropped, and count. */
TEST(test_shares)
{
    struct run_setup setup = open_setup(1, 2);
    struct metrics *metrics = metrics_of("job_id,submit_s,duration_s,gpus,gpu_fraction\n1,0,1,1,0.5\n", &setup, 1.5);
    check_count(metrics, 150);
    check_rows(metrics, 1, 25, 0.25);
    check_rows(metrics, 26, 50, 0.5);
    check_rows(metrics, 51, 75, 0.75);
    check_rows(metrics, 76, 150, 1);
    assert_true(metrics_value(metrics, "jobs_rejected") == 2);
    close_setup(&setup, metrics);
}

/* Four GPUs on a node: of jobs of three the second is dropped.  With 6 of 4 asked, 150 %. */
TEST(test_what_does_not_fit)
{
    struct run_setup setup = open_setup(1, 4);
    struct metrics *metrics = metrics_of("job_id,submit_s,duration_s,gpus,nodes\n1,0,1,3,1\n", &setup, 1.1);
    check_count(metrics, 150);
    check_rows(metrics, 1, 150, 0.75);
    close_setup(&setup, metrics);
}

/* Three GPUs, so that a job is 33 1/3 %: its 34th percent has not come with it. */
TEST(test_percents_are_whole)
{
    struct run_setup setup = open_setup(1, 3);
    struct metrics *metrics = metrics_of("job_id,submit_s,duration_s,gpus\n1,0,1,1\n", &setup, 0.67);
    check_count(metrics, 100);
    check_rows(metrics, 1, 33, 1.0 / 3);
    check_rows(metrics, 34, 66, 2.0 / 3);
    check_rows(metrics, 67, 100, 1);
    close_setup(&setup, metrics);
}

/* With a cycle every two seconds the jobs of 1 s and 2 s are seen by the same one. */
TEST(test_after_the_cycle)
{
    struct run_setup setup = open_setup(1, 4);
    setup.world.queue_limit = -1;
    setup.world.scheduler_period = S(2);
    struct metrics *metrics = metrics_of("job_id,submit_s,duration_s,gpus\n1,0,1,1\n", &setup, 0.75);
    check_count(metrics, 75);
    check_rows(metrics, 1, 25, 0.25);
    check_rows(metrics, 26, 75, 0.75);
    close_setup(&setup, metrics);
}

TEST(test_other_workloads_have_none)
{
    struct run_setup setup = open_setup(1, 4);
    struct metrics *metrics = metrics_of("job_id,submit_s,duration_s,gpus\n1,0,1,1\n", &setup, 0);
    struct buffer text = {0};
    check_count(metrics, 0);
    metrics_write_json(metrics, &text);
    assert_null(strstr(buffer_c_string(&text), METRICS_ARRIVED));
    buffer_release(&text);
    close_setup(&setup, metrics);
}

TEST(test_result_json_gives_them_back)
{
    struct run_setup setup = open_setup(1, 3);
    struct metrics *metrics = metrics_of("job_id,submit_s,duration_s,gpus\n1,0,1,1\n", &setup, 1);
    const struct result_manifest manifest = {.version = "0", .fingerprint = "0"};
    struct result result;
    assert_false(error_is(result_write(scratch_path(""), &manifest, metrics, NULL)));
    assert_false(error_is(result_read(&result, scratch_path(""))));
    assert_int_equal(result.arrived_count, metrics->arrived_count);
    assert_memory_equal(result.arrived, metrics->arrived, metrics->arrived_count * sizeof *metrics->arrived);
    result_release(&result);
    close_setup(&setup, metrics);
}

#define ARRIVED "\"" METRICS_ARRIVED "\": {\n"
#define FIRST   ARRIVED "  \"1\": {"

/* result.json with the first `from` in it turned into `to` is refused. */
static void refused(const char *from, const char *to, const char *says)
{
    struct buffer good = scratch_read(RESULT_FILE), bad = {0};
    const char *text = buffer_c_string(&good), *at = strstr(text, from);
    struct result result;
    assert_non_null(at);
    buffer_bytes(&bad, text, (size_t)(at - text));
    buffer_string(&bad, to);
    buffer_string(&bad, at + strlen(from));
    scratch_write(RESULT_FILE, bad.bytes, bad.length);
    struct error error = result_read(&result, scratch_path(""));
    assert_int_equal(error.kind, ERROR_DATA);
    if (strstr(error_message(&error), says) == NULL)
        fail_msg("wanted '%s' in: %s", says, error_message(&error));
    error_release(&error);
    scratch_write(RESULT_FILE, good.bytes, good.length);
    buffer_release(&good);
    buffer_release(&bad);
}

TEST(test_a_result_that_makes_no_sense_is_refused)
{
    struct run_setup setup = open_setup(1, 3);
    struct metrics *metrics = metrics_of("job_id,submit_s,duration_s,gpus\n1,0,1,1\n", &setup, 1);
    const struct result_manifest manifest = {.version = "0", .fingerprint = "0"};
    assert_false(error_is(result_write(scratch_path(""), &manifest, metrics, NULL)));
    refused(FIRST, ARRIVED "  \"102\": {", "the percents from 1 on, in order");
    refused(FIRST, ARRIVED "  \"first\": {", "the percents from 1 on, in order");
    refused(FIRST "\n   \"allocation_ratio\"", FIRST "\n   \"other\"", "'allocation_ratio' is missing");
    refused(ARRIVED, "\"" METRICS_ARRIVED "\": 7, \"rest\": {\n", "must be an object");
    close_setup(&setup, metrics);
}

TEST_GROUP(scratch_make, scratch_remove)
