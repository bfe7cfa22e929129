/* sim/cases/case_queues.c -- the queues of a case: parents may stand after children, cohorts come into being by name.
 */
#include <string.h>

#include "sim/cases/case_read.h"

struct queue_draft {
    const struct json_value *value;
    const char *name;
    const char *parent; /* NULL: the root */
    bool is_placed;
};

static void read_place(struct case_reading *reading, struct queue_draft *draft)
{
    struct json_object object;
    json_object_open(&object, draft->value);
    json_need(&object, "name");
    draft->name = json_get_string(&object, "name", "");
    const char *parent = json_get_string(&object, "parent", NULL);
    const char *cohort = json_get_string(&object, "cohort", NULL);
    draft->parent = parent != NULL ? parent : cohort;
    struct json_value name = json_member(&object, "name"), other = json_member(&object, "cohort");
    if (!case_failed(reading) && draft->name[0] == '\0')
        json_fail(&name, "a queue needs a name that is not empty");
    if (parent != NULL && cohort != NULL && strcmp(parent, cohort) != 0)
        json_fail(&other, "'parent' and 'cohort' name different queues");
    if (draft->parent != NULL && draft->parent[0] == '\0')
        draft->parent = NULL;
}

static struct queue_draft *find(struct queue_draft *drafts, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(drafts[i].name, name) == 0)
            return &drafts[i];
    return NULL;
}

static void check_parent(struct case_reading *reading, struct queue_draft *drafts, size_t count,
                         const struct queue_draft *draft)
{
    if (draft->parent == NULL || find(drafts, count, draft->parent) != NULL)
        return;
    struct json_object object;
    json_object_open(&object, draft->value);
    if (!json_has(&object, "parent"))
        return; /* the cohort is created */
    struct json_value value = json_member(&object, "parent");
    json_fail(&value, "there is no queue '%s'", draft->parent);
    const char **names = arena_alloc_array(reading->arena, count + 1, const char *);
    for (size_t i = 0; i < count; i++)
        names[i] = drafts[i].name;
    error_hint_nearest(reading->error, text_of(draft->parent), names);
}

/* Without "age_s" a queue is older than those after it in the text. */
static void read_fields(struct case_reading *reading, const struct queue_draft *draft, queue_id id,
                        size_t younger_count)
{
    struct queue_spec *queue = &reading->spec->queues->queues[id];
    struct json_object object;
    json_object_open(&object, draft->value);
    json_has(&object, "name");
    json_has(&object, "parent");
    json_has(&object, "cohort");
    queue_spec_read(queue, &object);
    case_duration(&object, "age_s", 0);
    time_ns age = json_has(&object, "age_s") ? -queue->created : (time_ns)(younger_count + 1) * 60 * TIME_NS_PER_S;
    queue->created = CASE_NOW - age;
    json_object_close(&object);
}

/* Place every queue whose parent is placed; false: none was placed. */
static bool place_some(struct case_reading *reading, struct queue_draft *drafts, size_t count)
{
    struct queue_table *table = reading->spec->queues;
    bool has_moved = false;
    for (size_t i = 0; i < count && !case_failed(reading); i++) {
        struct queue_draft *draft = &drafts[i];
        queue_id parent = QUEUE_ROOT;
        if (draft->is_placed)
            continue;
        if (draft->parent != NULL) {
            const struct queue_draft *above = find(drafts, count, draft->parent);
            if (above != NULL && !above->is_placed)
                continue;
            parent = queue_table_of(table, text_of(draft->parent)); /* the parent is a cohort that no line declares */
        }
        queue_id id = queue_table_add(table, text_of(draft->name), parent);
        read_fields(reading, draft, id, count - 1 - i);
        draft->is_placed = has_moved = true;
    }
    return has_moved;
}

void case_queues_read(struct case_reading *reading, const struct json_value *array)
{
    size_t count = json_array_count(array);
    struct queue_draft *drafts = arena_alloc_array(reading->arena, count + 1, struct queue_draft);
    for (size_t i = 0; i < count && !case_failed(reading); i++) {
        drafts[i].value = case_item(reading, array, i);
        read_place(reading, &drafts[i]);
        if (!case_failed(reading) && find(drafts, i, drafts[i].name) != NULL)
            json_fail(drafts[i].value, "there is a queue named '%s' already", drafts[i].name);
    }
    for (size_t i = 0; i < count && !case_failed(reading); i++)
        check_parent(reading, drafts, count, &drafts[i]);
    while (!case_failed(reading) && place_some(reading, drafts, count))
        ;
    for (size_t i = 0; i < count && !case_failed(reading); i++)
        if (!drafts[i].is_placed)
            json_fail(drafts[i].value, "the queue '%s' stands below itself", drafts[i].name);
}
