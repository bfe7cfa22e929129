/* reports/gates_write.c -- verdicts of gates as sentences and as JSON. */
#include <math.h>

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
        view_metric(out, gate->of.metric, gate->unit, result->candidate);
    else if (result->method == METHOD_EQUAL && result->difference == 0)
        buffer_string(out, "equal");
    else if (gate->is_relative && isfinite(result->relative))
        buffer_format(out, "%+.1f %%", result->relative * 100);
    else
        view_change(out, gate->of.metric, gate->unit, result->difference);
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
    } else if (gate->is_relative && isfinite(result->relative) && isfinite(result->relative_low)) {
        buffer_format(out, "interval %+.1f to %+.1f %%", result->relative_low * 100, result->relative_high * 100);
    } else {
        buffer_string(out, gate->is_relative ? "interval of the difference " : "interval ");
        view_change(out, metric, gate->unit, result->low);
        buffer_string(out, " to ");
        view_change(out, metric, gate->unit, result->high);
    }
}

static void write_interval(const struct gate *gate, const struct gate_result *result, struct buffer *out)
{
    if (result->method == METHOD_EQUAL) {
        buffer_format(out, result->difference == 0 ? " in all %zu seeds" : " (on the bound in all %zu seeds)",
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
    buffer_format(out, ": %s", gate_state_names[result->state]);
    if (result->state == GATE_INCONCLUSIVE && result->half_missing > 0)
        buffer_format(out, " (in %zu of %zu seeds one side has no value)", result->half_missing,
                      result->n + result->missing);
    else if (result->state == GATE_INCONCLUSIVE)
        buffer_format(out, " (n = %zu)", result->n);
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
    buffer_members(out, ", 'base': %g, 'candidate': %g, 'difference': %g, 'relative': %g, 'low': %g, 'high': %g",
                   result->base, result->candidate, result->difference, result->relative, result->low, result->high);
    buffer_members(out, ", 'relative_low': %g, 'relative_high': %g, 'level': %g, 'p': %g, 'p_rank': %g}",
                   result->relative_low, result->relative_high, result->level > 0 ? result->level : NAN, result->p,
                   result->p_rank);
}
