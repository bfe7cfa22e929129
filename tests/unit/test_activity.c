#include <math.h>

#include "tests/support/test.h"

#include "tests/support/activity_mean.h"
#include "tests/support/json_text.h"
#include "workloads/activity/activity_table.h"

#define S(seconds) ((seconds)*TIME_NS_PER_S)

static const char *const classes[] = {"notebooks", "services", NULL};

static struct activity_table table_of(struct arena *arena, const char *json, struct error *error)
{
    struct json_doc *doc = json_text_parse("a.json", json);
    *error = ERROR_OK;
    const struct json_value root = json_doc_root(doc, error);
    const struct activity_table table = activity_table_read(&root, arena, classes);
    json_doc_free(doc);
    return table;
}

static struct activity_table table_good(struct arena *arena, const char *json)
{
    struct error error;
    const struct activity_table table = table_of(arena, json, &error);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    return table;
}

static void refused(const char *json, const char *says)
{
    struct arena arena = {0};
    struct error error;
    table_of(&arena, json, &error);
    assert_int_equal(error.kind, ERROR_CONFIG);
    char *report = error_text_new(&error);
    if (strstr(report, says) == NULL || strstr(report, "a.json:1:") == NULL)
        fail_msg("wanted '%s' and a place in:\n%s", says, report);
    free(report);
    error_release(&error);
    arena_release(&arena);
}

TEST(test_bad_rows)
{
    refused("[{'level': 0.5}]", "'kind'");
    refused("[{'kind': 'lazy'}]", "'busy', 'notebook', 'training', 'inference'");
    refused("[{'kind': 'busy'}]", "'level'");
    refused("[{'kind': 'busy', 'level': 0.5, 'burst': 3}]", "unknown key 'burst'");
    refused("[{'kind': 'busy', 'level': 0.9, 'level_sd': 0.3}]", "must be below 0.3");
    refused("[{'kind': 'busy', 'level': 0.5, 'workload_class': 'notebook'}]", "no class 'notebook'");
    refused("[{'kind': 'notebook', 'level': 0.5, 'burst': {'distribution': 'constant', 'mean': 1}}]", "'gap'");
    refused("[{'kind': 'inference', 'prefill': 1, 'decode': 0, 'prefill_share': 0.6, 'diurnal_peak_to_mean': 2}]",
            "is 1.2; a part of an hour is at most 1");
}

static const struct activity_plan *plan_of(const struct activity_table *table, enum job_class class,
                                           const char *workload_class)
{
    const struct job job = {.class = (uint8_t) class};
    return activity_table_plan(table, &job, 1, (struct job_names){"", workload_class});
}

/* The first row that fits, and none for other jobs. */
TEST(test_rows)
{
    struct arena arena = {0};
    const struct activity_table table =
        table_good(&arena, "[{'workload_class': 'notebooks', 'class': 'interactive', 'kind': 'busy', 'level': 0.1},"
                           " {'class': 'interactive', 'kind': 'busy', 'level': 0.2},"
                           " {'workload_class': 'services', 'kind': 'busy', 'level': 0.3}]");
    assert_ptr_equal(plan_of(&table, JOB_INTERACTIVE, "notebooks"), &table.rows[0].plan);
    assert_ptr_equal(plan_of(&table, JOB_INTERACTIVE, "services"), &table.rows[1].plan);
    assert_ptr_equal(plan_of(&table, JOB_INFERENCE, "services"), &table.rows[2].plan);
    assert_null(plan_of(&table, JOB_TRAINING, "notebooks"));
    arena_release(&arena);
}

/* A notebook of constant times, by hand: busy for 10 s, idle for 30 s, and so on. */
TEST(test_turns)
{
    struct arena arena = {0};
    struct activity activity;
    const struct activity_table table =
        table_good(&arena, "[{'kind': 'notebook', 'level': 0.4, 'burst': {'distribution': 'constant', 'mean': 10},"
                           "  'gap': {'distribution': 'constant', 'mean': 30}}]");
    activity_begin(&activity, &table.rows[0].plan, 1, 7);
    for (int turn = 0; turn < 3; turn++) {
        assert_int_equal(activity_level(&activity, 0), 400);
        assert_int_equal(activity_holds(&activity, 0), S(10));
        activity_run(&activity, S(4)); /* any pieces of time do */
        assert_int_equal(activity_level(&activity, 0), 400);
        assert_int_equal(activity_holds(&activity, 0), S(6));
        activity_run(&activity, S(6));
        assert_int_equal(activity_level(&activity, 0), 0);
        assert_int_equal(activity_holds(&activity, 0), S(30));
        activity_run(&activity, S(30));
    }
    assert_true(fabs(activity_mean(&table.rows[0].plan) - 0.1) < 1e-12);
    assert_true(fabs(activity_idle_mean(&table.rows[0].plan) - 0.75) < 1e-12);
    arena_release(&arena);
}

