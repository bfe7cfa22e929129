/* The facts: each records an event of the world in the books. */
#include <assert.h>

#include "policies/booking/booking.h"
#include "policies/booking/eligible.h"
#include "policies/booking/patience.h"
#include "policies/booking/told.h"
#include "policies/cycle/observers.h"
#include "policies/ledger/ledger_tags.h"
#include "policies/state/headroom.h"
#include "policies/state/kept_quota.h"
#include "policies/state/ranks.h"
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"
#include "policies/state/waits.h"

static struct error find_gap(const struct policy_config *policy)
{
    if (policy->order_count == 0 || policy->quota == NULL || policy->placement == NULL || policy->preemption == NULL ||
        policy->gang == NULL || policy->backfill == NULL || policy->geometry == NULL || policy->idle == NULL)
        return error_new(ERROR_CONFIG, "policy '%s' leaves a seam empty", policy->name);
    return ERROR_OK;
}

static struct error find_complaint(struct sched *sched)
{
    queue_id queue = QUEUE_ROOT;
    const struct quota_policy *quota = sched->policy.quota;
    const char *complaint = quota->homes.complaint != NULL ? quota->homes.complaint(&sched->tree, &queue) : NULL;
    if (complaint == NULL)
        return ERROR_OK;
    return error_new(ERROR_CONFIG, "policy '%s': queue '%s' %s", sched->policy.name,
                     queue_tree_spec(&sched->tree, queue)->name, complaint);
}

static void count_capacity(struct sched *sched, int64_t capacity[RESOURCE_COUNT])
{
    capacity[RESOURCE_GPU] = capacity[RESOURCE_CPU] = capacity[RESOURCE_MEMORY] = 0;
    for (node_id n = 0; n < sched->cluster->node_count; n++) {
        const struct node_type *type = cluster_node_type(sched->cluster, n);
        if (sched->ledger->node_state[n] != NODE_UP)
            continue;
        capacity[RESOURCE_GPU] += (int64_t)type->gpu_count * GPU_MILLI;
        capacity[RESOURCE_CPU] += type->cpu_milli;
        capacity[RESOURCE_MEMORY] += type->memory_mib;
    }
}

/* Does the policy use this action?  Stale gangs are checked always: a queue or a job may set its own limit. */
static bool may_act(const struct policy_config *policy, enum action action)
{
    return action == ACTION_ALLOCATE || action == ACTION_STALE_GANG || policy->preemption->evicts;
}

static void choose_actions(struct sched *sched)
{
    for (uint32_t a = 0; a < sched->policy.action_count; a++)
        if (may_act(&sched->policy, (enum action)sched->policy.actions[a]))
            sched->acts[sched->act_count++] = sched->policy.actions[a];
}

/* Of the empty cluster, without queues.  The books come first, then the mechanisms that need them. */
static struct sched *blank_new(const struct cluster *cluster, const struct queue_table *queues,
                               const struct policy_config *policy)
{
    struct sched *sched = mem_zalloc(1, sizeof *sched);
    sched->cluster = cluster;
    sched->policy = *policy;
    sched->ledger = ledger_new(cluster);
    sched->ledger->placement = &sched->policy.placement_config;
    sched->tree = (struct queue_tree){
        .table = queues, .ledger = sched->ledger, .quota = policy->quota, .config = &sched->policy.quota_config};
    pending_init(&sched->pending, &sched->jobs, &sched->request_classes, policy->order_count, policy->is_strict);
    request_class_table_init(&sched->request_classes);
    sched_study_orders(sched);
    headroom_init(sched);
    kept_init(sched);
    booking_init(sched);
    eligible_init(sched);
    choose_actions(sched);
    if (sharing_is_used(policy->sharing, &policy->sharing_config))
        sched_share(sched, sched->ledger);
    observers_init(sched);
    return sched;
}

struct sched *sched_new(const struct cluster *cluster, const struct queue_table *queues,
                        const struct policy_config *policy, struct error *error)
{
    *error = find_gap(policy);
    if (error_is(*error))
        return NULL;
    struct sched *sched = blank_new(cluster, queues, policy);
    sched_queues_changed(sched, queues, 0);
    int64_t capacity[RESOURCE_COUNT];
    count_capacity(sched, capacity);
    queue_tree_set_capacity(&sched->tree, capacity);
    *error = find_complaint(sched);
    if (error_is(*error)) {
        sched_free(sched);
        return NULL;
    }
    return sched;
}

