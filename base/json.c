/* base/json.c -- documents, objects and arrays; see base/json.h.
 * Typed reads are in base/json_read.c, overrides and grafts in base/json_set.c. */
#include "base/json.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_doc.h"

/* ---- documents ---- */

static struct text without_byte_order_mark(struct text text)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (text.length >= 3 && memcmp(text.at, mark, 3) == 0)
        return (struct text){text.at + 3, text.length - 3};
    return text;
}

struct error json_doc_parse(struct json_doc **out, const char *name, struct text text, enum error_kind kind)
{
    json_error_t refusal;
    *out = NULL;
    text = without_byte_order_mark(text);
    /* jansson takes an empty text for a bad argument if its address is NULL */
    const char *at = text.length != 0 ? text.at : "";
    json_t *root = json_loadb(at, text.length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &refusal);
    if (root == NULL)
        return json_syntax_error(name, (struct text){at, text.length}, kind, &refusal);
    *out = json_doc_of(name, (struct text){at, text.length}, root, kind);
    return ERROR_OK;
}

struct json_doc *json_doc_of(const char *name, struct text text, json_t *tree, enum error_kind kind)
{
    struct json_doc *doc = mem_zalloc(1, sizeof *doc);
    doc->name = arena_copy(&doc->arena, text_of(name));
    doc->text = (struct text){arena_copy(&doc->arena, text), text.length};
    doc->kind = kind;
    doc->root = tree;
    return doc;
}

void json_doc_free(struct json_doc *doc)
{
    if (doc == NULL)
        return;
    json_decref(doc->root);
    for (size_t i = 0; i < doc->patch_count; i++)
        json_doc_free(doc->patches[i].grafted);
    mem_free(doc->patches);
    arena_release(&doc->arena);
    mem_free(doc);
}

void json_doc_listen(struct json_doc *doc, const struct json_listener *listener)
{
    doc->listener = listener;
}

void json_doc_guard(struct json_doc *doc, const struct json_gate *gate)
{
    doc->gate = gate;
}

void json_note_choices(const struct json_value *value, const char *const *choices)
{
    json_hear(value, &(struct json_ask){.question = JSON_ASK_CHOICE, .choices = choices});
}

void json_note_like(const struct json_value *object, const struct json_value *like)
{
    json_hear(object, &(struct json_ask){.question = JSON_ASK_LIKE, .like = like});
}

struct json_value json_doc_root(struct json_doc *doc, struct error *sticky)
{
    return (struct json_value){.doc = doc, .node = doc->root, .error = sticky};
}

/* ---- where a value comes from ---- */

struct origin {
    const char *file; /* borrowed from the document */
    bool is_in_text;
    struct json_place place; /* if is_in_text */
};

static bool is_prefix(const struct json_step *prefix, size_t prefix_count, const struct json_step *steps, size_t count)
{
    if (prefix_count > count)
        return false;
    for (size_t i = 0; i < prefix_count; i++)
        if (!json_step_equal(&prefix[i], &steps[i]))
            return false;
    return true;
}

/* The newest override, from patch `first` on, at or below these steps; NULL if there is none. */
static const char *override_below(const struct json_doc *doc, size_t first, const struct json_step *steps, size_t count)
{
    for (size_t i = doc->patch_count; i-- > first;)
        if (doc->patches[i].grafted == NULL &&
            is_prefix(steps, count, doc->patches[i].steps, doc->patches[i].step_count))
            return doc->patches[i].assigned;
    return NULL;
}

/* A value without a place in a text (it is missing, or an override created it) has the origin of the override within
 * it, or else of the value around it. */
