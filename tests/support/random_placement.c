#include "tests/support/random_placement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "tests/support/json_text.h"
#include "tests/support/lawful.h"

enum { ROOM_MAX = 1000 }; /* stands for any number of members without GPUs */

const struct placement_policy *const random_placement_policies[] = {
    &placement_best_fit,      &placement_first_fit,       &placement_worst_fit,
    &placement_binpack,       &placement_least_allocated, &placement_least_allocated_gpus,
    &placement_pack,          &placement_spread,          &placement_strict_pack,
    &placement_strict_spread, &placement_random,          &placement_weighted_best_fit,
    &placement_dot_product,   &placement_gpu_packing,     &placement_gpu_clustering,
    &placement_fgd,           &placement_gather,          &placement_weighted_binpack,
    &placement_topology,
};

static uint32_t between(struct random_stream *stream, uint32_t least, uint32_t most)
{
    return least + random_below(stream, most - least + 1);
}

/* ---- constraints on nodes ---- */

/* Constraints by their text.  Their meaning is computed a second time below, from labels and taints alone. */
static const char *const ask_texts[] = {
    "'node_selector': {'zone': 'z0'}",
    "'node_affinity': [{'match_expressions': [{'key': 'rack', 'operator': 'NotIn', 'values': ['r1']}]}]",
    "'node_affinity': [{'match_expressions': [{'key': 'zone', 'operator': 'Exists'}, {'key': 'rack', "
    "'operator': 'In', 'values': ['r0', 'r2']}]}, {'match_expressions': [{'key': 'zone', "
    "'operator': 'DoesNotExist'}]}]",
    "'tolerations': ['x']",
    "'node_selector': {'zone': 'z1'}, 'tolerations': ['x:NoSchedule']",
    "'tolerations': ['x:NoExecute']",
};
enum { ASK_TEXTS = sizeof ask_texts / sizeof *ask_texts };

/* of the cluster that was made last */
static struct arena ask_arena;
static const struct node_ask *asks[ASK_TEXTS];

static void make_asks(const struct cluster *cluster)
{
    arena_release(&ask_arena);
    for (uint32_t i = 0; i < ASK_TEXTS; i++) {
        struct node_ask draft;
        char *text = json_text_new(ask_texts[i]);
        assert_true(node_ask_of_text(text, &ask_arena, &draft));
        free(text);
        asks[i] = node_ask_make(&ask_arena, cluster, &draft);
    }
}

static bool has_label(const struct node_type *type, const char *key, const char *value)
{
    bool has = false;
    for (uint32_t i = 0; i < type->label_count; i++)
        has |= strcmp(type->labels[i].key, key) == 0 && (value == NULL || strcmp(type->labels[i].value, value) == 0);
    return has;
}

bool random_placement_takes_nodes(const struct request *request, const struct node_type *type)
{
    const bool has_taint = type->taint_count > 0; /* the taint is x:NoSchedule */
    uint32_t which = 0;
    if (request->nodes == NULL)
        return !has_taint;
    while (asks[which] != request->nodes)
        which++;
    switch (which) {
    case 0:
        return !has_taint && has_label(type, "zone", "z0");
    case 1:
        return !has_taint && !has_label(type, "rack", "r1");
    case 2:
        return !has_taint &&
               (!has_label(type, "zone", NULL) || has_label(type, "rack", "r0") || has_label(type, "rack", "r2"));
    case 3:
        return true;
    case 4:
        return has_label(type, "zone", "z1");
    default:
        return !has_taint;
    }
}

/* ---- random worlds ---- */

static void put_layout(struct random_stream *stream, uint32_t gpus, struct buffer *json)
{
    static const char *const layouts[] = {
        "[]",          "['1g.10gb', '1g.10gb', '1g.10gb', '1g.10gb', '1g.10gb']",    "['4g.40gb', '3g.40gb']",
        "['7g.80gb']", "['2g.20gb', '3g.40gb', {'profile': '1g.10gb', 'start': 2}]",
    };
    buffer_string(json, ", 'gpus_layout': [");
    for (uint32_t g = 0; g < gpus; g++)
        buffer_format(json, "%s%s", g > 0 ? ", " : "", layouts[random_below(stream, 5)]);
    buffer_string(json, "]");
}

