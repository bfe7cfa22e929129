/* base/json_set.c -- values put over a document: `path=value` and whole other documents; see base/json.h. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/json_doc.h"

/* The target of a dotted path.  Nothing is changed before the whole path is known to be valid. */
struct target {
    struct json_doc *doc;
    const char *shown;       /* the path as in messages, in the document's arena */
    struct json_step *steps; /* in the document's arena */
    size_t step_count;
};

/* ---- the path ---- */

static struct error bad_path(const struct target *target, const char *format, ...) LIKE_PRINTF(2, 3);

static struct error bad_path(const struct target *target, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *message = NULL;
    if (vasprintf(&message, format, arguments) < 0)
        message = NULL;
    va_end(arguments);
    struct error error = error_at(target->doc->kind, target->shown, 0, 0, "%s", message != NULL ? message : "");
    mem_free(message);
    return error;
}

/* Hint at the elements of an array, which have a name or a number. */
static void hint_elements(struct error *error, const json_t *array, struct text step)
{
    size_t count = json_array_size(array);
    const char **names = mem_zalloc(count + 1, sizeof *names);
    size_t named = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(array, i), "name"));
        if (name != NULL)
            names[named++] = name;
    }
    const char *nearest = text_nearest(step, names);
    if (nearest != NULL)
        error_set_hint(error, "did you mean '%s'?", nearest);
    else if (count != 0)
        error_set_hint(error, "take a name, or an index from 0 to %zu", count - 1);
    else
        error_set_hint(error, "the array is empty");
    mem_free(names);
}

static bool find_element(const json_t *array, struct text step, size_t *index)
{
    size_t count = json_array_size(array);
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(array, i), "name"));
        if (name != NULL && text_is(step, name)) {
            *index = i;
            return true;
        }
    }
    int64_t number;
    if (count == 0 || !text_to_int64(step, 0, (int64_t)count - 1, &number))
        return false;
    *index = (size_t)number;
    return true;
}

/* Take one step from *node; *node becomes NULL if there is no such value yet. */
static struct error take_step(struct target *target, json_t **node, struct text step)
{
    struct json_step *taken = &target->steps[target->step_count];
    if (step.length == 0)
        return bad_path(target, "the path has an empty step");
    *taken = (struct json_step){.key = arena_copy(&target->doc->arena, step)};
    if (json_is_array(*node)) {
        if (!find_element(*node, step, &taken->index)) {
            struct error error = bad_path(target, "the array has no element '%s'", taken->key);
            hint_elements(&error, *node, step);
            return error;
        }
        taken->key = NULL;
        *node = json_array_get(*node, taken->index);
    } else if (json_is_object(*node)) {
        *node = json_object_get(*node, taken->key);
    } else if (*node != NULL && !json_is_null(*node)) {
        struct buffer got = {0};
        json_describe(&got, *node);
        struct error error = bad_path(target, "'%s' would stand inside %s, which is no object or array", taken->key,
                                      buffer_c_string(&got));
        buffer_release(&got);
        return error;
    } else {
        *node = NULL;
    }
    target->step_count++;
    return ERROR_OK;
}

const json_t *json_doc_at(const struct json_doc *doc, const char *path)
{
    const json_t *node = doc->root;
    struct text rest = text_of(path), step;
    while (node != NULL && text_cut(&rest, '.', &step)) {
        size_t index;
        if (json_is_array(node))
            node = find_element(node, step, &index) ? json_array_get(node, index) : NULL;
        else
            node = json_object_getn(node, step.at, step.length);
    }
    return node;
}

static bool is_utf8(struct text text)
{
    while (text.length != 0) {
        size_t bytes = text_utf8_bytes(text);
        if (bytes == 0)
            return false;
        text.at += bytes;
        text.length -= bytes;
    }
    return true;
}

