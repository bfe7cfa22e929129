#include "studies/worlds/shaped_scenario.h"

static void open_draw(struct draw *draw, struct random_scenario *scenario, uint64_t seed, const char *purpose)
{
    *scenario = (struct random_scenario){0};
    *draw = (struct draw){.out = &scenario->text};
    random_stream_init(&draw->stream, seed, purpose, 0);
}

static void write_cluster(struct draw *draw, uint32_t nodes)
{
    buffer_format(draw->out,
                  "{'cluster': {'name': 'c', 'pools': [{'nodes': %u, 'gpus_per_node': %u, 'gpu_model': 'h100-80gb'}]}",
                  nodes, draw->gpus);
}

static void write_rest(struct draw *draw, const char *end, uint64_t stall_steps)
{
    static const char *const periods[] = {"0", "0", "1", "60"};
    buffer_format(draw->out, ", 'world': {'scheduler_period_s': %s%s, 'sample_s': 86400, 'stall_steps': %llu}",
                  PICK(draw, periods), end, (unsigned long long)stall_steps);
    buffer_string(draw->out, ", 'workload': {'trace': 'j.jsonl', 'format': 'jsonl'}}\n");
}

static void close_draw(struct random_scenario *scenario)
{
    draw_requote(&scenario->text);
    draw_requote(&scenario->jobs);
}

/* ---- plain ---- */

/* At most half of the nodes, with any number of GPUs on each. */
static void write_plain_job(struct draw *draw, uint32_t id, uint32_t submit, uint32_t nodes)
{
    static const char *const durations[] = {"1", "60", "600", "600", "5000", "40000"};
    static const int priorities[] = {10, 50, 50, 50, 90};
    const uint32_t members = draw_once_in(draw, 3) ? 1 + draw_below(draw, nodes / 2) : 1;
    buffer_format(draw->out, "{'job_id': %u, 'submit_s': %u, 'duration_s': %s", id, submit, PICK(draw, durations));
    buffer_format(draw->out, ", 'queue': 'all', 'user': 'u%u'", draw_below(draw, 3));
    buffer_format(draw->out, ", 'priority': %d", PICK(draw, priorities));
    buffer_format(draw->out, ", 'gpus': %u, 'nodes': %u", members * (1 + draw_below(draw, draw->gpus)), members);
    if (draw_once_in(draw, 2))
        buffer_string(draw->out, ", 'checkpoint_interval_s': 60, 'checkpoint_duration_s': 5, 'restart_s': 5");
    buffer_string(draw->out, "}\n");
}

void shaped_scenario_plain(struct random_scenario *scenario, uint64_t seed, uint64_t stall_steps)
{
    static const uint32_t gpus[] = {4, 8}, gaps[] = {0, 0, 1, 30, 300, 2000};
    struct draw draw;
    open_draw(&draw, scenario, seed, "plain");
    const uint32_t nodes = 4 + draw_below(&draw, 3);
    uint32_t submit = 0;
    draw.gpus = PICK(&draw, gpus);
    write_cluster(&draw, nodes);
    buffer_format(draw.out, ", 'queues': [{'name': 'all', 'quota_gpus': %u}]", nodes * draw.gpus);
    write_rest(&draw, "", stall_steps);
    draw.out = &scenario->jobs;
    scenario->job_count = 2 + draw_below(&draw, 24);
    for (uint32_t id = 0; id < scenario->job_count; id++) {
        submit += PICK(&draw, gaps);
        write_plain_job(&draw, id, submit, nodes);
    }
    close_draw(scenario);
}

/* ---- reclaim ---- */

void shaped_scenario_reclaim(struct random_scenario *scenario, uint64_t seed, uint64_t stall_steps)
{
    static const uint32_t gpus[] = {4, 8}, gaps[] = {0, 1, 30, 300, 20000};
    struct draw draw;
    open_draw(&draw, scenario, seed, "reclaim");
    const uint32_t nodes = 2 + draw_below(&draw, 3);
    draw.gpus = PICK(&draw, gpus);
    const uint32_t quota = draw.gpus * (1 + draw_below(&draw, nodes - 1)), borrowers = nodes * draw.gpus;
    const uint32_t size = 1u << draw_below(&draw, draw.gpus == 4 ? 3 : 4); /* it divides the node */
    const uint32_t owners = 1 + draw_below(&draw, quota / size);
    write_cluster(&draw, nodes);
    buffer_format(draw.out, ", 'queues': [{'name': '%s', 'quota_gpus': %u}, {'name': 'borrower', 'quota_gpus': %u}]",
                  SHAPED_OWNER, quota, borrowers - quota);
    write_rest(&draw, ", 'end': '4d'", stall_steps);
    draw.out = &scenario->jobs;
    for (uint32_t id = 0; id < borrowers; id++)
        buffer_format(draw.out,
                      "{'job_id': %u, 'submit_s': 0, 'duration_s': 2592000, 'gpus': 1, 'queue': 'borrower', "
                      "'preemptible': true}\n",
                      id);
    uint32_t submit = 3600;
    for (uint32_t id = 0; id < owners; id++) {
        submit += PICK(&draw, gaps);
        buffer_format(draw.out,
                      "{'job_id': %u, 'submit_s': %u, 'duration_s': %u, 'gpus': %u, 'queue': '%s', "
                      "'preemptible': true}\n",
                      borrowers + id, submit, 60 + draw_below(&draw, 5000), size, SHAPED_OWNER);
    }
    scenario->job_count = borrowers + owners;
    close_draw(scenario);
}
