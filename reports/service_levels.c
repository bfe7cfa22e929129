#include "reports/service_levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/metrics_inside.h"
#include "reports/view.h"

enum { LEVELS_MAX = 64 };

const char *const level_state_names[] = {"met", "not met", "not defined"};

/* ---- Which number ---- */

static const struct metric *metric_named(const char *name, bool is_cut)
{
    for (size_t m = is_cut ? METRIC_CUTS_FROM : 0; m < METRIC_COUNT; m++)
        if (strcmp(metric_table[m].name, name) == 0)
            return &metric_table[m];
    return NULL;
}

static void metric_refuse(struct json_object *object, const char *name, bool is_known)
{
    const char *names[METRIC_COUNT + 1] = {NULL};
    struct json_value value = json_member(object, "metric");
    for (size_t m = 0; m < METRIC_COUNT; m++)
        names[m] = metric_table[m].name;
    if (is_known) {
        json_fail(&value, "'%s' is of the whole run only: it has no cuts", name);
        return;
    }
    json_fail(&value, "there is no metric '%s'", name);
    const char *near = text_nearest(text_of(name), names);
    if (near != NULL)
        error_set_hint(value.error, "did you mean '%s'? `windtunnel metrics` lists them", near);
    else
        error_set_hint(value.error, "`windtunnel metrics` lists them");
}

struct metric_selector metric_selector_read(struct json_object *object, struct arena *arena)
{
    struct metric_selector of = {0};
    json_need(object, "metric");
    const char *name = json_get_string(object, "metric", "");
    for (size_t c = 0; metrics_cut_names[c] != NULL; c++) {
        if (!json_has(object, metrics_cut_names[c]))
            continue;
        struct json_value place = json_member(object, metrics_cut_names[c]);
        if (of.cut != NULL)
            json_fail(&place, "'%s' and '%s': a metric is of one cut", of.cut, metrics_cut_names[c]);
        of.cut = metrics_cut_names[c];
        of.key = arena_copy(arena, text_of(json_get_string(object, metrics_cut_names[c], "")));
    }
    of.metric = arena_copy(arena, text_of(name));
    if (!error_is(*object->value.error) && metric_named(name, of.cut != NULL) == NULL)
        metric_refuse(object, name, metric_named(name, false) != NULL);
    return of;
}

bool metric_selector_is_same(const struct metric_selector *a, const struct metric_selector *b)
{
    if (strcmp(a->metric, b->metric) != 0 || (a->cut == NULL) != (b->cut == NULL))
        return false;
    return a->cut == NULL || (strcmp(a->cut, b->cut) == 0 && strcmp(a->key, b->key) == 0);
}

double metric_selector_value(const struct metrics *metrics, const struct metric_selector *of)
{
    const char *key;
    if (of->cut == NULL)
        return metrics_value(metrics, of->metric);
    for (size_t i = 0; (key = metrics_cut_key(metrics, of->cut, i)) != NULL; i++)
        if (strcmp(key, of->key) == 0)
            return view_cut_value(metrics, of->cut, i, of->metric);
    return NAN;
}

static void write_key(const struct metric_selector *of, struct buffer *out)
{
    if (of->cut == NULL)
        return;
    buffer_string(out, strcmp(of->cut, "size") == 0 ? " of size " : " of ");
    view_name(out, of->key, 40);
}

void metric_selector_write(const struct metric_selector *of, struct buffer *out)
{
    buffer_string(out, of->metric);
    write_key(of, out);
}

void metric_selector_words(const struct metric_selector *of, struct buffer *out)
{
    static const char *const units[] = {"_s", "_ratio", "_usd"};
    struct text name = text_of(of->metric);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        const size_t length = strlen(units[u]);
        if (name.length > length && memcmp(name.at + name.length - length, units[u], length) == 0) {
            name.length -= length;
            break;
        }
    }
    for (size_t i = 0; i < name.length; i++)
        buffer_char(out, name.at[i] == '_' ? ' ' : name.at[i]);
    write_key(of, out);
}

/* ---- Reading ---- */

double metric_bound_read(struct json_object *object, const char *key, const char *unit, double otherwise)
{
    struct json_value value = json_member(object, key);
    if (value.node == NULL)
        return otherwise;
    if (strcmp(unit, "s") == 0)
        return time_to_seconds(json_get_duration(object, key, 0));
    return json_get_real(object, key, -1e18, 1e18, otherwise);
}

