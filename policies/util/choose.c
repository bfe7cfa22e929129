#include "policies/util/choose.h"

#include <string.h>

enum { CHOICES_MAX = 32 };

static void names_of(const void *registry, const char *names[CHOICES_MAX])
{
    const char *const *const *entries = registry;
    uint32_t count = 0;
    for (; entries[count] != NULL && count + 1 < CHOICES_MAX; count++)
        names[count] = *entries[count];
    names[count] = NULL;
}

const void *choose_member(struct json_object *object, const char *key, const void *registry, const void *otherwise)
{
    const char *names[CHOICES_MAX];
    names_of(registry, names);
    int chosen = json_get_choice(object, key, names, -1);
    return chosen < 0 ? otherwise : ((const void *const *)registry)[chosen];
}

const void *choose_value(const struct json_value *value, const char *what, const void *registry)
{
    const char *names[CHOICES_MAX];
    const char *name = json_value_string(value);
    names_of(registry, names);
    json_note_choices(value, names);
    for (uint32_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return ((const void *const *)registry)[i];
    if (error_is(*value->error))
        return NULL;
    json_fail(value, "there is no %s '%s'", what, name);
    error_hint_nearest(value->error, text_of(name), names);
    return NULL;
}

uint32_t choose_chain(const struct json_value *array, size_t first, const char *what, const void *registry,
                      const void *chain[], uint32_t max)
{
    size_t count = json_array_count(array);
    if (error_is(*array->error))
        return 0;
    if (count <= first || count - first > max) {
        json_fail(array, "'%s' must hold from 1 to %u names", array->key, max);
        return 0;
    }
    for (uint32_t i = 0; i < count - first; i++) {
        struct json_value item = json_array_item(array, first + i);
        chain[i] = choose_value(&item, what, registry);
        if (chain[i] == NULL)
            return 0;
        for (uint32_t j = 0; j < i; j++)
            if (chain[j] == chain[i]) {
                json_fail(&item, "%s '%s' is named twice; the second can decide nothing", what,
                          *(const char *const *)chain[i]);
                return 0;
            }
    }
    return (uint32_t)(count - first);
}
