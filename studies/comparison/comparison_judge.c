/* studies/comparison/comparison_judge.c -- what the runs of a comparison say: rows, differences, verdicts, warnings. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "studies/comparison/comparison_inside.h"
#include "studies/comparison/proposal.h"

/* ---- rows ---- */

static uint32_t row_of(struct names *names, const struct metric_selector *of, struct buffer *key)
{
    key->length = 0;
    buffer_string(key, of->metric);
    if (of->cut != NULL) {
        buffer_char(key, '\0');
        buffer_string(key, of->cut);
        buffer_char(key, '\0');
        buffer_string(key, of->key);
    }
    return names_add(names, (struct text){key->bytes, key->length});
}

/* The values of a run with a seed; seed_count: of the replay as it is. */
static void add_values(struct comparison *comparison, size_t side, size_t seed, struct names *names,
                       size_t *row_capacity, struct buffer *key)
{
    const struct comparison_side *own = &comparison->sides[side];
    const struct values *values = seed < comparison->seed_count ? &own->runs[seed].values : &own->replay.values;
    const size_t count = comparison->side_count * comparison->seed_count;
    for (size_t v = 0; v < values->count; v++) {
        const uint32_t r = row_of(names, &values->list[v].of, key);
        if (r == comparison->row_count) {
            MEM_GROW(comparison->rows, *row_capacity, comparison->row_count + 1);
            struct comparison_row *row = &comparison->rows[comparison->row_count++];
            *row = (struct comparison_row){
                .of = values->list[v].of,
                .metric = values->list[v].metric,
                .numbers = arena_alloc_array(&comparison->look_arena, count, double),
                .replays = arena_alloc_array(&comparison->look_arena, comparison->side_count, double)};
            for (size_t i = 0; i < count; i++)
                row->numbers[i] = NAN;
            for (size_t i = 0; i < comparison->side_count; i++)
                row->replays[i] = NAN;
        }
        struct comparison_row *row = &comparison->rows[r];
        if (seed < comparison->seed_count)
            row->numbers[side * comparison->seed_count + seed] = values->list[v].number;
        else
            row->replays[side] = values->list[v].number;
    }
}

static void make_rows(struct comparison *comparison)
{
    struct names *names = names_new();
    struct buffer key = {0};
    size_t row_capacity = 0;
    for (size_t side = 0; side < comparison->side_count; side++)
        for (size_t seed = 0; seed < comparison->seed_count; seed++)
            if (comparison->sides[side].runs[seed].state == COMPARISON_RUN_DONE)
                add_values(comparison, side, seed, names, &row_capacity, &key);
    for (size_t side = 0; side < comparison->side_count; side++)
        if (comparison->sides[side].replay.state == COMPARISON_RUN_DONE)
            add_values(comparison, side, comparison->seed_count, names, &row_capacity, &key);
    buffer_release(&key);
    names_free(names);
}

static const double *numbers_of(const struct comparison *comparison, const struct comparison_row *row, size_t side)
{
    return &row->numbers[side * comparison->seed_count];
}

static void make_differences(struct comparison *comparison, const struct difference_how *how)
{
    const size_t count = comparison->seed_count;
    for (size_t side = 1; side < comparison->side_count; side++) {
        struct difference *differences =
            arena_alloc_array(&comparison->look_arena, comparison->row_count, struct difference);
        for (size_t r = 0; r < comparison->row_count; r++) {
            const struct comparison_row *row = &comparison->rows[r];
            differences[r] = difference_of(how, &row->of, numbers_of(comparison, row, 0), count,
                                           numbers_of(comparison, row, side), count);
        }
        differences_measure(differences, comparison->row_count);
        comparison->differences[side] = differences;
    }
}

/* ---- gates ---- */

/* The values of a side for a gate, without those of seeds whose run failed on either side. */
static const double *values_for_gate(struct comparison *comparison, const struct gate *gate, size_t side, size_t other)
{
    const size_t count = comparison->seed_count;
    double *numbers = arena_alloc_array(&comparison->look_arena, count, double);
    const struct comparison_row *row = NULL;
    for (size_t r = 0; r < comparison->row_count && row == NULL; r++)
        if (metric_selector_is_same(&comparison->rows[r].of, &gate->of))
            row = &comparison->rows[r];
    for (size_t seed = 0; seed < count; seed++) {
        bool is_pair = comparison->sides[side].runs[seed].state == COMPARISON_RUN_DONE &&
                       comparison->sides[other].runs[seed].state == COMPARISON_RUN_DONE;
        numbers[seed] = row != NULL && is_pair ? numbers_of(comparison, row, side)[seed] : NAN;
    }
    return numbers;
}

