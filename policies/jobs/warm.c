#include "policies/jobs/warm.h"

#include "base/mem.h"

enum { WARM_OBJECTS = WARM_SETS * WARM_WAYS };

void warm_open(struct warm *warm)
{
    if (!warm_is_open(warm))
        warm->objects = mem_zalloc(WARM_OBJECTS, sizeof *warm->objects);
}

void warm_release(struct warm *warm)
{
    mem_free(warm->objects);
    mem_free(warm->jobs);
    *warm = (struct warm){0};
}

void warm_know(struct warm *warm, uint32_t slot, const struct job_objects *objects)
{
    MEM_GROW(warm->jobs, warm->job_capacity, (size_t)slot + 1);
    if (slot >= warm->job_count)
        warm->job_count = slot + 1;
    warm->jobs[slot] = objects != NULL ? *objects : (struct job_objects){.count = 0};
}

static struct warm_object *set_of(const struct warm *warm, uint32_t object)
{
    return &warm->objects[(size_t)(object % WARM_SETS) * WARM_WAYS];
}

static struct warm_object *find(const struct warm *warm, uint32_t object)
{
    struct warm_object *set = set_of(warm, object);
    for (int way = 0; way < WARM_WAYS; way++)
        if (set[way].object == object + 1)
            return &set[way];
    return NULL;
}

const struct warm_object *warm_find(const struct warm *warm, uint32_t object)
{
    return find(warm, object);
}

/* The one of its set that started longest ago. */
static struct warm_object *make_room(const struct warm *warm, uint32_t object)
{
    struct warm_object *set = set_of(warm, object), *oldest = set;
    for (int way = 1; way < WARM_WAYS; way++)
        if (set[way].used < oldest->used)
            oldest = &set[way];
    *oldest = (struct warm_object){.object = object + 1};
    return oldest;
}

/* To the front; without a place the last node gives way. */
static void put_first(struct warm_object *object, node_id node)
{
    uint32_t at = 0;
    while (at < object->count && object->nodes[at] != node)
        at++;
    if (at == object->count && object->count < WARM_NODES)
        object->count++;
    for (at = at < object->count ? at : object->count - 1; at > 0; at--)
        object->nodes[at] = object->nodes[at - 1];
    object->nodes[0] = node;
}

void warm_started(struct warm *warm, uint32_t slot, node_id node)
{
    const struct job_objects *objects = warm_objects(warm, slot);
    for (uint32_t o = 0; objects != NULL && o < objects->count; o++) {
        struct warm_object *object = find(warm, objects->of[o].id);
        if (object == NULL)
            object = make_room(warm, objects->of[o].id);
        object->used = ++warm->starts;
        put_first(object, node);
    }
}

const struct job_objects *warm_objects(const struct warm *warm, uint32_t slot)
{
    return slot < warm->job_count && warm->jobs[slot].count > 0 ? &warm->jobs[slot] : NULL;
}

bool warm_remembers(const struct warm_object *object, node_id node)
{
    for (uint32_t n = 0; object != NULL && n < object->count; n++)
        if (object->nodes[n] == node)
            return true;
    return false;
}
