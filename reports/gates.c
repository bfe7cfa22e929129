/* reports/gates.c -- the verdict: one test per gate, Holm over the set, intervals at the level of each test. */
#include "reports/gates.h"

#include <assert.h>
#include <math.h>

#include "base/mem.h"
#include "reports/pairs.h"
#include "reports/statistics/holm.h"
#include "reports/statistics/rank_test.h"
#include "reports/statistics/student.h"

const char *const gate_state_names[] = {"passed", "failed", "inconclusive", "not defined"};

/* What is tested: the mean of b - factor a against `null`, or of b alone. */
struct tested {
    struct pairs pairs;
    double *scaled; /* factor a; without a base zeros */
    double null;
    bool is_alone; /* max and min: the values of one side */
    bool is_paired;
    bool is_upper; /* it passes below `null`; else above */
};

/* ---- One test ---- */

static struct tested tested_new(const struct gate_test *test)
{
    const struct gate *gate = test->gate;
    const double sign = gate->bound == GATE_MAX_DECREASE ? -1 : 1;
    const bool is_alone = gate->bound == GATE_MAX || gate->bound == GATE_MIN;
    struct tested tested = {.is_alone = is_alone,
                            .is_paired = !test->is_unpaired,
                            .is_upper = gate->bound == GATE_MAX_INCREASE || gate->bound == GATE_MAX,
                            .null = gate->is_relative ? 0 : sign * gate->amount};
    const size_t base_count = test->is_unpaired ? test->base_count : test->count;
    assert(is_alone || test->base != NULL);
    /* Of one side all its values count, whatever the base has. */
    tested.pairs = pairs_new(test->base, base_count, test->candidate, test->count, !is_alone && !test->is_unpaired);
    const struct pairs *pairs = &tested.pairs;
    const size_t count = is_alone ? pairs->b_count : pairs->a_count;
    tested.scaled = mem_zalloc(count + 1, sizeof *tested.scaled);
    for (size_t i = 0; i < count && !is_alone; i++)
        tested.scaled[i] = gate->is_relative ? (1 + sign * gate->amount) * pairs->a[i] : pairs->a[i];
    return tested;
}

/* For a bound on one side: the seeds in which the base alone has a value. */
static size_t lacking_alone(const struct gate_test *test)
{
    size_t lacking = 0;
    for (size_t i = 0; i < test->count && test->base != NULL && !test->is_unpaired; i++)
        lacking += isfinite(test->base[i]) && !isfinite(test->candidate[i]);
    return lacking;
}

static void tested_free(struct tested *tested)
{
    pairs_free(&tested->pairs);
    mem_free(tested->scaled);
}

static struct inference infer(const struct tested *tested, double level)
{
    const struct pairs *pairs = &tested->pairs;
    if (tested->is_alone)
        return student_one(pairs->b, pairs->b_count, tested->null, level);
    if (!tested->is_paired)
        return student_welch(tested->scaled, pairs->a_count, pairs->b, pairs->b_count, tested->null, level);
    return student_paired(tested->scaled, pairs->b, pairs->b_count, tested->null, level);
}

static double p_by_rank(const struct tested *tested)
{
    const struct pairs *pairs = &tested->pairs;
    const size_t count = tested->is_alone ? pairs->b_count : pairs->a_count;
    double *shifted = mem_alloc((count + 1) * sizeof *shifted);
    for (size_t i = 0; i < count; i++)
        shifted[i] = tested->scaled[i] + tested->null;
    const struct rank_test ranks = tested->is_alone || tested->is_paired
                                       ? rank_test_pairs(shifted, pairs->b, count)
                                       : rank_test_samples(shifted, count, pairs->b, pairs->b_count);
    mem_free(shifted);
    return ranks.p;
}

/* The verdict of a mean on one side of the bound. */
static enum gate_state state_of(const struct tested *tested, double mean, size_t half_missing)
{
    const bool is_within = tested->is_upper ? mean <= tested->null : mean >= tested->null;
    if (!is_within)
        return GATE_FAILED;
    return half_missing > 0 ? GATE_INCONCLUSIVE : GATE_PASSED;
}

static void decide_by_values(const struct tested *tested, enum inference_method method, struct gate_result *result)
{
    const double mean = tested->is_alone ? result->candidate : infer(tested, 0.5).mean;
    result->method = method;
    result->is_settled = true;
    result->state = state_of(tested, mean, result->half_missing);
    result->p = 0;
    result->low = result->high = tested->is_alone ? result->candidate : result->difference;
    if (isfinite(result->relative))
        result->relative_low = result->relative_high = result->relative;
}