/* Append the verdicts of these gates, which are decided together. */
static void add_verdicts(struct comparison *comparison, const struct gate_rule *rule, const struct gates *gates,
                         bool is_new)
{
    const size_t most = gates->count * comparison->side_count;
    struct gate_test *tests = arena_alloc_array(&comparison->look_arena, most + 1, struct gate_test);
    struct gate_result *results = arena_alloc_array(&comparison->look_arena, most + 1, struct gate_result);
    size_t count = 0;
    for (size_t g = 0; g < gates->count; g++)
        for (size_t side = 0; side < comparison->side_count; side++) {
            const struct gate *gate = &gates->gates[g];
            if (!gate_is_for(gate, comparison->sides[side].name, side == 0))
                continue;
            tests[count++] = (struct gate_test){.gate = gate,
                                                .side = comparison->sides[side].name,
                                                .base = side == 0 ? NULL : values_for_gate(comparison, gate, 0, side),
                                                .candidate = values_for_gate(comparison, gate, side, 0),
                                                .count = comparison->seed_count};
        }
    gates_decide(rule, tests, count, results);
    if (!is_new)
        comparison->holding = gates_need(rule, results, count);
    for (size_t i = 0; i < count; i++)
        comparison->verdicts[comparison->verdict_count++] =
            (struct comparison_verdict){.test = tests[i], .result = results[i], .is_new = is_new};
}

static void make_verdicts(struct comparison *comparison, const struct gate_rule *rule)
{
    static const struct gates none = {0};
    const struct proposal *proposal = comparison->options->proposal;
    const struct gates *more = proposal != NULL ? &proposal->new_gates : &none;
    const size_t most = (comparison->gates.count + more->count) * comparison->side_count;
    comparison->verdicts = arena_alloc_array(&comparison->look_arena, most + 1, struct comparison_verdict);
    comparison->verdict_count = 0;
    add_verdicts(comparison, rule, &comparison->gates, false);
    add_verdicts(comparison, rule, more, true);
}

/* ---- all of it ---- */

static void count_runs(struct comparison *comparison)
{
    comparison->run_count = comparison->failed_count = 0;
    for (size_t side = 0; side < comparison->side_count; side++)
        for (size_t seed = 0; seed <= comparison->seed_count; seed++) {
            const struct comparison_side *own = &comparison->sides[side];
            const struct comparison_run *run = seed < comparison->seed_count ? &own->runs[seed] : &own->replay;
            comparison->run_count += run->state != COMPARISON_RUN_MISSING;
            comparison->failed_count += run->state == COMPARISON_RUN_FAILED;
        }
}

void comparison_judge(struct comparison *comparison, const struct looks *looks, size_t look)
{
    arena_reset(&comparison->look_arena);
    mem_free(comparison->rows);
    comparison->rows = NULL;
    comparison->row_count = 0;
    comparison->look = look;
    comparison->look_count = looks->count;
    const double alpha = comparison->options->alpha;
    comparison->level = 1 - (looks->count > 1 ? looks_level(looks, look, alpha) : alpha);
    const struct difference_how how = {.level = comparison->level, .is_exact = comparison->is_exact};
    const struct gate_rule rule = {.alpha = alpha, .looks = *looks, .look = look, .is_exact = comparison->is_exact};
    count_runs(comparison);
    make_rows(comparison);
    make_differences(comparison, &how);
    make_verdicts(comparison, &rule);
}

/* ---- warnings ---- */

void comparison_warn(struct comparison *comparison, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    if (text == NULL)
        return;
    MEM_GROW(comparison->warnings, comparison->warning_capacity, comparison->warning_count + 1);
    comparison->warnings[comparison->warning_count++] = mem_copy_text(text);
    free(text);
}

static bool has_other_jobs(const struct comparison_run *base, const struct comparison_run *run)
{
    const char *a = base->values.result.manifest.arrivals, *b = run->values.result.manifest.arrivals;
    return base->state == COMPARISON_RUN_DONE && run->state == COMPARISON_RUN_DONE && a != NULL && b != NULL &&
           strcmp(a, b) != 0;
}

