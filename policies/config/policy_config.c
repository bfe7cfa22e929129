#include "policies/policy_config.h"

#include <stdio.h>
#include <string.h>

#include "policies/backfill/backfills.h"
#include "policies/config/registry.h"
#include "policies/estimate/estimates.h"
#include "policies/gang/gangs.h"
#include "policies/geometry/geometries.h"
#include "policies/idle/idles.h"
#include "policies/order/order_read.h"
#include "policies/order/orders.h"
#include "policies/placement/placements.h"
#include "policies/preemption/preemption_read.h"
#include "policies/preemption/preemptions.h"
#include "policies/quota/quota_read.h"
#include "policies/quota/quotas.h"
#include "policies/sharing/sharings.h"
#include "policies/util/choose.h"

enum { PPM = 1000000, MOVES_MAX = 1000000, SLICE_CLIENTS_MAX = 64 };

const char *const guarantee_names[] = {"gang", "reclaim", "no_loop", "minimal", NULL};

static const char *const action_names[] = {"allocate", "consolidation", "reclaim",
                                           "preempt",  "stale_gang",    NULL}; /* enum action */

struct policy_config policy_config_default(void)
{
    return (struct policy_config){
        .name = "default",
        .order = {&order_fifo},
        .order_count = 1,
        .order_config = order_config_default(),
        .is_strict = true,
        .quota = &quota_none,
        .quota_config = quota_config_default(),
        .estimate = &estimate_limit,
        .backfill = &backfill_none,
        .geometry = &geometry_static,
        .sharing = &sharing_as_asked,
        .idle = &idle_none,
        .gang = &gang_all_or_nothing,
        .stale_after = 60 * TIME_NS_PER_S, /* KAI-Scheduler's default-staleness-grace-period */
        .placement = &placement_best_fit,
        .placement_firm = &placement_best_fit,
        .placement_config = placement_config_default(),
        .preemption = &preemption_none,
        .preempt = preemption_config_default(),
        .actions = {ACTION_ALLOCATE, ACTION_CONSOLIDATION, ACTION_RECLAIM, ACTION_PREEMPT, ACTION_STALE_GANG},
        .action_count = 5,
        .reservation_expiry = 600 * TIME_NS_PER_S,
        .guarantees = GUARANTEE_GANG,
    };
}

/* The index of a name in `names`; fails through the sticky error. */
static int find_name(const struct json_value *item, const char *const *names, const char *what)
{
    const char *name = json_value_string(item);
    json_note_choices(item, names);
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    json_fail(item, "there is no %s '%s'", what, name);
    return -1;
}

static void read_actions(struct policy_config *config, struct json_object *object)
{
    struct json_value actions = json_member(object, "actions");
    size_t count = json_array_count(&actions);
    if (actions.node == NULL)
        return;
    if (count > ACTIONS_MAX) {
        json_fail(&actions, "'actions' must name at most %d actions", ACTIONS_MAX);
        return;
    }
    config->action_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct json_value item = json_array_item(&actions, i);
        int action = find_name(&item, action_names, "action");
        if (action < 0)
            return;
        config->actions[config->action_count++] = (uint8_t)action;
    }
}

void policy_config_need_allocate(const struct policy_config *config, const struct json_value *value)
{
    for (uint32_t a = 0; a < config->action_count; a++)
        if (config->actions[a] == ACTION_ALLOCATE)
            return;
    struct json_object object;
    json_object_open(&object, value);
    struct json_value actions = json_member(&object, "actions");
    json_fail(actions.node != NULL ? &actions : value, "'actions' lacks 'allocate': no job could ever start");
    error_set_hint(value->error, "put \"allocate\" before the other actions");
}

static void read_guarantees(struct policy_config *config, struct json_object *object)
{
    struct json_value guarantees = json_member(object, "guarantees");
    size_t count = json_array_count(&guarantees);
    if (guarantees.node == NULL)
        return;
    config->guarantees = 0;
    for (size_t i = 0; i < count; i++) {
        struct json_value item = json_array_item(&guarantees, i);
        int guarantee = find_name(&item, guarantee_names, "guarantee");
        if (guarantee < 0)
            return;
        config->guarantees |= 1u << guarantee;
    }
}

static void read_gang(struct policy_config *config, const void *registry, struct json_object *object)
{
    struct json_object gang;
    if (!json_object_at(&gang, object, "gang"))
        return;
    config->gang = choose_member(&gang, "policy", registry, config->gang);
    config->stale_after = json_get_patience(&gang, "stale_after_s", config->stale_after);
    json_object_close(&gang);
}

