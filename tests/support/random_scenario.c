#include "tests/support/random_scenario.h"

#include <string.h>

#include "base/random.h"
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
#include "tests/support/json_text.h"

struct maker {
    struct random_stream stream;
    struct buffer *out;
    uint32_t queue_count;
    uint32_t gpus; /* of a node of the first pool */
};

static uint32_t below(struct maker *maker, uint32_t count)
{
    return random_below(&maker->stream, count);
}

static bool once_in(struct maker *maker, uint32_t times)
{
    return below(maker, times) == 0;
}

#define PICK(maker, list) ((list)[below(maker, sizeof(list) / sizeof *(list))])

/* A comma, the key, and one of the texts. */
#define FIELD(maker, key, list) buffer_format((maker)->out, ", '%s': %s", key, PICK(maker, list))

/* As above, or nothing, for the default. */
#define MAYBE(maker, key, list)                                                                                        \
    do {                                                                                                               \
        if (once_in(maker, 2))                                                                                         \
            FIELD(maker, key, list);                                                                                   \
    } while (0)

/* From 0 to longer than any run. */
static const char *const spans[] = {"0", "0.000001", "0.001", "1", "5", "60", "300", "3600", "'30d'", "1000000000"};
static const char *const bools[] = {"true", "false"};
static const char *const steps[] = {"1", "2", "10", "1000000"};
static const char *const bounds[] = {"0", "0", "1", "3", "1000000"};

/* ---- The cluster ---- */

static void write_pool(struct maker *maker, uint32_t index)
{
    static const char *const models[] = {"h100-80gb", "a100-80gb", "v100-32gb"};
    static const uint32_t gpus[] = {1, 2, 4, 8, 8};
    const uint32_t count = PICK(maker, gpus), model = below(maker, 3);
    if (index == 0)
        maker->gpus = count;
    buffer_format(maker->out,
                  "%s{'name': 'p%u', 'nodes': %u, 'gpus_per_node': %u, 'gpu_model': '%s', 'cpus': %u, 'memory_gb': %u",
                  index > 0 ? ", " : "", index, 1 + below(maker, 6), count, models[model], once_in(maker, 2) ? 16 : 64,
                  once_in(maker, 2) ? 64 : 512);
    if (model < 2 && once_in(maker, 2)) {
        buffer_string(maker->out, ", 'mig_recut': true, 'gpus_layout': [");
        for (uint32_t g = 0; g < count; g++)
            buffer_format(maker->out, "%s%s", g > 0 ? ", " : "",
                          once_in(maker, 3) ? "['1g.10gb', '2g.20gb', '3g.40gb']" : "[]");
        buffer_char(maker->out, ']');
    }
    if (once_in(maker, 3))
        buffer_string(maker->out, ", 'labels': {'zone': 'a'}");
    buffer_char(maker->out, '}');
}

static void write_cluster(struct maker *maker)
{
    const uint32_t pools = 1 + below(maker, 3);
    buffer_string(maker->out, "{'cluster': {'name': 'c', 'pools': [");
    for (uint32_t p = 0; p < pools; p++)
        write_pool(maker, p);
    buffer_format(maker->out, "], 'fabric': {'nodes_per_unit': %u}}", 2 << below(maker, 2));
}

/* ---- Queues ---- */

static void write_queues(struct maker *maker)
{
    static const char *const amounts[] = {"0", "1", "2", "4", "8", "-1", "0.5"};
    static const char *const limits[] = {"0", "2", "8", "-1"};
    static const char *const weights[] = {"0", "1", "3"};
    static const char *const priorities[] = {"100", "200", "-1"};
    maker->queue_count = below(maker, 5);
    buffer_string(maker->out, ", 'queues': [");
    for (uint32_t q = 0; q < maker->queue_count; q++) {
        buffer_format(maker->out, "%s{'name': 'q%u'", q > 0 ? ", " : "", q);
        if (q > 0 && once_in(maker, 3))
            buffer_format(maker->out, ", 'parent': 'q%u'", below(maker, q));
        MAYBE(maker, "quota_gpus", amounts);
        if (once_in(maker, 2))
            MAYBE(maker, "limit_gpus", limits);
        MAYBE(maker, "over_quota_weight", weights);
        if (once_in(maker, 2))
            MAYBE(maker, "priority", priorities);
        if (once_in(maker, 4))
            FIELD(maker, "borrowing_limit_gpus", limits);
        if (once_in(maker, 4))
            FIELD(maker, "lending_limit_gpus", weights);
        if (once_in(maker, 4))
            FIELD(maker, "reclaim_min_runtime_s", spans);
        if (once_in(maker, 4))
            FIELD(maker, "preempt_min_runtime_s", spans);
        buffer_char(maker->out, '}');
    }
    buffer_char(maker->out, ']');
}

