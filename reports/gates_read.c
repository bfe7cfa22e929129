/* reports/gates_read.c -- gates from JSON, each with the place where it stands. */
#include <math.h>
#include <string.h>

#include "reports/gates.h"

const char *const gate_bound_names[] = {"max_increase", "max_decrease", "max", "min", NULL};
enum { BOUNDS = 4 };

static bool is_against_base(enum gate_bound bound)
{
    return bound == GATE_MAX_INCREASE || bound == GATE_MAX_DECREASE;
}

/* ---- A bound ---- */

/* "5%", "-5 %" */
static bool percent_of(struct text text, double *ratio)
{
    text = text_trim(text);
    if (text.length == 0 || text.at[text.length - 1] != '%')
        return false;
    text.length--;
    if (!text_to_double(text_trim(text), ratio))
        return false;
    *ratio /= 100;
    return fabs(*ratio) <= 1e6;
}

/* "10m", "-10m" */
static bool seconds_of(struct text text, double *seconds)
{
    time_ns span;
    const bool is_negative = text.length > 0 && text.at[0] == '-';
    if (is_negative)
        text = (struct text){text.at + 1, text.length - 1};
    if (!time_parse_duration(text, &span))
        return false;
    *seconds = is_negative ? -time_to_seconds(span) : time_to_seconds(span);
    return true;
}

static void change_read(struct json_object *object, const char *key, struct gate *gate)
{
    struct json_value value = json_member(object, key);
    const bool is_duration = strcmp(gate->unit, "s") == 0;
    if (json_is_number(value.node)) {
        gate->amount = json_value_real(&value, -1e18, 1e18);
        return;
    }
    if (json_is_string(value.node)) {
        const struct text text = text_of(json_value_string(&value));
        gate->is_relative = percent_of(text, &gate->amount);
        if (gate->is_relative || (is_duration && seconds_of(text, &gate->amount)))
            return;
    }
    json_fail(&value, "'%s' must be a part of the base's value such as \"5%%\", %s", key,
              is_duration ? "or a duration such as 90 or \"15m\"" : "or a number in the metric's unit");
}

/* ---- A gate ---- */

static void bounds_check(const struct json_value *value, const struct gate *gates, size_t count)
{
    const struct gate *of[BOUNDS] = {NULL};
    for (size_t i = 0; i < count; i++)
        of[gates[i].bound] = &gates[i];
    const struct gate *up = of[GATE_MAX_INCREASE], *down = of[GATE_MAX_DECREASE];
    if (count == 0)
        json_fail(value, "a gate has a bound: 'max_increase', 'max_decrease', 'max' or 'min'");
    else if (of[GATE_MAX] != NULL && of[GATE_MIN] != NULL && of[GATE_MAX]->amount < of[GATE_MIN]->amount)
        json_fail(value, "'max' is below 'min'");
    else if (up != NULL && down != NULL && up->is_relative == down->is_relative && up->amount < -down->amount)
        json_fail(value, "no change is within both 'max_increase' and 'max_decrease'");
}

/* Append one gate for each bound of the object. */
static void gate_read(const struct json_value *value, struct arena *arena, struct gate *gates, size_t *count)
{
    struct json_object object;
    struct gate gate = {.unit = "", .better = BETTER_NEITHER};
    const size_t first = *count;
    json_object_open(&object, value);
    gate.of = metric_selector_read(&object, arena);
    if (error_is(*value->error))
        return;
    gate.unit = metric_find(gate.of.metric)->unit;
    gate.better = metric_find(gate.of.metric)->better;
    const char *side = json_get_string(&object, "side", NULL);
    if (side != NULL && side[0] == '\0') {
        struct json_value place = json_member(&object, "side");
        json_fail(&place, "'side' is the name of a side");
    }
    gate.side = side == NULL ? NULL : arena_copy(arena, text_of(side));
    const char *file = json_value_place(value, &gate.line, &gate.column);
    gate.file = arena_copy(arena, text_of(file));
    for (int b = 0; b < BOUNDS; b++) {
        if (!json_has(&object, gate_bound_names[b]))
            continue;
        struct gate *made = &gates[(*count)++];
        *made = gate;
        made->bound = (enum gate_bound)b;
        if (is_against_base(made->bound))
            change_read(&object, gate_bound_names[b], made);
        else
            made->amount = metric_bound_read(&object, gate_bound_names[b], gate.unit, 0);
    }
    json_object_close(&object); /* first, since a misspelt bound is told better as an unknown key */
    bounds_check(value, gates + first, *count - first);
}

