/* topologies/cluster_json_node.c -- what all descriptions of nodes share: labels, MIG layouts, limits, taints, levels.
 */
#include <string.h>

#include "topologies/cluster_build.h"
#include "topologies/mig_arrange.h"

enum { LABELS_MAX = 64, TAINTS_MAX = 64, TASKS_MAX = 1000000 };

static bool has_failed(const struct json_object *object)
{
    return error_is(*object->value.error);
}

static void read_labels(struct arena *arena, struct json_object *object, struct node_type *type)
{
    struct json_object labels;
    if (!json_object_at(&labels, object, "labels"))
        return;
    struct label *list = arena_alloc_array(arena, LABELS_MAX, struct label);
    const char *key;
    for (size_t i = 0; !has_failed(object) && (key = json_object_key(&labels, i)) != NULL; i++) {
        if (i == LABELS_MAX) {
            json_fail(&labels.value, "at most %d labels are possible", LABELS_MAX);
            return;
        }
        list[i] = (struct label){key, json_get_string(&labels, key, "")};
        type->label_count = (uint32_t)i + 1;
    }
    type->labels = list;
    json_object_close(&labels);
}

/* ---- MIG layouts ---- */

static int read_profile(const struct json_value *value, const char *name, const struct gpu_model *model)
{
    int profile = mig_profile_find(model->mig, text_of(name));
    if (profile >= 0)
        return profile;
    if (mig_profiles(model->mig) == NULL) {
        json_fail(value, "GPU model '%s' has no MIG", model->name);
        return -1;
    }
    json_fail(value, "GPU model '%s' has no MIG profile '%s'", model->name, name);
    const char *nearest = mig_profile_nearest(model->mig, text_of(name));
    if (nearest != NULL)
        error_set_hint(value->error, "did you mean '%s'?", nearest);
    return -1;
}

static void complain(const struct json_value *value, const struct mig_complaint *why)
{
    json_fail(value, "%s", why->what);
    if (why->hint[0] != '\0')
        error_set_hint(value->error, "%s", why->hint);
}

/* {"profile": "1g.10gb", "start": 0}, or only the profile. */
static void read_instance(const struct json_value *value, const struct gpu_model *model,
                          struct mig_arrangement *arrangement)
{
    int64_t start = -1;
    int profile = -1;
    if (json_is_string(value->node)) {
        profile = read_profile(value, json_value_string(value), model);
    } else {
        struct json_object object;
        json_object_open(&object, value);
        json_need(&object, "profile");
        const char *name = json_get_string(&object, "profile", "");
        start = json_get_int(&object, "start", 0, MIG_SLICES - 1, -1);
        struct json_value place = json_member(&object, "profile");
        json_object_close(&object);
        if (!has_failed(&object))
            profile = read_profile(&place, name, model);
    }
    struct mig_complaint why;
    if (profile >= 0 && !mig_arrangement_add(arrangement, model->mig, (enum mig_profile_id)profile, start, &why))
        complain(value, &why);
}

static struct gpu_layout read_layout(const struct json_value *list, const struct gpu_model *model)
{
    struct mig_arrangement arrangement = {.count = 0};
    struct mig_complaint why;
    size_t count = json_is_null(list->node) ? 0 : json_array_count(list);
    for (size_t i = 0; i < count && !error_is(*list->error); i++) {
        struct json_value item = json_array_item(list, i);
        read_instance(&item, model, &arrangement);
    }
    if (!error_is(*list->error) && !mig_arrangement_finish(&arrangement, &why))
        complain(list, &why);
    return arrangement.layout;
}

/* A list of instances for each GPU, in order.  An empty list, null or a missing one leaves the GPU whole. */
static void read_layouts(struct arena *arena, struct json_object *object, const struct gpu_model *model,
                         struct node_type *type)
{
    struct json_value array = json_member(object, "gpus_layout");
    if (array.node == NULL)
        return;
    size_t count = json_array_count(&array);
    if (count > type->gpu_count)
        json_fail(&array, "there are %zu layouts for the %u GPUs of a node", count, type->gpu_count);
    if (has_failed(object) || count == 0)
        return;
    struct gpu_layout *layouts = arena_alloc_array(arena, type->gpu_count, struct gpu_layout);
    for (size_t gpu = 0; gpu < count && !has_failed(object); gpu++) {
        struct json_value list = json_array_item(&array, gpu);
        layouts[gpu] = read_layout(&list, model);
        for (uint32_t start = 0; start < MIG_SLICES; start++)
            if (layouts[gpu].profile[start] != 0)
                type->layout_mask |= (uint16_t)(1u << gpu);
    }
    type->layouts = layouts;
}

