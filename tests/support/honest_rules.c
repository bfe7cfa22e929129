#include "tests/support/honest_rules.h"

#include <string.h>

#include "policies/quota/quotas.h"

/* ---- gang ---- */

static void on_change(struct honest_world *world, uint32_t j)
{
    const struct honest_rules *rules = world->watch.self;
    const struct honest_job *job = &world->jobs[j];
    if (rules->guarantees & GUARANTEE_GANG && job->below_since != TIME_NEVER && !job->is_hurt)
        honest_world_break(world, "gang", world->tick, j,
                           "it holds %u members, less than its minimum, the world took none and none moves",
                           honest_job_held(job));
}

static bool is_calm(const struct honest_job *job)
{
    for (uint32_t i = 0; i < job->hold_count; i++)
        if (job->holds[i].phase != HOLD_RUNNING)
            return false;
    return job->reserved_count == 0;
}

static void check_stale(struct honest_world *world, struct honest_rules *rules, uint32_t j)
{
    const struct honest_job *job = &world->jobs[j];
    time_ns patience = world->scenario->policy.stale_after;
    rules->calm_ticks[j] = job->below_since != TIME_NEVER && is_calm(job) ? rules->calm_ticks[j] + 1 : 0;
    if (patience != TIME_NEVER && rules->calm_ticks[j] > 2 &&
        world->now - job->below_since > patience + 2 * world->scenario->period)
        honest_world_break(world, "gang", world->tick, j, "it has been below its minimum for %lld s",
                           (long long)((world->now - job->below_since) / TIME_NS_PER_S));
}

/* ---- no_loop ---- */

static void check_loop(struct honest_world *world, struct honest_rules *rules, uint32_t victim, uint32_t preemptor)
{
    const struct eviction_note *other = &rules->evicted[preemptor][victim];
    if (other->cycle != 0 && other->outside == world->outside && world->cycles - other->cycle <= NO_LOOP_CYCLES)
        honest_world_break(world, "no_loop", other->tick, victim,
                           "evicted for job %u, which was evicted for it %llu cycles before", preemptor,
                           (unsigned long long)(world->cycles - other->cycle));
    rules->evicted[victim][preemptor] = (struct eviction_note){world->cycles, world->outside, world->tick};
}

static void check_endless(struct honest_world *world, struct honest_rules *rules, uint32_t victim)
{
    const struct job *job = &world->jobs[victim].job;
    uint32_t most = 4;
    for (uint32_t g = 0; g < job->group_count; g++)
        most += job_group(job, g)->count;
    if (++rules->evictions[victim] > most)
        honest_world_break(world, "no_loop", world->quiet_tick, victim, "evicted %u times since anything was told",
                           rules->evictions[victim]);
}

/* ---- minimal ---- */

static void members_of(const struct decision *decision, uint32_t members[RANDOM_WORLD_GROUPS_MAX])
{
    memset(members, 0, RANDOM_WORLD_GROUPS_MAX * sizeof members[0]);
    for (uint32_t i = 0; i < decision->piece_count; i++)
        members[decision->pieces[i].group] += decision->pieces[i].member_count;
}

/* The only group of which the preemptor asks for members; NOBODY: there are several. */
static uint32_t only_group(const struct job *job, const uint32_t members[])
{
    uint32_t only = NOBODY;
    for (uint32_t g = 0; g < job->group_count; g++)
        if (members[g] > 0) {
            if (only != NOBODY)
                return NOBODY;
            only = g;
        }
    return only;
}

/* Would its set be below its minimum without the other members that left by the decision?  Then the set is kept as a
 * whole. */
static bool comes_with_set(const struct honest_job *job, const struct hold *hold)
{
    uint32_t members[RANDOM_WORLD_GROUPS_MAX];
    honest_job_members(job, members);
    const uint32_t g = hold->piece.group;
    return job->job.min_sets > 0 && job->job.min_sets < job->job.set_count &&
           members[g] + (hold->phase == HOLD_LEAVING) < job->job.sets[g].min_members;
}

/* The members that leave together with one: none, those of its set, those of its group on its node.  A job that cannot
 * grow holds the latter as one piece. */
enum company { ALONE, WITH_SET, WITH_NODE };

static bool is_along(const struct hold *hold, const struct hold *only, enum company company)
{
    return company != ALONE && hold->piece.group == only->piece.group &&
           (company == WITH_SET || hold->piece.node == only->piece.node);
}

