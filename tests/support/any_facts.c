#include "tests/support/any_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/state/sched_state.h"
#include "tests/support/json_text.h"

/* ---- choices ---- */

static uint32_t byte(struct any_world *world)
{
    return world->at < world->end ? *world->at++ : 0;
}

static uint32_t below(struct any_world *world, uint32_t bound)
{
    const uint32_t high = bound > 256 ? byte(world) : 0;
    return (high << 8 | byte(world)) % bound;
}

static bool once_in(struct any_world *world, uint32_t times)
{
    return below(world, times) == times - 1;
}

/* A number that is at an edge of something. */
static uint64_t odd_number(struct any_world *world)
{
    static const uint64_t numbers[] = {
        0,
        1,
        2,
        7,
        8,
        15,
        16,
        63,
        64,
        255,
        256,
        1000,
        1001,
        65535,
        65536,
        INT32_MAX,
        TIME_NS_MAX,
        INT64_MAX,
        UINT32_MAX,
        UINT32_MAX - 1,
        UINT64_C(1) << 62,
        UINT64_C(1) << 63,
        UINT64_MAX,
        SCHED_TIME_MAX,
    };
    return numbers[below(world, sizeof numbers / sizeof numbers[0])];
}

/* Replaces a field, once in a while. */
#define SPOIL(world, field)                                                                                            \
    do {                                                                                                               \
        if (once_in((world), 24))                                                                                      \
            (field) = (__typeof__(field))odd_number(world);                                                            \
    } while (0)

/* ---- the world ---- */

static const char mig_cluster[] =
    "{'levels': ['zone', 'rack', 'node'], 'pools': [{'nodes': 3, 'gpus_per_node': 4, 'gpu_model': 'h100-80gb', "
    "'max_tasks': 6, 'labels': {'zone': 'a', 'rack': 'r1'}, 'gpus_layout': [['1g.10gb', '1g.10gb', '2g.20gb', "
    "'3g.40gb'], ['7g.80gb'], [], ['4g.40gb']]},{'name': 'b', 'node_name': 'b%u', 'nodes': 4, 'gpus_per_node': 8, "
    "'labels': {'zone': 'a', 'rack': 'r2'}},{'name': 'c', 'node_name': 'c%u', 'nodes': 4, 'gpus_per_node': 4, "
    "'labels': {'zone': 'b', 'rack': 'r1'}}]}";

static const char *const policies[] = {
    "{'sharing': {'policy': 'trust', 'clients_max': 7, 'slice_clients_max': 3}, 'preemption': {'policy': "
    "'checkpoint'}}",
    "{'sharing': {'policy': 'mps', 'clients_max': 3, 'trust': 'queue', 'isolation': 'node'}, 'blocking': 'skip'}",
    "{'geometry': {'policy': 'on_demand'}, 'blocking': 'skip'}",
    "{'geometry': {'policy': 'on_demand', 'needs': 'gpu'}, 'blocking': 'skip', 'quota': 'fairshare', 'preemption': "
    "{'policy': "
    "'checkpoint'}}",
    "{'quota': 'cells', 'preemption': {'policy': 'kill'}, 'blocking': 'skip'}",
    "{'order': ['fairtree', 'fifo'], 'gang': {'policy': 'hoard', 'stale_after_s': 100}, 'blocking': 'skip'}",
    "{'order': ['las'], 'estimate': 'history', 'backfill': {'policy': 'easy', 'reservations': 3}}",
    "{'order': ['multifactor'], 'backfill': {'policy': 'conservative'}}",
    "{'defrag': {'policy': 'consolidation'}, 'blocking': 'skip', 'preemption': {'policy': 'checkpoint', 'grace_s': "
    "30}}",
    "{'order': ['drf', 'fifo'], 'quota': 'drf', 'blocking': 'skip', 'preemption': {'policy': 'checkpoint'}}",
    "{'placement': 'fgd', 'blocking': 'skip'}",
};
enum { POLICIES = sizeof policies / sizeof policies[0] };

