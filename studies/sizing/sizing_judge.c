/* studies/sizing/sizing_judge.c -- what the runs at a number say of the service levels. */
#include <math.h>
#include <stdlib.h>

#include "studies/sizing/sizing_inside.h"

/* ---- The bounds ---- */

static struct gate gate_of(const struct service_level *level, enum gate_bound bound)
{
    return (struct gate){.of = level->of,
                         .unit = level->unit,
                         .better = bound == GATE_MAX ? BETTER_LOWER : BETTER_HIGHER,
                         .bound = bound,
                         .amount = bound == GATE_MAX ? level->max : level->min};
}

void sizing_make_gates(struct sizing *sizing)
{
    const struct service_levels *levels = &sizing->options->levels;
    struct gate *gates = arena_alloc_array(&sizing->arena, 2 * levels->count, struct gate);
    size_t count = 0;
    for (size_t l = 0; l < levels->count; l++) {
        if (isfinite(levels->levels[l].max))
            gates[count++] = gate_of(&levels->levels[l], GATE_MAX);
        if (isfinite(levels->levels[l].min))
            gates[count++] = gate_of(&levels->levels[l], GATE_MIN);
    }
    sizing->gates = (struct gates){.gates = gates, .count = count};
}

/* ---- Points ---- */

double sizing_point_usd_per_h(const struct sizing_point *point)
{
    const struct run_facts *facts = &point->runs[0].values.result.facts;
    return facts->price_usd_per_gpu_h > 0 ? facts->price_usd_per_gpu_h * (double)facts->gpu_count : NAN;
}

static int by_number(const void *a, const void *b)
{
    const double x = (*(const struct sizing_point *const *)a)->number;
    const double y = (*(const struct sizing_point *const *)b)->number;
    return x < y ? -1 : x > y;
}

const struct sizing_point **sizing_points_new(const struct sizing_answer *answer)
{
    const struct sizing_point **points = mem_zalloc(answer->point_count + 1, sizeof *points);
    for (size_t p = 0; p < answer->point_count; p++)
        points[p] = &answer->points[p];
    qsort(points, answer->point_count, sizeof *points, by_number);
    return points;
}

/* ---- Judging ---- */

double sizing_point_mean(const struct sizing_point *point, const struct metric_selector *of)
{
    double sum = 0;
    size_t count = 0;
    for (size_t r = 0; r < point->run_count; r++) {
        const double value = values_number(&point->runs[r].values, of);
        sum += isnan(value) ? 0 : value;
        count += isnan(value) ? 0 : 1;
    }
    return count > 0 ? sum / (double)count : NAN;
}

static bool is_within(const struct gate *gate, double mean)
{
    return gate->bound == GATE_MAX ? mean <= gate->amount : mean >= gate->amount;
}

/* The look with as many runs; false: there is none. */
static bool find_look(const struct looks *looks, size_t runs, size_t *look)
{
    for (*look = 0; *look < looks->count; ++*look)
        if (looks->n[*look] == runs)
            return true;
    *look = 0;
    return false;
}

/* Runs that keep within every bound, each by itself. */
static size_t count_met(const struct gates *gates, const double *values, size_t runs)
{
    size_t count = 0;
    for (size_t r = 0; r < runs; r++) {
        bool is_met = true;
        for (size_t g = 0; g < gates->count && is_met; g++)
            is_met = is_within(&gates->gates[g], values[g * runs + r]);
        count += is_met;
    }
    return count;
}

struct error sizing_judge(const struct sizing *sizing, const struct looks *looks, bool is_exact,
                          struct sizing_point *point)
{
    const size_t gate_count = sizing->gates.count, runs = point->run_count;
    struct gate_test *tests = mem_zalloc(gate_count, sizeof *tests);
    struct gate_result *results = mem_zalloc(gate_count, sizeof *results);
    double *values = mem_zalloc(gate_count * runs, sizeof *values);
    struct gate_rule rule = {.alpha = sizing->options->alpha / 2, .looks = *looks, .is_exact = is_exact};
    const bool is_look = find_look(looks, runs, &rule.look);
    struct error error = ERROR_OK;
    if (!is_look)
        rule.looks = looks_once(runs);
    for (size_t g = 0; g < gate_count; g++) {
        for (size_t r = 0; r < runs; r++)
            values[g * runs + r] = values_number(&point->runs[r].values, &sizing->gates.gates[g].of);
        tests[g] = (struct gate_test){
            .gate = &sizing->gates.gates[g], .candidate = &values[g * runs], .count = runs, .is_unpaired = true};
    }
    gates_decide(&rule, tests, gate_count, results);
    point->met_count = count_met(&sizing->gates, values, runs);
    point->holds = true;
    for (size_t g = 0; g < gate_count && !error_is(error); g++) {
        const struct gate *gate = &sizing->gates.gates[g];
        point->judgements[g] = (struct sizing_judgement){.gate = gate, .result = results[g]};
        point->holds = point->holds && is_within(gate, results[g].candidate);
        if (results[g].state == GATE_NOT_DEFINED) {
            struct buffer name = {0};
            metric_selector_write(&gate->of, &name);
            error = error_new(ERROR_CONFIG, "%s is not defined in the runs: no job is meant", buffer_c_string(&name));
            error_set_hint(&error, "the report of one run lists the keys that a metric has");
            buffer_release(&name);
        }
    }
    const enum gate_state state = gates_state(results, gate_count);
    point->is_sure = is_look && state == (point->holds ? GATE_PASSED : GATE_FAILED);
    mem_free(values);
    mem_free(results);
    mem_free(tests);
    return error;
}
