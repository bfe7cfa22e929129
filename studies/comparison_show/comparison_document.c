/* studies/comparison_show/comparison_document.c -- a comparison as a document: verdict, numbers side by side, what
 * moved on each side, who won and who lost, the first decision that differs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/pairs.h"
#include "reports/record_read.h"
#include "reports/run_figures.h"
#include "reports/view.h"
#include "studies/comparison_show/comparison_view.h"
#include "studies/comparison_show/verdicts_show.h"

enum {
    MOVED_MAX = 15, /* metrics that are shown before the rest is folded */
    ENDS_MAX = 4,   /* winners and losers of a cut */
    KEYS_MAX = 10,  /* a cut with as many keys is shown whole */
    FAILURES_MAX = 20,
    SIDES_MIN = 4, /* of the table of all sides */
    NODE_GPUS = 8, /* jobs of more GPUs are gangs on usual nodes */
    HEADLINES_MAX = 40,
};

static const struct {
    const char *cut, *title;
} cuts[] = {{"class", "class"},         {"workload_class", "workload class"},
            {"size", "GPUs requested"}, {"gpu_model", "GPU model"},
            {"tenant", "tenant"},       {"queue", "queue"}};

/* ---- values ---- */

static void add_value(struct show *show, const struct difference *of, double value)
{
    comparison_write_value(of, value, show_cell(show));
    show_number(show, value);
}

/* "+12.3 %", and its interval below. */
static void write_difference(const struct difference *difference, struct buffer *out, struct buffer *below)
{
    struct buffer text = {0};
    difference_write(difference, &text);
    const char *whole = buffer_c_string(&text), *bracket = strchr(whole, '(');
    const size_t length = bracket != NULL && bracket > whole ? (size_t)(bracket - whole) - 1 : text.length;
    buffer_bytes(out, whole, length);
    if (below != NULL && length < text.length)
        buffer_string(below, bracket);
    buffer_release(&text);
}

static void add_difference(struct show *show, const struct difference *difference)
{
    struct buffer text = {0}, below = {0};
    write_difference(difference, &text, &below);
    buffer_text(show_cell(show), (struct text){text.bytes, text.length});
    buffer_text(show_below(show), (struct text){below.bytes, below.length});
    show_state(show, difference->mark);
    buffer_release(&text);
    buffer_release(&below);
}

static double mean_of(const struct comparison *comparison, size_t row, size_t side)
{
    struct pairs pairs = pairs_new(NULL, 0, &comparison->rows[row].numbers[side * comparison->seed_count],
                                   comparison->seed_count, false);
    const double mean = pairs_candidate(&pairs);
    pairs_free(&pairs);
    return mean;
}

/* ---- headline numbers ---- */

static const struct {
    const char *label, *metric, *head; /* head: in the table of all sides; NULL: not there */
    bool is_told;                      /* in the words of a verdict */
} wanted[] = {
    {"Useful work that is kept, of all GPU time", "useful_ratio", "useful", true},
    {"SM-active, of all GPU time", "sm_active_ratio", NULL, true},
    {"Allocated, of all GPU time", "allocation_ratio", "allocated", true},
    {"Admission of inference, p99", "admission_p99_s", NULL, true},
    {"Queue time of all jobs, mean", "queue_time_mean_s", "mean wait", false},
    {"Queue time of all jobs, p95", "queue_time_p95_s", "p95 wait", true},
    {"Slowdown, mean", "slowdown_bounded_mean", "slowdown", false},
    {"Fragmented: free, of no use for typical jobs", "fgd_fragmentation_ratio", NULL, true},
    {"Stranded: free, of no use for those that wait", "stranded_ratio", NULL, false},
    {"Lost GPU hours", "lost_gpu_h", NULL, true},
    {"Preemptions", "preemptions", "preemptions", false},
    {"Goodput: kept work, of GPU time held", "goodput_ratio", "goodput", false},
    {"Fairness over queues (Jain)", "jain_fairness", "fairness", false},
    {"Jobs completed", "jobs_completed", "completed", true},
    {"Jobs still waiting at the end", "jobs_pending", NULL, true},
    {"GPU hours held by jobs", "allocated_gpu_h", NULL, false},
    {"Cost of the cluster, USD", "cost_usd", NULL, false},
    {"Cost per completed job, USD", "cost_per_job_usd", NULL, false},
};
enum { WANTED_COUNT = sizeof wanted / sizeof *wanted };