struct gates gates_read(const struct json_value *value, struct arena *arena)
{
    if (value->node == NULL)
        return (struct gates){0};
    const size_t items = json_array_count(value);
    size_t count = 0;
    if (items > GATES_MAX) {
        json_fail(value, "at most %d gates", GATES_MAX);
        return (struct gates){0};
    }
    struct gate *gates = arena_alloc_array(arena, items * BOUNDS + 1, struct gate);
    for (size_t i = 0; i < items && !error_is(*value->error); i++) {
        struct json_value item = json_array_item(value, i);
        gate_read(&item, arena, gates, &count);
    }
    return (struct gates){.gates = gates, .count = count};
}

/* ---- Files ---- */

struct gates gates_of_root(const struct json_value *root, struct arena *arena)
{
    struct json_object object;
    if (json_is_array(root->node))
        return gates_read(root, arena);
    json_object_open(&object, root);
    json_need(&object, "gates");
    const struct json_value array = json_member(&object, "gates");
    const int64_t seeds = json_get_int(&object, "seeds", 1, GATES_SEEDS_MAX, 0);
    const double alpha = json_get_real(&object, "alpha", GATES_ALPHA_MIN, GATES_ALPHA_MAX, 0);
    json_object_close(&object);
    if (error_is(*root->error))
        return (struct gates){0};
    struct gates gates = gates_read(&array, arena);
    gates.seed_count = (size_t)seeds;
    gates.alpha = alpha;
    return gates;
}

struct error gates_of_file(const char *path, struct text text, struct arena *arena, struct gates *out)
{
    struct json_doc *doc;
    struct error error = ERROR_OK;
    *out = (struct gates){0};
    TRY(json_doc_parse(&doc, path, text, ERROR_CONFIG));
    const struct json_value root = json_doc_root(doc, &error);
    *out = gates_of_root(&root, arena);
    json_doc_free(doc);
    return error;
}

struct error gates_of_scenario(const char *name, const char *scenario_json, struct arena *arena, struct gates *out)
{
    struct json_doc *doc;
    struct error error = ERROR_OK;
    *out = (struct gates){0};
    if (scenario_json == NULL)
        return ERROR_OK;
    TRY(json_doc_parse(&doc, name, text_of(scenario_json), ERROR_CONFIG));
    struct json_value root = json_doc_root(doc, &error);
    struct json_object object;
    json_object_open(&object, &root);
    struct json_value value = json_member(&object, "gates");
    if (!error_is(error))
        *out = gates_read(&value, arena);
    json_doc_free(doc);
    return error;
}

/* ---- Sides ---- */

bool gate_is_alike(const struct gate *a, const struct gate *b)
{
    const bool is_same_side = a->side == NULL || b->side == NULL ? a->side == b->side : strcmp(a->side, b->side) == 0;
    return is_same_side && a->bound == b->bound && metric_selector_is_same(&a->of, &b->of);
}

bool gate_is_for(const struct gate *gate, const char *side, bool is_base)
{
    return gate->side == NULL ? !is_base : strcmp(gate->side, side) == 0;
}

static struct error refuse_side(const struct gate *gate, const char *const *sides)
{
    struct error error = error_at(ERROR_CONFIG, gate->file, gate->line, gate->column,
                                  "the gate of '%s' is for '%s', which is no side", gate->of.metric, gate->side);
    struct buffer names = {0};
    const char *near = text_nearest(text_of(gate->side), sides);
    for (size_t i = 0; sides[i] != NULL; i++)
        buffer_format(&names, "%s'%s'", i == 0 ? "" : ", ", sides[i]);
    if (near != NULL)
        error_set_hint(&error, "did you mean '%s'?", near);
    else
        error_set_hint(&error, "the sides are %s", buffer_c_string(&names));
    buffer_release(&names);
    return error;
}

struct error gates_check_sides(const struct gates *gates, const char *const *sides)
{
    for (size_t g = 0; g < gates->count; g++) {
        const struct gate *gate = &gates->gates[g];
        size_t i = 0;
        if (gate->side == NULL)
            continue;
        while (sides[i] != NULL && strcmp(sides[i], gate->side) != 0)
            i++;
        if (sides[i] == NULL)
            return refuse_side(gate, sides);
        if (i == 0 && is_against_base(gate->bound)) {
            struct error error =
                error_at(ERROR_CONFIG, gate->file, gate->line, gate->column,
                         "'%s' compares with '%s', so it cannot be for it", gate_bound_names[gate->bound], gate->side);
            error_set_hint(&error, "name another side, or bound this one with 'max' or 'min'");
            return error;
        }
    }
    return ERROR_OK;
}