/* Count members of the decision in the queue's charge again, or no longer: one and those that leave with it, or all. */
static void mark_kept(struct honest_job *job, decision_id decision, const struct hold *only, enum company company,
                      bool is_kept)
{
    for (uint32_t i = 0; i < job->hold_count; i++) {
        struct hold *hold = &job->holds[i];
        if (hold->decision == decision && (only == NULL || hold == only || is_along(hold, only, company)))
            hold->phase = is_kept ? HOLD_RUNNING : HOLD_LEAVING;
    }
}

struct honest_plan { /* the plan for one preemptor */
    uint32_t preemptor, group, members[RANDOM_WORLD_GROUPS_MAX];
    const struct decision *reserve; /* after its evictions */
    const struct decision *end;     /* end of the cycle's decisions */
    int evict_count;
};

/* May its victims be moved elsewhere, several jobs or several members of one that keeps others?  Decisions do not tell
 * which of them are. */
static bool may_move(const struct honest_world *world, const struct honest_plan *plan)
{
    const struct decision *last = &plan->reserve[-1];
    return (plan->evict_count > 1 || (last->is_partial && last->piece_count > 1)) &&
           (world->scenario->policy.preempt.replaces_victims || plan->reserve[-1].reason == REASON_CONSOLIDATED);
}

/* Does everything that leaves for the preemptor fit elsewhere, with the preemptor on its reserved space?  Members are
 * placed one by one, so some possible placements are missed. */
static bool all_move(const struct honest_world *world, const struct honest_plan *plan, struct honest_space *space)
{
    const struct request *request = &job_group(&world->jobs[plan->preemptor].job, plan->group)->request;
    for (uint32_t p = 0; p < plan->reserve->piece_count; p++) {
        const struct piece *piece = &plan->reserve->pieces[p];
        honest_space_change(world, space, plan->preemptor, piece, -1);
        space->cpu[piece->node] -= (piece->member_count - 1) * (int64_t)request->cpu_milli;
        space->memory[piece->node] -= (piece->member_count - 1) * (int64_t)request->memory_mib;
    }
    bool fits = !honest_space_is_overdrawn(world, space);
    for (int e = 1; e <= plan->evict_count; e++) {
        const struct honest_job *victim = &world->jobs[world->job_of[plan->reserve[-e].job]];
        for (uint32_t i = 0; i < victim->hold_count && fits; i++)
            if (victim->holds[i].phase == HOLD_LEAVING && victim->holds[i].decision == plan->reserve[-e].id)
                fits = honest_space_take(world, space, &job_group(&victim->job, victim->holds[i].piece.group)->request);
    }
    return fits;
}

static bool is_own(const struct honest_world *world, const struct honest_plan *plan, const struct honest_job *victim)
{
    return victim->plan->job.queue == world->jobs[plan->preemptor].plan->job.queue;
}

/* Does a queue other than the preemptor's hold more GPUs than its quota? */
static bool is_any_borrowing(const struct honest_world *world, const struct honest_plan *plan)
{
    bool is_any = false;
    for (uint32_t q = 0; q < world->scenario->queue_count && !is_any; q++) {
        const int64_t quota = world->scenario->queues[q].spec.deserved[RESOURCE_GPU];
        is_any = q != world->jobs[plan->preemptor].plan->job.queue && quota != QUOTA_UNLIMITED &&
                 honest_charge(world, q, RESOURCE_GPU, false) > quota;
        for (uint32_t c = 0; c < world->scenario->queue_count && is_any; c++)
            is_any = world->scenario->queues[c].parent != q;
    }
    return is_any;
}

/* Does the plan, in a cohort without fair sharing, also take from other queues, or could it?  Then the victims of its
 * own queue may be needed to stay within the quota, even if those of other queues were not needed in the end. */
static bool takes_back(const struct honest_world *world, const struct honest_plan *plan)
{
    const struct policy_config *policy = &world->scenario->policy;
    bool takes = policy->quota == &quota_cohort && policy->quota_config.reclaim_within_cohort != RECLAIM_NEVER &&
                 is_any_borrowing(world, plan);
    for (int e = 1; e <= plan->evict_count; e++)
        takes |= !is_own(world, plan, &world->jobs[world->job_of[plan->reserve[-e].job]]);
    return takes && policy->quota == &quota_cohort && !policy->quota_config.fair_sharing;
}

