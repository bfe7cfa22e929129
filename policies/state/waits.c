/* Waiting times by reason; see policies/state/waits.h. */
#include "policies/state/waits.h"

#include <assert.h>

#include "policies/gang/gang.h"
#include "policies/ledger/ledger_tags.h"
#include "policies/order/order.h"
#include "policies/placement/placement.h"
#include "policies/state/headroom.h"

#include <string.h>

void waits_release(struct sched *sched)
{
    struct waits *waits = &sched->waits;
    for (uint32_t block = 0; block << WAIT_BLOCK_SHIFT < waits->count; block++)
        mem_free(waits->blocks[block]);
    mem_free(waits->blocks);
    mem_free(waits->free);
    mem_free(waits->fresh);
    *waits = (struct waits){0};
}

/* Add an entry that was never used. */
static uint32_t add_entry(struct waits *waits)
{
    uint32_t block = waits->count >> WAIT_BLOCK_SHIFT;
    if ((waits->count & (WAIT_BLOCK - 1)) == 0) {
        MEM_GROW(waits->blocks, waits->block_capacity, (size_t)block + 1);
        waits->blocks[block] = mem_alloc(WAIT_BLOCK * sizeof **waits->blocks);
    }
    return ++waits->count;
}

static uint32_t new_entry(struct waits *waits)
{
    return waits->free_count > 0 ? waits->free[--waits->free_count] : add_entry(waits);
}

static struct wait_entry *entry_of(struct sched *sched, struct sched_job *job)
{
    if (job->wait.entry == 0) {
        job->wait.entry = new_entry(&sched->waits);
        waits_entry(&sched->waits, job->wait.entry)->times.mask = 0;
    }
    return waits_entry(&sched->waits, job->wait.entry);
}

/* Add the time that the job waited under each reason within the span, from two readings of its class queue's clock. */
static void add_readings(const time_ns from[HAND_COUNT], const time_ns to[HAND_COUNT], time_ns span,
                         struct wait_times *times)
{
    for (int hand = 0; hand < HAND_COUNT; hand++) {
        time_ns part = to[hand] - from[hand];
        if (part == 0)
            continue;
        wait_times_add(times, clock_reason((enum clock_hand)hand), part);
        span -= part;
    }
    wait_times_add(times, REASON_PRIORITY, span);
}

static enum reason code_of(const struct wait_mark *mark)
{
    return mark->kind == WAIT_FRESH ? REASON_SCHEDULING : (enum reason)mark->code;
}

void waits_book(struct sched *sched, struct sched_job *job)
{
    if (sched->waits.is_off)
        return;
    struct wait_entry *entry = entry_of(sched, job);
    time_ns span = sched->now - job->wait.since, scratch[HAND_COUNT];
    if (job->wait.kind == WAIT_CLASS_QUEUE)
        add_readings(entry->seen, pending_clock_now(&sched->pending, job->class_queue, scratch), span, &entry->times);
    else
        wait_times_add(&entry->times, code_of(&job->wait), span);
}

/* Has it enough members in place to run, leaving members included? */
static bool is_in_force(const struct sched *sched, const struct sched_job *job)
{
    const struct request_class *request_class = &sched->request_classes.at[job->request_class];
    if (job->fill != FILL_BELOW && job->phase_counts[HOLDING_RUNNING] == job->holding_count)
        return true;
    uint32_t there[JOB_GROUPS_MAX] = {0};
    const struct gang_view view = {.groups = request_class->groups,
                                   .sets = request_class->set_count > 0 ? request_class->sets : NULL,
                                   .held = there,
                                   .group_count = request_class->group_count,
                                   .set_count = request_class->set_count,
                                   .min_sets = request_class->min_sets};
    uint32_t left = job->phase_counts[HOLDING_RUNNING] + job->phase_counts[HOLDING_LEAVING], seen = 0;
    for (uint32_t i = 0; left > 0; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        if (holding->phase != HOLDING_RUNNING && holding->phase != HOLDING_LEAVING)
            continue;
        there[holding->piece.group] += holding->piece.member_count;
        left--;
        seen++;
        if ((seen & (seen - 1)) == 0 && gang_fill(&view) != FILL_BELOW) /* now and then: most hold far more */
            return true;
    }
    return gang_fill(&view) != FILL_BELOW;
}

