/* sim/cases/case_jobs.c -- the jobs of a case: drafts as they stand in the text, then declarations for the scheduler.
 *
 * Adjacent tasks that ask alike make a group.  A job's releasing tasks become a job of their own, its leaving part,
 * which ends with the first round.  They are not among the tasks of the job any more, unless the minimum it names
 * cannot be met without them: then they wait again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cases/case_read.h"
#include "workloads/job_json.h"
#include "workloads/job_text.h"

enum { FIRM_PRIORITY = 100, DEADLINE_S_MAX = 1000000000 };

/* ---- Drafts ---- */

static uint16_t parent_of(const struct case_draft *draft, const struct json_value *value, const char *parent,
                          uint32_t set)
{
    if (parent == NULL)
        return SET_NONE;
    for (uint32_t i = 0; i < draft->set_count; i++)
        if (i != set && strcmp(draft->sets[i].name, parent) == 0)
            return (uint16_t)i;
    json_fail(value, "there is no other subgroup '%s'", parent);
    return SET_NONE;
}

/* Sets are in the order of the text; a parent may stand after its children. */
static void read_subgroups(struct case_reading *reading, struct case_draft *draft, const struct json_value *array)
{
    size_t count = json_array_count(array);
    if (count >= JOB_SETS_MAX) /* one set is kept for tasks in no subgroup */
        json_fail(array, "a job has at most %d subgroups", JOB_SETS_MAX - 1);
    if (case_failed(reading))
        return;
    const char **parents = arena_alloc_array(reading->arena, count + 1, const char *);
    draft->sets = arena_alloc_array(reading->arena, count + 1, struct job_set);
    draft->set_has_min = arena_alloc_array(reading->arena, count + 1, bool);
    for (size_t i = 0; i < count && !case_failed(reading); i++) {
        struct json_value item = json_array_item(array, i);
        struct json_object object;
        json_object_open(&object, &item);
        json_need(&object, "name");
        struct job_set *set = &draft->sets[i];
        set->name = json_get_string(&object, "name", "");
        parents[i] = json_get_string(&object, "parent", NULL);
        draft->set_has_min[i] = json_has(&object, "min_members");
        set->min_members = (uint32_t)json_get_int(&object, "min_members", 0, CASE_TASKS_MAX, 0);
        set->min_sets = (uint16_t)json_get_int(&object, "min_subgroups", 1, JOB_SETS_MAX, 0);
        set->topology = case_topology_read(reading, &object);
        json_object_close(&object);
        for (size_t k = 0; k < i; k++)
            if (strcmp(draft->sets[k].name, set->name) == 0)
                json_fail(&item, "there is a subgroup named '%s' already", set->name);
    }
    draft->set_count = (uint32_t)count;
    for (uint32_t i = 0; i < count && !case_failed(reading); i++) {
        struct json_value item = json_array_item(array, i);
        draft->sets[i].parent = parent_of(draft, &item, parents[i], i);
    }
    for (uint32_t i = 0; i < count && !case_failed(reading); i++) {
        struct json_value item = json_array_item(array, i);
        const uint32_t within = sets_in(draft->sets, draft->set_count, (uint16_t)i);
        if (draft->sets[i].min_sets > within)
            json_fail(&item, "the subgroup '%s' needs %u of the subgroups in it and has %u", draft->sets[i].name,
                      draft->sets[i].min_sets, within);
    }
}

/* The number of subgroups that the job needs. */
static void read_min_subgroups(struct json_object *object, struct case_draft *draft)
{
    struct json_value value = json_member(object, "min_subgroups");
    const uint32_t count = sets_in(draft->sets, draft->set_count, SET_NONE);
    draft->job.min_sets = (uint16_t)json_get_int(object, "min_subgroups", 1, JOB_SETS_MAX, 0);
    if (draft->job.min_sets == 0)
        return;
    if (draft->set_count == 0)
        json_fail(&value, "'min_subgroups' is of 'subgroups', and the job has none");
    else if (draft->job.min_sets > count)
        json_fail(&value, "'min_subgroups' is %u, but %u subgroups are in no other", draft->job.min_sets, count);
    else if (draft->min_members >= 0)
        json_fail(&value, "'min_subgroups' excludes 'min_members': the subgroups have theirs");
}

