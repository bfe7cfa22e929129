/* sim/cases/case_tasks.c -- the tasks of a job: what each asks, and which GPUs those that run are on. */
#include <string.h>

#include "sim/cases/case_read.h"
#include "workloads/job_json.h"

static const char *const state_names[] = {"pending", "running", "releasing", "succeeded", NULL};

static void fail_member(struct json_object *object, const char *key, const char *complaint)
{
    struct json_value value = json_member(object, key);
    json_fail(&value, "%s", complaint);
}

/* ---- What it asks ---- */

static void read_request(struct case_reading *reading, struct json_object *object, struct case_task *task)
{
    enum { CPUS_MAX = 1000000, MEMORY_GB_MAX = 1 << 20, GPU_MEMORY_GB_MAX = 1 << 16 };
    struct request *request = &task->request;
    request->gpus = (uint16_t)json_get_int(object, "gpus", 0, NODE_GPUS_MAX, 0);
    int64_t milli = json_get_scaled(object, "gpu_fraction", CASE_MILLI, 1, CASE_MILLI, 0);
    request->gpu_memory_mib = case_memory_mib(object, "gpu_memory_gb", GPU_MEMORY_GB_MAX, 0);
    case_mig_read(reading, object, task);
    if ((request->gpus != 0) + (milli != 0) + (request->gpu_memory_mib != 0) + (request->mig != 0) > 1)
        json_fail(&object->value, "a task asks for GPUs in one way: 'gpus', 'gpu_fraction', "
                                  "'gpu_memory_gb' or 'mig'");
    if (milli == CASE_MILLI)
        request->gpus = 1;
    else
        request->gpu_milli = (uint16_t)milli;
    case_class_read(reading, object, milli, request);
    request->one_island = json_get_bool(object, "one_island", false);
    request->cpu_milli =
        (uint32_t)json_get_scaled(object, "cpus", CASE_MILLI, 0, (int64_t)CPUS_MAX * CASE_MILLI, CASE_MILLI);
    request->memory_mib = case_memory_mib(object, "memory_gb", MEMORY_GB_MAX, CASE_MIB_PER_GB);
    const struct node_ask draft = node_ask_read(object, reading->arena);
    if (!case_failed(reading))
        request->nodes = node_ask_make(reading->arena, reading->spec->cluster, &draft);
}

/* ---- Where it is ---- */

static void read_gpu_index(struct case_reading *reading, struct json_object *object, struct case_task *task)
{
    struct json_value value = json_member(object, "gpu_index");
    if (value.node == NULL)
        return;
    const size_t count = json_list_count(&value);
    if (count > NODE_GPUS_MAX) {
        json_fail(&value, "a node has at most %d GPUs", NODE_GPUS_MAX);
        return;
    }
    for (size_t i = 0; i < count && !case_failed(reading); i++) {
        struct json_value item = json_list_item(&value, i);
        int64_t index = json_value_int(&item, 0, NODE_GPUS_MAX - 1);
        if (!case_failed(reading) && index >= cluster_node_gpus(reading->spec->cluster, task->node))
            json_fail(&item, "the node has %u GPUs, counted from 0",
                      cluster_node_gpus(reading->spec->cluster, task->node));
        task->gpu_index[i] = (uint16_t)index;
    }
    task->gpu_index_count = (uint32_t)count;
    bool is_whole = task->request.gpus > 0;
    uint32_t each = is_whole ? task->request.gpus : 1;
    if (count != each * task->count && (count != each || (is_whole && task->count > 1)))
        json_fail(&value, "'gpu_index' names %zu GPUs, the %u task%s ask for %u", count, case_task_starts(task),
                  case_task_starts(task) == 1 ? "" : "s",
                  request_gpu_milli(&task->request, NULL) == 0 ? 0 : each * task->count);
}

