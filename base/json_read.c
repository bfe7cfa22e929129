/* base/json_read.c -- numbers, texts and choices out of JSON values; see base/json.h. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_doc.h"

enum form { FORM_INT, FORM_REAL, FORM_BOOL, FORM_STRING, FORM_SCALED, FORM_DURATION };

struct want {
    enum form form;
    int64_t low; /* FORM_INT; FORM_SCALED in its units */
    int64_t high;
    double real_low; /* FORM_REAL; infinite or the largest double: no limit */
    double real_high;
    int64_t scale; /* FORM_SCALED */
};

struct got {
    int64_t integer; /* also for bool, scaled and duration */
    double real;
    const char *string; /* borrowed from the node */
};

/* ---- is it the wanted type? ---- */

/* 8.0 and 1e3 are integers too (as in JSON Schema 2020-12, section 4.2.3). */
static bool node_to_int(const json_t *node, int64_t *out)
{
    const double exact_max = 9007199254740992.0; /* 2^53: integers of a double up to it are exact */
    if (json_is_integer(node)) {
        *out = json_integer_value(node);
        return true;
    }
    double real = json_is_real(node) ? json_real_value(node) : NAN;
    if (!(fabs(real) <= exact_max) || real != trunc(real))
        return false;
    *out = (int64_t)real;
    return true;
}

/* The decimal that was written, as far as the double preserves it. */
static bool real_to_scaled(double real, int64_t scale, int64_t *out)
{
    const double tolerance = 1e-9; /* of a unit: 0.7999999999999999 is the result of a sum that should be 0.8 */
    double units = real * (double)scale;
    if (fabs(units) < 1e15 && fabs(units - rint(units)) <= tolerance) {
        *out = (int64_t)rint(units);
        return true;
    }
    struct buffer decimal = {0};
    buffer_double(&decimal, real);
    bool is = text_to_scaled((struct text){decimal.bytes, decimal.length}, scale, out);
    buffer_release(&decimal);
    return is;
}

static bool node_to_scaled(const json_t *node, int64_t scale, int64_t *out)
{
    if (json_is_integer(node))
        return !__builtin_mul_overflow((int64_t)json_integer_value(node), scale, out);
    return json_is_real(node) && real_to_scaled(json_real_value(node), scale, out);
}

static bool node_to_duration(const json_t *node, int64_t *out)
{
    if (json_is_string(node))
        return time_parse_duration((struct text){json_string_value(node), json_string_length(node)}, out);
    return node_to_scaled(node, TIME_NS_PER_S, out) && *out >= 0 && *out <= TIME_NS_MAX;
}

static bool accepts(const struct want *want, const json_t *node, struct got *got)
{
    switch (want->form) {
    case FORM_INT:
        return node_to_int(node, &got->integer) && got->integer >= want->low && got->integer <= want->high;
    case FORM_SCALED:
        return node_to_scaled(node, want->scale, &got->integer) && got->integer >= want->low &&
               got->integer <= want->high;
    case FORM_REAL:
        got->real = json_number_value(node);
        return json_is_number(node) && got->real >= want->real_low && got->real <= want->real_high;
    case FORM_BOOL:
        got->integer = json_is_true(node);
        return json_is_boolean(node);
    case FORM_STRING:
        got->string = json_string_value(node);
        return json_is_string(node);
    case FORM_DURATION:
        break;
    }
    return node_to_duration(node, &got->integer);
}

/* ---- messages about a wrong value ---- */

static void print_bound(struct buffer *out, const struct want *want, bool is_high)
{
    if (want->form == FORM_REAL)
        buffer_double(out, is_high ? want->real_high : want->real_low);
    else if (want->form == FORM_SCALED)
        buffer_scaled(out, is_high ? want->high : want->low, want->scale);
    else
        buffer_int(out, is_high ? want->high : want->low);
}

/* " from 1 to 16", " of at least 1", " of at most 16" or nothing. */
static void print_range(struct buffer *out, const struct want *want)
{
    /* one unit from the end is no limit either: -INT64_MAX is often written for "any" */
    bool has_low = want->low > INT64_MIN + 1;
    bool has_high = want->high < INT64_MAX;
    if (want->form == FORM_REAL) {
        has_low = want->real_low > -__DBL_MAX__;
        has_high = want->real_high < __DBL_MAX__;
    }
    if (has_low)
        buffer_string(out, has_high ? " from " : " of at least ");
    if (has_low)
        print_bound(out, want, false);
    if (has_high)
        buffer_string(out, has_low ? " to " : " of at most ");
    if (has_high)
        print_bound(out, want, true);
}

