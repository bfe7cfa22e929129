/* Tags and rules of JSON objects; see workloads/request/tag_rules.h. */
#include "workloads/request/tag_rules.h"

static const char *const mode_names[] = {"required", "preferred", NULL};

bool tag_level_of(const struct cluster *cluster, struct text name, uint8_t *level)
{
    *level = 0;
    if (text_is(name, "node"))
        return true;
    *level = cluster_level_of(cluster, name);
    return *level != 0;
}

const char *tag_level_near(const struct cluster *cluster, struct text name)
{
    const char *names[CLUSTER_LEVELS_MAX + 2];
    uint32_t count = 0;
    for (uint32_t l = 0; l < cluster->level_count; l++)
        names[count++] = cluster->levels[l].name;
    names[count++] = "node";
    names[count] = NULL;
    return text_nearest(name, names);
}

static uint32_t tag_get(const struct tag_world *world, const struct json_value *value)
{
    const char *name = json_value_string(value);
    if (error_is(*value->error))
        return 0;
    if (name[0] == '\0')
        json_fail(value, "a tag is not empty");
    const uint32_t tag = names_add(world->tags, text_of(name));
    if (tag > JOB_TAG_ID_MAX)
        json_fail(value, "there are more than %d tags", JOB_TAG_ID_MAX + 1);
    return tag;
}

static uint8_t level_get(const struct tag_world *world, struct json_object *object)
{
    json_need(object, "level");
    struct json_value value = json_member(object, "level");
    const char *name = json_get_string(object, "level", "");
    uint8_t level = 0;
    if (error_is(*value.error) || tag_level_of(world->cluster, text_of(name), &level))
        return level;
    json_fail(&value, "there is no level '%s'", name);
    const char *near = tag_level_near(world->cluster, text_of(name));
    if (near != NULL)
        error_set_hint(value.error, "did you mean '%s'?", near);
    else
        error_set_hint(value.error, "a level of the cluster, or \"node\"");
    return 0;
}

static void rules_get(const struct tag_world *world, struct json_object *object, const char *key, bool is_apart,
                      struct job_tags *tags)
{
    struct json_value array = json_member(object, key);
    const size_t count = array.node == NULL ? 0 : json_array_count(&array);
    if (count > JOB_TAG_RULES_OF_KIND_MAX)
        json_fail(&array, "'%s' holds at most %d rules", key, JOB_TAG_RULES_OF_KIND_MAX);
    for (size_t r = 0; r < count && !error_is(*array.error); r++) {
        struct json_value item = json_array_item(&array, r);
        struct json_object rule;
        json_object_open(&rule, &item);
        json_need(&rule, "tag");
        const struct json_value tag = json_member(&rule, "tag");
        struct tag_rule *out = &tags->rules[tags->rule_count++];
        out->tag = tag_get(world, &tag);
        out->level = level_get(world, &rule);
        out->is_apart = is_apart;
        out->is_preferred = json_get_choice(&rule, "mode", mode_names, 0) == 1;
        json_object_close(&rule);
    }
}

const struct job_tags *tag_rules_get(const struct tag_world *world, struct json_object *object)
{
    struct json_value array = json_member(object, "tags");
    struct job_tags *tags = arena_alloc_array(world->arena, 1, struct job_tags);
    const size_t count = array.node == NULL ? 0 : json_array_count(&array);
    if (count > JOB_TAGS_MAX)
        json_fail(&array, "'tags' holds at most %d", JOB_TAGS_MAX);
    for (size_t t = 0; t < count && !error_is(*object->value.error); t++) {
        struct json_value item = json_array_item(&array, t);
        const uint32_t tag = tag_get(world, &item);
        if (!error_is(*item.error) && job_tags_have(tags, tag))
            json_fail(&item, "it has this tag already");
        tags->tags[tags->tag_count++] = tag;
    }
    rules_get(world, object, "affinity", false, tags);
    rules_get(world, object, "anti_affinity", true, tags);
    if (error_is(*object->value.error) || tags->tag_count + tags->rule_count == 0)
        return NULL;
    const char *complaint = job_tags_complaint(tags);
    if (complaint != NULL) {
        const struct json_value place =
            json_member(object, json_has(object, "anti_affinity") ? "anti_affinity" : "tags");
        json_fail(&place, "no such job can be: %s", complaint);
        if (tags->rule_count > 1)
            error_set_hint(object->value.error, "the same tag near and apart: the level of 'anti_affinity' must be the "
                                                "narrower one");
    }
    return complaint == NULL ? tags : NULL;
}