/* Is the preemptor's queue within its quota with the preemptor? */
static bool stays_within(const struct honest_world *world, const struct honest_plan *plan)
{
    const struct honest_job *job = &world->jobs[plan->preemptor];
    const uint32_t q = job->plan->job.queue;
    const struct queue_spec *spec = &world->scenario->queues[q].spec;
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        int64_t ask = 0;
        for (uint32_t g = 0; g < job->job.group_count; g++)
            ask += plan->members[g] * honest_member_ask(world, &job_group(&job->job, g)->request, (enum resource)r);
        if (ask > 0 && spec->deserved[r] != QUOTA_UNLIMITED &&
            honest_charge(world, q, (enum resource)r, false) + ask > spec->deserved[r])
            return false;
    }
    return true;
}

/* Take from the free space what later plans of the cycle claim, as far as it is free now.  It belonged to a START when
 * this plan was made; later plans recalled that START, so it was never told. */
static void take_recalled(const struct honest_world *world, const struct honest_plan *plan, struct honest_space *space)
{
    for (const struct decision *later = plan->reserve + 1; later < plan->end; later++)
        for (uint32_t p = 0; p < later->piece_count && later->kind == DECISION_RESERVE; p++) {
            struct honest_space without = *space;
            honest_space_change(world, &without, world->job_of[later->job], &later->pieces[p], -1);
            if (!honest_space_is_overdrawn(world, &without))
                *space = without;
        }
}

static bool fits_without(struct honest_world *world, const struct honest_plan *plan, struct honest_job *victim,
                         const struct decision *evict, const struct hold *only)
{
    struct honest_space space;
    enum company company = only != NULL && comes_with_set(victim, only) ? WITH_SET : ALONE;
    if (evict->is_partial && evict->reason == REASON_CONSOLIDATED && company == ALONE)
        company = WITH_NODE;
    mark_kept(victim, evict->id, only, company, true);
    honest_space_of(world, COUNT_HELD | COUNT_RESERVED, &space);
    take_recalled(world, plan, &space);
    const struct request *request = &job_group(&world->jobs[plan->preemptor].job, plan->group)->request;
    bool fits = honest_space_members(world, &space, request) >= plan->members[plan->group] &&
                honest_quota_allows(world, plan->preemptor, plan->members) &&
                (!is_own(world, plan, victim) || !takes_back(world, plan) || stays_within(world, plan)) &&
                (!may_move(world, plan) || all_move(world, plan, &space));
    mark_kept(victim, evict->id, only, company, false);
    return fits;
}

static void check_spared(struct honest_world *world, const struct honest_plan *plan, const struct decision *evict)
{
    uint32_t v = world->job_of[evict->job];
    struct honest_job *victim = &world->jobs[v];
    bool can_spare = false;
    if (!evict->is_partial)
        can_spare = fits_without(world, plan, victim, evict, NULL);
    for (uint32_t i = 0; i < victim->hold_count && evict->is_partial; i++)
        if (victim->holds[i].decision == evict->id)
            can_spare |= fits_without(world, plan, victim, evict, &victim->holds[i]);
    if (can_spare)
        honest_world_break(world, "minimal", world->tick, v, "evicted for job %u, which fits without that",
                           plan->preemptor);
}

/* Did a plan before this one, in this cycle, move jobs?  Until the cycle ends other jobs keep off the places that were
 * found for these, and no decision tells those places unless they are held for longer (holds_places). */
static bool is_space_hidden(const struct honest_world *world, const struct decision *all, size_t at)
{
    bool is_hidden = false;
    for (size_t i = 0; i < at && !world->scenario->policy.defrag_config.holds_places; i++)
        is_hidden |=
            all[i].kind == DECISION_EVICT && all[i].reason == REASON_CONSOLIDATED && all[i].for_job != all[at].job;
    return is_hidden;
}

static void check_minimal(struct honest_world *world, struct honest_rules *rules, const struct decision *all,
                          size_t count, size_t at)
{
    struct honest_plan plan = {.preemptor = world->job_of[all[at].job], .reserve = &all[at], .end = all + count};
    if (is_space_hidden(world, all, at))
        return;
    members_of(&all[at], plan.members);
    plan.group = only_group(&world->jobs[plan.preemptor].job, plan.members);
    for (size_t i = at;
         i-- > 0 && plan.group != NOBODY && all[i].kind == DECISION_EVICT && all[i].for_job == all[at].job;)
        plan.evict_count++;
    for (int e = 1; e <= plan.evict_count; e++) {
        rules->plans_checked++;
        check_spared(world, &plan, plan.reserve - e);
    }
}

