/* The facts: what the world tells, written into the ledger, the tree and the lanes. */
#include <assert.h>

#include "policies/sched_state.h"

struct sched *sched_new(const struct cluster *cluster, const struct queue_table *queues,
                        const struct policy_config *policy, struct error *error)
{
    *error = ERROR_OK;
    if (policy->order_count == 0 || policy->quota == NULL || policy->placement == NULL ||
        policy->preemption == NULL) {
        *error = error_new(ERROR_CONFIG, "policy '%s' leaves a seam empty", policy->name);
        return NULL;
    }
    struct sched *sched = mem_zalloc(1, sizeof *sched);
    sched->cluster = cluster;
    sched->policy = *policy;
    sched->ledger = ledger_new(cluster);
    sched->tree = (struct queue_tree){.ledger = sched->ledger, .quota = policy->quota};
    shape_table_init(&sched->shapes);
    sched->pending = (struct pending){.jobs = &sched->jobs,
                                      .shapes = &sched->shapes,
                                      .rank_count = policy->order_count,
                                      .is_strict = policy->is_strict};
    sched->eviction.first_on_node = mem_zalloc(cluster->node_count, sizeof(uint32_t));
    sched->eviction.cost_on_node = mem_zalloc(cluster->node_count, sizeof(int64_t));
    sched_queues_changed(sched, queues, 0);
    queue_tree_set_capacity(&sched->tree, (int64_t)cluster->gpu_count * GPU_MILLI);
    return sched;
}

void sched_free(struct sched *sched)
{
    if (sched == NULL)
        return;
    job_table_release(&sched->jobs);
    pending_release(&sched->pending);
    shape_table_release(&sched->shapes);
    queue_tree_release(&sched->tree);
    ledger_free(sched->ledger);
    ledger_free(sched->empty);
    for (size_t q = 0; q < sched->running_capacity; q++)
        mem_free(sched->running[q].slots);
    mem_free(sched->running);
    mem_free(sched->claims);
    mem_free(sched->rejects);
    mem_free(sched->releases);
    mem_free(sched->decisions);
    mem_free(sched->pieces.pieces);
    mem_free(sched->eviction.victims);
    mem_free(sched->eviction.first_on_node);
    mem_free(sched->eviction.links);
    mem_free(sched->eviction.cost_on_node);
    mem_free(sched->eviction.lanes);
    mem_free(sched);
}

struct decision *sched_decide(struct sched *sched, enum decision_kind kind, uint32_t slot)
{
    if (sched->decision_count == sched->decision_capacity)
        MEM_GROW(sched->decisions, sched->decision_capacity, sched->decision_count + 1);
    struct sched_job *job = &sched->jobs.jobs[slot];
    struct decision *decision = &sched->decisions[sched->decision_count++];
    *decision = (struct decision){.id = ++sched->decision_sequence << 32 | job->id,
                                  .kind = kind,
                                  .job = job->id,
                                  .for_job = JOB_NONE};
    if (kind == DECISION_START || kind == DECISION_EVICT) {
        job->decision = decision->id;
        job->decided_cycle = sched->cycle;
    }
    sched->changes++;
    return decision;
}

void sched_move_pieces(struct sched *sched, uint32_t slot, ledger_move_fn *move)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct shape *shape = &sched->shapes.shapes[job->shape];
    for (uint32_t i = 0; i < job->piece_count; i++) {
        struct space space = placement_space(shape, &job->pieces[i], slot);
        move(sched->ledger, &space);
    }
}

/* Less is charged below a queue that had closed lanes: they may try again. */
static void reopen_lanes(struct sched *sched, queue_id queue)
{
    for (queue_id q = queue; q != QUEUE_NONE; q = sched->tree.queues[q].parent) {
        if (!sched->tree.queues[q].has_closed_lanes)
            continue;
        sched->tree.queues[q].has_closed_lanes = false;
        for (uint32_t l = 0; l < sched->pending.lane_count; l++)
            if (sched->pending.lanes[l].quota_block == q) {
                sched->pending.lanes[l].quota_block = QUEUE_NONE;
                queue_tree_touch(&sched->tree, sched->pending.lanes[l].line);
            }
    }
}

void sched_charge(struct sched *sched, uint32_t slot, int sign)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct shape *shape = &sched->shapes.shapes[job->shape];
    int64_t amounts[QUEUE_SUM_COUNT];
    for (uint32_t r = 0; r < QUEUE_SUM_COUNT; r++)
        amounts[r] = sign * shape->charge[r];
    ledger_charge(sched->ledger, job->queue, amounts);
    if (sched->ledger->mark_depth > 0)
        return; /* a trial: nobody may act on it */
    queue_tree_touch(&sched->tree, job->queue);
    if (sign < 0)
        reopen_lanes(sched, job->queue);
}

