/* What a loaded state points to: each number that is used as an index is tested here, before anything follows it.
 *
 * The archives of the modules test what they can test by themselves while they read.  Here are the numbers of one
 * module that name things of another.  Sums and lists are computed again by sched_check afterwards, which follows these
 * numbers.
 * Cost: O(the state). */
#include "policies/cycle/cycle_inside.h"
#include "policies/quota/cells.h"
#include "policies/reservation/reservation.h"
#include "policies/state/request_classes.h"
#include "policies/state/retry_queue.h"

static bool is_below_or(uint32_t number, uint32_t bound, uint32_t none)
{
    return number < bound || number == none;
}

static bool are_below(const uint32_t *numbers, uint32_t count, uint32_t bound)
{
    for (uint32_t i = 0; i < count; i++)
        if (numbers[i] >= bound)
            return false;
    return true;
}

static bool is_time(time_ns at)
{
    return (at >= -1 && at <= SCHED_TIME_MAX) || at == TIME_NEVER;
}

/* ---- Request classes ---- */

static bool is_request(const struct sched *sched, const struct request *request)
{
    const int kinds =
        (request->gpus > 0) + (request->gpu_milli > 0) + (request->gpu_memory_mib > 0) + (request->mig > 0);
    return kinds <= 1 && request->gpu_milli < GPU_MILLI && request->mig <= MIG_PROFILE_COUNT &&
           request->share < SHARE_KIND_COUNT && (request->gpus > 0 || !request->one_island) &&
           (request->nodes == NULL || request->nodes->type_count == sched->cluster->type_count);
}

static bool is_level(const struct sched *sched, const struct topology_ask *topology)
{
    const uint32_t levels = sched->cluster->level_count;
    return topology->required <= levels && topology->preferred <= levels;
}

static bool is_group(const struct sched *sched, const struct request_class *class, uint32_t index)
{
    const struct job_group *group = &class->groups[index];
    return is_request(sched, &group->request) && group->count <= SCHED_MEMBERS_MAX &&
           (class->set_count > 0 || group->min_count <= group->count) &&
           (class->set_count == 0 ? group->set == 0 : group->set < class->set_count) &&
           group->slice_level <= sched->cluster->level_count && (group->slice_members == 0 || group->slice_level > 0);
}

static bool is_set(const struct sched *sched, const struct request_class *class, uint32_t index)
{
    const struct job_set *set = &class->sets[index];
    return is_below_or(set->parent, index, SET_NONE) && set->min_sets <= class->set_count &&
           set->min_members <= SCHED_MEMBERS_MAX && is_level(sched, &set->topology);
}

/* Is the order of placement a permutation of the groups? */
static bool is_order(const struct request_class *class)
{
    uint64_t seen = 0;
    for (uint32_t g = 0; g < class->group_count; g++) {
        if (class->order[g] >= class->group_count)
            return false;
        seen |= UINT64_C(1) << class->order[g];
    }
    return __builtin_popcountll(seen) == class->group_count;
}

static bool is_request_class(const struct sched *sched, const struct request_class *class)
{
    uint64_t members = 0;
    for (uint32_t g = 0; g < class->group_count; g++) {
        if (!is_group(sched, class, g))
            return false;
        members += class->groups[g].count;
    }
    for (uint32_t s = 0; s < class->set_count; s++)
        if (!is_set(sched, class, s))
            return false;
    for (uint32_t t = 0; class->tags != NULL && t < class->tags->rule_count; t++)
        if (class->tags->rules[t].level > sched->cluster->level_count)
            return false;
    return members == class->member_count && members <= SCHED_MEMBERS_MAX && is_order(class) &&
           request_class_is_charged(class, sched->cluster) && is_level(sched, &class->topology) &&
           class->class < JOB_CLASS_COUNT && class->blocked_by <= HAND_NONE && class->clock.hand <= HAND_NONE &&
           is_time(class->clock.since) && class->min_sets <= JOB_PARTS_MAX &&
           are_below(class->class_queues, class->class_queue_count, sched->pending.class_queue_count);
}

/* Is each request class in one slot, and half of the slots empty, so that each search ends? */
static bool has_sound_slots(const struct request_class_table *table)
{
    uint8_t *is_found = mem_zalloc(table->count + 1, 1);
    uint32_t found = 0;
    bool is_sound = table->slot_count >= 1 && (table->slot_count & (table->slot_count - 1)) == 0 &&
                    table->count <= table->slot_count / 2;
    for (uint32_t i = 0; i < table->slot_count && is_sound; i++) {
        const uint32_t id = table->slots[i];
        is_sound = id <= table->count && (id == 0 || is_found[id] == 0);
        found += id != 0;
        is_found[id <= table->count ? id : 0] = 1;
    }
    mem_free(is_found);
    return is_sound && found == table->count;
}

