#include "studies/worlds/random_scenario.h"

/* ---- The cluster ---- */

static void write_pool(struct draw *draw, uint32_t index)
{
    static const char *const models[] = {"h100-80gb", "a100-80gb", "v100-32gb"};
    static const uint32_t gpus[] = {1, 2, 4, 8, 8};
    const uint32_t count = PICK(draw, gpus), model = draw_below(draw, 3);
    if (index == 0)
        draw->gpus = count;
    buffer_format(draw->out,
                  "%s{'name': 'p%u', 'nodes': %u, 'gpus_per_node': %u, 'gpu_model': '%s', 'cpus': %u, 'memory_gb': %u",
                  index > 0 ? ", " : "", index, 1 + draw_below(draw, 6), count, models[model],
                  draw_once_in(draw, 2) ? 16 : 64, draw_once_in(draw, 2) ? 64 : 512);
    if (model < 2 && draw_once_in(draw, 2)) {
        buffer_string(draw->out, ", 'mig_recut': true, 'gpus_layout': [");
        for (uint32_t g = 0; g < count; g++)
            buffer_format(draw->out, "%s%s", g > 0 ? ", " : "",
                          draw_once_in(draw, 3) ? "['1g.10gb', '2g.20gb', '3g.40gb']" : "[]");
        buffer_char(draw->out, ']');
    }
    if (draw_once_in(draw, 3))
        buffer_string(draw->out, ", 'labels': {'zone': 'a'}");
    buffer_char(draw->out, '}');
}

static void write_cluster(struct draw *draw)
{
    const uint32_t pools = 1 + draw_below(draw, 3);
    buffer_string(draw->out, "{'cluster': {'name': 'c', 'pools': [");
    for (uint32_t p = 0; p < pools; p++)
        write_pool(draw, p);
    buffer_format(draw->out, "], 'fabric': {'nodes_per_unit': %u}}", 2 << draw_below(draw, 2));
}

/* ---- Queues ---- */

static void write_queues(struct draw *draw)
{
    static const char *const amounts[] = {"0", "1", "2", "4", "8", "-1", "0.5"};
    static const char *const limits[] = {"0", "2", "8", "-1"};
    static const char *const weights[] = {"0", "1", "3"};
    static const char *const priorities[] = {"100", "200", "-1"};
    draw->queue_count = draw_below(draw, 5);
    buffer_string(draw->out, ", 'queues': [");
    for (uint32_t q = 0; q < draw->queue_count; q++) {
        buffer_format(draw->out, "%s{'name': 'q%u'", q > 0 ? ", " : "", q);
        if (q > 0 && draw_once_in(draw, 3))
            buffer_format(draw->out, ", 'parent': 'q%u'", draw_below(draw, q));
        MAYBE(draw, "quota_gpus", amounts);
        if (draw_once_in(draw, 2))
            MAYBE(draw, "limit_gpus", limits);
        MAYBE(draw, "over_quota_weight", weights);
        if (draw_once_in(draw, 2))
            MAYBE(draw, "priority", priorities);
        if (draw_once_in(draw, 4))
            FIELD(draw, "borrowing_limit_gpus", limits);
        if (draw_once_in(draw, 4))
            FIELD(draw, "lending_limit_gpus", weights);
        if (draw_once_in(draw, 4))
            FIELD(draw, "reclaim_min_runtime_s", draw_spans);
        if (draw_once_in(draw, 4))
            FIELD(draw, "preempt_min_runtime_s", draw_spans);
        buffer_char(draw->out, '}');
    }
    buffer_char(draw->out, ']');
}

/* ---- The world ---- */

static void write_world(struct draw *draw, uint64_t seed, const struct random_scenario_options *options)
{
    static const char *const periods[] = {"0", "0", "0", "0.001", "1", "60"};
    static const char *const limits[] = {"'kill'", "'ignore'"};
    static const char *const queue_limits[] = {"0", "3", "100"};
    static const char *const ends[] = {"'3d'", "'10d'"};
    static const char *const latencies[] = {"0.000001", "0.001", "1", "300", "3600"};
    static const char *const recuts[] = {
        "{'path': 'operator'}", "{'path': 'operator', 'operator_min_s': 0}",
        ("{'path': 'driver', 'create_s': 0, 'destroy_s': 0, 'mode_min_s': 0, 'mode_max_s': 0}")};
    static const char *const estimates[] = {"{'kind': 'perfect'}", "{'kind': 'noisy'}"};
    static const char *const faults[] = {"{'fatal_per_job_h': 0.2}",
                                         "{'out_of_memory_per_job_h': 1, 'runaway_per_job_h': 1}"};
    buffer_format(draw->out, ", 'world': {'scheduler_period_s': %s", PICK(draw, periods));
    if (draw_once_in(draw, 4))
        FIELD(draw, "decision_latency_s", latencies);
    MAYBE(draw, "limits", limits);
    if (draw_once_in(draw, 5))
        FIELD(draw, "queue_limit", queue_limits);
    if (!draw_once_in(draw, 4))
        FIELD(draw, "end", ends);
    MAYBE(draw, "mig_recut", recuts);
    MAYBE(draw, "estimates", estimates);
    struct draw copy = *draw; /* so that all else is the same with and without faults */
    if (options->has_faults && draw_once_in(&copy, 3))
        FIELD(&copy, "faults", faults);
    if (options->has_physics)
        random_physics_write_world(&copy);
    buffer_format(draw->out,
                  ", 'sample_s': 86400, 'stall_steps': %llu}, 'workload': {'trace': 'j.jsonl', 'format': 'jsonl'",
                  (unsigned long long)options->stall_steps);
    if (options->has_physics)
        random_physics_write_workload(&copy);
    buffer_format(draw->out, "}, 'seed': %llu}\n", (unsigned long long)(seed & 0xffff));
}

/* ---- All together ---- */

void random_scenario_make(struct random_scenario *scenario, uint64_t seed, uint32_t draw,
                          const struct random_scenario_options *options)
{
    *scenario = (struct random_scenario){0};
    struct draw own = {.out = &scenario->text, .has_physics = options->has_physics};
    random_stream_init(&own.stream, seed, "scenario", draw);
    write_cluster(&own);
    write_queues(&own);
    if (options->write_policy != NULL)
        options->write_policy(&own);
    write_world(&own, seed, options);
    own.out = &scenario->jobs;
    scenario->job_count = random_scenario_write_jobs(&own);
    draw_requote(&scenario->text);
    draw_requote(&scenario->jobs);
}

void random_scenario_release(struct random_scenario *scenario)
{
    buffer_release(&scenario->text);
    buffer_release(&scenario->jobs);
}