static void put_pool(struct random_stream *stream, uint32_t number, struct buffer *json)
{
    static const uint8_t sizes[] = {0, 1, 2, 4, 4, 8, 8};
    uint32_t gpus = sizes[random_below(stream, sizeof sizes)];
    buffer_format(json, "%s{'name': 'p%u', 'nodes': %u, 'gpus_per_node': %u, 'node_name': 'p%u-%%u'",
                  number > 0 ? ", " : "", number, between(stream, 1, 3), gpus, number);
    if (gpus > 0 && !random_placement_once_in(stream, 5)) {
        buffer_string(json, ", 'gpu_model': 'h100-80gb'");
        if (gpus >= 4 && random_placement_once_in(stream, 2))
            buffer_format(json, ", 'nvlink_island': %u", between(stream, 1, 2) * 2);
        if (random_placement_once_in(stream, 3))
            put_layout(stream, gpus, json);
    }
    if (random_placement_once_in(stream, 2))
        buffer_format(json, ", 'cpus': %u, 'memory_gb': %u", between(stream, 1, 12), between(stream, 1, 12));
    if (random_placement_once_in(stream, 4))
        buffer_format(json, ", 'max_tasks': %u", between(stream, 1, 4));
    if (random_placement_once_in(stream, 10))
        buffer_string(json, ", 'taints': ['x:NoSchedule']");
    buffer_string(json, ", 'labels': {'all': 'yes'");
    if (!random_placement_once_in(stream, 10))
        buffer_format(json, ", 'zone': 'z%u'", random_below(stream, 2));
    if (!random_placement_once_in(stream, 10))
        buffer_format(json, ", 'rack': 'r%u'", random_below(stream, 3));
    buffer_string(json, "}}");
}

struct cluster *random_placement_cluster(struct random_stream *stream)
{
    struct buffer json = {0};
    struct json_doc *doc;
    struct error error;
    buffer_string(&json, "{'levels': ['all', 'zone', 'rack', 'node'], 'pools': [");
    uint32_t pools = between(stream, 1, 8);
    for (uint32_t p = 0; p < pools; p++)
        put_pool(stream, p, &json);
    /* so that every level has a domain */
    buffer_string(&json, ", {'name': 'last', 'nodes': 1, 'gpus_per_node': 1, 'node_name': 'last%u', "
                         "'labels': {'all': 'yes', 'zone': 'z0', 'rack': 'r0'}}]}");
    error = json_text_read(&doc, "cluster", buffer_c_string(&json));
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    if (cluster == NULL)
        fail_msg("%s", error_text_new(&error));
    json_doc_free(doc);
    buffer_release(&json);
    make_asks(cluster);
    return cluster;
}

struct request random_placement_request(struct random_stream *stream)
{
    struct request request = {0};
    switch (random_below(stream, 8)) {
    case 0:
        request.gpu_milli = (uint16_t)(100 * between(stream, 1, 9));
        break;
    case 1:
        request.gpu_memory_mib = between(stream, 1, 20) << 12;
        break;
    case 2:
    case 3:
        request.mig = (uint8_t)(1 + random_below(stream, MIG_PROFILE_COUNT));
        break;
    case 4:
        break;
    default:
        request.gpus = (uint16_t)(1u << random_below(stream, 4));
    }
    request.cpu_milli = random_placement_once_in(stream, 2) ? 1 : 500 * between(stream, 1, 4);
    request.memory_mib = random_placement_once_in(stream, 2) ? 0 : 512 * between(stream, 1, 4);
    if (random_placement_once_in(stream, 6))
        request.gpu_models = between(stream, 1, 3);
    if (random_placement_once_in(stream, 4))
        request.nodes = asks[random_below(stream, ASK_TEXTS)];
    return request;
}

void random_placement_group(struct random_placement_ask *ask, struct request request, uint32_t count)
{
    *ask = (struct random_placement_ask){.groups = {{.request = request, .count = count, .min_count = count}}};
    ask->request_class =
        (struct request_class){.groups = ask->groups, .order = ask->order, .group_count = 1, .sets = ask->sets};
}

/* Fill a part of the cluster, and take some nodes down. */
void random_placement_load(struct random_stream *stream, struct ledger *ledger)
{
    struct piece_list pieces = {0};
    struct random_placement_ask ask;
    uint32_t jobs = random_below(stream, 3 * ledger->cluster->node_count);
    for (uint32_t i = 0; i < jobs; i++) {
        random_placement_group(&ask, random_placement_request(stream), 1);
        size_t mark = ledger_mark(ledger);
        if (placement_place(ledger,
                            &(struct placement_request){
                                .policy = random_placement_policies[random_below(stream, RANDOM_PLACEMENT_PLAIN)],
                                .request_class = &ask.request_class,
                                .owner = 0},
                            &pieces))
            ledger_commit(ledger, mark);
        else
            ledger_rollback(ledger, mark);
    }
    for (node_id n = 0; n < ledger->cluster->node_count; n++)
        if (random_placement_once_in(stream, 12))
            ledger_set_node(ledger, n, random_placement_once_in(stream, 2) ? NODE_DOWN : NODE_CORDONED);
    assert_lawful(ledger_check(ledger));
    piece_list_release(&pieces);
}

/* ---- the best spot ---- */

