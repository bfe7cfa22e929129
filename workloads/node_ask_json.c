/* workloads/node_ask_json.c -- an ask of nodes read: from JSON objects, and from the short texts of tables. */
#include <string.h>

#include "workloads/node_ask.h"

static bool has_failed(const struct json_object *object)
{
    return error_is(*object->value.error);
}

/* ---- texts ---- */

const char *node_ask_selector_of(struct text text, struct arena *arena, struct node_ask *draft)
{
    struct node_expression *list = arena_alloc_array(arena, NODE_ASK_MAX, struct node_expression);
    struct text rest = text, label, key;
    uint16_t count = 0;
    while (text_cut(&rest, ';', &label)) {
        if (!text_cut(&label, '=', &key) || label.at == NULL || text_trim(key).length == 0)
            return "labels as key=value, parted by ';'";
        if (count == NODE_ASK_MAX)
            return "at most 64 labels";
        const char **value = arena_alloc_array(arena, 1, const char *);
        value[0] = arena_copy(arena, text_trim(label));
        list[count] = (struct node_expression){arena_copy(arena, text_trim(key)), value, 1, NODE_IN};
        for (uint16_t i = 0; i < count; i++)
            if (strcmp(list[i].key, list[count].key) == 0)
                return "labels of different keys";
        count++;
    }
    draft->selector = (struct node_term){list, count};
    return NULL;
}

static const char *node_ask_toleration_of(struct text text, struct arena *arena, struct toleration *toleration)
{
    struct text rest = text_trim(text), left, key;
    *toleration = (struct toleration){"", "", true, TAINT_EFFECT_COUNT};
    if (text_is(rest, "*"))
        return NULL;
    if (!text_cut(&rest, ':', &left))
        return "a key";
    if (rest.at != NULL)
        for (toleration->effect = 0; toleration->effect < TAINT_EFFECT_COUNT; toleration->effect++)
            if (text_is(rest, taint_effect_names[toleration->effect]))
                break;
    if (rest.at != NULL && toleration->effect == TAINT_EFFECT_COUNT)
        return "of the effect NoSchedule, NoExecute or PreferNoSchedule";
    if (!text_cut(&left, '=', &key) || key.length == 0)
        return "key=value:Effect, key:Effect, key or *";
    toleration->key = arena_copy(arena, key);
    toleration->exists = left.at == NULL;
    toleration->value = left.at != NULL ? arena_copy(arena, left) : "";
    return NULL;
}

const char *node_ask_tolerations_of(struct text text, struct arena *arena, struct node_ask *draft)
{
    struct toleration *list = arena_alloc_array(arena, NODE_ASK_MAX, struct toleration);
    struct text rest = text, one;
    uint16_t count = 0;
    while (text_cut(&rest, ';', &one)) {
        if (count == NODE_ASK_MAX)
            return "at most 64 tolerations";
        const char *complaint = node_ask_toleration_of(one, arena, &list[count++]);
        if (complaint != NULL)
            return complaint;
    }
    draft->tolerations = list;
    draft->toleration_count = count;
    return NULL;
}

/* ---- JSON ---- */

static void read_selector(struct json_object *object, struct arena *arena, struct node_ask *draft)
{
    struct json_value value = json_member(object, "node_selector");
    struct json_object labels;
    const char *key;
    uint16_t count = 0;
    if (value.node == NULL || has_failed(object))
        return;
    if (json_is_string(value.node)) {
        const char *complaint = node_ask_selector_of(text_of(json_value_string(&value)), arena, draft);
        if (complaint != NULL)
            json_fail(&value, "'node_selector' must be %s", complaint);
        return;
    }
    json_object_open(&labels, &value);
    struct node_expression *list = arena_alloc_array(arena, NODE_ASK_MAX, struct node_expression);
    while (!has_failed(object) && (key = json_object_key(&labels, count)) != NULL) {
        if (count == NODE_ASK_MAX) {
            json_fail(&value, "'node_selector' must hold at most %d labels", NODE_ASK_MAX);
            return;
        }
        const char **own = arena_alloc_array(arena, 1, const char *);
        own[0] = json_get_string(&labels, key, "");
        list[count++] = (struct node_expression){key, own, 1, NODE_IN};
    }
    json_object_close(&labels);
    draft->selector = (struct node_term){list, count};
}

static struct node_expression read_expression(const struct json_value *value, struct arena *arena)
{
    struct node_expression expression = {.key = ""};
    struct json_object object;
    struct json_value array;
    json_object_open(&object, value);
    json_need(&object, "key");
    json_need(&object, "operator");
    expression.key = json_get_string(&object, "key", "");
    expression.operator=(uint8_t) json_get_choice(&object, "operator", node_operator_names, 0);
    expression.value_count = (uint16_t)json_array_at(&array, &object, "values", NODE_ASK_MAX);
    const char **values = arena_alloc_array(arena, expression.value_count, const char *);
    for (uint16_t v = 0; v < expression.value_count; v++) {
        struct json_value item = json_array_item(&array, v);
        values[v] = json_value_string(&item);
    }
    expression.values = values;
    json_object_close(&object);
    const char *complaint = has_failed(&object) ? NULL : node_expression_complaint(&expression);
    if (complaint != NULL)
        json_fail(value, "%s", complaint);
    return expression;
}

