/* workloads/readers/read_jsonl.c -- JSON lines: an object per job with the native names, or with `groups`. */
#include <string.h>

#include "workloads/readers/freeze.h"
#include "workloads/readers/json_claim.h"
#include "workloads/readers/json_communication.h"
#include "workloads/readers/json_nodes.h"
#include "workloads/readers/json_sets.h"
#include "workloads/readers/json_tags.h"
#include "workloads/readers/native_row.h"

enum {
    GROUP_COUNT,
    GROUP_MIN_MEMBERS,
    GROUP_SUCCEEDED,
    GROUP_SET,
    GROUP_MIG,
    GROUP_SLICE_MEMBERS,
    GROUP_SLICE_LEVEL,
    GROUP_ONE_ISLAND,
    GROUP_OWN_COUNT
};

/* Columns that only groups have; their other columns are native ones. */
static const struct column group_columns[GROUP_OWN_COUNT] = {
    [GROUP_COUNT] = {"count", false, FIELD_NUMBER},
    [GROUP_MIN_MEMBERS] = {"min_members", false, FIELD_NUMBER},
    [GROUP_SUCCEEDED] = {"succeeded", false, FIELD_NUMBER},
    [GROUP_SET] = {"set", false, FIELD_TEXT},
    [GROUP_MIG] = {"mig", false, FIELD_TEXT},
    [GROUP_SLICE_MEMBERS] = {"slice_members", false, FIELD_NUMBER},
    [GROUP_SLICE_LEVEL] = {"slice_level", false, FIELD_TEXT},
    [GROUP_ONE_ISLAND] = {"one_island", false, FIELD_BOOL},
};

struct jsonl_state {
    struct field fields[NATIVE_FIELD_COUNT];
    struct field group[NATIVE_FIELD_COUNT]; /* of the group being read */
    struct job_group groups[JOB_GROUPS_MAX];
    uint32_t succeeded[JOB_GROUPS_MAX]; /* by group: succeeded members */
    struct json_sets sets;
    struct field min_sets;
    struct json_nodes nodes;       /* of the job */
    struct json_nodes group_nodes; /* of the group being read */
};

static bool jsonl_is_mine(const struct trace_format *self, struct text first_line)
{
    (void)self;
    struct text line = text_trim(first_line);
    return line.length > 1 && line.at[0] == '{' && line.at[line.length - 1] == '}' &&
           memmem(line.at, line.length, "\"output_length\"", 15) == NULL && /* a request of Mooncake */
           memmem(line.at, line.length, "\"collection_id\"", 15) == NULL;   /* an event of Borg */
}

static struct error jsonl_first_line(struct reader *reader, struct text line, bool *is_header)
{
    *is_header = freeze_is_header(line);
    return *is_header ? freeze_read_header(reader, line) : ERROR_OK;
}

static int column_index(const struct column *columns, int count, struct text key)
{
    for (int i = 0; i < count; i++)
        if (text_is(key, columns[i].name))
            return i;
    return -1;
}

static void fields_clear(struct field *fields)
{
    for (int i = 0; i < NATIVE_FIELD_COUNT; i++)
        fields[i] = (struct field){.name = native_columns[i].name};
}

static struct error ask_error(const struct line *line, const struct field *field, const char *complaint)
{
    return input_error(line->input, line->text, field->place, "'%s': %s", field->name, complaint);
}

/* Read the fields of one object of `groups`.  own: those that only groups have; claim: its text in the line, if it has
 * one. */
static struct error group_fields(struct reader *reader, const struct line *line, struct text object,
                                 struct field own[GROUP_OWN_COUNT], struct text *claim)
{
    struct jsonl_state *state = reader->state;
    struct text rest = object, key, value;
    if (object.at[0] != '{')
        return input_error(line->input, line->text, object, "a group must be an object");
    fields_clear(state->group);
    state->group_nodes = state->nodes;
    while (json_line_member(&rest, &key, &value)) {
        if (json_nodes_member(&state->group_nodes, key, value))
            continue;
        if (text_is(key, "claim") && !text_is(value, "null"))
            *claim = value;
        int index = column_index(group_columns, GROUP_OWN_COUNT, key);
        if (index >= 0 && index != GROUP_MIG) {
            own[index].name = group_columns[index].name;
            TRY(json_line_field(line, value, group_columns[index].kind, reader->arena, &own[index]));
            continue;
        }
        index = index == GROUP_MIG ? NATIVE_MIG : column_index(native_columns, NATIVE_FIELD_COUNT, key);
        if (index < NATIVE_GPUS || index > NATIVE_GPU_MODEL || index == NATIVE_NODES)
            continue;
        struct field *field = &state->group[index];
        TRY(json_line_field(line, value, native_columns[index].kind, reader->arena, field));
    }
    return ERROR_OK;
}

