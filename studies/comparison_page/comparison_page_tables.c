/* studies/comparison_page/comparison_page_tables.c -- candidate against base: what moved, who won, where they part. */
#include <math.h>
#include <string.h>

#include "reports/view.h"
#include "studies/comparison_page/comparison_page_inside.h"

enum {
    MOVED_MAX = 15, /* shown before the rest is unfolded */
    KEYS_MAX = 12,  /* a cut with as many keys is shown whole */
    ENDS_MAX = 5,   /* winners and losers of a longer one */
};

static const struct {
    const char *cut, *title;
} cuts[] = {{"class", "class"},         {"workload_class", "workload class"},
            {"size", "GPUs requested"}, {"gpu_model", "GPU model"},
            {"tenant", "tenant"},       {"queue", "queue"}};

static const char *mark_title(char mark)
{
    static const char *const titles[] = {"better",
                                         "worse",
                                         "moved; neither is better",
                                         "no clear difference",
                                         "equal with every seed",
                                         "not defined on both sides"};
    const char *at = strchr(comparison_marks, mark);
    return at != NULL && *at != '\0' ? titles[at - comparison_marks] : "";
}

static void open_table(const struct comparison *comparison, size_t side, const char *first, struct buffer *out)
{
    buffer_format(
        out, "<div class=\"scroll\"><table class=\"stacked\">\n<thead><tr><th scope=\"col\">%s</th><th scope=\"col\">",
        first);
    html_name(out, comparison->sides[0].name);
    buffer_string(out, "</th><th scope=\"col\">");
    html_name(out, comparison->sides[side].name);
    buffer_string(out, "</th><th scope=\"col\">difference</th></tr></thead>\n<tbody>\n");
}

/* A line may be broken behind '_'. */
static void write_metric(const struct metric_selector *of, struct buffer *out)
{
    struct buffer name = {0};
    metric_selector_write(of, &name);
    struct text rest = {name.bytes, name.length}, word;
    while (rest.length > 0 && text_cut(&rest, '_', &word)) {
        buffer_html(out, word);
        if (rest.at != NULL)
            buffer_string(out, "_<wbr>");
    }
    buffer_release(&name);
}

/* name NULL: the metric and what it is of. */
static void write_row(const struct difference *difference, const char *name, struct buffer *out)
{
    const struct metric *metric = metric_find(difference->of.metric);
    buffer_string(out, "<tr><th scope=\"row\" title=\"");
    buffer_html(out, text_of(metric != NULL ? metric->definition : ""));
    buffer_format(out, "\"><span class=\"mark %s\" title=\"%s\">%c</span> ", page_mark_class(difference->mark),
                  mark_title(difference->mark), difference->mark);
    if (name != NULL)
        html_name(out, name);
    else
        write_metric(&difference->of, out);
    buffer_string(out, "</th>");
    page_value(difference, difference->base, out);
    buffer_string(out, "</td>");
    page_value(difference, difference->candidate, out);
    buffer_string(out, "</td><td>");
    page_difference(difference, true, out);
    buffer_string(out, "</td></tr>\n");
}

static void close_table(struct buffer *out)
{
    buffer_string(out, "</tbody></table></div>\n");
}

/* ---- what moved ---- */

static void write_counts(const struct comparison *comparison, size_t side, struct buffer *out)
{
    static const char *const words[COMPARISON_MARKS] = {
        "better", "worse", "moved", "without a clear difference", "equal", "not defined on both sides"};
    size_t counts[COMPARISON_MARKS], all = 0, told = 0;
    comparison_count_marks(comparison, side, NULL, NULL, counts);
    for (size_t m = 0; m < COMPARISON_MARKS; m++)
        all += counts[m];
    buffer_format(out, "<p class=\"note\">Of %zu metrics of the whole run: ", all);
    for (size_t m = 0; m < COMPARISON_MARKS; m++)
        if (counts[m] > 0)
            buffer_format(out, "%s%zu %s (%c)", told++ == 0 ? "" : ", ", counts[m], words[m], comparison_marks[m]);
    if (!comparison->is_exact && comparison_pair_count(comparison, side) > 1)
        buffer_format(out,
                      ". In brackets the %.3g&nbsp;%% interval of the difference. Each metric is judged alone: of a "
                      "hundred without a difference about %.2g bear a mark by chance",
                      100 * comparison->level, 100 * (1 - comparison->level));
    buffer_string(out, ".</p>\n");
}