/* If the job can run without some subgroups, tasks in no subgroup would count as one more. */
static void check_outside(const struct case_draft *draft)
{
    for (uint32_t t = 0; t < draft->task_count && draft->job.min_sets > 0; t++)
        if (draft->tasks[t].set == SET_NONE) {
            json_fail(draft->tasks[t].value, "with 'min_subgroups' every task names its subgroup");
            return;
        }
}

static queue_id read_queue(struct case_reading *reading, struct json_object *object, bool is_listed)
{
    struct queue_table *queues = reading->spec->queues;
    const char *name = json_get_string(object, "queue", NULL);
    if (name == NULL && is_listed) {
        json_need(object, "queue");
        return QUEUE_ROOT;
    }
    queue_id queue = queue_table_find(queues, text_of(name != NULL ? name : "default"));
    if (queue != QUEUE_NONE && (queue != QUEUE_ROOT || name == NULL))
        return queue;
    struct json_value value = json_member(object, "queue");
    if (name != NULL && name[0] == '\0') {
        json_fail(&value, "the name of a queue is not empty");
        return QUEUE_ROOT;
    }
    if (!is_listed)
        return queue_table_of(queues, text_of(name != NULL ? name : "default"));
    const char **names = arena_alloc_array(reading->arena, queues->count + 1u, const char *);
    for (uint32_t i = 1; i < queues->count; i++)
        names[i - 1] = queues->queues[i].name;
    json_fail(&value, "there is no queue '%s'", name);
    error_hint_nearest(reading->error, text_of(name), names);
    return QUEUE_ROOT;
}

#define JOB_ROW(ID, ...) JOB_TEXT_ROW(struct job, false, ID, __VA_ARGS__),
static const struct job_text texts[] = {JOB_TEXT(JOB_ROW, JOB_ROW, JOB_TEXT_NONE, JOB_TEXT_NONE)};

static int64_t read_text(struct json_object *object, const struct job_text *text)
{
    switch (text->form) {
    case TEXT_INT:
        return json_get_int(object, text->key, text->low, text->high, text->usual);
    case TEXT_MILLI:
        return json_get_scaled(object, text->key, GPU_MILLI, text->low, text->high, text->usual);
    case TEXT_BOOL:
        return json_get_bool(object, text->key, text->usual != 0);
    case TEXT_NAME:
        return json_get_choice(object, text->key, text->names, (int)text->usual);
    case TEXT_PATIENCE:
        return json_get_patience(object, text->key, text->usual);
    default:
        return case_duration(object, text->key, text->usual);
    }
}

/* The fields that the table of a job's text gives to cases. */
static void read_texts(struct json_object *object, struct job *job)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct job_text *text = &texts[i];
        if ((text->where & TEXT_CASE) == 0)
            continue;
        const int64_t value = read_text(object, text);
        if (value < text->low && json_has(object, text->key)) {
            const struct json_value at = json_member(object, text->key);
            json_fail(&at, "'%s' must be positive", text->key);
        }
        member_set(&text->at, job, value);
    }
}

/* Times before and after the first round. */
static void read_times(struct json_object *object, struct case_draft *draft, uint32_t younger_count)
{
    struct job *job = &draft->job;
    time_ns age = case_duration(object, "age_s", (time_ns)(younger_count + 1) * 60 * TIME_NS_PER_S);
    job->submit = CASE_NOW - age;
    if (json_has(object, "deadline_s"))
        job->deadline =
            CASE_NOW + json_get_scaled(object, "deadline_s", TIME_NS_PER_S, -DEADLINE_S_MAX / 10 * TIME_NS_PER_S,
                                       DEADLINE_S_MAX * TIME_NS_PER_S, 0);
    job->checkpoint.duration = case_duration(object, "checkpoint_s", 0);
    draft->checkpoint_age = case_duration(object, "checkpoint_age_s", -1);
    job->attained_gpu_ns = json_get_scaled(object, "attained_gpu_s", TIME_NS_PER_S, 0, INT64_MAX / 4, 0);
}