bool policy_uses_typical(const struct policy_config *config)
{
    return config->placement->uses_typical || (config->placement_firm != NULL && config->placement_firm->uses_typical);
}

bool policy_makes_firm(const struct policy_config *config, const struct job *job)
{
    return job->is_firm_by_priority && job->priority >= config->preempt.firm_priority;
}

bool policy_has_one_line(const struct policy_config *config)
{
    return config->is_strict && config->quota->is_flat;
}

static bool has_window(const struct backfill_config *backfill)
{
    return backfill->overtakes && backfill->window != TIME_NEVER;
}

/* Policies that keep planned starts or plan within a window need a single queue that blocks. */
static void check_backfill(const struct policy_config *config, const struct json_value *value)
{
    const struct backfill_config *backfill = &config->backfill->defaults;
    if (!backfill->overtakes || policy_has_one_line(config))
        return;
    if (backfill->keeps || has_window(backfill))
        json_fail(value,
                  "backfill '%s' needs a single queue that blocks: \"blocking\": \"strict\" and the "
                  "quota policy 'none'; otherwise use 'easy'",
                  config->backfill->name);
}

static void read_backfill(struct policy_config *config, const void *registry, struct json_object *object)
{
    struct json_value value = json_member(object, "backfill");
    struct json_object backfill;
    if (value.node != NULL) {
        json_object_open(&backfill, &value);
        config->backfill = choose_member(&backfill, "policy", registry, config->backfill);
        struct backfill_config *own = &config->backfill_config;
        *own = config->backfill->defaults;
        if (has_window(own)) {
            own->depth = json_get_int(&backfill, "depth", 1, BACKFILL_ALL, own->depth);
            own->per_user = json_get_int(&backfill, "per_user", 0, BACKFILL_ALL, own->per_user);
            own->window = json_get_duration(&backfill, "window_s", own->window);
            own->resolution = json_get_duration(&backfill, "resolution_s", own->resolution);
        } else if (own->keeps) {
            const int64_t depth = json_get_int(&backfill, "depth", 0, BACKFILL_ALL, own->depth);
            own->depth = depth == 0 ? BACKFILL_ALL : depth;
        } else {
            own->reservations = json_get_int(&backfill, "reservations", 1, BACKFILL_ALL, own->reservations);
        }
        if (own->overtakes && !own->keeps)
            own->interval = json_get_duration(&backfill, "interval_s", own->interval);
        if (own->overtakes && !own->keeps)
            own->fills_gaps = json_get_bool(&backfill, "fills_gaps", own->fills_gaps);
        if (own->overtakes)
            own->names_gpus = json_get_bool(&backfill, "names_gpus", own->names_gpus);
        json_object_close(&backfill);
    }
    check_backfill(config, &value);
}

/* A filler must be one that the policy evicts for another job. */
static void check_gaps(const struct policy_config *config, const struct json_value *value)
{
    bool evicts = false;
    for (uint32_t a = 0; a < config->action_count; a++)
        evicts |= config->actions[a] == ACTION_RECLAIM || config->actions[a] == ACTION_PREEMPT;
    if (config->backfill_config.fills_gaps && !(evicts && config->preemption->evicts))
        json_fail(value, "'fills_gaps' needs a policy that evicts jobs for others: a preemption policy such as "
                         "'checkpoint', and 'preempt' or 'reclaim' among the actions");
}

static void read_defrag(struct policy_config *config, struct json_object *object)
{
    struct json_object defrag;
    if (!json_object_at(&defrag, object, "defrag"))
        return;
    const struct defrag_policy *policy = choose_member(&defrag, "policy", defrag_policies, defrag_policies[0]);
    struct defrag_config *own = &config->defrag_config;
    *own = policy->defaults;
    if (own->moves_per_plan != 0) {
        own->moves_per_plan = json_get_int(&defrag, "moves_per_plan", -1, MOVES_MAX, own->moves_per_plan);
        own->spares_ending = json_get_bool(&defrag, "spares_ending", own->spares_ending);
        own->holds_places = json_get_bool(&defrag, "holds_places", own->holds_places);
    }
    json_object_close(&defrag);
}

/* Cells and promises do not expect that GPUs are repartitioned. */
static void check_geometry(const struct policy_config *config, const struct json_value *value)
{
    if (config->geometry->score == NULL)
        return;
    if (config->quota->homes.confines != NULL)
        json_fail(value, "geometry '%s' does not go with quota '%s', which keeps whole GPUs", config->geometry->name,
                  config->quota->name);
    else if (config->backfill_config.keeps)
        json_fail(value, "geometry '%s' would break the promises of backfill '%s'; use 'easy' with it",
                  config->geometry->name, config->backfill->name);
}

