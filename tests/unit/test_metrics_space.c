/* Metrics of what free GPUs are good for. */
#include <math.h>

#include "tests/support/test.h"

#include "reports/metrics.h"

#define S TIME_NS_PER_S

static void near(double value, double expected)
{
    if (!(fabs(value - expected) < 1e-9))
        fail_msg("%.12g, not %.12g", value, expected);
}

static void feed_sample(struct metrics *metrics, struct timeline_row row)
{
    struct record_sink sink = metrics_sink(metrics);
    assert_false(error_is(sink.on_sample(sink.self, &row)));
}

static void finish(struct metrics *metrics, struct run_facts facts)
{
    struct record_sink sink = metrics_sink(metrics);
    assert_false(error_is(sink.on_finished(sink.self, &facts)));
    metrics_finish(metrics);
}

/* Samples stand until the next: of the window from 20 s to 100 s, 30 s of the first, 50 s of the second; then one of
 * which nothing is known. */
TEST(means_over_the_window)
{
    struct metrics *m = metrics_new();
    const struct space_row first = {.is_known = true,
                                    .idle_gpu_milli = 8000,
                                    .stranded_gpu_milli = 4000,
                                    .fragmented_gpus = {1, 0.5, 0, 0, 0, 0, 0.5},
                                    .gang_gpus = {8, 8, 8, 8},
                                    .mig_slices_unplaceable = 16},
                           second = {.is_known = true,
                                     .idle_gpu_milli = 1600,
                                     .fragmented_gpus = {0, 0.5, 0.25, 0, 0.75, 0.1, 0}};
    feed_sample(m, (struct timeline_row){.time = 0, .space = first});
    feed_sample(m, (struct timeline_row){.time = 50 * S, .space = second});
    feed_sample(m, (struct timeline_row){.time = 100 * S, .space = first});
    feed_sample(m, (struct timeline_row){.time = 120 * S});
    finish(m, (struct run_facts){.end = 120 * S, .measured_until = 100 * S, .warmup = 20 * S, .gpu_count = 16});
    near(metrics_value(m, "idle_ratio"), (30 * 8.0 + 50 * 1.6) / 80 / 16);
    near(metrics_value(m, "stranded_ratio"), 30 * 4.0 / 80 / 16);
    near(metrics_value(m, "fgd_fragmentation_ratio"), (30 * 2.0 + 50 * 1.6) / 80 / 16);
    near(metrics_value(m, "fgd_fragmentation_of_idle_ratio"), (30 * 2.0 + 50 * 1.6) / (30 * 8.0 + 50 * 1.6));
    near(metrics_value(m, "fragmented_no_gpu_ratio"), 30 * 1.0 / 80 / 16);
    near(metrics_value(m, "fragmented_type_ratio"), 0.5 / 16);
    near(metrics_value(m, "fragmented_host_ratio"), 50 * 0.25 / 80 / 16);
    near(metrics_value(m, "fragmented_gpu_count_ratio"), 0);
    near(metrics_value(m, "fragmented_share_ratio"), 50 * 0.75 / 80 / 16);
    near(metrics_value(m, "fragmented_geometry_ratio"), 50 * 0.1 / 80 / 16);
    near(metrics_value(m, "fragmented_topology_ratio"), 30 * 0.5 / 80 / 16);
    near(metrics_value(m, "largest_gang_gpus"), 30 * 8.0 / 80);
    near(metrics_value(m, "mig_slices_unplaceable"), 30 * 16.0 / 80);
    metrics_free(m);
    m = metrics_new();
    feed_sample(m, (struct timeline_row){.time = 0});
    feed_sample(m, (struct timeline_row){.time = 100 * S});
    finish(m, (struct run_facts){.end = 100 * S, .gpu_count = 16});
    assert_true(isnan(metrics_value(m, "fgd_fragmentation_ratio")));
    metrics_free(m);
}

static void feed_gang(struct metrics *metrics, int64_t gpus, time_ns span, enum link_tier tier, int64_t bytes_per_s)
{
    struct record_sink sink = metrics_sink(metrics);
    struct gang_row row = {.start = 5 * S,
                           .end = 5 * S + span,
                           .gpu_milli = gpus * GPU_MILLI,
                           .link_tier = (uint8_t)tier,
                           .link_bytes_per_s = bytes_per_s};
    assert_null(sink.on_attempt); /* others cost nothing */
    assert_false(error_is(sink.on_gang(sink.self, &row)));
}

/* 800 GPU seconds of NVLink, 150 of a leaf, 50 of a core: by GPU time, not by gangs. */
TEST(links_of_gangs)
{
    struct metrics *m = metrics_new();
    feed_gang(m, 8, 100 * S, LINK_NVLINK, 450000000000);
    feed_gang(m, 10, 10 * S, LINK_LEAF, 50000000000);
    feed_gang(m, 5, 10 * S, LINK_LEAF, 50000000000);
    feed_gang(m, 25, 2 * S, LINK_CORE, 12500000000);
    finish(m, (struct run_facts){.end = 120 * S, .gpu_count = 16});
    near(metrics_value(m, "gang_link_gb_per_s_mean"), 0.8 * 450 + 0.15 * 50 + 0.05 * 12.5);
    near(metrics_value(m, "gang_link_gb_per_s_p10"), 50);
    near(metrics_value(m, "gang_link_nvlink_ratio"), 0.8);
    near(metrics_value(m, "gang_link_pcie_ratio"), 0);
    near(metrics_value(m, "gang_link_leaf_ratio"), 0.15);
    near(metrics_value(m, "gang_link_spine_ratio"), 0);
    near(metrics_value(m, "gang_link_core_ratio"), 0.05);
    metrics_free(m);
    m = metrics_new();
    finish(m, (struct run_facts){.end = 120 * S, .gpu_count = 16});
    assert_true(isnan(metrics_value(m, "gang_link_gb_per_s_mean")));
    assert_true(isnan(metrics_value(m, "gang_link_core_ratio")));
    metrics_free(m);
}
