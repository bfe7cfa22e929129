/* reports/gates_write.c -- verdicts of gates as sentences and as JSON. */
#include <math.h>

#include "reports/change.h"
#include "reports/gates.h"
#include "reports/view.h"

static bool is_of_one_side(const struct gate *gate)
{
    return gate->bound == GATE_MAX || gate->bound == GATE_MIN;
}

/* ---- Words ---- */

static void write_value(const struct gate *gate, const struct gate_result *result, struct buffer *out)
{
    if (is_of_one_side(gate))
        view_metric(out, gate->of.metric, gate->unit, result->value);
    else if (result->method == METHOD_EQUAL && result->difference == 0)
        buffer_string(out, "equal");
    else
        change_write(result->is_ratio, gate->of.metric, gate->unit, result->value, out);
}

static void write_ends(const struct gate *gate, const struct gate_result *result, struct buffer *out)
{
    const char *metric = gate->of.metric;
    if (!isfinite(result->low) || !isfinite(result->high)) {
        buffer_format(out, "no interval, n = %zu", result->n);
    } else if (is_of_one_side(gate)) {
        buffer_string(out, "interval ");
        view_metric(out, metric, gate->unit, result->low);
        buffer_string(out, " to ");
        view_metric(out, metric, gate->unit, result->high);
    } else {
        buffer_string(out, "interval ");
        change_write_interval(result->is_ratio, metric, gate->unit, result->low, result->high, out);
    }
}

static void write_interval(const struct gate *gate, const struct gate_result *result, struct buffer *out)
{
    if (result->method == METHOD_EQUAL) {
        buffer_format(out,
                      is_of_one_side(gate)      ? " (the base's values in all %zu seeds)"
                      : result->difference == 0 ? " in all %zu seeds"
                                                : " (on the bound in all %zu seeds)",
                      result->n);
        return;
    }
    buffer_string(out, " (");
    if (result->method == METHOD_EXACT)
        buffer_format(out, "this replay alone, n = %zu", result->n);
    else
        write_ends(gate, result, out);
    buffer_char(out, ')');
}

void gate_write_bound(const struct gate *gate, struct buffer *out)
{
    const bool is_upper = gate->bound == GATE_MAX_INCREASE || gate->bound == GATE_MAX;
    const double sign = gate->bound == GATE_MAX_DECREASE ? -1 : 1;
    buffer_string(out, is_upper ? "at most " : "at least ");
    if (is_of_one_side(gate))
        view_metric(out, gate->of.metric, gate->unit, gate->amount);
    else if (gate->is_relative)
        buffer_format(out, "%s%g %%", sign * gate->amount < 0 ? "-" : "+", fabs(gate->amount) * 100);
    else
        view_change(out, gate->of.metric, gate->unit, sign * gate->amount);
    buffer_string(out, " allowed");
}

void gate_write(const struct gate_test *test, const struct gate_result *result, struct buffer *out)
{
    if (test->side != NULL) {
        view_name(out, test->side, 40);
        buffer_string(out, ": ");
    }
    gate_write_outcome(test->gate, result, out);
}

bool gate_write_need(const struct gate_result *result, struct buffer *out)
{
    if (result->seeds_needed == 0)
        return false;
    if (result->seeds_needed == GATES_SEEDS_MORE)
        buffer_format(out, "more than %d seeds would be needed", GATES_SEEDS_MOST);
    else
        buffer_format(out, "%zu seeds would decide it, four times in five", result->seeds_needed);
    return true;
}

/* Of max and min: what the base has to do with the verdict. */
static void write_base(const struct gate *gate, const struct gate_result *result, struct buffer *out)
{
    const bool is_upper = gate->bound == GATE_MAX;
    const bool is_beyond = is_upper ? result->value > gate->amount : result->value < gate->amount;
    if (!is_of_one_side(gate) || !is_beyond || result->base_is == GATE_BASE_UNKNOWN)
        return;
    if (result->state == GATE_PASSED && result->base_is == GATE_BASE_BEYOND) {
        buffer_string(out, ", the base already breaks it (");
        view_metric(out, gate->of.metric, gate->unit, result->base);
        buffer_string(out, result->p > 1 - result->level && result->method != METHOD_EQUAL
                               ? ") and the change is not surely worse"
                               : ")");
    } else if (result->state == GATE_PASSED && result->method != METHOD_EQUAL) {
        buffer_string(out, ", surely better than the base");
    } else if (result->state == GATE_FAILED) {
        buffer_string(out, ", worse than the base (");
        view_metric(out, gate->of.metric, gate->unit, result->base);
        buffer_string(out, result->base_is == GATE_BASE_BEYOND ? "), which breaks it too" : ")");
    }
}

