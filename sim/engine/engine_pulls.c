/* Cold starts; see sim/engine/engine_pulls.h. */
#include "sim/engine/engine_pulls.h"

#include <stdlib.h>

#include "sim/caches/pulls.h"

_Static_assert((int)RECORD_PULL_COUNT == (int)PULL_SOURCE_COUNT && (int)RECORD_PULL_RACK == (int)PULL_RACK &&
                   (int)RECORD_PULL_LOCAL == (int)PULL_LOCAL,
               "the record counts the same sources");

/* Of one job. */
struct sim_pulls {
    struct job_objects objects;
    time_ns ready; /* when all was there for the first time; TIME_NEVER: not yet */
};

struct engine_pulls {
    struct pulls *pulls;
    struct pull_names names;
    struct sim_pulls *jobs; /* by slot */
    size_t job_capacity;
    node_id *nodes; /* scratch: of a job */
    size_t node_capacity;
    time_ns due; /* of the event that was pushed last */
    uint32_t generation;
    struct pull_row row; /* scratch */
};

static struct engine_pulls *pulls_of(const struct engine *engine)
{
    return engine->states[PART_pulls];
}

static void *begin(struct engine *engine, uint32_t needs)
{
    (void)needs;
    const struct pull_table *table = &engine->config->world.cold_starts;
    if (!table->is_on)
        return NULL;
    struct engine_pulls *own = mem_zalloc(1, sizeof *own);
    own->pulls = pulls_new(table, engine->config->cluster);
    own->due = TIME_NEVER;
    return own;
}

static void release(struct engine *engine)
{
    struct engine_pulls *own = pulls_of(engine);
    pulls_free(own->pulls);
    pull_names_release(&own->names);
    mem_free(own->jobs);
    mem_free(own->nodes);
    mem_free(own);
}

static void submitted(struct engine *engine, uint32_t slot, const struct job_asked *asked)
{
    struct engine_pulls *own = pulls_of(engine);
    const struct engine_config *config = engine->config;
    MEM_GROW(own->jobs, own->job_capacity, (size_t)engine->job_used);
    own->jobs[slot] =
        (struct sim_pulls){.objects = pull_table_objects(&config->world.cold_starts, &own->names, config->cluster,
                                                         asked->job, asked->names, config->seed),
                           .ready = TIME_NEVER};
    pulls_clear(own->pulls, slot);
}

static void told(const struct engine *engine, uint32_t slot, struct job *job)
{
    const struct job_objects *objects = &pulls_of(engine)->jobs[slot].objects;
    job->objects = objects->count > 0 ? objects : NULL;
}

/* Push the event of the next pull that is whole, if it is at another time than before. */
static void push_due(struct engine *engine)
{
    struct engine_pulls *own = pulls_of(engine);
    const time_ns due = pulls_next(own->pulls);
    if (due == own->due)
        return;
    own->due = due;
    own->generation++;
    if (due != TIME_NEVER)
        event_queue_push(&engine->events, due > engine->now ? due : engine->now, EVENT_PULLS, UINT32_MAX,
                         own->generation);
}

static int compare_nodes(const void *a, const void *b)
{
    const node_id x = *(const node_id *)a, y = *(const node_id *)b;
    return (x > y) - (x < y);
}

/* The nodes that it holds, distinct and in order. */
static uint32_t list_nodes(struct engine_pulls *own, const struct job_pieces *held)
{
    const struct piece *pieces = job_pieces_all(held);
    uint32_t count = 0, distinct = 0;
    MEM_GROW(own->nodes, own->node_capacity, (size_t)held->piece_count);
    for (uint32_t p = 0; p < held->piece_count; p++)
        own->nodes[count++] = pieces[p].node;
    qsort(own->nodes, count, sizeof *own->nodes, compare_nodes);
    for (uint32_t n = 0; n < count; n++)
        if (distinct == 0 || own->nodes[distinct - 1] != own->nodes[n])
            own->nodes[distinct++] = own->nodes[n];
    return distinct;
}

static void note_ready(struct engine *engine, uint32_t slot)
{
    struct sim_pulls *job = &pulls_of(engine)->jobs[slot];
    if (job->ready == TIME_NEVER)
        job->ready = engine->now;
}

bool engine_pulls_begin(struct engine *engine, uint32_t slot)
{
    struct engine_pulls *own = pulls_of(engine);
    const struct sim_pulls *job = &own->jobs[slot];
    bool is_ready = true;
    if (job->objects.count > 0) {
        const uint32_t count = list_nodes(own, &engine->jobs[slot].pieces);
        is_ready = pulls_begin(own->pulls, slot, own->nodes, count, &job->objects, engine->now);
        push_due(engine);
    }
    if (is_ready)
        note_ready(engine, slot);
    return is_ready;
}

static void stops(struct engine *engine, uint32_t slot)
{
    pulls_stop(pulls_of(engine)->pulls, slot, engine->now);
    push_due(engine);
}

bool engine_pulls_are_due(const struct engine *engine, uint32_t generation)
{
    return generation == pulls_of(engine)->generation;
}

bool engine_pulls_take(struct engine *engine, uint32_t *slot)
{
    struct engine_pulls *own = pulls_of(engine);
    own->due = TIME_NEVER;
    if (pulls_take(own->pulls, engine->now, slot)) {
        note_ready(engine, *slot);
        return true;
    }
    push_due(engine);
    return false;
}

static void row(struct engine *engine, uint32_t slot, struct job_row *out)
{
    struct engine_pulls *own = pulls_of(engine);
    const struct pull_counts counts = pulls_counts(own->pulls, slot);
    own->row.ready = own->jobs[slot].ready;
    for (int source = 0; source < RECORD_PULL_COUNT; source++)
        own->row.bytes[source] = counts.bytes[source];
    out->pulls = &own->row;
}

const struct engine_part engine_part_pulls = {
    .begin = begin, .release = release, .submitted = submitted, .told = told, .stops = stops, .row = row};