/* If there are sets, each group belongs to one, and the minimum is the set's. */
static struct error group_set(const struct line *line, const struct json_sets *sets, struct text object,
                              struct field own[GROUP_OWN_COUNT], uint16_t *set)
{
    struct field *field = &own[GROUP_SET];
    field->name = "set";
    if (field->place.at == NULL)
        field->place = object;
    if (sets->count == 0)
        return field_is_set(field) ? field_error(line, field, "left out where the job has no 'sets'") : ERROR_OK;
    int index = json_sets_find(sets, field->value);
    if (index < 0)
        return field_error(line, field, "the name of one of the job's sets");
    if (field_is_set(&own[GROUP_MIN_MEMBERS]))
        return ask_error(line, &own[GROUP_MIN_MEMBERS], "the group's set says it");
    *set = (uint16_t)index;
    return ERROR_OK;
}

/* Slices, and whether each member must be in one island. */
static struct error group_closeness(const struct reader *reader, const struct line *line, struct text object,
                                    const struct field own[GROUP_OWN_COUNT], struct job_group *group)
{
    int64_t members = 0;
    TRY(field_int(line, &own[GROUP_SLICE_MEMBERS], 1, group->count, &members));
    TRY(json_level_read(reader, line, &own[GROUP_SLICE_LEVEL], &group->slice_level));
    if (field_is_set(&own[GROUP_SLICE_MEMBERS]) != field_is_set(&own[GROUP_SLICE_LEVEL]))
        return input_error(line->input, line->text, object, "'slice_members' and 'slice_level' are given together");
    group->slice_members = group->slice_level != 0 ? (uint32_t)members : 0;
    TRY(field_bool(line, &own[GROUP_ONE_ISLAND], &group->request.one_island));
    return ERROR_OK;
}

/* A group of claims.  A claim says itself which GPUs must be close to each other. */
static struct error group_of_claims(const struct reader *reader, const struct line *line, struct text claim,
                                    const struct field own[GROUP_OWN_COUNT], int64_t count, int64_t min_members,
                                    struct job_group *group)
{
    const struct jsonl_state *state = reader->state;
    for (int i = GROUP_SLICE_MEMBERS; i <= GROUP_ONE_ISLAND; i++)
        if (field_is_set(&own[i]))
            return ask_error(line, &own[i], "it excludes 'claim', which says it");
    if (field_is_set(&own[GROUP_SUCCEEDED]))
        return ask_error(line, &own[GROUP_SUCCEEDED], "the members of a claim are not counted");
    return json_claim_group(reader, line, claim, state->group, count, min_members, group);
}

static struct error group_read(struct reader *reader, const struct line *line, struct text object,
                               struct job_group *group, uint32_t *succeeded)
{
    struct jsonl_state *state = reader->state;
    int64_t done = 0;
    struct field own[GROUP_OWN_COUNT] = {{0}};
    struct ask ask;
    int64_t count = 1, min_members = 0;
    enum ask_field culprit;
    uint16_t set = 0;
    struct text claim = {0};
    TRY(group_fields(reader, line, object, own, &claim));
    TRY(group_set(line, &state->sets, object, own, &set));
    TRY(field_int(line, &own[GROUP_COUNT], 1, ASK_GPUS_MAX, &count));
    TRY(field_int(line, &own[GROUP_MIN_MEMBERS], 1, count, &min_members));
    TRY(field_int(line, &own[GROUP_SUCCEEDED], 0, count, &done));
    *succeeded = (uint32_t)done;
    if (!field_is_set(&state->group[NATIVE_GPU_MODEL]))
        state->group[NATIVE_GPU_MODEL] = state->fields[NATIVE_GPU_MODEL];
    if (field_is_set(&state->group[NATIVE_GPU_CLASS]))
        reason_tally_add(&reader->unread, READER_LOSES_CLASS);
    if (claim.at != NULL) {
        reason_tally_add(&reader->unread, READER_LOSES_CLAIM);
        TRY(group_of_claims(reader, line, claim, own, count, min_members, group));
        group->set = set;
        return json_nodes_read(reader, line, &state->group_nodes, &group->request.nodes);
    }
    TRY(native_row_ask(reader, line, state->group, &ask));
    TRY(json_nodes_read(reader, line, &state->group_nodes, &ask.node_ask));
    const char *complaint = ask_group(&ask, (uint32_t)count, (uint32_t)min_members, group, &culprit);
    group->set = set;
    if (complaint == NULL)
        return group_closeness(reader, line, object, own, group);
    struct field field = *native_row_culprit(state->group, culprit);
    if (!field_is_set(&field))
        field.place = object;
    return ask_error(line, &field, complaint);
}