static void write_doubt(const struct gate_result *result, struct buffer *out)
{
    if (result->half_missing > 0) {
        buffer_format(out, " (in %zu of %zu seeds one side has no value)", result->half_missing,
                      result->n + result->missing);
        return;
    }
    buffer_format(out, " (n = %zu", result->n);
    if (result->seeds_needed > 0)
        buffer_string(out, "; ");
    gate_write_need(result, out);
    if (result->base_is == GATE_BASE_ON)
        buffer_string(out, "; the base itself is on the bound");
    buffer_char(out, ')');
}

void gate_write_outcome(const struct gate *gate, const struct gate_result *result, struct buffer *out)
{
    metric_selector_write(&gate->of, out);
    buffer_string(out, ": ");
    if (result->state == GATE_NOT_DEFINED) {
        buffer_string(out, is_of_one_side(gate) ? "no value" : "no seed has a value on both sides");
    } else {
        write_value(gate, result, out);
        write_interval(gate, result, out);
    }
    buffer_string(out, ", ");
    gate_write_bound(gate, out);
    if (gate->is_relative && !result->is_ratio && isfinite(result->bound)) {
        buffer_string(out, " (that is ");
        view_change(out, gate->of.metric, gate->unit, result->bound);
        buffer_char(out, ')');
    }
    buffer_format(out, ": %s", gate_state_names[result->state]);
    write_base(gate, result, out);
    if (result->state == GATE_INCONCLUSIVE)
        write_doubt(result, out);
}

/* ---- JSON ---- */

void gate_write_json(const struct gate_test *test, const struct gate_result *result, struct buffer *out)
{
    const struct gate *gate = test->gate;
    buffer_members(out, "{'metric': %s", gate->of.metric);
    if (gate->of.cut != NULL)
        buffer_members(out, ", %s: %s", gate->of.cut, gate->of.key);
    if (gate->is_relative)
        buffer_format(out, ", \"%s\": \"%g%%\"", gate_bound_names[gate->bound], gate->amount * 100);
    else
        buffer_members(out, ", %s: %g", gate_bound_names[gate->bound], gate->amount);
    if (test->side != NULL)
        buffer_members(out, ", 'side': %s", test->side);
    buffer_members(out, ", 'unit': %s, 'state': %s, 'method': %s, 'n': %zu, 'missing': %zu, 'half_missing': %zu",
                   gate->unit, gate_state_names[result->state], inference_method_names[result->method], result->n,
                   result->missing, result->half_missing);
    buffer_members(out, ", 'base': %g, 'candidate': %g, 'difference': %g, 'estimator': %s, 'value': %g, 'low': %g",
                   result->base, result->candidate, result->difference,
                   is_of_one_side(gate) ? "mean"
                   : result->is_ratio   ? "ratio"
                                        : "difference",
                   result->value, result->low);
    buffer_members(out, ", 'high': %g, 'bound': %g, 'level': %g, 'p': %g, 'p_rank': %g", result->high, result->bound,
                   result->level > 0 ? result->level : NAN, result->p, result->p_rank);
    if (is_of_one_side(gate) && result->base_is != GATE_BASE_UNKNOWN)
        buffer_members(out, ", 'base_is': %s", gate_base_names[result->base_is]);
    if (result->state == GATE_INCONCLUSIVE)
        buffer_members(out, ", 'seeds_needed': %g",
                       result->seeds_needed == 0                  ? NAN
                       : result->seeds_needed == GATES_SEEDS_MORE ? INFINITY
                                                                  : (double)result->seeds_needed);
    buffer_char(out, '}');
}
