#include "tests/support/honest_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/random.h"
#include "policies/state/sched_state.h"

void honest_world_break(struct honest_world *world, const char *rule, uint32_t first, uint32_t job, const char *format,
                        ...)
{
    va_list arguments;
    if (world->broken.rule != NULL)
        return;
    world->broken = (struct honest_broken){.rule = rule, .job = job, .tick = world->tick, .first = first};
    va_start(arguments, format);
    vsnprintf(world->broken.what, sizeof world->broken.what, format, arguments);
    va_end(arguments);
}

static void breaks(struct honest_world *world, uint32_t job, const char *what)
{
    honest_world_break(world, "honest", world->tick, job, "%s", what);
}

/* ---- Jobs ---- */

void honest_job_members(const struct honest_job *job, uint32_t members[])
{
    memset(members, 0, job->job.group_count * sizeof members[0]);
    for (uint32_t i = 0; i < job->hold_count; i++)
        members[job->holds[i].piece.group] += job->holds[i].phase != HOLD_LEAVING;
}

uint32_t honest_job_held(const struct honest_job *job)
{
    uint32_t held = 0;
    for (uint32_t i = 0; i < job->hold_count; i++)
        held += job->holds[i].phase != HOLD_LEAVING;
    return held;
}

bool honest_job_is_whole(const struct honest_job *job)
{
    uint32_t members[RANDOM_WORLD_GROUPS_MAX], held = 0, whole = 0;
    honest_job_members(job, members);
    for (uint32_t g = 0; g < job->job.group_count; g++) {
        uint32_t minimum = job->job.set_count > 0 ? job->job.sets[g].min_members : job_group(&job->job, g)->min_count;
        whole += members[g] >= minimum;
        held += members[g];
    }
    return held > 0 && whole >= (job->job.min_sets > 0 ? job->job.min_sets : job->job.group_count);
}

bool honest_job_waits(const struct honest_job *job)
{
    return job->state == JOB_THERE && job->hold_count == 0 && job->reserved_count == 0;
}

static bool runs_whole(const struct honest_job *job)
{
    for (uint32_t i = 0; i < job->hold_count; i++)
        if (job->holds[i].phase == HOLD_STARTING)
            return false;
    return honest_job_is_whole(job);
}

/* Called after members came or left. */
static void note(struct honest_world *world, struct honest_job *job)
{
    bool is_whole = honest_job_is_whole(job), is_below = !is_whole && honest_job_held(job) > 0;
    if (!runs_whole(job))
        job->whole_since = TIME_NEVER;
    else if (job->whole_since == TIME_NEVER)
        job->whole_since = world->now;
    if (is_whole || honest_job_held(job) == 0)
        job->is_hurt = false;
    if (!is_below)
        job->below_since = TIME_NEVER;
    else if (job->below_since == TIME_NEVER)
        job->below_since = world->now;
    if (world->watch.on_change != NULL)
        world->watch.on_change(world, (uint32_t)(job - world->jobs));
}

static void drop_hold(struct honest_job *job, uint32_t index)
{
    for (job->hold_count--; index < job->hold_count; index++)
        job->holds[index] = job->holds[index + 1];
}

static void be_over(struct honest_world *world, struct honest_job *job)
{
    job->state = JOB_OVER;
    job->hold_count = job->reserved_count = 0;
    note(world, job);
}

/* ---- Facts ---- */

static void log_fact(struct honest_world *world, const char *what, uint32_t number)
{
    if (world->log != NULL)
        buffer_format(world->log, "tick %u: told %s %u\n", world->tick, what, number);
}

static uint32_t position(const struct honest_world *world, const struct honest_job *job)
{
    return (uint32_t)(job - world->jobs);
}

static void told_outside(struct honest_world *world, const char *what, uint32_t number)
{
    log_fact(world, what, number);
    world->is_told = true;
    world->outside++;
    world->quiet_tick = world->tick;
    if (world->watch.on_fact != NULL)
        world->watch.on_fact(world);
}

