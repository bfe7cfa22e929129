/* policies/sched.h driven by a random world that keeps its own books.
 *
 * The world knows each job's state and placement from facts and decisions alone.  It checks every decision as it
 * comes: space is never given twice (GPUs, CPUs, memory), only on nodes that are up, a reservation only on what
 * is free or leaving, no queue above its limit, victims are allowed and needed.  After each cycle it looks for
 * itself: no waiting job may fit into what is free, and nobody was passed over who went before.  In the end
 * everything is over and the scheduler's state is that of a new one. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "policies/placement/placement.h"
#include "policies/order/order.h"
#include "policies/preemption/preemption.h"
#include "policies/quota/quota.h"
#include "policies/sched.h"
#include "tests/support/interval.h"
#include "tests/support/random_case.h"

enum { JOBS_MAX = 160, STEPS = 700, DRAIN_ROUNDS = 4000 };

enum state { NEW, HELD, WAITING, RESERVED, STARTING, RUNNING, LEAVING, OVER };

struct entry {
    struct job job;
    struct job_group more[RANDOM_CASE_GROUPS_MAX];
    enum state state;
    decision_id decision;
    time_ns decided;
    uint32_t evictions, piece_count;
    uint64_t decided_cycle;
    bool was_reserved; /* when it was started */
    struct piece *pieces;
};

struct amounts { /* of a node: all signed, so that an error shows as a negative one */
    int64_t gpu[NODE_GPUS_MAX], cpu, memory;
};

struct world {
    struct random_stream stream;
    uint64_t seed, cycle, hash;
    struct cluster *cluster;
    struct queue_table *queues;
    struct random_case_policy policy;
    struct sched *sched;
    struct entry *jobs;
    uint32_t job_count;
    uint8_t *node_state;
    time_ns now, wake_at;
};

static void fail_case(const struct world *world, const char *what, job_id job)
{
    print_error("seed %llu, cycle %llu, job %u: %s\npolicy %s\n", (unsigned long long)world->seed,
                (unsigned long long)world->cycle, job, what, world->policy.text);
    fail();
}

static void check(const struct world *world)
{
    const char *broken = sched_check(world->sched);
    if (broken != NULL)
        fail_case(world, broken, JOB_NONE);
}

/* ---- Books ------------------------------------------------------------------------------------- */

static void add_pieces(struct amounts *sums, const struct entry *entry, int sign)
{
    for (uint32_t i = 0; i < entry->piece_count; i++) {
        const struct piece *piece = &entry->pieces[i];
        const struct request *request = &job_group(&entry->job, piece->group)->request;
        struct amounts *node = &sums[piece->node];
        for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1)
            node->gpu[__builtin_ctz(mask)] += sign * (int64_t)piece->gpu_milli;
        node->cpu += sign * (int64_t)request->cpu_milli * piece->member_count;
        node->memory += sign * (int64_t)request->memory_mib * piece->member_count;
    }
}

/* What each node has left when the jobs in these states hold their pieces. */
static struct amounts *left_new(const struct world *world, uint32_t states)
{
    const struct cluster *cluster = world->cluster;
    struct amounts *left = calloc(cluster->node_count, sizeof *left);
    assert_non_null(left);
    for (node_id n = 0; n < cluster->node_count; n++) {
        const struct node_type *type = cluster_node_type(cluster, n);
        left[n].cpu = type->cpu_milli;
        left[n].memory = type->memory_mib;
        for (uint32_t g = 0; g < type->gpu_count; g++)
            left[n].gpu[g] = GPU_MILLI;
    }
    for (job_id id = 0; id < world->job_count; id++)
        if (states >> world->jobs[id].state & 1)
            add_pieces(left, &world->jobs[id], -1);
    return left;
}

static bool is_overdrawn(const struct world *world, const struct amounts *left)
{
    bool bad = false;
    for (node_id n = 0; n < world->cluster->node_count; n++) {
        bad |= left[n].cpu < 0 || left[n].memory < 0;
        for (uint32_t g = 0; g < NODE_GPUS_MAX; g++)
            bad |= left[n].gpu[g] < 0;
    }
    return bad;
}

