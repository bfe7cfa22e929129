/* Looks: trials without the headroom, or without reservations; see policies/allocate/kept_space.h. */
#include "policies/allocate/kept_space.h"
#include "policies/allocate/allocate.h"

#include <assert.h>

#include "policies/booking/booking.h"
#include "policies/eviction/eviction.h"
#include "policies/reservation/reservation.h"
#include "policies/state/headroom.h"
#include "policies/state/lend.h"
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"
#include "policies/state/waits.h"

enum { STEPS_PER_TRY = 18, CLASS_QUEUES_PER_STEP = 8, JOBS_PER_STEP = 8 };

struct kept_space_class_queue {
    uint32_t taken;  /* jobs of the class queue that would start */
    uint8_t instead; /* enum clock_hand: what holds up the next job after these */
};

struct kept_space {
    uint64_t seen_change, looked_change; /* the state change of the last call, and of the last look */
    int64_t credit;                      /* steps */
    bool has_reserved;                   /* the last look found class queues that reservations hold up */
    /* scratch of a look */
    struct queue_selection_field field;
    struct kept_space_class_queue *class_queues; /* by entry of the field */
    size_t class_queue_capacity;
    uint32_t *taken; /* slots that would start */
    size_t taken_capacity;
    uint32_t taken_count;
};

/* One trial. */
struct look {
    struct sched *sched;
    struct kept_space *scratch;
    enum clock_hand hand; /* what the trial leaves out: HAND_HEADROOM or HAND_RESERVED_FOR_OTHER */
    uint64_t visits;      /* count of jobs read in heaps */
    uint64_t tries;
};

void kept_space_init(struct sched *sched)
{
    sched->kept = mem_zalloc(1, sizeof *sched->kept);
    sched->kept->credit = KEPT_SPACE_CREDIT;
}

void kept_space_release(struct sched *sched)
{
    queue_selection_field_release(&sched->kept->field);
    mem_free(sched->kept->class_queues);
    mem_free(sched->kept->taken);
    mem_free(sched->kept);
}

/* ---- Without reservations ---- */

struct reservations { /* the reservations set aside in a trial */
    size_t mark;
    uint32_t planned_start_count;
};

/* Set claims, drained nodes and planned starts aside until lent_end.  Their own jobs take no part in between. */
static struct reservations lend(struct sched *sched)
{
    return (struct reservations){lend_reservations(sched), planned_start_set_aside(sched)};
}

static void lent_end(struct sched *sched, struct reservations gone)
{
    lend_end(sched, gone.mark);
    planned_start_bring_back(sched, gone.planned_start_count);
}

/* Find again why closed request classes do not fit, since reservations may have changed.  Returns the cost in steps. */
static int64_t judge_again(struct sched *sched)
{
    int64_t tries = 0;
    for (uint32_t id = request_class_next_closed(&sched->request_classes, 0); id < sched->request_classes.count;
         id = request_class_next_closed(&sched->request_classes, id + 1)) {
        const struct request_class *request_class = &sched->request_classes.at[id];
        if (!(request_class->closed & REQUEST_CLASS_BLOCKED) ||
            !(lend_is_any(sched) || request_class->blocked_by == HAND_RESERVED_FOR_OTHER))
            continue;
        waits_close_request_class(sched, id, request_class->closed);
        tries++;
    }
    return tries * STEPS_PER_TRY;
}

/* ---- Jobs of a class queue, in their order ---- */

typedef bool passes_over(const struct sched_job *job);

static bool is_taken(const struct sched_job *job)
{
    return job->wait.is_taken;
}

static bool is_not_behind(const struct sched_job *job)
{
    return job->wait.kind != WAIT_CLASS_QUEUE;
}