static void end_job(struct honest_world *world, struct honest_job *job, enum job_end end)
{
    bool retries = end == JOB_END_COMPLETED && job->plan->is_retried && !job->was_retried;
    sched_job_ended(world->sched, job->job.id, retries ? JOB_END_FAILED : end, retries, world->now);
    job->was_retried |= retries;
    job->hold_count = job->reserved_count = 0;
    if (!retries)
        job->state = JOB_OVER;
    note(world, job);
    told_outside(world, "the end of job", position(world, job));
}

static bool stands_on(const struct honest_job *job, node_id node)
{
    for (uint32_t i = 0; i < job->hold_count; i++)
        if (job->holds[i].piece.node == node)
            return true;
    return false;
}

static void lose_node(struct honest_world *world, struct honest_job *job, node_id node)
{
    sched_job_evicted(world->sched, job->job.id, (struct members){0, node}, EVICT_LOST, world->now);
    for (uint32_t i = job->hold_count; i-- > 0;)
        if (job->holds[i].piece.node == node)
            drop_hold(job, i);
    job->is_hurt = true;
    note(world, job);
    told_outside(world, "a node's loss of job", position(world, job));
}

static void tell_faults(struct honest_world *world)
{
    const struct random_world *scenario = world->scenario;
    for (; world->next_fault < scenario->fault_count; world->next_fault++) {
        const struct random_fault *fault = &scenario->faults[world->next_fault];
        if (fault->at > world->now)
            return;
        if (fault->is_absent)
            continue;
        sched_node_changed(world->sched, fault->node, (enum node_state)fault->state, world->now);
        world->node_state[fault->node] = fault->state;
        world->breakages++;
        told_outside(world, fault->state == NODE_UP ? "the return of node" : "the going of node", fault->node);
        for (uint32_t j = 0; j < scenario->job_count && fault->state == NODE_DOWN; j++)
            if (stands_on(&world->jobs[j], fault->node))
                lose_node(world, &world->jobs[j], fault->node);
    }
}

static void tell_ends(struct honest_world *world)
{
    for (uint32_t j = 0; j < world->scenario->job_count; j++) {
        struct honest_job *job = &world->jobs[j];
        if (job->whole_since != TIME_NEVER && job->plan->duration != TIME_NEVER &&
            world->now - job->whole_since >= job->plan->duration)
            end_job(world, job, JOB_END_COMPLETED);
        if (job->state != JOB_THERE || job->plan->cancel_at > world->now)
            continue;
        if (job->hold_count > 0) {
            end_job(world, job, JOB_END_CANCELLED);
            continue;
        }
        sched_job_cancelled(world->sched, job->job.id, world->now);
        be_over(world, job);
        told_outside(world, "the cancellation of job", j);
    }
}

static bool is_refused(const struct honest_world *world, uint32_t j, uint64_t decision)
{
    uint64_t hash = hash_bytes((const uint64_t[]){world->scenario->seed, j, decision}, 24, 0);
    return hash % 1000 < world->scenario->refuse_milli;
}

/* The members of a decision start or leave, or the decision is refused. */
static void take_effect(struct honest_world *world, uint32_t j, struct hold first)
{
    struct honest_job *job = &world->jobs[j];
    bool is_start = first.phase == HOLD_STARTING;
    bool refused = is_refused(world, j, job->decisions) && (is_start || world->node_state[first.piece.node] == NODE_UP);
    for (uint32_t i = job->hold_count; i-- > 0;) {
        struct hold *hold = &job->holds[i];
        if (hold->decision != first.decision)
            continue;
        if (is_start == refused)
            drop_hold(job, i);
        else {
            hold->phase = HOLD_RUNNING;
            hold->decision = 0;
        }
    }
    if (refused)
        sched_decision_refused(world->sched, first.decision, REFUSED_STALE, world->now);
    else if (is_start)
        sched_job_started(world->sched, job->job.id, first.decision, world->now);
    else
        sched_job_evicted(world->sched, job->job.id, (struct members){first.decision, NODE_NONE}, EVICT_SAVED,
                          world->now);
    job->is_hurt |= refused;
    note(world, job);
    world->is_told = true;
    world->breakages += refused;
    if (refused)
        told_outside(world, is_start ? "a refused start of job" : "a refused eviction of job", j);
    else
        log_fact(world, is_start ? "the start of job" : "the eviction of job", j);
}