enum {
    BOOKED = 1 << STARTING | 1 << RUNNING | 1 << RESERVED, /* what will be there when the leaving have left */
    PHYSICAL = 1 << STARTING | 1 << RUNNING | 1 << LEAVING,
    EVERYBODY = BOOKED | PHYSICAL,
};

static void check_space(const struct world *world, uint32_t states, const char *what, job_id job)
{
    struct amounts *left = left_new(world, states);
    if (is_overdrawn(world, left))
        fail_case(world, what, job);
    free(left);
}

static int64_t ask_of(const struct world *world, const struct job *job)
{
    int64_t ask = 0;
    for (uint32_t g = 0; g < job->group_count; g++)
        ask += request_gpu_milli(&job_group(job, g)->request, world->cluster->model_count > 0 ? world->cluster->models : NULL) *
               job_group(job, g)->count;
    return ask;
}

/* Is there headroom for `more` in the job's queue and all above it? */
static bool has_headroom(const struct world *world, const struct job *job, int64_t more)
{
    if (world->policy.config.quota == &quota_none || ask_of(world, job) == 0)
        return true;
    for (queue_id q = job->queue; q != QUEUE_ROOT; q = world->queues->queues[q].parent) {
        int64_t limit = world->queues->queues[q].limit_milli, charged = more;
        for (job_id id = 0; id < world->job_count && limit != QUOTA_UNLIMITED; id++) {
            const struct entry *entry = &world->jobs[id];
            queue_id at = entry->job.queue;
            while (at != q && at != QUEUE_ROOT)
                at = world->queues->queues[at].parent;
            if (at == q && BOOKED >> entry->state & 1)
                charged += ask_of(world, &entry->job);
        }
        if (limit != QUOTA_UNLIMITED && charged > limit)
            return false;
    }
    return true;
}

/* Members of a request that a node with so much left can take. */
static int64_t members_in(const struct world *world, node_id node, const struct amounts *left, const struct request *request)
{
    const struct node_type *type = cluster_node_type(world->cluster, node);
    const struct gpu_model *model = &world->cluster->models[type->model];
    int64_t share = request->gpu_milli, members = 0;
    bool needs_gpu = request->gpus + request->gpu_milli + request->gpu_memory_mib > 0;
    if (request->gpu_memory_mib > 0)
        share = ((int64_t)request->gpu_memory_mib * GPU_MILLI + model->memory_mib - 1) / model->memory_mib;
    if (world->node_state[node] != NODE_UP || (needs_gpu && request->gpu_models != 0 && !(request->gpu_models >> type->model & 1)))
        return 0;
    for (uint32_t g = 0; g < type->gpu_count && needs_gpu; g++)
        members += request->gpus > 0 ? left->gpu[g] == GPU_MILLI : left->gpu[g] > 0 ? left->gpu[g] / share : 0;
    if (request->gpus > 0)
        members /= request->gpus;
    if (!needs_gpu)
        members = INT32_MAX;
    if (request->cpu_milli > 0 && left->cpu / request->cpu_milli < members)
        members = left->cpu / request->cpu_milli;
    if (request->memory_mib > 0 && left->memory / request->memory_mib < members)
        members = left->memory / request->memory_mib;
    return members < 0 ? 0 : members;
}

/* Exact for one group; of several it is false: which goes where is the policy's choice. */
static bool fits(const struct world *world, const struct amounts *left, const struct job *job)
{
    int64_t members = 0;
    for (node_id n = 0; n < world->cluster->node_count && job->group_count == 1; n++)
        members += members_in(world, n, &left[n], &job->first.request);
    return job->group_count == 1 && members >= job->first.count;
}

static void set_pieces(struct entry *entry, const struct piece *pieces, uint32_t count)
{
    free(entry->pieces);
    entry->pieces = NULL;
    entry->piece_count = count;
    if (count == 0)
        return;
    entry->pieces = calloc(count, sizeof *pieces);
    assert_non_null(entry->pieces);
    memcpy(entry->pieces, pieces, count * sizeof *pieces);
}

static void leave(struct entry *entry, enum state state)
{
    entry->state = state;
    if (!(EVERYBODY >> state & 1))
        set_pieces(entry, NULL, 0);
}

/* ---- Decisions --------------------------------------------------------------------------------- */

