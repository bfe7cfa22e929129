#include "workloads/job_json.h"

static const char *const mode_names[] = {"required", "preferred", NULL}; /* is_preferred */
static const char *const rule_keys[] = {"affinity", "anti_affinity"};    /* is_apart */

static bool has_failed(const struct json_object *object)
{
    return error_is(*object->value.error);
}

/* ---- Levels ---- */

static void level_fail(const struct cluster *cluster, const struct json_value *value, const char *name, bool has_node)
{
    const char *names[CLUSTER_LEVELS_MAX + 2];
    uint32_t count = 0;
    for (uint32_t l = 0; l < cluster->level_count; l++)
        names[count++] = cluster->levels[l].name;
    if (has_node)
        names[count++] = "node";
    names[count] = NULL;
    json_fail(value, "there is no level '%s'", name);
    if (!error_hint_nearest(value->error, text_of(name), names))
        error_set_hint(value->error, "a level of the cluster%s", has_node ? ", or \"node\"" : "");
}

uint8_t job_level_get(const struct cluster *cluster, struct json_object *object, const char *key)
{
    const char *name = json_get_string(object, key, NULL);
    if (name == NULL || cluster == NULL)
        return 0;
    const uint8_t level = cluster_level_of(cluster, text_of(name));
    const struct json_value value = json_member(object, key);
    if (level == 0)
        level_fail(cluster, &value, name, false);
    return level;
}

struct topology_ask job_topology_get(const struct cluster *cluster, struct json_object *owner)
{
    struct topology_ask ask = {0};
    struct json_object object;
    if (!json_object_at(&object, owner, "topology"))
        return ask;
    ask.required = job_level_get(cluster, &object, "required");
    ask.preferred = job_level_get(cluster, &object, "preferred");
    json_object_close(&object);
    return ask;
}

/* ---- Tags and rules ---- */

static uint32_t tag_get(const struct job_words *words, const struct json_value *value)
{
    if (words->tags == NULL)
        return (uint32_t)json_value_int(value, 0, JOB_TAG_ID_MAX);
    const char *name = json_value_string(value);
    if (error_is(*value->error))
        return 0;
    if (name[0] == '\0')
        json_fail(value, "a tag is not empty");
    const uint32_t tag = names_add(words->tags, text_of(name));
    if (tag > JOB_TAG_ID_MAX)
        json_fail(value, "there are more than %d tags", JOB_TAG_ID_MAX + 1);
    return tag;
}

static uint8_t rule_level_get(const struct cluster *cluster, struct json_object *object)
{
    json_need(object, "level");
    const struct json_value value = json_member(object, "level");
    const char *name = json_get_string(object, "level", "");
    if (has_failed(object) || text_is(text_of(name), "node"))
        return 0;
    const uint8_t level = cluster_level_of(cluster, text_of(name));
    if (level == 0)
        level_fail(cluster, &value, name, true);
    return level;
}

static void rules_get(const struct job_words *words, struct json_object *object, bool is_apart, struct job_tags *tags)
{
    struct json_value array;
    const size_t count =
        words->cluster == NULL ? 0 : json_array_at(&array, object, rule_keys[is_apart], JOB_TAG_RULES_OF_KIND_MAX);
    for (size_t r = 0; r < count && !has_failed(object); r++) {
        struct json_value item = json_array_item(&array, r);
        struct json_object rule;
        json_object_open(&rule, &item);
        json_need(&rule, "tag");
        const struct json_value tag = json_member(&rule, "tag");
        struct tag_rule *out = &tags->rules[tags->rule_count++];
        out->tag = tag_get(words, &tag);
        out->level = rule_level_get(words->cluster, &rule);
        out->is_apart = is_apart;
        out->is_preferred = json_get_choice(&rule, "mode", mode_names, 0) == 1;
        json_object_close(&rule);
    }
}

const struct job_tags *job_tags_get(const struct job_words *words, struct json_object *object)
{
    struct json_value array;
    struct job_tags *tags = arena_alloc_array(words->arena, 1, struct job_tags);
    const size_t count = json_array_at(&array, object, "tags", JOB_TAGS_MAX);
    for (size_t t = 0; t < count && !has_failed(object); t++) {
        struct json_value item = json_array_item(&array, t);
        const uint32_t tag = tag_get(words, &item);
        if (!error_is(*item.error) && job_tags_have(tags, tag))
            json_fail(&item, "it has this tag already");
        tags->tags[tags->tag_count++] = tag;
    }
    rules_get(words, object, false, tags);
    rules_get(words, object, true, tags);
    if (has_failed(object) || tags->tag_count + tags->rule_count == 0)
        return NULL;
    const char *complaint = job_tags_complaint(tags);
    if (complaint == NULL)
        return tags;
    const struct json_value place = json_member(object, json_has(object, rule_keys[1]) ? rule_keys[1] : "tags");
    json_fail(&place, "no such job can be: %s", complaint);
    if (tags->rule_count > 1)
        error_set_hint(object->value.error, "the same tag near and apart: the level of 'anti_affinity' must be the "
                                            "narrower one");
    return NULL;
}

