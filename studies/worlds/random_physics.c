/* What a random scenario has with all physics on: checkpoints, cold starts, a monitor, a cluster whose size changes,
 * activity, communication and a closed loop. */
#include "studies/worlds/random_scenario.h"

static void write_checkpoints(struct draw *draw)
{
    static const char *const intervals[] = {"60", "600", "'daly', 'mtbf': 36000"};
    static const char *const modes[] = {"'blocking'", "'asynchronous', 'slowdown': 0.3",
                                        "'asynchronous', 'slowdown': 0.99"};
    static const char *const writes[] = {"'write_s': 0", "'write_s': 20", "'size_gib_per_gpu': 10"};
    static const char *const warmups[] = {"0", "30", "1000"};
    buffer_format(draw->out,
                  ", 'checkpoints': {'node_gb_per_s': 2, 'plans': [{'class': 'training', 'interval': %s, 'mode': %s, "
                  "%s, 'warmup_s': %s}, {'interval': %s, 'mode': %s, 'warmup_s': %s}]}",
                  PICK(draw, intervals), PICK(draw, modes), PICK(draw, writes), PICK(draw, warmups),
                  PICK(draw, intervals), PICK(draw, modes), PICK(draw, warmups));
}

static void write_cold_starts(struct draw *draw)
{
    static const char *const caches[] = {"0", "20", "1000"};
    static const char *const sizes[] = {"1", "10", "500"};
    static const char *const scopes[] = {"row", "user", "queue", "job"};
    buffer_format(draw->out,
                  ", 'cold_starts': {'registry_gb_per_s': 10, 'node_gb_per_s': 5, 'rack_gb_per_s': 20, "
                  "'node_cache_gib': %s, 'rack_cache_gib': %s, 'jobs': [{'class': 'inference', 'image': {'size_gib': "
                  "%s}, 'weights': {'size_gib': %s, 'distinct': 3}}, {'image': {'size_gib': %s, 'scope': '%s'}}]}",
                  PICK(draw, caches), PICK(draw, caches), PICK(draw, sizes), PICK(draw, sizes), PICK(draw, sizes),
                  PICK(draw, scopes));
}

static void write_capacity(struct draw *draw)
{
    uint32_t at = 0;
    buffer_string(draw->out, ", 'capacity': [");
    for (uint32_t step = 0, count = 1 + draw_below(draw, 4); step < count; step++) {
        at += draw_below(draw, 4000);
        buffer_format(draw->out, "%s{'time_s': %u, 'pool': 'p0', 'nodes': %u}", step > 0 ? ", " : "", at,
                      step % 2); /* every pool has a node */
    }
    buffer_char(draw->out, ']');
}

void random_physics_write_world(struct draw *draw)
{
    static const char *const sharings[] = {"'pairs'", "'measured'", "'free'"};
    static const char *const networks[] = {"'shared'", "'alone'"};
    static const char *const delays[] = {"0", "30", "1000"};
    static const char *const monitors[] = {"60", "300", "3600"};
    static const char *const warmups[] = {"600", "3600", "86400"};
    MAYBE(draw, "sharing", sharings);
    MAYBE(draw, "network", networks);
    if (draw_once_in(draw, 3))
        FIELD(draw, "warmup", warmups);
    if (draw_once_in(draw, 2))
        write_checkpoints(draw);
    if (draw_once_in(draw, 3))
        write_cold_starts(draw);
    if (draw_once_in(draw, 3))
        write_capacity(draw);
    if (!draw_once_in(draw, 3))
        return;
    buffer_format(draw->out, ", 'monitor': {'period_s': %s, 'delay_s': %s, 'noise': 0.01}", PICK(draw, monitors),
                  PICK(draw, delays));
}

void random_physics_write_workload(struct draw *draw)
{
    if (draw_once_in(draw, 3))
        buffer_string(draw->out,
                      ", 'activity': [{'class': 'interactive', 'kind': 'notebook', 'level': 0.4, 'level_sd': 0.1, "
                      "'burst': {'distribution': 'exponential', 'mean': '5m'}, 'gap': {'distribution': 'exponential', "
                      "'mean': '8m'}}, {'class': 'training', 'kind': 'training', 'level': 0.7, 'work': "
                      "{'distribution': 'exponential', 'mean': '10m'}, 'stall': {'distribution': 'exponential', "
                      "'mean': '1m'}}]");
    if (draw_once_in(draw, 3))
        buffer_string(draw->out, ", 'communication': [{'class': 'training', 'gpus_min': 2, 'sensitivity': "
                                 "'all_reduce_bound'}, {'gpus_min': 2, 'sensitivity': 'compute_bound'}]");
    if (draw_once_in(draw, 6))
        buffer_string(draw->out, ", 'loop': 'closed', 'think_max_s': '1d'");
}

void random_physics_write_job(struct draw *draw)
{
    static const char *const parts[] = {"0", "0.159", "0.5", "0.679", "1"};
    MAYBE(draw, "sm_active", parts);
    if (draw_once_in(draw, 3))
        FIELD(draw, "memory_bandwidth", parts);
}