static struct error target_find(struct target *target, struct json_doc *doc, const char *shown, struct text path)
{
    *target = (struct target){.doc = doc, .shown = shown};
    if (!is_utf8(path))
        return bad_path(target, "the path is not UTF-8");
    size_t step_count_max = 1;
    for (size_t i = 0; i < path.length; i++)
        step_count_max += path.at[i] == '.';
    target->steps = arena_alloc_array(&doc->arena, step_count_max, struct json_step);
    json_t *node = doc->root;
    struct text rest = path;
    struct text step;
    while (text_cut(&rest, '.', &step))
        TRY(take_step(target, &node, step));
    return ERROR_OK;
}

/* ---- the change ---- */

/* Put `value` at the target, which takes ownership, and create the objects on the way. */
static struct error target_put(const struct target *target, json_t *value)
{
    json_t *node = target->doc->root;
    for (size_t i = 0; i + 1 < target->step_count && node != NULL; i++) {
        const struct json_step *step = &target->steps[i];
        if (step->key == NULL) {
            node = json_array_get(node, step->index);
            continue;
        }
        json_t *next = json_object_get(node, step->key);
        if (next == NULL || json_is_null(next)) {
            next = json_object();
            if (json_object_set_new(node, step->key, next) != 0)
                next = NULL;
        }
        node = next;
    }
    const struct json_step *last = &target->steps[target->step_count - 1];
    int status =
        last->key != NULL ? json_object_set_new(node, last->key, value) : json_array_set_new(node, last->index, value);
    if (status != 0)
        return bad_path(target, "the value cannot be put there");
    return ERROR_OK;
}

static void remember(const struct target *target, struct json_doc *grafted, bool is_typed)
{
    struct json_doc *doc = target->doc;
    MEM_GROW(doc->patches, doc->patch_capacity, doc->patch_count + 1);
    doc->patches[doc->patch_count++] = (struct json_patch){.steps = target->steps,
                                                           .step_count = target->step_count,
                                                           .assigned = target->shown,
                                                           .grafted = grafted,
                                                           .is_typed = is_typed};
}

static const char *shown_new(struct json_doc *doc, const char *prefix, struct text path)
{
    struct buffer shown = {0};
    buffer_string(&shown, prefix);
    buffer_text(&shown, path);
    const char *copy = arena_copy(&doc->arena, (struct text){shown.bytes, shown.length});
    buffer_release(&shown);
    return copy;
}

static struct error set(struct json_doc *doc, const char *assignment, bool is_typed)
{
    const char *equals = strchr(assignment, '=');
    struct text path = text_of(assignment);
    if (equals != NULL)
        path.length = (size_t)(equals - assignment);
    struct target target;
    TRY(target_find(&target, doc, shown_new(doc, "--set ", path), path));
    if (equals == NULL) {
        struct error error = bad_path(&target, "the value is missing");
        error_set_hint(&error, "write PATH=VALUE");
        return error;
    }
    struct text text = text_of(equals + 1);
    json_t *value = json_loadb(text.at, text.length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    if (value == NULL)
        value = json_stringn(text.at, text.length);
    if (value == NULL)
        return bad_path(&target, "the value is not UTF-8");
    TRY(target_put(&target, value));
    remember(&target, NULL, is_typed);
    return ERROR_OK;
}

struct error json_doc_set(struct json_doc *doc, const char *assignment)
{
    return set(doc, assignment, false);
}

struct error json_doc_set_typed(struct json_doc *doc, const char *assignment)
{
    return set(doc, assignment, true);
}

struct error json_doc_graft(struct json_doc *doc, const char *path, struct json_doc *other)
{
    struct target target;
    struct text text = text_of(path);
    struct error error = target_find(&target, doc, shown_new(doc, "", text), text);
    if (!error_is(error))
        error = target_put(&target, json_incref(other->root));
    if (error_is(error)) {
        json_doc_free(other);
        return error;
    }
    remember(&target, other, json_is_typed(doc, target.steps, target.step_count));
    return ERROR_OK;
}
