/* sim/cases/case_expect.c -- expectations: read, and compared with what came. */
#include <string.h>

#include "sim/cases/case_read.h"
#include "sim/cases/case_state.h"

#define GPUS_MAX (INT64_C(1000000) * CASE_MILLI)

/* ---- Reading ---- */

/* A number of tasks, or true (at least one) or false (none). */
static int64_t read_some(struct json_object *object, const char *key, bool *is_any)
{
    struct json_value value = json_member(object, key);
    if (value.node == NULL)
        return -1;
    *is_any = json_is_boolean(value.node);
    if (*is_any)
        return json_get_bool(object, key, false);
    return json_get_int(object, key, 0, CASE_TASKS_MAX, -1);
}

static int read_reason(struct json_object *object)
{
    const char *names[REASON_COUNT + 1];
    for (int reason = 0; reason < REASON_COUNT; reason++)
        names[reason] = reason_name((enum reason)reason);
    names[REASON_COUNT] = NULL;
    return json_get_choice(object, "reason", names, -1);
}

/* The nodes that the member lists; NULL: it is absent. */
static const node_id *read_nodes(struct case_reading *reading, struct json_object *object, const char *key,
                                 uint32_t *node_count)
{
    struct json_value value = json_member(object, key);
    if (value.node == NULL)
        return NULL;
    const size_t count = json_list_count(&value);
    node_id *nodes = arena_alloc_array(reading->arena, count + 1, node_id);
    for (size_t i = 0; i < count && !case_failed(reading); i++) {
        struct json_value item = json_list_item(&value, i);
        nodes[i] = case_node_of(reading, &item);
        for (size_t k = 0; k < i; k++)
            if (nodes[k] == nodes[i])
                json_fail(&item, "the node stands here twice");
    }
    *node_count = (uint32_t)count;
    return nodes;
}

/* A task that ran at first, by name or by number. */
static uint32_t read_task(struct case_reading *reading, const struct case_job *job, const struct json_value *value)
{
    const char *name = json_is_string(value->node) ? json_value_string(value) : NULL;
    uint32_t task = UINT32_MAX, named = 0;
    if (name == NULL)
        task = (uint32_t)json_value_int(value, 0, (int64_t)job->task_count - 1);
    for (uint32_t t = 0; name != NULL && t < job->task_count; t++)
        if (job->task_names[t] != NULL && strcmp(job->task_names[t], name) == 0) {
            task = t;
            named++;
        }
    if (case_failed(reading))
        return 0;
    if (name != NULL && named != 1) {
        json_fail(value, named == 0 ? "the job has no task '%s'" : "several tasks are named '%s'", name);
        error_set_hint(reading->error, "a number names a task too: they are counted from 0, those "
                                       "of a 'count' each");
        return 0;
    }
    for (uint32_t p = 0; p < job->piece_count; p++)
        if (job->piece_tasks[p] == task)
            return task;
    json_fail(value, "the task does not run at first, so that it cannot be told from others");
    return 0;
}

static void read_evicted_tasks(struct case_reading *reading, struct json_object *object, const struct case_job *job,
                               struct case_expect *expect)
{
    struct json_value value = json_member(object, "evicted_tasks");
    if (value.node == NULL)
        return;
    size_t count = json_array_count(&value);
    uint32_t *tasks = arena_alloc_array(reading->arena, count + 1, uint32_t);
    for (size_t i = 0; i < count && !case_failed(reading); i++) {
        struct json_value item = json_array_item(&value, i);
        size_t at = i;
        uint32_t task = read_task(reading, job, &item);
        for (; at > 0 && tasks[at - 1] > task; at--)
            tasks[at] = tasks[at - 1];
        tasks[at] = task;
    }
    expect->evicted_tasks = tasks;
    expect->evicted_task_count = (uint32_t)count;
}