/* ---- The policy ---- */

/* The name of one of a registry's policies, as its first field. */
#define ANY_OF(maker, registry) any_of(maker, (const void *const *)(const void *)(registry))

static const char *any_of(struct maker *maker, const void *const *registry)
{
    uint32_t count = 0;
    while (registry[count] != NULL)
        count++;
    const char *const *name = registry[below(maker, count)]; /* the first field of each */
    return *name;
}

static void write_order(struct maker *maker)
{
    const uint32_t links = 1 + below(maker, 3);
    buffer_string(maker->out, ", 'order': [");
    for (uint32_t l = 0; l < links; l++)
        buffer_format(maker->out, "%s'%s'", l > 0 ? ", " : "", ANY_OF(maker, order_policies));
    buffer_char(maker->out, ']');
    if (!once_in(maker, 3))
        return;
    static const char *const periods[] = {"1", "60", "3600"};
    static const char *const promotes[] = {"0", "0.001", "2"};
    static const char *const limits[] = {"[1]", "[60, 3600]", "[1, 2, 1000000]"};
    static const char *const lives[] = {"0", "1", "3600"};
    buffer_string(maker->out, ", 'order_config': {'period_s': ");
    buffer_string(maker->out, PICK(maker, periods));
    MAYBE(maker, "las_promote", promotes);
    MAYBE(maker, "las_limits_gpu_s", limits);
    MAYBE(maker, "half_life_s", lives);
    buffer_char(maker->out, '}');
}

static void write_quota(struct maker *maker)
{
    static const char *const reclaims[] = {"'never'", "'lower_priority'", "'any'"};
    static const char *const borrows[] = {"'never'", "'lower_priority'"};
    static const char *const saturations[] = {"1", "1.5", "1000"};
    static const char *const periods[] = {"1", "60"};
    buffer_format(maker->out, ", 'quota': {'policy': '%s'", ANY_OF(maker, quota_policies));
    MAYBE(maker, "firm_needs_quota", bools);
    if (once_in(maker, 2)) {
        MAYBE(maker, "saturation_multiplier", saturations);
        MAYBE(maker, "usage_weight", saturations);
        MAYBE(maker, "half_life_s", spans);
        MAYBE(maker, "window_s", spans);
        MAYBE(maker, "share_period_s", periods);
        MAYBE(maker, "fair_sharing", bools);
        MAYBE(maker, "credit_cap_s", spans);
    }
    MAYBE(maker, "reclaim_within_cohort", reclaims);
    MAYBE(maker, "borrow_within_cohort", borrows);
    buffer_char(maker->out, '}');
}

static void write_gang(struct maker *maker)
{
    static const char *const never[] = {"'never'", "0", "0.001", "1", "60"};
    buffer_format(maker->out, ", 'gang': {'policy': '%s'", once_in(maker, 3) ? "hoard" : "all_or_nothing");
    MAYBE(maker, "stale_after_s", never);
    buffer_string(maker->out, "}, 'guarantees': []");
}

static void write_backfill(struct maker *maker)
{
    const char *name = ANY_OF(maker, backfill_policies);
    buffer_format(maker->out, ", 'backfill': {'policy': '%s'", name);
    if (name[0] == 'e' || name[0] == 's')
        MAYBE(maker, "interval_s", spans);
    if (name[0] == 'e')
        MAYBE(maker, "reservations", steps);
    buffer_char(maker->out, '}');
}

