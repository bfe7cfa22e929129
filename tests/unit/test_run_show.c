/* tests/unit/test_run_show.c -- a run as a page and as text: nothing escapes, nothing is fetched, nothing is lost
 * without gnuplot, no line is wider than a screen. */
#include <stdio.h>

#include "tests/support/test.h"

#include "reports/run_figures.h"
#include "reports/run_show.h"
#include "reports/view.h"
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

static const struct plot_tool no_gnuplot = {.gnuplot = "/nonexistent/gnuplot"};

static struct metrics *metrics_of(const struct fake_run *run)
{
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    fake_run_feed(run, &sink);
    metrics_finish(metrics);
    return metrics;
}

static struct metrics *metrics_of_nothing(void)
{
    const struct run_facts facts = {.end = TIME_NS_PER_S, .gpu_count = 8, .is_partial = true};
    struct metrics *metrics = metrics_new();
    struct record_sink sink = metrics_sink(metrics);
    assert_false(error_is(sink.on_finished(sink.self, &facts)));
    metrics_finish(metrics);
    return metrics;
}

/* Frees the metrics; is_page: else the text. */
static void write_run(struct metrics *metrics, struct run_show options, const struct plot_tool *tool, bool is_page,
                      struct buffer *out)
{
    options.manifest = is_page ? &manifest : NULL;
    struct show *show = run_show_new(metrics, &options);
    if (is_page)
        show_page(show, tool, out);
    else
        show_text(show, out);
    show_free(show);
    metrics_free(metrics);
}