static uint16_t read_mask(struct case_reading *reading, const struct json_value *value)
{
    const size_t count = json_list_count(value);
    uint16_t mask = 0;
    for (size_t i = 0; i < count && !case_failed(reading); i++) {
        struct json_value item = json_list_item(value, i);
        mask |= (uint16_t)(1u << json_value_int(&item, 0, NODE_GPUS_MAX - 1));
    }
    return mask;
}

/* A flat list names all GPUs of the job; a list of lists names those of each node. */
static void read_gpu_index(struct case_reading *reading, struct json_object *object, struct case_expect *expect)
{
    struct json_value value = json_member(object, "gpu_index");
    if (value.node == NULL)
        return;
    bool is_by_node = json_is_array(json_array_get(value.node, 0));
    size_t count = is_by_node ? json_array_count(&value) : 1;
    uint16_t *masks = arena_alloc_array(reading->arena, count, uint16_t);
    if (is_by_node && count != expect->node_count) {
        json_fail(&value, "a list for each node needs as many as 'node' names");
        return;
    }
    for (size_t i = 0; i < count && !case_failed(reading); i++) {
        struct json_value item = is_by_node ? json_array_item(&value, i) : value;
        masks[i] = read_mask(reading, &item);
    }
    expect->gpu_masks = masks;
    expect->gpu_mask_count = (uint32_t)count;
}

static void read_job(struct case_reading *reading, struct case_job *job, const struct json_value *value)
{
    struct json_object object;
    struct case_expect *expect = &job->expect;
    json_object_open(&object, value);
    expect->is_given = true;
    expect->status = json_get_choice(&object, "status", case_status_names, -1);
    expect->running = json_get_int(&object, "running", 0, CASE_TASKS_MAX, -1);
    expect->gpu_milli = json_get_scaled(&object, "gpus", CASE_MILLI, 0, GPUS_MAX, -1);
    expect->evicted = read_some(&object, "evicted", &expect->any_evicted);
    expect->reserved = read_some(&object, "reserved", &expect->any_reserved);
    expect->reason = read_reason(&object);
    expect->nodes = read_nodes(reading, &object, "node", &expect->node_count);
    expect->reserved_nodes = read_nodes(reading, &object, "reserved_node", &expect->reserved_node_count);
    read_evicted_tasks(reading, &object, job, expect);
    read_gpu_index(reading, &object, expect);
    json_object_close(&object);
}

void case_expect_read(struct case_reading *reading, const struct json_value *value)
{
    struct json_object object;
    const char *name;
    json_object_open(&object, value);
    for (size_t i = 0; (name = json_object_key(&object, i)) != NULL; i++) {
        if (strcmp(name, "$comment") == 0)
            continue;
        struct json_value member = json_member(&object, name);
        uint32_t index = names_find(reading->job_names, text_of(name));
        if (index == NAMES_NONE) {
            json_fail(&member, "there is no job '%s'", name);
            return;
        }
        if (member.node != NULL)
            read_job(reading, &reading->spec->jobs[reading->job_ids[index]], &member);
    }
    if (!case_failed(reading) && json_object_size(value->node) == 0)
        json_fail(value, "a case that expects nothing cannot fail");
}

/* ---- Saying ---- */

static void say_gpus(struct buffer *out, uint16_t mask)
{
    bool is_first = true;
    for (int gpu = 0; gpu < NODE_GPUS_MAX; gpu++) {
        int last = gpu;
        if (!(mask >> gpu & 1))
            continue;
        while (last + 1 < NODE_GPUS_MAX && (mask >> (last + 1) & 1))
            last++;
        buffer_format(out, last > gpu ? "%s%d-%d" : "%s%d", is_first ? "" : ",", gpu, last);
        is_first = false;
        gpu = last;
    }
    if (mask == 0)
        buffer_string(out, "none");
}

static void say_places(const struct case_spec *spec, const struct case_state *state, struct buffer *out)
{
    for (uint32_t i = 0; i < state->place_count; i++) {
        const struct case_place *place = &state->places[i];
        buffer_format(out, "%s%s", i > 0 ? " " : "", spec->cluster->nodes[place->node].name);
        if (place->gpu_mask != 0)
            buffer_char(out, ':');
        if (place->gpu_mask != 0)
            say_gpus(out, place->gpu_mask);
    }
}