/* By default only GPUs with instances may be repartitioned. */
static void read_recut(struct json_object *object, const struct gpu_model *model, struct node_type *type)
{
    struct json_value value = json_member(object, "mig_recut");
    const bool may_recut = json_get_bool(object, "mig_recut", false);
    type->recut_mask = type->layout_mask;
    if (value.node == NULL || has_failed(object))
        return;
    type->recut_mask = may_recut ? (uint16_t)((1u << type->gpu_count) - 1) : 0;
    if (may_recut && (model == NULL || model->mig == MIG_NONE))
        json_fail(&value, "GPU model '%s' has no MIG", model == NULL ? "" : model->name);
}

/* ---- taints ---- */

const char *const taint_effect_names[] = {"NoSchedule", "NoExecute", "PreferNoSchedule", NULL};

/* "key=value:Effect" as kubectl writes it; value and effect are optional. */
static struct taint read_taint_text(struct arena *arena, const struct json_value *value)
{
    const char *text = json_value_string(value), *colon = strrchr(text, ':');
    const struct text all = text_of(text);
    struct text rest = {all.at, colon != NULL ? (size_t)(colon - text) : all.length}, key = {0};
    struct taint taint = {"", "", TAINT_NO_SCHEDULE};
    while (colon != NULL && taint_effect_names[taint.effect] != NULL &&
           strcmp(taint_effect_names[taint.effect], colon + 1) != 0)
        taint.effect++;
    if (taint.effect == TAINT_EFFECT_COUNT) {
        json_fail(value, "there is no effect '%s' of a taint", colon + 1);
        error_set_hint(value->error, "a taint is \"key=value:Effect\", the effect one of "
                                     "NoSchedule, NoExecute and PreferNoSchedule");
        return taint;
    }
    if (!text_cut(&rest, '=', &key) || key.length == 0)
        json_fail(value, "a taint needs a key");
    taint.key = arena_copy(arena, key);
    taint.value = rest.at != NULL ? arena_copy(arena, rest) : "";
    return taint;
}

/* As above, or {"key": ..., "value": ..., "effect": ...}. */
static struct taint read_taint(struct arena *arena, const struct json_value *value)
{
    if (json_is_string(value->node))
        return read_taint_text(arena, value);
    struct json_object object;
    json_object_open(&object, value);
    json_need(&object, "key");
    const char *key = json_get_string(&object, "key", "");
    const char *own = json_get_string(&object, "value", "");
    const int effect = json_get_choice(&object, "effect", taint_effect_names, TAINT_NO_SCHEDULE);
    json_object_close(&object);
    return (struct taint){key, own, (uint8_t)effect};
}

static void read_taints(struct arena *arena, struct json_object *object, struct node_type *type)
{
    struct json_value array = json_member(object, "taints");
    size_t count = array.node == NULL ? 0 : json_array_count(&array);
    if (count > TAINTS_MAX)
        json_fail(&array, "at most %d taints are possible", TAINTS_MAX);
    if (has_failed(object) || count == 0)
        return;
    struct taint *taints = arena_alloc_array(arena, count, struct taint);
    for (size_t i = 0; i < count && !has_failed(object); i++) {
        struct json_value item = json_array_item(&array, i);
        taints[i] = read_taint(arena, &item);
        type->is_tainted |= taints[i].effect != TAINT_PREFER_NO_SCHEDULE;
    }
    type->taints = taints;
    type->taint_count = (uint16_t)count;
}

void cluster_build_read_extras(struct arena *arena, struct json_object *object, const struct gpu_model *model,
                               struct node_type *type)
{
    read_labels(arena, object, type);
    type->max_tasks = (uint32_t)json_get_int(object, "max_tasks", 0, TASKS_MAX, 0);
    read_taints(arena, object, type);
    read_layouts(arena, object, model, type);
    read_recut(object, model, type);
}

/* ---- levels ---- */

void cluster_build_read_levels(struct cluster_build *build, const struct json_value *array)
{
    size_t count = json_array_count(array);
    build->has_levels = true;
    build->level_count = 0;
    if (count > CLUSTER_LEVELS_MAX)
        json_fail(array, "at most %d levels are possible, got %zu", CLUSTER_LEVELS_MAX, count);
    for (size_t i = 0; i < count && !error_is(*array->error); i++) {
        struct json_value item = json_array_item(array, i);
        const char *name = json_value_string(&item);
        for (size_t k = 0; k < i; k++)
            if (strcmp(build->levels[k], name) == 0)
                json_fail(&item, "the level '%s' stands here twice", name);
        build->levels[build->level_count++] = name;
    }
}

void cluster_check_levels(const struct cluster *cluster, const struct json_value *array)
{
    for (uint32_t i = 0; i < cluster->level_count && !error_is(*array->error); i++) {
        if (cluster->levels[i].domain_count > 0)
            continue;
        struct json_value item = json_array_item(array, i);
        json_fail(&item, "no node has the label '%s' and those of the levels before it", cluster->levels[i].name);
        error_set_hint(array->error,
                       "a level is a label of the nodes, \"unit\", \"nvlink\" or \"node\"; the widest first");
    }
}