/* ---- Writing ---- */

/* Begin a member: a comma, unless it is the first of its object. */
static void member_begin(struct buffer *out)
{
    if (out->length > 0 && out->bytes[out->length - 1] != '{')
        buffer_char(out, ',');
}

void job_models_write(struct buffer *out, const struct cluster *cluster, uint64_t mask)
{
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        const uint32_t model = (uint32_t)__builtin_ctzll(left);
        if (left != mask)
            buffer_char(out, '|');
        buffer_string(out, model < cluster->model_count ? cluster->models[model].name : "?");
    }
}

void job_models_put(struct buffer *out, const struct cluster *cluster, uint64_t mask)
{
    struct buffer names = {0};
    if (mask == 0)
        return;
    job_models_write(&names, cluster, mask);
    job_string_put(out, "gpu_model", buffer_c_string(&names));
    buffer_release(&names);
}

void job_nodes_put(struct buffer *out, const struct node_ask *nodes)
{
    if (nodes == NULL)
        return;
    member_begin(out);
    buffer_string(out, nodes->text);
}

void job_key_put(struct buffer *out, const char *key)
{
    member_begin(out);
    buffer_char(out, '"');
    buffer_string(out, key);
    buffer_bytes(out, "\":", 2);
}

void job_int_put(struct buffer *out, const char *key, int64_t value)
{
    job_key_put(out, key);
    buffer_int(out, value);
}

void job_string_put(struct buffer *out, const char *key, const char *value)
{
    job_key_put(out, key);
    buffer_json(out, text_of(value));
}

void job_topology_put(struct buffer *out, const struct cluster *cluster, struct topology_ask topology)
{
    if (topology.required == 0 && topology.preferred == 0)
        return;
    job_key_put(out, "topology");
    buffer_char(out, '{');
    if (topology.required != 0)
        job_string_put(out, "required", cluster->levels[topology.required - 1].name);
    if (topology.preferred != 0)
        job_string_put(out, "preferred", cluster->levels[topology.preferred - 1].name);
    buffer_char(out, '}');
}

static void tag_put(struct buffer *out, const struct names *names, uint32_t tag)
{
    if (names != NULL)
        buffer_json(out, text_of(names_text(names, tag)));
    else
        buffer_int(out, tag);
}

static void rules_put(struct buffer *out, const struct cluster *cluster, const struct names *names,
                      const struct job_tags *tags, bool is_apart)
{
    bool is_first = true;
    for (uint32_t r = 0; r < tags->rule_count; r++) {
        const struct tag_rule *rule = &tags->rules[r];
        if (rule->is_apart != is_apart)
            continue;
        if (is_first)
            job_key_put(out, rule_keys[is_apart]);
        buffer_string(out, is_first ? "[{" : ",{");
        job_key_put(out, "tag");
        tag_put(out, names, rule->tag);
        if (rule->is_preferred)
            job_string_put(out, "mode", mode_names[1]);
        job_string_put(out, "level", rule->level == 0 ? "node" : cluster->levels[rule->level - 1].name);
        buffer_char(out, '}');
        is_first = false;
    }
    if (!is_first)
        buffer_char(out, ']');
}

void job_tags_put(struct buffer *out, const struct cluster *cluster, const struct names *names,
                  const struct job_tags *tags)
{
    if (tags == NULL)
        return;
    if (tags->tag_count > 0)
        job_key_put(out, "tags");
    for (uint32_t t = 0; t < tags->tag_count; t++) {
        buffer_char(out, t == 0 ? '[' : ',');
        tag_put(out, names, tags->tags[t]);
    }
    if (tags->tag_count > 0)
        buffer_char(out, ']');
    rules_put(out, cluster, names, tags, false);
    rules_put(out, cluster, names, tags, true);
}

void job_sets_put(struct buffer *out, const struct cluster *cluster, bool is_named, const struct job *job)
{
    if (job->set_count > 0)
        job_key_put(out, "sets");
    for (uint32_t s = 0; s < job->set_count; s++) {
        const struct job_set *set = &job->sets[s];
        buffer_string(out, s == 0 ? "[{" : ",{");
        if (set->name[0] != '\0')
            job_string_put(out, "name", set->name);
        if (set->parent != SET_NONE && is_named)
            job_string_put(out, "parent", job->sets[set->parent].name);
        else if (set->parent != SET_NONE)
            job_int_put(out, "parent", set->parent);
        job_int_put(out, "min_members", set->min_members);
        if (set->min_sets > 0)
            job_int_put(out, "min_sets", set->min_sets);
        job_topology_put(out, cluster, set->topology);
        buffer_string(out, s + 1 < job->set_count ? "}" : "}]");
    }
}