static struct cluster *make_cluster(struct any_world *world)
{
    struct json_doc *doc;
    if (!once_in(world, 3))
        return random_case_cluster(&world->stream);
    struct error error = json_text_read(&doc, "cluster", mig_cluster);
    if (error_is(error))
        abort();
    struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    json_doc_free(doc);
    return cluster;
}

static void make_policy(struct any_world *world, uint32_t choice)
{
    struct json_doc *doc;
    if (choice >= POLICIES) {
        random_case_policy(&world->stream, choice - POLICIES, &world->policy);
        return;
    }
    snprintf(world->policy.text, sizeof world->policy.text, "%s", policies[choice]);
    struct error error = json_text_read(&doc, "policy", policies[choice]);
    if (error_is(error))
        abort();
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&world->policy.config, &root);
    json_doc_free(doc);
    if (!error_is(error))
        return;
    fprintf(stderr, "%s: %s\n", policies[choice], error_message(&error));
    abort();
}

struct any_world *any_world_new(const uint8_t *bytes, size_t size)
{
    struct any_world *world = mem_zalloc(1, sizeof *world);
    struct error error = ERROR_OK;
    world->at = bytes;
    world->end = bytes + size;
    random_stream_init(&world->stream, below(world, 1 << 16), "any facts", 0);
    world->cluster = make_cluster(world);
    world->queues = queue_table_new();
    world->others = queue_table_new();
    random_case_queues(&world->stream, world->queues, world->cluster, once_in(world, 2));
    make_policy(world, below(world, POLICIES + random_case_preset_count() + 4));
    world->sched = sched_new(world->cluster, world->queues, &world->policy.config, &error);
    if (world->sched != NULL)
        return world;
    error_release(&error); /* the quotas do not suit the policy */
    make_policy(world, POLICIES + random_case_preset_count());
    world->sched = sched_new(world->cluster, world->queues, &world->policy.config, &error);
    if (world->sched == NULL)
        abort();
    return world;
}

void any_world_free(struct any_world *world)
{
    sched_free(world->sched);
    queue_table_free(world->queues);
    queue_table_free(world->others);
    cluster_free(world->cluster);
    mem_free(world);
}

/* ---- ids and times ---- */

static time_ns some_time(struct any_world *world)
{
    if (once_in(world, 512)) /* often it is the last time that can be told */
        return (time_ns)odd_number(world);
    if (once_in(world, 32))
        return world->now - (time_ns)below(world, 100) * TIME_NS_PER_S;
    if (once_in(world, 3))
        world->now += (time_ns)below(world, 120) * TIME_NS_PER_S;
    return world->now;
}

static job_id some_job(struct any_world *world)
{
    if (once_in(world, 48))
        return (job_id)odd_number(world);
    if (world->decision_count > 0 && once_in(world, 2))
        return world
            ->decided[below(world, world->decision_count < ANY_DECISIONS ? world->decision_count : ANY_DECISIONS)];
    return below(world, world->next + 1);
}

static node_id some_node(struct any_world *world)
{
    return once_in(world, 32) ? (node_id)odd_number(world) : below(world, world->cluster->node_count);
}

/* An open decision of the job; else any number. */
static decision_id some_decision(struct any_world *world, job_id job)
{
    for (uint32_t i = 0; i < ANY_DECISIONS && i < world->decision_count; i++)
        if (world->decided[i] == job && !once_in(world, 8))
            return world->decisions[i];
    return once_in(world, 2) ? world->decisions[below(world, ANY_DECISIONS)] : odd_number(world);
}

static struct members some_members(struct any_world *world, job_id job)
{
    struct members members = MEMBERS_ALL;
    if (once_in(world, 4))
        members.decision = some_decision(world, job);
    if (once_in(world, 4))
        members.node = some_node(world);
    return members;
}

/* ---- jobs ---- */

enum { MEMBERS_MANY = 300 };

