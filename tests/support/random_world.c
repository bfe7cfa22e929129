#include "tests/support/random_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/random.h"
#include "policies/config/presets.h"
#include "policies/idle/idles.h"
#include "policies/placement/placements.h"
#include "policies/policy_config.h"
#include "policies/preemption/preemption.h"
#include "policies/quota/quotas.h"
#include "tests/support/json_text.h"
#include "topologies/communication.h"

static uint32_t between(struct random_stream *stream, uint32_t least, uint32_t most)
{
    return least + random_below(stream, most - least + 1);
}

static bool once_in(struct random_stream *stream, uint32_t times)
{
    return random_below(stream, times) == 0;
}

/* ---- The cluster ---- */

static uint32_t gpus_of(const struct random_world *world)
{
    uint32_t gpus = 0;
    for (uint32_t n = 0; n < world->node_count; n++)
        gpus += world->nodes[n].gpus;
    return gpus;
}

static void make_nodes(struct random_stream *stream, struct random_world *world)
{
    static const uint16_t sizes[] = {1, 2, 3, 4, 4, 8};
    bool is_even = once_in(stream, 2), is_scarce = world->kind != RANDOM_WORLD_RECLAIM && once_in(stream, 3);
    uint16_t size = sizes[random_below(stream, 6)];
    world->node_count = between(stream, 2, once_in(stream, 3) ? RANDOM_WORLD_NODES_MAX : 5);
    for (uint32_t n = 0; n < world->node_count; n++) {
        struct random_node *node = &world->nodes[n];
        node->gpus = is_even ? size : sizes[random_below(stream, 6)];
        if (is_scarce && once_in(stream, 2))
            node->cpus = between(stream, 1, 3u * node->gpus);
        if (is_scarce && once_in(stream, 2))
            node->memory_gb = between(stream, 1, 3u * node->gpus);
    }
}

struct cluster *random_world_cluster_new(const struct random_world *world)
{
    struct buffer json = {0};
    struct json_doc *doc;
    buffer_string(&json, "{'pools': [");
    for (uint32_t n = 0; n < world->node_count; n++) {
        const struct random_node *node = &world->nodes[n];
        buffer_format(&json, "%s{'name': 'p%u', 'nodes': 1, 'gpus_per_node': %u", n > 0 ? ", " : "", n, node->gpus);
        if (node->cpus > 0)
            buffer_format(&json, ", 'cpus': %u", node->cpus);
        if (node->memory_gb > 0)
            buffer_format(&json, ", 'memory_gb': %u", node->memory_gb);
        buffer_char(&json, '}');
    }
    if (world->is_bound)
        buffer_string(&json,
                      "], 'levels': ['unit', 'node'], 'fabric': {'nodes_per_unit': 2, 'units_span_pools': true}}");
    else
        buffer_string(&json, world->communicates
                                 ? "], 'fabric': {'nodes_per_unit': 2, 'rails': 2, 'leaf_oversubscription': 4}}"
                                 : "]}");
    struct error error = json_text_read(&doc, "cluster", buffer_c_string(&json));
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    if (cluster == NULL)
        print_error("%s: %s\n", buffer_c_string(&json), error_message(&error));
    assert_non_null(cluster);
    json_doc_free(doc);
    buffer_release(&json);
    return cluster;
}

/* ---- Queues ---- */