/* ---- follow ---- */

static void check_release(struct honest_world *world, const struct honest_rules *rules, uint32_t j)
{
    const struct honest_job *job = &world->jobs[j];
    time_ns waited = (time_ns)(world->tick - job->reserved_at) * world->scenario->period;
    if (job->reserved_count > 0 && rules->breakages[j] == world->breakages &&
        waited < world->scenario->policy.reservation_expiry)
        honest_world_break(world, "follow", job->reserved_at, j, "its reservation was given up for nothing");
    world->wasted++;
}

static bool is_anybody_leaving(const struct honest_world *world, node_id node)
{
    for (uint32_t j = 0; j < world->scenario->job_count; j++)
        for (uint32_t i = 0; i < world->jobs[j].hold_count; i++)
            if (world->jobs[j].holds[i].phase == HOLD_LEAVING && world->jobs[j].holds[i].piece.node == node)
                return true;
    return false;
}

/* Is it being moved, and still at its old place? */
static bool is_on_its_way(const struct honest_job *job)
{
    return job->hold_count > 0 && honest_job_held(job) == 0;
}

/* When everything that it waited for has left, it must be started in the cycle of this tick. */
static void check_reserved(struct honest_world *world, uint32_t j)
{
    const struct honest_job *job = &world->jobs[j];
    bool is_there = job->reserved_count > 0 && job->reserved_at < world->tick && !is_on_its_way(job);
    for (uint32_t i = 0; i < job->reserved_count && is_there; i++)
        is_there = !is_anybody_leaving(world, job->reserved[i].node);
    if (is_there)
        honest_world_break(world, "follow", job->reserved_at, j, "its space is there and it does not start");
}

/* ---- reclaim ---- */

/* The queue, from this one upward, that is directly below a queue common with `other`. */
static uint32_t side_of(const struct honest_world *world, uint32_t queue, uint32_t other)
{
    while (world->scenario->queues[queue].parent != QUEUE_NONE &&
           !honest_is_below(world, other, world->scenario->queues[queue].parent))
        queue = world->scenario->queues[queue].parent;
    return queue;
}

static bool is_entitled(const struct honest_world *world, uint32_t j)
{
    const struct honest_job *job = &world->jobs[j];
    for (uint32_t q = job->plan->job.queue; q != QUEUE_NONE; q = world->scenario->queues[q].parent) {
        const struct random_queue *queue = &world->scenario->queues[q];
        bool is_bound = queue->spec.deserved[RESOURCE_GPU] > 0 ||
                        queue->is_leaf; /* for an inner queue 0 means the sum of the queues below */
        if (is_bound && honest_charge(world, q, RESOURCE_GPU, false) + job->job.first.request.gpus * GPU_MILLI >
                            queue->spec.deserved[RESOURCE_GPU])
            return false;
    }
    return true;
}

/* Borrowed GPUs on the node that the preemptor may take, from one-GPU jobs past their minimum run time. */
static uint32_t borrowed_on(const struct honest_world *world, uint32_t preemptor, node_id node)
{
    uint32_t count = 0, own = world->jobs[preemptor].plan->job.queue;
    int64_t taken[RANDOM_WORLD_QUEUES_MAX] = {0};
    for (uint32_t j = 0; j < world->scenario->job_count; j++) {
        const struct honest_job *job = &world->jobs[j];
        uint32_t queue = job->plan->job.queue;
        if (job->hold_count != 1 || job->holds[0].phase != HOLD_RUNNING || job->holds[0].piece.node != node ||
            queue == own || world->now - job->decided < world->scenario->policy.preempt.reclaim_min_runtime ||
            job->job.first.request.gpus != 1)
            continue;
        uint32_t side = side_of(world, queue, own);
        bool is_lent = true;
        for (uint32_t q = queue;; q = world->scenario->queues[q].parent) { /* up to and including the side */
            int64_t deserved = world->scenario->queues[q].spec.deserved[RESOURCE_GPU];
            is_lent &= honest_charge(world, q, RESOURCE_GPU, false) - taken[q] > deserved;
            if (q == side)
                break;
        }
        if (!is_lent)
            continue;
        for (uint32_t q = queue; q != QUEUE_NONE; q = world->scenario->queues[q].parent)
            taken[q] += GPU_MILLI;
        count++;
    }
    return count;
}