static void warn_of_jobs(struct comparison *comparison, size_t side)
{
    size_t count = 0, first = 0;
    for (size_t seed = comparison->seed_count; seed-- > 0;)
        if (has_other_jobs(&comparison->sides[0].runs[seed], &comparison->sides[side].runs[seed])) {
            count++;
            first = seed;
        }
    if (count > 0)
        comparison_warn(comparison,
                        "'%s' gets other jobs than '%s' (first with seed %llu, in %zu of %zu seeds): differences come "
                        "from the jobs too",
                        comparison->sides[side].name, comparison->sides[0].name,
                        (unsigned long long)comparison->seeds[first], count, comparison->seed_count);
}

static void warn_of_side(struct comparison *comparison, size_t side)
{
    const struct comparison_side *own = &comparison->sides[side];
    const bool is_made_elsewhere = own->is_fixed || own->rerun.program != NULL;
    for (size_t seed = 0; seed < comparison->seed_count; seed++) {
        const struct comparison_run *run = &own->runs[seed];
        const char *version = run->values.result.manifest.version;
        if (run->state != COMPARISON_RUN_DONE)
            continue;
        if (run->values.result.facts.is_partial)
            comparison_warn(comparison, "the record of '%s' is partial: its run was stopped before the end", own->name);
        if (is_made_elsewhere && version != NULL && strcmp(version, comparison->options->version) != 0) {
            comparison_warn(comparison,
                            "'%s' was made by version %s, and this is %s: a difference may be the program's", own->name,
                            version, comparison->options->version);
            return;
        }
    }
}

/* Law: a side that completed fewer jobs is not called better in queue time before that is said.  A job that never
 * starts counts with its wait until the run ends, so a policy that starts nothing, whose run ends with the last
 * submission, had the shortest queue times.  Fewer are those of which the comparison itself says so, by the mark of
 * jobs_completed. tests/cli/stuck.sh checks every format. */
static const struct difference *completed(const struct comparison *comparison, size_t side)
{
    for (size_t r = 0; r < comparison->row_count; r++)
        if (comparison->rows[r].of.cut == NULL && strcmp(comparison->rows[r].of.metric, "jobs_completed") == 0)
            return &comparison->differences[side][r];
    return NULL;
}

/* By the mark, or by the same number in all seeds, which are too few for a mark. */
static bool is_moved(const struct difference *jobs, char mark)
{
    const double gain = mark == '+' ? jobs->difference : -jobs->difference;
    return jobs->mark == mark || (jobs->change.of.state == INFERENCE_CONSTANT && gain > 0);
}

static bool is_called(const struct comparison *comparison, size_t side, char mark)
{
    for (size_t r = 0; r < comparison->row_count; r++)
        if (comparison->differences[side][r].mark == mark &&
            strncmp(comparison->rows[r].of.metric, "queue_time", strlen("queue_time")) == 0)
            return true;
    return false;
}

static void warn_of_completed(struct comparison *comparison, size_t side)
{
    const struct difference *jobs = completed(comparison, side);
    const bool is_candidate = jobs != NULL && is_moved(jobs, '-');
    const char *fewer = comparison->sides[is_candidate ? side : 0].name;
    const char *more = comparison->sides[is_candidate ? 0 : side].name;
    if ((is_candidate && is_called(comparison, side, '+')) ||
        (jobs != NULL && is_moved(jobs, '+') && is_called(comparison, side, '-')))
        comparison_warn(
            comparison,
            "'%s' completed fewer jobs than '%s' (%.6g, not %.6g): a job that never starts counts with its wait until "
            "the run ends, so shorter queue times of '%s' may be no gain",
            fewer, more, is_candidate ? jobs->candidate : jobs->base, is_candidate ? jobs->base : jobs->candidate,
            fewer);
}

static void warn_of_stuck(struct comparison *comparison, size_t side)
{
    for (size_t seed = 0; seed < comparison->seed_count; seed++) {
        const struct comparison_run *run = &comparison->sides[side].runs[seed];
        const struct run_facts *facts = &run->values.result.facts;
        if (run->state != COMPARISON_RUN_DONE || facts->stuck_jobs == 0)
            continue;
        comparison_warn(comparison, "'%s', seed %llu: %s", comparison->sides[side].name,
                        (unsigned long long)comparison->seeds[seed], facts->stuck);
        return;
    }
}

void comparison_find_warnings(struct comparison *comparison)
{
    for (size_t side = 1; side < comparison->side_count; side++)
        warn_of_completed(comparison, side);
    comparison->caveat_count = comparison->warning_count;
    for (size_t side = 0; side < comparison->side_count; side++)
        warn_of_stuck(comparison, side);
    for (size_t side = 0; side < comparison->side_count; side++) {
        warn_of_side(comparison, side);
        if (side > 0)
            warn_of_jobs(comparison, side);
    }
}