static void tell_effects(struct honest_world *world, enum hold_phase phase)
{
    for (uint32_t j = 0; j < world->scenario->job_count; j++) {
        struct honest_job *job = &world->jobs[j];
        for (uint32_t i = 0; i < job->hold_count; i++)
            if (job->holds[i].phase == phase && job->holds[i].due_tick <= world->tick) {
                take_effect(world, j, job->holds[i]);
                i = UINT32_MAX; /* the holdings have moved: start again */
            }
    }
}

static void tell_submissions(struct honest_world *world)
{
    for (uint32_t j = 0; j < world->scenario->job_count; j++) {
        struct honest_job *job = &world->jobs[j];
        if (job->state != JOB_COMING || job->plan->is_absent || job->plan->job.submit > world->now)
            continue;
        job->state = JOB_THERE;
        sched_job_submitted(world->sched, &job->job, world->now);
        told_outside(world, "the submission of job", j);
    }
}

/* What a monitor measured of the last tick, of most of the jobs that run: some spans idle, some active. */
static void tell_measurements(struct honest_world *world)
{
    enum { SPAN = 8 }; /* ticks */
    for (uint32_t j = 0; j < world->scenario->job_count && world->scenario->is_watched; j++) {
        const struct honest_job *job = &world->jobs[j];
        const uint64_t words[] = {world->scenario->seed, j, world->tick / SPAN};
        const uint64_t hash = hash_bytes(words, sizeof words, 2);
        const struct observation observation = {.since = world->now - world->scenario->period,
                                                .until = world->now,
                                                .sm_active_milli = (uint16_t)(hash % 3 > 0 ? 0 : 300)};
        if (job->whole_since == TIME_NEVER || hash_bytes(&world->tick, sizeof world->tick, hash) % 8 == 0)
            continue;
        sched_job_observed(world->sched, job->job.id, &observation, world->now);
        told_outside(world, "what was measured of job", j);
    }
}

/* ---- Decisions ---- */

/* Split the piece into members, each with the lowest GPUs. */
static void split(struct honest_world *world, uint32_t j, const struct piece *piece,
                  void (*each)(struct honest_world *, uint32_t, const struct piece *, decision_id),
                  decision_id decision)
{
    const struct request *request = &job_group(&world->jobs[j].job, piece->group)->request;
    uint16_t left = piece->gpu_mask;
    struct piece member = *piece;
    member.member_count = 1;
    if (request->gpus > 0 && __builtin_popcount(left) != request->gpus * piece->member_count)
        breaks(world, j, "members did not get the GPUs they asked");
    if (request->gpu_milli > 0 && (__builtin_popcount(left) != 1 || piece->gpu_milli != request->gpu_milli))
        breaks(world, j, "a member did not get the share it asked");
    for (uint16_t m = 0; m < piece->member_count; m++) {
        for (uint16_t g = member.gpu_mask = 0; g < request->gpus; g++, left &= (uint16_t)(left - 1))
            member.gpu_mask |= (uint16_t)(left & -left);
        if (request->gpus == 0)
            member.gpu_mask = piece->gpu_mask;
        each(world, j, &member, decision);
    }
}

static void start_member(struct honest_world *world, uint32_t j, const struct piece *piece, decision_id decision)
{
    struct honest_job *job = &world->jobs[j];
    if (world->node_state[piece->node] != NODE_UP)
        breaks(world, j, "a member was started on a node that is not up");
    MEM_GROW(job->holds, job->hold_capacity, job->hold_count + 1u);
    job->holds[job->hold_count++] =
        (struct hold){*piece, HOLD_STARTING, decision, world->tick + world->scenario->delay_ticks};
}