static bool is_due(const struct honest_world *world, uint32_t j)
{
    struct honest_space space;
    const struct honest_job *job = &world->jobs[j];
    if (!honest_job_waits(job) || job->was_idle || !is_entitled(world, j))
        return false;
    honest_space_of(world, COUNT_HELD | COUNT_LEAVING | COUNT_RESERVED, &space);
    for (node_id n = 0; n < world->cluster->node_count; n++) {
        uint32_t room = borrowed_on(world, j, n);
        for (uint32_t g = 0; g < NODE_GPUS_MAX; g++)
            room += space.gpu[n][g] == GPU_MILLI;
        if (room >= job->job.first.request.gpus)
            return true;
    }
    return false;
}

static void check_due(struct honest_world *world, struct honest_rules *rules, uint32_t j)
{
    uint32_t waiting = 0;
    for (uint32_t other = 0; other < world->scenario->job_count; other++)
        waiting += honest_job_waits(&world->jobs[other]);
    rules->wait_ticks[j] = honest_job_waits(&world->jobs[j]) ? rules->wait_ticks[j] + 1 : 0;
    bool is_patient = rules->wait_ticks[j] * world->scenario->period <=
                      world->scenario->policy.preempt.delay; /* its delay is not over */
    rules->due_ticks[j] = !is_patient && is_due(world, j) ? rules->due_ticks[j] + 1 : 0;
    if (rules->due_ticks[j] > waiting + 2)
        honest_world_break(world, "reclaim", world->tick - rules->due_ticks[j] + 1, j,
                           "what its queue deserves and others borrow has not come for %u cycles", rules->due_ticks[j]);
}

/* ---- All together ---- */

static void on_decision(struct honest_world *world, const struct decision *all, size_t count, size_t at)
{
    struct honest_rules *rules = world->watch.self;
    const struct decision *decision = &all[at];
    uint32_t j = world->job_of[decision->job];
    if (decision->kind == DECISION_EVICT && rules->guarantees & GUARANTEE_NO_LOOP) {
        check_endless(world, rules, j);
        /* A job that was consolidated was moved, not preempted, even if another job takes its new place first.
         * check_endless bounds how often that happens. */
        if (decision->for_job != JOB_NONE && decision->reason != REASON_CONSOLIDATED)
            check_loop(world, rules, j, world->job_of[decision->for_job]);
    }
    if (decision->kind == DECISION_RESERVE) {
        rules->breakages[j] = world->breakages;
        if (rules->guarantees & GUARANTEE_MINIMAL && honest_knows_quota(world))
            check_minimal(world, rules, all, count, at);
    }
    if (decision->kind == DECISION_RELEASE)
        check_release(world, rules, j);
}

static bool watches_reclaim(const struct honest_world *world)
{
    const struct honest_rules *rules = world->watch.self;
    return rules->guarantees & GUARANTEE_RECLAIM && world->scenario->kind == RANDOM_WORLD_RECLAIM;
}

static void before_cycle(struct honest_world *world)
{
    struct honest_rules *rules = world->watch.self;
    for (uint32_t j = 0; j < world->scenario->job_count && watches_reclaim(world); j++)
        rules->premises += is_due(world, j);
}

static void on_fact(struct honest_world *world)
{
    struct honest_rules *rules = world->watch.self;
    memset(rules->evictions, 0, sizeof rules->evictions);
}

static void on_tick(struct honest_world *world, bool had_cycle)
{
    struct honest_rules *rules = world->watch.self;
    for (uint32_t j = 0; j < world->scenario->job_count; j++) {
        if (world->jobs[j].state != JOB_THERE)
            continue;
        if (rules->guarantees & GUARANTEE_GANG)
            check_stale(world, rules, j);
        if (watches_reclaim(world))
            check_due(world, rules, j);
        if (had_cycle)
            check_reserved(world, j);
    }
}

void honest_rules_watch(struct honest_rules *rules, struct honest_world *world)
{
    *rules = (struct honest_rules){.guarantees = world->scenario->policy.guarantees};
    world->watch = (struct honest_watch){.self = rules,
                                         .on_decision = on_decision,
                                         .on_fact = on_fact,
                                         .on_change = on_change,
                                         .before_cycle = before_cycle,
                                         .on_tick = on_tick};
}