static void read_place(struct case_reading *reading, struct json_object *object, struct case_task *task)
{
    static const char *const keys[] = {"node", "gpu_index", "mig_start", "running_for_s"};
    if (task->state == TASK_PENDING || task->state == TASK_SUCCEEDED) {
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
            if (json_has(object, keys[i]))
                fail_member(object, keys[i],
                            task->state == TASK_PENDING ? "a pending task is on no node yet"
                                                        : "a task that has succeeded is on no node any more");
        return;
    }
    json_need(object, "node");
    struct json_value node = json_member(object, "node");
    if (case_failed(reading))
        return;
    task->node = case_node_of(reading, &node);
    if (task->node == NODE_NONE)
        return;
    uint8_t state = reading->spec->node_states[task->node];
    if (state == NODE_DOWN || state == NODE_ABSENT)
        json_fail(&node, "nothing runs on a node that is down or absent");
    read_gpu_index(reading, object, task);
    task->mig_start = (int)json_get_int(object, "mig_start", 0, MIG_SLICES - 1, -1);
    if (task->mig_start >= 0 && task->request.mig == 0)
        fail_member(object, "mig_start", "'mig_start' is for tasks that ask for 'mig'");
    if (task->mig_start >= 0 && task->count > 1 && task->gpu_index_count <= 1)
        fail_member(object, "mig_start",
                    "tasks of a 'count' cannot all start there; write them one by one, or give "
                    "each its 'gpu_index'");
    task->running_for = case_duration(object, "running_for_s", 60 * TIME_NS_PER_S);
}

static uint16_t set_of(struct case_reading *reading, const struct case_draft *draft, struct json_object *object)
{
    const char *name = json_get_string(object, "subgroup", NULL);
    if (name == NULL)
        return SET_NONE;
    for (uint32_t i = 0; i < draft->set_count; i++)
        if (strcmp(draft->sets[i].name, name) == 0)
            return (uint16_t)i;
    struct json_value value = json_member(object, "subgroup");
    json_fail(&value, "the job has no subgroup '%s'", name);
    error_set_hint(reading->error, "its \"subgroups\" lists them");
    return SET_NONE;
}

static void read_task(struct case_reading *reading, const struct case_draft *draft, struct case_task *task)
{
    struct json_object object;
    json_object_open(&object, task->value);
    task->node = NODE_NONE;
    task->mig_start = -1;
    read_request(reading, &object, task);
    task->set = set_of(reading, draft, &object);
    task->slice_members = (uint32_t)json_get_int(&object, "slice_members", 1, CASE_TASKS_MAX, 0);
    task->slice_level = job_level_get(reading->spec->cluster, &object, "slice_level");
    task->state = (uint8_t)json_get_choice(&object, "state", state_names, TASK_PENDING);
    task->count = (uint32_t)json_get_int(&object, "count", 1, CASE_TASKS_MAX, 1);
    task->name = json_get_string(&object, "name", NULL);
    task->never_leaves = json_get_bool(&object, "never_leaves", false);
    if (task->never_leaves && task->state != TASK_RELEASING)
        fail_member(&object, "never_leaves", "only a releasing task can fail to leave");
    case_claim_read(reading, &object, task);
    case_mig_members(reading, &object, task);
    read_place(reading, &object, task);
    json_object_close(&object);
}

void case_tasks_read(struct case_reading *reading, struct case_draft *draft, const struct json_value *array)
{
    size_t count = json_array_count(array);
    if (!case_failed(reading) && count == 0)
        json_fail(array, "a job has at least one task");
    if (count > CASE_TASKS_MAX)
        json_fail(array, "a job has at most %d tasks", CASE_TASKS_MAX);
    for (size_t i = 0; i < count && !case_failed(reading); i++) {
        struct case_task task = {.value = case_item(reading, array, i)};
        read_task(reading, draft, &task);
        if (!case_failed(reading))
            case_mig_add_lines(reading, draft, &task);
    }
    if (!case_failed(reading))
        case_mig_minimum(draft);
}

/* ---- Which GPUs ---- */

struct placing { /* one task of a line */
    struct case_reading *reading;
    const struct case_task *task;
    uint32_t member; /* index within the line's count */
    const char *job;
    struct case_room *room;
    const struct node_type *type;
    const char *node;
};

