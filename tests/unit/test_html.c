/* tests/unit/test_html.c -- the page: nothing escapes, nothing is fetched, nothing is lost without gnuplot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reports/html.h"
#include "tests/support/fake_run.h"

static const char *const nasty_names[] = {"<script>alert(1)</script>",
                                          "<img src=x onerror=alert(2)>",
                                          "\" onmouseover=\"alert(3)",
                                          "' onfocus='alert(4)",
                                          "&lt;b&gt;",
                                          "</table></body>",
                                          "\xe2\x80\xaereversed",
                                          "plain"};

static const char *const arguments[] = {"run", "<script>alert(5)</script>", NULL};
static const struct result_input inputs[] = {
    {.role = "<i>role", .name = "</code><script>", .digest = "d", .plugin = "<b>plugin", .version = "<u>1"}};
static const struct result_manifest manifest = {.version = "0.1.0",
                                                .seed = 1,
                                                .fingerprint = "feedc0de",
                                                .inputs = inputs,
                                                .input_count = 1,
                                                .scenario_json = "{\"a\":\"</pre><script>\"}"};

static void make_page(const struct fake_run *run, const struct html_options *options, struct buffer *out)
{
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    fake_run_feed(run, &sink);
    metrics_finish(metrics);
    html_text(metrics, &manifest, options, out);
    metrics_free(metrics);
}

static size_t occurrences(struct buffer *text, const char *piece)
{
    size_t count = 0;
    for (const char *at = buffer_c_string(text); (at = strcasestr(at, piece)) != NULL; at++)
        count++;
    return count;
}

static void check_harmless(struct buffer *page)
{
    static const char *const forbidden[] = {
        "http://", "https://", "<script", "javascript:",     "<link",          "@import",  "url(",
        "<iframe", "<img",     " href=",  "</table></body>", "\" onmouseover", "' onfocus"};
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++)
        if (occurrences(page, forbidden[i]) != 0)
            fail_msg("the page holds '%s'", forbidden[i]);
    assert_int_equal(occurrences(page, "Content-Security-Policy\" content=\"default-src 'none'"), 1);
}

/* Every element that is opened is closed. */
static void check_balanced(struct buffer *page)
{
    static const char *const elements[] = {"section", "table", "thead", "tbody", "tr",        "td",
                                           "details", "div",   "svg",   "ul",    "figure",    "h2",
                                           "dl",      "pre",   "style", "main",  "figcaption"};
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        char open[24], open_with[24], close[24];
        snprintf(open, sizeof open, "<%s>", elements[i]);
        snprintf(open_with, sizeof open_with, "<%s ", elements[i]);
        snprintf(close, sizeof close, "</%s>", elements[i]);
        size_t opened = occurrences(page, open) + occurrences(page, open_with);
        if (opened != occurrences(page, close))
            fail_msg("<%s>: %zu opened, %zu closed", elements[i], opened, occurrences(page, close));
    }
}

static const struct fake_run nasty_run = {.jobs = 3000,
                                          .gpus = 64,
                                          .queues = 8,
                                          .seed = 4,
                                          .load = 1.1,
                                          .warmup_s = 3600,
                                          .price_usd_per_gpu_h = 2,
                                          .rejected_every = 300,
                                          .queue_names = nasty_names};

static void nasty_names_stay_text(void **state)
{
    (void)state;
    struct html_options options = {
        .title = "<script>t", .cluster = "<script>c", .policy = "<script>p", .arguments = arguments};
    struct buffer page = {0};
    make_page(&nasty_run, &options, &page);
    check_harmless(&page);
    check_balanced(&page);
    assert_true(occurrences(&page, "&lt;script&gt;alert(1)&lt;/script&gt;") >= 1);
    assert_true(occurrences(&page, "&lt;script&gt;t") >= 2); /* the head's title and the headline */
    assert_true(occurrences(&page, "&amp;lt;b&amp;gt;") >= 1);
    assert_int_equal(occurrences(&page, "\xe2\x80\xae"), 0);
    assert_int_equal(occurrences(&page, "feedc0de"), 1);
    buffer_release(&page);
}