/* Metrics and classes of interest that at least one side has. */
struct headline {
    char label[80];
    const char *head;
    size_t row; /* of the comparison */
    bool is_told;
};

/* Those wanted, and queue times of jobs of more GPUs than a node has, by size. */
static size_t find_headlines(const struct comparison *comparison, struct headline *list)
{
    size_t count = 0;
    for (size_t w = 0; w < WANTED_COUNT; w++)
        for (size_t r = 0; r < comparison->row_count; r++)
            if (comparison->rows[r].of.cut == NULL && strcmp(comparison->rows[r].of.metric, wanted[w].metric) == 0) {
                struct headline *headline = &list[count++];
                *headline = (struct headline){.head = wanted[w].head, .row = r, .is_told = wanted[w].is_told};
                strncpy(headline->label, wanted[w].label, sizeof headline->label - 1);
                break;
            }
    for (size_t r = 0; r < comparison->row_count && count < HEADLINES_MAX; r++) {
        const struct metric_selector *of = &comparison->rows[r].of;
        if (of->cut == NULL || strcmp(of->cut, "size") != 0 || strcmp(of->metric, "queue_time_mean_s") != 0 ||
            strtol(of->key, NULL, 10) <= NODE_GPUS)
            continue;
        list[count] = (struct headline){.row = r, .is_told = true};
        snprintf(list[count++].label, sizeof list->label, "Queue time of gangs of %s GPUs, mean", of->key);
    }
    return count;
}

/* The label without ", of all GPU time", to stand in a sentence: "allocated", but "SM-active". */
static void write_label(const struct headline *headline, struct buffer *out)
{
    const char *end = strstr(headline->label, ", of all GPU time");
    end = end != NULL ? end : strchr(headline->label, ':');
    const bool is_word = headline->label[1] >= 'a' && headline->label[1] <= 'z';
    buffer_char(out, is_word ? (char)(headline->label[0] | 0x20) : headline->label[0]);
    buffer_bytes(out, headline->label + 1,
                 end != NULL ? (size_t)(end - headline->label) - 1 : strlen(headline->label) - 1);
}

/* A line for what is better, worse, not clear and equal. */
static void add_told(struct show *show, const struct comparison *comparison, size_t side,
                     const struct headline *headlines, size_t count)
{
    static const struct {
        char mark;
        const char *word;
    } groups[] = {{'+', "better"}, {'-', "worse"}, {'~', "no clear difference"}, {'=', "equal"}};
    const bool is_single = !comparison->is_exact && comparison_pair_count(comparison, side) == 1;
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        struct buffer *out = NULL;
        for (size_t i = 0; i < count; i++) {
            const struct difference *difference = &comparison->differences[side][headlines[i].row];
            if (!headlines[i].is_told || difference->mark != groups[g].mark)
                continue;
            if (out == NULL) {
                out = show_line(show, SHOW_ITEM);
                show_mark(show, groups[g].mark);
                buffer_format(out, "%s: ", is_single && groups[g].mark == '~' ? "one pair" : groups[g].word);
            } else {
                buffer_string(out, " \xc2\xb7 "); /* U+00B7 */
            }
            write_label(&headlines[i], out);
            if (groups[g].mark != '+' && groups[g].mark != '-' && !is_single)
                continue;
            buffer_char(out, ' ');
            comparison_write_value(difference, difference->base, out);
            buffer_string(out, " \xe2\x86\x92 "); /* U+2192 */
            comparison_write_value(difference, difference->candidate, out);
        }
    }
}

/* ---- verdict and warnings ---- */

static void add_warnings(struct show *show, const struct comparison *comparison)
{
    const struct comparison_run *run;
    size_t side;
    for (size_t i = 0; i < comparison->caveat_count; i++)
        buffer_format(show_line(show, SHOW_WARNING), "Mind: %s", comparison->warnings[i]);
    show_on(show, SHOW_PAGE | SHOW_MARKDOWN);
    if (comparison->is_partial)
        buffer_string(show_line(show, SHOW_WARNING),
                      "Partial: the comparison was stopped before its end. It shows what was done.");
    if (comparison->failed_count > 0)
        buffer_format(show_line(show, SHOW_WARNING),
                      "Incomplete: %zu of %zu runs failed. Each is left out on both sides of its pair.",
                      comparison->failed_count, comparison->run_count);
    for (size_t i = 0; i < FAILURES_MAX && (run = comparison_failed(comparison, i, &side)) != NULL; i++)
        buffer_format(show_line(show, SHOW_WARNING), "The run of %s with seed %llu failed: %s",
                      comparison->sides[side].name, (unsigned long long)run->seed, run->failure);
    for (size_t i = comparison->caveat_count; i < comparison->warning_count; i++)
        buffer_format(show_line(show, SHOW_WARNING), "Warning: %s", comparison->warnings[i]);
    show_on(show, SHOW_ALL);
}