static const char *check_request_classes(const struct sched *sched)
{
    if (!has_sound_slots(&sched->request_classes))
        return "a request class is not found, or a search for it does not end";
    for (uint32_t id = 0; id < sched->request_classes.count; id++)
        if (!is_request_class(sched, &sched->request_classes.at[id]))
            return "a request class is none that a job can ask";
    return NULL;
}

/* ---- Jobs ---- */

static bool is_job(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct job_facts *facts = &sched->jobs.facts[slot];
    const uint32_t classes = sched->request_classes.count;
    if (job->ask >= classes || job->queue >= sched->tree.count || job->reason >= REASON_COUNT ||
        job->fill > FILL_ABOVE || !is_below_or(job->class_queue, sched->pending.class_queue_count, CLASS_QUEUE_NONE) ||
        job->wait.kind > WAIT_CODE || job->wait.code >= REASON_COUNT || facts->claim_source >= SOURCE_COUNT)
        return false;
    const struct request_class *class = &sched->request_classes.at[job->request_class];
    if (sched->request_classes.at[job->ask].group_count != class->group_count)
        return false;
    for (uint32_t i = 0; i < job->holding_count; i++)
        if (!request_class_may_hold(class, &sched_job_holding(job, i)->piece, sched->cluster) ||
            sched_job_holding(job, i)->phase > HOLDING_LEAVING ||
            (class->groups[sched_job_holding(job, i)->piece.group].request.mig > 0 && sched->ledger->migs == NULL))
            return false;
    return is_time(facts->submit) && is_time(facts->limit) && is_time(facts->estimate) && is_time(facts->deadline) &&
           is_time(facts->waiting_since) && is_time(facts->below_since) && is_time(facts->claimed_at) &&
           is_time(facts->saved_at) && is_time(job->decided) && is_time(job->wait.since);
}

static const char *check_jobs(const struct sched *sched)
{
    const struct job_table *table = &sched->jobs;
    uint32_t free = 0;
    for (uint32_t slot = 0; slot < table->used; slot++) {
        free += table->jobs[slot].state == SJOB_NONE;
        if (table->jobs[slot].state != SJOB_NONE && !is_job(sched, slot))
            return "a job holds what cannot be, or names what there is not";
    }
    for (uint32_t f = 0; f < table->free_count; f++)
        if (table->jobs[table->free_slots[f]].state != SJOB_NONE)
            return "the slot of a job is free";
    return free == table->free_count ? NULL : "the free slots of jobs are miscounted";
}

/* Is what the job has run a time, so far a part of the time there was, on GPUs that there are? */
static bool is_service(const struct sched *sched, const struct job_facts *facts)
{
    return facts->ran >= 0 && facts->ran <= SCHED_TIME_MAX && facts->attained_at >= 0 &&
           facts->attained_at <= sched->now && facts->attained_gpu_ns >= 0 && facts->rate_milli >= 0 &&
           facts->rate_milli <= (int64_t)sched->cluster->gpu_count * GPU_MILLI;
}

static const char *check_service(const struct sched *sched)
{
    for (uint32_t slot = 0; slot < sched->jobs.used; slot++)
        if (sched->jobs.jobs[slot].state != SJOB_NONE && !is_service(sched, &sched->jobs.facts[slot]))
            return "a job has run at no time, or on GPUs that there are not";
    return NULL;
}

/* ---- Owners of whole GPUs ---- */

/* Mark the whole GPUs that jobs hold and own. */
static void mark_owned(const struct sched *sched, uint32_t slot, uint8_t *is_owned)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct request_class *class = &sched->request_classes.at[job->request_class];
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct piece *piece = &sched_job_holding(job, i)->piece;
        if (piece->gpu_milli != GPU_MILLI || class->groups[piece->group].request.mig > 0)
            continue;
        for (uint32_t mask = piece->gpu_mask; mask != 0; mask &= mask - 1) {
            const gpu_id gpu = sched->cluster->nodes[piece->node].first_gpu + (gpu_id)__builtin_ctz(mask);
            is_owned[gpu] |= sched->ledger->owner[gpu] == slot;
        }
    }
}