static void read_geometry(struct policy_config *config, struct json_object *object)
{
    static const char *const needs[] = {"instances", "gpu", "node", NULL}; /* enum recut_needs */
    struct json_value value = json_member(object, "geometry");
    struct json_object geometry;
    if (value.node == NULL)
        return;
    if (json_is_string(value.node)) {
        config->geometry = choose_member(object, "geometry", geometry_policies, config->geometry);
        config->geometry_config = config->geometry->defaults;
        check_geometry(config, &value);
        return;
    }
    json_object_open(&geometry, &value);
    config->geometry = choose_member(&geometry, "policy", geometry_policies, config->geometry);
    struct geometry_config *own = &config->geometry_config;
    *own = config->geometry->defaults;
    if (config->geometry->score != NULL) {
        own->rest = json_get_duration(&geometry, "rest_s", own->rest);
        own->needs = (uint8_t)json_get_choice(&geometry, "needs", needs, own->needs);
    }
    json_object_close(&geometry);
    check_geometry(config, &value);
}

/* Read the client limits that the policy uses.  A policy with both kinds of shares has a key for each. */
static void read_clients(struct sharing_config *own, struct json_object *sharing)
{
    uint16_t *mps = &own->clients_max[SHARE_MPS], *slices = &own->clients_max[SHARE_TIMESLICE];
    const char *of_slices = *mps != 0 ? "slice_clients_max" : "clients_max";
    if (*mps != 0)
        *mps = (uint16_t)json_get_int(sharing, "clients_max", 1, MPS_CLIENTS_MAX, *mps);
    if (*slices != 0)
        *slices = (uint16_t)json_get_int(sharing, of_slices, 2, SLICE_CLIENTS_MAX, *slices);
}

/* Quota policies with places of their own ignore trust domains. */
static void check_sharing(const struct policy_config *config, const struct json_value *value)
{
    if (sharing_is_used(config->sharing, &config->sharing_config) && config->quota->homes.confines != NULL)
        json_fail(value, "sharing '%s' does not go with quota '%s', which keeps places of its own",
                  config->sharing->name, config->quota->name);
}

static void read_sharing(struct policy_config *config, struct json_object *object)
{
    static const char *const trusts[] = {"queue", "parent", "top", NULL};                 /* enum trust_depth */
    static const char *const isolations[] = {"process", "container", "vm", "node", NULL}; /* enum isolation */
    static const char *const gangs[] = {"allow", "refuse", NULL};                         /* refuses_gangs */
    struct json_value value = json_member(object, "sharing");
    struct json_object sharing;
    struct sharing_config *own = &config->sharing_config;
    if (value.node == NULL)
        return;
    if (json_is_string(value.node)) {
        config->sharing = choose_member(object, "sharing", sharing_policies, config->sharing);
        *own = config->sharing->defaults;
        check_sharing(config, &value);
        return;
    }
    json_object_open(&sharing, &value);
    config->sharing = choose_member(&sharing, "policy", sharing_policies, config->sharing);
    *own = config->sharing->defaults;
    read_clients(own, &sharing);
    own->trust = (uint8_t)json_get_choice(&sharing, "trust", trusts, own->trust);
    own->isolation = (uint8_t)json_get_choice(&sharing, "isolation", isolations, own->isolation);
    own->refuses_gangs = json_get_choice(&sharing, "gangs_on_slices", gangs, 0) == 1;
    own->awaits_shared = json_get_bool(&sharing, "awaits_shared", false);
    json_object_close(&sharing);
    check_sharing(config, &value);
}

static uint8_t read_classes(struct json_object *object, uint8_t otherwise)
{
    struct json_value classes = json_member(object, "classes");
    uint8_t bits = 0;
    if (classes.node == NULL)
        return otherwise;
    for (size_t i = 0, count = json_array_count(&classes); i < count; i++) {
        struct json_value item = json_array_item(&classes, i);
        const int class = find_name(&item, job_class_names, "class");
        if (class < 0)
            return otherwise;
        bits |= (uint8_t)(1u << class);
    }
    return bits;
}

static void read_idle_terms(struct idle_config *own, struct json_object *idle)
{
    own->classes = read_classes(idle, own->classes);
    own->threshold_milli = (uint16_t)json_get_scaled(idle, "threshold", GPU_MILLI, 1, GPU_MILLI, own->threshold_milli);
    own->window = json_get_duration(idle, "window_s", own->window);
    own->grace = json_get_duration(idle, "grace_s", own->grace);
    own->rest = json_get_duration(idle, "rest_s", own->rest);
    if (own->window < TIME_NS_PER_S) {
        struct json_value window = json_member(idle, "window_s");
        json_fail(&window, "'window_s' must be at least 1 s");
    }
}