static bool is_named(const struct case_task *task)
{
    return task->gpu_index_count > 0;
}

/* The GPUs that the task names; 0: it names none. */
static uint16_t named_gpus(const struct placing *placing)
{
    const struct case_task *task = placing->task;
    uint32_t each = task->request.gpus > 0 ? task->request.gpus : 1;
    uint32_t first = task->gpu_index_count > each ? placing->member * each : 0;
    uint16_t mask = 0;
    for (uint32_t i = first; is_named(task) && i < first + each; i++) {
        uint16_t bit = (uint16_t)(1u << task->gpu_index[i]);
        if (mask & bit)
            json_fail(task->value, "'gpu_index' names GPU %u twice", task->gpu_index[i]);
        mask |= bit;
    }
    return mask;
}

static void refuse_gpu(const struct placing *placing, uint32_t gpu)
{
    const char *holder = placing->room->holder[gpu];
    const struct json_value *value = placing->task->value;
    if ((placing->type->layout_mask >> gpu & 1) && placing->task->request.mig == 0)
        json_fail(value, "GPU %u of '%s' is cut into MIG instances", gpu, placing->node);
    else if (holder != NULL)
        json_fail(value, "GPU %u of '%s' is taken by '%s' already", gpu, placing->node, holder);
    else
        json_fail(value, "GPU %u of '%s' has no such instance", gpu, placing->node);
}

/* Whole GPUs: the named ones, or the lowest free ones; 0 after an error. */
static uint16_t take_whole(const struct placing *placing, uint16_t named)
{
    struct case_room *room = placing->room;
    uint32_t wanted = placing->task->request.gpus;
    uint16_t mask = 0;
    for (uint32_t gpu = 0; gpu < placing->type->gpu_count && wanted > 0; gpu++) {
        bool is_free = room->gpu_milli[gpu] == 0 && !(placing->type->layout_mask >> gpu & 1);
        if (named != 0 && !(named >> gpu & 1))
            continue;
        if (is_free) {
            mask |= (uint16_t)(1u << gpu);
            wanted--;
        } else if (named != 0) {
            refuse_gpu(placing, gpu);
            return 0;
        }
    }
    if (wanted > 0) {
        json_fail(placing->task->value, "'%s' has not enough free GPUs for this task", placing->node);
        return 0;
    }
    for (uint32_t gpu = 0; gpu < placing->type->gpu_count; gpu++)
        if (mask >> gpu & 1) {
            room->gpu_milli[gpu] = GPU_MILLI;
            room->holder[gpu] = placing->job;
        }
    return mask;
}

/* A share of one GPU: of the named one, or of the lowest with enough space. */
static uint16_t take_share(const struct placing *placing, uint16_t named, uint16_t milli)
{
    struct case_room *room = placing->room;
    for (uint32_t gpu = 0; gpu < placing->type->gpu_count; gpu++) {
        if (named != 0 && !(named >> gpu & 1))
            continue;
        if (room->gpu_milli[gpu] + milli <= GPU_MILLI && !(placing->type->layout_mask >> gpu & 1)) {
            room->gpu_milli[gpu] = (uint16_t)(room->gpu_milli[gpu] + milli);
            room->holder[gpu] = placing->job;
            return (uint16_t)(1u << gpu);
        }
        if (named != 0) {
            refuse_gpu(placing, gpu);
            return 0;
        }
    }
    json_fail(placing->task->value, "no GPU of '%s' has enough left for this task", placing->node);
    return 0;
}

