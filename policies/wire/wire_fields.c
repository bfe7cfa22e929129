#include "policies/wire/wire_fields.h"

#include <math.h>
#include <string.h>

#include "base/names.h"

enum { MIB_PER_GB = 1024 };

/* ---- writing ---- */

static void put_value(struct buffer *out, const struct wire_field *field, int64_t value)
{
    switch (field->form) {
    case WIRE_FORM_INT:
        buffer_int(out, value);
        break;
    case WIRE_FORM_MILLI:
        buffer_scaled(out, value, GPU_MILLI);
        break;
    case WIRE_FORM_MIB:
        buffer_double(out, (double)value / MIB_PER_GB);
        break;
    case WIRE_FORM_BOOL:
        buffer_string(out, value != 0 ? "true" : "false");
        break;
    case WIRE_FORM_NAME:
        buffer_json(out, text_of(field->names[value]));
        break;
    }
}

void wire_put_fields(struct buffer *out, const struct wire_field *fields, const void *base)
{
    for (const struct wire_field *field = fields; field->key != NULL; field++) {
        int64_t value = member_get(&field->at, base);
        if (value == field->usual)
            continue;
        wire_put_key(out, field->key);
        put_value(out, field, value);
    }
}

/* ---- reading ---- */

static int64_t get_value(struct json_object *object, const struct wire_field *field)
{
    int64_t usual = field->usual;
    switch (field->form) {
    case WIRE_FORM_INT:
        return json_get_int(object, field->key, field->low, field->high, usual);
    case WIRE_FORM_MILLI:
        return json_get_scaled(object, field->key, GPU_MILLI, field->low, field->high, usual);
    case WIRE_FORM_MIB: /* a double holds every uint32_t of 1024ths */
        return llround(json_get_real(object, field->key, (double)field->low / MIB_PER_GB,
                                     (double)field->high / MIB_PER_GB, (double)usual / MIB_PER_GB) *
                       MIB_PER_GB);
    case WIRE_FORM_BOOL:
        return json_get_bool(object, field->key, usual != 0);
    case WIRE_FORM_NAME:
        break;
    }
    return json_get_choice(object, field->key, field->names, (int)usual);
}

void wire_get_fields(struct json_object *object, const struct wire_field *fields, void *base)
{
    for (const struct wire_field *field = fields; field->key != NULL; field++) {
        if (field->usual == WIRE_NEEDED)
            json_need(object, field->key);
        member_set(&field->at, base, get_value(object, field));
    }
}

static const char *get_name(struct json_object *object, const char *key, struct json_value *place)
{
    const char *name = json_get_string(object, key, NULL);
    *place = json_member(object, key);
    return error_is(*object->value.error) ? NULL : name;
}

decision_id wire_get_decision(struct json_object *object, const char *key, job_id job)
{
    const int64_t number = json_get_int(object, key, 1, UINT32_MAX, 0);
    return number != 0 ? (decision_id)number << 32 | job : 0;
}

node_id wire_get_node(struct wire *wire, struct json_object *object, const char *key)
{
    struct json_value place;
    const char *name = get_name(object, key, &place);
    if (name == NULL)
        return NODE_NONE;
    uint32_t node = names_find(wire->nodes, text_of(name));
    if (node == NAMES_NONE) {
        json_fail(&place, "the cluster has no node '%s'", name);
        wire->unknown_node = arena_copy(&wire->arena, text_of(name));
    }
    return node;
}

queue_id wire_get_queue(const struct wire *wire, struct json_object *object, const char *key)
{
    struct json_value place;
    const char *name = get_name(object, key, &place);
    if (name == NULL)
        return QUEUE_ROOT;
    queue_id queue = queue_table_find(wire->queues, text_of(name));
    if (queue != QUEUE_NONE)
        return queue;
    json_fail(&place, "there is no queue '%s'", name);
    error_set_hint(object->value.error, "a line of queues_changed brings it in before its first job");
    return QUEUE_ROOT;
}