static void write_preemption(struct maker *maker)
{
    static const char *const within[] = {"'never'", "'lower'", "'lower_or_newer'", "'order'"};
    static const char *const searches[] = {"'ordered'", "'node'"};
    static const char *const resolves[] = {"'lca'", "'queue'"};
    static const char *const ratios[] = {"0", "0.001", "1", "1000"};
    static const char *const victims[] = {"[]", "['queue']", "['queue', 'cost']", "['surplus', 'oldest']", "['order']"};
    const char *name = once_in(maker, 6) ? "none" : once_in(maker, 3) ? "kill" : "checkpoint";
    buffer_format(maker->out, ", 'preemption': {'policy': '%s'", name);
    MAYBE(maker, "within_queue", within);
    MAYBE(maker, "search", searches);
    MAYBE(maker, "resolve", resolves);
    MAYBE(maker, "replaces_victims", bools);
    MAYBE(maker, "spares_inference", bools);
    MAYBE(maker, "victims", victims);
    MAYBE(maker, "grace_s", spans);
    MAYBE(maker, "min_runtime_s", spans);
    if (once_in(maker, 3))
        FIELD(maker, "delay_s", spans);
    if (once_in(maker, 3))
        FIELD(maker, "loss_ratio", ratios);
    MAYBE(maker, "attempts_per_cycle", steps);
    MAYBE(maker, "victims_max", steps);
    MAYBE(maker, "evictions_per_job_max", bounds);
    if (once_in(maker, 3))
        FIELD(maker, "evictions_per_cycle", bounds);
    if (once_in(maker, 3))
        FIELD(maker, "evictions_per_queue_h", bounds);
    if (once_in(maker, 3))
        FIELD(maker, "rematch_cycles", bounds);
    struct maker aside = *maker; /* a copy, so that later draws are the same with and without this one */
    MAYBE(&aside, "victims_of_this_cycle", bools);
    buffer_char(maker->out, '}');
}

static void write_defrag(struct maker *maker)
{
    static const char *const ratios[] = {"0", "0.1", "0.5", "1"};
    static const char *const never[] = {"'never'", "0", "0.001", "60", "43200"};
    static const char *const moves[] = {"0", "1", "16", "-1"};
    const char *name = ANY_OF(maker, defrag_policies);
    const bool moves_any = name[0] == 'c', drains = strstr(name, "drain") != NULL;
    buffer_format(maker->out, ", 'defrag': {'policy': '%s'", name);
    if (moves_any || drains)
        MAYBE(maker, "wait_s", spans);
    if (moves_any) {
        MAYBE(maker, "moves_per_plan", moves);
        MAYBE(maker, "moves_per_h", bounds);
        MAYBE(maker, "spares_ending", bools);
        MAYBE(maker, "holds_places", bools);
    }
    if (drains) {
        MAYBE(maker, "drain_nodes_ratio", ratios);
        MAYBE(maker, "drain_expiry_s", never);
    }
    buffer_char(maker->out, '}');
}

static void write_geometry(struct maker *maker)
{
    static const char *const needs[] = {"'instances'", "'gpu'", "'node'"};
    const char *name = ANY_OF(maker, geometry_policies);
    buffer_format(maker->out, ", 'geometry': {'policy': '%s'", name);
    if (name[0] != 's') {
        MAYBE(maker, "wait_s", spans);
        MAYBE(maker, "recuts_per_h", bounds);
        MAYBE(maker, "rest_s", spans);
        MAYBE(maker, "needs", needs);
        MAYBE(maker, "fills", bools);
    }
    buffer_char(maker->out, '}');
}

static void write_actions(struct maker *maker)
{
    const char *actions[] = {"consolidation", "reclaim", "preempt", "stale_gang"};
    uint32_t count = 4;
    buffer_string(maker->out, ", 'actions': ['allocate'");
    while (count > 0) {
        const uint32_t which = below(maker, count);
        if (!once_in(maker, 6))
            buffer_format(maker->out, ", '%s'", actions[which]);
        actions[which] = actions[--count];
    }
    buffer_char(maker->out, ']');
}

static void write_headroom(struct maker *maker)
{
    static const char *const ratios[] = {"0", "0.1", "0.5", "1"};
    buffer_format(maker->out, ", 'headroom': {'gpus_ratio': %s", PICK(maker, ratios));
    MAYBE(maker, "nodes_ratio", ratios);
    MAYBE(maker, "owners_ratio", ratios);
    buffer_char(maker->out, '}');
}

static void write_topology(struct maker *maker)
{
    static const char *const modes[] = {"'as_asked'", "'loose'", "'preferred'", "'required'"};
    static const char *const domains[] = {"'best_fit'", "'least_free'", "'balanced'",
                                          "'fewest'",   "'block'",      "'nested'"};
    buffer_format(maker->out, ", 'topology': {'mode': %s, 'domains': %s}", PICK(maker, modes), PICK(maker, domains));
}