void sched_list_running(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    if (sched->shapes.shapes[job->shape].is_preemptible)
        slot_list_add(&sched->running[job->queue], &sched->jobs, slot);
}

void sched_unlist_running(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    if (sched->shapes.shapes[job->shape].is_preemptible)
        slot_list_remove(&sched->running[job->queue], &sched->jobs, slot);
}

void sched_wait(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    queue_id line = sched->policy.quota->is_flat ? QUEUE_ROOT : job->queue;
    job->lane = pending_lane(&sched->pending, line, job->shape);
    job->state = SJOB_PENDING;
    pending_add(&sched->pending, job->lane, slot);
    contest_waiting(&sched->tree, line, 1);
}

void sched_unwait(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    queue_id line = sched->pending.lanes[job->lane].line;
    if (pending_head(&sched->pending, job->lane) == slot)
        pending_remove_head(&sched->pending, job->lane);
    else
        pending_remove(&sched->pending, job->lane, slot);
    contest_waiting(&sched->tree, line, -1);
}

void sched_block_shape(struct sched *sched, uint32_t id, bool is_blocked)
{
    struct shape *shape = &sched->shapes.shapes[id];
    if (shape->is_blocked == is_blocked)
        return;
    shape->is_blocked = is_blocked;
    if (is_blocked)
        sched->shapes.blocked_count++;
    else
        sched->shapes.blocked_count--;
    for (uint32_t i = 0; i < shape->lane_count; i++)
        if (sched->pending.lanes[shape->lanes[i]].count > 0)
            queue_tree_touch(&sched->tree, sched->pending.lanes[shape->lanes[i]].line);
}

static void push_id(job_id **list, size_t *capacity, uint32_t *count, job_id id)
{
    MEM_GROW(*list, *capacity, (size_t)*count + 1);
    (*list)[(*count)++] = id;
}

/* Groups that fit one by one may still leave each other no room: try the empty cluster, once per kind. */
static void prove_shape(struct sched *sched, struct shape *shape)
{
    if (sched->empty == NULL)
        sched->empty = ledger_new(sched->cluster);
    size_t mark = ledger_mark(sched->empty);
    shape->never_fits |=
        !placement_place(sched->policy.placement, sched->empty, shape, 0, &sched->pieces);
    ledger_rollback(sched->empty, mark);
    shape->is_proven = true;
}

void sched_job_submitted(struct sched *sched, const struct job *job, time_ns now)
{
    (void)now;
    sched->changes++;
    uint32_t shape = shape_of(&sched->shapes, sched->cluster, job);
    if (job->group_count > 1 && !sched->shapes.shapes[shape].is_proven)
        prove_shape(sched, &sched->shapes.shapes[shape]);
    if (sched->shapes.shapes[shape].never_fits) {
        push_id(&sched->rejects, &sched->reject_capacity, &sched->reject_count, job->id);
        return;
    }
    assert(job->queue < sched->tree.count);
    uint32_t slot = job_table_add(&sched->jobs, job->id);
    struct sched_job *own = &sched->jobs.jobs[slot];
    own->shape = shape;
    own->queue = job->queue;
    own->priority = job->priority;
    for (uint32_t r = 0; r < sched->policy.order_count; r++)
        own->rank[r] = sched->policy.order[r]->rank(job);
    queue_tree_demand(&sched->tree, job->queue, sched->shapes.shapes[shape].charge[QUEUE_SUM_GPU]);
    if (job->is_held)
        own->state = SJOB_HELD;
    else
        sched_wait(sched, slot);
    sched->held_count += job->is_held;
}

void sched_job_released(struct sched *sched, job_id id, time_ns now)
{
    (void)now;
    uint32_t slot = job_table_find(&sched->jobs, id);
    if (slot == SLOT_NONE || sched->jobs.jobs[slot].state != SJOB_HELD)
        return;
    sched->changes++;
    sched->held_count--;
    sched_wait(sched, slot);
}

static void remove_claim(struct sched *sched, uint32_t slot)
{
    uint32_t at = 0;
    while (sched->claims[at] != slot)
        at++;
    for (sched->claim_count--; at < sched->claim_count; at++)
        sched->claims[at] = sched->claims[at + 1];
    sched->claimed_piece_milli -= sched_held_milli(&sched->jobs.jobs[slot]);
}