/* The first job in order, among `best` and the jobs of the heap from position `at` down, that is not passed over. */
static uint32_t first_job(const struct pending *pending, const struct class_queue *class_queue, uint32_t at,
                          passes_over *passes, uint32_t best, uint64_t *visits)
{
    if (at >= class_queue->count)
        return best;
    const uint32_t slot = class_queue->heap[at].slot;
    ++*visits;
    if (best != SLOT_NONE && pending_compare(pending, best, slot) < 0)
        return best; /* all jobs below come later */
    if (!passes(&pending->jobs->jobs[slot]))
        return slot;
    for (uint32_t child = 4 * at + 1; child <= 4 * at + 4; child++)
        best = first_job(pending, class_queue, child, passes, best, visits);
    return best;
}

/* ---- The queue selection in the trial ---- */

/* Is a claim charged to the queue, or to one below it? */
static bool has_claim(const struct sched *sched, queue_id queue)
{
    for (uint32_t c = 0; c < sched->claims.count; c++)
        for (queue_id q = sched->jobs.jobs[sched->claims.slots[c]].queue; q != QUEUE_NONE;
             q = sched->tree.queues[q].parent)
            if (q == queue)
                return true;
    return false;
}

/* Does the class queue take part in the trial?  It does if the kept space that the trial ignores holds it up, or if
 * nothing holds it up (its turn is still to come).  A trial without reservations uses less of the headroom, so class
 * queues that the headroom holds up take part too; and those whose limit a claim uses up, since they would be opened
 * again (sched_reopen_below). */
static bool takes_part(const struct look *look, uint32_t class_queue)
{
    const struct sched *sched = look->sched;
    const enum clock_hand hand = pending_hand(&sched->pending, class_queue, true);
    if (hand == look->hand || hand == HAND_NONE)
        return true;
    return look->hand == HAND_RESERVED_FOR_OTHER &&
           (hand == HAND_HEADROOM ||
            (hand == HAND_LIMIT && has_claim(sched, sched->pending.class_queues[class_queue].quota_block)));
}

/* List the class queues that take part.  Returns how many are held up by the kept space that the trial ignores. */
static uint32_t list_class_queues(struct look *look)
{
    const struct pending *pending = &look->sched->pending;
    struct queue_selection_field *field = &look->scratch->field;
    uint32_t held_up = 0;
    for (uint32_t b = 0; b < pending->busy_count; b++) {
        const uint32_t class_queue = pending->busy[b];
        if (!takes_part(look, class_queue))
            continue;
        MEM_GROW(field->entries, field->entry_capacity, (size_t)field->entry_count + 1);
        MEM_GROW(look->scratch->class_queues, look->scratch->class_queue_capacity, (size_t)field->entry_count + 1);
        look->scratch->class_queues[field->entry_count] = (struct kept_space_class_queue){.instead = HAND_NONE};
        field->entries[field->entry_count++] =
            (struct queue_selection_entry){.class_queue = class_queue, .slot = pending_head(pending, class_queue)};
        held_up += pending_hand(pending, class_queue, true) == look->hand;
    }
    return held_up;
}

/* In a strict leaf queue: does a job go before it whose class queue takes no part? */
static bool is_behind_another(const struct look *look, const struct queue_selection_entry *entry)
{
    const struct pending *pending = &look->sched->pending;
    const struct leaf_queue *leaf_queue = &pending->leaf_queues[pending->class_queues[entry->class_queue].leaf_queue];
    for (uint32_t l = 0; l < leaf_queue->class_queue_count && pending->is_strict; l++) {
        const uint32_t class_queue = leaf_queue->class_queues[l].class_queue;
        if (pending->class_queues[class_queue].count > 0 && !takes_part(look, class_queue) &&
            !pending_is_out_of_line(pending, class_queue) &&
            pending_compare(pending, pending_head(pending, class_queue), entry->slot) < 0)
            return true;
    }
    return false;
}

/* No more jobs of the entry start; `hand` is the reason.  is_shape: nor of entries of the same request class.  In a
 * strict leaf queue the entries behind it stop too, unless they pass it. */