/* A job that owns a GPU holds the whole of it.  The reverse is tested by sched_check. */
static const char *check_owners(const struct sched *sched)
{
    uint8_t *is_owned = mem_zalloc((size_t)sched->cluster->gpu_count + 1, 1);
    bool is_good = true;
    for (uint32_t slot = 0; slot < sched->jobs.used; slot++)
        if (sched->jobs.jobs[slot].state != SJOB_NONE)
            mark_owned(sched, slot, is_owned);
    for (gpu_id g = 0; g < sched->cluster->gpu_count && is_good; g++)
        is_good = is_owned[g] || sched->ledger->owner[g] == OWNER_NONE;
    mem_free(is_owned);
    return is_good ? NULL : "a GPU belongs to a job that does not hold it";
}

/* ---- Class queues ---- */

static bool is_class_queue(const struct sched *sched, uint32_t id)
{
    const struct pending *pending = &sched->pending;
    const struct class_queue *class_queue = &pending->class_queues[id];
    if (class_queue->leaf_queue >= pending->leaf_queue_count ||
        class_queue->request_class >= sched->request_classes.count || class_queue->class >= JOB_CLASS_COUNT ||
        !is_below_or(class_queue->quota_block, sched->tree.count, QUEUE_NONE) ||
        class_queue->limited_by >= sched->tree.count ||
        (class_queue->is_over_quota && class_queue->owed_by >= sched->tree.count))
        return false;
    const struct leaf_queue *leaf_queue = &pending->leaf_queues[class_queue->leaf_queue];
    if (class_queue->leaf_queue_position >= leaf_queue->class_queue_count ||
        leaf_queue->class_queues[class_queue->leaf_queue_position].class_queue != id)
        return false;
    for (uint32_t i = 0; i < class_queue->count; i++) {
        const uint32_t slot = class_queue->heap[i].slot;
        if (slot >= sched->jobs.used || sched->jobs.jobs[slot].state == SJOB_NONE ||
            sched->jobs.jobs[slot].class_queue != id || sched->jobs.jobs[slot].ask != class_queue->request_class)
            return false;
    }
    return true;
}

/* Class queues that have a head. */
static bool have_heads(const struct pending *pending, const uint32_t *class_queues, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (class_queues[i] >= pending->class_queue_count || pending->class_queues[class_queues[i]].count == 0)
            return false;
    return true;
}

/* Do the lists of class queues agree with the class queues?  A job is put where they say. */
static bool are_class_queues_of(const struct sched *sched, uint32_t request_class)
{
    const struct request_class *class = &sched->request_classes.at[request_class];
    for (uint32_t i = 0; i < class->class_queue_count; i++)
        if (class->class_queues[i] >= sched->pending.class_queue_count ||
            sched->pending.class_queues[class->class_queues[i]].request_class != request_class)
            return false;
    return true;
}

static bool is_leaf_queue(const struct sched *sched, queue_id queue)
{
    const struct leaf_queue *leaf_queue = &sched->pending.leaf_queues[queue];
    for (uint32_t i = 0; i < leaf_queue->class_queue_count; i++)
        if (leaf_queue->class_queues[i].class_queue >= sched->pending.class_queue_count ||
            sched->pending.class_queues[leaf_queue->class_queues[i].class_queue].leaf_queue != queue ||
            sched->pending.class_queues[leaf_queue->class_queues[i].class_queue].request_class !=
                leaf_queue->class_queues[i].request_class ||
            leaf_queue->class_queues[i].asks_as > ASKER_COUNT ||
            (leaf_queue->class_queues[i].asks_as < ASKER_COUNT &&
             sched->pending.class_queues[leaf_queue->class_queues[i].class_queue].count == 0))
            return false;
    return are_below(leaf_queue->borrowers, leaf_queue->over_quota_count, sched->pending.class_queue_count);
}

static const char *check_pending(const struct sched *sched)
{
    const struct pending *pending = &sched->pending;
    const uint32_t count = pending->class_queue_count;
    bool is_good = pending->leaf_queue_count == sched->tree.count &&
                   have_heads(pending, pending->busy, pending->busy_count) &&
                   are_below(pending->changed, pending->changed_count, pending->leaf_queue_count);
    for (int c = 0; c < JOB_CLASS_COUNT; c++)
        is_good = is_good && have_heads(pending, pending->by_class[c], pending->by_class_count[c]);
    for (queue_id q = 0; q < pending->leaf_queue_count && is_good; q++)
        is_good = is_leaf_queue(sched, q);
    for (uint32_t id = 0; id < count && is_good; id++)
        is_good = is_class_queue(sched, id);
    for (uint32_t id = 0; id < sched->request_classes.count && is_good; id++)
        is_good = are_class_queues_of(sched, id);
    return is_good ? NULL : "a class queue names what there is not";
}

/* ---- Queues and the ledger ---- */

