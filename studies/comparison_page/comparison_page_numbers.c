/* studies/comparison_page/comparison_page_numbers.c -- the verdict in words, and the headline numbers of all sides. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/pairs.h"
#include "reports/view.h"
#include "studies/comparison_page/comparison_page_inside.h"

enum { NODE_GPUS = 8 }; /* jobs of more GPUs are gangs on usual nodes */

static const struct {
    const char *label, *metric;
    bool is_told; /* in the words of a verdict without gates */
} wanted[] = {
    {"Real use (SM-active), of all GPU time", "sm_active_ratio", true},
    {"Allocated, of all GPU time", "allocation_ratio", true},
    {"Admission of inference, p99", "admission_p99_s", true},
    {"Queue time of all jobs, p95", "queue_time_p95_s", true},
    {"Fragmented: free, of no use for typical jobs", "fgd_fragmentation_ratio", true},
    {"Stranded: free, of no use for those that wait", "stranded_ratio", false},
    {"Lost GPU hours", "lost_gpu_h", true},
    {"Preemptions", "preemptions", false},
    {"Goodput: kept work, of GPU time held", "goodput_ratio", false},
    {"Jobs completed", "jobs_completed", true},
    {"Jobs still waiting at the end", "jobs_pending", true},
    {"GPU hours held by jobs", "allocated_gpu_h", false},
    {"Cost of the cluster, USD", "cost_usd", false},
    {"Cost per completed job, USD", "cost_per_job_usd", false},
};
enum { WANTED_COUNT = sizeof wanted / sizeof *wanted, GANGS_BEFORE = 4 };

static size_t find_row(const struct comparison *comparison, const char *metric)
{
    for (size_t r = 0; r < comparison->row_count; r++)
        if (comparison->rows[r].of.cut == NULL && strcmp(comparison->rows[r].of.metric, metric) == 0)
            return r;
    return SIZE_MAX;
}

/* Queue times of jobs of more GPUs than a node has, by size. */
static size_t add_gangs(const struct comparison *comparison, struct arena *arena, struct page_headline *list,
                        size_t count)
{
    for (size_t r = 0; r < comparison->row_count && count < PAGE_HEADLINES_MAX - WANTED_COUNT; r++) {
        const struct metric_selector *of = &comparison->rows[r].of;
        if (of->cut == NULL || strcmp(of->cut, "size") != 0 || strcmp(of->metric, "queue_time_mean_s") != 0 ||
            strtol(of->key, NULL, 10) <= NODE_GPUS)
            continue;
        struct buffer label = {0};
        buffer_format(&label, "Queue time of gangs of %s GPUs, mean", of->key);
        list[count++] = (struct page_headline){
            .label = arena_copy(arena, (struct text){label.bytes, label.length}), .row = r, .is_told = true};
        buffer_release(&label);
    }
    return count;
}

size_t page_headlines(const struct comparison *comparison, struct arena *arena, struct page_headline *list)
{
    size_t count = 0;
    for (size_t w = 0; w < WANTED_COUNT; w++) {
        if (w == GANGS_BEFORE)
            count = add_gangs(comparison, arena, list, count);
        const size_t row = find_row(comparison, wanted[w].metric);
        if (row != SIZE_MAX)
            list[count++] = (struct page_headline){.label = wanted[w].label, .row = row, .is_told = wanted[w].is_told};
    }
    return count;
}

/* ---- verdict ---- */

static void write_gates(const struct comparison *comparison, struct buffer *out)
{
    static const char *const classes[] = {"met", "unmet", "unknown", "unknown"};
    buffer_string(out, "<ul class=\"gates\">\n");
    for (size_t i = 0; i < comparison->verdict_count; i++) {
        struct buffer text = {0};
        gate_write(&comparison->verdicts[i].test, &comparison->verdicts[i].result, &text);
        buffer_format(out, "<li class=\"%s\">", classes[comparison->verdicts[i].result.state]);
        html_name(out, buffer_c_string(&text));
        buffer_string(out, "</li>\n");
        buffer_release(&text);
    }
    buffer_string(out, "</ul>\n");
}

/* "Real use (SM-active), of all GPU time" -> "real use (SM-active)"; both values behind it. */
static void write_moved(const struct page_headline *headline, const struct difference *difference, bool has_values,
                        struct buffer *out)
{
    const char *label = headline->label, *end = strstr(label, ", of all GPU time");
    end = end != NULL ? end : strchr(label, ':');
    const size_t length = end != NULL ? (size_t)(end - label) : strlen(label);
    buffer_format(out, "<span class=\"item\">%c", label[0] | 0x20);
    buffer_html(out, (struct text){label + 1, length - 1});
    if (has_values) {
        buffer_string(out, " <b>");
        comparison_write_value(difference, difference->base, out);
        buffer_string(out, " \xe2\x86\x92 "); /* U+2192 */
        comparison_write_value(difference, difference->candidate, out);
        buffer_string(out, "</b>");
    }
    buffer_string(out, "</span> ");
}