static void drop(struct look *look, uint32_t index, enum clock_hand hand, bool is_shape)
{
    struct sched *sched = look->sched;
    struct queue_selection_field *field = &look->scratch->field;
    const struct class_queue *class_queue = &sched->pending.class_queues[field->entries[index].class_queue];
    const bool stops = sched->pending.is_strict && !(hand == HAND_LIMIT && class_queue->limited_by != QUEUE_ROOT) &&
                       !request_class_is_surplus(&sched->request_classes.at[class_queue->request_class]);
    field->entries[index].is_out = true;
    look->scratch->class_queues[index].instead = (uint8_t)hand;
    for (uint32_t e = 0; e < field->entry_count; e++) {
        struct queue_selection_entry *entry = &field->entries[e];
        const struct class_queue *other = &sched->pending.class_queues[entry->class_queue];
        const bool is_alike = is_shape && other->request_class == class_queue->request_class;
        const bool is_behind = stops && other->leaf_queue == class_queue->leaf_queue;
        if (entry->is_out || (!is_alike && !is_behind))
            continue;
        entry->is_out = true;
        look->scratch->class_queues[e].instead = is_alike ? (uint8_t)hand : HAND_NONE;
    }
    queue_selection_field_left(field, &sched->tree, &sched->pending);
    field->work += field->entry_count / CLASS_QUEUES_PER_STEP;
}

/* Take the space of the job in the trial.  Returns HAND_NONE, or why it does not start. */
static enum clock_hand place(struct look *look, uint32_t slot)
{
    struct sched *sched = look->sched;
    const struct request_class *ask = sched_ask(sched, &sched->jobs.jobs[slot]);
    const struct free_space before = headroom_free(sched);
    size_t mark = ledger_mark(sched->ledger);
    bool fits = sched_place(sched, slot, &sched->pieces);
    if (!fits) {
        ledger_rollback(sched->ledger, mark);
        return waits_blocked_by(sched, ask);
    }
    if (sched->reserves && !reserve_is_clear(sched, slot, &sched->pieces)) {
        ledger_rollback(sched->ledger, mark);
        mark = ledger_mark(sched->ledger);
        if (!reserve_place(sched, slot)) {
            ledger_rollback(sched->ledger, mark);
            return HAND_RESERVED_FOR_OTHER;
        }
    }
    if (look->hand != HAND_HEADROOM && !headroom_is_for(sched, slot) && headroom_spares(sched, slot, before) != 0) {
        ledger_rollback(sched->ledger, mark);
        return HAND_HEADROOM;
    }
    ledger_commit(sched->ledger, mark);
    return HAND_NONE;
}

static void charge(struct sched *sched, uint32_t slot)
{
    int64_t amounts[QUEUE_SUM_COUNT] = {0};
    for (uint32_t p = 0; p < sched->pieces.count; p++)
        sched_add_charge(sched, slot, &sched->pieces.pieces[p], 1, amounts);
    ledger_charge(sched->ledger, sched->jobs.jobs[slot].queue, amounts);
}

/* The job of the entry starts in the trial; the entry goes on with the next job of its class queue. */
static void take(struct look *look, uint32_t index)
{
    struct sched *sched = look->sched;
    struct kept_space *scratch = look->scratch;
    struct queue_selection_entry *entry = &scratch->field.entries[index];
    charge(sched, entry->slot);
    sched->jobs.jobs[entry->slot].wait.is_taken = true;
    MEM_GROW(scratch->taken, scratch->taken_capacity, (size_t)scratch->taken_count + 1);
    scratch->taken[scratch->taken_count++] = entry->slot;
    scratch->class_queues[index].taken++;
    entry->slot = first_job(&sched->pending, &sched->pending.class_queues[entry->class_queue], 0, is_taken, SLOT_NONE,
                            &look->visits);
    entry->is_out = entry->slot == SLOT_NONE;
    queue_selection_field_changed(&scratch->field, &sched->tree, &sched->pending, index);
}