void sched_drop_claim(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    remove_claim(sched, slot);
    sched_move_pieces(sched, slot, ledger_unclaim);
    sched_job_clear_pieces(job);
    sched_charge(sched, slot, -1);
    push_id(&sched->releases, &sched->release_capacity, &sched->release_count, job->id);
    sched_wait(sched, slot);
}

/* The job holds nothing any more; its space is free. */
static void free_space(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    if (job->state == SJOB_STARTING || job->state == SJOB_RUNNING)
        sched_unlist_running(sched, slot);
    if (job->state == SJOB_EVICTING) {
        sched_move_pieces(sched, slot, ledger_arrive); /* uncharged when it was decided */
    } else {
        sched_move_pieces(sched, slot, ledger_give);
        sched_charge(sched, slot, -1);
        sched->booked_running--;
    }
    sched_job_clear_pieces(job);
    job->decision = 0;
}

static void forget(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    queue_tree_demand(&sched->tree, job->queue, -sched_shape(sched, job)->charge[QUEUE_SUM_GPU]);
    queue_tree_touch(&sched->tree, job->queue);
    job_table_drop(&sched->jobs, slot);
}

void sched_job_cancelled(struct sched *sched, job_id id, time_ns now)
{
    (void)now;
    uint32_t slot = job_table_find(&sched->jobs, id);
    if (slot == SLOT_NONE)
        return;
    sched->changes++;
    if (sched->jobs.jobs[slot].state == SJOB_CLAIMING)
        sched_drop_claim(sched, slot);
    if (sched->jobs.jobs[slot].state == SJOB_PENDING)
        sched_unwait(sched, slot);
    else if (sched->jobs.jobs[slot].state == SJOB_HELD)
        sched->held_count--;
    else
        return; /* it runs: its end is told by sched_job_ended */
    forget(sched, slot);
}

void sched_job_started(struct sched *sched, job_id id, time_ns now)
{
    (void)now;
    uint32_t slot = job_table_find(&sched->jobs, id);
    if (slot == SLOT_NONE || sched->jobs.jobs[slot].state != SJOB_STARTING)
        return;
    sched->changes++;
    sched->starts++;
    sched->jobs.jobs[slot].state = SJOB_RUNNING;
    sched->jobs.jobs[slot].decision = 0;
}

static bool holds_space(const struct sched_job *job)
{
    return job->state == SJOB_STARTING || job->state == SJOB_RUNNING || job->state == SJOB_EVICTING;
}

void sched_job_evicted(struct sched *sched, job_id id, enum evict_end end, time_ns now)
{
    (void)end; /* where it resumes is the world's business */
    (void)now;
    uint32_t slot = job_table_find(&sched->jobs, id);
    if (slot == SLOT_NONE || !holds_space(&sched->jobs.jobs[slot]))
        return;
    sched->changes++;
    free_space(sched, slot);
    sched->jobs.jobs[slot].evictions++;
    sched_wait(sched, slot);
}

void sched_job_ended(struct sched *sched, job_id id, enum job_end end, bool will_retry, time_ns now)
{
    (void)end; /* no policy here learns from how jobs end */
    (void)now;
    uint32_t slot = job_table_find(&sched->jobs, id);
    if (slot == SLOT_NONE || !holds_space(&sched->jobs.jobs[slot]))
        return;
    sched->changes++;
    free_space(sched, slot);
    if (will_retry)
        sched_wait(sched, slot);
    else
        forget(sched, slot);
}

/* Reservations that count on space of this job cannot be kept. */
static void drop_claims_on(struct sched *sched, const struct sched_job *job)
{
    for (uint32_t c = sched->claim_count; c-- > 0;) {
        const struct sched_job *claimer = &sched->jobs.jobs[sched->claims[c]];
        bool touches = false;
        for (uint32_t i = 0; i < claimer->piece_count && !touches; i++)
            for (uint32_t k = 0; k < job->piece_count && !touches; k++)
                touches = claimer->pieces[i].node == job->pieces[k].node;
        if (touches)
            sched_drop_claim(sched, sched->claims[c]);
    }
}

void sched_decision_refused(struct sched *sched, decision_id decision, enum refusal why,
                            time_ns now)
{
    (void)why; /* the world changed; what follows is the same */
    (void)now;
    uint32_t slot = job_table_find(&sched->jobs, (job_id)decision);
    if (slot == SLOT_NONE || sched->jobs.jobs[slot].decision != decision)
        return;
    struct sched_job *job = &sched->jobs.jobs[slot];
    sched->changes++;
    if (job->state == SJOB_STARTING) {
        free_space(sched, slot);
        sched_wait(sched, slot);
    } else if (job->state == SJOB_EVICTING) {
        drop_claims_on(sched, job);
        sched_move_pieces(sched, slot, ledger_restore);
        sched_charge(sched, slot, 1);
        job->state = SJOB_RUNNING;
        job->decision = 0;
        sched->booked_running++;
        sched_list_running(sched, slot);
    }
}

