#include "studies/sweep/sweep_exclude.h"

#include <float.h>
#include <string.h>

#include "base/buffer.h"

const char *sweep_value_name(json_t *node, struct arena *arena)
{
    const struct json_value value = {.node = node};
    if (json_is_string(node))
        return arena_copy(arena, text_of(json_string_value(node)));
    char *json = json_value_canonical_new(&value);
    const char *name = arena_copy(arena, text_of(json));
    mem_free(json);
    return name;
}

/* An entry: which levels of each factor it matches. */
struct entry {
    bool *is_matched[SWEEP_FACTORS_MAX]; /* by level; NULL: any level */
    struct arena arena;
};

static bool match_level(const struct sweep_factor *factor, json_t *node, bool *is_matched, struct arena *arena)
{
    const char *name = sweep_value_name(node, arena);
    for (size_t l = 0; l < factor->level_count; l++) {
        const struct sweep_level *level = &factor->levels[l];
        if (strcmp(level->name, name) == 0 ||
            (json_is_number(node) && level->is_number && level->number == json_number_value(node))) {
            is_matched[l] = true;
            return true;
        }
    }
    return false;
}

static void fail_level(const struct json_value *value, const struct sweep_factor *factor, struct arena *arena)
{
    const char *name = sweep_value_name(value->node, arena);
    const char **names = arena_alloc_array(arena, factor->level_count + 1, const char *);
    for (size_t l = 0; l < factor->level_count; l++)
        names[l] = factor->levels[l].name;
    const char *near = text_nearest(text_of(name), names);
    json_fail(value, "the factor '%s' has no level '%s'", factor->name, name);
    if (near != NULL)
        error_set_hint(value->error, "did you mean '%s'?", near);
}

static bool has_bounds(const struct json_value *value)
{
    return json_object_get(value->node, "min") != NULL || json_object_get(value->node, "max") != NULL;
}

static void match_bounds(const struct sweep_factor *factor, const struct json_value *value, bool *is_matched)
{
    struct json_object object;
    json_object_open(&object, value);
    const double min = json_get_real(&object, "min", -DBL_MAX, DBL_MAX, -DBL_MAX);
    const double max = json_get_real(&object, "max", -DBL_MAX, DBL_MAX, DBL_MAX);
    json_object_close(&object);
    for (size_t l = 0; l < factor->level_count; l++) {
        const struct sweep_level *level = &factor->levels[l];
        if (!level->is_number && !error_is(*value->error))
            json_fail(value, "the level '%s' of '%s' is no number", level->name, factor->name);
        is_matched[l] = level->is_number && level->number >= min && level->number <= max;
    }
}

static void read_match(struct entry *entry, const struct sweep_factor *factor, const struct json_value *value,
                       bool *is_matched)
{
    if (value->node != NULL && match_level(factor, value->node, is_matched, &entry->arena))
        return;
    if (json_is_object(value->node) && has_bounds(value)) {
        match_bounds(factor, value, is_matched);
        return;
    }
    if (!json_is_array(value->node)) {
        fail_level(value, factor, &entry->arena);
        return;
    }
    for (size_t i = 0; i < json_array_count(value) && !error_is(*value->error); i++) {
        const struct json_value item = json_array_item(value, i);
        if (!match_level(factor, item.node, is_matched, &entry->arena))
            fail_level(&item, factor, &entry->arena);
    }
}

static void read_entry(const struct sweep_file *file, const struct json_value *value, struct entry *entry)
{
    struct json_object object;
    size_t named = 0;
    json_object_open(&object, value);
    for (size_t f = 0; f < file->factor_count && !error_is(*value->error); f++) {
        const struct sweep_factor *factor = &file->factors[f];
        const struct json_value match = json_member(&object, factor->name);
        if (match.node == NULL)
            continue;
        named++;
        entry->is_matched[f] = arena_alloc_array(&entry->arena, factor->level_count, bool);
        read_match(entry, factor, &match, entry->is_matched[f]);
    }
    json_object_close(&object);
    if (named == 0 && !error_is(*value->error))
        json_fail(value, "an entry of 'exclude' names at least one factor");
}

static bool is_excluded(const struct sweep_file *file, const struct entry *entry, const uint32_t *levels)
{
    for (size_t f = 0; f < file->factor_count; f++)
        if (entry->is_matched[f] != NULL && !entry->is_matched[f][levels[f]])
            return false;
    return true;
}

static void apply(struct sweep_file *file, const struct entry *entry)
{
    const size_t width = file->factor_count;
    size_t kept = 0;
    for (size_t c = 0; c < file->combination_count; c++) {
        const uint32_t *levels = &file->levels[c * width];
        if (is_excluded(file, entry, levels))
            continue;
        memmove(&file->levels[kept * width], levels, width * sizeof *levels);
        kept++;
    }
    file->combination_count = kept;
}

void sweep_exclude(struct sweep_file *file, const struct json_value *value)
{
    for (size_t i = 0; value->node != NULL && i < json_array_count(value) && !error_is(*value->error); i++) {
        const struct json_value item = json_array_item(value, i);
        struct entry entry = {0};
        read_entry(file, &item, &entry);
        if (!error_is(*value->error))
            apply(file, &entry);
        arena_release(&entry.arena);
    }
    if (file->combination_count == 0 && !error_is(*value->error))
        json_fail(value, "'exclude' leaves no combination");
}