static struct origin find_origin(const struct json_doc *doc, const struct json_step *steps, size_t count, bool of_key)
{
    for (size_t i = doc->patch_count; i-- > 0;) {
        const struct json_patch *patch = &doc->patches[i];
        if (!is_prefix(patch->steps, patch->step_count, steps, count))
            continue;
        if (patch->grafted == NULL)
            return (struct origin){.file = patch->assigned};
        if (of_key && count == patch->step_count)
            continue;
        const struct json_step *rest = steps + patch->step_count;
        size_t rest_count = count - patch->step_count;
        struct json_place unused;
        const char *assigned = override_below(doc, i + 1, steps, count);
        if (assigned != NULL && !json_place_find(patch->grafted->text, rest, rest_count, of_key, &unused))
            return (struct origin){.file = assigned};
        return find_origin(patch->grafted, rest, rest_count, of_key);
    }
    struct origin origin = {.file = doc->name};
    origin.is_in_text = json_place_find(doc->text, steps, count, of_key, &origin.place);
    if (origin.is_in_text || count == 0)
        return origin;
    const char *assigned = override_below(doc, 0, steps, count);
    if (assigned != NULL)
        return (struct origin){.file = assigned};
    return find_origin(doc, steps, count - 1, false);
}

/* The steps from the root to the value, and one more for `key` if it is not NULL; mem_free them. */
static struct json_step *steps_new(const struct json_value *value, const char *key, size_t *count)
{
    size_t depth = 0;
    for (const struct json_value *at = value; at->parent != NULL; at = at->parent)
        depth++;
    *count = depth + (key != NULL);
    struct json_step *steps = mem_zalloc(depth + 1, sizeof *steps);
    steps[depth].key = key;
    for (const struct json_value *at = value; at->parent != NULL; at = at->parent)
        steps[--depth] = (struct json_step){.key = at->key, .index = at->index};
    return steps;
}

/* ---- files ---- */

bool json_is_typed(const struct json_doc *doc, const struct json_step *steps, size_t count)
{
    for (size_t i = doc->patch_count; i-- > 0;)
        if (is_prefix(doc->patches[i].steps, doc->patches[i].step_count, steps, count))
            return doc->patches[i].is_typed;
    return false;
}

bool json_value_is_typed(const struct json_value *value)
{
    size_t count;
    struct json_step *steps = steps_new(value, NULL, &count);
    const bool is_typed = json_is_typed(value->doc, steps, count);
    mem_free(steps);
    return is_typed;
}

/* Set the sticky error, if none is set, at `value` or, if `key` is not NULL, at that key of the object `value`.  True
 * if it was set, so that a hint may be added. */
static bool json_fail_at(const struct json_value *value, const char *key, const char *format, va_list arguments)
{
    if (error_is(*value->error))
        return false;
    char *message = NULL;
    if (vasprintf(&message, format, arguments) < 0)
        message = NULL;
    size_t count;
    struct json_step *steps = steps_new(value, key, &count);
    struct origin origin = find_origin(value->doc, steps, count, key != NULL);
    *value->error = error_at(value->doc->kind, origin.file, origin.place.line, origin.place.column, "%s",
                             message != NULL ? message : "");
    if (origin.is_in_text)
        error_set_excerpt(value->error, origin.place.line_text.at, origin.place.line_text.length, origin.place.span);
    struct buffer pointer = {0};
    json_pointer_of(steps, count, &pointer);
    error_set_where(value->error, buffer_c_string(&pointer));
    buffer_release(&pointer);
    mem_free(steps);
    free(message);
    return true;
}

const char *json_value_place(const struct json_value *value, size_t *line, size_t *column)
{
    size_t count;
    struct json_step *steps = steps_new(value, NULL, &count);
    const struct origin origin = find_origin(value->doc, steps, count, false);
    *line = origin.is_in_text ? origin.place.line : 0;
    *column = origin.is_in_text ? origin.place.column : 0;
    mem_free(steps);
    return origin.file;
}

void json_fail(const struct json_value *value, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    json_fail_at(value, NULL, format, arguments);
    va_end(arguments);
}

static bool fail_at_key(const struct json_value *value, const char *key, const char *format, ...) LIKE_PRINTF(3, 4);

static bool fail_at_key(const struct json_value *value, const char *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bool is_new = json_fail_at(value, key, format, arguments);
    va_end(arguments);
    return is_new;
}

