#include "studies/divergence/steps.h"

#include "base/hash.h"

static void close_facts(struct steps *steps)
{
    if (!steps->has_facts)
        return;
    steps->has_facts = false;
    steps->fact_units++;
    steps->hooks.on_facts(steps->hooks.self, &steps->facts);
}

static struct text write_fact(struct steps *steps, const struct fact *fact)
{
    struct fact plain = *fact;
    plain.decision = 0;
    plain.which.decision = 0;
    steps->line.length = 0;
    wire_write_fact(&steps->line, steps->side->scenario.cluster, steps->side->queues, &plain);
    return (struct text){steps->line.bytes, steps->line.length};
}

static struct error on_fact(void *self, const struct fact *fact)
{
    struct steps *steps = self;
    const bool is_behind_empty = steps->was_empty && fact->now == steps->cycled_at;
    if (steps->has_facts && steps->facts.at != fact->now)
        close_facts(steps);
    if (!steps->has_facts)
        steps->facts =
            (struct trail_unit){.at = fact->now, .after = is_behind_empty ? UINT64_MAX : steps->decision_units};
    steps->has_facts = true;
    const struct text line = write_fact(steps, fact);
    steps->facts.hash = hash_bytes(line.at, line.length, steps->facts.hash);
    if (steps->hooks.on_fact_line != NULL)
        steps->hooks.on_fact_line(steps->hooks.self, line);
    return ERROR_OK;
}

struct text steps_decision_line(struct steps *steps, const struct decision *decision, decision_id id)
{
    struct decision named = *decision;
    named.id = id;
    steps->line.length = 0;
    wire_write_decision(&steps->line, steps->side->scenario.cluster, &named);
    return (struct text){steps->line.bytes, steps->line.length};
}

static struct error on_cycle(void *self, time_ns now, const struct decision *decisions, size_t count,
                             const struct wire_done *done)
{
    struct steps *steps = self;
    struct trail_unit unit = {.at = now};
    (void)done;
    close_facts(steps);
    steps->cycled_at = now;
    steps->was_empty = count == 0;
    if (count == 0)
        return ERROR_OK;
    for (size_t i = 0; i < count; i++) {
        const struct text line = steps_decision_line(steps, &decisions[i], 0);
        unit.hash = hash_bytes(line.at, line.length, unit.hash);
    }
    steps->hooks.on_decisions(steps->hooks.self, &unit, decisions, count);
    steps->decision_units++;
    return ERROR_OK;
}

void steps_begin(struct steps *steps, const struct side *side, const struct steps_hooks *hooks)
{
    *steps = (struct steps){.side = side, .hooks = *hooks, .cycled_at = -1};
    steps->listener = (struct port_outside){.self = steps, .on_fact = on_fact, .on_cycle = on_cycle};
}

void steps_end(struct steps *steps)
{
    close_facts(steps);
    buffer_release(&steps->line);
}