static void try_next(struct look *look, uint32_t index)
{
    struct sched *sched = look->sched;
    const struct queue_selection_entry *entry = &look->scratch->field.entries[index];
    const struct sched_job *job = &sched->jobs.jobs[entry->slot];
    const struct quota_policy *quota = sched->policy.quota;
    look->tries++;
    if (is_behind_another(look, entry)) {
        drop(look, index, HAND_NONE, false);
        return;
    }
    if (queue_tree_forbids(&sched->tree, job->queue, sched_ask(sched, job)->charge) != QUEUE_NONE) {
        drop(look, index, HAND_LIMIT, false);
        return;
    }
    const enum clock_hand hand = place(look, entry->slot);
    if (hand == HAND_NONE)
        take(look, index);
    else if (quota->confines != NULL && !sched_ask(sched, job)->is_preemptible)
        drop(look, index, HAND_LIMIT, false); /* its queue's cells cannot hold it */
    else                                      /* space kept for owners is closed to borrowers only */
        drop(look, index, hand, hand != HAND_HEADROOM);
}

/* The entry to try next: the first inference job, if the policy starts inference first; else that of the queue
 * selection. */
static uint32_t next_entry(const struct look *look)
{
    const struct queue_selection_field *field = &look->scratch->field;
    const struct pending *pending = &look->sched->pending;
    uint32_t best = QUEUE_SELECTION_NONE;
    for (uint32_t e = 0;
         e < field->entry_count && look->sched->policy.inference_first && look->hand == HAND_RESERVED_FOR_OTHER; e++)
        if (!field->entries[e].is_out && pending->class_queues[field->entries[e].class_queue].class == JOB_INFERENCE &&
            (best == QUEUE_SELECTION_NONE ||
             pending_compare(pending, field->entries[e].slot, field->entries[best].slot) < 0))
            best = e;
    return best != QUEUE_SELECTION_NONE ? best : queue_selection_field_next(field);
}

/* ---- The reasons of class queues ---- */

/* Put exactly the jobs in front that would start. */
static void set_front(struct look *look, const struct class_queue *class_queue)
{
    struct sched *sched = look->sched;
    for (uint32_t i = 0; i < class_queue->count; i++) {
        const uint32_t slot = class_queue->heap[i].slot;
        const struct wait_mark *wait = &sched->jobs.jobs[slot].wait;
        if (wait->kind == (wait->is_taken ? WAIT_CLASS_QUEUE : WAIT_FRONT))
            waits_in_class_queue(sched, slot, wait->is_taken);
    }
    look->visits += class_queue->count;
}

static void tell(struct look *look)
{
    struct sched *sched = look->sched;
    const struct queue_selection_field *field = &look->scratch->field;
    for (uint32_t e = 0; e < field->entry_count; e++) {
        const uint32_t id = field->entries[e].class_queue;
        const struct kept_space_class_queue *found = &look->scratch->class_queues[e];
        const struct class_queue *class_queue = &sched->pending.class_queues[id];
        if (pending_hand(&sched->pending, id, true) != look->hand)
            continue;
        const bool are_all_taken = field->entries[e].slot == SLOT_NONE;
        /* Without reservations the headroom still holds it up: to remove either alone does not start it. */
        const bool is_by_both = look->hand == HAND_RESERVED_FOR_OTHER && found->instead == HAND_HEADROOM;
        pending_split(&sched->pending, id, look->hand,
                      is_by_both      ? HAND_RESOURCES
                      : are_all_taken ? look->hand
                                      : (enum clock_hand)found->instead);
        if (found->taken + class_queue->front_count > 0)
            set_front(look, class_queue);
    }
}

