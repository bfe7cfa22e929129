/* studies/comparison_show/comparison_text.c -- a comparison as a screen of text. */
#include <math.h>
#include <string.h>

#include "reports/view.h"
#include "studies/comparison_show/comparison_view.h"

enum {
    MOVED_MAX = 15,  /* metrics that are shown without is_all */
    ENDS_MAX = 3,    /* winners and losers of a cut */
    KEYS_MAX = 8,    /* a cut with as many keys is shown whole */
    NAME_WIDTH = 30, /* of a key */
    VALUE_WIDTH = 12,
    TITLE_WIDTH = 20, /* at least, of a metric */
};

static const char *const cuts[] = {"class", "workload_class", "size", "gpu_model", "tenant", "queue", NULL};
static const char *const cut_titles[] = {"class", "workload class", "size", "GPU model", "tenant", "queue"};

static void pad(struct buffer *out, size_t start, size_t width)
{
    const size_t have = view_width((struct text){out->bytes + start, out->length - start});
    for (size_t i = have; i < width; i++)
        buffer_char(out, ' ');
}

/* Right-aligned, with two blanks before it. */
static void column(struct buffer *out, const struct buffer *text, size_t width)
{
    const size_t have = view_width((struct text){text->bytes, text->length});
    buffer_string(out, "  ");
    for (size_t i = have; i < width; i++)
        buffer_char(out, ' ');
    buffer_bytes(out, text->bytes, text->length);
}

static void value_column(struct buffer *out, const struct difference *difference, double value)
{
    struct buffer text = {0};
    comparison_write_value(difference, value, &text);
    column(out, &text, VALUE_WIDTH);
    buffer_release(&text);
}

static void name_column(struct buffer *out, const char *name)
{
    struct buffer text = {0};
    view_name(&text, name, VALUE_WIDTH);
    column(out, &text, VALUE_WIDTH);
    buffer_release(&text);
}

static void write_row(const struct difference *difference, size_t width, struct buffer *out)
{
    buffer_format(out, "  %c ", difference->mark);
    const size_t start = out->length;
    metric_selector_write(&difference->of, out);
    pad(out, start, width);
    value_column(out, difference, difference->base);
    value_column(out, difference, difference->candidate);
    buffer_string(out, "  ");
    difference_write(difference, out);
    buffer_char(out, '\n');
}

/* ---- gates ---- */

static void write_gates(const struct comparison *comparison, struct buffer *out)
{
    comparison_write_verdict(comparison, out);
    buffer_char(out, '\n');
    for (size_t i = 0; i < comparison->verdict_count; i++) {
        buffer_string(out, "  ");
        gate_write(&comparison->verdicts[i].test, &comparison->verdicts[i].result, out);
        buffer_char(out, '\n');
    }
}

/* ---- what moved ---- */

static size_t widest(const struct difference *list, size_t count)
{
    size_t width = 0;
    struct buffer text = {0};
    for (size_t i = 0; i < count; i++) {
        text.length = 0;
        metric_selector_write(&list[i].of, &text);
        const size_t own = view_width((struct text){text.bytes, text.length});
        width = own > width ? own : width;
    }
    buffer_release(&text);
    return width;
}

static void write_counts(const struct comparison *comparison, size_t side, bool is_all, struct buffer *out)
{
    static const char *const words[COMPARISON_MARKS] = {
        "better", "worse", "moved", "without a clear difference", "equal", "not defined on both sides"};
    size_t counts[COMPARISON_MARKS], all = 0, shown = 0;
    comparison_count_marks(comparison, side, is_all ? "" : NULL, NULL, counts);
    for (size_t m = 0; m < COMPARISON_MARKS; m++)
        all += counts[m];
    buffer_format(out, "  Of %zu metrics%s", all, is_all ? "" : " of the whole run");
    for (size_t m = 0; m < COMPARISON_MARKS; m++)
        if (counts[m] > 0)
            buffer_format(out, "%s%zu %s (%c)", shown++ == 0 ? ": " : ", ", counts[m], words[m], comparison_marks[m]);
    buffer_char(out, '\n');
}