static void read_job(struct case_reading *reading, struct case_draft *draft, bool is_listed, uint32_t younger_count)
{
    struct json_object object;
    struct job *job = &draft->job;
    json_object_open(&object, draft->value);
    *job = job_default();
    json_need(&object, "name");
    draft->name = job->name = json_get_string(&object, "name", "");
    job->queue = read_queue(reading, &object, is_listed);
    read_texts(&object, job);
    job->is_preemptible = json_get_bool(&object, "preemptible", job->priority < FIRM_PRIORITY);
    const char *user = json_get_string(&object, "user", NULL);
    if (user != NULL)
        job->user = names_add(reading->users, text_of(user));
    draft->min_members = json_get_int(&object, "min_members", 1, CASE_TASKS_MAX, -1);
    job->topology = case_topology_read(reading, &object);
    job->tags = job_tags_get(&(struct job_words){reading->spec->cluster, reading->tags, reading->arena}, &object);
    read_times(&object, draft, younger_count);
    const struct json_value *subgroups = case_member(reading, &object, draft->value, "subgroups");
    const struct json_value *tasks = case_member(reading, &object, draft->value, "tasks");
    json_need(&object, "tasks");
    if (subgroups->node != NULL && !case_failed(reading))
        read_subgroups(reading, draft, subgroups);
    if (!case_failed(reading))
        read_min_subgroups(&object, draft);
    if (!case_failed(reading))
        case_tasks_read(reading, draft, tasks);
    if (!case_failed(reading))
        check_outside(draft);
    json_object_close(&object);
    if (!case_failed(reading) && draft->name[0] == '\0')
        json_fail(draft->value, "a job needs a name that is not empty");
}

/* ---- Groups ---- */

/* Which tasks of a draft make up a job. */
enum part { PART_STAYS, PART_ALL, PART_LEAVES };

static bool is_in(const struct case_task *task, enum part part)
{
    if (part == PART_ALL)
        return true;
    return (task->state == TASK_RELEASING) == (part == PART_LEAVES);
}

static uint32_t count_in(const struct case_draft *draft, enum part part, uint16_t set)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < draft->task_count; t++)
        if (is_in(&draft->tasks[t], part) && (set == SET_NONE || draft->tasks[t].set == set))
            count += draft->tasks[t].count;
    return count;
}

static bool asks_equal(const struct case_task *a, const struct case_task *b)
{
    return a->set == b->set && request_is_same(&a->request, &b->request) && a->slice_members == b->slice_members &&
           a->slice_level == b->slice_level;
}

/* Make groups, in the order of the tasks.  group_of: by task. */
static void make_groups(struct case_reading *reading, const struct case_draft *draft, enum part part, struct job *job,
                        uint16_t *group_of)
{
    struct job_group *groups = arena_alloc_array(reading->arena, (size_t)JOB_GROUPS_MAX, struct job_group);
    uint32_t count = 0;
    const struct case_task *last = NULL;
    for (uint32_t t = 0; t < draft->task_count; t++) {
        const struct case_task *task = &draft->tasks[t];
        if (!is_in(task, part))
            continue;
        if (last == NULL || !asks_equal(last, task)) {
            if (count == JOB_GROUPS_MAX) {
                json_fail(task->value, "more than %d kinds of tasks in one job", JOB_GROUPS_MAX);
                return;
            }
            groups[count++] = (struct job_group){.request = task->request,
                                                 .set = task->set,
                                                 .slice_level = task->slice_level,
                                                 .slice_members = task->slice_members};
        }
        groups[count - 1].count += task->count;
        groups[count - 1].min_count = groups[count - 1].count;
        group_of[t] = (uint16_t)(count - 1);
        last = task;
    }
    job->group_count = (uint16_t)count;
    job->first = groups[0];
    job->more = count > 1 ? groups + 1 : NULL;
}