static bool has_claims(const struct sched_job *job)
{
    return job->phase_counts[HOLDING_CLAIMED] > 0;
}

void waits_review(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    if (job->state == SJOB_HELD) {
        waits_under(sched, job, (enum reason)job->reason);
    } else if (job->holding_count > 0 && is_in_force(sched, job)) {
        waits_end(sched, job);
    } else if (job->class_queue != CLASS_QUEUE_NONE && job->fill == FILL_BELOW) {
        if (job->wait.kind != WAIT_FRESH && job->wait.kind != WAIT_CLASS_QUEUE)
            waits_enter(sched, slot);
    } else if (has_claims(job)) {
        waits_under(sched, job, REASON_RESERVED);
    } else if (job->holding_count > 0) {
        waits_under(sched, job, REASON_CONFIGURING); /* members are starting */
    } else {
        waits_end(sched, job);
    }
}

/* The job waits in its class queue, which gives the reason. */
static void wait_in_class_queue(struct sched *sched, uint32_t slot)
{
    struct sched_job *job = &sched->jobs.jobs[slot];
    waits_end(sched, job);
    job->wait.since = sched->now;
    job->wait.kind = WAIT_CLASS_QUEUE;
    if (sched->waits.is_off)
        return;
    time_ns scratch[HAND_COUNT];
    memcpy(entry_of(sched, job)->seen, pending_clock_now(&sched->pending, job->class_queue, scratch), sizeof scratch);
}

void waits_see_fresh(struct sched *sched)
{
    struct waits *waits = &sched->waits;
    for (uint32_t i = 0; i < waits->fresh_count; i++) /* a job may have left, and another may have its slot */
        if (sched->jobs.jobs[waits->fresh[i]].wait.kind == WAIT_FRESH)
            wait_in_class_queue(sched, waits->fresh[i]);
    waits->fresh_count = 0;
}

/* ---- What closed a request class ---- */

static bool asks_domain(const struct request_class *request_class)
{
    for (uint32_t s = 0; s < request_class->set_count; s++)
        if (request_class->sets[s].topology.required != 0)
            return true;
    for (uint32_t g = 0; g < request_class->group_count; g++)
        if (request_class->groups[g].slice_members != 0)
            return true;
    return request_class->topology.required != 0;
}

static bool takes_type(const struct request_class *request_class, const struct cluster *cluster, uint32_t type)
{
    for (uint32_t g = 0; g < request_class->group_count; g++)
        if (request_takes_nodes(&request_class->groups[g].request, cluster, type) &&
            request_takes_model(&request_class->groups[g].request, &cluster->types[type]))
            return true;
    return false;
}

/* The free GPUs that might serve the request class.  Partly used GPUs count only if some group accepts any model and
 * any node. */
static int64_t free_for(const struct sched *sched, const struct request_class *request_class)
{
    int64_t milli = 0;
    for (uint32_t g = 0; g < request_class->group_count; g++)
        if (request_class->groups[g].request.gpu_models == 0 && request_class->groups[g].request.nodes == NULL)
            return sched_free_milli(sched);
    for (uint32_t t = 0; t < sched->cluster->type_count; t++)
        for (uint32_t n = 1; n <= sched->cluster->types[t].gpu_count; n++)
            if (takes_type(request_class, sched->cluster, t))
                milli += (int64_t)sched->ledger->index->types[t].whole[n].member_count * n * GPU_MILLI;
    return milli;
}

/* Would it fit if tags were ignored? */
static bool is_shut_out(struct sched *sched, const struct request_class *request_class)
{
    if (!ledger_tags_bind(sched->ledger, request_class->tags))
        return false;
    struct request_class untagged = *request_class;
    struct piece_list pieces = {0};
    untagged.tags = NULL;
    size_t mark = ledger_mark(sched->ledger);
    const struct placement_request asked = {
        .policy = sched->policy.placement, .request_class = &untagged, .owner = OWNER_NONE - 1, .stop = sched->stop};
    const bool fits = placement_place(sched->ledger, &asked, &pieces);
    ledger_rollback(sched->ledger, mark);
    piece_list_release(&pieces);
    return fits;
}