static void write_moved(const struct comparison *comparison, size_t side, bool is_all, struct buffer *out)
{
    size_t count, clear;
    struct difference *list = comparison_sorted_new(comparison, side, is_all, &count);
    const size_t shown = comparison_shown_count(list, count, is_all ? count : MOVED_MAX, &clear);
    size_t width = widest(list, shown);
    width = width < TITLE_WIDTH ? TITLE_WIDTH : width;
    if (shown > 0) {
        const size_t start = out->length;
        buffer_string(out, is_all      ? "    all metrics"
                           : clear > 0 ? "    what moved most"
                                       : "    nothing moved clearly");
        pad(out, start, width + 4);
        name_column(out, comparison->sides[0].name);
        name_column(out, comparison->sides[side].name);
        buffer_string(out, "  difference\n");
    }
    for (size_t i = 0; i < shown; i++)
        write_row(&list[i], width, out);
    write_counts(comparison, side, is_all, out);
    if (clear > shown)
        buffer_format(out, "  %zu more that moved: --all lists them\n", clear - shown);
    if (!comparison->is_exact && comparison_pair_count(comparison, side) == 1)
        buffer_format(out, "  One pair has no interval: chance may explain any of this.%s\n",
                      comparison->options->fork == NULL ? " --seeds asks for more." : "");
    mem_free(list);
}

/* ---- who won ---- */

static void write_key(const struct difference *difference, struct buffer *out)
{
    buffer_format(out, "    %c ", difference->mark);
    const size_t start = out->length;
    view_name(out, difference->of.key, NAME_WIDTH);
    pad(out, start, NAME_WIDTH);
    value_column(out, difference, difference->base);
    value_column(out, difference, difference->candidate);
    buffer_string(out, "  ");
    difference_write(difference, out);
    buffer_char(out, '\n');
}

static void write_cut(const struct comparison *comparison, size_t side, size_t cut, const char *metric,
                      struct buffer *out)
{
    size_t count, counts[COMPARISON_MARKS];
    const struct difference **list = comparison_cut_new(comparison, side, cuts[cut], metric, &count);
    comparison_count_marks(comparison, side, cuts[cut], metric, counts);
    if (count > 1) {
        buffer_format(out, "  by %s: %zu won, %zu lost, %zu other\n", cut_titles[cut], counts[0], counts[1],
                      count - counts[0] - counts[1]);
        for (size_t i = 0; i < count; i++) {
            const bool is_end =
                (i < ENDS_MAX && list[i]->mark == '+') || (count - i <= ENDS_MAX && list[i]->mark == '-');
            if (count <= KEYS_MAX || is_end)
                write_key(list[i], out);
        }
    }
    mem_free(list);
}

static void write_first(const struct comparison *comparison, size_t side, struct buffer *out)
{
    struct buffer text = {0};
    if (comparison_write_first(comparison, side, "    ", &text)) {
        buffer_format(out, "\n  Where they part, with seed %llu\n", (unsigned long long)comparison->seeds[0]);
        buffer_bytes(out, text.bytes, text.length);
    }
    buffer_release(&text);
}

static void write_long(const struct comparison *comparison, size_t side, struct buffer *out)
{
    struct buffer text = {0};
    if (comparison_write_long(comparison, side, "    ", &text)) {
        buffer_string(out, "\n  " COMPARISON_LONG_HEADING "\n");
        buffer_bytes(out, text.bytes, text.length);
    }
    buffer_release(&text);
}

static void write_side(const struct comparison *comparison, size_t side, const struct comparison_show *show,
                       struct buffer *out)
{
    buffer_char(out, '\n');
    view_name(out, comparison->sides[side].name, 80);
    buffer_string(out, " against ");
    view_name(out, comparison->sides[0].name, 80);
    const size_t pairs = comparison_pair_count(comparison, side);
    if (comparison->is_exact)
        buffer_string(out, " (exact, n = 1)\n");
    else
        buffer_format(out, " (%zu pair%s)\n", pairs, pairs == 1 ? "" : "s");
    if (pairs == 0) {
        buffer_string(out, "  There is no seed that both sides have run: nothing can be compared.\n");
        return;
    }
    write_moved(comparison, side, show->is_all, out);
    write_long(comparison, side, out);
    write_first(comparison, side, out);
    struct buffer winners = {0};
    for (size_t cut = 0; cuts[cut] != NULL; cut++)
        if (strcmp(cuts[cut], "tenant") != 0 || comparison_has_tenants(comparison))
            write_cut(comparison, side, cut, show->winner_metric, &winners);
    if (winners.length > 0)
        buffer_format(out, "\n  Who won and who lost, by %s\n%s", show->winner_metric, buffer_c_string(&winners));
    buffer_release(&winners);
}

