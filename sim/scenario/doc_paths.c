#include "sim/scenario/doc_paths.h"

#include <string.h>

#include "base/buffer.h"

struct error doc_set_string(struct json_doc *doc, const char *path, const char *value)
{
    struct buffer assignment = {0};
    buffer_string(&assignment, path);
    buffer_char(&assignment, '=');
    buffer_json(&assignment, text_of(value));
    struct error error = json_doc_set(doc, buffer_c_string(&assignment));
    buffer_release(&assignment);
    return error;
}

const char *doc_string_at(struct json_doc *doc, const char *first, const char *second)
{
    struct error ignored = ERROR_OK;
    struct json_value root = json_doc_root(doc, &ignored);
    json_t *node = json_object_get(root.node, first);
    if (second != NULL)
        node = json_object_get(node, second);
    return json_string_value(node);
}

struct error doc_rebase(struct json_doc *doc, const char *folder, const char *first, const char *second)
{
    const char *value = doc_string_at(doc, first, second);
    if (value == NULL || value[0] == '/' || folder[0] == '\0')
        return ERROR_OK;
    struct buffer path = {0}, key = {0};
    buffer_format(&path, "%s%s", folder, value);
    buffer_string(&key, first);
    if (second != NULL)
        buffer_format(&key, ".%s", second);
    struct error error = doc_set_string(doc, buffer_c_string(&key), buffer_c_string(&path));
    buffer_release(&path);
    buffer_release(&key);
    return error;
}

struct error doc_rebase_members(struct json_doc *doc, const char *folder, const char *first, const char *second)
{
    struct error ignored = ERROR_OK;
    json_t *object = json_object_get(json_object_get(json_doc_root(doc, &ignored).node, first), second), *node;
    const char *name;
    json_object_foreach(object, name, node)
    {
        const char *value = json_string_value(node);
        if (value == NULL || value[0] == '/' || folder[0] == '\0' || strchr(name, '.') != NULL)
            continue;
        struct buffer path = {0}, key = {0};
        buffer_format(&path, "%s%s", folder, value);
        buffer_format(&key, "%s.%s.%s", first, second, name);
        struct error error = doc_set_string(doc, buffer_c_string(&key), buffer_c_string(&path));
        buffer_release(&path);
        buffer_release(&key);
        TRY(error);
    }
    return ERROR_OK;
}

json_t *doc_node_at(struct json_doc *doc, const char *first, const char *second)
{
    struct error ignored = ERROR_OK;
    json_t *node = json_object_get(json_doc_root(doc, &ignored).node, first);
    return second != NULL ? json_object_get(node, second) : node;
}

struct error doc_rebase_list(struct json_doc *doc, const char *folder, const char *first, const char *second)
{
    json_t *list = doc_node_at(doc, first, second);
    for (size_t i = 0; folder[0] != '\0' && i < json_array_size(list); i++) {
        const char *value = json_string_value(json_array_get(list, i));
        if (value == NULL || value[0] == '/')
            continue;
        struct buffer path = {0}, key = {0};
        buffer_format(&path, "%s%s", folder, value);
        buffer_format(&key, "%s%s%s.%zu", first, second != NULL ? "." : "", second != NULL ? second : "", i);
        struct error error = doc_set_string(doc, buffer_c_string(&key), buffer_c_string(&path));
        buffer_release(&path);
        buffer_release(&key);
        TRY(error);
    }
    return ERROR_OK;
}
