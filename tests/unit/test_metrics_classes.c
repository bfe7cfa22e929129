/* tests/unit/test_metrics_classes.c -- the cuts by class of the workload, by its sizes, and by tenant. */
#include <math.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "base/mem.h"
#include "reports/metrics.h"
#include "reports/view.h"
#include "tests/support/fake_run.h"
#include "tests/support/made_row.h"

#define S TIME_NS_PER_S

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void ok(struct error error)
{
    if (error_is(error))
        fail_msg("%s", error_message(&error));
}

static void feed_job(struct metrics *metrics, struct job_row row)
{
    struct record_sink sink = metrics_sink(metrics);
    if (row.name == NULL)
        row.name = "1";
    if (row.user == NULL)
        row.user = "";
    row = made_row(row);
    ok(sink.on_job(sink.self, &row));
}

static void finish(struct metrics *metrics, struct run_facts facts)
{
    static const char *const models[] = {"h100-80gb", NULL};
    struct record_sink sink = metrics_sink(metrics);
    facts.model_names = models;
    ok(sink.on_finished(sink.self, &facts));
    metrics_finish(metrics);
}

static double cut_value(const struct metrics *metrics, const char *cut, const char *key, const char *name)
{
    const char *found;
    for (size_t i = 0; (found = metrics_cut_key(metrics, cut, i)) != NULL; i++) {
        if (strcmp(found, key) != 0)
            continue;
        size_t count;
        const struct metric *values = metrics_cut(metrics, cut, i, &count);
        for (size_t m = 0; m < count; m++)
            if (strcmp(values[m].name, name) == 0)
                return values[m].value;
    }
    return NAN;
}

/* Two classes of a mix are apart although both are training, and their sizes within them; they add up to the class. */
TEST(classes_of_the_workload_keep_their_names)
{
    static const struct {
        const char *name;
        enum job_class class;
        int64_t gpus, wait_s;
    } jobs[] = {{"small training", JOB_TRAINING, 1, 5},   {"small training", JOB_TRAINING, 8, 30},
                {"large training", JOB_TRAINING, 64, 70}, {"large training", JOB_TRAINING, 8, 90},
                {NULL, JOB_INTERACTIVE, 1, 10},           {"small training", JOB_TRAINING, 8, 20}};
    struct metrics *m = metrics_new();
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        feed_job(m, (struct job_row){.id = (job_id)i,
                                     .queue = "q",
                                     .class = (uint8_t)jobs[i].class,
                                     .workload_class = jobs[i].name,
                                     .gpu_milli = jobs[i].gpus * 1000,
                                     .start = jobs[i].wait_s * S,
                                     .end = (jobs[i].wait_s + 1) * S,
                                     .state = END_COMPLETED,
                                     .wait = jobs[i].wait_s * S,
                                     .wait_total = jobs[i].wait_s * S,
                                     .is_counted = true});
    finish(m, (struct run_facts){.end = 100 * S, .gpu_count = 1});
    static const char *const names[] = {"large training", "small training", "interactive"};
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(metrics_cut_key(m, "workload_class", i), names[i]);
    assert_null(metrics_cut_key(m, "workload_class", 3));
    static const char *const sizes[] = {"large training/5-8", "large training/33-64", "small training/1",
                                        "small training/5-8", "interactive/1"};
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(metrics_cut_key(m, "class_size", i), sizes[i]);
    assert_null(metrics_cut_key(m, "class_size", 5));
    near(cut_value(m, "class", "training", "jobs_submitted"), 5);
    near(cut_value(m, "workload_class", "small training", "jobs_submitted"), 3);
    near(cut_value(m, "workload_class", "small training", "queue_time_p50_s"), 20);
    near(cut_value(m, "workload_class", "large training", "queue_time_p95_s"), 90);
    near(cut_value(m, "class_size", "small training/5-8", "queue_time_max_s"), 30);
    near(cut_value(m, "class_size", "small training/5-8", "queue_time_p50_s"), 20);
    near(cut_value(m, "class_size", "large training/5-8", "admission_p99_s"), 90);
    metrics_free(m);
}

/* Feed a job in each queue, that of queue i with a wait of i + 1 seconds. */
static struct metrics *in_queues(const char *const *names, size_t count, const struct record_queue *tree,
                                 uint32_t tree_count)
{
    struct metrics *m = metrics_new();
    for (size_t i = 0; i < count; i++)
        feed_job(m, (struct job_row){.id = (job_id)i,
                                     .queue = names[i],
                                     .gpu_milli = 1000,
                                     .work_asked = 3600 * S,
                                     .start = (time_ns)(i + 1) * S,
                                     .end = 90 * S,
                                     .state = END_COMPLETED,
                                     .wait = (time_ns)(i + 1) * S,
                                     .wait_total = (time_ns)(i + 1) * S,
                                     .is_counted = true});
    finish(m, (struct run_facts){.end = 100 * S, .gpu_count = 1, .queues = tree, .queue_count = tree_count});
    return m;
}

static void assert_tenants(const struct metrics *m, const char *const *keys)
{
    size_t i = 0;
    for (; keys[i] != NULL; i++)
        assert_string_equal(metrics_cut_key(m, "tenant", i), keys[i]);
    assert_null(metrics_cut_key(m, "tenant", i));
}

/* Two companies of one holding: the holding is passed over, and depth below the tenants does not matter. */
TEST(tenants_are_the_highest_level_with_several_queues)
{
    static const struct record_queue tree[] = {
        {"holding", RECORD_QUEUE_ROOT}, {"group", 0}, {"north", 1}, {"south", 1}, {"lab", 2}, {"x", 4}, {"y", 2}};
    static const char *const jobs[] = {"x", "south", "y", "x", "holding", "elsewhere"};
    struct metrics *m = in_queues(jobs, 6, tree, 7);
    assert_tenants(m, (const char *const[]){"elsewhere", "holding", "north", "south", NULL});
    near(cut_value(m, "tenant", "north", "jobs_submitted"), 3);
    near(cut_value(m, "tenant", "north", "asked_gpu_h"), 3);
    near(cut_value(m, "tenant", "north", "queue_time_mean_s"), 8.0 / 3);
    near(cut_value(m, "tenant", "north", "queue_time_p50_s"), 3);
    near(cut_value(m, "tenant", "north", "queue_time_max_s"), 4);
    near(cut_value(m, "tenant", "south", "admission_p99_s"), 2);
    near(cut_value(m, "tenant", "holding", "queue_time_p95_s"), 5);
    assert_true(view_has_tenants(m));
    metrics_free(m);
}

TEST(a_flat_tree_needs_no_tenants)
{
    static const struct record_queue flat[] = {{"b", RECORD_QUEUE_ROOT}, {"a", RECORD_QUEUE_ROOT}};
    static const struct record_queue line[] = {{"top", RECORD_QUEUE_ROOT}, {"a", 0}};
    static const char *const jobs[] = {"a", "b"};
    struct metrics *m = in_queues(jobs, 2, flat, 2);
    assert_tenants(m, (const char *const[]){"a", "b", NULL});
    assert_false(view_has_tenants(m));
    metrics_free(m);
    m = in_queues(jobs, 1, line, 2);
    assert_tenants(m, (const char *const[]){"a", NULL});
    assert_false(view_has_tenants(m));
    metrics_free(m);
    m = in_queues(jobs, 2, NULL, 0); /* an older record does not tell the tree */
    assert_null(metrics_cut_key(m, "tenant", 0));
    assert_false(view_has_tenants(m));
    metrics_free(m);
}
