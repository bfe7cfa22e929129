/* studies/comparison_show/comparison_replays.c -- the replays as they are, beside the shaken ones. */
#include <string.h>

#include "studies/comparison_show/comparison_view.h"

static const char *const usual[] = {"queue_time_mean_s", "queue_time_p95_s", "allocation_ratio",
                                    "slowdown_bounded_mean"};

static void add_row(struct show *show, const struct comparison *comparison, size_t row)
{
    const struct comparison_row *of = &comparison->rows[row];
    const struct difference unit = {.of = of->of, .unit = of->metric->unit};
    struct buffer name = {0};
    metric_selector_write(&of->of, &name);
    for (size_t side = 0; side < comparison->side_count; side++) {
        const struct replay_place place = comparison_replay_place(comparison, row, side);
        show_row(show, buffer_c_string(&name));
        buffer_string(show_cell(show), comparison->sides[side].name);
        comparison_write_value(&unit, place.value, show_cell(show));
        comparison_write_value(&unit, place.mean, show_cell(show));
        replay_place_write(&place, show_cell(show));
    }
    buffer_release(&name);
}

static bool is_gated(const struct comparison *comparison, size_t row)
{
    for (size_t g = 0; g < comparison->gates.count; g++)
        if (metric_selector_is_same(&comparison->gates.gates[g].of, &comparison->rows[row].of))
            return true;
    return false;
}

static bool is_usual(const struct comparison_row *row)
{
    for (size_t u = 0; u < sizeof usual / sizeof *usual; u++)
        if (row->of.cut == NULL && strcmp(row->of.metric, usual[u]) == 0)
            return true;
    return false;
}

void comparison_add_replays(struct show *show, const struct comparison *comparison)
{
    if (!comparison->is_shaken || comparison->seed_count == 0)
        return;
    show_section(show, "This replay, beside the shaken ones");
    buffer_format(
        show_line(show, SHOW_NOTE),
        "A replay is one of many that could have been, so the differences are of %zu of them, each shaken: "
        "%s. This is the replay as it is, how many standard deviations it lies from their mean, and how many of "
        "them are smaller.",
        comparison->seed_count, comparison->shake);
    show_table(show, "metric", "<side", "as it is", "mean of shaken", "<it lies", NULL);
    for (size_t r = 0; r < comparison->row_count; r++)
        if (is_gated(comparison, r) || is_usual(&comparison->rows[r]))
            add_row(show, comparison, r);
}
