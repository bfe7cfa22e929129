/* studies/comparison/comparison_replay.c -- a comparison of replays: shaken, with the replays as they are beside it. */
#include <string.h>

#include "studies/comparison/baseline.h"
#include "studies/comparison/comparison_inside.h"
#include "studies/run/replay_shake.h"

/* ---- whether it is shaken ---- */

/* Records and the moment of a fork are single runs. */
static bool may_be_shaken(const struct comparison *comparison)
{
    const struct comparison_options *options = comparison->options;
    for (size_t side = 0; side < comparison->side_count; side++)
        if (options->sides[side].record != NULL)
            return false;
    return !options->is_unshaken && options->fork == NULL && options->seed_count > 1;
}

void comparison_shake(struct comparison *comparison, bool may_be_exact)
{
    comparison->is_shaken = may_be_exact && may_be_shaken(comparison);
    if (comparison->is_shaken)
        comparison->shake = comparison_shake_new("{\"workload\": {\"shake\": " REPLAY_SHAKE "}}");
}

/* The values of a baseline are of replays that were shaken as those here are. */
struct error comparison_check_shaken(const struct comparison *comparison)
{
    const char *wanted = comparison->is_shaken ? REPLAY_SHAKE : "";
    for (size_t side = 0; side < comparison->side_count; side++) {
        const struct baseline *baseline = comparison->options->sides[side].baseline;
        if (baseline == NULL || strcmp(baseline->replay_shake, wanted) == 0)
            continue;
        const bool was_shaken = baseline->replay_shake[0] != '\0';
        struct error error = error_new(ERROR_CONFIG, "the baseline %s is of a replay %s, and here it is %s",
                                       baseline->path, was_shaken ? "that was shaken" : "as it is",
                                       !comparison->is_shaken ? "not shaken"
                                       : was_shaken           ? "shaken by other amounts"
                                                              : "shaken");
        error_set_hint(&error, was_shaken && !comparison->is_shaken
                                   ? "leave out --exact, or ask for more than one seed"
                                   : "make it again with --save-baseline, or compare with --exact");
        return error;
    }
    return ERROR_OK;
}

/* ---- where the replay lies ---- */

struct replay_place comparison_replay_place(const struct comparison *comparison, size_t row, size_t side)
{
    const struct comparison_row *of = &comparison->rows[row];
    return replay_place_of(of->replays[side], &of->numbers[side * comparison->seed_count], comparison->seed_count);
}