static void reserve_member(struct honest_world *world, uint32_t j, const struct piece *piece, decision_id decision)
{
    struct honest_job *job = &world->jobs[j];
    (void)decision;
    if (world->node_state[piece->node] != NODE_UP)
        breaks(world, j, "space was reserved on a node that is not up");
    MEM_GROW(job->reserved, job->reserved_capacity, job->reserved_count + 1u);
    job->reserved[job->reserved_count++] = *piece;
}

static void evict_member(struct honest_world *world, uint32_t j, const struct piece *piece, decision_id decision)
{
    struct honest_job *job = &world->jobs[j];
    for (uint32_t i = 0; i < job->hold_count; i++) {
        struct hold *hold = &job->holds[i];
        if (hold->phase != HOLD_RUNNING || hold->piece.node != piece->node || hold->piece.group != piece->group ||
            hold->piece.gpu_mask != piece->gpu_mask)
            continue;
        hold->phase = HOLD_LEAVING;
        hold->decision = decision;
        return;
    }
    breaks(world, j, "a job was to lose what it does not run");
}

static void take_start(struct honest_world *world, uint32_t j, const struct decision *decision)
{
    struct honest_job *job = &world->jobs[j];
    if (honest_job_held(job) == 0)
        job->decided = world->now;
    job->reserved_count = 0;
    for (uint32_t i = 0; i < decision->piece_count; i++)
        split(world, j, &decision->pieces[i], start_member, decision->id);
    uint32_t members[RANDOM_WORLD_GROUPS_MAX];
    honest_job_members(job, members);
    for (uint32_t g = 0; g < job->job.group_count; g++)
        if (members[g] > job_group(&job->job, g)->count)
            breaks(world, j, "more members were started than the job has");
}

static void take_evict(struct honest_world *world, uint32_t j, const struct decision *decision)
{
    struct honest_job *job = &world->jobs[j];
    job->is_hurt |= decision->is_partial && decision->reason == REASON_CONSOLIDATED; /* the rest waits for its return */
    uint64_t hash = hash_bytes((const uint64_t[]){world->scenario->seed, j, job->decisions}, 24, 1);
    uint32_t most = (uint32_t)((decision->grace + world->scenario->period - 1) / world->scenario->period);
    for (uint32_t i = 0; i < decision->piece_count; i++)
        split(world, j, &decision->pieces[i], evict_member, decision->id);
    for (uint32_t i = 0; i < job->hold_count; i++) /* it may need less than its grace */
        if (job->holds[i].decision == decision->id)
            job->holds[i].due_tick = world->tick + 1 + (most > 0 ? (uint32_t)(hash % most) : 0);
    world->evictions++;
    world->idled += decision->reason == REASON_IDLE;
    job->was_idle |= decision->reason == REASON_IDLE;
    job->evictions++;
    if (!job->job.is_preemptible && decision->reason != REASON_STALE_GANG)
        breaks(world, j, "a job was evicted that cannot be preempted");
}

static void check_space(struct honest_world *world, uint32_t job)
{
    struct honest_space space;
    honest_space_of(world, COUNT_HELD | COUNT_LEAVING, &space);
    if (honest_space_is_overdrawn(world, &space))
        breaks(world, job, "space was given that others hold");
    honest_space_of(world, COUNT_HELD | COUNT_RESERVED, &space);
    if (honest_space_is_overdrawn(world, &space))
        breaks(world, job, "space was given or promised that others have or were promised");
}

static void hash_decision(struct honest_world *world, const struct decision *decision)
{
    uint32_t preemptor = decision->for_job == JOB_NONE ? NOBODY : world->job_of[decision->for_job];
    const uint64_t words[] = {world->hash,
                              world->tick,
                              decision->kind,
                              world->job_of[decision->job],
                              preemptor,
                              decision->reason,
                              (uint64_t)decision->grace,
                              decision->is_partial,
                              decision->piece_count};
    world->hash = hash_bytes(words, sizeof words, 0);
    for (uint32_t i = 0; i < decision->piece_count; i++) {
        const struct piece *piece = &decision->pieces[i];
        const uint64_t place[] = {world->hash, piece->node, piece->gpu_mask, piece->member_count, piece->group};
        world->hash = hash_bytes(place, sizeof place, 0);
    }
}

