/* workloads/readers/read_jsonl.c -- JSON lines: an object per job with the native names, or with `groups`.
 *
 * Numbers and texts are cut from the line itself, for a tree turns decimals into doubles.  Objects and arrays are read
 * from the tree, by the readers that the scheduler's lines and cases have (workloads/job_json.h). */
#include <string.h>

#include "workloads/job_json.h"
#include "workloads/readers/freeze.h"
#include "workloads/readers/json_claim.h"
#include "workloads/readers/json_communication.h"
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

/* Members that are read from the tree. */
enum nested { NESTED_GROUPS, NESTED_SETS, NESTED_CLAIM, NESTED_TOPOLOGY, NESTED_TAGS, NESTED_NODES, NESTED_EXCHANGED };

static const struct {
    const char *key;
    enum nested nested;
} nested_keys[] = {
    {"groups", NESTED_GROUPS},      {"sets", NESTED_SETS},           {"claim", NESTED_CLAIM},
    {"topology", NESTED_TOPOLOGY},  {"tags", NESTED_TAGS},           {"affinity", NESTED_TAGS},
    {"anti_affinity", NESTED_TAGS}, {"node_selector", NESTED_NODES}, {"node_affinity", NESTED_NODES},
    {"tolerations", NESTED_NODES},  {"plan", NESTED_EXCHANGED},      {"sensitivity", NESTED_EXCHANGED},
};

struct jsonl_state {
    struct field fields[NATIVE_FIELD_COUNT];
    struct field group[NATIVE_FIELD_COUNT]; /* of the group being read */
    struct job_group groups[JOB_GROUPS_MAX];
    uint32_t succeeded[JOB_GROUPS_MAX]; /* by group: succeeded members */
    struct job_set sets[JOB_SETS_MAX];
    int64_t minimum[JOB_SETS_MAX]; /* by set; SET_MINIMUM_ALL: all members that its groups have */
    uint16_t set_count;
    struct field min_sets;
    struct text groups_text; /* in the line */
    uint32_t nested;         /* bits of enum nested: what the line has */
    struct error error;      /* of values of the tree */
    json_t *tree;            /* of the line; NULL: `doc` has it */
    struct json_doc *doc;    /* NULL: nothing was read from the tree */
    struct json_value root, group_array;
    struct json_object object; /* the line; see object_of */
    struct node_ask nodes;     /* of the job */
};

enum { SET_MINIMUM_ALL = -1 };

static bool has(const struct jsonl_state *state, enum nested nested)
{
    return (state->nested >> nested & 1) != 0;
}

/* The line as an object.  It is never closed: unknown names are ignored. */
static struct json_object *object_of(struct jsonl_state *state, const struct line *line)
{
    if (state->doc != NULL)
        return &state->object;
    state->doc = json_doc_of(input_path(line->input), line->text, state->tree, ERROR_DATA);
    state->tree = NULL;
    state->root = json_doc_root(state->doc, &state->error);
    json_object_open(&state->object, &state->root);
    return &state->object;
}

/* The bit of the member, if it is read from the tree. */
static uint32_t nested_bit(struct text key)
{
    for (size_t i = 0; i < sizeof nested_keys / sizeof nested_keys[0]; i++)
        if (text_is(key, nested_keys[i].key))
            return UINT32_C(1) << nested_keys[i].nested;
    return 0;
}

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