static void check_pieces(const struct world *world, const struct decision *decision)
{
    const struct job *job = &world->jobs[decision->job].job;
    uint64_t members[RANDOM_CASE_GROUPS_MAX] = {0};
    for (uint32_t i = 0; i < decision->piece_count; i++) {
        const struct piece *piece = &decision->pieces[i];
        const struct request *request = &job_group(job, piece->group)->request;
        const struct node_type *type = cluster_node_type(world->cluster, piece->node);
        uint32_t gpus = (uint32_t)__builtin_popcount(piece->gpu_mask);
        members[piece->group] += piece->member_count;
        if (world->node_state[piece->node] != NODE_UP)
            fail_case(world, "a job was placed on a node that is not up", decision->job);
        if (piece->gpu_mask >> type->gpu_count != 0)
            fail_case(world, "a job was given a GPU its node does not have", decision->job);
        if (gpus != 0 && request->gpu_models != 0 && !(request->gpu_models >> type->model & 1))
            fail_case(world, "a job was given a GPU of a model it did not ask", decision->job);
        if (request->gpus != 0 && (gpus != request->gpus * (uint32_t)piece->member_count || piece->gpu_milli != GPU_MILLI))
            fail_case(world, "a member did not get the GPUs it asked", decision->job);
        if (request->gpu_milli != 0 && (gpus != 1 || piece->gpu_milli != request->gpu_milli))
            fail_case(world, "a member did not get the share it asked", decision->job);
        if (request->gpu_memory_mib != 0 &&
            (uint64_t)piece->gpu_milli * world->cluster->models[type->model].memory_mib * gpus <
                (uint64_t)request->gpu_memory_mib * GPU_MILLI * piece->member_count)
            fail_case(world, "a member did not get the memory it asked", decision->job);
    }
    for (uint32_t g = 0; g < job->group_count; g++)
        if (members[g] != job_group(job, g)->count)
            fail_case(world, "not all members were placed", decision->job);
}