static bool takes_work(const struct ledger *ledger, const struct request *request, node_id node)
{
    return ledger->node_state[node] == NODE_UP &&
           random_placement_takes_nodes(request, cluster_node_type(ledger->cluster, node));
}

static bool has_host_room(const struct ledger *ledger, const struct request *request, node_id node)
{
    const struct node_cell *cell = &ledger->nodes[node];
    return cell->cpu_free >= request->cpu_milli && cell->memory_free >= request->memory_mib && cell->tasks_free > 0;
}

static int32_t free_gpus(const struct ledger *ledger, node_id node)
{
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    int32_t count = 0;
    for (uint32_t i = 0; i < type->gpu_count; i++)
        count +=
            !(type->layout_mask >> i & 1) && ledger->gpus[ledger->cluster->nodes[node].first_gpu + i].free == GPU_MILLI;
    return count;
}

/* Has the GPU room for a share or an instance?  Computed from the cells alone. */
static bool has_gpu_room(const struct ledger *ledger, const struct request *request, node_id node, uint32_t gpu,
                         uint32_t share)
{
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    gpu_id id = ledger->cluster->nodes[node].first_gpu + gpu;
    if (request->mig == 0)
        return !(type->layout_mask >> gpu & 1) && ledger->gpus[id].free >= share;
    if (!(type->layout_mask >> gpu & 1))
        return false;
    for (uint32_t s = 0; s < MIG_SLICES; s++)
        if (type->layouts[gpu].profile[s] == request->mig && (ledger->migs[id].free >> s & 1))
            return true;
    return false;
}

/* A uniform draw among spots: the number of spots so far, and the drawn one. */
struct drawing {
    uint32_t count, number;
};

/* drawing NULL: the highest score wins. */
static void consider(struct candidate *best, const struct placement_policy *policy, const struct spot *spot,
                     int32_t gpu, struct drawing *drawing)
{
    const int64_t score = drawing != NULL ? 0 : policy->score(spot);
    if (policy->looks_at_nodes && score == SPOT_NEVER)
        return;
    if (drawing != NULL ? drawing->count++ == drawing->number : best->node == NODE_NONE || score > best->score)
        *best = (struct candidate){.score = score, .node = spot->node, .gpu_index = gpu};
}

static void consider_node(struct candidate *best, const struct search *search, uint32_t left, node_id node,
                          struct drawing *drawing)
{
    const struct ledger *ledger = search->ledger;
    const struct request *request = search->request;
    const struct node_type *type = cluster_node_type(ledger->cluster, node);
    uint32_t share = request_class_share_milli(request, &ledger->cluster->models[type->model]);
    int32_t free = free_gpus(ledger, node);
    struct spot spot = {.type = ledger->cluster->nodes[node].type,
                        .node_free = free,
                        .gpu_left = GPU_MILLI,
                        .gpus = request->gpus,
                        .milli = (int32_t)share,
                        .node = node,
                        .members_here = search->here != NULL ? search->here[node] : 0,
                        .members_left = left,
                        .ledger = ledger,
                        .request = request,
                        .owner = search->spot.owner};
    if (request->mig != 0)
        spot.milli = (int32_t)(mig_slices(request->mig - 1) * 125);
    if (share == 0 && request->mig == 0) {
        if (free >= request->gpus)
            consider(best, search->policy, &spot, -1, drawing);
        return;
    }
    for (uint32_t i = 0; i < type->gpu_count; i++) {
        if (!has_gpu_room(ledger, request, node, i, share))
            continue;
        spot.gpu_left = ledger->gpus[ledger->cluster->nodes[node].first_gpu + i].free;
        spot.node_free = spot.gpu_left == GPU_MILLI && request->mig == 0 ? free : -1;
        consider(best, search->policy, &spot, (int32_t)i, drawing);
    }
}

/* The drawn node among those with room, and on it the drawn GPU. */
static struct candidate drawn_of(const struct search *search, uint32_t left, const node_id nodes[], uint32_t count)
{
    struct candidate best = {.node = NODE_NONE};
    struct spot spot = search->spot;
    struct drawing drawing = {.number = UINT32_MAX};
    if (count == 0)
        return best;
    spot.node = NODE_NONE;
    spot.members_left = left;
    const node_id node = nodes[search->policy->draw(&spot, count)];
    consider_node(&best, search, left, node, &drawing);
    spot.node = node;
    drawing = (struct drawing){.number = drawing.count > 1 ? search->policy->draw(&spot, drawing.count) : 0};
    consider_node(&best, search, left, node, &drawing);
    return best;
}