static struct random_queue *add_queue(struct random_stream *stream, struct random_world *world, uint32_t parent,
                                      uint32_t deserved)
{
    static const time_ns runtimes[] = {0, 2, 10};
    struct random_queue *queue = &world->queues[world->queue_count++];
    struct queue_spec *spec = &queue->spec;
    *queue = (struct random_queue){.parent = parent, .is_leaf = true};
    if (parent != QUEUE_NONE)
        world->queues[parent].is_leaf = false;
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        spec->deserved[r] = spec->limit[r] = QUOTA_UNLIMITED;
        spec->borrowing_limit[r] = spec->lending_limit[r] = QUOTA_UNLIMITED;
        spec->weight_milli[r] = 1000 * (int64_t)random_below(stream, 4);
    }
    spec->deserved[RESOURCE_GPU] = (int64_t)deserved * GPU_MILLI;
    spec->priority = once_in(stream, 3) ? 50 + 50 * (int32_t)random_below(stream, 3) : 100;
    spec->created = (time_ns)world->queue_count * TIME_NS_PER_S;
    spec->reclaim_min_runtime = spec->preempt_min_runtime = -1;
    spec->preemption_delay = spec->stale_after = -1;
    if (world->kind == RANDOM_WORLD_RECLAIM)
        return queue;
    if (once_in(stream, 5))
        spec->limit[RESOURCE_GPU] = (int64_t)(deserved + between(stream, deserved == 0, 6)) * GPU_MILLI;
    if (once_in(stream, 8))
        spec->reclaim_min_runtime = runtimes[random_below(stream, 3)] * world->period;
    if (once_in(stream, 8))
        spec->preempt_min_runtime = runtimes[random_below(stream, 3)] * world->period;
    return queue;
}

/* Take a part of what is left of the parent's amount. */
static uint32_t take_part(struct random_stream *stream, uint32_t *left)
{
    uint32_t part = once_in(stream, 6) ? 0 : random_below(stream, *left + 1);
    if (once_in(stream, 3))
        part = *left < 4 ? *left : *left / 2;
    *left -= part;
    return part;
}

static void add_children(struct random_stream *stream, struct random_world *world, uint32_t parent, uint32_t deserved,
                         uint32_t depth_left)
{
    uint32_t children = between(stream, parent == QUEUE_NONE ? 1 : 2, 3);
    for (uint32_t i = 0; i < children && world->queue_count < RANDOM_WORLD_QUEUES_MAX; i++) {
        uint32_t own = take_part(stream, &deserved), position = world->queue_count;
        add_queue(stream, world, parent, own);
        if (depth_left > 1 && once_in(stream, 2))
            add_children(stream, world, position, own, depth_left - 1);
    }
}

static void make_queues(struct random_stream *stream, struct random_world *world)
{
    bool is_cohort = world->policy.quota == &quota_cohort;
    uint32_t gpus = gpus_of(world), top = QUEUE_NONE;
    world->queue_count = 0;
    if (is_cohort ||
        once_in(stream, 3)) { /* a single organisation; the quotas of a cohort add up, and it brings none */
        add_queue(stream, world, QUEUE_NONE, is_cohort ? 0 : gpus);
        world->queues[0].spec.limit[RESOURCE_GPU] = QUOTA_UNLIMITED;
        top = 0;
    }
    add_children(stream, world, top, gpus, world->kind == RANDOM_WORLD_RECLAIM && is_cohort ? 1 : 3);
    for (uint32_t q = 0; q < world->queue_count && is_cohort; q++)
        if (!world->queues[q].is_leaf)
            world->queues[q].spec.deserved[RESOURCE_GPU] = 0;
}

struct queue_table *random_world_queues_new(const struct random_world *world, const queue_id *queue_ids)
{
    struct queue_table *table = queue_table_new();
    for (queue_id id = 1; id <= world->queue_count; id++) {
        uint32_t q = 0;
        char name[16];
        while (queue_ids[q] != id)
            q++;
        uint32_t parent = world->queues[q].parent;
        snprintf(name, sizeof name, "q%u", q);
        queue_table_add(table, text_of(name), parent == QUEUE_NONE ? QUEUE_ROOT : queue_ids[parent]);
        struct queue_spec spec = world->queues[q].spec;
        spec.name = table->queues[id].name;
        spec.parent = table->queues[id].parent;
        table->queues[id] = spec;
    }
    return table;
}

/* ---- Jobs ---- */

static uint32_t some_leaf(struct random_stream *stream, const struct random_world *world)
{
    uint32_t q = random_below(stream, world->queue_count);
    while (!world->queues[q].is_leaf)
        q = (q + 1) % world->queue_count;
    return q;
}