struct any_job { /* and what it points to */
    struct job job;
    struct random_case_job_options options;
    struct job_set sets[2];
    struct job_after after[2];
    struct job_tags tags;
};

static void spoil_request(struct any_world *world, struct request *request)
{
    SPOIL(world, request->gpus);
    SPOIL(world, request->gpu_milli);
    SPOIL(world, request->gpu_memory_mib);
    SPOIL(world, request->mig);
    SPOIL(world, request->share);
    SPOIL(world, request->cpu_milli);
    SPOIL(world, request->memory_mib);
    SPOIL(world, request->domain);
    SPOIL(world, request->gpu_models);
}

static void spoil_group(struct any_world *world, struct job_group *group)
{
    spoil_request(world, &group->request);
    SPOIL(world, group->count);
    if (group->count > MEMBERS_MANY && group->count <= SCHED_MEMBERS_MAX)
        group->count = MEMBERS_MANY; /* valid, but it grows for very long */
    SPOIL(world, group->min_count);
    SPOIL(world, group->set);
    SPOIL(world, group->slice_level);
    SPOIL(world, group->slice_members);
}

static void spoil_job(struct any_world *world, struct any_job *any)
{
    struct job *job = &any->job;
    spoil_group(world, &job->first);
    for (uint32_t g = 1; g < job->group_count; g++)
        spoil_group(world, &any->options.more[g - 1]);
    for (uint32_t s = 0; s < job->set_count; s++) {
        SPOIL(world, any->sets[s].parent);
        SPOIL(world, any->sets[s].min_sets);
        SPOIL(world, any->sets[s].min_members);
        SPOIL(world, any->sets[s].topology.required);
    }
    SPOIL(world, job->id);
    SPOIL(world, job->queue);
    SPOIL(world, job->user);
    SPOIL(world, job->priority);
    SPOIL(world, job->class);
    if (job->group_count == 1)
        SPOIL(world, job->group_count); /* more than it points to: `more` is NULL */
    SPOIL(world, job->min_sets);
    SPOIL(world, job->topology.required);
    SPOIL(world, job->topology.preferred);
    SPOIL(world, job->array);
    SPOIL(world, job->array_max);
    SPOIL(world, job->submit);
    SPOIL(world, job->limit);
    SPOIL(world, job->estimate);
    SPOIL(world, job->deadline);
    SPOIL(world, job->checkpoint.interval);
    SPOIL(world, job->checkpoint.duration);
    SPOIL(world, job->checkpoint.restart);
    SPOIL(world, job->attained_gpu_ns);
    SPOIL(world, job->grace);
    SPOIL(world, job->preemption_delay);
    SPOIL(world, job->stale_after);
}

static void add_ties(struct any_world *world, struct any_job *any)
{
    struct job *job = &any->job;
    if (once_in(world, 6)) {
        job->array = 1 + below(world, 3);
        job->array_max = below(world, 3);
    }
    if (once_in(world, 5) && job->id > 0) {
        job->after_count = (uint16_t)(1 + below(world, 2));
        job->after = any->after;
        for (uint32_t i = 0; i < job->after_count; i++)
            any->after[i] = (struct job_after){below(world, job->id), (uint8_t)below(world, 3)};
    }
    if (once_in(world, 6)) {
        any->tags = (struct job_tags){.tag_count = 1, .rule_count = (uint16_t)below(world, 2)};
        any->tags.tags[0] = below(world, 4);
        any->tags.rules[0] = (struct tag_rule){.tag = below(world, 4),
                                               .level = (uint8_t)below(world, world->cluster->level_count + 1),
                                               .is_apart = once_in(world, 2),
                                               .is_preferred = once_in(world, 2)};
        job->tags = &any->tags;
        SPOIL(world, any->tags.tags[0]);
        SPOIL(world, any->tags.rules[0].level);
    }
    if (once_in(world, 6))
        job->topology.required = (uint8_t)below(world, world->cluster->level_count + 1);
}

