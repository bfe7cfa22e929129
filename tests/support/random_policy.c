#include "tests/support/random_policy.h"

#include <string.h>

#include "policies/backfill/backfill.h"
#include "policies/config/presets.h"
#include "policies/defrag/defrag.h"
#include "policies/estimate/estimate.h"
#include "policies/gang/gang.h"
#include "policies/geometry/geometry.h"
#include "policies/order/order.h"
#include "policies/placement/placement.h"
#include "policies/preemption/preemption.h"
#include "policies/quota/quota.h"
#include "policies/sharing/sharing.h"

static const char *const steps[] = {"1", "2", "10", "1000000"};
static const char *const bounds[] = {"0", "0", "1", "3", "1000000"};

/* The name of one of a registry's policies, as its first field. */
#define ANY_OF(draw, registry) any_of(draw, (const void *const *)(const void *)(registry))

static const char *any_of(struct draw *draw, const void *const *registry)
{
    uint32_t count = 0;
    while (registry[count] != NULL)
        count++;
    const char *const *name = registry[draw_below(draw, count)]; /* the first field of each */
    return *name;
}

static void write_order(struct draw *draw)
{
    const uint32_t links = 1 + draw_below(draw, 3);
    buffer_string(draw->out, ", 'order': [");
    for (uint32_t l = 0; l < links; l++)
        buffer_format(draw->out, "%s'%s'", l > 0 ? ", " : "", ANY_OF(draw, order_policies));
    buffer_char(draw->out, ']');
    if (!draw_once_in(draw, 3))
        return;
    static const char *const periods[] = {"1", "60", "3600"};
    static const char *const promotes[] = {"0", "0.001", "2"};
    static const char *const limits[] = {"[1]", "[60, 3600]", "[1, 2, 1000000]"};
    static const char *const lives[] = {"0", "1", "3600"};
    buffer_string(draw->out, ", 'order_config': {'period_s': ");
    buffer_string(draw->out, PICK(draw, periods));
    MAYBE(draw, "las_promote", promotes);
    MAYBE(draw, "las_limits_gpu_s", limits);
    MAYBE(draw, "half_life_s", lives);
    buffer_char(draw->out, '}');
}

static void write_quota(struct draw *draw)
{
    static const char *const reclaims[] = {"'never'", "'lower_priority'", "'any'"};
    static const char *const borrows[] = {"'never'", "'lower_priority'"};
    static const char *const saturations[] = {"1", "1.5", "1000"};
    static const char *const periods[] = {"1", "60"};
    buffer_format(draw->out, ", 'quota': {'policy': '%s'", ANY_OF(draw, quota_policies));
    MAYBE(draw, "firm_needs_quota", draw_bools);
    if (draw_once_in(draw, 2)) {
        MAYBE(draw, "saturation_multiplier", saturations);
        MAYBE(draw, "usage_weight", saturations);
        MAYBE(draw, "half_life_s", draw_spans);
        MAYBE(draw, "window_s", draw_spans);
        MAYBE(draw, "share_period_s", periods);
        MAYBE(draw, "fair_sharing", draw_bools);
    }
    MAYBE(draw, "reclaim_within_cohort", reclaims);
    MAYBE(draw, "borrow_within_cohort", borrows);
    buffer_char(draw->out, '}');
}

static void write_gang(struct draw *draw)
{
    static const char *const never[] = {"'never'", "0", "0.001", "1", "60"};
    buffer_format(draw->out, ", 'gang': {'policy': '%s'", draw_once_in(draw, 3) ? "hoard" : "all_or_nothing");
    MAYBE(draw, "stale_after_s", never);
    buffer_string(draw->out, "}, 'guarantees': []");
}

static void write_backfill(struct draw *draw)
{
    const char *name = ANY_OF(draw, backfill_policies);
    buffer_format(draw->out, ", 'backfill': {'policy': '%s'", name);
    if (name[0] == 'e' || name[0] == 's')
        MAYBE(draw, "interval_s", draw_spans);
    if (name[0] == 'e')
        MAYBE(draw, "reservations", steps);
    buffer_char(draw->out, '}');
}

static void write_preemption(struct draw *draw)
{
    static const char *const within[] = {"'never'", "'lower'", "'lower_or_newer'", "'order'"};
    static const char *const searches[] = {"'ordered'", "'node'"};
    static const char *const resolves[] = {"'lca'", "'queue'"};
    static const char *const ratios[] = {"0", "0.001", "1", "1000"};
    static const char *const victims[] = {"[]", "['queue']", "['queue', 'cost']", "['surplus', 'oldest']", "['order']"};
    const char *name = draw_once_in(draw, 6) ? "none" : draw_once_in(draw, 3) ? "kill" : "checkpoint";
    buffer_format(draw->out, ", 'preemption': {'policy': '%s'", name);
    MAYBE(draw, "within_queue", within);
    MAYBE(draw, "search", searches);
    MAYBE(draw, "resolve", resolves);
    MAYBE(draw, "replaces_victims", draw_bools);
    MAYBE(draw, "victims", victims);
    MAYBE(draw, "grace_s", draw_spans);
    MAYBE(draw, "min_runtime_s", draw_spans);
    if (draw_once_in(draw, 3))
        FIELD(draw, "delay_s", draw_spans);
    if (draw_once_in(draw, 3))
        FIELD(draw, "loss_ratio", ratios);
    MAYBE(draw, "attempts_per_cycle", steps);
    MAYBE(draw, "victims_max", steps);
    MAYBE(draw, "evictions_per_job_max", bounds);
    if (draw_once_in(draw, 3))
        FIELD(draw, "rematch_cycles", bounds);
    struct draw copy = *draw; /* so that later draws are the same with and without this one */
    MAYBE(&copy, "victims_of_this_cycle", draw_bools);
    buffer_char(draw->out, '}');
}

