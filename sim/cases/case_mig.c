/* sim/cases/case_mig.c -- tasks of a case that ask MIG instances: one, or several on one node.
 *
 * A member of a job holds one instance (workloads/job.h).  A task that needs n of one profile becomes n members in a
 * slice of the level "node"; one that needs instances of several profiles becomes a set of its own, which requires one
 * node, with a group for each profile.  The members share the task's CPUs and memory evenly, rounded up.
 */
#include <string.h>

#include "sim/cases/case_read.h"

enum { INSTANCES_MAX = NODE_GPUS_MAX * MIG_SLICES };

/* ---- Reading ---- */

/* The profiles that the text names, and the instances of each. */
struct wish {
    const char *names[MIG_PROFILE_COUNT];
    uint32_t counts[MIG_PROFILE_COUNT];
    uint32_t count;
};

static void read_wishes(const struct json_value *value, struct wish *wish)
{
    struct json_object object;
    const char *name;
    json_object_open(&object, value);
    while ((name = json_object_key(&object, wish->count)) != NULL) {
        if (wish->count == MIG_PROFILE_COUNT) {
            json_fail(value, "a GPU has no more than %d MIG profiles", MIG_PROFILE_COUNT);
            break;
        }
        wish->names[wish->count] = name;
        wish->counts[wish->count++] = (uint32_t)json_get_int(&object, name, 1, INSTANCES_MAX, 1);
    }
    json_object_close(&object);
    if (wish->count == 0)
        json_fail(value, "'mig' names no profile");
}

/* The numbers of the profiles on that model; false if it lacks one. */
static bool find_profiles(const struct gpu_model *model, const struct wish *wish, uint8_t numbers[MIG_PROFILE_COUNT])
{
    memset(numbers, 0, MIG_PROFILE_COUNT);
    for (uint32_t i = 0; i < wish->count; i++) {
        const int profile = mig_profile_find(model->mig, text_of(wish->names[i]));
        if (profile < 0)
            return false;
        numbers[i] = (uint8_t)profile;
    }
    return true;
}

/* A profile's number depends on the GPU family.  Accepted are the first model that has the profiles and all models on
 * which they have the same numbers. */
static bool find_models(const struct cluster *cluster, const struct wish *wish, struct request *request,
                        uint8_t numbers[MIG_PROFILE_COUNT])
{
    for (uint32_t m = 0; m < cluster->model_count; m++) {
        uint8_t here[MIG_PROFILE_COUNT];
        if (!find_profiles(&cluster->models[m], wish, here))
            continue;
        if (request->mig == 0) {
            memcpy(numbers, here, sizeof here);
            request->mig = (uint8_t)(here[0] + 1);
        }
        if (memcmp(numbers, here, sizeof here) == 0)
            request->gpu_models |= UINT64_C(1) << m;
    }
    if (request->gpu_models == (UINT64_C(1) << cluster->model_count) - 1)
        request->gpu_models = 0; /* all models: no constraint */
    return request->mig != 0;
}

/* The first profile that no model has; if each is on some model, the first of all. */
static const char *unknown_of(const struct cluster *cluster, const struct wish *wish)
{
    for (uint32_t i = 0; i < wish->count; i++) {
        bool is_known = false;
        for (uint32_t m = 0; m < cluster->model_count; m++)
            is_known |= mig_profile_find(cluster->models[m].mig, text_of(wish->names[i])) >= 0;
        if (!is_known)
            return wish->names[i];
    }
    return wish->names[0];
}

void case_mig_read(struct case_reading *reading, struct json_object *object, struct case_task *task)
{
    const struct cluster *cluster = reading->spec->cluster;
    struct json_value value = json_member(object, "mig");
    struct wish wish = {.counts = {1}};
    uint8_t numbers[MIG_PROFILE_COUNT];
    if (value.node == NULL)
        return;
    if (json_is_object(value.node)) {
        read_wishes(&value, &wish);
    } else {
        wish.names[0] = json_get_string(object, "mig", "");
        wish.count = 1;
    }
    if (case_failed(reading))
        return;
    if (!find_models(cluster, &wish, &task->request, numbers)) {
        json_fail(&value, "no GPU of this case knows a MIG profile '%s'", unknown_of(cluster, &wish));
        error_set_hint(reading->error, "say the 'gpu_model' of the nodes, such as \"h100-80gb\"");
        return;
    }
    for (uint32_t i = 0; i < wish.count; i++)
        task->mig_counts[numbers[i]] = (uint8_t)wish.counts[i];
    if (wish.count == 1 && wish.counts[0] == 1)
        task->mig_counts[numbers[0]] = 0; /* a task of one member, like any other */
}

/* ---- Members ---- */

static uint32_t instances_of(const struct case_task *task)
{
    uint32_t sum = 0;
    for (uint32_t p = 0; p < MIG_PROFILE_COUNT; p++)
        sum += task->mig_counts[p];
    return sum;
}

static bool is_one_profile(const struct case_task *task)
{
    return task->mig_counts[task->request.mig - 1] == instances_of(task);
}

/* Refuse other keys that exclude several instances. */
static void refuse_others(struct case_reading *reading, struct json_object *object, const struct case_task *task)
{
    static const char *const keys[] = {"gpu_class", "slice_members", "slice_level", "gpu_index", "mig_start"};
    const struct cluster *cluster = reading->spec->cluster;
    struct json_value value = json_member(object, "mig");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct json_value place = json_member(object, keys[i]);
        if (place.node != NULL && (i < 3 || !is_one_profile(task)))
            json_fail(&place, "'%s': it excludes a 'mig' of several %s", keys[i], i < 3 ? "instances" : "profiles");
    }
    for (uint32_t t = 0; t < cluster->type_count; t++)
        if (cluster->types[t].max_tasks != 0)
            json_fail(&value, "several instances are asked where a node has 'max_tasks', which "
                              "would count each of them as a task");
    if (cluster_level_of(cluster, TEXT("node")) != 0)
        return;
    json_fail(&value, "several instances of one node are asked where no level is \"node\"");
    error_set_hint(reading->error, "add \"node\" to the 'levels' of the case, as the last");
}