static void add_sets(struct any_job *any)
{
    struct job *job = &any->job;
    job->set_count = 2;
    job->sets = any->sets;
    for (uint32_t s = 0; s < 2; s++)
        any->sets[s] = (struct job_set){.name = "", .parent = SET_NONE, .min_members = 1};
    for (uint32_t g = 1; g < job->group_count; g++)
        any->options.more[g - 1].set = 1;
}

static void make_job(struct any_world *world, struct any_job *any)
{
    *any = (struct any_job){.options = {.max_groups = RANDOM_CASE_GROUPS_MAX}};
    any->options.is_rigid = once_in(world, 2);
    any->options.has_close = once_in(world, 3);
    random_stream_init(&world->stream, below(world, 1 << 16), "any job", 0);
    any->job = random_case_job(&world->stream, world->cluster, world->queues->count, &any->options);
    struct job *job = &any->job;
    job->id = world->next;
    job->submit = world->now;
    job->user = below(world, 4);
    job->class = (uint8_t)below(world, JOB_CLASS_COUNT);
    job->is_held = once_in(world, 8);
    if (job->group_count > 1 && !any->options.has_close && once_in(world, 2))
        add_sets(any);
    add_ties(world, any);
    if (once_in(world, 3))
        spoil_job(world, any);
}

static void submit(struct any_world *world)
{
    struct any_job any;
    make_job(world, &any);
    const uint64_t refused = sched_refused(world->sched)->count;
    sched_job_submitted(world->sched, &any.job, some_time(world));
    world->next += sched_refused(world->sched)->count == refused && any.job.id == world->next;
}

static void adopt(struct any_world *world)
{
    struct any_job any;
    struct piece pieces[2];
    const uint32_t count = 1 + below(world, 2);
    make_job(world, &any);
    for (uint32_t i = 0; i < count; i++) {
        const struct request *request = &any.job.first.request;
        const uint32_t shift = below(world, 8);
        pieces[i] = (struct piece){.node = some_node(world),
                                   .gpu_mask = (uint16_t)(((1u << request->gpus % 17) - 1) << shift),
                                   .gpu_milli = GPU_MILLI,
                                   .member_count = 1};
        if (request->gpu_milli != 0) {
            pieces[i].gpu_mask = (uint16_t)(1u << shift);
            pieces[i].gpu_milli = request->gpu_milli;
        }
        SPOIL(world, pieces[i].gpu_mask);
        SPOIL(world, pieces[i].gpu_milli);
        SPOIL(world, pieces[i].member_count);
        SPOIL(world, pieces[i].group);
        pieces[i].mig_start = once_in(world, 8) ? below(world, 16) & PIECE_PART_MASK : 0;
        pieces[i].share = once_in(world, 8) ? below(world, 16) & PIECE_PART_MASK : 0;
    }
    const uint64_t refused = sched_refused(world->sched)->count;
    const time_ns now = some_time(world), started = once_in(world, 8) ? some_time(world) : now;
    sched_job_adopted(world->sched, &any.job, pieces, count, started, now);
    const bool is_taken = sched_refused(world->sched)->count == refused;
    world->next += is_taken && any.job.id == world->next;
    world->adopted += is_taken;
}

/* ---- other facts ---- */

static void change_queues(struct any_world *world)
{
    if (once_in(world, 4)) {
        sched_queues_changed(world->sched, world->others, some_time(world));
        return;
    }
    world->queue_changes++;
    if (once_in(world, 4) && world->queues->count < 40)
        random_case_queues(&world->stream, world->queues, world->cluster, false);
    random_case_limits(&world->stream, world->queues, world->cluster);
    const uint64_t refused = sched_refused(world->sched)->count;
    sched_queues_changed(world->sched, world->queues, some_time(world));
    if (sched_refused(world->sched)->count >
        refused) /* told too late: the queues have changed, so they are told again */
        sched_queues_changed(world->sched, world->queues, world->sched->now);
}