/* ---- all sides at a glance ---- */

enum { SIDES_MIN = 4, SIDE_WIDTH = 24 }; /* of the table; of the name of a side */

/* The metrics of the table and their headings. */
static const struct {
    const char *name, *heading;
} main_metrics[] = {{"jobs_completed", "completed"},   {"queue_time_mean_s", "mean wait"},
                    {"queue_time_p95_s", "p95 wait"},  {"slowdown_bounded_mean", "slowdown"},
                    {"allocation_ratio", "allocated"}, {"goodput_ratio", "goodput"},
                    {"preemptions", "preemptions"},    {"jain_fairness", "fairness"}};

/* The row of a metric of the whole run; SIZE_MAX: it has none. */
static size_t row_of(const struct comparison *comparison, const char *name)
{
    for (size_t r = 0; r < comparison->row_count; r++)
        if (comparison->rows[r].of.cut == NULL && strcmp(comparison->rows[r].metric->name, name) == 0)
            return r;
    return SIZE_MAX;
}

/* The value and the mark of a side; the base has a dot. */
static void table_cell(const struct comparison *comparison, size_t side, size_t row, struct buffer *out)
{
    const struct difference *difference = &comparison->differences[side == 0 ? 1 : side][row];
    struct buffer text = {0};
    comparison_write_value(difference, side == 0 ? difference->base : difference->candidate, &text);
    buffer_format(&text, " %c", side == 0 ? '.' : difference->mark);
    column(out, &text, VALUE_WIDTH);
    buffer_release(&text);
}

/* One line a side.  Base and candidate of a difference are of the seeds that both have run, so the base's line is that
 * of its pairs with the first candidate. */
static void write_table(const struct comparison *comparison, struct buffer *out)
{
    size_t rows[sizeof main_metrics / sizeof main_metrics[0]];
    if (comparison->side_count < SIDES_MIN)
        return;
    buffer_string(out, "\n  ");
    for (size_t i = 0; i < SIDE_WIDTH; i++)
        buffer_char(out, ' ');
    for (size_t m = 0; m < sizeof main_metrics / sizeof main_metrics[0]; m++) {
        struct buffer heading = {0};
        rows[m] = row_of(comparison, main_metrics[m].name);
        if (rows[m] == SIZE_MAX)
            continue;
        buffer_string(&heading, main_metrics[m].heading);
        column(out, &heading, VALUE_WIDTH);
        buffer_release(&heading);
    }
    buffer_char(out, '\n');
    for (size_t side = 0; side < comparison->side_count; side++) {
        buffer_string(out, "  ");
        const size_t start = out->length;
        view_name(out, comparison->sides[side].name, SIDE_WIDTH);
        pad(out, start, SIDE_WIDTH);
        for (size_t m = 0; m < sizeof main_metrics / sizeof main_metrics[0]; m++)
            if (rows[m] != SIZE_MAX)
                table_cell(comparison, side, rows[m], out);
        buffer_char(out, '\n');
    }
}

static void write_caveats(const struct comparison *comparison, struct buffer *out)
{
    for (size_t i = 0; i < comparison->caveat_count; i++) {
        buffer_string(out, "Mind: ");
        buffer_shown(out, text_of(comparison->warnings[i]));
        buffer_char(out, '\n');
    }
}

void comparison_write_text(const struct comparison *comparison, const struct comparison_show *show, struct buffer *out)
{
    write_caveats(comparison, out);
    write_gates(comparison, out);
    buffer_format(out, "%zu side%s, ", comparison->side_count, comparison->side_count == 1 ? "" : "s");
    comparison_write_seeds(comparison, out);
    if (comparison->look_count > 1)
        buffer_format(out, ", look %zu of at most %zu", comparison->look + 1, comparison->look_count);
    buffer_string(out, "; the base is ");
    comparison_write_base(comparison, out);
    buffer_char(out, '\n');
    write_table(comparison, out);
    for (size_t side = 1; side < comparison->side_count; side++)
        write_side(comparison, side, show, out);
    if (comparison->side_count > 1 && !comparison->is_exact && comparison->seed_count > 1)
        buffer_format(out,
                      "\nIn brackets the %.3g %% interval of the difference. Each metric is judged alone: of a hundred "
                      "without\na difference about %.2g bear a mark by chance. Gates decide, the table shows where to "
                      "look.\n",
                      100 * comparison->level, 100 * (1 - comparison->level));
}
