#include "sim/engine/engine_nodes.h"

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
    struct engine_nodes *nodes = mem_zalloc(1, sizeof *nodes);
    nodes->of = mem_zalloc(cluster->node_count, sizeof *nodes->of); /* all are NODE_UP */
    nodes->in_service = mem_zalloc(cluster->pool_count, sizeof *nodes->in_service);
    for (uint32_t p = 0; p < cluster->pool_count; p++)
        nodes->in_service[p] = cluster->pools[p].node_count;
    return nodes;
}

static void release(struct engine *engine)
{
    struct engine_nodes *nodes = engine_nodes_of(engine);
    mem_free(nodes->of);
    mem_free(nodes->in_service);
    mem_free(nodes->emptied);
    mem_free(nodes);
}

/* ---- One node ---- */

void engine_node_set(struct engine *engine, node_id node, enum node_state state)
{
    struct sim_node *own = &engine_nodes_of(engine)->of[node];
    const bool was_up = own->state == NODE_UP, is_up = state == NODE_UP;
    if (own->state == state)
        return;
    own->state = (uint8_t)state;
    if (was_up != is_up) {
        const int sign = is_up ? 1 : -1;
        engine_level(engine, LEVEL_ABSENT, -sign * engine_node_unheld(engine, node));
        engine_gpus_count(engine, node, sign);
    }
    engine_hash(engine, 0x60 + (uint64_t)state, node);
    port_node_changed(&engine->port, node, state, engine->now);
    engine_want_cycle(engine, engine->now);
}

static void taken(struct engine *engine, const struct piece *pieces, uint32_t count, int sign)
{
    struct engine_nodes *nodes = engine_nodes_of(engine);
    for (uint32_t i = 0; i < count; i++) {
        const node_id n = pieces[i].node;
        struct sim_node *own = &nodes->of[n];
        const int64_t milli = sign * pieces_gpu_milli(&pieces[i], 1);
        own->members += sign > 0 ? pieces[i].member_count : 0U - pieces[i].member_count;
        own->taken_milli += milli;
        if (own->state == NODE_UP)
            continue;
        engine_level(engine, LEVEL_ABSENT, -milli);
        if (!engine_node_is_empty(own) || own->is_listed)
            continue;
        MEM_GROW(nodes->emptied, nodes->emptied_capacity, (size_t)nodes->emptied_count + 1);
        nodes->emptied[nodes->emptied_count++] = n;
        own->is_listed = true;
    }
}

static void settle(struct engine *engine)
{
    struct engine_nodes *nodes = engine_nodes_of(engine);
    for (uint32_t i = 0; i < nodes->emptied_count; i++) {
        struct sim_node *own = &nodes->of[nodes->emptied[i]];
        own->is_listed = false;
        if (own->state == NODE_DRAINING && engine_node_is_empty(own))
            engine_node_set(engine, nodes->emptied[i], NODE_ABSENT);
    }
    nodes->emptied_count = 0;
}

/* ---- The recorded size ---- */

static time_ns step_at(const struct engine *engine, uint32_t step)
{
    return capacity_step_at(table_of(engine), step, job_source_facts(engine->config->source));
}

static void resize_pool(struct engine *engine, uint32_t pool, uint32_t count)
{
    const struct node_pool *of = &engine->config->cluster->pools[pool];
    struct engine_nodes *nodes = engine_nodes_of(engine);
    while (nodes->in_service[pool] > count) {
        const node_id node = of->first + --nodes->in_service[pool];
        engine_node_set(engine, node, engine_node_is_empty(&nodes->of[node]) ? NODE_ABSENT : NODE_DRAINING);
    }
    while (nodes->in_service[pool] < count)
        engine_node_set(engine, of->first + nodes->in_service[pool]++, NODE_UP);
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
    struct engine_nodes *nodes = engine_nodes_of(engine);
    for (; nodes->next < table->count && step_at(engine, nodes->next) <= engine->now; nodes->next++) {
        const struct capacity_step *step = &table->steps[nodes->next];
        if (step->nodes != nodes->in_service[step->pool] && !is_overtaken(engine, nodes->next))
            resize_pool(engine, step->pool, step->nodes);
    }
}

static time_ns next(const struct engine *engine)
{
    const bool is_needed = engine->config->world.end != TIME_NEVER || engine->next.is_there ||
                           engine->counts.submitted > engine->counts.ended + engine->counts.rejected;
    if (engine_nodes_of(engine)->next == table_of(engine)->count || !is_needed)
        return TIME_NEVER;
    return step_at(engine, engine_nodes_of(engine)->next);
}

const struct engine_part engine_part_nodes = {.begin = begin,
                                              .release = release,
                                              .check = engine_nodes_check,
                                              .next = next,
                                              .instant = instant,
                                              .settle = settle,
                                              .taken = taken};