static void print_want(struct buffer *out, const struct want *want)
{
    switch (want->form) {
    case FORM_INT:
        buffer_string(out, "an integer");
        print_range(out, want);
        break;
    case FORM_REAL:
    case FORM_SCALED:
        buffer_string(out, "a number");
        print_range(out, want);
        break;
    case FORM_BOOL:
        buffer_string(out, "true or false");
        break;
    case FORM_STRING:
        buffer_string(out, "a string");
        break;
    case FORM_DURATION:
        buffer_string(out, "a duration such as 90, \"15m\" or \"14d\"");
        break;
    }
}

/* A hint if only the quotes are wrong; NULL: none. */
static const char *quotes_hint(const struct want *want, const json_t *node)
{
    struct got got = {0};
    if (want->form == FORM_STRING)
        return json_is_number(node) || json_is_boolean(node) ? "put it in quotes" : NULL;
    if (!json_is_string(node))
        return NULL;
    json_t *bare = json_loadb(json_string_value(node), json_string_length(node), JSON_DECODE_ANY, NULL);
    bool is_good = bare != NULL && accepts(want, bare, &got);
    json_decref(bare);
    return is_good ? "remove the quotes" : NULL;
}

static void fail_unwanted(const struct json_value *value, const struct want *want)
{
    if (error_is(*value->error))
        return;
    struct buffer name = {0};
    struct buffer wanted = {0};
    struct buffer found = {0};
    json_name_value(&name, value);
    print_want(&wanted, want);
    json_describe(&found, value->node);
    json_fail(value, "%s must be %s, got %s", buffer_c_string(&name), buffer_c_string(&wanted),
              buffer_c_string(&found));
    const char *hint = quotes_hint(want, value->node);
    if (hint != NULL)
        error_set_hint(value->error, "%s", hint);
    buffer_release(&name);
    buffer_release(&wanted);
    buffer_release(&found);
}

/* ---- reads ---- */

static void hear_want(const struct json_value *value, const struct want *want)
{
    static const enum json_question questions[] = {
        [FORM_INT] = JSON_ASK_INT,       [FORM_REAL] = JSON_ASK_REAL,     [FORM_BOOL] = JSON_ASK_BOOL,
        [FORM_STRING] = JSON_ASK_STRING, [FORM_SCALED] = JSON_ASK_SCALED, [FORM_DURATION] = JSON_ASK_DURATION};
    if (value->doc->listener == NULL)
        return;
    const struct json_ask ask = {.question = questions[want->form],
                                 .low = want->low,
                                 .high = want->high,
                                 .real_low = want->real_low,
                                 .real_high = want->real_high,
                                 .scale = want->scale};
    json_hear(value, &ask);
}

/* False, with the sticky error set, if the value is not of the wanted type and range. */
static bool read_value(const struct json_value *value, const struct want *want, struct got *got)
{
    if (error_is(*value->error))
        return false;
    if (accepts(want, value->node, got))
        return true;
    fail_unwanted(value, want);
    return false;
}

/* As read_value; false too if the key is absent. */
static bool read_member(struct json_object *object, const char *key, const struct want *want, struct got *got)
{
    struct json_value member = json_member(object, key);
    hear_want(&member, want);
    return member.node != NULL && read_value(&member, want, got);
}

int64_t json_get_int(struct json_object *object, const char *key, int64_t low, int64_t high, int64_t otherwise)
{
    struct want want = {.form = FORM_INT, .low = low, .high = high};
    struct got got = {0};
    return read_member(object, key, &want, &got) ? got.integer : otherwise;
}

double json_get_real(struct json_object *object, const char *key, double low, double high, double otherwise)
{
    struct want want = {.form = FORM_REAL, .real_low = low, .real_high = high};
    struct got got = {0};
    return read_member(object, key, &want, &got) ? got.real : otherwise;
}