static void the_same_run_gives_the_same_page(void **state)
{
    (void)state;
    struct buffer page = {0}, again = {0};
    make_page(&nasty_run, NULL, &page);
    make_page(&nasty_run, NULL, &again);
    assert_string_equal(buffer_c_string(&page), buffer_c_string(&again));
    buffer_release(&page);
    buffer_release(&again);
}

static void without_gnuplot_the_tables_stand_alone(void **state)
{
    (void)state;
    struct html_options options = {.tool.gnuplot = "/nonexistent/gnuplot"};
    struct buffer page = {0};
    make_page(&nasty_run, &options, &page);
    check_harmless(&page);
    check_balanced(&page);
    assert_int_equal(occurrences(&page, "<svg"), 0);
    assert_int_equal(occurrences(&page, "No drawing: gnuplot is not installed"), 4);
    assert_int_equal(occurrences(&page, "<details open><summary>Data"), 4);
    buffer_release(&page);
}

/* With a row for each class that declares it and one for all; else there is no section. */
static void communication_has_a_section_if_declared(void **state)
{
    (void)state;
    static const char *const classes[] = {"talks <b>", "plans", "odd", "silent"};
    struct fake_run run = nasty_run;
    run.workload_classes = classes;
    struct buffer silent = {0}, page = {0};
    make_page(&run, NULL, &silent);
    assert_int_equal(occurrences(&silent, "<h2>Communication</h2>"), 0);
    run.communicates = true;
    make_page(&run, NULL, &page);
    check_harmless(&page);
    check_balanced(&page);
    assert_int_equal(occurrences(&page, "<h2>Communication</h2>"), 1);
    assert_int_equal(occurrences(&page, "nan"), 0);
    const struct {
        const char *row;
        size_t more;
    } rows[] = {{"<tr><th scope=\"row\">talks &lt;b&gt;</th>", 1},
                {"<tr><th scope=\"row\">plans</th>", 1},
                {"<tr><th scope=\"row\">odd</th>", 1},
                {"<tr><th scope=\"row\">silent</th>", 0},
                {"<tr><th scope=\"row\">all</th>", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(occurrences(&page, rows[i].row), occurrences(&silent, rows[i].row) + rows[i].more);
    buffer_release(&silent);
    buffer_release(&page);
}

static void many_queues_do_not_swell_it(void **state)
{
    (void)state;
    struct fake_run run = {.jobs = 60000, .gpus = 512, .queues = 20000, .seed = 8, .load = 0.9};
    struct buffer page = {0};
    make_page(&run, NULL, &page);
    assert_true(page.length < 2 << 20);
    assert_true(occurrences(&page, "more, in result.json") == 1);
    check_balanced(&page);
    buffer_release(&page);
}

static void a_run_without_jobs_has_a_page(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    struct run_facts facts = {.end = TIME_NS_PER_S, .gpu_count = 8, .is_partial = true};
    assert_false(error_is(sink.on_finished(sink.self, &facts)));
    metrics_finish(metrics);
    struct buffer page = {0};
    html_text(metrics, &manifest, NULL, &page);
    check_harmless(&page);
    assert_int_equal(occurrences(&page, "Partial: the run was stopped"), 1);
    assert_int_equal(occurrences(&page, "nan"), 0);
    buffer_release(&page);
    metrics_free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nasty_names_stay_text),
        cmocka_unit_test(the_same_run_gives_the_same_page),
        cmocka_unit_test(without_gnuplot_the_tables_stand_alone),
        cmocka_unit_test(communication_has_a_section_if_declared),
        cmocka_unit_test(many_queues_do_not_swell_it),
        cmocka_unit_test(a_run_without_jobs_has_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
