/* tests/unit/test_result.c -- result.json: valid, stable, readable again. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/support/test.h"
#include <jansson.h>

#include "reports/result.h"
#include "tests/support/fake_run.h"

static const char *const nasty_names[] = {"plain",     "with \"quotes\"", "back\\slash",
                                          "</script>", "\xff\xfe",        "new\nline"};

static const char *const arguments[] = {"run", "it's", "--set", "a=\"b\"", NULL};
static const struct result_input inputs[] = {
    {.role = "trace", .name = "jobs \"x\".csv", .digest = "00112233445566778899aabbccddeeff"}};
static const struct result_manifest manifest = {
    .version = "0.1.0",
    .seed = 42,
    .fingerprint = "0123456789abcdef",
    .inputs = inputs,
    .input_count = 1,
    .workload = {.load_gpus = 4000, .gpu_h_per_day = 86645.76, .arrival_factor = 1.25, .duration_factor = 1.5},
    .scenario_json = "{\"a\":[1,2.5,0.1],\"b\":{\"c\":null,\"d\":true}}",
};

static struct metrics *make_metrics(uint32_t jobs)
{
    struct fake_run run = {.jobs = jobs,
                           .gpus = 64,
                           .queues = 6,
                           .seed = 2,
                           .load = 0.9,
                           .warmup_s = 0.5,
                           .price_usd_per_gpu_h = 2.1,
                           .queue_names = nasty_names};
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    fake_run_feed(&run, &sink);
    metrics_finish(metrics);
    return metrics;
}

static json_t *parse(struct buffer *text)
{
    json_error_t error;
    json_t *root = json_loadb(text->bytes, text->length, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    return root;
}

static double number_at(json_t *root, const char *const *path)
{
    for (; *path != NULL; path++)
        root = json_object_get(root, *path);
    assert_true(json_is_number(root));
    return json_number_value(root);
}

TEST(it_is_json_and_holds_what_was_given)
{
    struct metrics *metrics = make_metrics(2000);
    struct buffer text = {0};
    result_text(&manifest, metrics, &(struct result_host){.system = "<here>", .wall_s = 1.5}, &text);
    json_t *root = parse(&text);
    assert_int_equal(number_at(root, (const char *[]){"schema_version", NULL}), 3);
    assert_int_equal(number_at(root, (const char *[]){"manifest", "seed", NULL}), 42);
    assert_int_equal(number_at(root, (const char *[]){"facts", "gpus", NULL}), 64);
    assert_true(number_at(root, (const char *[]){"host", "wall_s", NULL}) == 1.5);
    size_t count;
    const struct metric *all = metrics_all(metrics, &count);
    json_t *written = json_object_get(root, "metrics");
    for (size_t i = 0; i < count; i++) {
        json_t *metric = json_object_get(written, all[i].name);
        if (!isfinite(all[i].value)) {
            assert_null(metric);
            continue;
        }
        assert_true(number_at(metric, (const char *[]){"value", NULL}) == all[i].value);
        assert_string_equal(json_string_value(json_object_get(metric, "unit")), all[i].unit);
        const char *better = json_string_value(json_object_get(metric, "better"));
        assert_string_equal(better, all[i].better == BETTER_LOWER    ? "lower"
                                    : all[i].better == BETTER_HIGHER ? "higher"
                                                                     : "neither");
    }
    const char *path[] = {"by", "queue", "with \"quotes\"", "jobs_submitted", "value", NULL};
    assert_true(number_at(root, path) > 10);
    json_decref(root);
    buffer_release(&text);
    metrics_free(metrics);
}

TEST(keys_stand_in_their_order)
{
    static const char *const order[] = {"schema_version", "manifest", "facts", "metrics", "by", "host"};
    struct metrics *metrics = make_metrics(200);
    struct buffer text = {0};
    result_text(&manifest, metrics, NULL, &text);
    json_t *root = parse(&text);
    size_t i = 0;
    for (void *at = json_object_iter(root); at != NULL; at = json_object_iter_next(root, at))
        assert_string_equal(json_object_iter_key(at), order[i++]);
    assert_int_equal(i, 6);
    json_decref(root);
    buffer_release(&text);
    metrics_free(metrics);
}

TEST(only_host_depends_on_the_host)
{
    struct metrics *metrics = make_metrics(500), *again = make_metrics(500);
    struct buffer here = {0}, there = {0};
    result_text(&manifest, metrics, &(struct result_host){.system = "A", .wall_s = 1}, &here);
    result_text(&manifest, again, &(struct result_host){.compiler = "B", .cpu_s = 2}, &there);
    const char *host = strstr(buffer_c_string(&here), "\"host\"");
    size_t length = (size_t)(host - here.bytes);
    assert_true(length < there.length);
    assert_memory_equal(here.bytes, there.bytes, length);
    assert_string_not_equal(host, buffer_c_string(&there) + length);
    buffer_release(&here);
    buffer_release(&there);
    metrics_free(metrics);
    metrics_free(again);
}

static void ok(struct error error)
{
    if (error_is(error))
        fail_msg("%s", error_message(&error));
}

TEST(what_is_written_is_read)
{
    char folder[] = "/tmp/windtunnel-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    struct metrics *metrics = make_metrics(500);
    static const uint64_t seeds[] = {0, 7, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    for (size_t s = 0; s < sizeof seeds / sizeof seeds[0]; s++) {
        struct result_manifest given = manifest;
        given.seed = seeds[s];
        struct result_host host = {
            .arguments = arguments, .system = "A \"B\"", .wall_s = 0.1, .memory_peak_bytes = 12345};
        ok(result_write(folder, &given, metrics, &host));
        struct result result;
        ok(result_read(&result, folder));
        assert_true(result.manifest.seed == seeds[s]);
        assert_string_equal(result.manifest.scenario_json, manifest.scenario_json);
        assert_string_equal(result.host.arguments[3], "a=\"b\"");
        assert_null(result.host.arguments[4]);
        assert_int_equal(result.manifest.input_count, 1);
        assert_int_equal(result.manifest.workload.load_gpus, 4000);
        assert_true(result.manifest.workload.gpu_h_per_day == 86645.76 &&
                    result.manifest.workload.arrival_factor == 1.25 && result.manifest.workload.duration_factor == 1.5);
        assert_string_equal(result.facts.model_names[1], fake_run_models[1]);
        assert_true(result.facts.end == metrics_facts(metrics)->end); /* to the nanosecond */
        assert_true(result.facts.warmup == 500000000);
        assert_true(result.facts.price_usd_per_gpu_h == 2.1);
        struct buffer before = {0}, after = {0};
        result_text(&given, metrics, &host, &before);
        result_text(&result.manifest, metrics, &result.host, &after);
        assert_string_equal(buffer_c_string(&before), buffer_c_string(&after));
        buffer_release(&before);
        buffer_release(&after);
        result_release(&result);
    }
    metrics_free(metrics);
    snprintf(path, sizeof path, "%s/" RESULT_FILE, folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

TEST(a_folder_that_is_not_there_is_an_error)
{
    struct metrics *metrics = make_metrics(50);
    struct error error = result_write("/nonexistent/folder", &manifest, metrics, NULL);
    assert_int_equal(error.kind, ERROR_IO);
    error_release(&error);
    metrics_free(metrics);
}
