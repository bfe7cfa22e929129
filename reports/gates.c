/* reports/gates.c -- the verdict: one test per gate, Holm over the set, intervals at the level of each test. */
#include "reports/gates.h"

#include <assert.h>
#include <math.h>

#include "base/mem.h"
#include "reports/change.h"
#include "reports/pairs.h"
#include "reports/statistics/holm.h"
#include "reports/statistics/rank_test.h"
#include "reports/statistics/student.h"

const char *const gate_state_names[] = {"passed", "failed", "inconclusive", "not defined"};
const char *const gate_base_names[] = {"not known", "within", "beyond", "on the bound"};

/* What is tested: a change against its bound; for max and min the values of one side against `how.null`. */
struct tested {
    struct pairs pairs;   /* of max and min: all values of each side, whatever the other has */
    struct pairs against; /* of max and min, with a base: in pairs */
    struct change_how how;
    bool is_alone; /* max and min */
    bool is_upper; /* it passes below the bound; else above */
};

/* A test of max and min, and of the change behind it. */
struct alone {
    bool is_beyond, is_worse; /* the means, if not for sure; without a base it is worse */
    double p, p_change;       /* of the bound; of no change: 0 without a base */
};

/* ---- One test ---- */

static struct tested tested_new(const struct gate_test *test)
{
    const struct gate *gate = test->gate;
    const double sign = gate->bound == GATE_MAX_DECREASE ? -1 : 1;
    const bool is_alone = gate->bound == GATE_MAX || gate->bound == GATE_MIN;
    const size_t base_count = test->is_unpaired ? test->base_count : test->count;
    struct tested tested = {.is_alone = is_alone,
                            .is_upper = gate->bound == GATE_MAX_INCREASE || gate->bound == GATE_MAX,
                            .how = {.part = gate->is_relative ? sign * gate->amount : 0,
                                    .null = gate->is_relative ? 0 : sign * gate->amount,
                                    .is_amount = !gate->is_relative,
                                    .is_unpaired = test->is_unpaired}};
    assert(is_alone || test->base != NULL);
    tested.pairs = pairs_new(test->base, base_count, test->candidate, test->count, !is_alone && !test->is_unpaired);
    if (is_alone)
        tested.against = pairs_new(test->base, base_count, test->candidate, test->count, !test->is_unpaired);
    return tested;
}

static void tested_free(struct tested *tested)
{
    pairs_free(&tested->pairs);
    pairs_free(&tested->against);
}

/* For a bound on one side: the seeds in which the base alone has a value. */
static size_t lacking_alone(const struct gate_test *test)
{
    size_t lacking = 0;
    for (size_t i = 0; i < test->count && test->base != NULL && !test->is_unpaired; i++)
        lacking += isfinite(test->base[i]) && !isfinite(test->candidate[i]);
    return lacking;
}

static bool has_base(const struct tested *tested)
{
    return tested->against.a_count > 0 && tested->against.b_count > 0;
}

static struct change infer(const struct tested *tested, double level)
{
    struct change_how how = tested->how;
    how.level = level;
    if (!tested->is_alone)
        return change_of(&tested->pairs, &how);
    const struct inference of = student_one(tested->pairs.b, tested->pairs.b_count, how.null, level);
    return (struct change){
        .value = of.mean, .low = of.low, .high = of.high, .bound = how.null, .beyond = of.mean - how.null, .of = of};
}

static double p_by_rank(const struct tested *tested)
{
    if (!tested->is_alone)
        return change_rank_p(&tested->pairs, &tested->how);
    const size_t count = tested->pairs.b_count;
    double *bounds = mem_alloc((count + 1) * sizeof *bounds);
    for (size_t i = 0; i < count; i++)
        bounds[i] = tested->how.null;
    const double p = rank_test_pairs(bounds, tested->pairs.b, count).p;
    mem_free(bounds);
    return p;
}

static bool is_bad(const struct tested *tested, double beyond)
{
    return tested->is_upper ? beyond > 0 : beyond < 0;
}

static struct alone alone_of(const struct tested *tested)
{
    const struct change own = infer(tested, 0.5);
    struct alone alone = {.is_beyond = is_bad(tested, own.beyond), .is_worse = true, .p = own.of.p};
    if (!has_base(tested))
        return alone;
    const struct change_how how = {.level = 0.5, .is_unpaired = tested->how.is_unpaired};
    const struct change change = change_of(&tested->against, &how);
    alone.is_worse = is_bad(tested, change.beyond);
    alone.p_change = change.of.p;
    return alone;
}

/* A wrong pass needs one of two tests to err on the side of harm, a wrong failure needs one of them to err on the
 * other: so each verdict errs in at most p of cases, as that of one two-sided test. */
static double p_of_alone(const struct alone *alone)
{
    if (alone->is_beyond && alone->is_worse)
        return fmax(alone->p, alone->p_change);
    if (alone->is_beyond)
        return alone->p_change;
    return alone->is_worse ? alone->p : fmin(alone->p, alone->p_change);
}

/* The verdict of means that are known. */
static enum gate_state state_of(const struct tested *tested, const struct change *change, size_t half_missing)
{
    bool is_failed = is_bad(tested, change->beyond);
    if (tested->is_alone && is_failed)
        is_failed = alone_of(tested).is_worse;
    if (is_failed)
        return GATE_FAILED;
    return half_missing > 0 ? GATE_INCONCLUSIVE : GATE_PASSED;
}

