#include "studies/comparison_show/comparison_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "reports/view.h"

enum { UNKNOWN_WIDTH_MAX = 300, NAME_WIDTH_MAX = 80, SAID_LINES_MAX = 10 };

const char comparison_marks[] = "+-*~=?";

struct difference *comparison_sorted_new(const struct comparison *comparison, size_t side, bool is_all, size_t *count)
{
    struct difference *list = mem_zalloc(comparison->row_count + 1, sizeof *list);
    *count = 0;
    for (size_t r = 0; r < comparison->row_count; r++)
        if (is_all || comparison->rows[r].of.cut == NULL)
            list[(*count)++] = comparison->differences[side][r];
    differences_sort(list, *count);
    return list;
}

static bool is_clear(const struct difference *difference)
{
    return difference->mark == '+' || difference->mark == '-' || difference->mark == '*';
}

size_t comparison_shown_count(const struct difference *list, size_t count, size_t shown_max, size_t *clear)
{
    size_t unclear = 0;
    *clear = 0;
    while (*clear < count && is_clear(&list[*clear]))
        (*clear)++;
    while (*clear + unclear < count && list[*clear + unclear].mark == '~')
        unclear++;
    const size_t shown = shown_max >= count ? count : *clear > 0 ? *clear : unclear;
    return shown < shown_max ? shown : shown_max;
}

static bool is_of(const struct difference *difference, const char *cut, const char *metric)
{
    if (metric != NULL && strcmp(difference->of.metric, metric) != 0)
        return false;
    if (cut == NULL)
        return difference->of.cut == NULL;
    return cut[0] == '\0' || (difference->of.cut != NULL && strcmp(difference->of.cut, cut) == 0);
}

void comparison_count_marks(const struct comparison *comparison, size_t side, const char *cut, const char *metric,
                            size_t counts[COMPARISON_MARKS])
{
    memset(counts, 0, COMPARISON_MARKS * sizeof *counts);
    for (size_t r = 0; r < comparison->row_count; r++) {
        const struct difference *difference = &comparison->differences[side][r];
        const char *mark = strchr(comparison_marks, difference->mark);
        if (mark != NULL && *mark != '\0' && is_of(difference, cut, metric))
            counts[mark - comparison_marks]++;
    }
}

/* Gains, then what has no clear difference, then losses; each by its size. */
static double gain(const struct difference *difference)
{
    return difference->mark == '+' ? difference->size : difference->mark == '-' ? -difference->size : 0;
}

/* The pointers are into one array, whose order decides between equal gains. */
static int compare_gains(const void *a, const void *b)
{
    const struct difference *const *first = a, *const *second = b;
    const double x = gain(*first), y = gain(*second);
    if (x != y)
        return x > y ? -1 : 1;
    return *first < *second ? -1 : *first > *second;
}

const struct difference **comparison_cut_new(const struct comparison *comparison, size_t side, const char *cut,
                                             const char *metric, size_t *count)
{
    const struct difference **list = mem_zalloc(comparison->row_count + 1, sizeof *list);
    *count = 0;
    for (size_t r = 0; r < comparison->row_count; r++)
        if (is_of(&comparison->differences[side][r], cut, metric))
            list[(*count)++] = &comparison->differences[side][r];
    qsort(list, *count, sizeof *list, compare_gains);
    return list;
}

bool comparison_has_tenants(const struct comparison *comparison)
{
    struct names *tenants = names_new(), *queues = names_new();
    bool has_others = false;
    for (size_t r = 0; r < comparison->row_count; r++) {
        const struct metric_selector *of = &comparison->rows[r].of;
        if (of->cut != NULL && (strcmp(of->cut, "tenant") == 0 || strcmp(of->cut, "queue") == 0))
            names_add(of->cut[0] == 't' ? tenants : queues, text_of(of->key));
    }
    for (uint32_t t = 0; t < names_count(tenants); t++)
        has_others |= names_find(queues, text_of(names_text(tenants, t))) == NAMES_NONE;
    has_others |= names_count(tenants) > 0 && names_count(tenants) != names_count(queues);
    names_free(tenants);
    names_free(queues);
    return has_others;
}