/* The fields of a group.  own: those that only groups have; nested: what it has that is read from the tree. */
static struct error group_fields(struct reader *reader, const struct line *line, struct text object,
                                 struct field own[GROUP_OWN_COUNT], uint32_t *nested)
{
    struct jsonl_state *state = reader->state;
    struct text rest = object, key, value;
    if (object.at[0] != '{')
        return input_error(line->input, line->text, object, "a group must be an object");
    fields_clear(state->group);
    while (json_line_member(&rest, &key, &value)) {
        int index = column_index(group_columns, GROUP_OWN_COUNT, key);
        if (index >= 0 && index != GROUP_MIG) {
            own[index].name = group_columns[index].name;
            TRY(json_line_field(line, value, group_columns[index].kind, reader->arena, &own[index]));
            continue;
        }
        index = index == GROUP_MIG ? NATIVE_MIG : column_index(native_columns, NATIVE_FIELD_COUNT, key);
        if (index < NATIVE_GPUS || index > NATIVE_GPU_MODEL || index == NATIVE_NODES) {
            *nested |= text_is(value, "null") ? 0 : nested_bit(key);
            continue;
        }
        struct field *field = &state->group[index];
        TRY(json_line_field(line, value, native_columns[index].kind, reader->arena, field));
    }
    return ERROR_OK;
}

static int set_of(const struct jsonl_state *state, struct text name)
{
    for (int s = 0; s < state->set_count; s++)
        if (text_is(name, state->sets[s].name))
            return s;
    return -1;
}

/* If there are sets, each group belongs to one, and the minimum is the set's. */
static struct error group_set(const struct line *line, const struct jsonl_state *state, struct text object,
                              struct field own[GROUP_OWN_COUNT], uint16_t *set)
{
    struct field *field = &own[GROUP_SET];
    field->name = "set";
    if (field->place.at == NULL)
        field->place = object;
    if (state->set_count == 0)
        return field_is_set(field) ? field_error(line, field, "left out where the job has no 'sets'") : ERROR_OK;
    int index = set_of(state, field->value);
    if (index < 0)
        return field_error(line, field, "the name of one of the job's sets");
    if (field_is_set(&own[GROUP_MIN_MEMBERS]))
        return ask_error(line, &own[GROUP_MIN_MEMBERS], "the group's set says it");
    *set = (uint16_t)index;
    return ERROR_OK;
}

/* The level that a field names; without a cluster it is not known. */
static struct error level_read(const struct reader *reader, const struct line *line, const struct field *field,
                               uint8_t *level)
{
    if (!field_is_set(field) || reader->cluster == NULL)
        return ERROR_OK;
    *level = cluster_level_of(reader->cluster, field->value);
    return *level != 0 ? ERROR_OK : field_error(line, field, "a level of the cluster");
}

/* Slices, and whether each member must be in one island. */
static struct error group_closeness(const struct reader *reader, const struct line *line, struct text object,
                                    const struct field own[GROUP_OWN_COUNT], struct job_group *group)
{
    int64_t members = 0;
    TRY(field_int(line, &own[GROUP_SLICE_MEMBERS], 1, group->count, &members));
    TRY(level_read(reader, line, &own[GROUP_SLICE_LEVEL], &group->slice_level));
    if (field_is_set(&own[GROUP_SLICE_MEMBERS]) != field_is_set(&own[GROUP_SLICE_LEVEL]))
        return input_error(line->input, line->text, object, "'slice_members' and 'slice_level' are given together");
    group->slice_members = group->slice_level != 0 ? (uint32_t)members : 0;
    TRY(field_bool(line, &own[GROUP_ONE_ISLAND], &group->request.one_island));
    return ERROR_OK;
}

/* A group of claims.  A claim says itself which GPUs must be close to each other. */
static struct error group_of_claims(const struct reader *reader, const struct line *line,
                                    const struct json_value *claim, const struct field own[GROUP_OWN_COUNT],
                                    int64_t count, int64_t min_members, struct job_group *group)
{
    const struct jsonl_state *state = reader->state;
    for (int i = GROUP_SLICE_MEMBERS; i <= GROUP_ONE_ISLAND; i++)
        if (field_is_set(&own[i]))
            return ask_error(line, &own[i], "it excludes 'claim', which says it");
    if (field_is_set(&own[GROUP_SUCCEEDED]))
        return ask_error(line, &own[GROUP_SUCCEEDED], "the members of a claim are not counted");
    return json_claim_group(reader, line, claim, state->group, count, min_members, group);
}

