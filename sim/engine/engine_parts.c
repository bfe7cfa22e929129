/* The parts by name, and which of them a run has; see sim/engine/engine_part.h. */
#include "sim/engine/engine_state.h"

#define ENGINE_PART_ROW(name) [PART_##name] = &engine_part_##name,
static const struct engine_part *const parts[PART_COUNT] = {ENGINE_PARTS(ENGINE_PART_ROW)};

/* Those that have a state, in the order of the table. */
static void list_parts(struct engine *engine)
{
    uint32_t count = 0, sleepers = 0;
    for (int id = 0; id < PART_COUNT; id++)
        if (engine->states[id] != NULL)
            engine->parts[count++] = parts[id];
        else if (parts[id]->wants != NULL)
            engine->sleepers[sleepers++] = parts[id];
    engine->parts[count] = engine->sleepers[sleepers] = NULL;
}

void engine_parts_begin(struct engine *engine)
{
    for (int id = 0; id < PART_COUNT; id++)
        if (parts[id]->wants == NULL && parts[id]->begin != NULL)
            engine->states[id] = parts[id]->begin(engine);
    list_parts(engine);
}

void engine_parts_wake(struct engine *engine, const struct job *job, const struct job_truth *truth)
{
    for (int id = 0; id < PART_COUNT; id++)
        if (engine->states[id] == NULL && parts[id]->wants != NULL && parts[id]->wants(engine, job, truth))
            engine->states[id] = parts[id]->begin(engine);
    list_parts(engine);
}
