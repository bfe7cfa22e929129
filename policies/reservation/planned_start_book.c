/* The book of planned starts, and what they are computed from: the planned ends of running jobs and a profile of every
 * node.
 *
 * A planned end is computed when a booking changes what a job holds: START and length; for a leaving job the grace; for
 * one with claims the grace and the length (policies/booking/planned_end.c).  A job that has outlived its planned
 * end is assumed to end in the next instant or, where planned starts stand (backfill.keeps), after another quarter of
 * its planned run time.
 * Cost: O(log running jobs) to find the place of an end, and a move of the ends behind it. */
#include <string.h>

#include "policies/booking/planned_end.h"
#include "policies/reservation/planned_start.h"
#include "policies/reservation/profile.h"
#include "policies/reservation/reservation.h"
#include "policies/state/sched_state.h"

/* ---- Nodes whose profile must be rebuilt ----------------------------------------------------------- */

void planned_start_mark_node(struct sched *sched, node_id node)
{
    node_marks_add(&sched->planned_starts->stale, sched->cluster->node_count, node);
}

static void note_freed(struct sched *sched, node_id node)
{
    node_marks_add(&sched->planned_starts->freed, sched->cluster->node_count, node);
}

void planned_start_mark_job(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    for (uint32_t h = 0; h < job->holding_count; h++)
        planned_start_mark_node(sched, sched_job_holding(job, h)->piece.node);
}

void planned_start_mark(struct sched *sched, const struct planned_start *planned_start, bool is_gone)
{
    sched->planned_starts->units.is_freed |= is_gone && planned_start->units > 0;
    for (uint32_t p = 0; p < planned_start->piece_count; p++) {
        const node_id node = sched->planned_starts->pieces[planned_start->first_piece + p].node;
        planned_start_mark_node(sched, node);
        if (is_gone)
            note_freed(sched, node);
    }
}

void planned_start_node_changed(struct sched *sched, void *own, node_id node, bool has_turned)
{
    struct planned_start_book *book = own;
    if (!has_turned)
        return;
    planned_start_mark_node(sched, node);
    note_freed(sched, node);
    book->units.is_unsure = book->units.has_lost = true;
    book->is_shaken = true;
    book->outlived_at = sched->now; /* no planned start could foresee it */
}

/* ---- Ends ------------------------------------------------------------------------------------------ */

