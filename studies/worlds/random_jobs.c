/* The jobs of a random scenario. */
#include "studies/worlds/random_scenario.h"

/* ---- Jobs ---- */

static void write_group(struct draw *draw, bool is_first)
{
    static const char *const fractions[] = {"0.1", "0.25", "0.5", "0.9"};
    static const char *const profiles[] = {"1g.10gb", "2g.20gb", "3g.40gb", "7g.80gb"};
    const uint32_t count = 1 + draw_below(draw, 6);
    const uint32_t minimum = draw_once_in(draw, 2) ? count : 1 + draw_below(draw, count);
    buffer_format(draw->out, "%s{'count': %u, 'min_members': %u", is_first ? "" : ", ", count, minimum);
    switch (draw_below(draw, 7)) {
    case 0:
        buffer_format(draw->out, ", 'gpu_fraction': %s", PICK(draw, fractions));
        break;
    case 1:
        buffer_format(draw->out, ", 'mig': '%s'", PICK(draw, profiles));
        if (minimum == count) /* tasks with several instances, or a single task */
            buffer_format(draw->out, ", 'slice_members': %u, 'slice_level': 'node'", count % 2 == 0 ? 2 : count);
        break;
    case 2:
        buffer_string(draw->out, ", 'gpu_memory_gb': 5");
        break;
    case 3:
        buffer_string(draw->out, ", 'gpus': 0");
        break;
    default:
        buffer_format(draw->out, ", 'gpus': %u", 1 + draw_below(draw, draw->gpus));
    }
    buffer_format(draw->out, ", 'cpus': %u, 'memory_gb': %u}", 1 + draw_below(draw, 4), draw_below(draw, 3) * 8);
}

static void write_ask(struct draw *draw)
{
    const uint32_t nodes = 1 + draw_below(draw, 6);
    if (draw_once_in(draw, 3)) {
        const uint32_t groups = 1 + draw_below(draw, 3);
        buffer_string(draw->out, ", 'groups': [");
        for (uint32_t g = 0; g < groups; g++)
            write_group(draw, g == 0);
        buffer_char(draw->out, ']');
        if (draw->out->length % 3 == 0) /* chance without a draw, so that the rest stays the same */
            buffer_format(draw->out, ", 'min_sets': %u", 1 + (uint32_t)(draw->out->length / 3) % groups);
    } else if (draw_once_in(draw, 6)) {
        buffer_string(draw->out, ", 'gpus': 1, 'gpu_fraction': 0.3");
    } else if (draw_once_in(draw, 3)) {
        buffer_format(draw->out, ", 'gpus': %u", 1 + draw_below(draw, draw->gpus));
    } else {
        buffer_format(draw->out, ", 'gpus': %u, 'nodes': %u", nodes * (1 + draw_below(draw, draw->gpus)), nodes);
        if (draw_once_in(draw, 2))
            buffer_format(draw->out, ", 'min_members': %u", 1 + draw_below(draw, nodes));
    }
}

static void write_extras(struct draw *draw, uint32_t id)
{
    static const char *const limits[] = {"1", "60", "600", "10000"};
    static const char *const outcomes[] = {"'failed'", "'cancelled'"};
    static const char *const intervals[] = {"1", "60", "600"};
    static const char *const writes[] = {"0", "5", "300"};
    static const char *const levels[] = {"'unit'", "'node'"};
    if (draw_once_in(draw, 3))
        FIELD(draw, "limit_s", limits);
    if (draw_once_in(draw, 3))
        FIELD(draw, "estimate_s", limits);
    if (draw_once_in(draw, 6))
        FIELD(draw, "outcome", outcomes);
    if (draw_once_in(draw, 2)) {
        FIELD(draw, "checkpoint_interval_s", intervals);
        FIELD(draw, "checkpoint_duration_s", writes);
        FIELD(draw, "restart_s", writes);
    }
    if (draw_once_in(draw, 4))
        FIELD(draw, "preemptible", draw_bools);
    if (draw_once_in(draw, 8))
        buffer_format(draw->out, ", 'topology': {'%s': %s}", draw_once_in(draw, 2) ? "required" : "preferred",
                      PICK(draw, levels));
    if (draw_once_in(draw, 10))
        buffer_string(draw->out, ", 'node_selector': 'zone=a'");
    if (id > 0 && draw_once_in(draw, 10))
        buffer_format(draw->out, ", 'after': '%u'", draw_below(draw, id));
    if (draw_once_in(draw, 10))
        buffer_format(draw->out, ", 'deadline_s': %u", 100000 + draw_below(draw, 100000));
}

uint32_t random_scenario_write_jobs(struct draw *draw)
{
    static const char *const classes[] = {"training", "interactive", "inference"};
    static const char *const durations[] = {"0", "0.000001", "1", "60", "600", "5000", "40000"};
    static const uint32_t gaps[] = {0, 0, 1, 30, 300, 2000};
    static const int priorities[] = {0, 10, 50, 50, 50, 100, 125};
    uint32_t submit = 0;
    const uint32_t count = 2 + draw_below(draw, draw_once_in(draw, 4) ? 60 : 20);
    for (uint32_t id = 0; id < count; id++) {
        submit += PICK(draw, gaps);
        buffer_format(draw->out, "{'job_id': %u, 'submit_s': %u, 'duration_s': %s", id, submit, PICK(draw, durations));
        if (draw->queue_count > 0)
            buffer_format(draw->out, ", 'queue': 'q%u'", draw_below(draw, draw->queue_count));
        buffer_format(draw->out, ", 'user': 'u%u', 'class': '%s', 'priority': %d", draw_below(draw, 4),
                      PICK(draw, classes), PICK(draw, priorities));
        write_ask(draw);
        write_extras(draw, id);
        struct draw copy = *draw; /* so that all else is the same with and without */
        if (draw->has_physics)
            random_physics_write_job(&copy);
        buffer_string(draw->out, "}\n");
    }
    return count;
}