/* Draws each seam if `all` is set, else a few of them. */
static void write_seams(struct maker *maker, bool all)
{
    static const char *const blocking[] = {"'skip'", "'skip'", "'strict'"};
    static const char *const expiries[] = {"0", "0.000001", "1", "600", "'never'"};
    static void (*const writers[])(struct maker *) = {write_order,    write_quota,   write_gang,   write_preemption,
                                                      write_actions,  write_gang,    write_defrag, write_geometry,
                                                      write_backfill, write_headroom};
    enum { OFTEN = 5 }; /* these are drawn often; the others exclude each other, or are seldom used */
    for (uint32_t w = 0; w < sizeof writers / sizeof *writers; w++)
        if (w != OFTEN && once_in(maker, all ? (w < OFTEN ? 1 : 2) : 4))
            writers[w](maker);
    MAYBE(maker, "blocking", blocking);
    MAYBE(maker, "reservation_expiry_s", expiries);
    if (once_in(maker, 3))
        MAYBE(maker, "inference_first", bools);
    if (once_in(maker, 2))
        buffer_format(maker->out, ", 'placement': '%s'", ANY_OF(maker, placement_policies));
    if (once_in(maker, 4))
        buffer_format(maker->out, ", 'estimate': '%s'", ANY_OF(maker, estimate_policies));
    if (once_in(maker, 4))
        buffer_format(maker->out, ", 'sharing': '%s'", ANY_OF(maker, sharing_policies));
    if (once_in(maker, 4))
        write_topology(maker);
}

static void write_policy(struct maker *maker)
{
    uint32_t presets = 0;
    while (policy_preset_texts[presets].name != NULL)
        presets++;
    if (once_in(maker, 3)) {
        buffer_format(maker->out, ", 'policy': {'preset': '%s', 'set': {'name': 'mixed'",
                      policy_preset_texts[below(maker, presets)].name);
        write_seams(maker, false);
        buffer_string(maker->out, "}}");
        return;
    }
    buffer_string(maker->out, ", 'policy': {'name': 'random'");
    write_seams(maker, true);
    buffer_char(maker->out, '}');
}

/* ---- The world ---- */

static void write_world(struct maker *maker, uint64_t seed, uint64_t stall_steps)
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
    buffer_format(maker->out, ", 'world': {'scheduler_period_s': %s", PICK(maker, periods));
    if (once_in(maker, 4))
        FIELD(maker, "decision_latency_s", latencies);
    MAYBE(maker, "limits", limits);
    if (once_in(maker, 5))
        FIELD(maker, "queue_limit", queue_limits);
    if (!once_in(maker, 4))
        FIELD(maker, "end", ends);
    MAYBE(maker, "mig_recut", recuts);
    MAYBE(maker, "estimates", estimates);
    buffer_format(maker->out,
                  ", 'sample_s': 86400, 'stall_steps': %llu}, 'workload': {'trace': 'j.jsonl', 'format': 'jsonl'}, "
                  "'seed': %llu}\n",
                  (unsigned long long)stall_steps, (unsigned long long)(seed & 0xffff));
}

/* ---- Jobs ---- */

static void write_group(struct maker *maker, bool is_first)
{
    static const char *const fractions[] = {"0.1", "0.25", "0.5", "0.9"};
    static const char *const profiles[] = {"1g.10gb", "2g.20gb", "3g.40gb", "7g.80gb"};
    const uint32_t count = 1 + below(maker, 6);
    const uint32_t minimum = once_in(maker, 2) ? count : 1 + below(maker, count);
    buffer_format(maker->out, "%s{'count': %u, 'min_members': %u", is_first ? "" : ", ", count, minimum);
    switch (below(maker, 7)) {
    case 0:
        buffer_format(maker->out, ", 'gpu_fraction': %s", PICK(maker, fractions));
        break;
    case 1:
        buffer_format(maker->out, ", 'mig': '%s'", PICK(maker, profiles));
        if (minimum == count) /* tasks with several instances, or a single task */
            buffer_format(maker->out, ", 'slice_members': %u, 'slice_level': 'node'", count % 2 == 0 ? 2 : count);
        break;
    case 2:
        buffer_string(maker->out, ", 'gpu_memory_gb': 5");
        break;
    case 3:
        buffer_string(maker->out, ", 'gpus': 0");
        break;
    default:
        buffer_format(maker->out, ", 'gpus': %u", 1 + below(maker, maker->gpus));
    }
    buffer_format(maker->out, ", 'cpus': %u, 'memory_gb': %u}", 1 + below(maker, 4), below(maker, 3) * 8);
}

