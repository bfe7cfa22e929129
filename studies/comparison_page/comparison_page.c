#include "studies/comparison_page/comparison_page.h"

#include "reports/html_overlay.h"
#include "reports/record_read.h"
#include "reports/view.h"
#include "studies/comparison_page/comparison_page_inside.h"

enum { FAILURES_MAX = 20 };

/* ---- head ---- */

static void write_title(const struct comparison *comparison, struct buffer *out)
{
    const size_t count = comparison->side_count;
    if (count == 2) {
        view_name(out, comparison->sides[1].name, 60);
        buffer_string(out, " against ");
        view_name(out, comparison->sides[0].name, 60);
        return;
    }
    for (size_t side = 0; side < count; side++) {
        buffer_string(out, side == 0 ? "" : side + 1 == count ? " and " : ", ");
        view_name(out, comparison->sides[side].name, 40);
    }
    if (count > 2)
        buffer_string(out, " compared");
}

static void write_head(const struct comparison *comparison, struct buffer *out)
{
    struct buffer title = {0};
    write_title(comparison, &title);
    html_page_open(buffer_c_string(&title), out);
    buffer_string(out, "<h1>");
    html_name(out, buffer_c_string(&title));
    buffer_string(out, "</h1>\n<p class=\"sub\">The same jobs and the same chance on each side \xc2\xb7 ");
    comparison_write_seeds(comparison, out);
    buffer_string(out, " \xc2\xb7 the base is ");
    html_name(out, comparison->sides[0].name);
    buffer_string(out, " \xc2\xb7 Windtunnel ");
    html_name(out, comparison->options->version);
    buffer_string(out, "</p>\n");
    buffer_release(&title);
}

static void write_warning(const char *text, struct buffer *out)
{
    struct buffer shown = {0};
    view_name(&shown, text, 2000);
    buffer_string(out, "<p class=\"warn\">");
    buffer_html(out, (struct text){shown.bytes, shown.length});
    buffer_string(out, "</p>\n");
    buffer_release(&shown);
}

static void write_warnings(const struct comparison *comparison, struct buffer *out)
{
    const struct comparison_run *run;
    struct buffer text = {0};
    size_t side;
    if (comparison->is_partial)
        write_warning("Partial: the comparison was stopped before its end. It shows what was done.", out);
    if (comparison->failed_count > 0) {
        buffer_format(&text, "Incomplete: %zu of %zu runs failed. Each is left out on both sides of its pair.",
                      comparison->failed_count, comparison->run_count);
        write_warning(buffer_c_string(&text), out);
    }
    for (size_t i = 0; i < FAILURES_MAX && (run = comparison_failed(comparison, i, &side)) != NULL; i++) {
        text.length = 0;
        buffer_format(&text, "The run of %s with seed %llu failed: %s", comparison->sides[side].name,
                      (unsigned long long)run->seed, run->failure);
        write_warning(buffer_c_string(&text), out);
    }
    for (size_t i = 0; i < comparison->warning_count; i++) {
        text.length = 0;
        buffer_format(&text, "Warning: %s", comparison->warnings[i]);
        write_warning(buffer_c_string(&text), out);
    }
    buffer_release(&text);
}

/* ---- curves ---- */

/* Jobs, samples and facts; the curves need no attempts. */
static struct error read_curves(const char *record, struct metrics *metrics)
{
    struct record_sink sink = metrics_sink(metrics);
    sink.on_attempt = NULL;
    sink.on_gang = NULL;
    TRY(record_read(record, &sink));
    metrics_finish(metrics);
    return ERROR_OK;
}

static void note_without(const struct comparison *comparison, size_t side, const char *why, struct buffer *out)
{
    buffer_string(out, "<p class=\"note\">");
    html_name(out, comparison->sides[side].name);
    buffer_string(out, " has no curves: ");
    html_name(out, why);
    buffer_string(out, ".</p>\n");
}

static const char *why_without(const struct comparison *comparison, size_t side, size_t drawn)
{
    const struct comparison_run *run = &comparison->sides[side].runs[0];
    if (drawn == HTML_OVERLAY_MAX)
        return "so many lines cannot be told apart";
    if (comparison->options->sides[side].baseline != NULL)
        return "a baseline keeps values alone";
    if (comparison->options->sides[side].program != NULL)
        return "another program makes its runs, and no record of them is kept";
    return run->state == COMPARISON_RUN_FAILED ? "its run with the first seed failed"
                                               : "its run with the first seed was not done";
}

static void write_curves(const struct comparison *comparison, const struct comparison_page *page, struct buffer *out)
{
    struct html_overlay_run runs[HTML_OVERLAY_MAX];
    struct metrics *metrics[HTML_OVERLAY_MAX];
    struct buffer notes = {0};
    size_t count = 0;
    for (size_t side = 0; side < comparison->side_count; side++) {
        if (page->records[side] == NULL || count == HTML_OVERLAY_MAX) {
            note_without(comparison, side, why_without(comparison, side, count), &notes);
            continue;
        }
        metrics[count] = metrics_new();
        struct error error = read_curves(page->records[side], metrics[count]);
        if (error_is(error)) {
            note_without(comparison, side, error_message(&error), &notes);
            error_release(&error);
            metrics_free(metrics[count]);
            continue;
        }
        runs[count] = (struct html_overlay_run){.name = comparison->sides[side].name,
                                                .metrics = metrics[count],
                                                .colour = html_overlay_colour(side % HTML_OVERLAY_MAX)};
        count++;
    }
    if (count > 0 && comparison->seed_count > 0) {
        buffer_format(out, "<h2 class=\"part\">Over time</h2>\n<p class=\"sub\">The runs with seed %llu.</p>\n",
                      (unsigned long long)comparison->seeds[0]);
        html_overlay(runs, count, &page->tool, out);
    }
    buffer_bytes(out, notes.bytes, notes.length);
    buffer_release(&notes);
    for (size_t i = 0; i < count; i++)
        metrics_free(metrics[i]);
}

/* ---- all of it ---- */

void comparison_page_write(const struct comparison *comparison, const struct comparison_page *page, struct buffer *out)
{
    struct arena arena = {0};
    struct page_headline headlines[PAGE_HEADLINES_MAX];
    const size_t count = page_headlines(comparison, &arena, headlines);
    write_head(comparison, out);
    write_warnings(comparison, out);
    page_verdict(comparison, headlines, count, out);
    page_sides(comparison, page, out);
    page_numbers(comparison, headlines, count, out);
    write_curves(comparison, page, out);
    if (comparison->side_count > 1)
        buffer_string(out, "<h2 class=\"part\">Side by side</h2>\n");
    for (size_t side = 1; side < comparison->side_count; side++)
        page_candidate(comparison, side, page->show, out);
    page_origin(comparison, out);
    html_page_close(out);
    arena_release(&arena);
}
