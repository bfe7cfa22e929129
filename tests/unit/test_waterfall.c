/* tests/unit/test_waterfall.c -- the steps from all GPU time to SM activity, worked out by hand. */
#include <math.h>
#include <string.h>

#include "tests/support/test.h"

#include "reports/metrics.h"
#include "reports/waterfall.h"

#define S TIME_NS_PER_S

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void feed_sample(struct metrics *metrics, struct timeline_row row)
{
    struct record_sink sink = metrics_sink(metrics);
    assert_false(error_is(sink.on_sample(sink.self, &row)));
}

static void finish(struct metrics *metrics, struct run_facts facts)
{
    static const char *const models[] = {"h100-80gb", NULL};
    struct record_sink sink = metrics_sink(metrics);
    facts.model_names = models;
    assert_false(error_is(sink.on_finished(sink.self, &facts)));
    metrics_finish(metrics);
}

/* Steps from all GPU time to SM activity, by hand: 4 GPUs for 100 s, of which the first 20 s are warm-up. */
TEST(the_waterfall_is_of_the_window)
{
    enum { US = 1000000 };
    const gpu_time_ns one = S;
    struct metrics *m = metrics_new();
    feed_sample(m, (struct timeline_row){.time = 0});
    feed_sample(m, (struct timeline_row){.time = 20 * S,
                                         .active_gpu_s = 20,
                                         .spent = {[SPENT_USEFUL] = 40 * one, [SPENT_IDLE] = 40 * one},
                                         .use_us = {[USE_WAITED] = 10 * US, [USE_KERNEL] = 30 * US}});
    feed_sample(m, (struct timeline_row){.time = 100 * S,
                                         .active_gpu_s = 120,
                                         .spent = {[SPENT_USEFUL] = 200 * one,
                                                   [SPENT_LOST] = 20 * one,
                                                   [SPENT_SLICED] = 20 * one,
                                                   [SPENT_RESTART] = 8 * one,
                                                   [SPENT_RESERVED] = 4 * one,
                                                   [SPENT_REPARTITION] = 2 * one,
                                                   [SPENT_DOWN] = 6 * one,
                                                   [SPENT_IDLE] = 140 * one},
                                         .use_us = {[USE_WAITED] = 40 * US,
                                                    [USE_UNCOVERED] = 10 * US,
                                                    [USE_HOST] = 30 * US,
                                                    [USE_NETWORK] = 7 * US,
                                                    [USE_ACTIVE_LOST] = 12 * US,
                                                    [USE_KERNEL] = 190 * US}});
    finish(m, (struct run_facts){.warmup = 20 * S, .end = 100 * S, .gpu_count = 4});
    static const struct {
        const char *name;
        double gpu_s;
    } should[] = {{"waterfall_unasked_ratio", 70}, {"waterfall_waiting_ratio", 30}, {"waterfall_reserved_ratio", 4},
                  {"waterfall_down_ratio", 6},     {"waterfall_cut_ratio", 12},     {"waterfall_start_ratio", 8},
                  {"waterfall_unused_ratio", 53},  {"waterfall_host_ratio", 30},    {"waterfall_network_ratio", 7},
                  {"waterfall_unknown_ratio", 0},  {"waterfall_lost_ratio", 12},    {"waterfall_active_ratio", 88},
                  {"sm_active_ratio", 100},        {"gpu_util_ratio", 160}};
    double sum = 0;
    for (size_t i = 0; i < sizeof should / sizeof should[0]; i++) {
        near(metrics_value(m, should[i].name), should[i].gpu_s / 320);
        sum += strncmp(should[i].name, "waterfall_", 10) == 0 ? metrics_value(m, should[i].name) : 0;
    }
    near(sum, 1);
    metrics_free(m);
}

/* Clients of shared GPUs may keep more SMs busy than their share: `unused` gives the time first, then what is free. */
TEST(a_waterfall_has_no_step_up)
{
    const double spent[SPENT_COUNT] = {[SPENT_USEFUL] = 10, [SPENT_IDLE] = 5, [SPENT_DOWN] = 1};
    const double use[USE_COUNT] = {[USE_WAITED] = 3, [USE_HOST] = 1};
    double parts[FALL_COUNT];
    waterfall_of(spent, use, 9.5, parts);
    near(parts[FALL_UNUSED], 0);
    near(parts[FALL_UNASKED], 1.5);
    near(parts[FALL_WAITING], 3);
    near(parts[FALL_HOST], 1);
    near(parts[FALL_ACTIVE], 9.5);
    waterfall_of(spent, use, 14, parts);
    near(parts[FALL_UNASKED], 0);
    near(parts[FALL_WAITING], 0);
    near(parts[FALL_DOWN] + parts[FALL_HOST] + parts[FALL_ACTIVE], 16);
}