/* How many tasks of each group have succeeded; false: none has. */
static bool count_succeeded(const struct case_draft *draft, const uint16_t *group_of,
                            uint32_t succeeded[JOB_GROUPS_MAX])
{
    bool is_any = false;
    memset(succeeded, 0, JOB_GROUPS_MAX * sizeof *succeeded);
    for (uint32_t t = 0; t < draft->task_count; t++)
        if (draft->tasks[t].state == TASK_SUCCEEDED) {
            succeeded[group_of[t]] += draft->tasks[t].count;
            is_any = true;
        }
    return is_any;
}

/* Leave out the tasks that have succeeded, which count for the minimum.  Returns the minimum of the others. */
static uint32_t leave_succeeded(const struct case_draft *draft, struct job *job, uint16_t *group_of, uint32_t minimum)
{
    uint32_t succeeded[JOB_GROUPS_MAX], left = 0;
    uint16_t new_index[JOB_GROUPS_MAX];
    if (!count_succeeded(draft, group_of, succeeded))
        return minimum;
    for (uint32_t g = 0; g < job->group_count; g++)
        left += job_group(job, g)->count - succeeded[g];
    if (left == 0) {
        json_fail(draft->value, "all tasks of the job have succeeded: nothing is left of it");
        return minimum;
    }
    job_leave_out(job, (struct job_group *)(uintptr_t)job->more, (struct job_set *)(uintptr_t)job->sets, succeeded,
                  new_index);
    for (uint32_t t = 0; t < draft->task_count; t++)
        group_of[t] = new_index[group_of[t] < JOB_GROUPS_MAX ? group_of[t] : 0];
    minimum = job->set_count == 0 ? job->first.min_count : 0;
    for (uint32_t s = 0; s < job->set_count; s++)
        minimum += job->sets[s].min_members;
    return minimum;
}

static struct job_group *own_group(struct job *job, uint32_t index)
{
    return index == 0 ? &job->first : (struct job_group *)(uintptr_t)&job->more[index - 1];
}

/* ---- Minimum and sets ---- */

/* The minimum of a subgroup: all its own tasks, unless given.  A subgroup that only contains others may give the sum of
 * their minimums. */
static uint32_t set_minimum(const struct case_draft *draft, enum part part, uint32_t set)
{
    uint32_t own = count_in(draft, part, (uint16_t)set), below = 0;
    bool has_below = false;
    uint32_t minimum = draft->set_has_min[set] ? draft->sets[set].min_members : own;
    for (uint32_t i = 0; i < draft->set_count; i++)
        if (draft->sets[i].parent == set) {
            has_below = true;
            below += set_minimum(draft, part, i);
        }
    if (draft->set_has_min[set] && has_below && own == 0 && minimum == below)
        minimum = 0;
    if (minimum > own)
        json_fail(draft->value, "the subgroup '%s' needs %u tasks and has %u", draft->sets[set].name, minimum, own);
    return minimum;
}

static bool is_below_itself(const struct case_draft *draft, uint32_t set)
{
    uint32_t at = set;
    for (uint32_t steps = 0; steps <= draft->set_count; steps++) {
        if (draft->sets[at].parent == SET_NONE)
            return false;
        at = draft->sets[at].parent;
    }
    return true;
}

/* Make a set for each subgroup, parents first, and one for the tasks in no subgroup.  Returns the sum of their
 * minimums. */
