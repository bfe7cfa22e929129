/* studies/comparison/comparison_state.c -- how far a comparison has come, and what its gates say. */
#include "studies/comparison/comparison_inside.h"

/* The results of all gates in one array; the caller frees it with mem_free. */
static struct gate_result *results_new(const struct comparison *comparison)
{
    struct gate_result *results = mem_zalloc(comparison->verdict_count, sizeof *results);
    for (size_t i = 0; i < comparison->verdict_count; i++)
        results[i] = comparison->verdicts[i].result;
    return results;
}

bool comparison_is_settled(const struct comparison *comparison)
{
    struct gate_result *results = results_new(comparison);
    const bool is = gates_are_settled(results, comparison->verdict_count);
    mem_free(results);
    return is;
}

enum gate_state comparison_state(const struct comparison *comparison)
{
    struct gate_result *results = results_new(comparison);
    enum gate_state state = gates_state(results, comparison->verdict_count);
    mem_free(results);
    return state;
}

bool comparison_is_complete(const struct comparison *comparison)
{
    return !comparison->is_partial && comparison->failed_count == 0;
}

const struct comparison_run *comparison_shown_run(const struct comparison *comparison, size_t side)
{
    const struct comparison_side *own = &comparison->sides[side];
    return comparison->is_shaken && !own->is_fixed ? &own->replay : &own->runs[0];
}

size_t comparison_pair_count(const struct comparison *comparison, size_t side)
{
    size_t count = 0;
    for (size_t seed = 0; seed < comparison->seed_count; seed++)
        count += comparison->sides[0].runs[seed].state == COMPARISON_RUN_DONE &&
                 comparison->sides[side].runs[seed].state == COMPARISON_RUN_DONE;
    return count;
}