static void write_side(const struct comparison *comparison, size_t side, const struct page_headline *headlines,
                       size_t count, struct buffer *out)
{
    static const struct {
        char mark;
        bool has_values;
        const char *word, *class;
    } groups[] = {{'+', true, "better", "met"},
                  {'-', true, "worse", "unmet"},
                  {'~', false, "no clear difference", "unknown"},
                  {'=', false, "equal", "unknown"}};
    const bool is_single = !comparison->is_exact && comparison_pair_count(comparison, side) == 1;
    buffer_string(out, "<h3>");
    html_name(out, comparison->sides[side].name);
    buffer_string(out, " against ");
    html_name(out, comparison->sides[0].name);
    buffer_string(out, "</h3>\n");
    if (comparison_pair_count(comparison, side) == 0)
        buffer_string(out, "<p class=\"told\">There is no seed that both have run: nothing can be compared.</p>\n");
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        size_t told = 0;
        for (size_t i = 0; i < count; i++) {
            const struct difference *difference = &comparison->differences[side][headlines[i].row];
            if (!headlines[i].is_told || difference->mark != groups[g].mark)
                continue;
            if (told++ == 0)
                buffer_format(out, "<p class=\"told\"><span class=\"word %s\">%s</span> ", groups[g].class,
                              is_single && groups[g].mark == '~' ? "one pair" : groups[g].word);
            write_moved(&headlines[i], difference, groups[g].has_values || is_single, out);
        }
        if (told > 0)
            buffer_string(out, "</p>\n");
    }
}

void page_verdict(const struct comparison *comparison, const struct page_headline *headlines, size_t count,
                  struct buffer *out)
{
    struct buffer verdict = {0};
    const bool has_gates = comparison->verdict_count > 0;
    buffer_string(out, "<section class=\"verdict\"><h2>");
    comparison_write_verdict(comparison, &verdict);
    html_name(out, has_gates ? buffer_c_string(&verdict) : "What moved");
    buffer_string(out, "</h2>\n");
    buffer_release(&verdict);
    if (has_gates)
        write_gates(comparison, out);
    for (size_t side = 1; side < comparison->side_count && comparison->seed_count > 0; side++)
        write_side(comparison, side, headlines, count, out);
    if (comparison->side_count > 1 && !comparison->is_exact && comparison->seed_count == 1)
        buffer_string(out, "<p class=\"note\">One pair of runs has no interval: chance may explain any of "
                           "this.</p>\n");
    buffer_string(out, "</section>\n");
}

/* ---- headline numbers ---- */

static double mean_of(const struct comparison *comparison, const struct comparison_row *row, size_t side)
{
    struct pairs pairs =
        pairs_new(NULL, 0, &row->numbers[side * comparison->seed_count], comparison->seed_count, false);
    const double mean = pairs_candidate(&pairs);
    pairs_free(&pairs);
    return mean;
}

static void write_row(const struct comparison *comparison, const struct page_headline *headline, struct buffer *out)
{
    const struct comparison_row *row = &comparison->rows[headline->row];
    const struct difference of = {.of = row->of, .unit = row->metric->unit};
    buffer_string(out, "<tr><th scope=\"row\" title=\"");
    buffer_html(out, text_of(row->metric->definition != NULL ? row->metric->definition : ""));
    buffer_string(out, "\">");
    html_name(out, headline->label);
    buffer_string(out, "</th>");
    for (size_t side = 0; side < comparison->side_count; side++) {
        page_value(&of, mean_of(comparison, row, side), out);
        if (side > 0)
            page_difference(&comparison->differences[side][headline->row], false, out);
        buffer_string(out, "</td>");
    }
    buffer_string(out, "</tr>\n");
}

static bool is_activity_assumed(const struct comparison *comparison)
{
    for (size_t side = 0; side < comparison->side_count; side++) {
        const struct comparison_run *run = page_first_run(&comparison->sides[side], comparison->seed_count);
        const char *format = run != NULL ? run->values.result.manifest.workload.format : NULL;
        if (format != NULL && strcmp(format, "synth") == 0)
            return true;
    }
    return false;
}

void page_numbers(const struct comparison *comparison, const struct page_headline *headlines, size_t count,
                  struct buffer *out)
{
    if (count == 0)
        return;
    buffer_string(out, "<section class=\"numbers\"><h2>In numbers</h2>\n<p class=\"note\">Means over the seeds; below "
                       "each the difference from ");
    html_name(out, comparison->sides[0].name);
    buffer_string(out,
                  ": <span class=\"met\">better</span>, <span class=\"unmet\">worse</span>, ~ no clear difference.");
    if (is_activity_assumed(comparison))
        buffer_string(out, " SM activity is what the workload assumes: not measured.");
    buffer_string(out,
                  "</p>\n<div class=\"scroll\"><table class=\"stacked\">\n<thead><tr><th scope=\"col\">metric</th>");
    for (size_t side = 0; side < comparison->side_count; side++) {
        buffer_string(out, "<th scope=\"col\">");
        html_name(out, comparison->sides[side].name);
        buffer_string(out, "</th>");
    }
    buffer_string(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < count; i++)
        write_row(comparison, &headlines[i], out);
    buffer_string(out, "</tbody></table></div></section>\n");
}