void case_describe(const struct case_spec *spec, const struct case_state *state, struct buffer *out)
{
    buffer_format(out, "%-9s %lld running, ", case_status_names[state->status], (long long)state->running);
    buffer_scaled(out, state->gpu_milli, CASE_MILLI);
    buffer_string(out, " GPUs");
    if (state->place_count > 0)
        buffer_string(out, state->running > 0                ? ", on "
                           : state->status == CASE_RELEASING ? ", leaves "
                                                             : ", to start on ");
    say_places(spec, state, out);
    if (state->reserved > 0)
        buffer_format(out, ", %lld reserved", (long long)state->reserved);
    if (state->why != REASON_NONE)
        buffer_format(out, ", waits: %s", reason_name(state->why));
    if (state->evicted > 0)
        buffer_format(out, ", %lld evicted", (long long)state->evicted);
    if (state->evicted_by != REASON_NONE)
        buffer_format(out, " (%s)", reason_name(state->evicted_by));
}

/* ---- Comparing ---- */

struct comparing {
    const struct case_spec *spec;
    const struct case_state *state;
    struct buffer *out;
    const char *job;
    bool differs;
};

/* Begin a difference: "JOB: what". */
static struct buffer *differ(struct comparing *comparing, const char *what)
{
    struct buffer *out = comparing->out;
    if (comparing->differs)
        buffer_string(out, ", ");
    else
        buffer_format(out, "%s%s: ", out->length > 0 ? "; " : "", comparing->job);
    buffer_string(out, what);
    comparing->differs = true;
    return out;
}

static void compare_number(struct comparing *comparing, const char *what, int64_t expected, int64_t got, int64_t scale)
{
    if (expected < 0 || expected == got)
        return;
    struct buffer *out = differ(comparing, what);
    buffer_char(out, ' ');
    buffer_scaled(out, got, scale);
    buffer_string(out, ", expected ");
    buffer_scaled(out, expected, scale);
}

static void compare_some(struct comparing *comparing, const char *what, int64_t expected, bool is_any, int64_t got)
{
    if (!is_any)
        compare_number(comparing, what, expected, got, 1);
    else if ((expected > 0) != (got > 0))
        buffer_format(differ(comparing, what), " %s, expected %s", got > 0 ? "true" : "false",
                      expected > 0 ? "true" : "false");
}

struct places {
    const struct case_place *at;
    uint32_t count;
};

static bool is_on(struct places places, node_id node, uint16_t *mask)
{
    for (uint32_t i = 0; i < places.count; i++)
        if (places.at[i].node == node) {
            *mask = places.at[i].gpu_mask;
            return true;
        }
    return false;
}

/* expected NULL: any nodes. */
static void compare_nodes(struct comparing *comparing, const char *what, struct places places, const node_id *expected,
                          uint32_t count)
{
    const struct node *nodes = comparing->spec->cluster->nodes;
    uint32_t common = 0;
    uint16_t ignored;
    for (uint32_t i = 0; expected != NULL && i < count; i++)
        common += is_on(places, expected[i], &ignored);
    if (expected == NULL || (common == count && common == places.count))
        return;
    struct buffer *out = differ(comparing, what);
    for (uint32_t i = 0; i < places.count; i++)
        buffer_format(out, " %s", nodes[places.at[i].node].name);
    buffer_string(out, places.count == 0 ? " none, expected" : ", expected");
    for (uint32_t i = 0; i < count; i++)
        buffer_format(out, " %s", nodes[expected[i]].name);
    if (count == 0)
        buffer_string(out, " none");
}

static void say_task(struct buffer *out, const struct case_job *job, uint32_t task)
{
    if (job->task_names[task] != NULL)
        buffer_format(out, " %s", job->task_names[task]);
    else
        buffer_format(out, " %u", task);
}

