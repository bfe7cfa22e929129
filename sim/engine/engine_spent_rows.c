/* GPU time by cause: what was counted, for rows and checks; see sim/engine/engine_spent.h. */
#include "sim/engine/engine_spent.h"

static wide_ns integral(const struct level *level, time_ns at)
{
    return (wide_ns)level->value * at - level->excess;
}

/* The levels of what no job that runs holds, in units. */
static void add_unheld(const wide_ns of[LEVEL_COUNT], wide_ns spent[SPENT_COUNT])
{
    const wide_ns kept = of[LEVEL_RESERVED] + of[LEVEL_STARTING];
    spent[SPENT_REPARTITION] += of[LEVEL_RECUT] * SPENT_ONE;
    spent[SPENT_SLICED] += of[LEVEL_UNCOVERED] * SPENT_ONE;
    spent[SPENT_RESERVED] += (kept + of[LEVEL_PARTIAL]) * SPENT_ONE;
    spent[SPENT_IDLE] += (of[LEVEL_FREE] - kept - of[LEVEL_RECUT] - of[LEVEL_UNCOVERED] - of[LEVEL_ABSENT]) * SPENT_ONE;
    spent[SPENT_ABSENT] += of[LEVEL_ABSENT] * SPENT_ONE;
}

void engine_spent_integrals(const struct engine *engine, time_ns at, gpu_time_ns spent[SPENT_COUNT])
{
    wide_ns of[LEVEL_COUNT], exact[SPENT_COUNT], sum = 0;
    gpu_time_ns before = 0;
    for (int level = 0; level < LEVEL_COUNT; level++)
        of[level] = integral(&engine->levels[level], at);
    for (int cause = 0; cause < SPENT_COUNT; cause++)
        exact[cause] = integral(&engine->spent->cause[cause], at);
    add_unheld(of, exact);
    exact[SPENT_LOST] = engine->spent->lost;
    exact[SPENT_USEFUL] =
        of[LEVEL_ALLOCATED] * SPENT_ONE - integral(&engine->spent->falls_short, at) - engine->spent->lost;
    /* Round the sums, not the causes: so what is rounded adds up to the rounded sum of all. */
    for (int cause = 0; cause < SPENT_COUNT; cause++) {
        sum += exact[cause];
        const gpu_time_ns rounded = sum / ((wide_ns)GPU_MILLI * SPENT_ONE);
        spent[cause] = rounded - before;
        before = rounded;
    }
}

const char *engine_spent_check(const struct engine *engine)
{
    wide_ns of[LEVEL_COUNT], now[SPENT_COUNT], sum = 0;
    for (int level = 0; level < LEVEL_COUNT; level++)
        of[level] = engine->levels[level].value;
    for (int cause = 0; cause < SPENT_COUNT; cause++)
        now[cause] = engine->spent->cause[cause].value;
    add_unheld(of, now);
    now[SPENT_USEFUL] = of[LEVEL_ALLOCATED] * SPENT_ONE - engine->spent->falls_short.value;
    for (int cause = 0; cause < SPENT_COUNT; cause++) {
        sum += now[cause];
        if (now[cause] < 0)
            return "the GPUs of a cause are below 0";
    }
    const wide_ns all = (wide_ns)engine->config->cluster->gpu_count * GPU_MILLI * SPENT_ONE;
    return sum != all ? "the GPUs by cause do not add up to the cluster" : NULL;
}