static uint32_t make_sets(struct case_reading *reading, const struct case_draft *draft, enum part part, struct job *job)
{
    struct job_set *sets = arena_alloc_array(reading->arena, draft->set_count + 1u, struct job_set);
    uint16_t *order = arena_alloc_array(reading->arena, draft->set_count + 1u, uint16_t);
    uint32_t count = 0, minimum = 0, outside = count_in(draft, part, SET_NONE);
    for (uint32_t i = 0; i < draft->set_count; i++) {
        order[i] = SET_NONE;
        outside -= count_in(draft, part, (uint16_t)i);
        if (is_below_itself(draft, i)) {
            json_fail(draft->value, "the subgroup '%s' stands below itself", draft->sets[i].name);
            return 0;
        }
    }
    while (count < draft->set_count)
        for (uint32_t i = 0; i < draft->set_count; i++) {
            uint16_t parent = draft->sets[i].parent;
            if (order[i] != SET_NONE || (parent != SET_NONE && order[parent] == SET_NONE))
                continue;
            order[i] = (uint16_t)count;
            sets[count] = draft->sets[i];
            sets[count].parent = parent != SET_NONE ? order[parent] : SET_NONE;
            sets[count].min_members = set_minimum(draft, part, i);
            minimum += sets[count++].min_members;
        }
    if (outside > 0) {
        int64_t own = draft->min_members < 0 ? outside : draft->min_members - (int64_t)minimum;
        sets[count] = (struct job_set){
            .name = "",
            .parent = SET_NONE,
            .min_members = own < 0 || own > outside ? 0 : (uint32_t)own}; /* 0: the caller finds that the sum differs */
        minimum += sets[count++].min_members;
    }
    for (uint32_t g = 0; g < job->group_count; g++) {
        struct job_group *group = own_group(job, g);
        group->set = group->set == SET_NONE ? (uint16_t)(count - 1) : order[group->set];
    }
    job->sets = sets;
    job->set_count = (uint16_t)count;
    return minimum;
}

static uint32_t make_minimum(struct case_reading *reading, const struct case_draft *draft, enum part part,
                             struct job *job)
{
    uint32_t all = count_in(draft, part, SET_NONE);
    uint32_t minimum = draft->min_members < 0 ? all : (uint32_t)draft->min_members;
    if (minimum > all)
        json_fail(draft->value, "'min_members' is %u, but the job has %u tasks", minimum, all);
    if (draft->set_count > 0) {
        uint32_t sum = make_sets(reading, draft, part, job);
        if (draft->min_members >= 0 && sum != minimum)
            json_fail(draft->value, "'min_members' is %u, but the minimums of the subgroups add up to %u", minimum,
                      sum);
        return sum;
    }
    if (job->group_count > 1) {
        struct job_set *set = arena_alloc_array(reading->arena, 1, struct job_set);
        *set = (struct job_set){.name = "", .parent = SET_NONE, .min_members = minimum};
        job->sets = set;
        job->set_count = 1;
    }
    for (uint32_t g = 0; g < job->group_count; g++)
        own_group(job, g)->set = 0;
    if (job->group_count == 1)
        job->first.min_count = minimum;
    return minimum;
}

/* ---- Jobs for the scheduler ---- */

/* The name of each task of the text. */
static void list_names(struct case_reading *reading, const struct case_draft *draft, struct case_job *job)
{
    for (uint32_t t = 0; t < draft->task_count; t++)
        job->task_count += case_task_starts(&draft->tasks[t]);
    const char **names = arena_alloc_array(reading->arena, job->task_count, const char *);
    job->task_names = names;
    for (uint32_t t = 0; t < draft->task_count; t++)
        for (uint32_t i = 0; i < case_task_starts(&draft->tasks[t]); i++)
            *names++ = draft->tasks[t].name;
}