void comparison_write_value(const struct difference *difference, double value, struct buffer *out)
{
    const struct service_level level = {.of = difference->of, .unit = difference->unit};
    service_level_value(&level, value, out);
}

void comparison_write_seeds(const struct comparison *comparison, struct buffer *out)
{
    if (comparison->is_exact) {
        buffer_string(out, "this replay alone, n = 1");
        return;
    }
    buffer_format(out, "%zu seed%s (%llu", comparison->seed_count, comparison->seed_count == 1 ? "" : "s",
                  (unsigned long long)comparison->seeds[0]);
    if (comparison->seed_count > 1)
        buffer_format(out, " to %llu", (unsigned long long)comparison->seeds[comparison->seed_count - 1]);
    buffer_char(out, ')');
    if (comparison->shake != NULL)
        buffer_format(out, " of a shaken trace (%s)", comparison->shake);
    if (comparison->blocks != NULL)
        buffer_format(out, ", %s resampled", comparison->blocks);
}

void comparison_write_shown(const struct comparison *comparison, struct buffer *out)
{
    if (comparison->is_shaken)
        buffer_string(out, "as it is");
    else
        buffer_format(out, "with seed %llu", (unsigned long long)comparison->seeds[0]);
}

void comparison_write_base(const struct comparison *comparison, struct buffer *out)
{
    const struct comparison_side *base = &comparison->sides[0];
    view_name(out, base->name, NAME_WIDTH_MAX);
    if (base->rerun.program == NULL)
        return;
    buffer_string(out, ", run by windtunnel ");
    view_name(out, base->rerun.version, NAME_WIDTH_MAX);
    buffer_string(out, " (");
    view_name(out, base->rerun.program, NAME_WIDTH_MAX);
    buffer_char(out, ')');
}

/* Of the gates that judge. */
static size_t count_states(const struct comparison *comparison, enum gate_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < comparison->verdict_count; i++)
        count += !comparison->verdicts[i].is_new && comparison->verdicts[i].result.state == state;
    return count;
}

/* Which gate needs most seeds, and how many. */
static void write_holding(const struct comparison *comparison, struct buffer *out)
{
    if (comparison->holding == SIZE_MAX)
        return;
    const struct comparison_verdict *verdict = &comparison->verdicts[comparison->holding];
    buffer_string(out, "; ");
    if (comparison->side_count > 2) {
        view_name(out, verdict->test.side, NAME_WIDTH_MAX);
        buffer_string(out, ": ");
    }
    metric_selector_write(&verdict->test.gate->of, out);
    buffer_string(out, " holds it up: ");
    gate_write_need(&verdict->result, out);
    if (verdict->result.seeds_needed != GATES_SEEDS_MORE && comparison->options->is_sequential)
        buffer_format(out, " (--seeds-max %zu)", verdict->result.seeds_needed);
}

/* "5 of 5 runs of change failed, and none of base; " for each side that has failed. */
static size_t write_failed_sides(const struct comparison *comparison, struct buffer *out)
{
    size_t failed, count, sides = 0;
    for (size_t side = 1; side < comparison->side_count; side++) {
        if (!comparison_side_has_failed(comparison, side, &failed, &count))
            continue;
        buffer_format(out, "%s%zu of %zu run%s of ", sides++ == 0 ? "" : "; ", failed, count, count == 1 ? "" : "s");
        view_name(out, comparison->sides[side].name, NAME_WIDTH_MAX);
        buffer_string(out, " failed, and none of ");
        view_name(out, comparison->sides[0].name, NAME_WIDTH_MAX);
    }
    return sides;
}

static void write_gates_verdict(const struct comparison *comparison, struct buffer *out)
{
    size_t all = 0;
    for (size_t i = 0; i < comparison->verdict_count; i++)
        all += !comparison->verdicts[i].is_new;
    const size_t failed = count_states(comparison, GATE_FAILED), passed = count_states(comparison, GATE_PASSED);
    if (all == 0)
        buffer_string(out, comparison->verdict_count > 0 ? "no gates but new ones, which judge nothing" : "no gates");
    else if (failed > 0)
        buffer_format(out, "failed: %zu of %zu gates", failed, all);
    else if (passed == all)
        buffer_format(out, "passed: %s", all == 1 ? "the gate" : "all gates");
    else
        buffer_format(out, "inconclusive: %zu of %zu gates", all - passed, all);
}