/* A MIG instance of the layout: on the named GPU, or the lowest free one of the profile. */
static uint16_t take_instance(const struct placing *placing, uint16_t named, struct piece *piece)
{
    const struct case_task *task = placing->task;
    struct case_room *room = placing->room;
    uint64_t models = task->request.gpu_models;
    bool is_model = models == 0 || (models >> placing->type->model & 1);
    for (uint32_t gpu = 0; is_model && gpu < placing->type->gpu_count; gpu++) {
        if ((named != 0 && !(named >> gpu & 1)) || !(placing->type->layout_mask >> gpu & 1))
            continue;
        for (uint32_t start = 0; start < MIG_SLICES; start++) {
            if ((task->mig_start >= 0 && (uint32_t)task->mig_start != start) ||
                placing->type->layouts[gpu].profile[start] != task->request.mig || (room->mig_mask[gpu] >> start & 1))
                continue;
            room->mig_mask[gpu] |= (uint8_t)(1u << start);
            room->holder[gpu] = placing->job;
            piece->mig_start = start & PIECE_PART_MASK;
            return (uint16_t)(1u << gpu);
        }
    }
    json_fail(task->value, "'%s' has no free MIG instance for this task", placing->node);
    error_set_hint(placing->reading->error, "'gpus_layout' of the node says what there is");
    return 0;
}

static void take_node(const struct placing *placing)
{
    struct case_room *room = placing->room;
    const struct request *request = &placing->task->request;
    const struct json_value *value = placing->task->value;
    room->cpu_milli += request->cpu_milli;
    room->memory_mib += request->memory_mib;
    room->tasks++;
    if (room->cpu_milli > placing->type->cpu_milli)
        json_fail(value, "the tasks on '%s' ask for more CPUs than it has", placing->node);
    if (room->memory_mib > placing->type->memory_mib)
        json_fail(value, "the tasks on '%s' ask for more memory than it has", placing->node);
    if (placing->type->max_tasks != 0 && room->tasks > placing->type->max_tasks)
        json_fail(value, "'%s' takes at most %u tasks", placing->node, placing->type->max_tasks);
}

static struct piece place(const struct placing *placing)
{
    const struct cluster *cluster = placing->reading->spec->cluster;
    const struct request *request = &placing->task->request;
    struct piece piece = {.node = placing->task->node, .member_count = 1};
    uint16_t named = named_gpus(placing);
    take_node(placing);
    if (case_failed(placing->reading))
        return piece;
    const struct gpu_model *model = &cluster->models[placing->type->model];
    if (request->gpus > 0) {
        piece.gpu_milli = GPU_MILLI;
        piece.gpu_mask = take_whole(placing, named);
    } else if (request->mig != 0) {
        uint16_t slices = mig_profiles(model->mig) == NULL
                              ? MIG_SLICES /* it has no MIG, so every layout is refused below */
                              : mig_profiles(model->mig)[request->mig - 1].memory_slices;
        piece.gpu_milli =
            (uint16_t)(GPU_MILLI / MIG_SLICES * slices); /* the share of a MIG instance: policies/sched.h */
        piece.gpu_mask = take_instance(placing, named, &piece);
    } else if (request->gpu_milli != 0 || request->gpu_memory_mib != 0) {
        piece.gpu_milli = (uint16_t)request_gpu_milli(request, model);
        piece.gpu_mask = take_share(placing, named, piece.gpu_milli);
    }
    return piece;
}

static void place_line(struct case_reading *reading, struct case_task *task, const char *job)
{
    const struct cluster *cluster = reading->spec->cluster;
    struct placing placing = {.reading = reading,
                              .task = task,
                              .job = job,
                              .room = &reading->rooms[task->node],
                              .type = cluster_node_type(cluster, task->node),
                              .node = cluster->nodes[task->node].name};
    task->pieces = arena_alloc_array(reading->arena, task->count, struct piece);
    for (; placing.member < task->count && !case_failed(reading); placing.member++)
        task->pieces[placing.member] = place(&placing);
}

void case_tasks_place(struct case_reading *reading, struct case_draft *drafts, uint32_t count)
{
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t j = 0; j < count; j++)
            for (uint32_t t = 0; t < drafts[j].task_count && !case_failed(reading); t++) {
                struct case_task *task = &drafts[j].tasks[t];
                if (task->node != NODE_NONE && is_named(task) == (pass == 0))
                    place_line(reading, task, drafts[j].name);
            }
}