/* Make one trial and tell the class queues what it found.  Returns its cost in steps. */
static int64_t look_without(struct sched *sched, enum clock_hand hand)
{
    struct look look = {.sched = sched, .scratch = sched->kept, .hand = hand};
    struct queue_selection_field *field = &sched->kept->field;
    const uint32_t held_up = list_class_queues(&look);
    struct reservations gone;
    if (hand == HAND_RESERVED_FOR_OTHER)
        sched->kept->has_reserved = held_up > 0;
    field->work = sched->pending.busy_count / CLASS_QUEUES_PER_STEP + 1;
    if (held_up == 0) {
        field->entry_count = 0;
        return (int64_t)field->work;
    }
    if (hand == HAND_RESERVED_FOR_OTHER)
        gone = lend(sched);
    else
        gone.mark = ledger_mark(sched->ledger);
    queue_selection_field_open(field, &sched->tree, &sched->pending);
    for (uint32_t e = next_entry(&look); e != QUEUE_SELECTION_NONE; e = next_entry(&look))
        try_next(&look, e);
    if (hand == HAND_RESERVED_FOR_OTHER)
        lent_end(sched, gone);
    else
        ledger_rollback(sched->ledger, gone.mark);
    tell(&look);
    queue_selection_field_close(field, &sched->tree, &sched->pending);
    for (uint32_t i = 0; i < sched->kept->taken_count; i++)
        sched->jobs.jobs[sched->kept->taken[i]].wait.is_taken = false;
    sched->kept->taken_count = 0;
    return (int64_t)(field->work + look.tries * STEPS_PER_TRY + look.visits / JOBS_PER_STEP);
}

/* ---- Looks, and between them ---- */

/* For each job that has left the front of a class queue, put the next job in front. */
static void follow(struct sched *sched)
{
    const struct waits *waits = &sched->waits;
    uint64_t visits = 0;
    for (uint32_t i = 0; i < waits->thin_count; i++) {
        const struct class_queue *class_queue = &sched->pending.class_queues[waits->thin[i]];
        const uint32_t slot = class_queue->front_count < class_queue->count
                                  ? first_job(&sched->pending, class_queue, 0, is_not_behind, SLOT_NONE, &visits)
                                  : SLOT_NONE;
        if (slot != SLOT_NONE)
            waits_in_class_queue(sched, slot, true);
    }
    waits_fronts_are_set(sched);
}

/* The likely cost of a look, in steps: it tries each waiting job, but no more jobs than there are free GPUs. */
static int64_t likely_cost(const struct sched *sched)
{
    const int64_t gpus = sched_free_milli(sched) / GPU_MILLI, jobs = sched->pending.job_count;
    return sched->pending.busy_count / CLASS_QUEUES_PER_STEP + (jobs < gpus ? jobs : gpus) * STEPS_PER_TRY;
}

void kept_space_look(struct sched *sched)
{
    struct kept_space *kept = sched->kept;
    if (kept_space_is_fresh(sched))
        return;
    kept->credit += (int64_t)(sched->changes - kept->seen_change);
    if (kept->credit > KEPT_SPACE_CREDIT_MAX)
        kept->credit = KEPT_SPACE_CREDIT_MAX;
    kept->seen_change = sched->changes;
    if (sched->waits.thin_count > 0)
        follow(sched);
    if (kept->credit < KEPT_SPACE_PRICE * likely_cost(sched))
        return;
    kept->looked_change = sched->changes;
    if (headroom_is_kept(sched))
        kept->credit -= KEPT_SPACE_PRICE * look_without(sched, HAND_HEADROOM);
    if (lend_is_any(sched) || kept->has_reserved || planned_start_is_any(sched)) {
        kept->credit -= KEPT_SPACE_PRICE * judge_again(sched);
        kept->credit -= KEPT_SPACE_PRICE * look_without(sched, HAND_RESERVED_FOR_OTHER);
    }
    waits_fronts_are_set(sched); /* by the look */
}

bool kept_space_is_fresh(const struct sched *sched)
{
    return sched->changes == sched->kept->looked_change;
}