static void take_decision(struct honest_world *world, const struct decision *all, size_t count, size_t at)
{
    const struct decision *decision = &all[at];
    uint32_t j = world->job_of[decision->job];
    struct honest_job *job = &world->jobs[j];
    hash_decision(world, decision);
    honest_world_log_decision(world, decision);
    job->decisions++;
    if (job->state != JOB_THERE)
        breaks(world, j, "a decision about a job that is not there");
    if (world->watch.on_decision != NULL)
        world->watch.on_decision(world, all, count, at);
    if (decision->kind == DECISION_START)
        take_start(world, j, decision);
    else if (decision->kind == DECISION_EVICT)
        take_evict(world, j, decision);
    else if (decision->kind == DECISION_RESERVE) {
        for (uint32_t i = 0; i < decision->piece_count; i++)
            split(world, j, &decision->pieces[i], reserve_member, decision->id);
        job->reserved_at = world->tick;
    } else if (decision->kind == DECISION_RELEASE)
        job->reserved_count = 0;
    else if (decision->kind == DECISION_REJECT)
        be_over(world, job);
    note(world, job);
    if (decision->kind == DECISION_START || decision->kind == DECISION_RESERVE)
        check_space(world, j);
}

/* ---- Sums ---- */

static void check_sums(struct honest_world *world)
{
    const char *broken = world->is_trusted ? NULL : sched_check(world->sched);
    if (broken != NULL)
        breaks(world, NOBODY, broken);
    for (uint32_t q = 0; q < world->scenario->queue_count; q++)
        for (int r = 0; r < RESOURCE_COUNT; r++) {
            const int64_t *sums = world->sched->ledger->sums[world->queue_ids[q]];
            if (sums[r] != honest_charge(world, q, (enum resource)r, false) ||
                sums[RESOURCE_COUNT + r] != honest_charge(world, q, (enum resource)r, true))
                honest_world_break(world, "sums", world->tick, NOBODY,
                                   "queue q%u is charged %lld of resource %d, its jobs hold %lld", q,
                                   (long long)sums[r], r, (long long)honest_charge(world, q, (enum resource)r, false));
        }
}

/* ---- A tick ---- */

static void run_cycle(struct honest_world *world)
{
    const struct decision *decisions;
    if (world->watch.before_cycle != NULL)
        world->watch.before_cycle(world);
    uint64_t before = sched_hash(world->sched);
    size_t count = sched_cycle(world->sched, world->now, &decisions, &world->wake_at);
    world->cycles++;
    world->is_told = false;
    if (count == 0) {
        world->idle_cycles++;
        if (sched_hash(world->sched) != before)
            honest_world_break(world, "undo", world->tick, NOBODY, "a cycle that decided nothing changed the ledger");
    }
    for (size_t i = 0; i < count && world->broken.rule == NULL; i++)
        take_decision(world, decisions, count, i);
    check_sums(world);
    if (world->scenario->delay_ticks == 0 && count > 0)
        tell_effects(world, HOLD_STARTING);
}

bool honest_world_tick(struct honest_world *world)
{
    if (world->tick == world->scenario->ticks || world->broken.rule != NULL)
        return false;
    world->tick++;
    world->now = (time_ns)world->tick * world->scenario->period;
    tell_faults(world);
    tell_ends(world);
    tell_effects(world, HOLD_LEAVING);
    tell_effects(world, HOLD_STARTING);
    tell_submissions(world);
    tell_measurements(world);
    bool is_due = world->is_told || world->wake_at <= world->now || world->scenario->is_each_tick;
    if (is_due)
        run_cycle(world);
    if (world->watch.on_tick != NULL)
        world->watch.on_tick(world, is_due);
    return world->broken.rule == NULL;
}

