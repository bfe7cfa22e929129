/* tests/unit/test_plot.c -- gnuplot draws, is missing, hangs, lies; and nobody's text reaches it. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test.h"

#include "reports/plot.h"
#include "reports/plot_script.h"

static const double xs[] = {1, 10, 1000}, ys[] = {0, 50, 100};

static const struct plot_paper on_page = {.form = PLOT_FORM_PAGE};

static char scratch[64];

static int make_scratch(void **state)
{
    (void)state;
    strcpy(scratch, "/tmp/windtunnel-test-XXXXXX");
    return mkdtemp(scratch) == NULL ? -1 : 0;
}

/* Fails unless every plot took its own folder away. */
static int remove_scratch(void **state)
{
    (void)state;
    char path[96];
    snprintf(path, sizeof path, "%s/fake", scratch);
    unlink(path);
    return rmdir(scratch);
}

static struct plot plot_of(struct plot_series *series, const char *text)
{
    series[0] =
        (struct plot_series){.label = text, .x = xs, .y = ys, .count = 3, .colour = PLOT_SKY, .is_filled = true};
    series[1] =
        (struct plot_series){.label = "second", .x = xs, .y = ys, .count = 3, .colour = PLOT_BLACK, .is_dashed = true};
    return (struct plot){.title = text,
                         .description = text,
                         .id = "p",
                         .series = series,
                         .series_count = 2,
                         .x_kind = PLOT_X_DURATION_LOG,
                         .y_kind = PLOT_Y_PERCENT,
                         .x_min = 1,
                         .x_max = 1000,
                         .y_max = 100};
}

static size_t occurrences(struct buffer *text, const char *piece)
{
    size_t count = 0;
    for (const char *at = buffer_c_string(text); (at = strstr(at, piece)) != NULL; at++)
        count++;
    return count;
}

TEST_WITH(a_plot_is_drawn_and_dressed, make_scratch, remove_scratch)
{
    if (access("/usr/bin/gnuplot", X_OK) != 0 && access("/usr/local/bin/gnuplot", X_OK) != 0) {
        print_message("skipped: no gnuplot (make deps installs it)\n");
        skip();
    }
    struct plot_series series[2];
    struct plot plot = plot_of(series, "a & b");
    struct plot_tool tool = {.scratch = scratch};
    struct buffer svg = {0}, again = {0};
    struct error error = plot_svg(&plot, &tool, &svg);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    assert_int_equal(occurrences(&svg, "<svg "), 1);
    assert_int_equal(strncmp(buffer_c_string(&svg), "<svg viewBox=", 13), 0);
    assert_string_equal(buffer_c_string(&svg) + svg.length - 7, "</svg>\n");
    assert_int_equal(occurrences(&svg, "<title id=\"p-title\">a &amp; b</title>"), 1);
    assert_int_equal(occurrences(&svg, "<g class=\"series c3\"><title>a &amp; b</title>"), 2); /* fill and line */
    assert_int_equal(occurrences(&svg, "<g class=\"series c1\"><title>second</title>"), 1);
    assert_true(occurrences(&svg, "<polygon") >= 1);
    assert_int_equal(occurrences(&svg, "10 min"), 1);
    assert_int_equal(occurrences(&svg, "gnuplot"), 0);
    assert_int_equal(occurrences(&svg, "http"), 0);
    error = plot_svg(&plot, &tool, &again);
    assert_false(error_is(error));
    assert_string_equal(buffer_c_string(&svg), buffer_c_string(&again));
    buffer_release(&svg);
    buffer_release(&again);
}

TEST_WITH(nobody_s_text_is_in_the_script, make_scratch, remove_scratch)
{
    static const char nasty[] = "x'`touch /tmp/windtunnel-was-here`'\n!id\nplot '< id' \"%s\\";
    struct plot_series series[2];
    struct plot nasty_plot = plot_of(series, nasty);
    struct buffer script = {0}, plain = {0};
    plot_script(&nasty_plot, &on_page, &script);
    struct plot_series plain_series[2];
    struct plot plain_plot = plot_of(plain_series, "x");
    plot_script(&plain_plot, &on_page, &plain);
    assert_string_equal(buffer_c_string(&script), buffer_c_string(&plain));
    assert_int_equal(occurrences(&script, "`"), 0);
    assert_int_equal(occurrences(&script, "\""), 0);
    assert_int_equal(occurrences(&script, "<"), 0);
    assert_int_equal(occurrences(&script, "noenhanced"), 1);
    buffer_release(&script);
    buffer_release(&plain);

    struct buffer svg = {0};
    struct error error = plot_svg(&nasty_plot, &(struct plot_tool){.scratch = scratch}, &svg);
    if (!error_is(error))
        assert_int_equal(occurrences(&svg, "&#39;&lt; id&#39;"), 4); /* title, about, fill, line */
    error_release(&error);
    assert_int_equal(access("/tmp/windtunnel-was-here", F_OK), -1);
    buffer_release(&svg);
}

/* A print has labels, but only of letters, digits and a few marks. */
TEST(a_print_holds_harmless_text)
{
    struct plot_series series[2];
    struct plot plot = plot_of(series, "a'`id`\\\n\"!b, (c) 5 %");
    struct buffer script = {0};
    plot_script(&plot, &(struct plot_paper){.form = PLOT_FORM_PDF, .x_text = "x'$y", .y_text = "GPUs"}, &script);
    assert_int_equal(occurrences(&script, "title 'a??id?????b, (c) 5 %'"), 1);
    assert_int_equal(occurrences(&script, "set xlabel 'x??y'"), 1);
    assert_int_equal(occurrences(&script, "`"), 0);
    assert_int_equal(occurrences(&script, "\""), 0);
    buffer_release(&script);
}