static struct node_term read_term(const struct json_value *value, struct arena *arena)
{
    struct json_object object;
    struct json_value array;
    json_object_open(&object, value);
    json_need(&object, "match_expressions");
    const uint16_t count = (uint16_t)json_array_at(&array, &object, "match_expressions", NODE_ASK_MAX);
    struct node_expression *list = arena_alloc_array(arena, count, struct node_expression);
    for (uint16_t e = 0; e < count && !has_failed(&object); e++) {
        struct json_value item = json_array_item(&array, e);
        list[e] = read_expression(&item, arena);
    }
    json_object_close(&object);
    return (struct node_term){list, count};
}

static void read_affinity(struct json_object *object, struct arena *arena, struct node_ask *draft)
{
    struct json_value array;
    const uint16_t count = (uint16_t)json_array_at(&array, object, "node_affinity", NODE_ASK_MAX);
    struct node_term *terms = arena_alloc_array(arena, count, struct node_term);
    if (array.node != NULL && count == 0)
        json_fail(&array, "'node_affinity' must hold at least one term");
    for (uint16_t t = 0; t < count && !has_failed(object); t++) {
        struct json_value item = json_array_item(&array, t);
        terms[t] = read_term(&item, arena);
    }
    draft->terms = terms;
    draft->term_count = has_failed(object) ? 0 : count;
}

static struct toleration read_toleration(const struct json_value *value, struct arena *arena)
{
    static const char *const operators[] = {"Equal", "Exists", NULL};
    struct toleration toleration = {"", "", true, TAINT_EFFECT_COUNT};
    if (json_is_string(value->node)) {
        const char *complaint = node_ask_toleration_of(text_of(json_value_string(value)), arena, &toleration);
        if (complaint != NULL)
            json_fail(value, "a toleration must be %s", complaint);
        return toleration;
    }
    struct json_object object;
    json_object_open(&object, value);
    toleration.key = json_get_string(&object, "key", "");
    toleration.value = json_get_string(&object, "value", "");
    toleration.exists = json_get_choice(&object, "operator", operators, 0) == 1;
    toleration.effect = (uint8_t)json_get_choice(&object, "effect", taint_effect_names, TAINT_EFFECT_COUNT);
    json_object_close(&object);
    const char *complaint = has_failed(&object) ? NULL : toleration_complaint(&toleration);
    if (complaint != NULL)
        json_fail(value, "%s", complaint);
    return toleration;
}

static void read_tolerations(struct json_object *object, struct arena *arena, struct node_ask *draft)
{
    struct json_value array = json_member(object, "tolerations");
    if (array.node != NULL && json_is_string(array.node)) {
        const char *complaint = node_ask_tolerations_of(text_of(json_value_string(&array)), arena, draft);
        if (complaint != NULL)
            json_fail(&array, "'tolerations' must be %s", complaint);
        return;
    }
    const uint16_t count = (uint16_t)json_array_at(&array, object, "tolerations", NODE_ASK_MAX);
    struct toleration *list = arena_alloc_array(arena, count, struct toleration);
    for (uint16_t t = 0; t < count && !has_failed(object); t++) {
        struct json_value item = json_array_item(&array, t);
        list[t] = read_toleration(&item, arena);
    }
    draft->tolerations = list;
    draft->toleration_count = has_failed(object) ? 0 : count;
}

struct node_ask node_ask_read(struct json_object *object, struct arena *arena)
{
    struct node_ask draft = {.term_count = 0};
    read_selector(object, arena, &draft);
    read_affinity(object, arena, &draft);
    read_tolerations(object, arena, &draft);
    return draft;
}

bool node_ask_of_text(const char *text, struct arena *arena, struct node_ask *draft)
{
    struct json_doc *doc;
    struct error error = ERROR_OK;
    struct buffer whole = {0};
    buffer_format(&whole, "{%s}", text);
    struct error parsed = json_doc_parse(&doc, "node ask", (struct text){whole.bytes, whole.length}, ERROR_DATA);
    buffer_release(&whole);
    if (error_is(parsed)) {
        error_release(&parsed);
        return false;
    }
    const struct json_value root = json_doc_root(doc, &error);
    struct json_object object;
    struct arena scratch = {0};
    json_object_open(&object, &root);
    struct node_ask read = node_ask_read(&object, &scratch);
    json_object_close(&object);
    const struct node_ask *made =
        error_is(error) ? NULL : node_ask_make(arena, NULL, &read); /* the copy's texts do not belong to the document */
    *draft = made != NULL ? *made : (struct node_ask){.term_count = 0};
    arena_release(&scratch);
    json_doc_free(doc);
    const bool is_good = made != NULL && !error_is(error);
    if (error_is(error))
        error_release(&error);
    return is_good;
}