/* With `groups`, `gpus` must be their sum; other amounts are refused. */
static struct error groups_check(const struct reader *reader, const struct line *line, const struct job *job)
{
    const struct jsonl_state *state = reader->state;
    const struct field *fields = state->fields;
    int64_t sum = 0, gpus = 0;
    for (int i = NATIVE_NODES; i <= NATIVE_MIN_MEMBERS; i++)
        if (field_is_set(&fields[i]))
            return ask_error(line, &fields[i], "it excludes 'groups', which say it each");
    for (uint32_t i = 0; i < job->group_count; i++)
        sum += (int64_t)job_group(job, i)->count * job_group(job, i)->request.gpus;
    if (!field_is_set(&fields[NATIVE_GPUS]))
        return ERROR_OK;
    TRY(field_int(line, &fields[NATIVE_GPUS], 0, INT32_MAX, &gpus));
    if (gpus != sum)
        return ask_error(line, &fields[NATIVE_GPUS], "it is not the sum over 'groups'");
    return ERROR_OK;
}

static struct error groups_read(struct reader *reader, const struct line *line, struct text array, struct job *job)
{
    struct jsonl_state *state = reader->state;
    struct text rest = array, key, value;
    uint16_t count = 0;
    if (array.at[0] != '[')
        return input_error(line->input, line->text, array, "'groups' must be an array");
    while (json_line_member(&rest, &key, &value)) {
        if (count == JOB_GROUPS_MAX)
            return input_error(line->input, line->text, value, "a job has at most %d groups", JOB_GROUPS_MAX);
        TRY(group_read(reader, line, value, &state->groups[count], &state->succeeded[count]));
        count++;
    }
    if (count == 0)
        return input_error(line->input, line->text, array, "'groups' must hold at least one");
    job->group_count = count;
    job->first = state->groups[0];
    if (count > 1) {
        struct job_group *more = arena_alloc_array(reader->arena, count - 1u, struct job_group);
        memcpy(more, &state->groups[1], (count - 1u) * sizeof *more);
        job->more = more;
    }
    return groups_check(reader, line, job);
}

static struct error required_check(const struct line *line, const struct field *fields, bool has_members)
{
    for (int i = 0; i < NATIVE_FIELD_COUNT; i++) {
        bool is_needed = native_columns[i].is_required && !(i == NATIVE_GPUS && has_members);
        if (is_needed && !field_is_set(&fields[i]))
            return input_error(line->input, line->text, fields[i].place, "'%s' is missing", native_columns[i].name);
    }
    return ERROR_OK;
}

/* Members that have succeeded are left out. */
static struct error succeeded_leave(const struct reader *reader, const struct line *line, struct text array,
                                    struct job *job)
{
    const struct jsonl_state *state = reader->state;
    uint16_t ignored[JOB_GROUPS_MAX];
    uint64_t left = 0, succeeded = 0;
    for (uint32_t g = 0; g < job->group_count; g++) {
        succeeded += state->succeeded[g];
        left += job_group(job, g)->count - state->succeeded[g];
    }
    if (left == 0)
        return input_error(line->input, line->text, array, "all members have succeeded");
    if (succeeded > 0) /* the job's groups and sets were made from this line, so they may be written */
        job_leave_out(job, (struct job_group *)(uintptr_t)job->more, (struct job_set *)(uintptr_t)job->sets,
                      state->succeeded, ignored);
    return ERROR_OK;
}

/* Members that are objects or arrays, as in the line; `at` NULL: absent. */
struct nested {
    struct text groups, sets, topology, claim;
    struct tag_texts tags;
    bool has_communication;
};

static struct error members_split(struct reader *reader, const struct line *line, struct nested *nested)
{
    struct jsonl_state *state = reader->state;
    struct text rest = line->text, key, value;
    while (json_line_member(&rest, &key, &value)) {
        int index = column_index(native_columns, NATIVE_FIELD_COUNT, key);
        if (json_nodes_member(&state->nodes, key, value))
            continue;
        if (json_communication_key(key))
            nested->has_communication |= !text_is(value, "null");
        else if (index >= 0)
            TRY(json_line_field(line, value, native_columns[index].kind, reader->arena, &state->fields[index]));
        else if (text_is(value, "null"))
            continue;
        else if (text_is(key, "groups"))
            nested->groups = value;
        else if (text_is(key, "sets"))
            nested->sets = value;
        else if (text_is(key, state->min_sets.name))
            TRY(json_line_field(line, value, FIELD_NUMBER, reader->arena, &state->min_sets));
        else if (text_is(key, "topology"))
            nested->topology = value;
        else if (text_is(key, "claim"))
            nested->claim = value;
        else
            json_tags_note(&nested->tags, key, value);
    }
    return ERROR_OK;
}