static void write_ask(struct maker *maker)
{
    const uint32_t nodes = 1 + below(maker, 6);
    if (once_in(maker, 3)) {
        const uint32_t groups = 1 + below(maker, 3);
        buffer_string(maker->out, ", 'groups': [");
        for (uint32_t g = 0; g < groups; g++)
            write_group(maker, g == 0);
        buffer_char(maker->out, ']');
        if (maker->out->length % 3 == 0) /* chance without a draw, so that the rest stays the same */
            buffer_format(maker->out, ", 'min_sets': %u", 1 + (uint32_t)(maker->out->length / 3) % groups);
    } else if (once_in(maker, 6)) {
        buffer_string(maker->out, ", 'gpus': 1, 'gpu_fraction': 0.3");
    } else if (once_in(maker, 3)) {
        buffer_format(maker->out, ", 'gpus': %u", 1 + below(maker, maker->gpus));
    } else {
        buffer_format(maker->out, ", 'gpus': %u, 'nodes': %u", nodes * (1 + below(maker, maker->gpus)), nodes);
        if (once_in(maker, 2))
            buffer_format(maker->out, ", 'min_members': %u", 1 + below(maker, nodes));
    }
}

static void write_extras(struct maker *maker, uint32_t id)
{
    static const char *const limits[] = {"1", "60", "600", "10000"};
    static const char *const outcomes[] = {"'failed'", "'cancelled'"};
    static const char *const intervals[] = {"1", "60", "600"};
    static const char *const writes[] = {"0", "5", "300"};
    static const char *const levels[] = {"'unit'", "'node'"};
    if (once_in(maker, 3))
        FIELD(maker, "limit_s", limits);
    if (once_in(maker, 3))
        FIELD(maker, "estimate_s", limits);
    if (once_in(maker, 6))
        FIELD(maker, "outcome", outcomes);
    if (once_in(maker, 2)) {
        FIELD(maker, "checkpoint_interval_s", intervals);
        FIELD(maker, "checkpoint_duration_s", writes);
        FIELD(maker, "restart_s", writes);
    }
    if (once_in(maker, 4))
        FIELD(maker, "preemptible", bools);
    if (once_in(maker, 8))
        buffer_format(maker->out, ", 'topology': {'%s': %s}", once_in(maker, 2) ? "required" : "preferred",
                      PICK(maker, levels));
    if (once_in(maker, 10))
        buffer_string(maker->out, ", 'node_selector': 'zone=a'");
    if (id > 0 && once_in(maker, 10))
        buffer_format(maker->out, ", 'after': '%u'", below(maker, id));
    if (once_in(maker, 10))
        buffer_format(maker->out, ", 'deadline_s': %u", 100000 + below(maker, 100000));
}

static void write_jobs(struct maker *maker, struct random_scenario *scenario)
{
    static const char *const classes[] = {"training", "interactive", "inference"};
    static const char *const durations[] = {"0", "0.000001", "1", "60", "600", "5000", "40000"};
    static const uint32_t gaps[] = {0, 0, 1, 30, 300, 2000};
    static const int priorities[] = {0, 10, 50, 50, 50, 100, 125};
    uint32_t submit = 0;
    maker->out = &scenario->jobs;
    scenario->job_count = 2 + below(maker, once_in(maker, 4) ? 60 : 20);
    for (uint32_t id = 0; id < scenario->job_count; id++) {
        submit += PICK(maker, gaps);
        buffer_format(maker->out, "{'job_id': %u, 'submit_s': %u, 'duration_s': %s", id, submit,
                      PICK(maker, durations));
        if (maker->queue_count > 0)
            buffer_format(maker->out, ", 'queue': 'q%u'", below(maker, maker->queue_count));
        buffer_format(maker->out, ", 'user': 'u%u', 'class': '%s', 'priority': %d", below(maker, 4),
                      PICK(maker, classes), PICK(maker, priorities));
        write_ask(maker);
        write_extras(maker, id);
        buffer_string(maker->out, "}\n");
    }
}

static void requote(struct buffer *text)
{
    buffer_c_string(text);
    json_text_requote(text->bytes);
}

void random_scenario_make(struct random_scenario *scenario, uint64_t seed, uint32_t draw, uint64_t stall_steps)
{
    *scenario = (struct random_scenario){0};
    struct maker maker = {.out = &scenario->text};
    random_stream_init(&maker.stream, seed, "scenario", draw);
    write_cluster(&maker);
    write_queues(&maker);
    write_policy(&maker);
    write_world(&maker, seed, stall_steps);
    write_jobs(&maker, scenario);
    requote(&scenario->text);
    requote(&scenario->jobs);
}

void random_scenario_release(struct random_scenario *scenario)
{
    buffer_release(&scenario->text);
    buffer_release(&scenario->jobs);
}