/* The part of prefill follows the hour: most at 14:00, least at 2:00, and on average as declared. */
TEST(test_inference)
{
    struct arena arena = {0};
    struct activity activity;
    const struct activity_table table = table_good(
        &arena,
        "[{'kind': 'inference', 'prefill': 0.8, 'decode': 0.2, 'prefill_share': 0.5, 'diurnal_peak_to_mean': 1.5}]");
    activity_begin(&activity, &table.rows[0].plan, 1, 7);
    assert_int_equal(activity_level(&activity, S(14 * 3600)), 650);    /* 0.2 + 0.6 x 0.75 */
    assert_int_equal(activity_level(&activity, S(2 * 3600 + 9)), 350); /* 0.2 + 0.6 x 0.25 */
    assert_int_equal(activity_level(&activity, S(8 * 3600)), 500);     /* the mean */
    assert_int_equal(activity_level(&activity, S(38 * 3600)), 650);    /* the next day */
    assert_int_equal(activity_holds(&activity, S(2 * 3600 + 9)), S(3591));
    assert_true(fabs(activity_mean(&table.rows[0].plan) - 0.5) < 1e-3);
    arena_release(&arena);
}

/* Mean level and idle part over one long life, by walking it. */
static void walk(struct activity *activity, time_ns life, double *mean, double *idle)
{
    double busy = 0, none = 0;
    for (time_ns now = 0, span; now < life; now += span) {
        span = activity_holds(activity, now) < life - now ? activity_holds(activity, now) : life - now;
        busy += activity_level(activity, now) / 1000.0 * (double)span;
        none += activity_level(activity, now) == 0 ? (double)span : 0;
        activity_run(activity, span);
    }
    *mean = busy / (double)life;
    *idle = none / (double)life;
}

/* The process is that of the seed and the job; a long life comes near the closed forms. */
TEST(test_means)
{
    struct arena arena = {0};
    const struct activity_table table = table_good(
        &arena,
        "[{'kind': 'notebook', 'level': 0.7, 'level_sd': 0.12, 'burst': {'distribution': 'exponential', 'mean': "
        "'5m'}, 'gap': {'distribution': 'lognormal', 'median': '10m', 'sigma': 0.5}},"
        " {'kind': 'training', 'level': 0.8, 'work': {'distribution': 'exponential', 'mean': '10m'},"
        "  'stall': {'distribution': 'exponential', 'mean': '2m'}, 'stall_level': 0.1}]");
    for (uint32_t r = 0; r < table.count; r++) {
        const struct activity_plan *plan = &table.rows[r].plan;
        struct activity one, same, other;
        double mean, idle, again, unused, differs;
        activity_begin(&one, plan, 1, 7);
        activity_begin(&same, plan, 1, 7);
        activity_begin(&other, plan, 1, 8);
        walk(&one, S(INT64_C(50000000)), &mean, &idle); /* some 60,000 turns: an error of 1 % is more than 3 sigma */
        walk(&same, S(INT64_C(50000000)), &again, &unused);
        walk(&other, S(INT64_C(50000000)), &differs, &unused);
        assert_true(fabs(mean - again) <= 0);
        assert_true(fabs(mean - differs) > 0);
        assert_true(fabs(mean / activity_mean(plan) - 1) < 0.01);
        assert_true(fabs(idle - activity_idle_mean(plan)) < 0.01);
    }
    arena_release(&arena);
}

/* A gap that never ends: after the last burst nothing changes; bursts are geometric, 1 / chance on average. */
TEST(test_abandoned)
{
    struct arena arena = {0};
    const struct activity_table table =
        table_good(&arena, "[{'kind': 'notebook', 'level': 0.5, 'burst': {'distribution': 'constant', 'mean': 10},"
                           "  'gap': {'distribution': 'constant', 'mean': 10}, 'abandoned': 0.25}]");
    uint64_t bursts = 0;
    enum { NOTEBOOKS = 4000 };
    for (uint64_t job = 0; job < NOTEBOOKS; job++) {
        struct activity activity;
        activity_begin(&activity, &table.rows[0].plan, 1, job);
        while (activity_holds(&activity, 0) != TIME_NEVER) {
            bursts += activity_level(&activity, 0) > 0;
            activity_run(&activity, activity_holds(&activity, 0));
        }
        assert_int_equal(activity_level(&activity, 0), 0);
    }
    assert_true(fabs((double)bursts / NOTEBOOKS - 4) < 0.25); /* sd of the mean 0.055 */
    assert_true(activity_mean(&table.rows[0].plan) <= 0);
    arena_release(&arena);
}
