#include "studies/comparison/settings.h"

#include <jansson.h>
#include <string.h>

#include "base/buffer.h"

static void compare(struct settings *settings, const char *path, json_t *base, json_t *side);

static const char *text_of_json(struct settings *settings, const json_t *value)
{
    if (value == NULL)
        return NULL;
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS);
    const char *copy = arena_copy(&settings->arena, text_of(text != NULL ? text : ""));
    mem_free(text);
    return copy;
}

static void add(struct settings *settings, const char *path, const json_t *base, const json_t *side)
{
    MEM_GROW(settings->list, settings->capacity, settings->count + 1);
    settings->list[settings->count++] = (struct setting){.path = arena_copy(&settings->arena, text_of(path)),
                                                         .base = text_of_json(settings, base),
                                                         .side = text_of_json(settings, side)};
}

/* What no run depends on. */
static bool is_without_effect(const char *path, const char *key)
{
    static const char *const of_scenario[] = {"seed", "title", "name"};
    static const char *const of_policy[] = {"name", "summary", "guarantees"};
    const bool is_policy = strcmp(path, "policy") == 0;
    if (strcmp(key, "$comment") == 0)
        return true;
    for (size_t i = 0; i < 3; i++)
        if ((path[0] == '\0' && strcmp(key, of_scenario[i]) == 0) || (is_policy && strcmp(key, of_policy[i]) == 0))
            return true;
    return false;
}

static void compare_member(struct settings *settings, const char *path, const char *key, json_t *base, json_t *side)
{
    struct buffer inner = {0};
    buffer_format(&inner, "%s%s%s", path, path[0] != '\0' ? "." : "", key);
    compare(settings, buffer_c_string(&inner), base, side);
    buffer_release(&inner);
}

/* is_array: the members are the elements of an array by name. */
static void compare_members(struct settings *settings, const char *path, json_t *base, json_t *side, bool is_array)
{
    json_t *value;
    const char *key;
    json_object_foreach(base, key, value)
    {
        if (is_array || !is_without_effect(path, key))
            compare_member(settings, path, key, value, json_object_get(side, key));
    }
    json_object_foreach(side, key, value)
    {
        if ((is_array || !is_without_effect(path, key)) && json_object_get(base, key) == NULL)
            compare_member(settings, path, key, NULL, value);
    }
}

/* The elements by name, in their order; NULL: one has none, or two have the same.  The caller releases it. */
static json_t *by_name_new(const json_t *array)
{
    json_t *elements = json_object(), *element;
    size_t i;
    json_array_foreach(array, i, element)
    {
        const char *name = json_string_value(json_object_get(element, "name"));
        if (name == NULL || json_object_get(elements, name) != NULL) {
            json_decref(elements);
            return NULL;
        }
        json_object_set(elements, name, element);
    }
    return elements;
}

static json_t *names_new(json_t *elements)
{
    json_t *names = json_array(), *element;
    const char *name;
    json_object_foreach(elements, name, element)
    {
        json_array_append_new(names, json_string(name));
    }
    return names;
}

/* The same elements in another order are a difference of their own. */
static void compare_orders(struct settings *settings, const char *path, json_t *base, json_t *side)
{
    json_t *a = names_new(base), *b = names_new(side), *name;
    bool is_same_set = json_array_size(a) == json_array_size(b);
    size_t i;
    json_array_foreach(a, i, name)
    {
        is_same_set = is_same_set && json_object_get(side, json_string_value(name)) != NULL;
    }
    if (is_same_set && !json_equal(a, b))
        add(settings, path, a, b);
    json_decref(a);
    json_decref(b);
}

static bool has_members(const json_t *array)
{
    const json_t *element;
    size_t i;
    json_array_foreach(array, i, element)
    {
        if (json_is_object(element) || json_is_array(element))
            return true;
    }
    return false;
}

static void compare_arrays(struct settings *settings, const char *path, json_t *base, json_t *side)
{
    json_t *a = by_name_new(base), *b = by_name_new(side);
    if (a != NULL && b != NULL) {
        compare_members(settings, path, a, b, true);
        compare_orders(settings, path, a, b);
    } else if (json_array_size(base) == json_array_size(side) && has_members(base)) {
        for (size_t i = 0; i < json_array_size(base); i++) {
            struct buffer key = {0};
            buffer_format(&key, "%zu", i);
            compare_member(settings, path, buffer_c_string(&key), json_array_get(base, i), json_array_get(side, i));
            buffer_release(&key);
        }
    } else {
        add(settings, path, base, side);
    }
    json_decref(a);
    json_decref(b);
}

static void compare(struct settings *settings, const char *path, json_t *base, json_t *side)
{
    if (json_equal(base, side))
        return;
    if (json_is_object(base) && json_is_object(side))
        compare_members(settings, path, base, side, false);
    else if (json_is_array(base) && json_is_array(side))
        compare_arrays(settings, path, base, side);
    else
        add(settings, path, base, side);
}

void settings_compare(struct settings *settings, const char *base_json, const char *side_json)
{
    json_t *base = json_loads(base_json, 0, NULL), *side = json_loads(side_json, 0, NULL);
    *settings = (struct settings){0};
    if (base != NULL && side != NULL)
        compare(settings, "", base, side);
    json_decref(base);
    json_decref(side);
}

void settings_release(struct settings *settings)
{
    mem_free(settings->list);
    arena_release(&settings->arena);
    *settings = (struct settings){0};
}