/* The index at which the entry is, or must be inserted. */
static uint32_t place_of(const struct planned_start_book *book, const struct running_end *entry)
{
    uint32_t low = 0, high = book->end_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (running_end_compare(&book->ends[middle], entry) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void remove_end(struct planned_start_book *book, uint32_t slot)
{
    const struct running_end entry = {book->end_of[slot], slot};
    if (entry.end == 0)
        return;
    book->end_of[slot] = 0;
    if (entry.end == TIME_NEVER) {
        book->endless_count--;
        return;
    }
    uint32_t at = place_of(book, &entry);
    book->end_count--;
    memmove(&book->ends[at], &book->ends[at + 1], (book->end_count - at) * sizeof *book->ends);
}

static void add_end(struct planned_start_book *book, uint32_t slot, time_ns end)
{
    const struct running_end entry = {end, slot};
    book->end_of[slot] = end;
    if (end == TIME_NEVER) {
        book->endless_count++;
        return;
    }
    MEM_GROW(book->ends, book->end_capacity, (size_t)book->end_count + 1);
    uint32_t at = place_of(book, &entry);
    memmove(&book->ends[at + 1], &book->ends[at], (book->end_count - at) * sizeof *book->ends);
    book->ends[at] = entry;
    book->end_count++;
}

void planned_start_move_end(struct sched *sched, uint32_t slot, time_ns end)
{
    planned_start_mark_job(sched, slot);
    remove_end(sched->planned_starts, slot);
    add_end(sched->planned_starts, slot, end);
}

static void know_slots(struct planned_start_book *book, uint32_t count)
{
    if (count <= book->end_of_capacity)
        return;
    MEM_GROW(book->end_of, book->end_of_capacity, (size_t)count);
    MEM_GROW(book->is_promised, book->promised_capacity, book->end_of_capacity);
    MEM_GROW(book->promises, book->promise_capacity, book->end_of_capacity);
}

time_ns planned_start_end_of(const struct sched *sched, uint32_t slot)
{
    const time_ns decided = sched->jobs.jobs[slot].decided;
    return !fillers_has(sched, slot) ? planned_end(sched, slot) : decided < 1 ? 1 : decided;
}

/* What the job holds changes after its planned end. */
static void note_outlived(struct sched *sched, uint32_t slot)
{
    struct planned_start_book *book = sched->planned_starts;
    const bool is_filler = fillers_lists(sched, slot) && book->end_of[slot] <= sched->jobs.jobs[slot].decided;
    if (book->end_of[slot] != 0 && book->end_of[slot] < sched->now && !is_filler)
        book->outlived_at = sched->now;
}

void planned_start_settled(struct sched *sched, void *own, uint32_t slot)
{
    struct planned_start_book *book = own;
    const struct sched_job *job = &sched->jobs.jobs[slot];
    know_slots(book, sched->jobs.used);
    note_outlived(sched, slot);
    planned_start_mark_job(sched, slot);
    remove_end(book, slot);
    if (job->holding_count > 0)
        add_end(book, slot, planned_start_end_of(sched, slot));
    planned_units_settle(sched, slot);
}

void planned_start_forgotten(struct sched *sched, void *own, uint32_t slot)
{
    struct planned_start_book *book = own;
    know_slots(book, sched->jobs.used);
    note_outlived(sched, slot);
    remove_end(book, slot);
    planned_units_forget(sched, slot);
    book->promises[slot].start = 0;
}

void planned_start_released(struct sched *sched, void *own, uint32_t slot, node_id node)
{
    struct planned_start_book *book = own;
    planned_start_mark_node(sched, node);
    if (slot < book->end_of_capacity && book->end_of[slot] > sched->now)
        note_freed(sched, node);
}

void planned_start_unwaits(struct sched *sched, void *own, uint32_t slot)
{
    struct planned_start_book *book = own;
    (void)sched;
    book->is_shaken |= planned_start_has(book, slot);
}

/* ---- Planned starts ------------------------------------------------------------------------------------- */

typedef void draw_fn(struct profile *, const struct space *, time_ns, time_ns);

/* A piece of a shared GPU cannot be given back to the profile, which does not know the other users of the GPU; the
 * profile of its node must be rebuilt instead. */
static bool may_be_given_back(const struct space *space)
{
    return space->gpu_mask == 0 || (space->gpu_milli == GPU_MILLI && space->mig == 0);
}

static void draw(struct sched *sched, const struct planned_start *planned_start, draw_fn *change)
{
    if (planned_start->units > 0)
        (change == profile_take ? planned_units_take : planned_units_give)(sched, planned_start->start,
                                                                           planned_start->end, planned_start->units);
    for (uint32_t p = 0; p < planned_start->piece_count; p++) {
        struct space space = planned_start_space(sched, planned_start, p);
        if (may_be_given_back(&space)) {
            change(&sched->planned_starts->profile, &space, planned_start->start, planned_start->end);
            continue;
        }
        planned_start_mark_node(sched, space.node);
        sched->planned_starts->is_approximate = true;
    }
}

void planned_start_name(struct sched *sched, struct planned_start *planned_start)
{
    struct planned_start_book *book = sched->planned_starts;
    MEM_GROW(book->pieces, book->piece_capacity, (size_t)book->piece_count + sched->pieces.count);
    planned_start->units = 0;
    planned_start->first_piece = book->piece_count;
    planned_start->piece_count = sched->pieces.count;
    for (uint32_t p = 0; p < sched->pieces.count; p++)
        book->pieces[book->piece_count++] = sched->pieces.pieces[p];
}

struct planned_start *planned_start_append(struct sched *sched, uint32_t slot, uint8_t group, time_ns start)
{
    struct planned_start_book *book = sched->planned_starts;
    know_slots(book, sched->jobs.used);
    book->is_promised[slot] = 1;
    MEM_GROW(book->of, book->capacity, (size_t)book->count + 1);
    struct planned_start *own = &book->of[book->count++];
    *own = (struct planned_start){.slot = slot,
                                  .job = sched->jobs.jobs[slot].id,
                                  .ask = sched->jobs.jobs[slot].ask,
                                  .group = group,
                                  .start = start,
                                  .end = planned_end_after(sched, start, slot),
                                  .made = ++book->made};
    if (book->units.gpus > 0)
        own->units = planned_units_asked(sched, own->ask);
    else
        planned_start_name(sched, own);
    return own;
}

void planned_start_take(struct sched *sched, const struct planned_start *planned_start)
{
    if (planned_start->units > 0)
        planned_units_take(sched, planned_start->start, planned_start->end, planned_start->units);
    for (uint32_t p = 0; p < planned_start->piece_count; p++) {
        struct space space = planned_start_space(sched, planned_start, p);
        profile_take(&sched->planned_starts->profile, &space, planned_start->start, planned_start->end);
    }
}

void planned_start_add(struct sched *sched, uint32_t slot, uint8_t group, time_ns start)
{
    struct planned_start_book *book = sched->planned_starts;
    const struct planned_start *own = planned_start_append(sched, slot, group, start);
    planned_start_note_promise(sched, own, book->count == 1);
    book->has_endless |= own->end == TIME_NEVER;
    planned_start_take(sched, own);
}

void planned_start_lift(struct sched *sched, uint32_t index)
{
    struct planned_start_book *book = sched->planned_starts;
    book->skipped = index;
    book->is_promised[book->of[index].slot] = 0;
    draw(sched, &book->of[index], profile_give);
}

void planned_start_put_back(struct sched *sched, uint32_t index)
{
    struct planned_start_book *book = sched->planned_starts;
    book->skipped = UINT32_MAX;
    book->is_promised[book->of[index].slot] = 1;
    draw(sched, &book->of[index], profile_take);
}

void planned_start_replace(struct sched *sched, uint32_t index)
{
    struct planned_start_book *book = sched->planned_starts;
    book->skipped = UINT32_MAX;
    planned_start_mark(sched, &book->of[index], true);
    book->of[index] = book->of[--book->count];
}

void planned_start_forget_one(struct sched *sched, struct planned_start *planned_start)
{
    sched->planned_starts->is_promised[planned_start->slot] = 0;
    planned_start->job = JOB_NONE;
    planned_start->end = 0;
    planned_start->piece_count = 0;
    planned_start->units = 0;
    sched->planned_starts->dropped++;
}

void planned_start_drop(struct sched *sched, uint32_t index)
{
    struct planned_start_book *book = sched->planned_starts;
    book->skipped = UINT32_MAX;
    planned_start_mark(sched, &book->of[index], true);
    planned_start_forget_one(sched, &book->of[index]);
}

void planned_start_fulfil(struct sched *sched, uint32_t index)
{
    struct planned_start_book *book = sched->planned_starts;
    struct planned_start *planned_start = &book->of[index];
    if (planned_start->units == 0) {
        MEM_GROW(sched->pieces.pieces, sched->pieces.capacity, (size_t)planned_start->piece_count);
        memcpy(sched->pieces.pieces, &book->pieces[planned_start->first_piece],
               planned_start->piece_count * sizeof *sched->pieces.pieces);
        sched->pieces.count = planned_start->piece_count;
    }
    book->skipped = UINT32_MAX;
    planned_start_forget_one(sched, planned_start);
}

bool planned_start_is_near_freed(const struct sched *sched, const struct planned_start *planned_start)
{
    const struct planned_start_book *book = sched->planned_starts;
    for (uint32_t p = 0; p < planned_start->piece_count && book->freed.count > 0; p++)
        if (book->freed.is_marked[book->pieces[planned_start->first_piece + p].node])
            return true;
    return false;
}

bool planned_start_waits(const struct sched *sched, const struct planned_start *planned_start)
{
    const struct sched_job *job = &sched->jobs.jobs[planned_start->slot];
    return job->id == planned_start->job && job->class_queue != CLASS_QUEUE_NONE && job->ask == planned_start->ask;
}

/* And do its nodes still take work? */
static bool stands(const struct sched *sched, const struct planned_start *planned_start)
{
    for (uint32_t p = 0; p < planned_start->piece_count; p++)
        if (!sched->ledger->index->is_listed[sched->planned_starts->pieces[planned_start->first_piece + p].node])
            return false;
    return planned_start_waits(sched, planned_start);
}

bool planned_start_keep_standing(struct sched *sched)
{
    struct planned_start_book *book = sched->planned_starts;
    uint32_t count = 0, piece_count = 0;
    MEM_GROW(book->spare, book->spare_capacity, book->piece_capacity);
    for (uint32_t f = 0; f < book->count; f++) {
        struct planned_start kept = book->of[f];
        if (kept.job == JOB_NONE)
            continue;
        if (!stands(sched, &kept)) {
            planned_start_mark(sched, &kept, true);
            book->is_promised[kept.slot] = 0;
            continue;
        }
        if (kept.piece_count > 0) /* else it is planned by count, and there may be no pieces at all */
            memcpy(&book->spare[piece_count], &book->pieces[kept.first_piece], kept.piece_count * sizeof *book->spare);
        kept.first_piece = piece_count;
        piece_count += kept.piece_count;
        book->of[count++] = kept;
    }
    struct piece *pieces = book->pieces;
    size_t capacity = book->piece_capacity;
    book->pieces = book->spare;
    book->piece_capacity = book->spare_capacity;
    book->spare = pieces;
    book->spare_capacity = capacity;
    const bool has_fallen = count + book->dropped < book->count;
    book->count = count;
    book->piece_count = piece_count;
    book->dropped = 0;
    book->is_shaken = false;
    return has_fallen;
}

bool planned_start_shares_node(const struct sched *sched, const struct planned_start *planned_start,
                               const struct piece_list *pieces)
{
    const struct piece *own = &sched->planned_starts->pieces[planned_start->first_piece];
    for (uint32_t i = 0; i < planned_start->piece_count; i++)
        for (uint32_t p = 0; p < pieces->count; p++)
            if (own[i].node == pieces->pieces[p].node)
                return true;
    return false;
}

void planned_start_forget_all(struct sched *sched)
{
    struct planned_start_book *book = sched->planned_starts;
    for (uint32_t f = 0; f < book->count; f++) {
        planned_start_mark(sched, &book->of[f], false);
        book->is_promised[book->of[f].slot] = 0;
    }
    book->count = book->piece_count = book->dropped = 0;
    book->is_shaken = false;
}

void planned_start_release(struct planned_start_book *book)
{
    profile_release(&book->profile);
    mem_free(book->of);
    mem_free(book->pieces);
    mem_free(book->spare);
    mem_free(book->needs);
    mem_free(book->need_of);
    mem_free(book->ends);
    mem_free(book->end_of);
    mem_free(book->is_promised);
    mem_free(book->promises);
    planned_units_release(&book->units);
    mem_free(book->fillers.of);
    mem_free(book->fillers.is_listed);
    piece_list_release(&book->fillers.pieces);
    mem_free(book->overtake.waiting);
    mem_free(book->overtake.cursors);
    mem_free(book->overtake.again);
    mem_free(book->overtake.found);
    mem_free(book->overtake.refused_from);
    mem_free(book->overtake.tallies);
    node_marks_release(&book->stale);
    node_marks_release(&book->freed);
    mem_free(book);
}

time_ns sched_planned_start(const struct sched *sched, job_id id)
{
    const struct planned_start_book *book = sched->planned_starts;
    for (uint32_t f = 0; f < book->count; f++)
        if (book->of[f].job == id)
            return book->of[f].start;
    return TIME_NEVER;
}

bool planned_start_is_fresh(const struct sched *sched)
{
    const struct planned_start_book *book = sched->planned_starts;
    bool is_fresh = book->count > book->dropped &&
                    (sched->policy.backfill_config.keeps || sched->reserves || book->cycle == sched->cycle);
    for (uint32_t f = 0; f < book->count && is_fresh; f++)
        is_fresh = book->of[f].job == JOB_NONE || planned_start_waits(sched, &book->of[f]);
    return is_fresh;
}