static void make_page(const struct fake_run *run, const struct run_show *options, struct buffer *out)
{
    write_run(metrics_of(run), options != NULL ? *options : (struct run_show){0}, NULL, true, out);
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

TEST(nasty_names_stay_text)
{
    const struct run_show options = {
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

TEST(without_gnuplot_the_tables_stand_alone)
{
    struct buffer page = {0};
    write_run(metrics_of(&nasty_run), (struct run_show){0}, &no_gnuplot, true, &page);
    check_harmless(&page);
    check_balanced(&page);
    assert_int_equal(occurrences(&page, "<svg"), 0);
    assert_int_equal(occurrences(&page, "No drawing: gnuplot is not installed"), 6);
    assert_int_equal(occurrences(&page, "<details open><summary>Data"), 5);
    buffer_release(&page);
}

/* With a row for each class that declares it and one for all; else there is no section. */
TEST(communication_has_a_section_if_declared)
{
    static const char *const classes[] = {"talks <b>", "plans", "odd", "silent"};
    struct fake_run run = nasty_run;
    run.workload_classes = classes;
    struct buffer silent = {0}, page = {0};
    make_page(&run, NULL, &silent);
    assert_int_equal(occurrences(&silent, "<h2>Communication, GPU h</h2>"), 0);
    run.communicates = true;
    make_page(&run, NULL, &page);
    check_harmless(&page);
    check_balanced(&page);
    assert_int_equal(occurrences(&page, "<h2>Communication, GPU h</h2>"), 1);
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

/* reports/run_tiles.h: a quantile over classes together is that of none. */
TEST(queue_times_have_a_tile_by_class)
{
    struct metrics *metrics = metrics_of(&nasty_run);
    size_t classes = 0;
    while (metrics_cut_key(metrics, "class", classes) != NULL)
        classes++;
    assert_in_range(classes, 2, 4);
    struct buffer page = {0};
    write_run(metrics, (struct run_show){0}, NULL, true, &page);
    assert_int_equal(occurrences(&page, "<dt>Queue time, "), classes);
    assert_int_equal(occurrences(&page, "<dt>Queue time</dt>"), 0);
    buffer_release(&page);
}

TEST(many_queues_do_not_swell_it)
{
    struct fake_run run = {.jobs = 60000, .gpus = 512, .queues = 20000, .seed = 8, .load = 0.9};
    struct buffer page = {0};
    make_page(&run, NULL, &page);
    assert_true(page.length < 2 << 20);
    assert_true(occurrences(&page, "more, in result.json") == 1);
    check_balanced(&page);
    buffer_release(&page);
}

TEST(a_run_without_jobs_is_shown)
{
    struct buffer page = {0}, text = {0};
    write_run(metrics_of_nothing(), (struct run_show){0}, NULL, true, &page);
    write_run(metrics_of_nothing(), (struct run_show){0}, NULL, false, &text);
    check_harmless(&page);
    assert_int_equal(occurrences(&page, "Partial: the run was stopped"), 1);
    assert_int_equal(occurrences(&text, "Partial: the run was stopped"), 1);
    assert_int_equal(occurrences(&page, "nan"), 0);
    buffer_release(&page);
    buffer_release(&text);
}

static void check_lines(struct buffer *table)
{
    for (size_t i = 0; i < table->length; i++) {
        unsigned char c = (unsigned char)table->bytes[i];
        assert_true(c >= 0x20 || c == '\n');
    }
    struct text rest = {table->bytes, table->length - 1}, line;
    assert_true(table->bytes[table->length - 1] == '\n');
    while (text_cut(&rest, '\n', &line))
        if (view_width(line) > SHOW_WIDTH)
            fail_msg("%zu columns: %.*s", view_width(line), (int)line.length, line.at);
}

TEST(no_line_is_wider_than_a_screen)
{
    static const char *const names[] = {
        "a-queue-with-a-name-that-goes-on-and-on-until-nobody-can-read-it-any-more-and-further",
        "\x1b]0;title\x07",
        "two\nlines",
        "",
        "tab\ttab",
        "q5",
        "q6",
        "q7",
        "q8",
        "q9",
        "q10",
        "q11"};
    struct fake_run run = {.jobs = 3000,
                           .gpus = 64,
                           .queues = 12,
                           .seed = 9,
                           .load = 3,
                           .price_usd_per_gpu_h = 98765.4,
                           .rejected_every = 7,
                           .workload_classes = names,
                           .queue_names = names,
                           .communicates = true};
    for (int is_large = 0; is_large < 2; is_large++) {
        struct buffer out = {0};
        run.span_s = is_large ? 300 * 86400.0 : 3600;
        write_run(metrics_of(&run), (struct run_show){.cluster = names[0], .policy = names[0]}, NULL, false, &out);
        check_lines(&out);
        assert_non_null(strstr(buffer_c_string(&out), "and 2 more"));
        assert_non_null(strstr(buffer_c_string(&out), "NeverFits"));
        assert_non_null(strstr(buffer_c_string(&out), "\nCommunication, GPU h "));
        buffer_release(&out);
    }
}

/* ---- several runs ---- */

static struct metrics *side_of(uint32_t jobs, double load)
{
    const struct fake_run run = {.jobs = jobs, .gpus = 64, .queues = 4, .seed = 4, .load = load, .warmup_s = 3600};
    return metrics_of(&run);
}

static void overlay(const struct run_line *lines, size_t count, const struct plot_tool *tool, struct buffer *out)
{
    struct show *show = show_new("sides");
    run_overlay(show, lines, count);
    show_page(show, tool, out);
    show_free(show);
}

/* Without gnuplot the tables hold all: a column for each run, in each figure, and the name as text.  The same run twice
 * has the same numbers in both columns. */
TEST(each_run_has_its_column)
{
    struct metrics *metrics = side_of(3000, 0.9);
    const struct run_line lines[] = {{"plain", metrics, run_line_colour(0)},
                                     {"<script>\xe2\x80\xae", metrics, run_line_colour(1)}};
    struct buffer out = {0};
    size_t rows = 0;
    overlay(lines, 2, &no_gnuplot, &out);
    const size_t figures = occurrences(&out, "No drawing: gnuplot is not installed");
    assert_true(figures >= 5); /* allocated, pending, and three classes at least */
    assert_int_equal(occurrences(&out, "<details open><summary>Data"), figures);
    assert_int_equal(occurrences(&out, "<th scope=\"col\">plain</th>"), figures);
    assert_int_equal(occurrences(&out, "<th scope=\"col\">&lt;script&gt;\xef\xbf\xbd</th>"), figures);
    assert_int_equal(occurrences(&out, "<script"), 0);
    assert_int_equal(occurrences(&out, "nan"), 0);
    check_balanced(&out);
    for (const char *at = buffer_c_string(&out); (at = strstr(at, "<tr><th scope=\"row\">")) != NULL; at++) {
        const char *a = strstr(at, "<td>"), *b = strstr(a + 4, "<td>"), *end = strstr(b, "</tr>");
        assert_memory_equal(a, b, (size_t)(end - b));
        assert_int_equal(b - a, end - b);
        rows++;
    }
    assert_true(rows > 60);
    buffer_release(&out);
    metrics_free(metrics);
}

/* A drawing has a line for each run, in its colour; one that ended at once has none, and hides no other. */
TEST(each_run_has_its_line)
{
    struct metrics *metrics[RUN_LINES_MAX];
    struct run_line lines[RUN_LINES_MAX];
    struct buffer out = {0};
    for (size_t i = 0; i < RUN_LINES_MAX; i++) {
        metrics[i] = i == 0 ? metrics_of_nothing() : side_of(500, 0.5 + 0.1 * (double)i);
        lines[i] = (struct run_line){"side", metrics[i], run_line_colour(i)};
    }
    overlay(lines, RUN_LINES_MAX, NULL, &out);
    if (occurrences(&out, "gnuplot is not installed") == 0) {
        const size_t drawings = occurrences(&out, "<svg ");
        assert_true(drawings >= 4);
        for (size_t i = 0; i < RUN_LINES_MAX; i++) {
            char line[32];
            snprintf(line, sizeof line, "<g class=\"series c%d\">", (int)run_line_colour(i));
            assert_true(i == 0 ? occurrences(&out, line) == 0 : occurrences(&out, line) >= drawings);
        }
    }
    out.length = 0;
    overlay(lines, 1, NULL, &out);
    assert_int_equal(occurrences(&out, "<section>"), 0);
    buffer_release(&out);
    for (size_t i = 0; i < RUN_LINES_MAX; i++)
        metrics_free(metrics[i]);
}