/* Of the next job, of one that is there, or of none. */
static void past(struct any_world *world)
{
    const job_id job = once_in(world, 2) ? world->next : some_job(world);
    const struct job_history history = {.evictions = below(world, 9),
                                        .stale_count = (uint8_t)below(world, 3),
                                        .waiting_since = some_time(world),
                                        .below_since = once_in(world, 2) ? TIME_NEVER : some_time(world),
                                        .saved_at = once_in(world, 2) ? TIME_NEVER : some_time(world),
                                        .ran = some_time(world),
                                        .attained_gpu_ns = some_time(world)};
    if (once_in(world, 2))
        sched_job_history_told(world->sched, job, &history, some_time(world));
    else
        sched_user_usage_told(world->sched, below(world, 12), below(world, 9), some_time(world), some_time(world));
}

static void typical(struct any_world *world)
{
    struct any_job any;
    if (once_in(world, 2)) {
        past(world);
        return;
    }
    make_job(world, &any);
    sched_typical_told(world->sched, &any.job.first, 1, some_time(world));
}

static void cycle(struct any_world *world)
{
    const struct decision *decisions;
    time_ns wake_at;
    const time_ns now = some_time(world);
    const size_t count = sched_cycle(world->sched, now, &decisions, &wake_at);
    world->cycles++;
    for (size_t i = 0; i < count; i++) {
        const uint32_t at = world->decision_count++ % ANY_DECISIONS;
        world->decisions[at] = decisions[i].id;
        world->decided[at] = decisions[i].job;
        world->started += decisions[i].kind == DECISION_START;
        if (decisions[i].kind == DECISION_START && !once_in(world, 4))
            sched_job_started(world->sched, decisions[i].job, decisions[i].id, now);
        if (decisions[i].kind == DECISION_START) /* the decisions are gone */
            break;
    }
}

static int some_value(struct any_world *world, uint32_t count)
{
    return once_in(world, 32) ? (int)odd_number(world) : (int)below(world, count);
}

static void about_job(struct any_world *world, uint32_t what)
{
    struct sched *sched = world->sched;
    const job_id job = some_job(world);
    const time_ns now = some_time(world);
    switch (what) {
    case 0:
        sched_job_released(sched, job, now);
        break;
    case 1:
        sched_job_cancelled(sched, job, now);
        break;
    case 2:
        sched_job_leaving(sched, job, some_members(world, job), now);
        break;
    case 3:
        sched_job_evicted(sched, job, some_members(world, job), (enum evict_end)some_value(world, 2), now);
        break;
    case 4:
        sched_job_ended(sched, job, (enum job_end)some_value(world, 4), once_in(world, 6), now);
        break;
    case 5:
        sched_job_checkpointed(sched, job, now);
        break;
    case 6:
        sched_decision_refused(sched, some_decision(world, job), (enum refusal)some_value(world, 3), now);
        break;
    default:
        sched_job_started(sched, job, some_decision(world, job), now);
        break;
    }
}

static void tell(struct any_world *world)
{
    const uint32_t what = below(world, 40);
    if (what < 10)
        submit(world);
    else if (what < 12)
        adopt(world);
    else if (what < 28)
        about_job(world, what % 9);
    else if (what < 30)
        sched_node_changed(world->sched, some_node(world), (enum node_state)some_value(world, 5), some_time(world));
    else if (what == 30)
        sched_gpu_changed(world->sched, some_node(world), below(world, 10),
                          (mig_layout_id)(once_in(world, 4) ? odd_number(world) : below(world, MIG_LAYOUT_COUNT)),
                          some_time(world));
    else if (what == 31)
        change_queues(world);
    else if (what == 32)
        typical(world);
    else
        cycle(world);
}

bool any_world_step(struct any_world *world)
{
    if (world->at == world->end)
        return false;
    tell(world);
    world->steps++;
    const char *broken = sched_check(world->sched);
    if (broken == NULL)
        return true;
    fprintf(stderr, "step %llu: %s\npolicy %s\n", (unsigned long long)world->steps, broken, world->policy.text);
    abort();
}