/* A queue that has a quota and lends it, if there is one. */
static uint32_t some_owner(struct random_stream *stream, const struct random_world *world, const uint32_t borrowers[2])
{
    uint32_t q = some_leaf(stream, world);
    for (uint32_t i = 0; i < world->queue_count; i++) {
        const struct random_queue *queue = &world->queues[q];
        if (queue->is_leaf && queue->spec.deserved[RESOURCE_GPU] > 0 && q != borrowers[0] && q != borrowers[1])
            return q;
        q = (q + 1) % world->queue_count;
    }
    return q;
}

static uint16_t some_node_gpus(struct random_stream *stream, const struct random_world *world)
{
    return world->nodes[random_below(stream, world->node_count)].gpus;
}

static void make_group(struct random_stream *stream, const struct random_world *world, struct job_group *group)
{
    *group = (struct job_group){.count = 1};
    uint32_t what = random_below(stream, 12);
    if (what == 0)
        group->request.cpu_milli = GPU_MILLI; /* CPU only */
    else if (what < 3)
        group->request.gpu_milli =
            (uint16_t)(once_in(stream, 2) ? 250 * between(stream, 1, 3) : between(stream, 100, 900));
    else
        group->request.gpus = (uint16_t)between(stream, 1, once_in(stream, 2) ? 1 : some_node_gpus(stream, world));
    if (once_in(stream, 2))
        group->count = between(stream, 1, once_in(stream, 3) ? 8 : 3);
    if (once_in(stream, 3))
        group->request.cpu_milli = GPU_MILLI * between(stream, 1, 3);
    if (once_in(stream, 3))
        group->request.memory_mib = 1024 * between(stream, 1, 3);
    group->min_count = once_in(stream, 3) ? between(stream, 1, group->count) : group->count;
}

static void make_sets(struct random_stream *stream, const struct random_world *world, struct random_job *random)
{
    struct job *job = &random->job;
    job->group_count = job->set_count = (uint16_t)between(stream, 2, RANDOM_WORLD_GROUPS_MAX);
    for (uint16_t g = 0; g < job->group_count; g++) {
        struct job_group *group = g == 0 ? &job->first : &random->more[g - 1];
        make_group(stream, world, group);
        group->set = g;
        random->sets[g] = (struct job_set){.name = g == 0   ? "s0"
                                                   : g == 1 ? "s1"
                                                            : "s2",
                                           .parent = SET_NONE,
                                           .min_members = group->min_count};
        group->min_count = group->count;
    }
}

/* First borrowers with one GPU each, later owners with several on one node. */
static void make_plain(struct random_stream *stream, const struct random_world *world, struct random_job *random,
                       bool is_owner)
{
    random->job.first = (struct job_group){.count = 1, .min_count = 1, .request = {.gpus = 1}};
    random->job.is_preemptible = true;
    random->duration = TIME_NEVER;
    if (is_owner && once_in(stream, 3))
        random->job.first.request.gpus = (uint16_t)between(stream, 1, some_node_gpus(stream, world));
}

static void make_mixed(struct random_stream *stream, const struct random_world *world, struct random_job *random)
{
    if (once_in(stream, 8))
        make_sets(stream, world, random);
    else
        make_group(stream, world, &random->job.first);
    random->job.priority = 25 * (int32_t)random_below(stream, 5);
    random->job.is_preemptible = !once_in(stream, 5);
    if (once_in(stream, 2))
        random->job.checkpoint = (struct checkpoint_plan){.interval = world->period, .duration = 1};
    random->duration = TIME_NEVER;
    if (world->kind == RANDOM_WORLD_BUSY && !once_in(stream, 4))
        random->duration = between(stream, 1, once_in(stream, 2) ? 15 : 60) * world->period;
    random->is_retried = once_in(stream, 10);
    if (world->kind == RANDOM_WORLD_BUSY && once_in(stream, 12))
        random->cancel_at = random->job.submit + between(stream, 0, 30) * world->period;
}

