/* base/json_canonical.c -- a document as text of one fixed form; see base/json.h. */
#include <stdlib.h>
#include <string.h>

#include "base/json_doc.h"

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void write_node(struct buffer *out, const json_t *node);

static void write_object(struct buffer *out, const json_t *node)
{
    size_t count = json_object_size(node);
    const char **keys = mem_zalloc(count, sizeof *keys);
    json_t *object = (json_t *)(uintptr_t)node; /* jansson's iterators take no const; nothing is changed */
    size_t filled = 0;
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at))
        keys[filled++] = json_object_iter_key(at);
    qsort(keys, count, sizeof *keys, compare_keys);
    buffer_char(out, '{');
    for (size_t i = 0; i < count; i++) {
        if (i != 0)
            buffer_char(out, ',');
        buffer_json(out, text_of(keys[i]));
        buffer_char(out, ':');
        write_node(out, json_object_get(node, keys[i]));
    }
    buffer_char(out, '}');
    mem_free(keys);
}

static void write_array(struct buffer *out, const json_t *node)
{
    buffer_char(out, '[');
    for (size_t i = 0; i < json_array_size(node); i++) {
        if (i != 0)
            buffer_char(out, ',');
        write_node(out, json_array_get(node, i));
    }
    buffer_char(out, ']');
}

void json_write_leaf(struct buffer *out, const json_t *node)
{
    if (json_is_integer(node))
        buffer_int(out, json_integer_value(node));
    else if (json_is_real(node))
        buffer_double(out, json_real_value(node));
    else
        buffer_string(out, json_is_true(node) ? "true" : json_is_false(node) ? "false" : "null");
}

static void write_node(struct buffer *out, const json_t *node)
{
    switch (json_typeof(node)) {
    case JSON_OBJECT:
        write_object(out, node);
        break;
    case JSON_ARRAY:
        write_array(out, node);
        break;
    case JSON_STRING:
        buffer_json(out, (struct text){json_string_value(node), json_string_length(node)});
        break;
    default:
        json_write_leaf(out, node);
    }
}

static char *text_new(const json_t *node)
{
    struct buffer out = {0};
    if (node != NULL)
        write_node(&out, node);
    else
        buffer_string(&out, "null");
    buffer_c_string(&out);
    return out.bytes; /* mem_free is free(), so the caller may free it */
}

char *json_doc_canonical_new(const struct json_doc *doc)
{
    return text_new(doc->root);
}

char *json_value_canonical_new(const struct json_value *value)
{
    return text_new(value->node);
}
