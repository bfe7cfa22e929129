/* When the next cycle is, and which events were cancelled. */
#include "sim/engine/engine_state.h"

/* The first tick of the scheduler at or after `at`. */
static time_ns tick(const struct engine *engine, time_ns at)
{
    time_ns period = engine->config->world.scheduler_period;
    if (period == 0)
        return at;
    time_ns due = (at + period - 1) / period * period;
    return due > engine->last_cycle ? due : engine->last_cycle + period;
}

void engine_want_cycle(struct engine *engine, time_ns at)
{
    time_ns due = tick(engine, at);
    if (due < engine->cycle_due)
        engine->cycle_due = due;
}

bool engine_is_stale(const struct engine *engine, const struct event *event)
{
    switch (event_kind(event)) {
    case EVENT_END:
    case EVENT_CHECKPOINT:
        return event->generation != engine->jobs[event->subject].generation;
    case EVENT_EVICT:
    case EVENT_EFFECT:
        return event->generation != engine->jobs[event->subject].tenure;
    default: {
        const struct engine_part *part = engine_part_of(engine, event_kind(event));
        return part->is_stale != NULL && part->is_stale(engine, event);
    }
    }
}
