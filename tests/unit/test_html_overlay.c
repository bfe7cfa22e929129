/* tests/unit/test_html_overlay.c -- runs over each other: each has its line, nothing escapes, nothing is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reports/html_overlay.h"
#include "tests/support/fake_run.h"

static const struct plot_tool no_gnuplot = {.gnuplot = "/nonexistent/gnuplot"};

static struct metrics *metrics_of(uint32_t jobs, double load)
{
    const struct fake_run run = {.jobs = jobs, .gpus = 64, .queues = 4, .seed = 4, .load = load, .warmup_s = 3600};
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    fake_run_feed(&run, &sink);
    metrics_finish(metrics);
    return metrics;
}

static size_t occurrences(struct buffer *text, const char *piece)
{
    size_t count = 0;
    for (const char *at = buffer_c_string(text); (at = strstr(at, piece)) != NULL; at++)
        count++;
    return count;
}

/* Without gnuplot the tables hold all: a column for each run, in each figure, and the name as text. */
static void each_run_has_its_column(void **state)
{
    (void)state;
    struct metrics *first = metrics_of(3000, 0.9), *second = metrics_of(2000, 1.2);
    const struct html_overlay_run runs[] = {{"plain", first, html_overlay_colour(0)},
                                            {"<script>\xe2\x80\xae", second, html_overlay_colour(1)}};
    struct buffer out = {0};
    html_overlay(runs, 2, &no_gnuplot, &out);
    const size_t figures = occurrences(&out, "No drawing: gnuplot is not installed");
    assert_true(figures >= 5); /* allocated, pending, and three classes at least */
    assert_int_equal(occurrences(&out, "<details open><summary>Data"), figures);
    assert_int_equal(occurrences(&out, "<th scope=\"col\">plain</th>"), figures);
    assert_int_equal(occurrences(&out, "<th scope=\"col\">&lt;script&gt;\xef\xbf\xbd</th>"), figures);
    assert_int_equal(occurrences(&out, "<script"), 0);
    assert_int_equal(occurrences(&out, "nan"), 0);
    assert_int_equal(occurrences(&out, "<section>"), occurrences(&out, "</section>"));
    buffer_release(&out);
    metrics_free(first);
    metrics_free(second);
}

/* The same run twice: at each time, and of each class, both columns hold the same. */
static void equal_runs_have_equal_columns(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_of(3000, 0.9);
    const struct html_overlay_run runs[] = {{"a", metrics, html_overlay_colour(0)},
                                            {"b", metrics, html_overlay_colour(1)}};
    struct buffer out = {0};
    size_t rows = 0;
    html_overlay(runs, 2, &no_gnuplot, &out);
    for (const char *at = buffer_c_string(&out); (at = strstr(at, "<tr><td>")) != NULL; at++) {
        const char *a = strstr(at + 8, "<td>"), *b = strstr(a + 4, "<td>"), *end = strstr(b, "</tr>");
        assert_memory_equal(a, b, (size_t)(end - b));
        assert_int_equal(b - a, end - b);
        rows++;
    }
    assert_true(rows > 60);
    buffer_release(&out);
    metrics_free(metrics);
}

/* A drawing has a line for each run, in its colour. */
static void each_run_has_its_line(void **state)
{
    (void)state;
    struct metrics *metrics[HTML_OVERLAY_MAX];
    struct html_overlay_run runs[HTML_OVERLAY_MAX];
    struct buffer out = {0};
    for (size_t i = 0; i < HTML_OVERLAY_MAX; i++) {
        metrics[i] = metrics_of(500, 0.5 + 0.1 * (double)i);
        runs[i] = (struct html_overlay_run){"side", metrics[i], html_overlay_colour(i)};
    }
    html_overlay(runs, HTML_OVERLAY_MAX, NULL, &out);
    if (occurrences(&out, "gnuplot is not installed") == 0) {
        const size_t drawings = occurrences(&out, "<svg ");
        assert_true(drawings >= 4);
        for (int colour = 1; colour <= HTML_OVERLAY_MAX; colour++) {
            char line[32];
            snprintf(line, sizeof line, "<g class=\"series c%d\">", colour);
            assert_true(occurrences(&out, line) >= drawings);
        }
    }
    buffer_release(&out);
    for (size_t i = 0; i < HTML_OVERLAY_MAX; i++)
        metrics_free(metrics[i]);
}

/* One that ended at once has no curves, and the others have theirs. */
static void an_empty_run_hides_nothing(void **state)
{
    (void)state;
    struct metrics *empty = metrics_new(), *metrics = metrics_of(1000, 0.9);
    struct record_sink sink = metrics_sink(empty);
    const struct run_facts facts = {.end = TIME_NS_PER_S, .gpu_count = 8};
    assert_false(error_is(sink.on_finished(sink.self, &facts)));
    metrics_finish(empty);
    const struct html_overlay_run runs[] = {{"none", empty, html_overlay_colour(0)},
                                            {"some", metrics, html_overlay_colour(1)}};
    struct buffer out = {0};
    html_overlay(runs, 2, &no_gnuplot, &out);
    assert_true(occurrences(&out, "<th scope=\"col\">some</th>") >= 5);
    assert_int_equal(occurrences(&out, "<th scope=\"col\">none</th>"), 0);
    out.length = 0;
    html_overlay(runs, 1, &no_gnuplot, &out);
    assert_int_equal(out.length, 0);
    buffer_release(&out);
    metrics_free(empty);
    metrics_free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_run_has_its_column),
        cmocka_unit_test(equal_runs_have_equal_columns),
        cmocka_unit_test(each_run_has_its_line),
        cmocka_unit_test(an_empty_run_hides_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
