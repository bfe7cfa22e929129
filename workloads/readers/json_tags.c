#include "workloads/readers/json_tags.h"

#include "workloads/request/tag_rules.h"

enum { RULE_TAG, RULE_LEVEL, RULE_MODE, RULE_FIELD_COUNT };

static const char *const rule_names[RULE_FIELD_COUNT] = {"tag", "level", "mode"};
static const char *const mode_names[] = {"required", "preferred", NULL};

bool json_tags_note(struct tag_texts *texts, struct text key, struct text value)
{
    struct text *text = text_is(key, "tags")            ? &texts->tags
                        : text_is(key, "affinity")      ? &texts->near
                        : text_is(key, "anti_affinity") ? &texts->apart
                                                        : NULL;
    if (text != NULL)
        *text = value;
    return text != NULL;
}

static struct error tag_read(const struct reader *reader, const struct line *line, const struct field *field,
                             uint32_t *tag)
{
    TRY(field_utf8(line, field));
    if (!field_is_set(field))
        return field_error(line, field, "a name");
    *tag = names_add(reader->tags, field->value);
    return *tag <= JOB_TAG_ID_MAX ? ERROR_OK : field_error(line, field, "one of 65536 tags at most");
}

static struct error tags_read(const struct reader *reader, const struct line *line, struct text array,
                              struct job_tags *tags)
{
    struct text rest = array, key, value;
    if (array.at[0] != '[')
        return input_error(line->input, line->text, array, "'tags' must be an array");
    while (json_line_member(&rest, &key, &value)) {
        struct field field = {.name = "tags"};
        if (tags->tag_count == JOB_TAGS_MAX)
            return input_error(line->input, line->text, value, "a job has at most %d tags", JOB_TAGS_MAX);
        TRY(json_line_field(line, value, FIELD_TEXT, reader->arena, &field));
        uint32_t tag = 0;
        TRY(tag_read(reader, line, &field, &tag));
        if (job_tags_have(tags, tag))
            return input_error(line->input, line->text, value, "it has this tag already");
        tags->tags[tags->tag_count++] = tag;
    }
    return ERROR_OK;
}

static struct error level_read(const struct reader *reader, const struct line *line, const struct field *field,
                               uint8_t *level)
{
    if (field_is_set(field) && tag_level_of(reader->cluster, field->value, level))
        return ERROR_OK;
    struct error error = field_error(line, field, "a level of the cluster, or \"node\"");
    const char *near = field_is_set(field) ? tag_level_near(reader->cluster, field->value) : NULL;
    if (near != NULL)
        error_set_hint(&error, "did you mean '%s'?", near);
    return error;
}

static struct error rule_read(const struct reader *reader, const struct line *line, struct text object,
                              struct tag_rule *rule)
{
    struct field fields[RULE_FIELD_COUNT];
    struct text rest = object, key, value;
    int mode = 0;
    if (object.at[0] != '{')
        return input_error(line->input, line->text, object, "a rule must be an object");
    for (int i = 0; i < RULE_FIELD_COUNT; i++)
        fields[i] = (struct field){.name = rule_names[i], .place = object};
    while (json_line_member(&rest, &key, &value)) {
        int i = 0;
        while (i < RULE_FIELD_COUNT && !text_is(key, rule_names[i]))
            i++;
        if (i == RULE_FIELD_COUNT)
            return input_error(line->input, line->text, key, "a rule has 'tag', 'level' and 'mode'");
        TRY(json_line_field(line, value, FIELD_TEXT, reader->arena, &fields[i]));
    }
    TRY(tag_read(reader, line, &fields[RULE_TAG], &rule->tag));
    TRY(field_choice(line, &fields[RULE_MODE], mode_names, &mode));
    rule->is_preferred = mode == 1;
    return level_read(reader, line, &fields[RULE_LEVEL], &rule->level);
}

static struct error rules_read(const struct reader *reader, const struct line *line, struct text array,
                               const char *name, bool is_apart, struct job_tags *tags)
{
    struct text rest = array, key, value;
    uint32_t count = 0;
    if (array.at == NULL || reader->cluster == NULL)
        return ERROR_OK;
    if (array.at[0] != '[')
        return input_error(line->input, line->text, array, "'%s' must be an array", name);
    while (json_line_member(&rest, &key, &value)) {
        if (count++ == JOB_TAG_RULES_OF_KIND_MAX)
            return input_error(line->input, line->text, value, "'%s' holds at most %d rules", name,
                               JOB_TAG_RULES_OF_KIND_MAX);
        struct tag_rule *rule = &tags->rules[tags->rule_count++];
        *rule = (struct tag_rule){.is_apart = is_apart};
        TRY(rule_read(reader, line, value, rule));
    }
    return ERROR_OK;
}

struct error json_tags_read(const struct reader *reader, const struct line *line, const struct tag_texts *texts,
                            struct job *job)
{
    struct job_tags tags = {0};
    if (texts->tags.at != NULL)
        TRY(tags_read(reader, line, texts->tags, &tags));
    TRY(rules_read(reader, line, texts->near, "affinity", false, &tags));
    TRY(rules_read(reader, line, texts->apart, "anti_affinity", true, &tags));
    if (tags.tag_count + tags.rule_count == 0)
        return ERROR_OK;
    const char *complaint = job_tags_complaint(&tags);
    if (complaint != NULL) {
        struct text place = texts->apart.at != NULL ? texts->apart : texts->tags;
        struct error error = input_error(line->input, line->text, place, "no such job can be: %s", complaint);
        if (tags.rule_count > 1)
            error_set_hint(&error, "the level of 'anti_affinity' must be the narrower one");
        return error;
    }
    struct job_tags *own = arena_alloc_array(reader->arena, 1, struct job_tags);
    *own = tags;
    job->tags = own;
    return ERROR_OK;
}