static void compare_evicted_tasks(struct comparing *comparing, const struct case_job *job)
{
    const struct case_expect *expect = &job->expect;
    const struct case_state *state = comparing->state;
    if (expect->evicted_tasks == NULL ||
        (expect->evicted_task_count == state->evicted_task_count &&
         (state->evicted_task_count == 0 || memcmp(expect->evicted_tasks, state->evicted_tasks,
                                                   state->evicted_task_count * sizeof *state->evicted_tasks) == 0)))
        return;
    struct buffer *out = differ(comparing, "evicted_tasks");
    for (uint32_t i = 0; i < state->evicted_task_count; i++)
        say_task(out, job, state->evicted_tasks[i]);
    buffer_string(out, state->evicted_task_count == 0 ? " none, expected" : ", expected");
    for (uint32_t i = 0; i < expect->evicted_task_count; i++)
        say_task(out, job, expect->evicted_tasks[i]);
    if (expect->evicted_task_count == 0)
        buffer_string(out, " none");
}

static void compare_masks(struct comparing *comparing, const struct case_expect *expect)
{
    const struct case_state *state = comparing->state;
    for (uint32_t i = 0; i < expect->gpu_mask_count; i++) {
        uint16_t mask = 0;
        if (expect->gpu_mask_count > 1)
            is_on((struct places){state->places, state->place_count}, expect->nodes[i], &mask);
        for (uint32_t p = 0; expect->gpu_mask_count == 1 && p < state->place_count; p++)
            mask |= state->places[p].gpu_mask;
        if (mask == expect->gpu_masks[i])
            continue;
        struct buffer *out = differ(comparing, "gpu_index ");
        say_gpus(out, mask);
        buffer_string(out, ", expected ");
        say_gpus(out, expect->gpu_masks[i]);
    }
}

/* A job that was evicted and waits has two reasons; each of them matches. */
static void compare_reason(struct comparing *comparing, const struct case_expect *expect)
{
    const struct case_state *state = comparing->state;
    if (expect->reason < 0 || (enum reason)expect->reason == state->why ||
        (enum reason)expect->reason == state->evicted_by)
        return;
    struct buffer *out = differ(comparing, "reason ");
    buffer_string(out, reason_name(state->why != REASON_NONE ? state->why : state->evicted_by));
    if (state->why != REASON_NONE && state->evicted_by != REASON_NONE)
        buffer_format(out, " (evicted: %s)", reason_name(state->evicted_by));
    buffer_format(out, ", expected %s", reason_name((enum reason)expect->reason));
}

void case_compare(const struct case_spec *spec, const struct case_job *job, const struct case_state *state,
                  struct buffer *differs)
{
    const struct case_expect *expect = &job->expect;
    struct comparing comparing = {.spec = spec, .state = state, .out = differs, .job = job->name};
    if (!expect->is_given)
        return;
    if (expect->status >= 0 && (enum case_status)expect->status != state->status)
        buffer_format(differ(&comparing, "status"), " %s, expected %s", case_status_names[state->status],
                      case_status_names[expect->status]);
    compare_number(&comparing, "running", expect->running, state->running, 1);
    compare_number(&comparing, "gpus", expect->gpu_milli, state->gpu_milli, CASE_MILLI);
    compare_some(&comparing, "evicted", expect->evicted, expect->any_evicted, state->evicted);
    compare_some(&comparing, "reserved", expect->reserved, expect->any_reserved, state->reserved);
    compare_reason(&comparing, expect);
    compare_nodes(&comparing, "node", (struct places){state->places, state->place_count}, expect->nodes,
                  expect->node_count);
    compare_nodes(&comparing, "reserved_node", (struct places){state->reserved_places, state->reserved_place_count},
                  expect->reserved_nodes, expect->reserved_node_count);
    compare_evicted_tasks(&comparing, job);
    compare_masks(&comparing, expect);
}