void sched_free(struct sched *sched)
{
    if (sched == NULL)
        return;
    observers_release(sched);
    eligible_release(sched);
    booking_release(sched);
    job_table_release(&sched->jobs);
    pending_release(&sched->pending);
    request_class_table_release(&sched->request_classes);
    queue_tree_release(&sched->tree);
    ledger_free(sched->ledger);
    ledger_free(sched->empty);
    piece_list_release(&sched->pieces);
    queue_selection_release(&sched->queue_selection);
    waits_release(sched);
    mem_free(sched);
}

/* Was the past of this job told just before it?  Then the job gets it. */
static bool recall(struct sched *sched, uint32_t slot)
{
    const struct told_history *told = &sched->told_history;
    struct job_facts *facts = &sched->jobs.facts[slot];
    if (told->change == 0 || told->change + 1 != sched->changes || told->id != sched->jobs.jobs[slot].id)
        return false;
    sched->jobs.jobs[slot].evictions = told->of.evictions;
    facts->waiting_since = told->of.waiting_since;
    facts->below_since = told->of.below_since;
    facts->saved_at = told->of.saved_at;
    facts->ran = told->of.ran;
    facts->attained_gpu_ns = told->of.attained_gpu_ns;
    facts->stale_count = told->of.stale_count;
    return true;
}

/* Sets every field, because the slot may have belonged to another job. */
static void copy_facts(struct sched *sched, uint32_t slot, const struct job *job)
{
    struct job_facts *facts = &sched->jobs.facts[slot];
    facts->submit = job->submit;
    facts->limit = job->limit;
    facts->estimate = job->estimate;
    facts->deadline = job->deadline;
    facts->checkpoint = job->checkpoint;
    facts->user = job->user;
    facts->array = job->array;
    facts->array_max = job->array_max;
    facts->displaced_by = JOB_NONE;
    facts->displaced_cycle = 0;
    facts->grace = job->grace;
    facts->waiting_since = sched->now;
    facts->below_since = TIME_NEVER;
    facts->claimed_at = TIME_NEVER;
    facts->saved_at = TIME_NEVER;
    facts->ran = 0;
    facts->attained_at = sched->now;
    facts->attained_gpu_ns = job->attained_gpu_ns;
    facts->rate_milli = 0;
    facts->preemption_delay = job->preemption_delay;
    facts->stale_after = job->stale_after;
    facts->after_left = 0;
    facts->is_held = job->is_held;
    facts->claim_source = 0;
    facts->stale_count = 0;
    facts->is_serving = false;
    recall(sched, slot);
}

/* A new slot for the job, which does not wait yet; SLOT_NONE: it can never run and is rejected.  A job with pieces runs
 * already and is never rejected. */
static uint32_t enroll(struct sched *sched, const struct job *job, const struct piece *pieces, uint32_t piece_count)
{
    const bool is_running = piece_count > 0;
    if (job->tags != NULL)
        ledger_tags_use(sched->ledger);
    uint32_t request_class = sched->ledger->shares == NULL
                                 ? sched_request_class_for(sched, job)
                                 : sched_request_class_shared(sched, job, pieces, piece_count);
    OBSERVERS_TELL(sched, asked, request_class);
    const enum reason refusal = is_running ? REASON_NONE : sched_refusal(sched, request_class);
    if (refusal != REASON_NONE) {
        sched_reject(sched, job->id, (struct asking){request_class, job->queue}, refusal);
        eligible_ended(sched, job->id, ENDED_OTHERWISE);
        return SLOT_NONE;
    }
    assert(job->queue < sched->tree.count);
    uint32_t slot = job_table_add(&sched->jobs, job->id, job->group_count);
    struct sched_job *own = &sched->jobs.jobs[slot];
    own->request_class = own->ask = request_class;
    own->queue = job->queue;
    own->priority = job->priority;
    own->state = SJOB_PENDING;
    own->fill = FILL_BELOW;
    own->is_element = job->array != 0;
    sched_learn_delay(sched, job->preemption_delay);
    copy_facts(sched, slot, job);
    OBSERVERS_TELL(sched, enrolled, slot, job);
    sched_rank(sched, slot);
    if (queue_tree_is_asked(&sched->tree))
        queue_tree_demand(&sched->tree, job->queue, sched->request_classes.at[request_class].charge, 1);
    return slot;
}

