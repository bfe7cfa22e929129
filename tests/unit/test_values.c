/* tests/unit/test_values.c -- the values of a run are those of its result.json, to the last bit. */
#include <math.h>

#include "tests/support/test.h"

#include "reports/values.h"
#include "tests/support/fake_run.h"
#include "tests/support/scratch.h"

static const struct arrived_row arrived[] = {
    {.percent = 1, .allocation_ratio = 1.0 / 3, .fragmentation_ratio = NAN},
    {.percent = 2, .allocation_ratio = 0.1, .fragmentation_ratio = 0.7},
};

static struct metrics *make_metrics(void)
{
    static const char *const queue_names[] = {"plain", "a/b", "with \"quotes\"", "ü", "new\nline", "1"};
    static const struct record_queue tree[] = {{"org", RECORD_QUEUE_ROOT}, {"team \"b\"", 0}, {"a/b", 0}, {"plain", 1},
                                               {"with \"quotes\"", 1},     {"ü", 1},          {"1", 0}};
    struct fake_run run = {.tree = tree,
                           .tree_count = sizeof tree / sizeof *tree,
                           .jobs = 3000,
                           .gpus = 64,
                           .queues = 6,
                           .seed = 7,
                           .load = 0.9,
                           .warmup_s = 0.5,
                           .price_usd_per_gpu_h = 2.1,
                           .communicates = true,
                           .rejected_every = 50,
                           .queue_names = queue_names};
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    for (size_t i = 0; i < sizeof arrived / sizeof *arrived; i++)
        assert_false(error_is(sink.on_arrived(sink.self, &arrived[i])));
    fake_run_feed(&run, &sink);
    metrics_finish(metrics);
    return metrics;
}

static void write_result(const struct metrics *metrics, struct buffer *out)
{
    const struct result_manifest manifest = {.version = "9.9.9",
                                             .seed = 7,
                                             .fingerprint = "0123456789abcdef",
                                             .arrivals = "fedcba9876543210",
                                             .scenario_json = "{\"seed\":7}"};
    result_text(&manifest, metrics, NULL, out);
}

static void assert_same(const struct values *a, const struct values *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct value *x = &a->list[i], *y = &b->list[i];
        assert_string_equal(x->of.metric, y->of.metric);
        assert_ptr_equal(x->metric, y->metric);
        assert_int_equal(x->of.cut == NULL, y->of.cut == NULL);
        if (x->of.cut != NULL) {
            assert_string_equal(x->of.cut, y->of.cut);
            assert_string_equal(x->of.key, y->of.key);
        }
        assert_memory_equal(&x->number, &y->number, sizeof x->number);
    }
}

TEST(folder_and_text_agree)
{
    struct metrics *metrics = make_metrics();
    struct buffer text = {0};
    struct values of_folder, of_text;
    write_result(metrics, &text);
    scratch_write(RESULT_FILE, text.bytes, text.length);
    struct error error = values_read(&of_folder, scratch_path(""));
    assert_string_equal(error_message(&error), "");
    error = values_read_text(&of_text, "text", (struct text){text.bytes, text.length});
    assert_false(error_is(error));
    assert_true(of_folder.count > 500);
    assert_same(&of_folder, &of_text);
    assert_int_equal(of_text.result.manifest.seed, 7);
    assert_string_equal(of_text.result.manifest.arrivals, "fedcba9876543210");
    values_release(&of_folder);
    values_release(&of_text);
    buffer_release(&text);
    metrics_free(metrics);
    scratch_empty();
}

/* Each value is the one that its selector names; every cut is there. */
TEST(each_is_what_it_says)
{
    struct metrics *metrics = make_metrics();
    struct buffer text = {0};
    struct values values;
    size_t whole = 0, of_percent = 0, of_models = 0, of_tenants = 0;
    write_result(metrics, &text);
    struct error error = values_read_text(&values, "text", (struct text){text.bytes, text.length});
    assert_string_equal(error_message(&error), "");
    for (size_t i = 0; i < values.count; i++) {
        const struct value *value = &values.list[i];
        if (value->of.cut != NULL && strcmp(value->of.cut, METRICS_ARRIVED) == 0) {
            of_percent++;
            continue;
        }
        if (value->of.cut != NULL && strcmp(value->of.cut, METRICS_MODELS_ASKED) == 0) {
            of_models++;
            continue;
        }
        const double expected = metric_selector_value(metrics, &value->of);
        assert_memory_equal(&value->number, &expected, sizeof expected);
        assert_true(isfinite(value->number));
        whole += value->of.cut == NULL;
        of_tenants += value->of.cut != NULL && strcmp(value->of.cut, "tenant") == 0 &&
                      strcmp(value->of.metric, "jobs_submitted") == 0;
    }
    size_t count, defined = 0;
    const struct metric *all = metrics_all(metrics, &count);
    for (size_t m = 0; m < count; m++)
        defined += isfinite(all[m].value) != 0;
    assert_int_equal(whole, defined);
    assert_int_equal(of_tenants, 4); /* "team "b"", "a/b", "1", and "new\nline", which is not in the tree */
    assert_int_equal(of_models, 4);  /* two metrics of two models */
    assert_int_equal(of_percent, 3); /* one of the four is not defined */
    values_release(&values);
    buffer_release(&text);
    metrics_free(metrics);
}

static void refuse(const char *from, const char *to, const char *message)
{
    struct metrics *metrics = make_metrics();
    struct buffer text = {0}, changed = {0};
    struct values values;
    write_result(metrics, &text);
    const char *whole = buffer_c_string(&text), *at = strstr(whole, from);
    assert_non_null(at);
    buffer_bytes(&changed, whole, (size_t)(at - whole));
    buffer_string(&changed, to);
    buffer_string(&changed, at + strlen(from));
    struct error error = values_read_text(&values, "bad.json", (struct text){changed.bytes, changed.length});
    assert_int_equal(error.kind, ERROR_DATA);
    char *said = error_text_new(&error);
    if (strstr(said, message) == NULL)
        fail_msg("'%s' does not say '%s'", said, message);
    free(said);
    error_release(&error);
    buffer_release(&text);
    buffer_release(&changed);
    metrics_free(metrics);
}

TEST(bad_text_is_refused)
{
    refuse("\"allocation_ratio\"", "\"allocation_rate\"", "this program knows no metric 'allocation_rate'");
    refuse("\"a/b\": \"org\"", "\"a/b\": \"plain\"", "there is no queue 'plain' before this one");
    refuse("\"a/b\": \"org\"", "\"a/b\": 1", "'a/b' must be a string");
    refuse("{\"value\": ", "{\"values\": ", "'value' is missing");
    refuse("{\"value\": ", "{\"value\": \"1\", \"was\": ", "'value' must be a number");
    refuse("\"metrics\": {", "\"metric\": {", "unknown key 'metric'");
    refuse("\"schema_version\": 3", "\"schema_version\": 2", "run the scenario again");
}

TEST_GROUP(scratch_make, scratch_remove)
