/* policies/wire/wire_job.c -- jobs and pieces as JSON: fields that use names of the cluster and the queues. */
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "policies/wire/wire_fields.h"
#include "workloads/job_json.h"
#include "workloads/job_text.h"

static const char *const after_names[] = {"any", "ok", "not_ok", NULL}; /* enum after_kind */

static const struct wire_field id_fields[] = {
    WIRE_INT(struct job, id, "id", 0, JOB_NONE - 1, WIRE_NEEDED),
    {0},
};

/* Times are in nanoseconds. */
#define WIRE_ROW_INT(key)      key, WIRE_FORM_INT
#define WIRE_ROW_MILLI(key)    key, WIRE_FORM_MILLI
#define WIRE_ROW_BOOL(key)     key, WIRE_FORM_BOOL
#define WIRE_ROW_NAME(key)     key, WIRE_FORM_NAME
#define WIRE_ROW_TIME(key)     key "_ns", WIRE_FORM_INT
#define WIRE_ROW_PATIENCE(key) key "_ns", WIRE_FORM_INT
#define WIRE_ROW(ID, KEY, FORM, PLACE, LOW, HIGH, USUAL, NAMES, ...)                                                   \
    WIRE_FORMED(struct job, PLACE, WIRE_ROW_##FORM(KEY), LOW, HIGH, USUAL, NAMES),
#define WIRE_FORMED(...) WIRE_FIELD(__VA_ARGS__)

static const struct wire_field job_fields[] = {JOB_TEXT(WIRE_ROW, WIRE_ROW, JOB_TEXT_NONE, JOB_TEXT_NONE){0}};

static const struct wire_field group_fields[] = {
    WIRE_INT(struct job_group, count, "count", 1, UINT32_MAX, 1),
    WIRE_INT(struct job_group, request.gpus, "gpus", 0, UINT16_MAX, 0),
    WIRE_FIELD(struct job_group, request.gpu_milli, "gpu_fraction", WIRE_FORM_MILLI, 0, GPU_MILLI, 0, NULL),
    WIRE_FIELD(struct job_group, request.gpu_memory_mib, "gpu_memory_gb", WIRE_FORM_MIB, 0, UINT32_MAX, 0, NULL),
    WIRE_FIELD(struct job_group, request.cpu_milli, "cpus", WIRE_FORM_MILLI, 0, UINT32_MAX, 0, NULL),
    WIRE_FIELD(struct job_group, request.memory_mib, "memory_gb", WIRE_FORM_MIB, 0, UINT32_MAX, 0, NULL),
    WIRE_INT(struct job_group, set, "set", 0, JOB_SETS_MAX - 1, 0),
    WIRE_INT(struct job_group, slice_members, "slice_members", 0, UINT32_MAX, 0),
    WIRE_BOOL(struct job_group, request.one_island, "one_island", false),
    {0},
};

static const struct wire_field set_fields[] = {
    WIRE_INT(struct job_set, parent, "parent", 0, SET_NONE, SET_NONE),
    WIRE_INT(struct job_set, min_members, "min_members", 0, UINT32_MAX, WIRE_NEEDED),
    WIRE_INT(struct job_set, min_sets, "min_sets", 1, JOB_SETS_MAX, 0),
    {0},
};

static const struct wire_field after_fields[] = {
    WIRE_INT(struct job_after, job, "job", 0, JOB_NONE - 1, WIRE_NEEDED),
    WIRE_NAME(struct job_after, kind, "kind", after_names, AFTER_ANY),
    {0},
};

static const struct wire_field object_fields[] = {
    WIRE_INT(struct job_object, id, "id", 0, JOB_OBJECT_ID_MAX, WIRE_NEEDED),
    WIRE_INT(struct job_object, bytes, "bytes", 1, INT64_MAX / JOB_OBJECTS_MAX, WIRE_NEEDED),
    {0},
};

static const struct wire_field piece_fields[] = {
    WIRE_INT(struct piece, gpu_milli, "milli", 0, GPU_MILLI, GPU_MILLI),
    WIRE_INT(struct piece, member_count, "members", 1, UINT16_MAX, 1),
    WIRE_INT(struct piece, group, "group", 0, JOB_GROUPS_MAX - 1, 0),
    {0},
};

static const char *const share_names[] = {"plain", "mps", "timeslice", NULL}; /* enum share_kind */

static bool has_failed(const struct json_object *object)
{
    return error_is(*object->value.error);
}

/* ---- requests of members ---- */

/* Profiles are named as on the cluster's first model with MIG. */
static const struct mig_profile *profiles_of(const struct cluster *cluster)
{
    for (uint32_t m = 0; m < cluster->model_count; m++)
        if (cluster->models[m].mig != MIG_NONE)
            return mig_profiles(cluster->models[m].mig);
    return mig_profiles(MIG_H100_80);
}

static void put_group(struct buffer *out, const struct cluster *cluster, const struct job_group *group)
{
    const struct request *request = &group->request;
    buffer_char(out, '{');
    wire_put_fields(out, group_fields, group);
    if (group->min_count != group->count)
        wire_put_int(out, "min_members", group->min_count);
    if (request->mig != 0)
        wire_put_text(out, "mig", profiles_of(cluster)[request->mig - 1].name);
    job_models_put(out, cluster, request->gpu_models);
    if (group->slice_level != 0)
        wire_put_text(out, "slice_level", cluster->levels[group->slice_level - 1].name);
    job_nodes_put(out, request->nodes);
    buffer_char(out, '}');
}

static uint8_t get_mig(const struct wire *wire, struct json_object *object)
{
    const struct mig_profile *profiles = profiles_of(wire->cluster);
    const char *names[MIG_PROFILE_COUNT + 1] = {NULL};
    for (int p = 0; p < MIG_PROFILE_COUNT; p++)
        names[p] = profiles[p].name;
    return (uint8_t)(json_get_choice(object, "mig", names, -1) + 1);
}

static uint64_t get_models(const struct wire *wire, struct json_object *object)
{
    uint64_t mask = 0;
    struct text rest = text_of(json_get_string(object, "gpu_model", NULL)), name;
    if (rest.length == 0)
        return 0;
    while (text_cut(&rest, '|', &name))
        mask |= UINT64_C(1) << cluster_model_of(wire->cluster, name);
    return mask;
}

/* succeeded: set to the number of members that count for the minimum but hold nothing; NULL: the key is not allowed. */
static void get_group(struct wire *wire, const struct json_value *value, struct job_group *group, uint32_t *succeeded)
{
    struct json_object object;
    json_object_open(&object, value);
    wire_get_fields(&object, group_fields, group);
    if (succeeded != NULL)
        *succeeded = (uint32_t)json_get_int(&object, "succeeded", 0, group->count - 1, 0);
    group->min_count = (uint32_t)json_get_int(&object, "min_members", 0, UINT32_MAX, group->count);
    group->request.mig = get_mig(wire, &object);
    group->request.gpu_models = get_models(wire, &object);
    group->slice_level = job_level_get(wire->cluster, &object, "slice_level");
    const struct node_ask draft = node_ask_read(&object, &wire->arena);
    json_object_close(&object);
    if (!has_failed(&object))
        group->request.nodes = node_ask_make(&wire->arena, wire->cluster, &draft);
}

/* ---- lists of a job ---- */

static void get_groups(struct wire *wire, struct json_object *object, struct job *job,
                       uint32_t succeeded[JOB_GROUPS_MAX])
{
    struct json_value array;
    json_need(object, "groups");
    size_t count = json_array_at(&array, object, "groups", JOB_GROUPS_MAX);
    if (count == 0) {
        json_fail(&array, "'groups' must hold at least one");
        return;
    }
    struct job_group *more = arena_alloc_array(&wire->arena, count, struct job_group);
    for (size_t g = 0; g < count; g++) {
        struct json_value item = json_array_item(&array, g);
        get_group(wire, &item, g == 0 ? &job->first : &more[g - 1], &succeeded[g]);
    }
    job->group_count = (uint16_t)count;
    job->more = count > 1 ? more : NULL;
}

void wire_write_kinds(struct buffer *out, const struct cluster *cluster, const struct job_group *kinds, uint32_t count)
{
    buffer_char(out, '[');
    for (uint32_t k = 0; k < count; k++) {
        if (k > 0)
            buffer_char(out, ',');
        put_group(out, cluster, &kinds[k]);
    }
    buffer_char(out, ']');
}

const struct job_group *wire_read_kinds(struct wire *wire, const struct json_value *array, uint32_t *count)
{
    const size_t given = json_array_count(array);
    *count = 0;
    if (given > WIRE_KINDS_MAX || given == 0) {
        json_fail(array, "there must be from 1 to %d kinds of members", WIRE_KINDS_MAX);
        return NULL;
    }
    struct job_group *kinds = arena_alloc_array(&wire->arena, given, struct job_group);
    for (size_t k = 0; k < given && !error_is(*array->error); k++) {
        struct json_value item = json_array_item(array, k);
        struct job job = job_default();
        get_group(wire, &item, &job.first, NULL);
        kinds[k] = job.first;
        const char *complaint = job.first.min_count != job.first.count ? "a kind of members has no minimum"
                                : !request_asks_gpus(&job.first.request) && job.first.request.cpu_milli == 0 &&
                                        job.first.request.memory_mib == 0
                                    ? "a member asks for nothing"
                                    : job_complaint(&job);
        if (complaint != NULL)
            json_fail(&item, "no member can ask this: %s", complaint);
    }
    *count = (uint32_t)given;
    return kinds;
}

static void get_sets(struct wire *wire, struct json_object *object, struct job *job)
{
    struct json_value array;
    size_t count = json_array_at(&array, object, "sets", JOB_SETS_MAX);
    struct job_set *sets = arena_alloc_array(&wire->arena, count, struct job_set);
    for (size_t s = 0; s < count; s++) {
        struct json_value item = json_array_item(&array, s);
        struct json_object set;
        json_object_open(&set, &item);
        sets[s].name = arena_copy(&wire->arena, text_of(json_get_string(&set, "name", "")));
        wire_get_fields(&set, set_fields, &sets[s]);
        sets[s].topology = job_topology_get(wire->cluster, &set);
        json_object_close(&set);
    }
    job->set_count = (uint16_t)count;
    job->sets = count > 0 ? sets : NULL;
}

static void get_after(struct wire *wire, struct json_object *object, struct job *job)
{
    struct json_value array;
    size_t count = json_array_at(&array, object, "after", JOB_AFTER_MAX);
    struct job_after *after = arena_alloc_array(&wire->arena, count, struct job_after);
    for (size_t i = 0; i < count; i++) {
        struct json_value item = json_array_item(&array, i);
        struct json_object one;
        json_object_open(&one, &item);
        wire_get_fields(&one, after_fields, &after[i]);
        if (!has_failed(&one) && after[i].job >= job->id)
            json_fail(&item, "a job can depend on jobs of smaller ids only");
        json_object_close(&one);
    }
    job->after_count = (uint16_t)count;
    job->after = count > 0 ? after : NULL;
}

static const struct job_objects *get_objects(struct wire *wire, struct json_object *object)
{
    struct json_value array;
    struct job_objects *objects = arena_alloc_array(&wire->arena, 1, struct job_objects);
    const size_t count = json_array_at(&array, object, "objects", JOB_OBJECTS_MAX);
    for (size_t o = 0; o < count; o++) {
        struct json_value item = json_array_item(&array, o);
        struct json_object one;
        json_object_open(&one, &item);
        wire_get_fields(&one, object_fields, &objects->of[o]);
        for (size_t before = 0; before < o && !has_failed(&one); before++)
            if (objects->of[before].id == objects->of[o].id)
                json_fail(&item, "a job has each object once");
        json_object_close(&one);
    }
    objects->count = (uint16_t)count;
    return count > 0 ? objects : NULL;
}

static void put_objects(struct buffer *out, const struct job_objects *objects)
{
    if (objects == NULL)
        return;
    wire_put_key(out, "objects");
    for (uint32_t o = 0; o < objects->count; o++) {
        buffer_string(out, o == 0 ? "[{" : ",{");
        wire_put_fields(out, object_fields, &objects->of[o]);
        buffer_string(out, o + 1 < objects->count ? "}" : "}]");
    }
}

static void put_lists(struct buffer *out, const struct cluster *cluster, const struct job *job)
{
    wire_put_key(out, "groups");
    for (uint32_t g = 0; g < job->group_count; g++) {
        buffer_char(out, g == 0 ? '[' : ',');
        put_group(out, cluster, job_group(job, g));
    }
    buffer_char(out, ']');
    job_sets_put(out, cluster, false, job);
    if (job->after_count > 0)
        wire_put_key(out, "after");
    for (uint32_t i = 0; i < job->after_count; i++) {
        buffer_string(out, i == 0 ? "[{" : ",{");
        wire_put_fields(out, after_fields, &job->after[i]);
        buffer_string(out, i + 1 < job->after_count ? "}" : "}]");
    }
}

/* ---- the job ---- */

/* Remove succeeded members from the job; the casts are safe because its arrays were just read. */
static void leave_out(struct job *job, const uint32_t succeeded[JOB_GROUPS_MAX])
{
    uint16_t ignored[JOB_GROUPS_MAX];
    bool is_any = false;
    for (uint32_t g = 0; g < job->group_count; g++)
        is_any |= succeeded[g] != 0;
    if (is_any)
        job_leave_out(job, (struct job_group *)(uintptr_t)job->more, (struct job_set *)(uintptr_t)job->sets, succeeded,
                      ignored);
}

void wire_put_job(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                  const struct job *job)
{
    buffer_char(out, '{');
    wire_put_fields(out, id_fields, job);
    if (job->name != NULL)
        wire_put_text(out, "name", job->name);
    if (job->trace_id != job->id)
        wire_put_int(out, "trace_id", job->trace_id);
    if (job->queue != QUEUE_ROOT)
        wire_put_text(out, "queue", queues->queues[job->queue].name);
    wire_put_fields(out, job_fields, job);
    job_topology_put(out, cluster, job->topology);
    job_tags_put(out, cluster, NULL, job->tags);
    wire_put_communication(out, job->communication);
    put_objects(out, job->objects);
    put_lists(out, cluster, job);
    buffer_char(out, '}');
}

const struct job *wire_get_job(struct wire *wire, const struct json_value *value)
{
    struct json_object object;
    const struct job_words words = {.cluster = wire->cluster, .arena = &wire->arena};
    struct job *job = arena_alloc_array(&wire->arena, 1, struct job);
    json_object_open(&object, value);
    wire_get_fields(&object, id_fields, job);
    const char *name = json_get_string(&object, "name", NULL);
    job->name = name != NULL ? arena_copy(&wire->arena, text_of(name)) : NULL;
    job->trace_id = json_get_int(&object, "trace_id", INT64_MIN, INT64_MAX, job->id);
    job->queue = wire_get_queue(wire, &object, "queue");
    wire_get_fields(&object, job_fields, job);
    job->topology = job_topology_get(wire->cluster, &object);
    job->tags = job_tags_get(&words, &object);
    job->communication = wire_get_communication(wire, &object);
    job->objects = get_objects(wire, &object);
    uint32_t succeeded[JOB_GROUPS_MAX] = {0};
    get_groups(wire, &object, job, succeeded);
    get_sets(wire, &object, job);
    get_after(wire, &object, job);
    json_object_close(&object);
    const char *complaint = has_failed(&object) ? NULL : job_complaint(job);
    if (!has_failed(&object) && complaint == NULL) {
        leave_out(job, succeeded);
        complaint = job_complaint(job);
    }
    if (complaint != NULL)
        json_fail(value, "no such job can be: %s", complaint);
    if (!has_failed(&object))
        wire_fit_communication(&object, job);
    return job;
}

/* ---- pieces ---- */

void wire_put_pieces(struct buffer *out, const struct cluster *cluster, const struct piece *pieces, uint32_t count)
{
    wire_put_key(out, "pieces");
    buffer_char(out, '[');
    for (uint32_t i = 0; i < count; i++) {
        buffer_string(out, i == 0 ? "{" : ",{");
        wire_put_text(out, "node", cluster->nodes[pieces[i].node].name);
        if (pieces[i].gpu_mask != 0) {
            buffer_string(out, ",\"gpus\":\"");
            buffer_indices(out, pieces[i].gpu_mask);
            buffer_char(out, '"');
        }
        wire_put_fields(out, piece_fields, &pieces[i]);
        if (pieces[i].share != SHARE_PLAIN)
            wire_put_text(out, "share", share_names[pieces[i].share]);
        else if (pieces[i].mig_start != 0)
            wire_put_int(out, "mig_start", pieces[i].mig_start);
        buffer_char(out, '}');
    }
    buffer_char(out, ']');
}

/* Parse indices such as "0-3,6" into bits; false if the text is malformed or an index is not below `count`. */
static bool indices_of(struct text text, int64_t count, uint16_t *mask)
{
    struct text part;
    *mask = 0;
    while (text_cut(&text, ',', &part)) {
        struct text last = part, first;
        int64_t from, to;
        text_cut(&last, '-', &first);
        if (!text_to_int64(first, 0, count - 1, &from))
            return false;
        to = from;
        if (last.at != NULL && !text_to_int64(last, from, count - 1, &to))
            return false;
        for (int64_t i = from; i <= to; i++)
            *mask |= (uint16_t)(1u << i);
    }
    return true;
}

static void get_piece(struct wire *wire, const struct json_value *value, struct piece *piece)
{
    struct json_object object;
    json_object_open(&object, value);
    json_need(&object, "node");
    piece->node = wire_get_node(wire, &object, "node");
    const char *gpus = json_get_string(&object, "gpus", NULL);
    wire_get_fields(&object, piece_fields, piece);
    const unsigned mig_start = (unsigned)json_get_int(&object, "mig_start", 0, MIG_SLICES - 1, 0);
    piece->share = (unsigned)json_get_choice(&object, "share", share_names, SHARE_PLAIN) & PIECE_PART_MASK;
    piece->mig_start = piece->share == SHARE_PLAIN ? mig_start & PIECE_PART_MASK : 0;
    if (gpus != NULL && !has_failed(&object)) {
        struct json_value place = json_member(&object, "gpus");
        uint16_t count = cluster_node_gpus(wire->cluster, piece->node);
        if (!indices_of(text_of(gpus), count, &piece->gpu_mask))
            json_fail(&place, "'gpus' must name some of the %u GPUs of the node, as in \"0-3,6\"", count);
    }
    json_object_close(&object);
}

const struct piece *wire_get_pieces(struct wire *wire, struct json_object *object, uint32_t *count)
{
    struct json_value array;
    const size_t length = json_array_at(&array, object, "pieces", SIZE_MAX);
    struct piece *pieces = arena_alloc_array(&wire->arena, length, struct piece);
    for (size_t i = 0; i < length && !has_failed(object); i++) {
        struct json_value item = json_array_item(&array, i);
        get_piece(wire, &item, &pieces[i]);
    }
    *count = (uint32_t)length;
    return length > 0 ? pieces : NULL;
}
