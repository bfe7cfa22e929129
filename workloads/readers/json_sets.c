#include "workloads/readers/json_sets.h"

#include <string.h>

struct error json_level_read(const struct reader *reader, const struct line *line, const struct field *field,
                             uint8_t *level)
{
    if (!field_is_set(field) || reader->cluster == NULL)
        return ERROR_OK;
    *level = cluster_level_of(reader->cluster, field->value);
    return *level != 0 ? ERROR_OK : field_error(line, field, "a level of the cluster");
}

struct error json_topology_read(const struct reader *reader, const struct line *line, struct text object,
                                struct topology_ask *ask)
{
    struct field required = {.name = "required"}, preferred = {.name = "preferred"};
    struct text rest = object, key, value;
    *ask = (struct topology_ask){0};
    if (text_is(object, "null"))
        return ERROR_OK;
    if (object.at[0] != '{')
        return input_error(line->input, line->text, object, "'topology' must be an object");
    while (json_line_member(&rest, &key, &value)) {
        struct field *field = text_is(key, required.name)    ? &required
                              : text_is(key, preferred.name) ? &preferred
                                                             : NULL;
        if (field != NULL)
            TRY(json_line_field(line, value, FIELD_TEXT, reader->arena, field));
    }
    TRY(json_level_read(reader, line, &required, &ask->required));
    return json_level_read(reader, line, &preferred, &ask->preferred);
}

int json_sets_find(const struct json_sets *sets, struct text name)
{
    for (int s = 0; s < sets->count; s++)
        if (text_is(name, sets->sets[s].name))
            return s;
    return -1;
}

enum { SET_NAME, SET_PARENT, SET_MIN_MEMBERS, SET_MIN_SETS, SET_FIELD_COUNT };

static const struct column set_columns[SET_FIELD_COUNT] = {
    [SET_NAME] = {"name", true, FIELD_TEXT},
    [SET_PARENT] = {"parent", false, FIELD_TEXT},
    [SET_MIN_MEMBERS] = {"min_members", false, FIELD_NUMBER},
    [SET_MIN_SETS] = {"min_sets", false, FIELD_NUMBER},
};

static struct error set_fields(const struct reader *reader, const struct line *line, struct text object,
                               struct field fields[SET_FIELD_COUNT], struct topology_ask *topology)
{
    struct text rest = object, key, value;
    if (object.at[0] != '{')
        return input_error(line->input, line->text, object, "a set must be an object");
    for (int i = 0; i < SET_FIELD_COUNT; i++)
        fields[i] = (struct field){.name = set_columns[i].name, .place = object};
    while (json_line_member(&rest, &key, &value)) {
        if (text_is(key, "topology"))
            TRY(json_topology_read(reader, line, value, topology));
        for (int i = 0; i < SET_FIELD_COUNT; i++)
            if (text_is(key, set_columns[i].name))
                TRY(json_line_field(line, value, set_columns[i].kind, reader->arena, &fields[i]));
    }
    return field_is_set(&fields[SET_NAME]) ? ERROR_OK : field_error(line, &fields[SET_NAME], "a name");
}

static struct error set_read(const struct reader *reader, const struct line *line, struct text object,
                             struct json_sets *sets)
{
    struct field fields[SET_FIELD_COUNT];
    struct job_set set = {.parent = SET_NONE};
    int64_t minimum = SET_MINIMUM_ALL, min_sets = 0;
    TRY(set_fields(reader, line, object, fields, &set.topology));
    if (json_sets_find(sets, fields[SET_NAME].value) >= 0)
        return field_error(line, &fields[SET_NAME], "a name that no set before it has");
    if (field_is_set(&fields[SET_PARENT])) {
        int parent = json_sets_find(sets, fields[SET_PARENT].value);
        if (parent < 0)
            return field_error(line, &fields[SET_PARENT], "the name of a set before it");
        set.parent = (uint16_t)parent;
    }
    TRY(field_int(line, &fields[SET_MIN_MEMBERS], 0, UINT32_MAX, &minimum));
    TRY(field_int(line, &fields[SET_MIN_SETS], 1, JOB_SETS_MAX, &min_sets));
    set.min_sets = (uint16_t)min_sets;
    set.name = arena_copy(reader->arena, fields[SET_NAME].value);
    sets->minimum[sets->count] = minimum;
    sets->sets[sets->count++] = set;
    return ERROR_OK;
}

struct error json_sets_read(const struct reader *reader, const struct line *line, struct text array,
                            struct json_sets *sets)
{
    struct text rest = array, key, value;
    sets->count = 0;
    if (array.at[0] != '[')
        return input_error(line->input, line->text, array, "'sets' must be an array");
    while (json_line_member(&rest, &key, &value)) {
        if (sets->count == JOB_SETS_MAX)
            return input_error(line->input, line->text, value, "a job has at most %d sets", JOB_SETS_MAX);
        TRY(set_read(reader, line, value, sets));
    }
    return ERROR_OK;
}

struct error json_sets_finish(const struct reader *reader, const struct line *line, struct text array,
                              const struct json_sets *sets, struct job *job)
{
    uint64_t members[JOB_SETS_MAX] = {0};
    bool satisfied[JOB_SETS_MAX];
    if (sets->count == 0)
        return ERROR_OK;
    for (uint32_t g = 0; g < job->group_count; g++)
        members[job_group(job, g)->set] += job_group(job, g)->count;
    struct job_set *own = arena_alloc_array(reader->arena, sets->count, struct job_set);
    memcpy(own, sets->sets, sets->count * sizeof *own);
    for (uint16_t s = 0; s < sets->count; s++) {
        uint64_t minimum = sets->minimum[s] == SET_MINIMUM_ALL ? members[s] : (uint64_t)sets->minimum[s];
        if (minimum > members[s])
            return input_error(line->input, line->text, array, "set '%s' needs more members than its groups have",
                               own[s].name);
        const uint32_t within = sets_in(own, sets->count, s);
        if (own[s].min_sets > within)
            return input_error(line->input, line->text, array, "set '%s' needs %u of the sets in it, and has %u",
                               own[s].name, own[s].min_sets, within);
        own[s].min_members = (uint32_t)minimum;
        satisfied[s] = minimum == 0;
    }
    if (sets_settle(own, sets->count, job->min_sets, satisfied))
        return input_error(line->input, line->text, array, "some set must need at least one member");
    job->sets = own;
    job->set_count = sets->count;
    return ERROR_OK;
}