/* All but what depends on the level. */
static void measure(const struct gate_test *test, const struct tested *tested, bool is_exact,
                    struct gate_result *result)
{
    const struct pairs *pairs = &tested->pairs;
    *result = (struct gate_result){.state = GATE_INCONCLUSIVE,
                                   .n = pairs->b_count,
                                   .missing = pairs->missing,
                                   .half_missing = pairs->half_missing,
                                   .base = pairs_base(pairs),
                                   .candidate = pairs_candidate(pairs),
                                   .low = -INFINITY,
                                   .high = INFINITY,
                                   .relative_low = -INFINITY,
                                   .relative_high = INFINITY,
                                   .p = 1,
                                   .p_rank = 1};
    if (tested->is_alone) {
        result->missing = test->count - pairs->b_count;
        result->half_missing = lacking_alone(test);
    }
    result->difference = result->candidate - result->base;
    result->relative = result->base != 0 ? result->difference / result->base : NAN;
    if (pairs->b_count == 0 || (!tested->is_alone && pairs->a_count == 0)) {
        result->state = GATE_NOT_DEFINED;
        result->is_settled = true;
        return;
    }
    const struct inference of = infer(tested, 0.5);
    if (is_exact) {
        decide_by_values(tested, METHOD_EXACT, result);
    } else if (!tested->is_alone && tested->is_paired &&
               (pairs_are_equal(pairs) || (of.state == INFERENCE_CONSTANT && of.mean == tested->null))) {
        decide_by_values(tested, METHOD_EQUAL, result);
    } else {
        result->method = of.method;
        result->p = of.p;
        result->p_rank = p_by_rank(tested);
    }
}

/* ---- The set ---- */

static void conclude(const struct gate_test *test, const struct tested *tested, double level, bool is_decided,
                     struct gate_result *result)
{
    const struct pairs *pairs = &tested->pairs;
    const struct inference bound = infer(tested, 1 - level);
    struct inference shown = bound;
    result->is_settled = is_decided;
    if (is_decided)
        result->state = state_of(tested, bound.mean, result->half_missing);
    result->level = 1 - level;
    if (!tested->is_alone && tested->is_paired)
        shown = student_paired(pairs->a, pairs->b, pairs->b_count, 0, 1 - level);
    else if (!tested->is_alone)
        shown = student_welch(pairs->a, pairs->a_count, pairs->b, pairs->b_count, 0, 1 - level);
    result->low = shown.low;
    result->high = shown.high;
    if (!test->gate->is_relative || !tested->is_paired || bound.state != INFERENCE_DEFINED)
        return;
    const struct ratio_interval ratio = student_ratio_paired(pairs->a, pairs->b, pairs->b_count, 1 - level);
    result->relative_low = ratio.low - 1;
    result->relative_high = ratio.high - 1;
}

/* Holm's steps, from the smallest p on: each is tested at the level of a set of those that are left.  The first that is
 * not decided ends the decisions. */
static void step_down(const struct gate_rule *rule, const struct gate_test *tests, const struct tested *tested,
                      size_t count, struct gate_result *results)
{
    double *p = mem_alloc((count + 1) * sizeof *p), level = 0;
    size_t *order = mem_alloc((count + 1) * sizeof *order), left = 0, level_of = 0;
    bool is_open = true;
    for (size_t i = 0; i < count; i++) {
        p[i] = results[i].state == GATE_NOT_DEFINED ? 2 : results[i].p;
        left += results[i].state != GATE_NOT_DEFINED;
    }
    holm_order(p, count, order);
    for (size_t i = 0; i < count; i++) {
        const size_t at = order[i];
        struct gate_result *result = &results[at];
        if (result->state == GATE_NOT_DEFINED)
            break;
        if (result->method != METHOD_EQUAL && result->method != METHOD_EXACT) {
            if (is_open && level_of != left) {
                level = looks_level(&rule->looks, rule->look, rule->alpha / (double)left);
                level_of = left;
            }
            is_open = is_open && result->p <= level;
            conclude(&tests[at], &tested[at], level, is_open, result);
        }
        left -= 1;
    }
    mem_free(p);
    mem_free(order);
}

void gates_decide(const struct gate_rule *rule, const struct gate_test *tests, size_t count,
                  struct gate_result *results)
{
    struct tested *tested = mem_zalloc(count + 1, sizeof *tested);
    for (size_t i = 0; i < count; i++) {
        tested[i] = tested_new(&tests[i]);
        measure(&tests[i], &tested[i], rule->is_exact, &results[i]);
    }
    step_down(rule, tests, tested, count, results);
    for (size_t i = 0; i < count; i++)
        tested_free(&tested[i]);
    mem_free(tested);
}

enum gate_state gates_state(const struct gate_result *results, size_t count)
{
    enum gate_state state = GATE_PASSED;
    for (size_t i = 0; i < count; i++) {
        if (results[i].state == GATE_FAILED)
            return GATE_FAILED;
        if (results[i].state != GATE_PASSED)
            state = GATE_INCONCLUSIVE;
    }
    return state;
}

bool gates_are_settled(const struct gate_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!results[i].is_settled)
            return false;
    return true;
}