/* <0 if a goes before b by the chain. */
static int order_of(const struct world *world, job_id a, job_id b)
{
    for (uint32_t i = 0; i < world->policy.config.order_count; i++) {
        uint64_t x = world->policy.config.order[i]->rank(&world->jobs[a].job);
        uint64_t y = world->policy.config.order[i]->rank(&world->jobs[b].job);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

/* The first waiting job of the line by the order; JOB_NONE. */
static job_id head_of(const struct world *world, queue_id queue, bool is_flat)
{
    job_id head = JOB_NONE;
    for (job_id id = 0; id < world->job_count; id++)
        if (world->jobs[id].state == WAITING && (is_flat || world->jobs[id].job.queue == queue) &&
            (head == JOB_NONE || order_of(world, id, head) < 0))
            head = id;
    return head;
}

static void take_start(struct world *world, const struct decision *decision)
{
    struct entry *entry = &world->jobs[decision->job];
    entry->was_reserved = entry->state == RESERVED;
    if (!entry->was_reserved && entry->state != WAITING)
        fail_case(world, "a job was started that does not wait", decision->job);
    check_pieces(world, decision);
    entry->state = STARTING;
    entry->decision = decision->id;
    entry->decided = world->now;
    entry->decided_cycle = world->cycle;
    set_pieces(entry, decision->pieces, decision->piece_count);
    if (!entry->was_reserved && !has_headroom(world, &entry->job, 0))
        fail_case(world, "a START takes a queue above its limit", decision->job);
    check_space(world, PHYSICAL, "space was given that others hold", decision->job);
    check_space(world, BOOKED, "space was given that others were promised", decision->job);
}

static void take_evict(struct world *world, const struct decision *decision)
{
    struct entry *entry = &world->jobs[decision->job];
    const struct entry *gainer = &world->jobs[decision->for_job];
    const struct preemption_config *guard = &world->policy.config.preempt;
    if (entry->state != RUNNING || !entry->job.is_preemptible)
        fail_case(world, "a job was evicted that does not run or may not be evicted", decision->job);
    if (world->now - entry->decided < guard->min_runtime || (int64_t)entry->evictions >= guard->evictions_per_job_max ||
        entry->decided_cycle == world->cycle)
        fail_case(world, "a job was evicted against a guard", decision->job);
    if (gainer->state != WAITING || decision->for_job == decision->job)
        fail_case(world, "an eviction for nobody", decision->job);
    if (decision->reason == REASON_PREEMPTED &&
        (entry->job.priority >= gainer->job.priority || order_of(world, decision->for_job, decision->job) > 0))
        fail_case(world, "a victim goes before its gainer", decision->job);
    if (decision->reason == REASON_RECLAIMED && world->policy.config.quota == &quota_none)
        fail_case(world, "nothing can be reclaimed without quotas", decision->job);
    entry->state = LEAVING;
    entry->decision = decision->id;
}

/* The victims of the plan are those just before the RESERVE; none may be there for nothing. */
static void check_plan(struct world *world, const struct decision *all, size_t at)
{
    struct entry *gainer = &world->jobs[all[at].job];
    int64_t victims = 0;
    size_t first = at;
    for (; first > 0 && all[first - 1].kind == DECISION_EVICT && all[first - 1].for_job == all[at].job; first--)
        victims++;
    if (victims == 0 || victims > world->policy.config.preempt.victims_max)
        fail_case(world, "a plan of no victims, or of too many", all[at].job);
    struct amounts *left = left_new(world, EVERYBODY);
    for (size_t i = first; i < at; i++)
        add_pieces(left, &world->jobs[all[i].job], 1);
    for (size_t i = first; i < at; i++) {
        add_pieces(left, &world->jobs[all[i].job], -1);
        if (fits(world, left, &gainer->job))
            fail_case(world, "a victim was not needed", all[i].job);
        add_pieces(left, &world->jobs[all[i].job], 1);
    }
    free(left);
}

static void take_reserve(struct world *world, const struct decision *all, size_t at)
{
    const struct decision *decision = &all[at];
    struct entry *entry = &world->jobs[decision->job];
    if (entry->state != WAITING)
        fail_case(world, "a reservation for a job that does not wait", decision->job);
    if (world->policy.config.is_strict &&
        head_of(world, entry->job.queue, world->policy.config.quota->is_flat) != decision->job)
        fail_case(world, "a strict line was overtaken by eviction", decision->job);
    check_plan(world, all, at);
    check_pieces(world, decision);
    entry->state = RESERVED;
    set_pieces(entry, decision->pieces, decision->piece_count);
    if (!has_headroom(world, &entry->job, 0))
        fail_case(world, "a reservation takes a queue above its limit", decision->job);
    check_space(world, BOOKED, "a reservation on space that does not come", decision->job);
}

static void take_decision(struct world *world, const struct decision *all, size_t at)
{
    const struct decision *decision = &all[at];
    struct entry *entry = &world->jobs[decision->job];
    world->hash = hash_mix(hash_mix(world->hash, decision->id), (uint64_t)decision->kind);
    switch (decision->kind) {
    case DECISION_START:
        take_start(world, decision);
        break;
    case DECISION_EVICT:
        take_evict(world, decision);
        break;
    case DECISION_RESERVE:
        take_reserve(world, all, at);
        break;
    case DECISION_RELEASE:
        if (entry->state != RESERVED)
            fail_case(world, "a reservation was released that is not", decision->job);
        leave(entry, WAITING);
        break;
    case DECISION_REJECT: {
        struct amounts *left = left_new(world, 0);
        uint8_t *states = world->node_state;
        world->node_state = calloc(world->cluster->node_count, 1); /* NODE_UP */
        assert_non_null(world->node_state);
        if ((entry->state != WAITING && entry->state != HELD && entry->state != OVER) || fits(world, left, &entry->job))
            fail_case(world, "a job was rejected that may fit one day", decision->job);
        free(world->node_state);
        world->node_state = states;
        free(left);
        leave(entry, OVER);
        break;
    }
    }
}

/* ---- The twin of the memos --------------------------------------------------------------------- */

/* Nothing that waits and may go fits into what is free: no memo hides a job. */
static void check_nothing_fits(const struct world *world)
{
    const struct policy_config *config = &world->policy.config;
    struct amounts *left = left_new(world, EVERYBODY);
    for (job_id id = 0; id < world->job_count; id++) {
        const struct job *job = &world->jobs[id].job;
        if (world->jobs[id].state != WAITING)
            continue;
        if (config->is_strict && head_of(world, job->queue, config->quota->is_flat) != id)
            continue;
        if (fits(world, left, job) && has_headroom(world, job, ask_of(world, job)))
            fail_case(world, "it fits, may go, and was not started", id);
    }
    free(left);
}

/* Undo the cycle's starts, last first: whoever still waits and goes before did not fit at that moment either. */
static void check_order(const struct world *world, const struct decision *all, size_t count)
{
    struct amounts *left = left_new(world, EVERYBODY);
    for (size_t i = count; i-- > 0;) {
        const struct entry *started = &world->jobs[all[i].job];
        if (all[i].kind != DECISION_START || started->was_reserved)
            continue;
        add_pieces(left, started, 1);
        for (job_id id = 0; id < world->job_count; id++) {
            const struct job *job = &world->jobs[id].job;
            bool same_line = world->policy.config.quota->is_flat || job->queue == started->job.queue;
            if (world->jobs[id].state == WAITING && same_line && order_of(world, id, all[i].job) < 0 &&
                fits(world, left, job) && has_headroom(world, job, ask_of(world, job)))
                fail_case(world, "it was passed over by one that goes after it", id);
        }
    }
    free(left);
}

static size_t run_cycle(struct world *world)
{
    const struct decision *decisions;
    world->cycle++;
    size_t count = sched_cycle(world->sched, world->now, &decisions, &world->wake_at);
    check(world);
    bool has_plans = false;
    for (size_t i = 0; i < count; i++) {
        take_decision(world, decisions, i);
        has_plans |= decisions[i].kind == DECISION_RESERVE;
    }
    if (world->wake_at < world->now)
        fail_case(world, "it wants to be woken in the past", JOB_NONE);
    check_space(world, PHYSICAL, "space is held twice", JOB_NONE);
    if (!has_plans) /* evictions give headroom back in the middle of the cycle */
        check_order(world, decisions, count);
    check_nothing_fits(world);
    struct sched_counts counts;
    sched_count(world->sched, &counts);
    if (counts.reserved_gpu_milli < 0 || counts.reserved_gpu_milli > counts.used_gpu_milli)
        fail_case(world, "what is reserved already is not a part of what is used", JOB_NONE);
    return count;
}

/* Time alone: before wake_at, and without facts, a cycle has nothing to do. */
static void wait_quietly(struct world *world)
{
    time_ns until = world->now + (time_ns)random_below(&world->stream, 400) * TIME_NS_PER_S;
    run_cycle(world);
    if (world->wake_at <= world->now)
        return;
    world->now = until < world->wake_at ? until : world->wake_at - 1;
    if (run_cycle(world) != 0)
        fail_case(world, "it had something to do before it wanted to be woken", JOB_NONE);
}

/* ---- Facts ------------------------------------------------------------------------------------- */

static void submit(struct world *world, struct random_case_job_options *options)
{
    if (world->job_count == JOBS_MAX)
        return;
    job_id id = world->job_count++;
    struct entry *entry = &world->jobs[id];
    entry->job = random_case_job(&world->stream, world->cluster, world->queues->count, options);
    memcpy(entry->more, options->more, sizeof entry->more);
    if (entry->job.more != NULL)
        entry->job.more = entry->more;
    entry->job.id = id;
    entry->job.submit = world->now;
    entry->job.is_held = random_case_once_in(&world->stream, 10);
    entry->state = entry->job.is_held ? HELD : WAITING;
    sched_job_submitted(world->sched, &entry->job, world->now);
}

static void fact_ended(struct world *world, job_id id)
{
    bool will_retry = random_case_once_in(&world->stream, 8);
    sched_job_ended(world->sched, id, JOB_END_COMPLETED, will_retry, world->now);
    leave(&world->jobs[id], will_retry ? WAITING : OVER);
}

static void fact_evicted(struct world *world, job_id id)
{
    sched_job_evicted(world->sched, id, random_case_once_in(&world->stream, 2) ? EVICT_SAVED : EVICT_LOST, world->now);
    world->jobs[id].evictions++;
    leave(&world->jobs[id], WAITING);
}

static void fact_refused(struct world *world, job_id id)
{
    struct entry *entry = &world->jobs[id];
    sched_decision_refused(world->sched, entry->decision, REFUSED_STALE, world->now);
    if (entry->state == STARTING)
        leave(entry, WAITING);
    else
        entry->state = RUNNING;
    sched_decision_refused(world->sched, entry->decision, REFUSED_STALE, world->now); /* told twice: nothing */
}

static void fact_cancelled(struct world *world, job_id id)
{
    sched_job_cancelled(world->sched, id, world->now);
    if (1 << world->jobs[id].state & (1 << HELD | 1 << WAITING | 1 << RESERVED))
        leave(&world->jobs[id], OVER);
}

/* One fact that suits the job's state, or one that does not and must change nothing. */
static void about_job(struct world *world, job_id id)
{
    struct entry *entry = &world->jobs[id];
    switch (random_below(&world->stream, 8)) {
    case 0:
        if (random_case_once_in(&world->stream, 4))
            fact_cancelled(world, id);
        break;
    case 1:
        sched_job_released(world->sched, id, world->now);
        if (entry->state == HELD)
            leave(entry, WAITING);
        break;
    case 2:
        if (entry->state == STARTING || entry->state == LEAVING)
            fact_refused(world, id);
        else
            sched_decision_refused(world->sched, entry->decision, REFUSED_BUSY, world->now);
        break;
    case 3:
        if (entry->state == RUNNING || entry->state == LEAVING)
            fact_ended(world, id);
        else if (entry->state != STARTING)
            sched_job_ended(world->sched, id, JOB_END_FAILED, false, world->now);
        break;
    case 4:
        if (entry->state == LEAVING)
            fact_evicted(world, id);
        else if (entry->state != STARTING && entry->state != RUNNING)
            sched_job_evicted(world->sched, id, EVICT_LOST, world->now);
        break;
    default:
        sched_job_started(world->sched, id, world->now);
        if (entry->state == STARTING)
            entry->state = RUNNING;
    }
}

static bool stands_on(const struct entry *entry, node_id node)
{
    for (uint32_t i = 0; i < entry->piece_count; i++)
        if (entry->pieces[i].node == node)
            return true;
    return false;
}

static void change_node(struct world *world, node_id node, enum node_state state)
{
    sched_node_changed(world->sched, node, state, world->now);
    world->node_state[node] = (uint8_t)state;
    for (job_id id = 0; id < world->job_count && (state == NODE_DOWN || state == NODE_ABSENT); id++) {
        if (!(PHYSICAL >> world->jobs[id].state & 1) || !stands_on(&world->jobs[id], node))
            continue;
        check(world);
        if (random_case_once_in(&world->stream, 2))
            fact_evicted(world, id);
        else
            fact_ended(world, id);
    }
}

static void change_queues(struct world *world)
{
    if (random_case_once_in(&world->stream, 2) && world->queues->count < 40)
        random_case_queues(&world->stream, world->queues, world->cluster, false);
    random_case_limits(&world->stream, world->queues, world->cluster);
    sched_queues_changed(world->sched, world->queues, world->now);
}

static void step(struct world *world, struct random_case_job_options *options)
{
    uint32_t what = random_below(&world->stream, 40);
    if (what < 8)
        submit(world, options);
    else if (what < 28 && world->job_count > 0)
        about_job(world, random_below(&world->stream, world->job_count));
    else if (what == 28)
        change_node(world, random_below(&world->stream, world->cluster->node_count),
                    (enum node_state)random_below(&world->stream, NODE_ABSENT + 1));
    else if (what == 29)
        change_node(world, random_below(&world->stream, world->cluster->node_count), NODE_UP);
    else if (what == 30 && random_case_once_in(&world->stream, 4))
        change_queues(world);
    else if (what < 34)
        world->now += (time_ns)random_below(&world->stream, 120) * TIME_NS_PER_S;
    else if (what < 36)
        wait_quietly(world);
    else
        run_cycle(world);
    check(world);
}

/* ---- A whole life ------------------------------------------------------------------------------ */

static void open_world(struct world *world, uint64_t seed)
{
    struct error error;
    *world = (struct world){.seed = seed, .hash = seed};
    random_stream_init(&world->stream, seed, "sched-fuzz", 0);
    world->cluster = random_case_cluster(&world->stream);
    world->queues = queue_table_new();
    random_case_queues(&world->stream, world->queues, world->cluster, random_case_once_in(&world->stream, 2));
    random_case_policy(&world->stream, random_below(&world->stream, random_case_preset_count() + 8), &world->policy);
    world->sched = sched_new(world->cluster, world->queues, &world->policy.config, &error);
    assert_non_null(world->sched);
    world->jobs = calloc(JOBS_MAX, sizeof *world->jobs);
    world->node_state = calloc(world->cluster->node_count, 1); /* NODE_UP */
    assert_true(world->jobs != NULL && world->node_state != NULL);
}

static void close_world(struct world *world)
{
    for (job_id id = 0; id < world->job_count; id++)
        free(world->jobs[id].pieces);
    free(world->jobs);
    free(world->node_state);
    sched_free(world->sched);
    queue_table_free(world->queues);
    cluster_free(world->cluster);
}

/* Confirm what was decided, end what runs; true if anything was there to do. */
static bool settle(struct world *world)
{
    bool moved = false;
    for (job_id id = 0; id < world->job_count; id++) {
        struct entry *entry = &world->jobs[id];
        moved |= (1 << entry->state & (1 << STARTING | 1 << RUNNING | 1 << LEAVING)) != 0;
        if (entry->state == LEAVING)
            fact_evicted(world, id);
        else if (entry->state == RUNNING)
            fact_ended(world, id);
        else if (entry->state == STARTING)
            entry->state = RUNNING, sched_job_started(world->sched, id, world->now);
        check(world);
    }
    return moved;
}

/* All nodes come back, all jobs may run: whoever can run does, with nobody but the facts to wake it. */
static void drain(struct world *world)
{
    bool moved = true;
    for (node_id n = 0; n < world->cluster->node_count; n++)
        change_node(world, n, NODE_UP);
    for (job_id id = 0; id < world->job_count; id++)
        if (world->jobs[id].state == HELD) {
            sched_job_released(world->sched, id, world->now);
            world->jobs[id].state = WAITING;
        }
    for (uint32_t round = 0; moved; round++) {
        if (round == DRAIN_ROUNDS)
            fail_case(world, "it never comes to an end", JOB_NONE);
        world->now += TIME_NS_PER_S;
        run_cycle(world);
        moved = settle(world);
    }
    for (job_id id = 0; id < world->job_count; id++) {
        if (world->jobs[id].state == RESERVED)
            fail_case(world, "a reservation that never starts", id);
        if (world->jobs[id].state == WAITING)
            fact_cancelled(world, id); /* cycles proved that it cannot go: see check_nothing_fits */
    }
    check(world);
}

static volatile uint64_t present_seed;

/* An assertion inside the scheduler: say which seed, then die of it. */
static void on_abort(int number)
{
    print_error("seed %llu: aborted\n", (unsigned long long)present_seed);
    signal(number, SIG_DFL);
}

static uint64_t live(uint64_t seed)
{
    struct world world;
    struct random_case_job_options options = {.max_groups = RANDOM_CASE_GROUPS_MAX};
    struct error error;
    present_seed = seed;
    open_world(&world, seed);
    for (int i = 0; i < STEPS; i++)
        step(&world, &options);
    drain(&world);
    struct sched *empty = sched_new(world.cluster, world.queues, &world.policy.config, &error);
    assert_non_null(empty);
    if (sched_hash(world.sched) != sched_hash(empty))
        fail_case(&world, "everything is over and something is left in the ledger", JOB_NONE);
    sched_free(empty);
    uint64_t hash = world.hash;
    close_world(&world);
    return hash;
}

static void test_random_worlds(void **state)
{
    (void)state;
    signal(SIGABRT, on_abort);
    const char *only = getenv("WINDTUNNEL_TEST_SEED");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1, count = only != NULL ? 1 : test_is_full() ? 4000 : 120;
    for (uint64_t seed = first; seed < first + count; seed++) {
        uint64_t hash = live(seed);
        if (seed % 8 == 0 && live(seed) != hash) {
            print_error("seed %llu: the same facts gave other decisions\n", (unsigned long long)seed);
            fail();
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_worlds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