static uint32_t divide_up(uint32_t sum, uint32_t parts)
{
    return (uint32_t)(((uint64_t)sum + parts - 1) / parts);
}

void case_mig_members(struct case_reading *reading, struct json_object *object, struct case_task *task)
{
    const uint32_t instances = instances_of(task);
    task->instances = 1;
    if (instances == 0 || case_failed(reading))
        return;
    refuse_others(reading, object, task);
    if (case_failed(reading))
        return;
    task->request.cpu_milli = divide_up(task->request.cpu_milli, instances);
    task->request.memory_mib = divide_up(task->request.memory_mib, instances);
    if (!is_one_profile(task))
        return;
    task->instances = task->slice_members = instances;
    task->slice_level = cluster_level_of(reading->spec->cluster, TEXT("node"));
    if ((uint64_t)task->count * instances > CASE_TASKS_MAX)
        json_fail(task->value, "a job has at most %d tasks", CASE_TASKS_MAX);
    task->count *= instances;
}

/* ---- Lines ---- */

static void add_line(struct case_reading *reading, struct case_draft *draft, const struct case_task *task)
{
    if (draft->task_count == draft->task_capacity) {
        const size_t capacity = 2 * draft->task_capacity + 8;
        struct case_task *tasks = arena_alloc_array(reading->arena, capacity, struct case_task);
        if (draft->task_count > 0)
            memcpy(tasks, draft->tasks, draft->task_count * sizeof *tasks);
        draft->tasks = tasks;
        draft->task_capacity = capacity;
    }
    struct case_task *line = &draft->tasks[draft->task_count];
    *line = *task;
    line->number = 0;
    if (draft->task_count > 0 && line->is_more)
        line->number = line[-1].number;
    else if (draft->task_count > 0)
        line->number = line[-1].number + (line[-1].is_more ? 1 : case_task_starts(&line[-1]));
    draft->task_count++;
}

/* Add a set for one task: all its members on one node. */
static uint16_t add_set(struct case_reading *reading, struct case_draft *draft, const struct case_task *task)
{
    if (draft->set_count >= JOB_SETS_MAX - 1) {
        json_fail(task->value, "a job has at most %d subgroups and tasks of several MIG profiles", JOB_SETS_MAX - 1);
        return SET_NONE;
    }
    if (!draft->has_own_sets) {
        struct job_set *sets = arena_alloc_array(reading->arena, (size_t)JOB_SETS_MAX, struct job_set);
        bool *has_min = arena_alloc_array(reading->arena, (size_t)JOB_SETS_MAX, bool);
        for (uint32_t s = 0; s < draft->set_count; s++) {
            sets[s] = draft->sets[s];
            has_min[s] = draft->set_has_min[s];
        }
        draft->sets = sets;
        draft->set_has_min = has_min;
        draft->has_own_sets = true;
    }
    draft->sets[draft->set_count] =
        (struct job_set){.name = "",
                         .parent = task->set,
                         .topology = {.required = cluster_level_of(reading->spec->cluster, TEXT("node"))}};
    return (uint16_t)draft->set_count++;
}

void case_mig_add_lines(struct case_reading *reading, struct case_draft *draft, const struct case_task *task)
{
    if (instances_of(task) == 0 || is_one_profile(task)) {
        add_line(reading, draft, task);
        return;
    }
    for (uint32_t i = 0; i < task->count && !case_failed(reading); i++) {
        struct case_task line = *task;
        line.set = add_set(reading, draft, task);
        for (uint32_t p = 0; p < MIG_PROFILE_COUNT; p++) {
            if (task->mig_counts[p] == 0)
                continue;
            line.request.mig = (uint8_t)(p + 1);
            line.count = line.instances = task->mig_counts[p];
            add_line(reading, draft, &line);
            line.is_more = true;
        }
    }
}

/* ---- The minimum ---- */

void case_mig_minimum(struct case_draft *draft)
{
    int64_t tasks = 0, leaving = 0, members = 0;
    bool is_any = false;
    for (uint32_t t = 0; t < draft->task_count; t++) {
        const struct case_task *task = &draft->tasks[t];
        is_any |= instances_of(task) > 0;
        tasks += case_task_starts(task);
        leaving += task->state == TASK_RELEASING ? case_task_starts(task) : 0;
        members += task->count;
    }
    for (uint32_t s = 0; s < draft->set_count && is_any; s++)
        if (draft->set_has_min[s])
            json_fail(draft->value, "a job with tasks of several MIG instances starts as a whole: "
                                    "its subgroups have no 'min_members'");
    bool needs_fewer = draft->job.min_sets > 0;
    for (uint32_t s = 0; s < draft->set_count; s++)
        needs_fewer |= draft->sets[s].min_sets > 0;
    if (is_any && needs_fewer)
        json_fail(draft->value, "a job with tasks of several MIG instances starts as a whole: "
                                "it has no 'min_subgroups'");
    if (!is_any || draft->min_members < 0)
        return;
    if (draft->min_members != tasks && draft->min_members != tasks - leaving)
        json_fail(draft->value, "a job with tasks of several MIG instances starts as a whole: "
                                "'min_members' is all its tasks");
    draft->min_members = draft->min_members == tasks - leaving ? -1 : members;
}