/* The queues of borrowers come first, at random; owners come when the cluster has been full for some time. */
static void make_jobs(struct random_stream *stream, struct random_world *world)
{
    uint32_t gpus = gpus_of(world), least = gpus < 12 ? 8 : 16;
    bool is_reclaim = world->kind == RANDOM_WORLD_RECLAIM;
    uint32_t small_count = gpus + 2 < RANDOM_WORLD_JOBS_MAX - 16 ? gpus + 2 : RANDOM_WORLD_JOBS_MAX - 16;
    const uint32_t borrowing[2] = {some_leaf(stream, world), some_leaf(stream, world)};
    world->job_count = is_reclaim ? small_count + between(stream, 1, 12) : between(stream, 4, least + 24);
    time_ns at = 0;
    for (uint32_t j = 0; j < world->job_count; j++) {
        struct random_job *random = &world->jobs[j];
        bool is_owner = is_reclaim && j >= small_count;
        *random = (struct random_job){.job = job_default(), .cancel_at = TIME_NEVER};
        if (!is_reclaim && once_in(stream, 2))
            at += (time_ns)between(stream, 1, 6) * world->period;
        if (is_reclaim && j == small_count)
            at += 20 * world->period;
        if (is_owner && once_in(stream, 3))
            at += (time_ns)between(stream, 1, 10) * world->period;
        random->job.submit = at + (time_ns)j * 1000; /* no two at one time, so that ids do not decide */
        random->job.queue = !is_reclaim ? some_leaf(stream, world)
                            : is_owner  ? some_owner(stream, world, borrowing)
                                        : borrowing[random_below(stream, 2)];
        if (is_reclaim)
            make_plain(stream, world, random, is_owner);
        else
            make_mixed(stream, world, random);
    }
}

static void make_faults(struct random_stream *stream, struct random_world *world)
{
    world->fault_count = 0;
    if (world->kind != RANDOM_WORLD_BUSY || once_in(stream, 3))
        return;
    uint32_t pairs = between(stream, 1, RANDOM_WORLD_FAULTS_MAX / 2);
    time_ns at = 0;
    for (uint32_t i = 0; i < pairs; i++) { /* one node is down at a time */
        node_id node = random_below(stream, world->node_count);
        at += (time_ns)between(stream, 1, 12) * world->period;
        world->faults[world->fault_count++] =
            (struct random_fault){.at = at, .node = node, .state = once_in(stream, 4) ? NODE_CORDONED : NODE_DOWN};
        at += (time_ns)between(stream, 1, 8) * world->period;
        world->faults[world->fault_count++] = (struct random_fault){.at = at, .node = node, .state = NODE_UP};
    }
}

/* ---- All together ---- */

static void read_policy(struct random_world *world)
{
    struct json_doc *doc;
    const struct embedded_text *preset = &policy_preset_texts[world->preset];
    struct text text = {preset->text, preset->length};
    struct error error = json_doc_parse(&doc, preset->name, text, ERROR_CONFIG);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&world->policy, &root);
    assert_false(error_is(error));
    json_doc_free(doc);
}

/* Times that fit the period: those of a preset would outlast the world. */
static void set_times(struct random_stream *stream, struct random_world *world)
{
    static const uint32_t graces[] = {0, 1, 3, 8}, runtimes[] = {0, 0, 0, 5, 20};
    struct preemption_config *preempt = &world->policy.preempt;
    preempt->grace = graces[random_below(stream, 4)] * world->period;
    preempt->preempt_min_runtime = preempt->reclaim_min_runtime = runtimes[random_below(stream, 5)] * world->period;
    if (preempt->delay > 0) /* equal to the minimum run time, so that no job waits longer for it */
        preempt->delay = preempt->reclaim_min_runtime;
}