static void write_moved(const struct comparison *comparison, size_t side, struct buffer *out)
{
    size_t count, clear;
    struct difference *list = comparison_sorted_new(comparison, side, false, &count);
    const size_t shown = comparison_shown_count(list, count, MOVED_MAX, &clear);
    buffer_string(out, shown == 0 ? "" : clear > 0 ? "<h3>What moved most</h3>\n" : "<h3>Nothing moved clearly</h3>\n");
    write_counts(comparison, side, out);
    if (shown > 0) {
        open_table(comparison, side, "metric", out);
        for (size_t i = 0; i < shown; i++)
            write_row(&list[i], NULL, out);
        close_table(out);
    }
    if (count > shown) {
        buffer_format(out, "<details><summary>the other %zu</summary>\n", count - shown);
        open_table(comparison, side, "metric", out);
        for (size_t i = shown; i < count; i++)
            write_row(&list[i], NULL, out);
        close_table(out);
        buffer_string(out, "</details>\n");
    }
    mem_free(list);
}

/* ---- who won ---- */

static bool is_end(const struct difference *const *list, size_t i, size_t count)
{
    return (i < ENDS_MAX && list[i]->mark == '+') || (count - i <= ENDS_MAX && list[i]->mark == '-');
}

static void write_cut(const struct comparison *comparison, size_t side, size_t cut, const char *metric,
                      struct buffer *out)
{
    size_t count, counts[COMPARISON_MARKS];
    const struct difference **list = comparison_cut_new(comparison, side, cuts[cut].cut, metric, &count);
    comparison_count_marks(comparison, side, cuts[cut].cut, metric, counts);
    if (count > 1) {
        const bool is_whole = count <= KEYS_MAX;
        buffer_format(out, "<details%s><summary>By %s: %zu won, %zu lost, %zu other%s</summary>\n",
                      cut < 3 ? " open" : "", cuts[cut].title, counts[0], counts[1], count - counts[0] - counts[1],
                      is_whole ? "" : "; the clearest");
        open_table(comparison, side, cuts[cut].title, out);
        for (size_t i = 0; i < count; i++)
            if (is_whole || is_end(list, i, count))
                write_row(list[i], list[i]->of.key, out);
        close_table(out);
        buffer_string(out, "</details>\n");
    }
    mem_free(list);
}

void page_candidate(const struct comparison *comparison, size_t side, const struct comparison_show *show,
                    struct buffer *out)
{
    struct buffer first = {0};
    const size_t pairs = comparison_pair_count(comparison, side);
    buffer_string(out, "<section class=\"candidate\"><h2>");
    html_name(out, comparison->sides[side].name);
    buffer_string(out, " against ");
    html_name(out, comparison->sides[0].name);
    buffer_string(out, "</h2>\n");
    if (comparison->is_exact)
        buffer_string(out, "<p class=\"note\">Exact, n = 1.</p>\n");
    else
        buffer_format(out, "<p class=\"note\">%zu pair%s of runs.</p>\n", pairs, pairs == 1 ? "" : "s");
    if (pairs == 0) {
        buffer_string(out, "<p>There is no seed that both sides have run: nothing can be compared.</p>\n");
    } else {
        write_moved(comparison, side, out);
        buffer_format(out, "<h3>Who won and who lost, by %s</h3>\n", show->winner_metric);
        for (size_t cut = 0; cut < sizeof cuts / sizeof *cuts; cut++)
            if (strcmp(cuts[cut].cut, "tenant") != 0 || comparison_has_tenants(comparison))
                write_cut(comparison, side, cut, show->winner_metric, out);
    }
    if (comparison_write_first(comparison, side, "", &first)) {
        buffer_format(out, "<h3>The first decision that differs, with seed %llu</h3>\n<pre>",
                      (unsigned long long)comparison->seeds[0]);
        buffer_html(out, (struct text){first.bytes, first.length});
        buffer_string(out, "</pre>\n");
    }
    first.length = 0;
    if (comparison_write_long(comparison, side, "", &first)) {
        buffer_string(out, "<h3>" COMPARISON_LONG_HEADING "</h3>\n<pre>");
        buffer_html(out, (struct text){first.bytes, first.length});
        buffer_string(out, "</pre>\n");
    }
    buffer_release(&first);
    buffer_string(out, "</section>\n");
}