struct candidate random_placement_best(const struct search *search, uint32_t left)
{
    struct candidate best = {.node = NODE_NONE};
    node_id nodes[RANDOM_PLACEMENT_NODES_MAX + 1];
    uint32_t count = 0;
    const struct ledger *ledger = search->ledger;
    const struct request *request = search->request;
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        uint8_t model = cluster_node_type(ledger->cluster, n)->model;
        bool asks_gpu =
            request->gpus != 0 || request->gpu_milli != 0 || request->gpu_memory_mib != 0 || request->mig != 0;
        if (region_contains(&search->region, n) && takes_work(ledger, request, n) &&
            has_host_room(ledger, request, n) &&
            (!asks_gpu || request->gpu_models == 0 || (request->gpu_models >> model & 1))) {
            struct candidate own = {.node = NODE_NONE};
            struct drawing first = {0};
            if (search->policy->draw == NULL)
                consider_node(&best, search, left, n, NULL);
            else
                consider_node(&own, search, left, n, &first);
            if (own.node != NODE_NONE)
                nodes[count++] = n;
        }
    }
    return search->policy->draw == NULL ? best : drawn_of(search, left, nodes, count);
}

/* The space that the member takes at the spot, computed from the cells alone. */
static struct space space_at(const struct ledger *ledger, const struct request *request, const struct candidate *at)
{
    const struct cluster *cluster = ledger->cluster;
    const struct node_type *type = cluster_node_type(cluster, at->node);
    gpu_id first = cluster->nodes[at->node].first_gpu;
    uint32_t gpu = (uint32_t)at->gpu_index, start = 0;
    struct space space = {.node = at->node,
                          .gpu_milli = GPU_MILLI,
                          .cpu_milli = request->cpu_milli,
                          .memory_mib = request->memory_mib,
                          .member_count = 1,
                          .mig = request->mig};
    for (uint32_t i = 0, left = request->gpus; left > 0; i++)
        if (!(type->layout_mask >> i & 1) && ledger->gpus[first + i].free == GPU_MILLI) {
            space.gpu_mask |= (uint16_t)(1u << i);
            left--;
        }
    if (at->gpu_index < 0)
        return space;
    space.gpu_mask = (uint16_t)(1u << gpu);
    space.gpu_milli = (uint16_t)request_class_share_milli(request, &cluster->models[type->model]);
    if (request->mig == 0)
        return space;
    while (type->layouts[gpu].profile[start] != request->mig || !(ledger->migs[first + gpu].free >> start & 1))
        start++;
    space.mig_start = (uint8_t)start;
    space.gpu_milli = (uint16_t)(125 * mig_slices(request->mig - 1));
    return space;
}

uint64_t random_placement_room(struct ledger *ledger, const struct request *request, const struct cluster_level *level,
                               uint32_t domain)
{
    uint64_t room = 0;
    size_t mark = ledger_mark(ledger);
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        struct region region = {.first = n, .last = n};
        struct search search = search_of(&(struct placement_request){.policy = &placement_first_fit, .owner = 0},
                                         ledger, request, &region, NULL);
        if (level != NULL && level->domain[n] != domain)
            continue;
        for (; room < ROOM_MAX; room++) {
            struct candidate best = random_placement_best(&search, 1);
            if (best.node == NODE_NONE)
                break;
            struct space space = space_at(ledger, request, &best);
            ledger_take(ledger, &space);
        }
    }
    ledger_rollback(ledger, mark);
    return room;
}

void random_placement_sets(struct random_stream *stream, struct random_placement_ask *ask)
{
    uint16_t sets = (uint16_t)between(stream, 1, 4), groups = (uint16_t)between(stream, 1, 4);
    *ask = (struct random_placement_ask){0};
    for (uint16_t s = 0; s < sets; s++)
        ask->sets[s] = (struct job_set){
            .parent = s > 0 && random_placement_once_in(stream, 2) ? (uint16_t)random_below(stream, s) : SET_NONE,
            .topology = {(uint8_t)random_below(stream, 5), (uint8_t)random_below(stream, 5)}};
    for (uint16_t g = 0; g < groups; g++) {
        ask->groups[g] = (struct job_group){.request = random_placement_request(stream),
                                            .count = random_below(stream, 4),
                                            .set = (uint16_t)random_below(stream, sets)};
        ask->order[g] = g;
    }
    ask->request_class = (struct request_class){
        .groups = ask->groups,
        .order = ask->order,
        .group_count = groups,
        .set_count = sets,
        .sets = ask->sets,
        .topology = {random_placement_once_in(stream, 2) ? (uint8_t)between(stream, 1, 2) : 0, 0}};
}

void random_placement_check(const struct piece_list *pieces, const struct random_placement_ask *ask)
{
    uint32_t members[4] = {0};
    for (uint32_t i = 0; i < pieces->count; i++)
        members[pieces->pieces[i].group] += pieces->pieces[i].member_count;
    for (uint32_t g = 0; g < ask->request_class.group_count; g++)
        assert_int_equal(members[g], ask->groups[g].count);
}
