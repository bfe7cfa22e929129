#include "sim/engine/engine_nodes.h"

void engine_nodes_open(struct engine *engine)
{
    if (engine->states[PART_nodes] != NULL)
        return;
    struct engine_nodes *nodes = engine->states[PART_nodes] = mem_zalloc(1, sizeof *nodes);
    nodes->of = mem_zalloc(engine->config->cluster->node_count, sizeof *nodes->of); /* all are NODE_UP */
}

/* Another part opens it. */
static void *begin(struct engine *engine, uint32_t needs)
{
    (void)engine;
    (void)needs;
    return NULL;
}

static void release(struct engine *engine)
{
    struct engine_nodes *nodes = engine_nodes_of(engine);
    mem_free(nodes->of);
    mem_free(nodes->emptied);
    mem_free(nodes);
}

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
        EACH_PART(engine, serves)(engine, node, sign);
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

const struct engine_part engine_part_nodes = {
    .begin = begin, .release = release, .check = engine_nodes_check, .settle = settle, .taken = taken};