void comparison_write_verdict(const struct comparison *comparison, struct buffer *out)
{
    struct buffer sides = {0};
    buffer_string(out, "Verdict: ");
    if (comparison->is_same) {
        buffer_string(out, "passed: nothing differs between the sides, and nothing was run");
        return;
    }
    if (comparison->is_partial)
        buffer_string(out, "partial, stopped before the end; ");
    if (write_failed_sides(comparison, &sides) > 0)
        buffer_format(out, "failed: %s", buffer_c_string(&sides));
    else
        write_gates_verdict(comparison, out);
    if (comparison_state(comparison) == GATE_INCONCLUSIVE)
        write_holding(comparison, out);
    if (sides.length == 0 && comparison->failed_count > 0)
        buffer_format(out, "; incomplete: %zu of %zu runs failed", comparison->failed_count, comparison->run_count);
    if (comparison->is_time_up)
        buffer_format(out, "; the time was up after %zu seed%s", comparison->seed_count,
                      comparison->seed_count == 1 ? "" : "s");
    buffer_release(&sides);
}

/* Of the run's words the last ones, where a crash is told. */
void comparison_write_said(const struct comparison_run *run, const char *indent, struct buffer *out)
{
    struct text rest = text_of(run->said), line;
    size_t count = 0, at = 0;
    while (rest.length > 0 && text_cut(&rest, '\n', &line))
        count++;
    rest = text_of(run->said);
    while (rest.length > 0 && text_cut(&rest, '\n', &line))
        if (at++ + SAID_LINES_MAX >= count) {
            buffer_string(out, indent);
            buffer_visible(out, line);
            buffer_char(out, '\n');
        }
}

const struct comparison_run *comparison_failed(const struct comparison *comparison, size_t index, size_t *side)
{
    for (size_t seed = 0; seed < comparison->seed_count; seed++)
        for (*side = 0; *side < comparison->side_count; (*side)++) {
            const struct comparison_run *run = &comparison->sides[*side].runs[seed];
            if (run->state == COMPARISON_RUN_FAILED && index-- == 0)
                return run;
        }
    for (*side = 0; *side < comparison->side_count; (*side)++)
        if (comparison->sides[*side].replay.state == COMPARISON_RUN_FAILED && index-- == 0)
            return &comparison->sides[*side].replay;
    return NULL;
}

const struct comparison_run *comparison_first_run(const struct comparison *comparison, size_t side)
{
    for (size_t seed = 0; seed < comparison->seed_count; seed++)
        if (comparison->sides[side].runs[seed].state == COMPARISON_RUN_DONE)
            return &comparison->sides[side].runs[seed];
    return NULL;
}

bool comparison_write_first(const struct comparison *comparison, size_t side, const char *indent, struct buffer *out)
{
    const struct comparison_first *first = &comparison->sides[side].first;
    struct text rest = text_of(first->text != NULL ? first->text : ""), line;
    if (first->text == NULL && first->unknown == NULL)
        return false;
    if (first->unknown != NULL) {
        buffer_format(out, "%sfirst decision that differs: not known; ", indent);
        view_name(out, first->unknown, UNKNOWN_WIDTH_MAX);
        buffer_char(out, '\n');
    }
    while (rest.length > 0 && text_cut(&rest, '\n', &line)) {
        buffer_string(out, indent);
        buffer_bytes(out, line.at, line.length);
        buffer_char(out, '\n');
    }
    return true;
}

size_t comparison_find_side(const struct comparison *comparison, const char *name)
{
    for (size_t side = 0; side < comparison->side_count; side++)
        if (name != NULL && strcmp(comparison->sides[side].name, name) == 0)
            return side;
    return SIZE_MAX;
}