/* ---- What does not depend on the level ---- */

static void decide_by_values(const struct tested *tested, enum inference_method method, struct gate_result *result)
{
    const struct change change = infer(tested, 0.5);
    result->method = method;
    result->is_settled = true;
    result->state = state_of(tested, &change, result->half_missing);
    result->p = 0;
    result->low = result->high = result->value;
    if (has_base(tested))
        result->base_is = is_bad(tested, result->base - tested->how.null) ? GATE_BASE_BEYOND : GATE_BASE_WITHIN;
}

/* Values that leave nothing to test: the sides are equal in all seeds, or every seed lies on the bound. */
static bool is_equal(const struct tested *tested, const struct change *change)
{
    if (tested->how.is_unpaired)
        return false;
    if (tested->is_alone)
        return has_base(tested) && pairs_are_equal(&tested->against);
    return pairs_are_equal(&tested->pairs) || (change->of.state == INFERENCE_CONSTANT && change->beyond == 0);
}

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
                                   .value = NAN,
                                   .low = -INFINITY,
                                   .high = INFINITY,
                                   .bound = NAN,
                                   .p = 1,
                                   .p_rank = 1};
    if (tested->is_alone) {
        result->missing = test->count - pairs->b_count;
        result->half_missing = lacking_alone(test);
    }
    result->difference = result->candidate - result->base;
    if (pairs->b_count == 0 || (!tested->is_alone && pairs->a_count == 0)) {
        result->state = GATE_NOT_DEFINED;
        result->is_settled = true;
        return;
    }
    const struct change change = infer(tested, 0.5);
    result->is_ratio = change.is_ratio;
    result->value = change.value;
    result->bound = change.bound;
    if (is_exact) {
        decide_by_values(tested, METHOD_EXACT, result);
    } else if (is_equal(tested, &change)) {
        decide_by_values(tested, METHOD_EQUAL, result);
    } else {
        const struct alone alone = tested->is_alone ? alone_of(tested) : (struct alone){0};
        result->method = change.of.method;
        result->p = tested->is_alone ? p_of_alone(&alone) : change.of.p;
        result->p_rank = p_by_rank(tested);
    }
}

/* ---- The set ---- */

static enum gate_base base_of(const struct tested *tested, double level)
{
    if (!has_base(tested))
        return GATE_BASE_UNKNOWN;
    const struct inference base = student_one(tested->against.a, tested->against.a_count, tested->how.null, 1 - level);
    if (base.p > level)
        return GATE_BASE_ON;
    return is_bad(tested, base.mean - tested->how.null) ? GATE_BASE_BEYOND : GATE_BASE_WITHIN;
}

static void conclude(const struct tested *tested, double level, bool is_decided, bool is_last,
                     struct gate_result *result)
{
    const struct change change = infer(tested, 1 - level);
    result->is_settled = is_decided;
    if (is_decided)
        result->state = state_of(tested, &change, result->half_missing);
    result->level = 1 - level;
    result->low = change.low;
    result->high = change.high;
    if (!tested->is_alone)
        return;
    result->base_is = base_of(tested, level);
    const bool is_broken_by_both =
        result->base_is == GATE_BASE_BEYOND && change.of.p <= level && is_bad(tested, change.beyond);
    if (is_last && !is_decided && is_broken_by_both && result->half_missing == 0) {
        result->state = GATE_PASSED;
        result->is_settled = true;
    }
}

/* Holm's steps, from the smallest p on: each is tested at the level of a set of those that are left.  The first that is
 * not decided ends the decisions. */
static void step_down(const struct gate_rule *rule, const struct tested *tested, size_t count,
                      struct gate_result *results)
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
            conclude(&tested[at], level, is_open, rule->look + 1 == rule->looks.count, result);
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
    step_down(rule, tested, count, results);
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

/* ---- How many seeds would decide ---- */

/* Equal signs alone decide when their p, 2^(1-n), is small enough. */
static size_t needed_by_signs(double level)
{
    size_t n = 1;
    for (double p = 1; p > level; p /= 2)
        n++;
    return n;
}

static size_t needed_by(const struct gate_rule *rule, const struct gate_result *result, size_t undecided)
{
    const double power = 0.8, alpha = rule->alpha / (double)undecided;
    if (result->n < 2 || result->half_missing > 0 || result->state != GATE_INCONCLUSIVE)
        return 0;
    if (result->method == METHOD_SIGNS)
        return needed_by_signs(alpha / 2);
    const size_t needed = looks_needed(result->p, result->n, alpha, power, GATES_SEEDS_MOST);
    return needed == SIZE_MAX ? GATES_SEEDS_MORE : needed;
}

size_t gates_need(const struct gate_rule *rule, struct gate_result *results, size_t count)
{
    size_t undecided = 0, most = SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        undecided += results[i].state == GATE_INCONCLUSIVE;
    for (size_t i = 0; i < count; i++) {
        results[i].seeds_needed = needed_by(rule, &results[i], undecided);
        if (results[i].seeds_needed > 0 && (most == SIZE_MAX || results[i].seeds_needed > results[most].seeds_needed))
            most = i;
    }
    return most;
}