bool json_get_bool(struct json_object *object, const char *key, bool otherwise)
{
    struct want want = {.form = FORM_BOOL};
    struct got got = {0};
    return read_member(object, key, &want, &got) ? got.integer != 0 : otherwise;
}

const char *json_get_string(struct json_object *object, const char *key, const char *otherwise)
{
    struct want want = {.form = FORM_STRING};
    struct got got = {0};
    return read_member(object, key, &want, &got) ? got.string : otherwise;
}

int64_t json_get_scaled(struct json_object *object, const char *key, int64_t scale, int64_t low, int64_t high,
                        int64_t otherwise)
{
    struct want want = {.form = FORM_SCALED, .scale = scale, .low = low, .high = high};
    struct got got = {0};
    return read_member(object, key, &want, &got) ? got.integer : otherwise;
}

time_ns json_get_duration(struct json_object *object, const char *key, time_ns otherwise)
{
    struct want want = {.form = FORM_DURATION};
    struct got got = {0};
    return read_member(object, key, &want, &got) ? got.integer : otherwise;
}

time_ns json_get_patience(struct json_object *object, const char *key, time_ns otherwise)
{
    struct json_value value = json_member(object, key);
    json_hear(&value, &(struct json_ask){.question = JSON_ASK_NEVER});
    if (value.node != NULL && json_is_string(value.node) && strcmp(json_string_value(value.node), "never") == 0)
        return TIME_NEVER;
    return json_get_duration(object, key, otherwise);
}

static void fail_choice(const struct json_value *value, const char *const *names)
{
    struct buffer list = {0};
    struct buffer found = {0};
    for (size_t i = 0; names[i] != NULL; i++)
        buffer_format(&list, "%s'%s'", i != 0 ? ", " : "", names[i]);
    json_describe(&found, value->node);
    json_fail(value, "'%s' must be one of %s; got %s", value->key, buffer_c_string(&list), buffer_c_string(&found));
    if (json_is_string(value->node))
        error_hint_nearest(value->error, text_of(json_string_value(value->node)), names);
    buffer_release(&list);
    buffer_release(&found);
}

int json_get_choice(struct json_object *object, const char *key, const char *const *names, int otherwise)
{
    struct json_value member = json_member(object, key);
    json_note_choices(&member, names);
    if (member.node == NULL)
        return otherwise;
    for (int i = 0; names[i] != NULL && json_is_string(member.node); i++)
        if (strcmp(names[i], json_string_value(member.node)) == 0)
            return i;
    fail_choice(&member, names);
    return otherwise;
}

int64_t json_value_int(const struct json_value *value, int64_t low, int64_t high)
{
    struct want want = {.form = FORM_INT, .low = low, .high = high};
    struct got got = {0};
    hear_want(value, &want);
    return read_value(value, &want, &got) ? got.integer : low;
}

double json_value_real(const struct json_value *value, double low, double high)
{
    struct want want = {.form = FORM_REAL, .real_low = low, .real_high = high};
    struct got got = {0};
    hear_want(value, &want);
    return read_value(value, &want, &got) ? got.real : low;
}

const char *json_value_string(const struct json_value *value)
{
    struct want want = {.form = FORM_STRING};
    struct got got = {0};
    hear_want(value, &want);
    return read_value(value, &want, &got) ? got.string : "";
}

const char *json_value_file(const struct json_value *value, const char *role)
{
    const struct json_gate *gate = value->doc->gate;
    json_hear(value, &(struct json_ask){.question = JSON_ASK_FILE});
    if (value->node == NULL) {
        json_hear(value, &(struct json_ask){.question = JSON_ASK_STRING});
        return NULL;
    }
    const char *path = json_value_string(value);
    if (error_is(*value->error) || gate == NULL)
        return path;
    struct error error = gate->on_file(gate->self, role, json_value_is_typed(value), &path);
    if (!error_is(error) && path != json_string_value(value->node) && json_string_set(value->node, path) != 0)
        error = error_new(value->doc->kind, "the path of the file is not UTF-8");
    if (!error_is(error))
        return json_string_value(value->node);
    json_fail(value, "%s", error_message(&error));
    value->error->kind = error.kind;
    if (error_hint(&error)[0] != '\0')
        error_set_hint(value->error, "%s", error_hint(&error));
    error_release(&error);
    return "";
}