void json_name_value(struct buffer *out, const struct json_value *value)
{
    const struct json_value *named = value;
    while (named->key == NULL && named->parent != NULL)
        named = named->parent;
    if (named == value && named->key == NULL) {
        buffer_string(out, "the document");
        return;
    }
    size_t indexes = 0;
    for (const struct json_value *at = value; at != named; at = at->parent)
        indexes++;
    buffer_char(out, '\'');
    buffer_string(out, named->key != NULL ? named->key : "");
    for (; indexes > 0; indexes--) {
        const struct json_value *at = value;
        for (size_t i = 1; i < indexes; i++)
            at = at->parent;
        buffer_format(out, "[%zu]", at->index);
    }
    buffer_char(out, '\'');
}

/* A string as JSON, cut after a whole character. */
static void describe_string(struct buffer *out, struct text text)
{
    enum { SHOWN_BYTES_MAX = 40 };
    size_t bytes = 0;
    while (bytes < text.length) {
        size_t next = text_utf8_bytes((struct text){text.at + bytes, text.length - bytes});
        if (next == 0 || bytes + next > SHOWN_BYTES_MAX)
            break;
        bytes += next;
    }
    bool is_cut = bytes < text.length;
    buffer_json(out, (struct text){text.at, bytes});
    if (is_cut)
        buffer_string(out, "...");
}

void json_describe(struct buffer *out, const json_t *node)
{
    if (node == NULL) {
        buffer_string(out, "nothing");
        return;
    }
    switch (json_typeof(node)) {
    case JSON_OBJECT:
        buffer_string(out, "an object");
        break;
    case JSON_ARRAY:
        buffer_string(out, "an array");
        break;
    case JSON_STRING:
        describe_string(out, (struct text){json_string_value(node), json_string_length(node)});
        break;
    default:
        json_write_leaf(out, node);
    }
}

static void fail_wrong_container(const struct json_value *value, const char *what)
{
    struct buffer name = {0};
    struct buffer got = {0};
    json_name_value(&name, value);
    json_describe(&got, value->node);
    json_fail(value, "%s must be %s, got %s", buffer_c_string(&name), what, buffer_c_string(&got));
    buffer_release(&name);
    buffer_release(&got);
}

/* ---- objects ---- */

void json_object_open(struct json_object *object, const struct json_value *value)
{
    *object = (struct json_object){.value = *value};
    json_hear(value, &(struct json_ask){.question = JSON_ASK_OBJECT});
    if (!error_is(*value->error) && !json_is_object(value->node))
        fail_wrong_container(value, "an object");
}

static bool is_asked(const struct json_object *object, const char *key)
{
    for (size_t i = 0; i < object->asked_count; i++)
        if (object->asked[i] == key || strcmp(object->asked[i], key) == 0)
            return true;
    return false;
}

static struct json_value member_of(struct json_object *object, const char *key, json_t *node)
{
    struct json_value member = object->value;
    member.node = node;
    member.parent = &object->value;
    member.key = key;
    member.index = 0;
    return member;
}

static void hear_key(struct json_object *object, const char *key, enum json_question question)
{
    const struct json_value member = member_of(object, key, NULL);
    json_hear(&member, &(struct json_ask){.question = question});
}

/* The node of the key, NULL if absent or null or once an error is set. */
static json_t *ask(struct json_object *object, const char *key)
{
    if (error_is(*object->value.error))
        return NULL;
    hear_key(object, key, JSON_ASK_MEMBER);
    json_t *node = json_object_get(object->value.node, key);
    if (!is_asked(object, key)) {
        /* only a map has more keys than a fixed object; walked_count knows its keys */
        assert(object->asked_count < JSON_KEYS_MAX || object->walked_count != 0);
        if (object->asked_count < JSON_KEYS_MAX)
            object->asked[object->asked_count++] = key;
    }
    return json_is_null(node) ? NULL : node;
}

bool json_has(struct json_object *object, const char *key)
{
    return ask(object, key) != NULL;
}

struct json_value json_member(struct json_object *object, const char *key)
{
    return member_of(object, key, ask(object, key));
}

bool json_object_at(struct json_object *object, struct json_object *owner, const char *key)
{
    const struct json_value value = json_member(owner, key);
    if (value.node != NULL)
        json_object_open(object, &value);
    return value.node != NULL;
}

