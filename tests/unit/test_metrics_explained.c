/* What `windtunnel metrics` explains is what stands in result.json, and the reverse: names, units, directions and
 * cuts. */
#include "tests/support/test.h"
#include <jansson.h>
#include <math.h>

#include "reports/metrics.h"
#include "tests/support/made_row.h"

#define S TIME_NS_PER_S

static void ok(struct error error)
{
    if (error_is(error))
        fail_msg("%s", error_message(&error));
}

/* A run for which every metric is defined; by is_closed those of a closed loop, and of a batch, or those of recorded
 * allocations and of a stream, which these have not. */
static struct metrics *run_with_everything(bool is_closed)
{
    static const char *const models[] = {"h100-80gb", NULL};
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    const struct record_pool pool = {.node_count = 1, .gpus_per_node = 4, .price_usd_per_gpu_h = 3.6};
    const struct lost_row lost = {{0}};
    metrics_set_prices(metrics, &pool, 1);
    struct wait_times waits = {0};
    for (int reason = 1; reason < REASON_COUNT; reason++)
        wait_times_add(&waits, (enum reason)reason, S);
    struct job_row job = {.name = "1",
                          .queue = "q",
                          .user = "",
                          .class = JOB_INFERENCE,
                          .gpu_milli = 2000,
                          .start = REASON_COUNT * S,
                          .end = 80 * S,
                          .wait = REASON_COUNT * S,
                          .wait_total = REASON_COUNT * S,
                          .recorded_wait = S,
                          .has_recorded_wait = true,
                          .run = 30 * S,
                          .work = 24 * S,
                          .work_asked = 24 * S,
                          .evictions = 1,
                          .is_counted = true,
                          .lost = &lost,
                          .communication = "plan",
                          .exposed_gpu_us = 1,
                          .network_gpu_us = 1,
                          .network_bytes_per_s = 1,
                          .planned_gpu_us = 1,
                          .activity = "notebook",
                          .faults = &(struct fault_row){.own = 1},
                          .idle = &(struct idle_row){.notified = 1},
                          .pulls = &(struct pull_row){.ready = REASON_COUNT * S, .bytes = {1, 1, 1}},
                          .waits = &waits};
    job.deadline = 70 * S;
    job = made_row(job);
    ok(sink.on_job(sink.self, &job));
    struct gang_row gang = {
        .end = 30 * S, .gpu_milli = 2000, .link_tier = LINK_NVLINK, .link_bytes_per_s = 450000000000};
    ok(sink.on_gang(sink.self, &gang));
    struct timeline_row sample = {.space = {.is_known = true, .idle_gpu_milli = 1000}};
    ok(sink.on_sample(sink.self, &sample));
    sample.time = 100 * S;
    sample.spent[SPENT_ABSENT] = S;
    ok(sink.on_sample(sink.self, &sample));
    struct arrived_row arrived = {.percent = 1, .allocation_ratio = 0.5, .fragmentation_ratio = 0};
    ok(sink.on_arrived(sink.self, &arrived));
    static const struct record_queue tree[] = {{"q", RECORD_QUEUE_ROOT}};
    struct run_facts facts = {.end = 100 * S,
                              .gpu_count = 4,
                              .model_names = models,
                              .queues = tree,
                              .queue_count = 1,
                              .price_usd_per_gpu_h = 3.6,
                              .loop = {.is_closed = is_closed},
                              .offered = {.kind = is_closed ? OFFERED_BATCH : OFFERED_STREAM,
                                          .jobs = 1,
                                          .ratio = is_closed ? NAN : 0.5,
                                          .bound_s = 20}};
    ok(sink.on_finished(sink.self, &facts));
    metrics_finish(metrics);
    return metrics;
}

static json_t *parsed(struct buffer *text)
{
    json_error_t error;
    json_t *root = json_loadb(text->bytes, text->length, 0, &error);
    if (root == NULL)
        fail_msg("%s", error.text);
    buffer_release(text);
    return root;
}

