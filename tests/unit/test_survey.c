/* A survey of one reading in the order of the file is that of the sorted stream; its quantiles are those of sorting. */
#include "tests/support/test.h"
#include <inttypes.h>

#include "base/random.h"
#include "tests/support/scratch.h"
#include "workloads/readers/unit_question.h"

enum { JOBS_MAX = 3000 };

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Few different values, or many; in order, or not. */
static const char *some_trace(struct random_stream *stream, uint32_t jobs, uint32_t durations[])
{
    static const uint32_t bounds[] = {1, 2, 20, 1000000};
    const uint32_t bound = bounds[random_below(stream, 4)], disorder = random_below(stream, 3) * 100;
    struct buffer text = {0};
    buffer_string(&text, "job_id,submit_s,duration_s,gpus,wait_s\n");
    for (uint32_t j = 0; j < jobs; j++) {
        durations[j] = random_below(stream, bound);
        buffer_format(&text, "%u,%u.5,%u,%u,", j, 1000 + 3 * j + random_below(stream, 1 + disorder), durations[j],
                      1 + random_below(stream, 9));
        if (random_below(stream, 2) > 0)
            buffer_format(&text, "%u", random_below(stream, 100));
        buffer_char(&text, '\n');
    }
    const char *path = scratch_write("trace.csv", text.bytes, text.length);
    buffer_release(&text);
    return path;
}

static struct buffer survey_of(const char *path, bool is_scanned)
{
    struct workload_spec spec = {.trace = path, .format = "native", .gpus_per_node = 8};
    struct cluster *cluster = cluster_uniform_new(10, 8);
    struct survey survey = {0};
    struct job_source *source;
    struct buffer out = {0};
    offered_begin(&survey.offered, OFFERED_STREAM, cluster, TIME_NEVER);
    if (is_scanned)
        spec.scan = survey_listener(&survey);
    spec.is_scanned = is_scanned;
    struct error error = job_source_open(&source, &spec, cluster, 1);
    assert_false(error_is(error));
    if (is_scanned)
        survey_complete(&survey, job_source_facts(source));
    else
        error = survey_read(&survey, source);
    assert_false(error_is(error));
    survey_show(&survey, source, &out);
    survey_json(&survey, source, &out);
    survey_release(&survey);
    job_source_close(source);
    cluster_free(cluster);
    return out;
}

TEST(test_one_reading_tells_the_same)
{
    static const struct {
        const char *name;
        uint32_t percent;
    } quantiles[] = {{"p10", 10}, {"p50", 50}, {"p90", 90}, {"p99", 99}, {"max", 100}};
    uint32_t durations[JOBS_MAX];
    struct random_stream stream;
    random_stream_init(&stream, 77, "survey", 0);
    for (int i = 0; i < 60; i++) {
        const uint32_t jobs = 1 + random_below(&stream, i % 2 == 0 ? 10 : JOBS_MAX);
        const char *path = some_trace(&stream, jobs, durations);
        struct buffer scanned = survey_of(path, true), streamed = survey_of(path, false), expected = {0};
        assert_string_equal(buffer_c_string(&scanned), buffer_c_string(&streamed));
        qsort(durations, jobs, sizeof *durations, ascending);
        for (size_t q = 0; q < sizeof quantiles / sizeof quantiles[0]; q++)
            buffer_format(&expected, "  %s %.6g", quantiles[q].name,
                          (double)durations[(jobs * quantiles[q].percent + 99) / 100 - 1]);
        if (strstr(buffer_c_string(&scanned), buffer_c_string(&expected)) == NULL)
            fail_msg("the durations of %u jobs are not%s:\n%s", jobs, expected.bytes, scanned.bytes);
        buffer_release(&scanned);
        buffer_release(&streamed);
        buffer_release(&expected);
    }
}

/* Nothing is kept of a trace that is read for its facts. */
TEST(test_no_job_can_be_taken)
{
    uint32_t durations[JOBS_MAX];
    struct random_stream stream;
    struct job_source *source;
    struct job job;
    struct job_truth truth;
    bool has = true;
    random_stream_init(&stream, 78, "survey", 0);
    const struct workload_spec spec = {.trace = some_trace(&stream, 100, durations), .is_scanned = true};
    struct error error = job_source_open(&source, &spec, NULL, 1);
    assert_false(error_is(error));
    assert_int_equal(job_source_facts(source)->job_count, 100);
    error = job_source_next(source, &job, &truth, &has);
    assert_false(error_is(error) || has);
    error = job_source_check(source);
    assert_false(error_is(error));
    job_source_close(source);
}

/* The question about the unit of run times, if any: run times are read as seconds, from `jobs` jobs in this format. */
static void asks(const char *format, uint32_t jobs, uint32_t low_s, uint32_t high_s, const char *what)
{
    struct random_stream stream;
    struct buffer text = {0}, question = {0};
    struct survey survey = {0};
    struct job_source *source;
    random_stream_init(&stream, 79, "survey", 0);
    if (strcmp(format, "native") == 0)
        buffer_string(&text, "job_id,submit_s,duration_s,gpus\n");
    for (uint32_t j = 0; j < jobs; j++) {
        const uint32_t duration = low_s + random_below(&stream, high_s - low_s);
        buffer_format(&text,
                      strcmp(format, "native") == 0 ? "%u,%u,%u,1\n" : "%u %u 0 %u 1 0 0 1 -1 -1 1 1 1 1 1 1 -1 -1\n",
                      j + 1, j, duration);
    }
    const struct workload_spec spec = {.trace = scratch_write("units", text.bytes, text.length),
                                       .format = format,
                                       .processors_per_gpu = 1,
                                       .is_scanned = true,
                                       .scan = survey_listener(&survey)};
    struct error error = job_source_open(&source, &spec, NULL, 1);
    assert_false(error_is(error));
    survey_complete(&survey, job_source_facts(source));
    const bool has = unit_question(&survey, job_source_facts(source), &question);
    if (has != (what != NULL) || (has && strstr(buffer_c_string(&question), what) == NULL))
        fail_msg("%s, %u jobs from %u s to %u s: '%s'", format, jobs, low_s, high_s, buffer_c_string(&question));
    buffer_release(&text);
    buffer_release(&question);
    survey_release(&survey);
    job_source_close(source);
}

/* Run times of minutes that are read as seconds once gave a run without a queue, and nothing was said. */
TEST(test_a_doubtful_unit_is_asked_for)
{
    asks("native", 200, 1, 100, "minutes or hours");
    asks("native", 200, 1, 100000, NULL);
    asks("native", 200, 3600000, 36000000, "milliseconds");
    asks("native", 200, 100, 200, NULL); /* the median is above a minute */
    asks("native", 40, 1, 100, NULL);    /* a toy */
    asks("swf", 200, 1, 100, NULL);      /* its unit is defined */
}

TEST_GROUP(scratch_make, scratch_remove)