void random_world_make(struct random_world *world, uint64_t seed, uint32_t preset, enum random_world_kind kind)
{
    static const time_ns periods[] = {1, 1, 5, 30};
    struct random_stream stream;
    random_stream_init(&stream, seed, "random world", preset * (uint64_t)RANDOM_WORLD_KIND_COUNT + kind);
    *world = (struct random_world){.seed = seed, .preset = preset, .kind = kind};
    read_policy(world);
    world->period = periods[random_below(&stream, 4)] * TIME_NS_PER_S;
    if (world->policy.preemption->evicts)
        set_times(&stream, world);
    make_nodes(&stream, world);
    make_queues(&stream, world);
    make_jobs(&stream, world);
    make_faults(&stream, world);
    uint32_t arrivals = (uint32_t)(world->jobs[world->job_count - 1].job.submit / world->period);
    world->ticks = arrivals + (kind == RANDOM_WORLD_BUSY ? 40 : 100);
    world->delay_ticks = kind != RANDOM_WORLD_RECLAIM && once_in(&stream, 3) ? between(&stream, 1, 3) : 0;
    world->refuse_milli = kind == RANDOM_WORLD_BUSY && once_in(&stream, 2) ? 100 : 0;
    world->is_each_tick = once_in(&stream, 4);
}

void random_world_choose_sets(struct random_world *world)
{
    struct random_stream stream;
    random_stream_init(&stream, world->seed, "random world sets", world->preset);
    for (uint32_t j = 0; j < world->job_count; j++) {
        struct job *job = &world->jobs[j].job;
        if (job->set_count > 0 && once_in(&stream, 2))
            job->min_sets = (uint16_t)between(&stream, 1, job->set_count);
    }
}

static struct topology_ask some_levels(struct random_stream *stream)
{
    const struct topology_ask asks[] = {{.required = 1}, {.required = 1}, {.required = 2}, {.preferred = 2}, {0}};
    return asks[random_below(stream, 5)];
}

void random_world_bind(struct random_world *world)
{
    struct random_stream stream;
    random_stream_init(&stream, world->seed, "random world levels", world->preset);
    for (uint32_t j = 0; j < world->job_count; j++) {
        struct job *job = &world->jobs[j].job;
        if (!once_in(&stream, 3))
            continue;
        job->topology = some_levels(&stream);
        for (uint32_t s = 0; s < job->set_count; s++)
            world->jobs[j].sets[s].topology = once_in(&stream, 2) ? some_levels(&stream) : (struct topology_ask){0};
        if (job->set_count == 0 && !once_in(&stream, 3)) {
            job->first.count = between(&stream, 2, 4);
            job->first.min_count = once_in(&stream, 2) ? 1 : between(&stream, 1, job->first.count);
        }
    }
    world->is_bound = true;
}

void random_world_communicate(struct random_world *world)
{
    static struct communication kinds[8];
    struct random_stream stream;
    uint32_t kind_count;
    const struct sensitivity *sensitivities = sensitivity_table(&kind_count);
    assert_true(kind_count <= sizeof kinds / sizeof *kinds);
    for (uint32_t k = 0; k < kind_count; k++)
        kinds[k] = (struct communication){.sensitivity = sensitivities[k]};
    random_stream_init(&stream, world->seed, "random world communication", world->preset);
    for (uint32_t j = 0; j < world->job_count; j++)
        if (!once_in(&stream, 5))
            world->jobs[j].job.communication = &kinds[random_below(&stream, kind_count)];
    world->communicates = true;
    world->policy.placement = &placement_fastest;
    if (world->policy.placement_firm != NULL)
        world->policy.placement_firm = &placement_fastest;
}

void random_world_watch(struct random_world *world)
{
    static const struct idle_policy *const policies[] = {&idle_tell, &idle_reclaim, &idle_reclaim, &idle_reclaim};
    struct random_stream stream;
    random_stream_init(&stream, world->seed, "random world idle", world->preset);
    world->policy.idle = policies[random_below(&stream, 4)];
    world->policy.idle_config = (struct idle_config){.threshold_milli = once_in(&stream, 2) ? 50 : 200,
                                                     .classes = (uint8_t)(1 + random_below(&stream, 7)),
                                                     .window = (time_ns)between(&stream, 1, 4) * world->period,
                                                     .grace = (time_ns)random_below(&stream, 4) * world->period,
                                                     .rest = (time_ns)random_below(&stream, 6) * world->period};
    world->is_watched = true;
}