/* A key in the text that may be a misspelling of `key`; not one that was asked for. */
static const char *slip_for(const struct json_object *object, const char *key)
{
    const char *const wanted[] = {key, NULL};
    const char *present;
    json_t *node;
    json_object_foreach(object->value.node, present, node)
    {
        if (!is_asked(object, present) && text_nearest(text_of(present), wanted) != NULL)
            return present;
    }
    return NULL;
}

void json_need(struct json_object *object, const char *key)
{
    hear_key(object, key, JSON_ASK_NEEDED);
    if (ask(object, key) != NULL || error_is(*object->value.error))
        return;
    if (json_object_get(object->value.node, key) != NULL) {
        struct json_value member = json_member(object, key);
        json_fail(&member, "'%s' must be given, got null", key);
        return;
    }
    const char *slip = slip_for(object, key);
    json_fail(&object->value, "'%s' is missing", key);
    if (slip != NULL)
        error_set_hint(object->value.error, "is '%s' a slip for it?", slip);
}

const char *json_object_key(struct json_object *object, size_t index)
{
    json_hear(&object->value, &(struct json_ask){.question = JSON_ASK_KEYS});
    if (error_is(*object->value.error) || index >= json_object_size(object->value.node))
        return NULL;
    json_t *node = object->value.node;
    if (object->walk == NULL || index < object->walk_index) {
        object->walk = json_object_iter(node);
        object->walk_index = 0;
    }
    for (; object->walk_index < index; object->walk_index++)
        object->walk = json_object_iter_next(node, object->walk);
    if (object->walked_count <= index)
        object->walked_count = index + 1;
    return json_object_iter_key(object->walk);
}

/* List all keys that were asked for, as a hint for an unknown key. */
static void hint_known_keys(const struct json_object *object, const char *unknown)
{
    enum { SHOWN_MAX = 16 };
    const char *names[JSON_KEYS_MAX + 1];
    memcpy(names, object->asked, object->asked_count * sizeof names[0]);
    names[object->asked_count] = NULL;
    if (error_hint_nearest(object->value.error, text_of(unknown), names))
        return;
    struct buffer known = {0};
    for (size_t i = 0; i < object->asked_count && i < SHOWN_MAX; i++)
        buffer_format(&known, "%s'%s'", i != 0 ? ", " : "known here: ", names[i]);
    if (object->asked_count > SHOWN_MAX)
        buffer_string(&known, ", ...");
    if (known.length != 0)
        error_set_hint(object->value.error, "%s", buffer_c_string(&known));
    buffer_release(&known);
}

void json_object_close(struct json_object *object)
{
    size_t index = 0;
    const char *key;
    json_t *node;
    json_hear(&object->value, &(struct json_ask){.question = JSON_ASK_CLOSED});
    if (error_is(*object->value.error))
        return;
    json_object_foreach(object->value.node, key, node)
    {
        if (index++ < object->walked_count || is_asked(object, key) || strcmp(key, "$comment") == 0)
            continue;
        if (fail_at_key(&object->value, key, "unknown key '%s'", key))
            hint_known_keys(object, key);
        return;
    }
}

/* ---- arrays ---- */

size_t json_array_count(const struct json_value *array)
{
    json_hear(array, &(struct json_ask){.question = JSON_ASK_ARRAY});
    if (error_is(*array->error) || array->node == NULL)
        return 0;
    if (!json_is_array(array->node))
        fail_wrong_container(array, "an array");
    return json_array_size(array->node);
}

struct json_value json_array_item(const struct json_value *array, size_t index)
{
    struct json_value item = *array;
    item.node = json_array_get(array->node, index);
    item.parent = array;
    item.key = NULL;
    item.index = index;
    return item;
}

size_t json_array_at(struct json_value *array, struct json_object *owner, const char *key, size_t most)
{
    *array = json_member(owner, key);
    const size_t count = array->node == NULL ? 0 : json_array_count(array);
    if (count > most)
        json_fail(array, "'%s' must hold at most %zu, got %zu", key, most, count);
    return error_is(*owner->value.error) ? 0 : count;
}

size_t json_list_count(const struct json_value *list)
{
    return json_is_array(list->node) ? json_array_count(list) : 1;
}

struct json_value json_list_item(const struct json_value *list, size_t index)
{
    return json_is_array(list->node) ? json_array_item(list, index) : *list;
}