static struct service_level level_read(const struct json_value *value, struct arena *arena)
{
    struct json_object object;
    struct service_level level = {.unit = "", .max = INFINITY, .min = -INFINITY};
    json_object_open(&object, value);
    level.of = metric_selector_read(&object, arena);
    if (error_is(*value->error))
        return level;
    level.unit = metric_named(level.of.metric, false)->unit;
    level.max = metric_bound_read(&object, "max", level.unit, INFINITY);
    level.min = metric_bound_read(&object, "min", level.unit, -INFINITY);
    if (!json_has(&object, "max") && !json_has(&object, "min"))
        json_fail(value, "a service level has a bound: 'max' or 'min'");
    else if (level.max < level.min)
        json_fail(value, "'max' is below 'min'");
    json_object_close(&object);
    return level;
}

struct service_levels service_levels_read(const struct json_value *value, struct arena *arena)
{
    if (value->node == NULL)
        return (struct service_levels){0};
    size_t count = json_array_count(value);
    if (count > LEVELS_MAX) {
        json_fail(value, "at most %d service levels", LEVELS_MAX);
        return (struct service_levels){0};
    }
    struct service_level *levels = arena_alloc_array(arena, count + 1, struct service_level);
    for (size_t i = 0; i < count && !error_is(*value->error); i++) {
        struct json_value item = json_array_item(value, i);
        levels[i] = level_read(&item, arena);
    }
    return (struct service_levels){levels, count};
}

struct error service_levels_of_scenario(const char *scenario_json, struct arena *arena, struct service_levels *out)
{
    struct json_doc *doc;
    *out = (struct service_levels){0};
    if (scenario_json == NULL)
        return ERROR_OK;
    TRY(json_doc_parse(&doc, "scenario", text_of(scenario_json), ERROR_DATA));
    struct error error = ERROR_OK;
    struct json_value root = json_doc_root(doc, &error);
    struct json_object object;
    json_object_open(&object, &root);
    struct json_value value = json_member(&object, "service_levels");
    *out = service_levels_read(&value, arena);
    json_doc_free(doc);
    return error;
}

/* ---- Met or not ---- */

enum level_state service_level_state(const struct metrics *metrics, const struct service_level *level)
{
    const double value = metric_selector_value(metrics, &level->of);
    if (!isfinite(value))
        return LEVEL_NOT_DEFINED;
    return value <= level->max && value >= level->min ? LEVEL_MET : LEVEL_NOT_MET;
}

void service_level_value(const struct service_level *level, double value, struct buffer *out)
{
    view_metric(out, level->of.metric, level->unit, value);
}

void service_level_bound(const struct service_level *level, struct buffer *out)
{
    if (isfinite(level->max)) {
        buffer_string(out, "at most ");
        service_level_value(level, level->max, out);
    }
    if (isfinite(level->min)) {
        buffer_string(out, isfinite(level->max) ? ", at least " : "at least ");
        service_level_value(level, level->min, out);
    }
}

/* ---- As JSON ---- */

static void pair_number(struct buffer *out, const char *key, double value)
{
    if (isfinite(value))
        buffer_members(out, ", %s: %g", key, value);
}

void service_levels_write_json(const struct service_levels *levels, const struct metrics *metrics, struct buffer *out)
{
    buffer_string(out, "\"service_levels\": [");
    for (size_t i = 0; i < levels->count; i++) {
        const struct service_level *level = &levels->levels[i];
        const enum level_state state = service_level_state(metrics, level);
        buffer_members(out, ",\n  {'metric': %s", level->of.metric);
        if (level->of.cut != NULL)
            buffer_members(out, ", %s: %s", level->of.cut, level->of.key);
        pair_number(out, "max", level->max);
        pair_number(out, "min", level->min);
        buffer_members(out, ", 'unit': %s", level->unit);
        if (state == LEVEL_NOT_DEFINED) {
            buffer_string(out, ", \"value\": null, \"is_met\": null}");
            continue;
        }
        const bool is_met = state == LEVEL_MET;
        buffer_members(out, ", 'value': %g, 'is_met': %hhd}", metric_selector_value(metrics, &level->of), is_met);
    }
    buffer_char(out, ']');
}