void sched_job_submitted(struct sched *sched, const struct job *job, time_ns now)
{
    if (!told_in_time(sched, now) || !told_well(sched, told_job(sched, job)))
        return;
    sched_begin_fact(sched, now);
    uint32_t slot = enroll(sched, job, NULL, 0);
    if (slot == SLOT_NONE)
        return;
    OBSERVERS_TELL(sched, submitted, slot);
    enum reason reason = eligible_submit(sched, slot, job);
    if (reason == REASON_NONE)
        sched_wait(sched, slot);
    else if (reason != REASON_DEPENDENCY_NEVER)
        waits_review(sched, slot);
}

void sched_job_released(struct sched *sched, job_id id, time_ns now)
{
    if (!told_in_time(sched, now) || !told_well(sched, told_known(sched, id)))
        return;
    uint32_t slot = job_table_find(&sched->jobs, id);
    if (!sched->jobs.facts[slot].is_held)
        return;
    sched_begin_fact(sched, now);
    eligible_released(sched, slot);
}

void sched_job_adopted(struct sched *sched, const struct job *job, const struct piece *pieces, uint32_t piece_count,
                       time_ns started, time_ns now)
{
    if (!told_in_time(sched, now) || !told_well(sched, told_job(sched, job)) ||
        !told_well(sched, started < 0 || started > now ? WRONG_TIME : told_pieces(sched, job, pieces, piece_count)))
        return;
    sched_begin_fact(sched, now);
    uint32_t slot = enroll(sched, job, pieces, piece_count);
    if (slot == SLOT_NONE)
        return;
    eligible_adopt(sched, slot);
    struct piece_list list = {.pieces = (struct piece *)(uintptr_t)pieces, .count = piece_count};
    sched->jobs.jobs[slot].decided = started;
    for (uint32_t i = 0; i < piece_count; i++) {
        struct space space = request_class_space(sched_request_class(sched, &sched->jobs.jobs[slot]), &pieces[i], slot);
        ledger_take(sched->ledger, &space);
        OBSERVERS_TELL(sched, runs_on, slot, pieces[i].node);
    }
    sched_hold(sched, slot, &list, HOLDING_RUNNING, 0);
    OBSERVERS_TELL(sched, started, slot, started);
    sched_settle(sched, slot);
    struct job_facts *facts = &sched->jobs.facts[slot];
    if (!recall(sched, slot))         /* booking its pieces began some clocks anew */
        facts->attained_at = started; /* its service counts from its start */
    facts->is_left_partial = started == now && sched->jobs.jobs[slot].is_below && sched->policy.gang->is_all_or_nothing;
    if (!sched->ranks.are_fixed)
        sched_settle(sched, slot);
}

static bool is_meant(const struct holding *holding, struct members which)
{
    return (which.decision == 0 || holding->decision == which.decision) &&
           (which.node == NODE_NONE || holding->piece.node == which.node);
}

/* Drop the claims on space of the node. */
static void drop_claims_on(struct sched *sched, node_id node)
{
    for (uint32_t c = sched->claims.count; c-- > 0;) {
        const struct sched_job *claimer = &sched->jobs.jobs[sched->claims.slots[c]];
        uint32_t i = 0;
        while (i < claimer->holding_count && (sched_job_holding(claimer, i)->phase != HOLDING_CLAIMED ||
                                              sched_job_holding(claimer, i)->piece.node != node))
            i++;
        if (i < claimer->holding_count)
            sched_drop_claim(sched, sched->claims.slots[c]);
    }
}

void sched_job_cancelled(struct sched *sched, job_id id, time_ns now)
{
    if (!told_in_time(sched, now) || !told_well(sched, told_known(sched, id)))
        return;
    uint32_t slot = job_table_find(&sched->jobs, id);
    sched_begin_fact(sched, now);
    struct sched_job *job = &sched->jobs.jobs[slot];
    if (job->state == SJOB_CLAIMING)
        sched_drop_claim(sched, slot);
    if (job->state == SJOB_HELD) {
        eligible_unpark(sched, slot);
    } else if (job->state != SJOB_PENDING) {
        return; /* it runs: sched_job_ended will report its end */
    } else if (job->class_queue != CLASS_QUEUE_NONE) {
        sched_unwait(sched, slot);
    }
    eligible_forget(sched, slot, ENDED_OTHERWISE);
}

/* True if the confirmation of its START changes only the state of the job. */
static bool starts_quietly(struct sched *sched, const struct sched_job *job)
{
    return !sched->ranks.need_service &&
           (sched->ranks.are_fixed || (!sched->overtakes && job->holding_count == 1 && job->fill != FILL_BELOW &&
                                       sched_request_class(sched, job)->is_rigid));
}

