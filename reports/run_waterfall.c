#include "reports/run_waterfall.h"

#include <math.h>

#include "reports/view.h"
#include "reports/waterfall.h"

static const struct {
    const char *metric, *label;
    enum plot_colour colour;
} parts[FALL_COUNT] = {
    [FALL_UNASKED] = {"waterfall_unasked_ratio", "free, not asked for", PLOT_GREEN},
    [FALL_WAITING] = {"waterfall_waiting_ratio", "free while jobs waited", PLOT_VERMILLION},
    [FALL_RESERVED] = {"waterfall_reserved_ratio", "reserved, incomplete gangs", PLOT_ORANGE},
    [FALL_DOWN] = {"waterfall_down_ratio", "down", PLOT_BLACK},
    [FALL_CUT] = {"waterfall_cut_ratio", "cut, cut away", PLOT_YELLOW},
    [FALL_START] = {"waterfall_start_ratio", "starts, checkpoints", PLOT_ORANGE},
    [FALL_UNUSED] = {"waterfall_unused_ratio", "held, not used", PLOT_SKY},
    [FALL_HOST] = {"waterfall_host_ratio", "host and input", PLOT_PINK},
    [FALL_NETWORK] = {"waterfall_network_ratio", "network", PLOT_YELLOW},
    [FALL_UNKNOWN] = {"waterfall_unknown_ratio", "SM activity not known", PLOT_BLACK},
    [FALL_LOST] = {"waterfall_lost_ratio", "SM-active, work lost", PLOT_VERMILLION},
    [FALL_ACTIVE] = {"waterfall_active_ratio", "SM-active", PLOT_BLUE},
};

static bool is_shown(const double *share, int part)
{
    return share[part] > 0 || part == FALL_ACTIVE;
}

static void add_table(struct show *show, const double *share, double gpu_h)
{
    double left = 1;
    show_table(show, "", "share", "left", "GPU h", NULL);
    for (int part = 0; part < FALL_COUNT; part++) {
        if (!is_shown(share, part))
            continue;
        left = fmax(0, left - share[part]);
        show_row(show, parts[part].label);
        show_value(show, view_percent, share[part]);
        if (part < FALL_LOST)
            show_value(show, view_percent, left);
        else
            show_cell(show); /* what is left is SM-active */
        show_value(show, view_count, share[part] * gpu_h);
    }
}

static void add_figure(struct show *show, const double *share)
{
    struct plot_series bars[FALL_COUNT];
    double *numbers = show_numbers(show, 3 * FALL_COUNT), left = 100;
    size_t count = 0;
    for (int part = 0; part < FALL_COUNT; part++) {
        double *bar = numbers + 3 * count;
        if (!is_shown(share, part))
            continue;
        bar[1] = left;
        left = part == FALL_ACTIVE ? 0 : fmax(0, left - 100 * share[part]);
        bar[0] = left;
        bar[2] = (double)count;
        bars[count++] = (struct plot_series){.label = parts[part].label,
                                             .x = bar,
                                             .y = bar + 2,
                                             .count = 1,
                                             .colour = parts[part].colour,
                                             .is_bar = true};
    }
    show_figure(show, &(struct show_figure){.plot = {.title = "From all GPU time to SM-active",
                                                     .description = "What takes GPU time away on the way from all of "
                                                                    "it to that in which SMs are busy, step by step.",
                                                     .id = "waterfall",
                                                     .series = bars,
                                                     .series_count = count,
                                                     .y_kind = PLOT_Y_NAMES,
                                                     .x_max = 112,
                                                     .y_min = -0.6,
                                                     .y_max = (double)count - 0.4},
                                            .y_text = "",
                                            .x_text = "of all GPU time"});
}

void run_waterfall(struct show *show, const struct metrics *metrics, bool has_page)
{
    const struct run_facts *facts = metrics_facts(metrics);
    const double gpu_h = time_to_seconds(metrics_until(facts) - facts->warmup) / 3600 * metrics_gpus(metrics);
    double share[FALL_COUNT];
    for (int part = 0; part < FALL_COUNT; part++)
        share[part] = metrics_value(metrics, parts[part].metric);
    if (!isfinite(share[FALL_ACTIVE]))
        return;
    show_section(show, "From all GPU time to SM-active");
    if (has_page) {
        show_on(show, SHOW_PAGE);
        buffer_string(show_line(show, SHOW_NOTE),
                      "What takes GPU time away, step by step, until the time is left in which SMs are busy. The steps "
                      "add up to 100 %. Host and input, and what is held and not used, follow from the SM activity of "
                      "the jobs by a model of what programs do on GPUs.");
        add_figure(show, share);
        show_on(show, SHOW_ALL);
    }
    add_table(show, share, gpu_h);
}