static void add_against(struct show *show, const struct comparison *comparison, size_t side,
                        void (*add)(struct show *show, const char *title), const char *tail)
{
    struct buffer title = {0};
    view_name(&title, comparison->sides[side].name, 80);
    buffer_string(&title, " against ");
    view_name(&title, comparison->sides[0].name, 80);
    buffer_string(&title, tail);
    add(show, buffer_c_string(&title));
    buffer_release(&title);
}

static void add_verdict(struct show *show, const struct comparison *comparison, const struct headline *headlines,
                        size_t count)
{
    static const char signs[] = {'+', '-', '~', '~'}; /* by enum gate_state */
    struct buffer title = {0}, *out;
    struct assumed_list assumed;
    comparison_write_verdict(comparison, &title);
    show_section(show, buffer_c_string(&title));
    buffer_release(&title);
    comparison_add_failed_sides(show, comparison);
    for (size_t i = 0; i < comparison->verdict_count; i++) {
        const struct comparison_verdict *verdict = &comparison->verdicts[i];
        out = show_line(show, SHOW_ITEM);
        buffer_string(out, verdict->is_new ? "new, judges nothing: " : "");
        gate_write(&verdict->test, &verdict->result, out);
        show_mark(show, verdict->is_new ? '~' : signs[verdict->result.state]);
    }
    if (comparison->is_same)
        return;
    out = show_line(show, SHOW_PLAIN);
    buffer_format(out, "%zu side%s, ", comparison->side_count, comparison->side_count == 1 ? "" : "s");
    comparison_write_seeds(comparison, out);
    if (comparison->look_count > 1)
        buffer_format(out, ", look %zu of at most %zu", comparison->look + 1, comparison->look_count);
    buffer_string(out, "; the base is ");
    comparison_write_base(comparison, out);
    comparison_assumed(comparison, &assumed);
    assumed_lead(show, &assumed);
    show_on(show, SHOW_PAGE);
    for (size_t side = 1; side < comparison->side_count && comparison->seed_count > 0; side++) {
        add_against(show, comparison, side, show_heading, "");
        add_told(show, comparison, side, headlines, count);
    }
    show_on(show, SHOW_ALL);
}

/* One line a side.  Base and candidate of a difference are of the seeds that both have run, so the base's line is that
 * of its pairs with the first candidate. */
static void add_glance(struct show *show, const struct comparison *comparison, const struct headline *headlines,
                       size_t count)
{
    if (comparison->side_count < SIDES_MIN)
        return;
    show_on(show, SHOW_WORDS);
    show_section(show, "");
    show_table(show, "side", NULL);
    for (size_t i = 0; i < count; i++)
        if (headlines[i].head != NULL)
            show_column(show, headlines[i].head);
    for (size_t side = 0; side < comparison->side_count; side++) {
        show_row(show, comparison->sides[side].name);
        for (size_t i = 0; i < count; i++) {
            const struct difference *of = &comparison->differences[side == 0 ? 1 : side][headlines[i].row];
            if (headlines[i].head == NULL)
                continue;
            add_value(show, of, side == 0 ? of->base : of->candidate);
            show_mark(show, side == 0 ? '.' : of->mark);
        }
    }
    show_on(show, SHOW_ALL);
}

static bool is_activity_assumed(const struct comparison *comparison)
{
    for (size_t side = 0; side < comparison->side_count; side++) {
        const struct comparison_run *run = comparison_first_run(comparison, side);
        const char *format = run != NULL ? run->values.result.manifest.workload.format : NULL;
        if (format != NULL && strcmp(format, "synth") == 0)
            return true;
    }
    return false;
}