static const char *check_queues(const struct sched *sched)
{
    const struct ledger *ledger = sched->ledger;
    if (ledger->queue_count != sched->tree.count)
        return "the ledger has other queues";
    for (queue_id q = 0; q < sched->tree.count; q++)
        if (ledger->parent[q] != sched->tree.queues[q].parent ||
            (sched->tree.queues[q].has_winner && !is_below_or(sched->tree.queues[q].winner.class_queue,
                                                              sched->pending.class_queue_count, CLASS_QUEUE_NONE)))
            return "a queue names what there is not";
    for (gpu_id g = 0; g < sched->cluster->gpu_count; g++)
        if (!is_below_or(ledger->owner[g], sched->jobs.used, OWNER_NONE) ||
            !is_below_or(ledger->keeps[g].keeper, sched->tree.count, QUEUE_NONE) ||
            !is_below_or(ledger->keeps[g].holder, sched->tree.count, QUEUE_NONE))
            return "a GPU belongs to nobody that there is";
    return NULL;
}

/* Is the GPU in no cell, or is its cell an aligned run of GPUs of the node, all of one keeper? */
static bool is_in_cell(const struct gpu_keep *keeps, uint32_t count, uint32_t i)
{
    const uint32_t level = keeps[i].level;
    if (keeps[i].keeper == QUEUE_NONE)
        return true;
    if (level >= CELL_LEVELS)
        return false;
    const uint32_t first = i & ~((1u << level) - 1);
    return first + (1u << level) <= count && keeps[first].keeper == keeps[i].keeper && keeps[first].level == level;
}

static const char *check_cells(const struct sched *sched)
{
    for (node_id n = 0; n < sched->cluster->node_count; n++) {
        const struct gpu_keep *keeps = &sched->ledger->keeps[sched->cluster->nodes[n].first_gpu];
        const uint32_t count = cluster_node_gpus(sched->cluster, n);
        for (uint32_t i = 0; i < count; i++)
            if (!is_in_cell(keeps, count, i))
                return "a GPU is part of a cell that cannot be";
    }
    return NULL;
}

/* ---- Plans ---- */

static bool is_heap(const struct retry_heap *heap, uint32_t count)
{
    for (uint32_t i = 0; i < heap->count; i++)
        if (heap->at[i].class_queue >= count)
            return false;
    return true;
}

static const char *check_plans(const struct sched *sched)
{
    const uint32_t count = sched->pending.class_queue_count;
    for (int k = 0; k < PLAN_KIND_COUNT; k++) {
        const struct retry_queue *queue = &sched->retry_queues[k];
        bool is_good = are_below(queue->awake, queue->awake_count, count) && is_heap(&queue->by_change, count) &&
                       is_heap(&queue->by_time, count);
        for (uint32_t e = 0; e < queue->expectant_count; e++)
            is_good = is_good && queue->expectant[e].class_queue < count;
        if (!is_good)
            return "a plan is for no class queue";
    }
    return NULL;
}

/* ---- Accounts ---- */

/* What users hold by their accounts is what their jobs hold. */
static const char *check_accounts(const struct sched *sched)
{
    const struct accounts *accounts = &sched->accounts;
    int64_t(*left)[QUEUE_SUM_COUNT] = mem_zalloc((size_t)accounts->user_count + 1, sizeof *left);
    bool is_good = accounts->queue_count == sched->tree.count;
    for (uint32_t u = 0; u < accounts->user_count; u++) {
        for (int r = 0; r < RESOURCE_COUNT; r++)
            left[u][r] = accounts->users[u].holds[r];
        is_good = is_good && accounts->users[u].since >= 0 && accounts->users[u].since <= sched->now;
    }
    for (uint32_t slot = 0; slot < sched->jobs.used && is_good; slot++) {
        const struct sched_job *job = &sched->jobs.jobs[slot];
        for (uint32_t i = 0; i < job->holding_count && job->state != SJOB_NONE && is_good; i++) {
            const struct holding *holding = sched_job_holding(job, i);
            const struct account *account = accounts_find(accounts, job->queue, sched->jobs.facts[slot].user);
            if (holding->phase == HOLDING_LEAVING)
                continue;
            is_good = account != NULL;
            if (is_good)
                sched_add_charge(sched, slot, &holding->piece, -1, left[account - accounts->users]);
        }
    }
    for (uint32_t u = 0; u < accounts->user_count; u++)
        for (int r = 0; r < RESOURCE_COUNT; r++)
            is_good = is_good && left[u][r] == 0;
    mem_free(left);
    return is_good ? NULL : "a user's account differs from what the user's jobs hold";
}

/* ---- Typical jobs ---- */