/* Members of one task, by group.  A task with several groups counts in the first only. */
static void count_members(struct case_reading *reading, const struct case_draft *draft, enum part part,
                          const uint16_t *group_of, struct case_job *job)
{
    uint32_t *members = arena_alloc_array(reading->arena, job->job.group_count, uint32_t);
    for (uint32_t t = 0; t < draft->task_count; t++) {
        const struct case_task *task = &draft->tasks[t];
        if (is_in(task, part) && group_of[t] < job->job.group_count)
            members[group_of[t]] = task->is_more ? 0 : task->instances;
    }
    job->task_members = members;
}

/* Pieces of the tasks in `state`, with one member each. */
static void gather_pieces(struct case_reading *reading, const struct case_draft *draft, enum case_task_state state,
                          const uint16_t *group_of, struct case_job *job)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < draft->task_count; t++)
        count += draft->tasks[t].state == (uint8_t)state ? draft->tasks[t].count : 0;
    struct piece *pieces = arena_alloc_array(reading->arena, count, struct piece);
    uint32_t *numbers = arena_alloc_array(reading->arena, count, uint32_t);
    time_ns running_for = 0;
    job->pieces = pieces;
    job->piece_tasks = numbers;
    job->piece_count = count;
    for (uint32_t t = 0; t < draft->task_count; t++) {
        const struct case_task *task = &draft->tasks[t];
        if (task->state != (uint8_t)state)
            continue;
        running_for = task->running_for > running_for ? task->running_for : running_for;
        for (uint32_t i = 0; i < task->count; i++) {
            *pieces = task->pieces[i];
            (pieces++)->group = (uint8_t)group_of[t];
            *numbers++ = task->number + i / task->instances;
        }
    }
    job->started = CASE_NOW - running_for;
    if (count > 0 && job->job.submit > job->started)
        job->job.submit = job->started;
}

/* Do its releasing tasks stay for ever? */
static bool is_stuck(const struct case_draft *draft)
{
    int stuck = -1;
    for (uint32_t t = 0; t < draft->task_count; t++) {
        const struct case_task *task = &draft->tasks[t];
        if (task->state != TASK_RELEASING)
            continue;
        if (stuck >= 0 && stuck != task->never_leaves)
            json_fail(task->value, "of the releasing tasks of a job all leave, or none does; make "
                                   "two jobs of them");
        stuck = task->never_leaves;
    }
    return stuck == 1;
}

static void make_job(struct case_reading *reading, const struct case_draft *draft, enum part part, struct case_job *job)
{
    uint16_t *group_of = arena_alloc_array(reading->arena, draft->task_count + 1u, uint16_t);
    *job = (struct case_job){.name = draft->name, .job = draft->job, .part_of = CASE_NONE};
    job->is_leaving = part == PART_LEAVES;
    job->never_leaves = job->is_leaving && is_stuck(draft);
    make_groups(reading, draft, part, &job->job, group_of);
    if (case_failed(reading))
        return;
    if (part == PART_LEAVES) {
        for (uint32_t g = 0; g < job->job.group_count; g++)
            own_group(&job->job, g)->set = (uint16_t)0;
        job->job.min_sets = 0;
        job->min_members = count_in(draft, part, SET_NONE);
    } else {
        job->min_members = make_minimum(reading, draft, part, &job->job);
        if (!case_failed(reading))
            job->min_members = leave_succeeded(draft, &job->job, group_of, job->min_members);
        if (sets_may_lack(job->job.sets, job->job.set_count, job->job.min_sets))
            job->min_members = 1; /* the sets have minimums of their own */
    }
    if (case_failed(reading))
        return;
    list_names(reading, draft, job);
    count_members(reading, draft, part, group_of, job);
    gather_pieces(reading, draft, job->is_leaving ? TASK_RELEASING : TASK_RUNNING, group_of, job);
    job->checkpointed =
        draft->checkpoint_age < 0 || job->piece_count == 0 ? TIME_NEVER : CASE_NOW - draft->checkpoint_age;
    if (job->checkpointed != TIME_NEVER && job->checkpointed < job->started)
        json_fail(draft->value, "'checkpoint_age_s' lies before its tasks began to run");
    const char *complaint = job_complaint(&job->job);
    if (complaint != NULL && !case_failed(reading))
        json_fail(draft->value, "%s", complaint);
}

