/* The recorded size of the cluster, a part: nodes come and go (engine_nodes.h).
 *
 * world.capacity says how many nodes of a pool are in service: these are its first nodes.  So the nodes with the
 * highest numbers leave first and come back last, and all policies see the same nodes at the same times.  If the
 * emptiest left first, the world would depend on the policy.
 *
 * Laws
 *  - With a size that is always the cluster's nothing is told, counted or hashed.
 *  - Changes of the size keep a run alive only while jobs come, wait or run, or up to world.end. */
#include "sim/engine/engine_nodes.h"

struct capacity {
    uint32_t *in_service; /* by pool: nodes, the first ones */
    uint32_t next;        /* step of world.capacity */
};

static struct capacity *capacity_of(const struct engine *engine)
{
    return engine->states[PART_capacity];
}

static const struct capacity_table *table_of(const struct engine *engine)
{
    return &engine->config->world.capacity;
}

static void *begin(struct engine *engine, uint32_t needs)
{
    (void)needs;
    const struct cluster *cluster = engine->config->cluster;
    if (table_of(engine)->count == 0)
        return NULL;
    engine_nodes_open(engine);
    struct capacity *own = mem_zalloc(1, sizeof *own);
    own->in_service = mem_zalloc(cluster->pool_count, sizeof *own->in_service);
    for (uint32_t p = 0; p < cluster->pool_count; p++)
        own->in_service[p] = cluster->pools[p].node_count;
    return own;
}

static void release(struct engine *engine)
{
    mem_free(capacity_of(engine)->in_service);
    mem_free(capacity_of(engine));
}

static time_ns step_at(const struct engine *engine, uint32_t step)
{
    return capacity_step_at(table_of(engine), step, job_source_facts(engine->config->source));
}

static void resize_pool(struct engine *engine, uint32_t pool, uint32_t count)
{
    const struct node_pool *of = &engine->config->cluster->pools[pool];
    struct capacity *own = capacity_of(engine);
    while (own->in_service[pool] > count) {
        const node_id node = of->first + --own->in_service[pool];
        engine_node_set(engine, node,
                        engine_node_is_empty(&engine_nodes_of(engine)->of[node]) ? NODE_ABSENT : NODE_DRAINING);
    }
    while (own->in_service[pool] < count)
        engine_node_set(engine, of->first + own->in_service[pool]++, NODE_UP);
}

/* Of several steps of a pool at one instant the last counts. */
static bool is_overtaken(const struct engine *engine, uint32_t step)
{
    const struct capacity_table *table = table_of(engine);
    for (uint32_t later = step + 1; later < table->count && step_at(engine, later) <= engine->now; later++)
        if (table->steps[later].pool == table->steps[step].pool)
            return true;
    return false;
}

static void instant(struct engine *engine)
{
    const struct capacity_table *table = table_of(engine);
    struct capacity *own = capacity_of(engine);
    for (; own->next < table->count && step_at(engine, own->next) <= engine->now; own->next++) {
        const struct capacity_step *step = &table->steps[own->next];
        if (step->nodes != own->in_service[step->pool] && !is_overtaken(engine, own->next))
            resize_pool(engine, step->pool, step->nodes);
    }
}

static time_ns next(const struct engine *engine)
{
    const bool is_needed = engine->config->world.end != TIME_NEVER || engine->next.is_there ||
                           engine->counts.submitted > engine->counts.ended + engine->counts.rejected;
    if (capacity_of(engine)->next == table_of(engine)->count || !is_needed)
        return TIME_NEVER;
    return step_at(engine, capacity_of(engine)->next);
}

const struct engine_part engine_part_capacity = {.begin = begin, .release = release, .next = next, .instant = instant};