static const char *check_typical(const struct sched *sched)
{
    const struct typical_jobs *typical = &sched->typical.typical;
    const struct member_kinds *kinds = &sched->typical.kinds;
    const uint32_t levels = sched->cluster->level_count;
    bool is_good = true;
    for (uint32_t j = 0; j < typical->count && is_good; j++)
        is_good = is_request(sched, &typical->jobs[j].request) && typical->jobs[j].level <= levels &&
                  typical->jobs[j].share >= 0 && typical->jobs[j].share <= 1;
    for (uint32_t k = 0; k < kinds->count && is_good; k++)
        is_good = is_request(sched, &kinds->kinds[k].request) && kinds->kinds[k].level <= levels;
    return is_good ? NULL : "a typical job asks for what cannot be";
}

/* ---- Waiting times ---- */

/* A reading of a clock is a sum of three, and two readings are subtracted: all of it stays a time. */
#define CLOCK_MAX (SCHED_TIME_MAX / 4)

static bool is_clock(const time_ns ns[HAND_COUNT])
{
    for (int hand = 0; hand < HAND_COUNT; hand++)
        if (ns[hand] < -CLOCK_MAX || ns[hand] > CLOCK_MAX)
            return false;
    return true;
}

static bool are_clocks(const struct sched *sched)
{
    for (uint32_t id = 0; id < sched->request_classes.count; id++)
        if (!is_clock(sched->request_classes.at[id].clock.ns) || sched->request_classes.at[id].clock.since > sched->now)
            return false;
    for (uint32_t id = 0; id < sched->pending.class_queue_count; id++) {
        const struct class_queue *class_queue = &sched->pending.class_queues[id];
        if (class_queue->is_offset && !is_clock(class_queue->offset))
            return false;
    }
    return true;
}

/* Spans that together are at most `most`. */
static bool are_spans(const time_ns *spans, size_t count, time_ns most)
{
    for (size_t i = 0; i < count; i++) {
        if (spans[i] < 0 || spans[i] > most)
            return false;
        most -= spans[i];
    }
    return true;
}

/* What the job's clock counted since its mark is part of the time since then. */
static bool is_reading(const struct sched *sched, const struct sched_job *job, const struct wait_entry *entry)
{
    time_ns reading[HAND_COUNT];
    if (job->class_queue >= sched->pending.class_queue_count || !is_clock(entry->seen))
        return false;
    pending_clock(&sched->pending, job->class_queue, sched->now, reading);
    for (int hand = 0; hand < HAND_COUNT; hand++)
        reading[hand] -= entry->seen[hand];
    return are_spans(reading, HAND_COUNT, sched->now - job->wait.since);
}

static const char *check_waits(const struct sched *sched)
{
    bool is_good = sched->waits.is_off || are_clocks(sched);
    for (uint32_t slot = 0; slot < sched->jobs.used && is_good && !sched->waits.is_off; slot++) {
        const struct sched_job *job = &sched->jobs.jobs[slot];
        if (job->state == SJOB_NONE || job->wait.entry == 0)
            continue;
        const struct wait_entry *entry = waits_entry(&sched->waits, job->wait.entry);
        time_ns times[REASON_COUNT] = {0};
        for (uint32_t left = entry->times.mask; left != 0; left &= left - 1)
            times[__builtin_ctz(left)] = entry->times.of[__builtin_ctz(left)];
        is_good = are_spans(times, REASON_COUNT, sched->now) && job->wait.since <= sched->now &&
                  (job->wait.kind != WAIT_CLASS_QUEUE || is_reading(sched, job, entry));
    }
    return is_good ? NULL : "a job waited longer than there was time";
}

const char *sched_check_loaded(const struct sched *sched)
{
    const char *broken = is_time(sched->now) ? NULL : "it is at no time";
    broken = broken != NULL ? broken : check_request_classes(sched);
    broken = broken != NULL ? broken : check_queues(sched);
    broken = broken != NULL ? broken : check_cells(sched);
    broken = broken != NULL ? broken : check_jobs(sched);
    broken = broken != NULL ? broken : check_service(sched);
    broken = broken != NULL ? broken : check_owners(sched);
    broken = broken != NULL ? broken : check_pending(sched);
    broken = broken != NULL ? broken : check_waits(sched);
    broken = broken != NULL ? broken : check_typical(sched);
    if (broken == NULL && sched->planned_starts != NULL)
        broken = planned_start_check_loaded(sched);
    if (broken == NULL && sched->ranks.need_accounts)
        broken = check_accounts(sched);
    return broken != NULL ? broken : check_plans(sched);
}