/* The part of the job that stays: without the leaving tasks, if its minimums allow that. */
static enum part staying_part(const struct case_draft *draft)
{
    if (count_in(draft, PART_STAYS, SET_NONE) < draft->min_members)
        return PART_ALL;
    for (uint32_t i = 0; i < draft->set_count; i++) {
        const uint32_t stays = count_in(draft, PART_STAYS, (uint16_t)i);
        if (draft->set_has_min[i] && stays < draft->sets[i].min_members)
            return PART_ALL;
        /* If the job can run without some subgroups, an empty one would count as satisfied. */
        if (stays == 0 && count_in(draft, PART_ALL, (uint16_t)i) > 0 &&
            sets_may_lack(draft->sets, draft->set_count, draft->job.min_sets))
            return PART_ALL;
    }
    return PART_STAYS;
}

/* Order of ids: by submission, then by the text. */
static int compare_submit(const void *a, const void *b)
{
    const struct case_job *x = a, *y = b;
    if (x->job.submit != y->job.submit)
        return x->job.submit < y->job.submit ? -1 : 1;
    return x->job.id < y->job.id ? -1 : 1;
}

/* Leaving parts come after all jobs. */
static void make_jobs(struct case_reading *reading, struct case_draft *drafts, uint32_t count)
{
    struct case_spec *spec = reading->spec;
    spec->jobs = arena_alloc_array(reading->arena, 2 * (size_t)count, struct case_job);
    spec->job_count = count;
    for (uint32_t j = 0; j < count && !case_failed(reading); j++) {
        bool all_leave = count_in(&drafts[j], PART_STAYS, SET_NONE) == 0;
        make_job(reading, &drafts[j], all_leave ? PART_LEAVES : staying_part(&drafts[j]), &spec->jobs[j]);
        spec->jobs[j].job.id = j;
    }
    if (case_failed(reading))
        return;
    qsort(spec->jobs, count, sizeof *spec->jobs, compare_submit);
    reading->job_ids = arena_alloc_array(reading->arena, count, uint32_t);
    for (uint32_t id = 0; id < count; id++) {
        reading->job_ids[spec->jobs[id].job.id] = id;
        spec->jobs[id].job.id = id;
    }
    for (uint32_t j = 0; j < count && !case_failed(reading); j++) {
        uint32_t main = reading->job_ids[j];
        if (spec->jobs[main].is_leaving || count_in(&drafts[j], PART_LEAVES, SET_NONE) == 0)
            continue;
        struct case_job *part = &spec->jobs[spec->job_count];
        make_job(reading, &drafts[j], PART_LEAVES, part);
        part->part_of = main;
        part->job.id = spec->job_count++;
    }
}

void case_jobs_read(struct case_reading *reading, const struct json_value *array)
{
    enum { JOBS_MAX = 100000 };
    size_t count = json_array_count(array);
    bool has_queues = reading->spec->queues->count > 1;
    if (!case_failed(reading) && (count == 0 || count > JOBS_MAX))
        json_fail(array, "a case has from 1 to %d jobs", JOBS_MAX);
    struct case_draft *drafts = arena_alloc_array(reading->arena, count + 1, struct case_draft);
    for (size_t i = 0; i < count && !case_failed(reading); i++) {
        drafts[i].value = case_item(reading, array, i);
        read_job(reading, &drafts[i], has_queues, (uint32_t)(count - 1 - i));
        if (!case_failed(reading) && names_add(reading->job_names, text_of(drafts[i].name)) != (uint32_t)i)
            json_fail(drafts[i].value, "there is a job named '%s' already", drafts[i].name);
    }
    case_tasks_place(reading, drafts, (uint32_t)count);
    if (!case_failed(reading))
        make_jobs(reading, drafts, (uint32_t)count);
}