void sched_node_changed(struct sched *sched, node_id node, enum node_state state, time_ns now)
{
    (void)now;
    bool was_up = sched->ledger->node_state[node] == NODE_UP, is_up = state == NODE_UP;
    sched->changes++;
    ledger_set_node(sched->ledger, node, state);
    if (was_up == is_up)
        return;
    int64_t delta = (int64_t)cluster_node_gpus(sched->cluster, node) * GPU_MILLI;
    queue_tree_set_capacity(&sched->tree, sched->tree.capacity_milli + (is_up ? delta : -delta));
    for (uint32_t c = sched->claim_count; !is_up && c-- > 0;) {
        const struct sched_job *claimer = &sched->jobs.jobs[sched->claims[c]];
        uint32_t i = 0;
        while (i < claimer->piece_count && claimer->pieces[i].node != node)
            i++;
        if (i < claimer->piece_count)
            sched_drop_claim(sched, sched->claims[c]);
    }
}

void sched_queues_changed(struct sched *sched, const struct queue_table *queues, time_ns now)
{
    (void)now;
    sched->changes++;
    ledger_queues(sched->ledger, queues);
    queue_tree_update(&sched->tree, queues);
    pending_lines(&sched->pending, queues->count);
    MEM_GROW(sched->running, sched->running_capacity, queues->count);
    for (queue_id q = 0; q < queues->count; q++)
        reopen_lanes(sched, q); /* limits may have been raised */
}

void sched_count(const struct sched *sched, struct sched_counts *counts)
{
    *counts = (struct sched_counts){
        .pending_jobs = sched->pending.job_count + sched->claim_count + sched->held_count,
        .reserved_jobs = sched->claim_count,
        .running_jobs = sched->booked_running,
        .used_gpu_milli = sched->ledger->used_milli,
        .reserved_gpu_milli = sched->claimed_piece_milli - sched->ledger->claimed_milli,
        .releasing_gpu_milli = sched->ledger->coming_milli + sched->ledger->claimed_milli,
        .cycles = sched->cycle,
        .attempts = sched->attempts,
        .plans = sched->plans,
    };
}

enum reason sched_why(const struct sched *sched, job_id id)
{
    uint32_t slot = job_table_find(&sched->jobs, id);
    if (slot == SLOT_NONE)
        return REASON_NONE;
    const struct sched_job *job = &sched->jobs.jobs[slot];
    if (job->state == SJOB_HELD)
        return REASON_HELD;
    if (job->state == SJOB_CLAIMING)
        return REASON_RESERVED;
    if (job->state != SJOB_PENDING)
        return REASON_NONE;
    if (sched->pending.lanes[job->lane].quota_block != QUEUE_NONE)
        return REASON_QUOTA_LIMIT;
    return sched->shapes.shapes[job->shape].is_blocked ? REASON_RESOURCES : REASON_PRIORITY;
}

const char *sched_check(const struct sched *sched)
{
    const char *broken = ledger_check(sched->ledger);
    if (broken != NULL)
        return broken;
    int64_t used = 0, charged = 0;
    for (uint32_t s = 0; s < sched->jobs.used; s++) {
        const struct sched_job *job = &sched->jobs.jobs[s];
        int64_t ask =
            job->state == SJOB_NONE ? 0 : sched->shapes.shapes[job->shape].charge[QUEUE_SUM_GPU];
        int64_t held = 0;
        for (uint32_t i = 0; i < job->piece_count; i++)
            held += (int64_t)__builtin_popcount(job->pieces[i].gpu_mask) * job->pieces[i].gpu_milli;
        bool is_booked = job->state == SJOB_STARTING || job->state == SJOB_RUNNING ||
                         job->state == SJOB_CLAIMING;
        if (!is_booked && job->state != SJOB_EVICTING && job->piece_count != 0)
            return "a job that waits holds space";
        used += is_booked ? held : 0;
        charged += is_booked ? ask : 0;
    }
    if (used != sched->ledger->used_milli + sched->ledger->claimed_milli)
        return "what jobs hold differs from what the ledger counts as used";
    if (charged != sched->ledger->sums[QUEUE_ROOT][QUEUE_SUM_GPU])
        return "what jobs ask differs from what the root queue is charged";
    return NULL;
}

uint64_t sched_hash(const struct sched *sched)
{
    return ledger_hash(sched->ledger);
}