/* The constraints on nodes of a group: each of the three members that it has stands in place of the job's. */
static const struct node_ask *group_nodes(const struct reader *reader, struct json_object *object)
{
    const struct jsonl_state *state = reader->state;
    struct node_ask draft = node_ask_read(object, reader->arena);
    if (!json_has(object, "node_selector"))
        draft.selector = state->nodes.selector;
    if (!json_has(object, "tolerations")) {
        draft.tolerations = state->nodes.tolerations;
        draft.toleration_count = state->nodes.toleration_count;
    }
    if (!json_has(object, "node_affinity")) {
        draft.terms = state->nodes.terms;
        draft.term_count = state->nodes.term_count;
    }
    return error_is(state->error) ? NULL : reader_nodes(reader, &draft);
}

static struct error group_read(struct reader *reader, const struct line *line, struct text object, size_t index,
                               struct job_group *group, uint32_t *succeeded)
{
    struct jsonl_state *state = reader->state;
    struct field own[GROUP_OWN_COUNT] = {{0}};
    struct ask ask;
    struct json_value item, claim;
    struct json_object nested;
    int64_t done = 0, count = 1, min_members = 0;
    enum ask_field culprit;
    uint32_t bits = 0;
    uint16_t set = 0;
    TRY(group_fields(reader, line, object, own, &bits));
    TRY(group_set(line, state, object, own, &set));
    TRY(field_int(line, &own[GROUP_COUNT], 1, ASK_GPUS_MAX, &count));
    TRY(field_int(line, &own[GROUP_MIN_MEMBERS], 1, count, &min_members));
    TRY(field_int(line, &own[GROUP_SUCCEEDED], 0, count, &done));
    *succeeded = (uint32_t)done;
    if (!field_is_set(&state->group[NATIVE_GPU_MODEL]))
        state->group[NATIVE_GPU_MODEL] = state->fields[NATIVE_GPU_MODEL];
    if (field_is_set(&state->group[NATIVE_GPU_CLASS]))
        reason_tally_add(&reader->unread, READER_LOSES_CLASS);
    const struct node_ask *nodes = NULL;
    if (bits != 0) {
        state->group_array = json_member(object_of(state, line), "groups");
        item = json_array_item(&state->group_array, index);
        json_object_open(&nested, &item);
    }
    if ((bits >> NESTED_NODES & 1) != 0)
        nodes = group_nodes(reader, &nested);
    else if (has(state, NESTED_NODES))
        nodes = reader_nodes(reader, &state->nodes);
    if ((bits >> NESTED_CLAIM & 1) != 0) {
        claim = json_member(&nested, "claim");
        reason_tally_add(&reader->unread, READER_LOSES_CLAIM);
        TRY(group_of_claims(reader, line, &claim, own, count, min_members, group));
        group->set = set;
        group->request.nodes = nodes;
        return ERROR_OK;
    }
    TRY(native_row_ask(reader, line, state->group, &ask));
    ask.node_ask = nodes;
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
        TRY(group_read(reader, line, value, count, &state->groups[count], &state->succeeded[count]));
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

static struct error members_split(struct reader *reader, const struct line *line)
{
    struct jsonl_state *state = reader->state;
    struct text rest = line->text, key, value;
    while (json_line_member(&rest, &key, &value)) {
        const int index = column_index(native_columns, NATIVE_FIELD_COUNT, key);
        const bool is_plain =
            index >= 0 && index != NATIVE_NODE_SELECTOR && index != NATIVE_TOLERATIONS && index != NATIVE_SENSITIVITY;
        if (is_plain)
            TRY(json_line_field(line, value, native_columns[index].kind, reader->arena, &state->fields[index]));
        else if (text_is(value, "null"))
            continue;
        else if (text_is(key, state->min_sets.name))
            TRY(json_line_field(line, value, FIELD_NUMBER, reader->arena, &state->min_sets));
        else
            state->nested |= nested_bit(key);
        if (!is_plain && text_is(key, "groups"))
            state->groups_text = value;
    }
    return ERROR_OK;
}

/* How many sets in no other, or groups, the job needs. */
static struct error min_sets_read(const struct line *line, const struct jsonl_state *state, struct job *job)
{
    const uint32_t most = state->set_count > 0 ? sets_in(state->sets, state->set_count, SET_NONE) : job->group_count;
    int64_t min_sets = 0;
    if (field_is_set(&state->min_sets) && !has(state, NESTED_GROUPS))
        return ask_error(line, &state->min_sets, "it is of 'groups', or their 'sets'");
    TRY(field_int(line, &state->min_sets, 1, most, &min_sets));
    job->min_sets = (uint16_t)min_sets;
    return ERROR_OK;
}

/* ---- sets ---- */

static void set_read(const struct reader *reader, const struct json_value *value)
{
    struct jsonl_state *state = reader->state;
    struct json_object object;
    json_object_open(&object, value);
    json_need(&object, "name");
    const struct json_value name = json_member(&object, "name"), parent = json_member(&object, "parent");
    struct job_set *set = &state->sets[state->set_count];
    *set = (struct job_set){.parent = SET_NONE,
                            .name = arena_copy(reader->arena, text_of(json_get_string(&object, "name", ""))),
                            .min_sets = (uint16_t)json_get_int(&object, "min_sets", 1, JOB_SETS_MAX, 0),
                            .topology = job_topology_get(reader->cluster, &object)};
    state->minimum[state->set_count] = json_get_int(&object, "min_members", 0, UINT32_MAX, SET_MINIMUM_ALL);
    if (set->name[0] == '\0')
        json_fail(&name, "a set needs a name");
    if (set_of(state, text_of(set->name)) >= 0)
        json_fail(&name, "'name' must be a name that no set before it has");
    if (parent.node == NULL)
        return;
    const int index = set_of(state, text_of(json_value_string(&parent)));
    if (index < 0)
        json_fail(&parent, "'parent' must be the name of a set before it");
    else
        set->parent = (uint16_t)index;
}

static void sets_read(const struct reader *reader, const struct json_value *array)
{
    struct jsonl_state *state = reader->state;
    const size_t count = json_array_count(array);
    if (!has(state, NESTED_GROUPS))
        json_fail(array, "'sets' are of 'groups'");
    if (count > JOB_SETS_MAX)
        json_fail(array, "a job has at most %d sets", JOB_SETS_MAX);
    for (; state->set_count < count && !error_is(state->error); state->set_count++) {
        const struct json_value item = json_array_item(array, state->set_count);
        set_read(reader, &item);
    }
}

/* Give the sets to the job, whose groups and min_sets are read already. */
static void sets_finish(const struct reader *reader, const struct json_value *array, struct job *job)
{
    const struct jsonl_state *state = reader->state;
    uint64_t members[JOB_SETS_MAX] = {0};
    bool satisfied[JOB_SETS_MAX];
    const uint16_t count = state->set_count;
    if (count == 0)
        return;
    for (uint32_t g = 0; g < job->group_count; g++)
        members[job_group(job, g)->set] += job_group(job, g)->count;
    struct job_set *own = arena_alloc_array(reader->arena, count, struct job_set);
    memcpy(own, state->sets, count * sizeof *own);
    for (uint16_t s = 0; s < count; s++) {
        const uint64_t minimum = state->minimum[s] == SET_MINIMUM_ALL ? members[s] : (uint64_t)state->minimum[s];
        const uint32_t within = sets_in(own, count, s);
        if (minimum > members[s])
            json_fail(array, "set '%s' needs more members than its groups have", own[s].name);
        if (own[s].min_sets > within)
            json_fail(array, "set '%s' needs %u of the sets in it, and has %u", own[s].name, own[s].min_sets, within);
        own[s].min_members = (uint32_t)minimum;
        satisfied[s] = minimum == 0;
    }
    if (!error_is(state->error) && sets_settle(own, count, job->min_sets, satisfied))
        json_fail(array, "some set must need at least one member");
    job->sets = own;
    job->set_count = count;
}

/* ---- the job ---- */

/* A job that consists of one claim. */
static struct error claim_job(struct reader *reader, const struct line *line, struct job *job)
{
    struct jsonl_state *state = reader->state;
    const struct field *minimum = &state->fields[NATIVE_MIN_MEMBERS];
    const struct json_value claim = json_member(object_of(state, line), "claim");
    reason_tally_add(&reader->unread, READER_LOSES_CLAIM);
    if (has(state, NESTED_GROUPS))
        json_fail(&claim, "'claim' beside 'groups' stands in the groups");
    if (field_is_set(minimum))
        return ask_error(line, minimum, "the GPUs of a claim come together");
    return json_claim_group(reader, line, &claim, state->fields, 1, 0, &job->first);
}

/* What members the job has: groups, a claim, or those of a row. */
static struct error shape_read(struct reader *reader, const struct line *line, struct trace_row *row)
{
    struct jsonl_state *state = reader->state;
    struct job *job = &row->job;
    if (has(state, NESTED_NODES))
        state->nodes = node_ask_read(object_of(state, line), reader->arena);
    if (error_is(state->error))
        return ERROR_OK;
    if (has(state, NESTED_GROUPS) && !has(state, NESTED_CLAIM))
        return groups_read(reader, line, state->groups_text, job);
    if (has(state, NESTED_CLAIM))
        TRY(claim_job(reader, line, job));
    else
        TRY(native_row_shape(reader, line, state->fields, row));
    job->first.request.nodes = has(state, NESTED_NODES) ? reader_nodes(reader, &state->nodes) : NULL;
    return ERROR_OK;
}

static struct error job_read(struct reader *reader, const struct line *line, struct trace_row *row)
{
    struct jsonl_state *state = reader->state;
    struct job *job = &row->job;
    const struct job_words words = {reader->cluster, reader->tags, reader->arena};
    struct json_value sets = {.node = NULL};
    TRY(required_check(line, state->fields, has(state, NESTED_GROUPS) || has(state, NESTED_CLAIM)));
    if (has(state, NESTED_SETS)) {
        sets = json_member(object_of(state, line), "sets");
        sets_read(reader, &sets);
    }
    TRY(shape_read(reader, line, row));
    TRY(min_sets_read(line, state, job));
    if (error_is(state->error))
        return ERROR_OK;
    sets_finish(reader, &sets, job);
    if (has(state, NESTED_GROUPS))
        TRY(succeeded_leave(reader, line, state->groups_text, job));
    const char *complaint = job_closeness_complaint(job);
    if (complaint != NULL)
        return input_error(line->input, line->text, state->groups_text, "%s", complaint);
    if (has(state, NESTED_TOPOLOGY))
        job->topology = job_topology_get(reader->cluster, object_of(state, line));
    if (has(state, NESTED_TAGS))
        job->tags = job_tags_get(&words, object_of(state, line));
    if (has(state, NESTED_EXCHANGED))
        json_communication_read(reader, line, object_of(state, line), job);
    return error_is(state->error) ? ERROR_OK : native_row_facts(reader, line, state->fields, row);
}

static struct error jsonl_line(struct reader *reader, const struct line *line, struct trace_row *row)
{
    struct jsonl_state *state = reader->state;
    TRY(json_line_parse(line, &state->tree));
    fields_clear(state->fields);
    reader->has_ties = true;
    state->set_count = 0;
    state->nested = 0;
    state->min_sets = (struct field){.name = "min_sets"};
    state->nodes = (struct node_ask){.term_count = 0};
    state->error = ERROR_OK;
    struct error error = members_split(reader, line);
    if (!error_is(error))
        error = job_read(reader, line, row);
    if (error_is(error)) {
        error_release(&state->error);
    } else if (error_is(state->error)) {
        error = state->error;
        error_move_down(&error, input_line_number(line->input) - 1);
    }
    json_doc_free(state->doc);
    json_decref(state->tree);
    state->doc = NULL;
    return error;
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