static void write_defrag(struct draw *draw)
{
    static const char *const moves[] = {"0", "1", "16", "-1"};
    const char *name = ANY_OF(draw, defrag_policies);
    buffer_format(draw->out, ", 'defrag': {'policy': '%s'", name);
    if (name[0] == 'c') {
        MAYBE(draw, "moves_per_plan", moves);
        MAYBE(draw, "spares_ending", draw_bools);
        MAYBE(draw, "holds_places", draw_bools);
    }
    buffer_char(draw->out, '}');
}

static void write_geometry(struct draw *draw)
{
    static const char *const needs[] = {"'instances'", "'gpu'", "'node'"};
    const char *name = ANY_OF(draw, geometry_policies);
    buffer_format(draw->out, ", 'geometry': {'policy': '%s'", name);
    if (name[0] != 's') {
        MAYBE(draw, "wait_s", draw_spans);
        MAYBE(draw, "rest_s", draw_spans);
        MAYBE(draw, "needs", needs);
    }
    buffer_char(draw->out, '}');
}

static void write_actions(struct draw *draw)
{
    const char *actions[] = {"consolidation", "reclaim", "preempt", "stale_gang"};
    uint32_t count = 4;
    buffer_string(draw->out, ", 'actions': ['allocate'");
    while (count > 0) {
        const uint32_t which = draw_below(draw, count);
        if (!draw_once_in(draw, 6))
            buffer_format(draw->out, ", '%s'", actions[which]);
        actions[which] = actions[--count];
    }
    buffer_char(draw->out, ']');
}

static void write_headroom(struct draw *draw)
{
    static const char *const ratios[] = {"0", "0.1", "0.5", "1"};
    buffer_format(draw->out, ", 'headroom': {'gpus_ratio': %s", PICK(draw, ratios));
    MAYBE(draw, "nodes_ratio", ratios);
    MAYBE(draw, "owners_ratio", ratios);
    buffer_char(draw->out, '}');
}

static void write_topology(struct draw *draw)
{
    static const char *const modes[] = {"'as_asked'", "'loose'", "'preferred'", "'required'"};
    static const char *const domains[] = {"'best_fit'", "'least_free'", "'balanced'",
                                          "'fewest'",   "'block'",      "'nested'"};
    buffer_format(draw->out, ", 'topology': {'mode': %s, 'domains': %s}", PICK(draw, modes), PICK(draw, domains));
}

/* Draws each seam if `all` is set, else a few of them. */
static void write_seams(struct draw *draw, bool all)
{
    static const char *const blocking[] = {"'skip'", "'skip'", "'strict'"};
    static const char *const expiries[] = {"0", "0.000001", "1", "600", "'never'"};
    static void (*const writers[])(struct draw *) = {write_order,    write_quota,   write_gang,   write_preemption,
                                                     write_actions,  write_gang,    write_defrag, write_geometry,
                                                     write_backfill, write_headroom};
    enum { OFTEN = 5 }; /* these are drawn often; the others exclude each other, or are seldom used */
    for (uint32_t w = 0; w < sizeof writers / sizeof *writers; w++)
        if (w != OFTEN && draw_once_in(draw, all ? (w < OFTEN ? 1 : 2) : 4))
            writers[w](draw);
    MAYBE(draw, "blocking", blocking);
    MAYBE(draw, "reservation_expiry_s", expiries);
    if (draw_once_in(draw, 3))
        MAYBE(draw, "inference_first", draw_bools);
    if (draw_once_in(draw, 2))
        buffer_format(draw->out, ", 'placement': '%s'", ANY_OF(draw, placement_policies));
    if (draw_once_in(draw, 4))
        buffer_format(draw->out, ", 'estimate': '%s'", ANY_OF(draw, estimate_policies));
    if (draw_once_in(draw, 4))
        buffer_format(draw->out, ", 'sharing': '%s'", ANY_OF(draw, sharing_policies));
    if (draw_once_in(draw, 4))
        write_topology(draw);
}

static void write_policy(struct draw *draw)
{
    uint32_t presets = 0;
    while (policy_preset_texts[presets].name != NULL)
        presets++;
    if (draw_once_in(draw, 3)) {
        buffer_format(draw->out, ", 'policy': {'preset': '%s', 'set': {'name': 'mixed'",
                      policy_preset_texts[draw_below(draw, presets)].name);
        write_seams(draw, false);
        buffer_string(draw->out, "}}");
        return;
    }
    buffer_string(draw->out, ", 'policy': {'name': 'random'");
    write_seams(draw, true);
    buffer_char(draw->out, '}');
}

void random_policy_scenario(struct random_scenario *scenario, uint64_t seed, uint32_t draw, uint64_t stall_steps)
{
    const struct random_scenario_options options = {.stall_steps = stall_steps, .write_policy = write_policy};
    random_scenario_make(scenario, seed, draw, &options);
}

void random_policy_rich_scenario(struct random_scenario *scenario, uint64_t seed, uint32_t draw, uint64_t stall_steps)
{
    const struct random_scenario_options options = {
        .stall_steps = stall_steps, .has_faults = true, .has_physics = true, .write_policy = write_policy};
    random_scenario_make(scenario, seed, draw, &options);
}
