/* A pass: planned starts that stand are put in order, and the space over time beside them is computed again.
 *
 * Where GPUs are named, a pass rebuilds the profile (policies/reservation/profile.h) of each node on which a holding, a
 * planned start or a planned end has changed since the last pass.  Where planned starts are counted, it counts what
 * will be free on all nodes (planned_units.c).  When that changes, planned starts that stand lose their pieces or get
 * some.
 * Cost: O(running jobs + planned starts) if any node has changed. */
#include "policies/booking/planned_end.h"
#include "policies/reservation/planned_start.h"
#include "policies/reservation/profile.h"
#include "policies/reservation/reservation.h"
#include "policies/state/sched_state.h"

/* Where planned starts stand: extend the planned end by a quarter of the run time, at least a second.  With an end in
 * the next instant, all promises behind the job would fail again in every pass. */
static void extend_outlived(struct sched *sched)
{
    struct planned_start_book *book = sched->planned_starts;
    while (book->end_count > 0 && book->ends[0].end <= sched->now) {
        const uint32_t slot = book->ends[0].slot;
        const time_ns decided = sched->jobs.jobs[slot].decided;
        time_ns end = book->ends[0].end;
        while (end <= sched->now) { /* the result does not depend on when the cycles are */
            time_ns more = (end - decided) / 4;
            end = time_after(end, more > TIME_NS_PER_S ? more : TIME_NS_PER_S);
        }
        planned_start_move_end(sched, slot, end);
        book->outlived_at = sched->now;
    }
}

static void mark_outlived(struct sched *sched)
{
    struct planned_start_book *book = sched->planned_starts;
    for (uint32_t e = 0; e < book->end_count && book->ends[e].end <= sched->now; e++) {
        planned_start_mark_job(sched, book->ends[e].slot);
        if (!fillers_has(sched, book->ends[e].slot))
            book->outlived_at = sched->now;
    }
}

static void draw_stale(struct sched *sched)
{
    struct planned_start_book *book = sched->planned_starts;
    struct node_marks *stale = &book->stale;
    if (book->profile.ledger == NULL)
        for (node_id n = 0; n < sched->cluster->node_count; n++)
            planned_start_mark_node(sched, n);
    for (uint32_t i = 0; i < stale->count; i++)
        profile_begin(&book->profile, sched->ledger, stale->nodes[i], sched->now);
    for (uint32_t e = 0; e < book->end_count && stale->count > 0; e++) {
        const uint32_t slot = book->ends[e].slot;
        const struct sched_job *job = &sched->jobs.jobs[slot];
        for (uint32_t h = 0; h < job->holding_count; h++) {
            const struct piece *piece = &sched_job_holding(job, h)->piece;
            if (!stale->is_marked[piece->node])
                continue;
            struct space space = request_class_space(&sched->request_classes.at[job->request_class], piece, slot);
            profile_leaves(&book->profile, &space, planned_start_end(sched, e));
        }
    }
    for (uint32_t f = 0; f < book->count; f++) {
        const struct planned_start *planned_start = &book->of[f];
        for (uint32_t p = 0; p < planned_start->piece_count && stale->count > 0; p++)
            if (stale->is_marked[book->pieces[planned_start->first_piece + p].node]) {
                struct space space = planned_start_space(sched, planned_start, p);
                profile_take(&book->profile, &space, planned_start->start, planned_start->end);
            }
    }
    node_marks_forget(stale);
}

static void note_endless(struct planned_start_book *book)
{
    book->has_endless = book->endless_count > 0;
    for (uint32_t f = 0; f < book->count; f++)
        book->has_endless |= book->of[f].job != JOB_NONE && book->of[f].end == TIME_NEVER;
}

/* By start; an insertion sort, because nearly all are in order already. */
static void put_in_order(struct planned_start_book *book)
{
    for (uint32_t f = 1; f < book->count; f++) {
        const struct planned_start own = book->of[f];
        uint32_t at = f;
        for (; at > 0 && (book->of[at - 1].start > own.start ||
                          (book->of[at - 1].start == own.start && book->of[at - 1].made > own.made));
             at--)
            book->of[at] = book->of[at - 1];
        book->of[at] = own;
    }
}

/* From names to counts. */
static void count_all(struct sched *sched)
{
    struct planned_start_book *book = sched->planned_starts;
    for (uint32_t f = 0; f < book->count; f++) {
        struct planned_start *own = &book->of[f];
        planned_start_mark(sched, own, false);
        own->units = own->job != JOB_NONE ? planned_units_asked(sched, own->ask) : 0;
        own->first_piece = own->piece_count = 0;
    }
    book->piece_count = 0;
}

static void drop_lost(struct sched *sched)
{
    struct planned_start_book *book = sched->planned_starts;
    for (uint32_t f = 0; f < book->count; f++)
        if (book->of[f].job != JOB_NONE && book->of[f].is_ignored)
            planned_start_forget_one(sched, &book->of[f]);
}

void planned_start_begin(struct sched *sched)
{
    enum { DROPPED_MAX = 64 };
    struct planned_start_book *book = sched->planned_starts;
    book->skipped = UINT32_MAX;
    book->cycle = sched->cycle;
    if (!sched->policy.backfill_config.keeps)
        planned_start_forget_all(sched);
    else if (book->is_shaken || book->dropped > DROPPED_MAX + book->count / 4)
        planned_start_keep_standing(sched);
    put_in_order(book);
    const uint16_t counted = book->units.gpus;
    planned_units_choose(sched);
    if (counted == 0 && book->units.gpus > 0)
        count_all(sched);
    if (sched->policy.backfill_config.keeps)
        extend_outlived(sched);
    else
        mark_outlived(sched);
    if (book->units.gpus == 0)
        draw_stale(sched);
    else if (planned_units_draw(sched, book->units.has_lost) > 0)
        drop_lost(sched);
    book->units.has_lost = false;
    if (counted > 0 && book->units.gpus == 0)
        planned_start_name_all(sched);
    note_endless(book);
}

void planned_start_sharpen(struct sched *sched)
{
    if (sched->planned_starts->is_approximate)
        draw_stale(sched);
    sched->planned_starts->is_approximate = false;
}

void planned_start_end_pass(struct sched *sched)
{
    node_marks_forget(&sched->planned_starts->freed);
    sched->planned_starts->units.is_freed = false;
}

void planned_start_started(struct sched *sched, uint32_t slot)
{
    struct planned_start_book *book = sched->planned_starts;
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const time_ns end =
        book->end_of[slot] > sched->now ? book->end_of[slot] : planned_end_rounded(sched, sched->now + 1);
    if (book->units.gpus > 0)
        planned_units_take(sched, sched->now, end, planned_units_starting(sched, slot));
    for (uint32_t h = 0; h < job->holding_count && book->units.gpus == 0; h++) {
        struct space space = request_class_space(&sched->request_classes.at[job->request_class],
                                                 &sched_job_holding(job, h)->piece, slot);
        if (sched_job_holding(job, h)->phase == HOLDING_STARTING)
            profile_take(&book->profile, &space, sched->now, end);
    }
    book->has_endless |= book->end_of[slot] == TIME_NEVER;
}