/* The first bar is on top, with its length behind it. */
TEST(bars_are_drawn)
{
    static const double x[] = {40, 100, 0, 40}, y[] = {0, 1};
    const struct plot_series series[] = {
        {.label = "free", .x = x, .y = y, .count = 1, .colour = PLOT_GREEN, .is_bar = true},
        {.label = "busy", .x = x + 2, .y = y + 1, .count = 1, .colour = PLOT_BLUE, .is_bar = true}};
    const struct plot plot = {.title = "t",
                              .description = "d",
                              .id = "i",
                              .series = series,
                              .series_count = 2,
                              .y_kind = PLOT_Y_NAMES,
                              .x_max = 110,
                              .y_min = -0.6,
                              .y_max = 1.6};
    struct buffer data = {0}, script = {0};
    plot_data(&series[0], &data);
    assert_string_equal(buffer_c_string(&data), "40 100 0\n");
    plot_script(&plot, &on_page, &script);
    assert_int_equal(occurrences(&script, "('free' 0, 'busy' 1)"), 1);
    assert_int_equal(occurrences(&script, "set yrange [1.6000:-0.6000]"), 1);
    assert_int_equal(occurrences(&script, "set label '60.0 %' at 100.0000,0.0000"), 1);
    assert_int_equal(occurrences(&script, "with boxyerror"), 0);
    assert_int_equal(occurrences(&script, "with boxxyerror"), 2);
    assert_int_equal(occurrences(&script, "with lines"), 0);
    buffer_release(&data);
    buffer_release(&script);
}

/* A value that is not known breaks the line; a band has no line of its own, and belongs to the fills. */
TEST(gaps_and_bands_are_drawn)
{
    static const double x[] = {1, 2, 3}, y[] = {4, NAN, 6}, low[] = {3, 3, 3};
    const struct plot_series series[] = {
        {.x = x, .y = x, .base = low, .count = 3, .colour = PLOT_BLUE, .is_band = true},
        {.label = "mean", .x = x, .y = y, .count = 3, .colour = PLOT_BLUE}};
    const struct plot plot = {.title = "t",
                              .description = "d",
                              .id = "i",
                              .series = series,
                              .series_count = 2,
                              .x_max = 3,
                              .y_min = -1,
                              .y_max = 6};
    struct buffer data = {0}, script = {0};
    plot_data(&series[1], &data);
    assert_string_equal(buffer_c_string(&data), "1 4\n\n3 6\n");
    plot_script(&plot, &on_page, &script);
    assert_non_null(strstr(buffer_c_string(&script), "set yrange [-1:6]\n"));
    assert_non_null(strstr(buffer_c_string(&script), "plot 'a' using 1:2:3 with filledcurves"));
    assert_non_null(strstr(buffer_c_string(&script), ", 'b' using 1:2 with lines"));
    assert_null(strstr(buffer_c_string(&script), "'a' using 1:2 with lines"));
    buffer_release(&data);
    buffer_release(&script);
}

/* A scratch folder whose name would break out of a quoted path. */
TEST_WITH(a_nasty_scratch_folder_is_harmless, make_scratch, remove_scratch)
{
    if (access("/usr/bin/gnuplot", X_OK) != 0 && access("/usr/local/bin/gnuplot", X_OK) != 0) {
        print_message("skipped: no gnuplot (make deps installs it)\n");
        skip();
    }
    char path[96];
    snprintf(path, sizeof path, "%s/it's `a` \"test\"", scratch);
    assert_int_equal(mkdir(path, 0700), 0);
    struct plot_series series[2];
    struct plot plot = plot_of(series, "t");
    struct buffer svg = {0};
    struct error error = plot_svg(&plot, &(struct plot_tool){.scratch = path}, &svg);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    assert_true(svg.length > 1000);
    buffer_release(&svg);
    assert_int_equal(rmdir(path), 0);
}

/* Put a program in gnuplot's place; the plot must fail, say `piece`, and append nothing. */
static void check_fails(const char *program, unsigned limit_ms, const char *piece)
{
    char path[96];
    snprintf(path, sizeof path, "%s/fake", scratch);
    if (program != NULL) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "#!/bin/sh\n%s\n", program);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(chmod(path, 0700), 0);
    }
    struct plot_series series[2];
    struct plot plot = plot_of(series, "t");
    struct plot_tool tool = {.gnuplot = path, .scratch = scratch, .limit_ms = limit_ms};
    struct buffer svg = {0};
    buffer_string(&svg, "before");
    struct error error = plot_svg(&plot, &tool, &svg);
    assert_int_equal(error.kind, ERROR_IO);
    if (strstr(error_message(&error), piece) == NULL)
        fail_msg("expected '%s' in '%s'", piece, error_message(&error));
    assert_string_equal(buffer_c_string(&svg), "before");
    error_release(&error);
    buffer_release(&svg);
}

TEST_WITH(failures_of_gnuplot_are_told, make_scratch, remove_scratch)
{
    check_fails(NULL, 0, "not installed");
    check_fails("exit 3", 0, "status 3");
    check_fails("kill -9 $$", 0, "signal 9");
    check_fails("exit 0", 0, "plot.svg");
    check_fails("sleep 60 & sleep 60", 60, "longer than 60 ms");
    check_fails("echo '<svg><g id=\"gnuplot_canvas\"><defs></defs>' > plot.svg", 0, "whole SVG");
    check_fails("echo '</svg>' > plot.svg", 0, "whole SVG");
}

TEST_WITH(the_environment_is_empty, make_scratch, remove_scratch)
{
    assert_int_equal(setenv("WINDTUNNEL_SECRET", "1", 1), 0);
    check_fails("[ -z \"$WINDTUNNEL_SECRET$HOME\" ] && exit 4; exit 5", 0, "status 4");
}