static void add_numbers(struct show *show, const struct comparison *comparison, const struct headline *headlines,
                        size_t count)
{
    if (count == 0)
        return;
    show_section(show, "In numbers");
    buffer_format(show_line(show, SHOW_NOTE),
                  "Means over the seeds; below each the difference from %s; ~ is no clear difference.%s",
                  comparison->sides[0].name,
                  is_activity_assumed(comparison) ? " SM activity is what the workload assumes: not measured." : "");
    show_table(show, "metric", NULL);
    for (size_t side = 0; side < comparison->side_count; side++)
        show_column(show, comparison->sides[side].name);
    for (size_t i = 0; i < count; i++) {
        const struct comparison_row *row = &comparison->rows[headlines[i].row];
        const struct difference of = {.of = row->of, .unit = row->metric->unit};
        show_row(show, headlines[i].label);
        show_row_about(show, row->metric->definition != NULL ? row->metric->definition : "");
        for (size_t side = 0; side < comparison->side_count; side++) {
            add_value(show, &of, mean_of(comparison, headlines[i].row, side));
            if (side == 0)
                continue;
            const struct difference *difference = &comparison->differences[side][headlines[i].row];
            write_difference(difference, show_below(show), NULL);
            buffer_string(show_below(show), difference->mark == '~' ? " ~" : "");
            show_state(show, difference->mark);
        }
    }
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

static const char *why_without(const struct comparison *comparison, size_t side, size_t drawn)
{
    const struct comparison_run *run = comparison_shown_run(comparison, side);
    if (drawn == RUN_LINES_MAX)
        return "so many lines cannot be told apart";
    if (comparison->options->sides[side].baseline != NULL)
        return "a baseline keeps values alone";
    if (comparison->options->sides[side].program != NULL)
        return "another program makes its runs, and no record of them is kept";
    return run->state == COMPARISON_RUN_FAILED ? "the run that they would show failed"
                                               : "the run that they would show was not done";
}

static void add_curves(struct show *show, const struct comparison *comparison, const struct comparison_page *page)
{
    struct run_line lines[RUN_LINES_MAX];
    struct metrics *metrics[RUN_LINES_MAX];
    struct buffer title = {0}, notes = {0};
    size_t count = 0;
    for (size_t side = 0; side < comparison->side_count; side++) {
        const char *name = comparison->sides[side].name;
        if (page->records[side] == NULL || count == RUN_LINES_MAX) {
            buffer_format(&notes, "%s has no curves: %s.\n", name, why_without(comparison, side, count));
            continue;
        }
        metrics[count] = metrics_new();
        struct error error = read_curves(page->records[side], metrics[count]);
        if (error_is(error)) {
            buffer_format(&notes, "%s has no curves: %s.\n", name, error_message(&error));
            error_release(&error);
            metrics_free(metrics[count]);
            continue;
        }
        lines[count] = (struct run_line){name, metrics[count], run_line_colour(side % RUN_LINES_MAX)};
        count++;
    }
    if (count > 0 && comparison->seed_count > 0) {
        buffer_format(&title, "Over time: the %s ", comparison->is_shaken ? "replay" : "runs");
        comparison_write_shown(comparison, &title);
        show_part(show, buffer_c_string(&title));
        run_overlay(show, lines, count);
        show_on(show, SHOW_PAGE);
    }
    if (notes.length > 0) {
        show_section(show, "");
        struct text rest = {notes.bytes, notes.length - 1}, line;
        while (rest.length > 0 && text_cut(&rest, '\n', &line))
            buffer_text(show_line(show, SHOW_NOTE), line);
    }
    buffer_release(&title);
    buffer_release(&notes);
    for (size_t i = 0; i < count; i++)
        metrics_free(metrics[i]);
}

/* ---- what moved ---- */

static void open_table(struct show *show, const struct comparison *comparison, size_t side, const char *first)
{
    show_table(show, first, NULL);
    show_column(show, comparison->sides[0].name);
    show_column(show, comparison->sides[side].name);
    show_column(show, "difference");
    show_left(show);
}

static void add_row(struct show *show, const struct difference *difference, const char *name)
{
    const struct metric *metric = metric_find(difference->of.metric);
    show_row(show, name);
    show_mark(show, difference->mark);
    if (metric != NULL && metric->definition != NULL)
        show_row_about(show, metric->definition);
    add_value(show, difference, difference->base);
    add_value(show, difference, difference->candidate);
    add_difference(show, difference);
}

static void add_counts(struct show *show, const struct comparison *comparison, size_t side, bool is_all)
{
    static const char *const words[COMPARISON_MARKS] = {
        "better", "worse", "moved", "without a clear difference", "equal", "not defined on both sides"};
    size_t counts[COMPARISON_MARKS], all = 0, shown = 0;
    comparison_count_marks(comparison, side, is_all ? "" : NULL, NULL, counts);
    for (size_t m = 0; m < COMPARISON_MARKS; m++)
        all += counts[m];
    struct buffer *out = show_line(show, SHOW_NOTE);
    buffer_format(out, "Of %zu metrics%s", all, is_all ? "" : " of the whole run");
    for (size_t m = 0; m < COMPARISON_MARKS; m++)
        if (counts[m] > 0)
            buffer_format(out, "%s%zu %s (%c)", shown++ == 0 ? ": " : ", ", counts[m], words[m], comparison_marks[m]);
}

static void add_moved(struct show *show, const struct comparison *comparison, size_t side, bool is_all)
{
    size_t count, clear;
    struct difference *list = comparison_sorted_new(comparison, side, is_all, &count);
    const size_t shown = comparison_shown_count(list, count, is_all ? count : MOVED_MAX, &clear);
    show_heading(show, is_all ? "all metrics" : clear > 0 ? "what moved most" : "nothing moved clearly");
    add_counts(show, comparison, side, is_all);
    if (!comparison->is_exact && comparison_pair_count(comparison, side) == 1)
        buffer_format(show_line(show, SHOW_NOTE), "One pair has no interval: chance may explain any of this.%s",
                      comparison->options->fork == NULL ? " --seeds asks for more." : "");
    show_on(show, SHOW_WORDS);
    if (clear > shown)
        buffer_format(show_line(show, SHOW_NOTE), "%zu more that moved: --all lists them", clear - shown);
    show_on(show, SHOW_ALL);
    for (size_t i = 0; i < count; i++) {
        struct buffer name = {0};
        if (i == 0)
            open_table(show, comparison, side, "metric");
        metric_selector_write(&list[i].of, &name);
        add_row(show, &list[i], buffer_c_string(&name));
        buffer_release(&name);
    }
    if (count > 0)
        show_rows_shown(show, shown);
    mem_free(list);
}

/* ---- one long run ---- */

static void add_long(struct show *show, const struct comparison *comparison, size_t side)
{
    const struct comparison_long *one_run = &comparison->sides[side].one_run;
    if (!one_run->is_known && one_run->unknown == NULL)
        return;
    show_heading(show, "One long run: the queue time of each job less that of the base, by batch means");
    if (!one_run->is_known) {
        buffer_format(show_line(show, SHOW_PLAIN), "not known: %s", one_run->unknown);
        return;
    }
    show_table(show, "jobs", "difference", "<", NULL);
    steady_show(show, "all jobs", &one_run->all, true);
    for (int c = 0; c < JOB_CLASS_COUNT; c++)
        if (one_run->by_class[c].count > 0)
            steady_show(show, job_class_names[c], &one_run->by_class[c], true);
    steady_show_left(show, &one_run->all, "rejected, or on one side only");
}

/* ---- who won ---- */

static void add_cut(struct show *show, const struct comparison *comparison, size_t side, size_t cut, const char *metric,
                    bool is_first)
{
    size_t count, counts[COMPARISON_MARKS];
    const struct difference **list = comparison_cut_new(comparison, side, cuts[cut].cut, metric, &count);
    const bool is_whole = count <= KEYS_MAX;
    struct buffer title = {0};
    comparison_count_marks(comparison, side, cuts[cut].cut, metric, counts);
    const bool has_clear = counts[0] + counts[1] > 0;
    if (is_first) {
        buffer_format(&title, "Who won and who lost, by %s", metric);
        show_heading(show, buffer_c_string(&title));
        title.length = 0;
    }
    buffer_format(&title, "by %s: %zu won, %zu lost, %zu other%s", cuts[cut].title, counts[0], counts[1],
                  count - counts[0] - counts[1], is_whole || !has_clear ? "" : "; the clearest");
    show_fold(show, buffer_c_string(&title), cut < 3);
    if (is_whole || has_clear)
        open_table(show, comparison, side, cuts[cut].title);
    for (size_t i = 0; i < count; i++)
        if (is_whole || (i < ENDS_MAX && list[i]->mark == '+') || (count - i <= ENDS_MAX && list[i]->mark == '-'))
            add_row(show, list[i], list[i]->of.key);
    show_unfold(show);
    buffer_release(&title);
    mem_free(list);
}

static void add_winners(struct show *show, const struct comparison *comparison, size_t side, const char *metric)
{
    bool is_first = true;
    for (size_t cut = 0; cut < sizeof cuts / sizeof *cuts; cut++) {
        size_t count;
        mem_free(comparison_cut_new(comparison, side, cuts[cut].cut, metric, &count));
        if (count < 2 || (strcmp(cuts[cut].cut, "tenant") == 0 && !comparison_has_tenants(comparison)))
            continue;
        add_cut(show, comparison, side, cut, metric, is_first);
        is_first = false;
    }
}

static void add_side(struct show *show, const struct comparison *comparison, size_t side,
                     const struct comparison_show *how)
{
    const size_t pairs = comparison_pair_count(comparison, side);
    struct buffer text = {0};
    if (comparison->is_exact)
        buffer_string(&text, " (this replay alone, n = 1)");
    else
        buffer_format(&text, " (%zu pair%s)", pairs, pairs == 1 ? "" : "s");
    add_against(show, comparison, side, show_section, buffer_c_string(&text));
    text.length = 0;
    if (pairs == 0) {
        buffer_string(show_line(show, SHOW_PLAIN),
                      "There is no seed that both sides have run: nothing can be compared.");
    } else {
        add_moved(show, comparison, side, how->is_all);
        add_long(show, comparison, side);
        if (comparison_write_first(comparison, side, "", &text)) {
            struct buffer title = {0};
            buffer_format(&title, "Where they part, %s", comparison->is_shaken ? "in the replay " : "");
            comparison_write_shown(comparison, &title);
            show_heading(show, buffer_c_string(&title));
            buffer_text(show_line(show, SHOW_CODE), (struct text){text.bytes, text.length});
            buffer_release(&title);
        }
        add_winners(show, comparison, side, how->winner_metric);
    }
    buffer_release(&text);
}

static void write_title(const struct comparison *comparison, struct buffer *out)
{
    const size_t count = comparison->side_count;
    for (size_t side = count; side-- > 0;) {
        view_name(out, comparison->sides[count == 2 ? side : count - 1 - side].name, 60);
        buffer_string(out, side == 0 ? "" : count == 2 ? " against " : side == 1 ? " and " : ", ");
    }
    buffer_string(out, count > 2 ? " compared" : "");
}

struct show *comparison_show_new(const struct comparison *comparison, const struct comparison_show *how,
                                 const struct comparison_page *page)
{
    struct headline headlines[HEADLINES_MAX];
    const size_t count = find_headlines(comparison, headlines);
    struct buffer title = {0};
    write_title(comparison, &title);
    struct show *show = show_new(buffer_c_string(&title));
    buffer_release(&title);
    if (how->open != NULL)
        how->open(how->open_self, show);
    comparison_add_changes(show, comparison);
    add_warnings(show, comparison);
    add_verdict(show, comparison, headlines, count);
    if (comparison->is_same) {
        comparison_add_inputs(show, comparison);
        return show;
    }
    add_glance(show, comparison, headlines, count);
    comparison_add_replays(show, comparison);
    if (how->verdicts != NULL)
        verdicts_show(show, how->verdicts);
    if (page != NULL) {
        show_on(show, SHOW_PAGE);
        comparison_add_sides(show, comparison, page);
        add_numbers(show, comparison, headlines, count);
        add_curves(show, comparison, page);
        if (comparison->side_count > 1)
            show_part(show, "Side by side");
        show_on(show, SHOW_ALL);
    }
    for (size_t side = 1; side < comparison->side_count; side++)
        add_side(show, comparison, side, how);
    if (comparison->side_count > 1 && !comparison->is_exact && comparison->seed_count > 1) {
        show_section(show, "");
        buffer_format(show_line(show, SHOW_PLAIN),
                      "In brackets the %.3g %% interval of the difference. Each metric is judged alone: of a hundred "
                      "without a difference about %.2g bear a mark by chance. Gates decide, the table shows where to "
                      "look.",
                      100 * comparison->level, 100 * (1 - comparison->level));
    }
    comparison_add_inputs(show, comparison);
    if (page != NULL) {
        show_on(show, SHOW_PAGE);
        comparison_add_origin(show, comparison);
    }
    return show;
}