void sched_job_started(struct sched *sched, job_id id, decision_id decision, time_ns now)
{
    if (!told_in_time(sched, now) || !told_well(sched, told_known(sched, id)))
        return;
    uint32_t slot = job_table_find(&sched->jobs, id);
    struct sched_job *job = &sched->jobs.jobs[slot];
    struct holding *holdings = sched_job_holdings(job);
    uint32_t i = job->open_from;
    while (i < job->holding_count && (holdings[i].phase != HOLDING_STARTING || holdings[i].decision != decision))
        i++;
    if (!told_well(sched, i < job->holding_count ? WRONG_NOTHING : WRONG_DECISION))
        return;
    sched_begin_fact(sched, now);
    while (job->open_from < job->holding_count && holdings[job->open_from].phase != HOLDING_STARTING)
        job->open_from++;
    /* holdings of one START stand side by side */
    for (; i < job->holding_count && holdings[i].phase == HOLDING_STARTING && holdings[i].decision == decision; i++) {
        sched_job_turn(job, &holdings[i], HOLDING_RUNNING);
        holdings[i].decision = 0;
        OBSERVERS_TELL(sched, runs_on, slot, holdings[i].piece.node);
    }
    sched->starts++;
    OBSERVERS_TELL(sched, started, slot, now);
    if (starts_quietly(sched, job))
        job->state = SJOB_RUNNING;
    else
        sched_settle(sched, slot);
    waits_started(sched, slot);
}

void sched_job_leaving(struct sched *sched, job_id id, struct members which, time_ns now)
{
    if (!told_in_time(sched, now) || !told_well(sched, told_members(sched, id, which)))
        return;
    uint32_t slot = job_table_find(&sched->jobs, id);
    sched_begin_fact(sched, now);
    const struct sched_job *job = &sched->jobs.jobs[slot];
    bool had = false;
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (holding_is_in_place(sched_job_holding(job, i)) && is_meant(sched_job_holding(job, i), which)) {
            sched_let_leave(sched, slot, i, 0);
            had = true;
        }
    if (had)
        sched_settle(sched, slot);
}

void sched_job_evicted(struct sched *sched, job_id id, struct members which, enum evict_end end, time_ns now)
{
    if (!told_in_time(sched, now) ||
        !told_well(sched, (unsigned)end > EVICT_LOST ? WRONG_VALUE : told_members(sched, id, which)))
        return;
    uint32_t slot = job_table_find(&sched->jobs, id);
    sched_begin_fact(sched, now);
    struct sched_job *job = &sched->jobs.jobs[slot];
    bool had = false, was_whole = !job->is_booked; /* was_whole: it was leaving as a whole */
    for (uint32_t i = job->holding_count; i-- > 0;) {
        const struct holding *holding = sched_job_holding(job, i);
        if (holding->phase == HOLDING_CLAIMED || !is_meant(holding, which))
            continue;
        sched_unhold(sched, slot, i);
        had = true;
    }
    if (!had)
        return;
    OBSERVERS_TELL(sched, evicted, slot);
    if (job->holding_count == 0 || was_whole) {
        job->evictions++;
        sched->jobs.facts[slot].waiting_since = now;
    }
    sched_settle(sched, slot);
    OBSERVERS_TELL(sched, left, slot, end == EVICT_SAVED);
}

/* Does it hold anything but claims? */
static bool holds_space(const struct sched_job *job)
{
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (sched_job_holding(job, i)->phase != HOLDING_CLAIMED)
            return true;
    return false;
}

void sched_job_ended(struct sched *sched, job_id id, enum job_end end, bool will_retry, time_ns now)
{
    if (!told_in_time(sched, now) ||
        !told_well(sched, (unsigned)end > JOB_END_LIMIT ? WRONG_VALUE : told_known(sched, id)))
        return;
    uint32_t slot = job_table_find(&sched->jobs, id);
    sched_begin_fact(sched, now);
    struct sched_job *job = &sched->jobs.jobs[slot];
    if (!holds_space(job))
        return; /* it has not started */
    OBSERVERS_TELL(sched, ends, slot, will_retry);
    if (!will_retry && job->class_queue != CLASS_QUEUE_NONE)
        sched_unwait(sched, slot);
    if (claims_has(sched, slot))
        sched_drop_claim(sched, slot);
    while (job->holding_count > 0)
        sched_unhold(sched, slot, job->holding_count - 1);
    if (will_retry) {
        sched->jobs.facts[slot].waiting_since = now;
        sched_settle(sched, slot);
        OBSERVERS_TELL(sched, left, slot, false);
        return;
    }
    if (job->class_queue != CLASS_QUEUE_NONE)
        sched_unwait(sched, slot); /* a dropped claim made it wait */
    eligible_forget(sched, slot, end == JOB_END_COMPLETED ? ENDED_OK : ENDED_OTHERWISE);
}