static void read_idle(struct policy_config *config, struct json_object *object)
{
    struct json_value value = json_member(object, "idle");
    struct json_object idle;
    if (value.node == NULL)
        return;
    if (json_is_string(value.node)) {
        config->idle = choose_member(object, "idle", idle_policies, config->idle);
        config->idle_config = config->idle->defaults;
        return;
    }
    json_object_open(&idle, &value);
    config->idle = choose_member(&idle, "policy", idle_policies, config->idle);
    config->idle_config = config->idle->defaults;
    if (config->idle->tells)
        read_idle_terms(&config->idle_config, &idle);
    json_object_close(&idle);
}

static void read_headroom(struct policy_config *config, struct json_object *object)
{
    struct json_object headroom;
    if (!json_object_at(&headroom, object, "headroom"))
        return;
    config->headroom.gpu_milli =
        json_get_scaled(&headroom, "gpus", GPU_MILLI, 0, INT32_MAX, config->headroom.gpu_milli);
    config->headroom.whole_nodes =
        json_get_int(&headroom, "whole_nodes", 0, CLUSTER_NODES_MAX, config->headroom.whole_nodes);
    config->headroom.owners_milli =
        json_get_scaled(&headroom, "owners_gpus", GPU_MILLI, 0, INT32_MAX, config->headroom.owners_milli);
    config->headroom.gpus_ppm = json_get_scaled(&headroom, "gpus_ratio", PPM, 0, PPM, config->headroom.gpus_ppm);
    config->headroom.nodes_ppm = json_get_scaled(&headroom, "nodes_ratio", PPM, 0, PPM, config->headroom.nodes_ppm);
    config->headroom.owners_ppm = json_get_scaled(&headroom, "owners_ratio", PPM, 0, PPM, config->headroom.owners_ppm);
    json_object_close(&headroom);
}

void policy_config_read(struct policy_config *config, const struct json_value *value)
{
    policy_config_read_with(config, value, NULL);
}

void policy_config_read_with(struct policy_config *config, const struct json_value *value,
                             const struct plugin_set *plugins)
{
    static const char *const blocking[] = {"skip", "strict", NULL};
    struct json_object object;
    struct policy_registry registry;
    const void *placements = registry.entries[PLUGIN_PLACEMENT];
    policy_registry_fill(&registry, plugins);
    *config = policy_config_default();
    json_object_open(&object, value);
    const char *name = json_get_string(&object, "name", POLICY_UNNAMED);
    snprintf(config->name, sizeof config->name, "%s", name);
    json_get_string(&object, "summary", NULL); /* for people */
    order_chain_read(config->order, &config->order_count, ORDER_CHAIN_MAX, registry.entries[PLUGIN_ORDER], &object);
    order_config_read(&config->order_config, &object);
    config->is_strict = json_get_choice(&object, "blocking", blocking, 1) == 1;
    config->inference_first = json_get_bool(&object, "inference_first", config->inference_first);
    struct json_value quota = json_member(&object, "quota");
    quota_config_read(&config->quota_config, &config->quota, registry.entries[PLUGIN_QUOTA], &quota);
    config->estimate = choose_member(&object, "estimate", registry.entries[PLUGIN_ESTIMATE], config->estimate);
    read_backfill(config, registry.entries[PLUGIN_BACKFILL], &object);
    read_gang(config, registry.entries[PLUGIN_GANG], &object);
    config->placement = choose_member(&object, "placement", placements, config->placement);
    config->placement_firm = choose_member(&object, "placement_firm", placements, config->placement);
    placement_config_read(&config->placement_config, &object);
    struct json_value preemption = json_member(&object, "preemption");
    preemption_config_read(&config->preempt, &config->preemption, registry.entries[PLUGIN_PREEMPTION],
                           registry.entries[PLUGIN_VICTIM], &preemption);
    read_defrag(config, &object);
    read_geometry(config, &object);
    read_sharing(config, &object);
    read_idle(config, &object);
    read_actions(config, &object);
    struct json_value backfill = json_member(&object, "backfill");
    check_gaps(config, &backfill);
    config->reservation_expiry = json_get_patience(&object, "reservation_expiry_s", config->reservation_expiry);
    read_headroom(config, &object);
    read_guarantees(config, &object);
    plugin_params_read(config, &object, plugins);
    if (plugins != NULL)
        json_member(&object, "plugins"); /* loaded by the caller */
    json_member(&object, "typical");     /* the caller passes it on: sched_typical_told */
    json_object_close(&object);
}