static json_t *explained(void)
{
    struct buffer text = {0};
    ok(metrics_explain(NULL, true, &text));
    return parsed(&text);
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (text == NULL)
        fail_msg("no %s", key);
    return text;
}

static const json_t *entry_of(const json_t *all, const char *name)
{
    size_t i;
    json_t *entry;
    json_array_foreach(all, i, entry) if (strcmp(text_at(entry, "name"), name) == 0) return entry;
    return NULL;
}

static bool is_in_cut(const json_t *entry, const char *cut)
{
    size_t i;
    json_t *name;
    json_array_foreach(json_object_get(entry, "by"), i,
                       name) if (strcmp(json_string_value(name), cut) == 0) return true;
    return false;
}

/* Every metric of a group of result.json is explained, with its unit and direction; cut NULL: of the whole run. */
static void check_group(const json_t *all, json_t *group, const char *cut)
{
    const char *name;
    json_t *metric;
    json_object_foreach(group, name, metric)
    {
        const json_t *entry = entry_of(all, name);
        if (entry == NULL)
            fail_msg("'%s' stands in result.json and is not explained", name);
        assert_string_equal(text_at(metric, "unit"), text_at(entry, "unit"));
        assert_string_equal(text_at(metric, "better"), text_at(entry, "better"));
        if (cut != NULL && !is_in_cut(entry, cut))
            fail_msg("'%s' stands in by.%s, which its explanation does not name", name, cut);
    }
}

/* What is explained stands in the group of result.json that it names. */
static void check_explained(const json_t *entry, const json_t *result)
{
    const char *name = text_at(entry, "name"), *key;
    if (json_object_get(json_object_get(result, "metrics"), name) == NULL)
        fail_msg("'%s' is explained and does not stand in result.json", name);
    json_t *cut, *group;
    json_object_foreach(json_object_get(result, "by"), key, cut)
    {
        group = json_object_iter_value(json_object_iter(cut));
        if (is_in_cut(entry, key) != (json_object_get(group, name) != NULL))
            fail_msg("'%s' and by.%s: result.json and the explanation differ", name, key);
    }
    const char *definition = text_at(entry, "definition");
    if (strlen(definition) < 12 || definition[strlen(definition) - 1] != '.')
        fail_msg("'%s' is not defined by sentences: \"%s\"", name, definition);
}

static json_t *result_of(bool is_closed)
{
    struct metrics *metrics = run_with_everything(is_closed);
    struct buffer text = {0};
    buffer_char(&text, '{');
    metrics_write_json(metrics, &text);
    buffer_char(&text, '}');
    metrics_free(metrics);
    return parsed(&text);
}

TEST(result_and_explanation_agree)
{
    json_t *result = result_of(false), *closed = result_of(true), *all = explained(), *cut, *group, *entry;
    json_t *metrics = json_object_get(result, "metrics");
    assert_null(json_object_get(metrics, "closed_loop_jobs"));
    json_object_update_missing(metrics, json_object_get(closed, "metrics"));
    const char *name, *key;
    size_t i;
    check_group(all, json_object_get(result, "metrics"), NULL);
    json_object_foreach(json_object_get(result, "by"), name, cut) json_object_foreach(cut, key, group)
        check_group(all, group, name);
    json_array_foreach(all, i, entry) check_explained(entry, result);
    json_decref(all);
    json_decref(result);
    json_decref(closed);
}

TEST(one_metric_by_name)
{
    struct buffer text = {0};
    ok(metrics_explain("cost_per_job_usd", false, &text));
    assert_string_equal(buffer_c_string(&text), "cost_per_job_usd  [usd; lower is better]\n"
                                                "    cost_usd / jobs_completed.\n");
    buffer_release(&text);
    struct error error = metrics_explain("queue_time_p95", false, &text);
    assert_true(error_is(error));
    assert_string_equal(error_message(&error), "there is no metric 'queue_time_p95'");
    error_release(&error);
    buffer_release(&text);
}