static void refuse_start(struct sched *sched, uint32_t slot, decision_id decision)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    for (uint32_t i = job->holding_count; i-- > 0;)
        if (sched_job_holding(job, i)->decision == decision)
            sched_unhold(sched, slot, i);
}

static void refuse_eviction(struct sched *sched, uint32_t slot, decision_id decision)
{
    uint8_t *stale_count = &sched->jobs.facts[slot].stale_count;
    OBSERVERS_TELL(sched, eviction_refused, slot);
    if (*stale_count > 0) /* the eviction may have been of a stale gang; a refused one does not count */
        --*stale_count;
    struct sched_job *job = &sched->jobs.jobs[slot];
    int64_t amounts[QUEUE_SUM_COUNT] = {0};
    for (uint32_t i = 0; i < job->holding_count; i++) {
        struct holding *holding = &sched_job_holdings(job)[i];
        if (holding->decision != decision)
            continue;
        drop_claims_on(sched, holding->piece.node);
        holding = &sched_job_holdings(job)[i];
        sched_let_stay(sched, slot, i, amounts);
    }
    sched_charge(sched, slot, amounts);
}

void sched_decision_refused(struct sched *sched, decision_id decision, enum refusal why, time_ns now)
{
    /* all refusals are handled alike */
    if (!told_in_time(sched, now) || !told_well(sched, (unsigned)why > REFUSED_BUSY ? WRONG_VALUE : WRONG_NOTHING))
        return;
    OBSERVERS_EACH(sched, refused, each)
    if (each->hooks->refused(sched, each->own, decision, now))
        return;
    uint32_t slot = job_table_find(&sched->jobs, (job_id)decision), i = 0;
    const struct sched_job *job = slot != SLOT_NONE ? &sched->jobs.jobs[slot] : NULL;
    while (job != NULL && i < job->holding_count && sched_job_holding(job, i)->decision != decision)
        i++;
    if (!told_well(sched, job != NULL && decision != 0 && i < job->holding_count ? WRONG_NOTHING : WRONG_DECISION))
        return;
    sched_begin_fact(sched, now);
    if (sched_job_holding(job, i)->phase == HOLDING_LEAVING) {
        if (claims_has(sched, slot)) /* its claim assumed that these members leave */
            sched_drop_claim(sched, slot);
        refuse_eviction(sched, slot, decision);
    } else {
        refuse_start(sched, slot, decision);
    }
    sched_settle(sched, slot);
}

void sched_node_changed(struct sched *sched, node_id node, enum node_state state, time_ns now)
{
    if (!told_in_time(sched, now) || !told_well(sched, told_node(sched, node, state)))
        return;
    sched_begin_fact(sched, now);
    bool was_up = sched->ledger->node_state[node] == NODE_UP, is_up = state == NODE_UP;
    ledger_set_node(sched->ledger, node, state);
    OBSERVERS_TELL(sched, node_changed, node, was_up != is_up);
    if (was_up == is_up)
        return;
    int64_t capacity[RESOURCE_COUNT];
    const struct node_type *type = cluster_node_type(sched->cluster, node);
    const int64_t delta[RESOURCE_COUNT] = {(int64_t)type->gpu_count * GPU_MILLI, type->cpu_milli, type->memory_mib};
    for (int r = 0; r < RESOURCE_COUNT; r++)
        capacity[r] = sched->tree.capacity[r] + (is_up ? delta[r] : -delta[r]);
    queue_tree_set_capacity(&sched->tree, capacity);
    if (!is_up)
        drop_claims_on(sched, node);
}

void sched_typical_told(struct sched *sched, const struct job_group *kinds, uint32_t kind_count, time_ns now)
{
    if (!told_in_time(sched, now) || !told_well(sched, told_kinds(sched, kinds, kind_count)))
        return;
    sched_begin_fact(sched, now);
    OBSERVERS_TELL(sched, typical_told, kinds, kind_count);
}
