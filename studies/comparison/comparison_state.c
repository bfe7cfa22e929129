/* studies/comparison/comparison_state.c -- how far a comparison has come, and what its gates say. */
#include "studies/comparison/comparison_inside.h"

/* The results of the gates that judge in one array; the caller frees it with mem_free. */
static struct gate_result *results_new(const struct comparison *comparison, size_t *count)
{
    struct gate_result *results = mem_zalloc(comparison->verdict_count + 1, sizeof *results);
    *count = 0;
    for (size_t i = 0; i < comparison->verdict_count; i++)
        if (!comparison->verdicts[i].is_new)
            results[(*count)++] = comparison->verdicts[i].result;
    return results;
}

/* With the replay as it is. */
static size_t count_runs(const struct comparison *comparison, size_t side, enum comparison_run_state state)
{
    const struct comparison_side *own = &comparison->sides[side];
    size_t count = own->replay.state == state;
    for (size_t seed = 0; seed < comparison->seed_count; seed++)
        count += own->runs[seed].state == state;
    return count;
}

bool comparison_side_has_failed(const struct comparison *comparison, size_t side, size_t *failed, size_t *count)
{
    bool is_at_fault = comparison->sides[side].replay.is_at_fault;
    *failed = count_runs(comparison, side, COMPARISON_RUN_FAILED);
    *count = *failed + count_runs(comparison, side, COMPARISON_RUN_DONE);
    for (size_t seed = 0; seed < comparison->seed_count; seed++)
        is_at_fault = is_at_fault || comparison->sides[side].runs[seed].is_at_fault;
    return side > 0 && is_at_fault && count_runs(comparison, 0, COMPARISON_RUN_FAILED) == 0 &&
           count_runs(comparison, 0, COMPARISON_RUN_DONE) > 0;
}

static bool has_failed_side(const struct comparison *comparison)
{
    size_t failed, count;
    for (size_t side = 1; side < comparison->side_count; side++)
        if (comparison_side_has_failed(comparison, side, &failed, &count))
            return true;
    return false;
}

bool comparison_is_time_up(const struct comparison *comparison)
{
    return comparison->options->stop != NULL && *comparison->options->stop == COMPARISON_TIME_IS_UP;
}

bool comparison_is_settled(const struct comparison *comparison)
{
    size_t count;
    struct gate_result *results = results_new(comparison, &count);
    const bool is = has_failed_side(comparison) || gates_are_settled(results, count);
    mem_free(results);
    return is;
}

enum gate_state comparison_state(const struct comparison *comparison)
{
    size_t count;
    struct gate_result *results = results_new(comparison, &count);
    enum gate_state state = has_failed_side(comparison) ? GATE_FAILED : gates_state(results, count);
    mem_free(results);
    return state;
}

bool comparison_is_complete(const struct comparison *comparison)
{
    return !comparison->is_partial && !comparison->is_time_up && comparison->failed_count == 0;
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
