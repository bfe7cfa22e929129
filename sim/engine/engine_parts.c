/* The parts by name, and which of them a run has; see sim/engine/engine_part.h. */
#include "sim/engine/engine_state.h"

#define ENGINE_PART_ROW(name) [PART_##name] = &engine_part_##name,
static const struct engine_part *const parts[PART_COUNT] = {ENGINE_PARTS(ENGINE_PART_ROW)};

/* Fill engine->parts with the parts that have a state, in the order of the table. */
static void list_parts(struct engine *engine)
{
    uint32_t count = 0;
    for (int id = 0; id < PART_COUNT; id++)
        if (engine->states[id] != NULL)
            engine->parts[count++] = parts[id];
    engine->parts[count] = NULL;
}

void engine_parts_begin(struct engine *engine)
{
    for (int id = 0; id < PART_COUNT; id++)
        if (engine->states[id] == NULL)
            engine->states[id] = parts[id]->begin(engine, 0);
    list_parts(engine);
}

void engine_parts_need(struct engine *engine, uint32_t needs)
{
    engine->needs |= needs;
    for (int id = 0; id < PART_COUNT; id++)
        if (engine->states[id] == NULL && (parts[id]->needs & needs) != 0)
            engine->states[id] = parts[id]->begin(engine, needs);
    list_parts(engine);
}