/* Are as many MIG instances free as it asks for, on any nodes?  O(nodes) if it asks for MIG instances. */
static bool has_instances(const struct sched *sched, const struct request_class *request_class)
{
    for (uint32_t g = 0; g < request_class->group_count; g++) {
        const struct job_group *group = &request_class->groups[g];
        const bool is_asked = group->slice_members != 0 && group->request.mig != 0;
        uint64_t room = 0;
        for (node_id n = 0; is_asked && n < sched->cluster->node_count && room < group->count; n++)
            room += request_class_room(&group->request, sched->ledger, n, NULL);
        if (is_asked && room < group->count)
            return false;
    }
    return true;
}

/* The reason that blocks a request class that does not fit: too few free GPUs, or free GPUs in the wrong places. */
static enum clock_hand blocked_by(struct sched *sched, const struct request_class *request_class)
{
    const int64_t asked = request_class->charge[QUEUE_SUM_GPU];
    if (is_shut_out(sched, request_class))
        return HAND_AFFINITY;
    if (asked == 0 || free_for(sched, request_class) < asked)
        return HAND_RESOURCES;
    const bool suffices = placement_may_fit(sched->ledger, request_class) && has_instances(sched, request_class);
    return asks_domain(request_class) && suffices ? HAND_TOPOLOGY : HAND_FRAGMENTATION;
}

void waits_close_request_class(struct sched *sched, uint32_t id, uint8_t closed)
{
    struct request_class *request_class = &sched->request_classes.at[id];
    if (closed & REQUEST_CLASS_BLOCKED)
        request_class->blocked_by = (uint8_t)blocked_by(sched, request_class);
    request_class_close(&sched->request_classes, id, closed);
}

/* ---- Answers ---- */

const struct refusal_note *waits_rejection(const struct sched *sched, job_id id)
{
    for (uint32_t i = 0; i < sched->decided.reject_count; i++)
        if (sched->decided.rejects[i].job == id)
            return &sched->decided.rejects[i];
    return NULL;
}

enum reason sched_why(const struct sched *sched, job_id id)
{
    uint32_t slot = job_table_find(&sched->jobs, id);
    if (slot == SLOT_NONE) {
        const struct refusal_note *note = waits_rejection(sched, id);
        return note != NULL ? note->reason : REASON_NONE;
    }
    const struct sched_job *job = &sched->jobs.jobs[slot];
    if (job->wait.kind == WAIT_NOT)
        return REASON_NONE;
    return job->wait.kind == WAIT_CLASS_QUEUE ? clock_reason(pending_hand(&sched->pending, job->class_queue))
                                              : code_of(&job->wait);
}

static void copy_times(struct wait_times *to, const struct wait_times *from)
{
    to->mask = from->mask;
    for (uint32_t left = from->mask; left != 0; left &= left - 1)
        to->of[__builtin_ctz(left)] = from->of[__builtin_ctz(left)];
}

static void add_open_span(const struct sched *sched, const struct sched_job *job, time_ns now, struct wait_times *times)
{
    time_ns reading[HAND_COUNT], span = now - job->wait.since;
    if (job->wait.kind != WAIT_CLASS_QUEUE) {
        wait_times_add(times, code_of(&job->wait), span);
        return;
    }
    pending_clock(&sched->pending, job->class_queue, now, reading);
    add_readings(waits_entry(&sched->waits, job->wait.entry)->seen, reading, span, times);
}

static void add_rejection(const struct sched *sched, job_id id, time_ns now, struct wait_times *times)
{
    const struct refusal_note *note = waits_rejection(sched, id);
    if (note == NULL)
        return;
    copy_times(times, &note->waited);
    wait_times_add(times, note->reason, now - note->at);
}

bool sched_waited(const struct sched *sched, job_id id, time_ns now, struct wait_times *times)
{
    uint32_t slot = job_table_find(&sched->jobs, id);
    times->mask = 0;
    if (sched->waits.is_off)
        return false;
    if (slot == SLOT_NONE) {
        add_rejection(sched, id, now, times);
        return times->mask != 0;
    }
    const struct sched_job *job = &sched->jobs.jobs[slot];
    if (job->wait.entry != 0)
        copy_times(times, &waits_entry(&sched->waits, job->wait.entry)->times);
    if (job->wait.kind != WAIT_NOT)
        add_open_span(sched, job, now, times);
    return times->mask != 0;
}

void sched_count_waits(struct sched *sched, bool is_on)
{
    sched->waits.is_off = !is_on;
}