/* A job without groups. */
static struct error row_shape(struct reader *reader, const struct line *line, struct trace_row *row)
{
    struct jsonl_state *state = reader->state;
    const struct node_ask *nodes;
    TRY(native_row_shape(reader, line, state->fields, row));
    TRY(json_nodes_read(reader, line, &state->nodes, &nodes));
    row->job.first.request.nodes = nodes;
    return ERROR_OK;
}

/* How many sets in no other, or groups, the job needs. */
static struct error min_sets_read(const struct line *line, const struct jsonl_state *state, bool has_groups,
                                  struct job *job)
{
    const struct json_sets *sets = &state->sets;
    const uint32_t most = sets->count > 0 ? sets_in(sets->sets, sets->count, SET_NONE) : job->group_count;
    int64_t min_sets = 0;
    if (field_is_set(&state->min_sets) && !has_groups)
        return ask_error(line, &state->min_sets, "it is of 'groups', or their 'sets'");
    TRY(field_int(line, &state->min_sets, 1, most, &min_sets));
    job->min_sets = (uint16_t)min_sets;
    return ERROR_OK;
}

/* A job that consists of one claim. */
static struct error claim_job(struct reader *reader, const struct line *line, const struct nested *nested,
                              struct job *job)
{
    struct jsonl_state *state = reader->state;
    const struct field *minimum = &state->fields[NATIVE_MIN_MEMBERS];
    if (nested->groups.at != NULL)
        return input_error(line->input, line->text, nested->claim, "'claim' beside 'groups' stands in the groups");
    if (field_is_set(minimum))
        return ask_error(line, minimum, "the GPUs of a claim come together");
    TRY(json_claim_group(reader, line, nested->claim, state->fields, 1, 0, &job->first));
    return json_nodes_read(reader, line, &state->nodes, &job->first.request.nodes);
}

static struct error jsonl_line(struct reader *reader, struct text text, struct trace_row *row)
{
    struct jsonl_state *state = reader->state;
    struct line line = {reader->input, text};
    struct nested nested = {0};
    TRY(json_line_check(&line));
    fields_clear(state->fields);
    reader->has_ties = true;
    state->sets.count = 0;
    state->min_sets = (struct field){.name = "min_sets"};
    state->nodes = (struct json_nodes){0};
    TRY(members_split(reader, &line, &nested));
    TRY(required_check(&line, state->fields, nested.groups.at != NULL || nested.claim.at != NULL));
    if (nested.sets.at != NULL && nested.groups.at == NULL)
        return input_error(line.input, text, nested.sets, "'sets' are of 'groups'");
    if (nested.sets.at != NULL)
        TRY(json_sets_read(reader, &line, nested.sets, &state->sets));
    if (nested.claim.at != NULL)
        reason_tally_add(&reader->unread, READER_LOSES_CLAIM);
    if (nested.claim.at != NULL)
        TRY(claim_job(reader, &line, &nested, &row->job));
    else if (nested.groups.at != NULL)
        TRY(groups_read(reader, &line, nested.groups, &row->job));
    else
        TRY(row_shape(reader, &line, row));
    TRY(min_sets_read(&line, state, nested.groups.at != NULL, &row->job));
    TRY(json_sets_finish(reader, &line, nested.sets, &state->sets, &row->job));
    if (nested.groups.at != NULL)
        TRY(succeeded_leave(reader, &line, nested.groups, &row->job));
    const char *complaint = job_closeness_complaint(&row->job);
    if (complaint != NULL)
        return input_error(line.input, text, nested.groups, "%s", complaint);
    if (nested.topology.at != NULL)
        TRY(json_topology_read(reader, &line, nested.topology, &row->job.topology));
    TRY(json_tags_read(reader, &line, &nested.tags, &row->job));
    if (nested.has_communication)
        TRY(json_communication_read(reader, &line, &row->job));
    return native_row_facts(reader, &line, state->fields, row);
}

const struct trace_format trace_jsonl = {
    .name = "jsonl",
    .summary = "a JSON object per line with the native names, or with groups of members",
    .version = TRACE_FORMAT_VERSION,
    .state_bytes = sizeof(struct jsonl_state),
    .is_mine = jsonl_is_mine,
    .on_first_line = jsonl_first_line,
    .on_line = jsonl_line,
};