/* ---- Opening ---- */

static void shuffle(struct random_stream *stream, uint32_t ids[], uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        ids[i] = i;
    for (uint32_t i = count; i > 1 && stream != NULL; i--) {
        uint32_t other = random_below(stream, i), id = ids[i - 1];
        ids[i - 1] = ids[other];
        ids[other] = id;
    }
}

/* A random order with parents first. */
static void shuffle_queues(struct random_stream *stream, struct honest_world *world)
{
    const struct random_world *scenario = world->scenario;
    bool has_id[RANDOM_WORLD_QUEUES_MAX] = {false};
    for (queue_id id = 1; id <= scenario->queue_count; id++) {
        uint32_t q = stream != NULL ? random_below(stream, scenario->queue_count) : id - 1;
        uint32_t parent = scenario->queues[q].parent;
        while (has_id[q] || (parent != QUEUE_NONE && !has_id[parent])) {
            q = (q + 1) % scenario->queue_count;
            parent = scenario->queues[q].parent;
        }
        has_id[q] = true;
        world->queue_ids[q] = id;
    }
}

/* The job asks for the pieces that the sharing policy makes of what it asked: the books are of those.  The scheduler
 * makes the same of them once more. */
static void ask_for_pieces(struct honest_world *world, struct honest_job *job)
{
    const struct policy_config *policy = &world->scenario->policy;
    const struct sharing sharing = {policy->sharing, &policy->sharing_config, world->cluster, world->queues,
                                    policy->geometry->score != NULL};
    struct job_group groups[RANDOM_WORLD_GROUPS_MAX];
    sharing_map(&sharing, &job->job, groups);
    for (uint32_t g = 0; g < job->job.group_count; g++) {
        job->share_kind[g] = groups[g].request.share;
        job->share_domain[g] = groups[g].request.domain;
        groups[g].request.share = SHARE_PLAIN;
        groups[g].request.domain = 0;
    }
    job->job.first = groups[0];
    for (uint32_t g = 1; g < job->job.group_count; g++)
        job->more[g - 1] = groups[g];
    job->job.more = job->job.group_count > 1 ? job->more : NULL;
}

static void open_jobs(struct honest_world *world)
{
    world->jobs = mem_zalloc(RANDOM_WORLD_JOBS_MAX, sizeof *world->jobs);
    for (uint32_t j = 0; j < world->scenario->job_count; j++) {
        struct honest_job *job = &world->jobs[j];
        job->plan = &world->scenario->jobs[j];
        job->job = job->plan->job;
        job->job.id = world->job_ids[j];
        job->job.queue = world->queue_ids[job->plan->job.queue];
        job->job.more = job->job.group_count > 1 ? job->plan->more : NULL;
        job->job.sets = job->job.set_count > 0 ? job->plan->sets : NULL;
        job->whole_since = job->below_since = TIME_NEVER;
        ask_for_pieces(world, job);
        world->job_of[job->job.id] = j;
        assert_null(job_complaint(&job->job));
    }
}

void honest_world_open(struct honest_world *world, const struct random_world *scenario,
                       struct random_stream *permutation)
{
    struct error error = ERROR_OK;
    *world = (struct honest_world){.scenario = scenario, .wake_at = TIME_NEVER};
    shuffle(permutation, world->job_ids, scenario->job_count);
    shuffle_queues(permutation, world);
    world->cluster = random_world_cluster_new(scenario);
    world->queues = random_world_queues_new(scenario, world->queue_ids);
    world->sched = sched_new(world->cluster, world->queues, &scenario->policy, &error);
    assert_non_null(world->sched);
    open_jobs(world);
}

void honest_world_close(struct honest_world *world)
{
    for (uint32_t j = 0; j < world->scenario->job_count; j++) {
        mem_free(world->jobs[j].holds);
        mem_free(world->jobs[j].reserved);
    }
    mem_free(world->jobs);
    sched_free(world->sched);
    queue_table_free(world->queues);
    cluster_free(world->cluster);
}
