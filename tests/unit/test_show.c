/* tests/unit/test_show.c -- one document in three media: what is said stands in each, escaped; names are no markup. */
#include <math.h>

#include "tests/support/test.h"

#include "reports/show.h"
#include "reports/view.h"

#define NASTY "<b>&|`*\x1b[2J\n\xe2\x80\xae"

static struct show *example_new(void)
{
    struct show *show = show_new("<title>");
    buffer_string(show_line(show, SHOW_LEAD), "of " NASTY);
    show_section(show, "Queue time");
    buffer_string(show_line(show, SHOW_NOTE), "how to read it");
    show_table(show, "class", "jobs", "<difference", NULL);
    show_column(show, NASTY);
    show_rows_shown(show, 2);
    show_row(show, "training");
    show_mark(show, '-');
    show_value(show, view_count, 1234);
    buffer_string(show_cell(show), "+12.3 %");
    buffer_string(show_below(show), "(+1.0 to +20.0 %)");
    show_state(show, '-');
    show_value(show, view_amount, 1.0 / 3);
    show_row(show, NASTY);
    show_row(show, "the third");
    show_fold(show, "folded", false);
    show_table(show, NULL);
    show_row(show, "Jobs");
    buffer_string(show_cell(show), NASTY);
    show_unfold(show);
    buffer_string(show_line(show, SHOW_ITEM), "a gate");
    show_mark(show, '+');
    show_on(show, SHOW_PAGE);
    buffer_string(show_line(show, SHOW_WARNING), "page alone");
    show_on(show, SHOW_WORDS);
    buffer_string(show_line(show, SHOW_PLAIN), "words alone");
    return show;
}

static bool has(struct buffer *text, const char *piece)
{
    return strstr(buffer_c_string(text), piece) != NULL;
}

TEST(text_has_titles_as_heads_and_notes_below)
{
    struct show *show = example_new();
    struct buffer out = {0};
    show_text(show, &out);
    static const char lead[] = "of <b>&|`*\xe2\x90\x9b[2J\xe2\x90\x8a\xef\xbf\xbd\n\n";
    static const char rest[] = "    folded\n";
    assert_memory_equal(out.bytes, lead, sizeof lead - 1);
    assert_true(has(&out, "\nQueue time           jobs   difference "));
    assert_true(has(&out, "\n  - training        1,234   +12.3 % (+1.0 to +20.0 %) "));
    assert_true(has(&out, "0.33\n"));
    assert_true(has(&out, "\n  and 1 more\n  how to read it\nfolded\nJobs  <b>"));
    assert_true(has(&out, "\n  a gate\nwords alone\n"));
    assert_false(has(&out, "page alone") || has(&out, "\x1b") || has(&out, "the third") || has(&out, rest));
    buffer_release(&out);
    show_free(show);
}

TEST(the_page_escapes_and_keeps_each_bit)
{
    struct show *show = example_new();
    struct buffer out = {0};
    show_page(show, NULL, &out);
    static const char *const held[] = {"<h1>&lt;title&gt;</h1>",
                                       "<section><h2>Queue time</h2>\n<p class=\"note\">how to read it</p>",
                                       "<data value=\"0.3333333333333333\">0.33</data>",
                                       "<td class=\"left\">+12.3 %<small class=\"unmet\">(+1.0 to +20.0 %)</small>",
                                       "<span class=\"mark unmet\" title=\"worse\">-</span> training",
                                       "<details><summary>the other 1</summary>",
                                       "&lt;b&gt;&amp;|`*\xe2\x90\x9b[2J\xe2\x90\x8a\xef\xbf\xbd",
                                       "<li class=\"met\">a gate</li>\n</ul>",
                                       "<p class=\"warn\">page alone</p>"};
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
        if (!has(&out, held[i]))
            fail_msg("the page lacks: %s", held[i]);
    assert_false(has(&out, "<b>") || has(&out, "words alone") || has(&out, "\xe2\x80\xae"));
    buffer_release(&out);
    show_free(show);
}

TEST(markdown_has_rows_that_nothing_breaks)
{
    struct show *show = example_new();
    struct buffer out = {0};
    show_markdown(show, &out);
    assert_true(has(&out, "\n## Queue time\n\nhow to read it\n"));
    assert_true(has(&out, "\n|---|---:|---|---:|\n| `-` training | 1,234 | +12.3 % (+1.0 to +20.0 %) | 0.33 |\n"));
    assert_true(has(&out, "| ` ` \\<b\\>&\\|\\`\\*"));
    assert_true(has(&out, "- \xe2\x9c\x85 a gate\n"));
    assert_false(has(&out, "page alone"));
    buffer_release(&out);
    show_free(show);
}

/* Lines are broken at blanks; of a wide table the heads are, and a long name stands above its row, whole. */
TEST(nothing_is_wider_than_the_screen)
{
    struct show *show = show_new(NULL);
    struct buffer out = {0}, *line = show_line(show, SHOW_NOTE);
    for (int i = 0; i < 100; i++)
        buffer_string(line, "a few words ");
    show_section(show, "");
    show_table(show, "name", NULL);
    for (int c = 0; c < 6; c++)
        show_column(show, "a head of words");
    show_row(show, "a name that has sixty characters, all of which are needed...");
    for (int c = 0; c < 6; c++)
        show_value(show, view_count, 1e6 + c);
    show_text(show, &out);
    assert_true(has(&out, "  a name that has sixty characters, all of which are needed...\n"));
    assert_true(has(&out, "1,000,005\n"));
    struct text rest = {out.bytes, out.length}, piece; /* after `has`, which may move the bytes */
    while (rest.length > 0 && text_cut(&rest, '\n', &piece))
        assert_true(view_width(piece) <= SHOW_WIDTH);
    buffer_release(&out);
    show_free(show);
}

/* The table of a figure: at the times of the first series, from each series the value that holds there. */
TEST(a_figure_has_its_data)
{
    static const double x[] = {1, 2, 3}, y[] = {10, 20, 30}, other_x[] = {1.5, 2.5}, other_y[] = {7, 8};
    static const struct plot_series series[] = {
        {.label = "one", .x = x, .y = y, .count = 3, .colour = PLOT_BLUE},
        {.label = "other", .x = other_x, .y = other_y, .count = 2, .colour = PLOT_PINK}};
    static const struct plot_series more = {.label = "more", .x = other_x, .y = other_y, .count = 2};
    const struct plot_tool tool = {.gnuplot = "/nonexistent/gnuplot"};
    struct show *show = show_new("figure");
    struct buffer out = {0};
    show_figure(show, &(struct show_figure){.plot = {.title = "t",
                                                     .description = "d",
                                                     .id = "f",
                                                     .series = series,
                                                     .series_count = 2,
                                                     .x_max = 3,
                                                     .y_max = 30},
                                            .y_text = "y",
                                            .x_text = "x",
                                            .first = "at",
                                            .more = &more,
                                            .more_count = 1});
    show_page(show, &tool, &out);
    assert_true(has(&out, "<details open><summary>Data</summary>"));
    assert_true(has(&out, "<th scope=\"row\">1</th><td>10</td><td>7.0</td>"));
    assert_true(has(&out, "<th scope=\"row\">3</th><td>30</td><td>\xe2\x80\x93</td>"));
    assert_false(has(&out, ">other<")); /* a line of two points */
    out.length = 0;
    show_text(show, &out);
    assert_int_equal(out.length, 0);
    buffer_release(&out);
    show_free(show);
}
