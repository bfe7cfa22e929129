/* Saves and loads the book of planned starts.  Planned starts, planned ends and profiles cannot be recomputed: they
 * depend on earlier cycles and bookings. */
#include "policies/reservation/planned_start.h"
#include "policies/reservation/reservation.h"
#include "policies/state/profile.h"
#include "policies/state/sched_state.h"
#include "policies/util/archive.h"

static void archive_marks(struct archive *archive, const struct sched *sched, struct node_marks *marks)
{
    const uint32_t node_count = sched->cluster->node_count;
    ARCHIVE_KNOWS(struct node_marks, 32);
    ARCHIVE_ARRAY(archive, marks->nodes, marks->capacity, marks->count);
    if (!archive_is_reading(archive))
        return;
    marks->is_marked = mem_zalloc(node_count, sizeof *marks->is_marked);
    for (uint32_t i = 0; i < marks->count; i++) {
        archive_expect(archive, marks->nodes[i] < node_count);
        if (!archive->is_broken)
            marks->is_marked[marks->nodes[i]] = 1;
    }
}

static void archive_planned_starts(struct archive *archive, struct planned_start_book *book)
{
    ARCHIVE_KNOWS(struct planned_start, 56);
    ARCHIVE_ROOM(archive, book->of, book->capacity, book->count);
    for (uint32_t f = 0; f < book->count; f++) {
        struct planned_start *planned_start = &book->of[f];
        ARCHIVE(archive, planned_start->slot);
        ARCHIVE(archive, planned_start->job);
        ARCHIVE(archive, planned_start->ask);
        ARCHIVE(archive, planned_start->group);
        ARCHIVE(archive, planned_start->owed_by);
        ARCHIVE(archive, planned_start->start);
        ARCHIVE(archive, planned_start->end);
        ARCHIVE(archive, planned_start->first_piece);
        ARCHIVE(archive, planned_start->piece_count);
        ARCHIVE(archive, planned_start->units);
        ARCHIVE(archive, planned_start->made);
    }
    ARCHIVE(archive, book->dropped);
    ARCHIVE_ARRAY(archive, book->pieces, book->piece_capacity, book->piece_count);
    for (uint32_t f = 0; f < book->count; f++)
        archive_expect(archive, (uint64_t)book->of[f].first_piece + book->of[f].piece_count <= book->piece_count);
    archive_expect(archive, book->dropped <= book->count);
    ARCHIVE(archive, book->made);
    ARCHIVE(archive, book->is_shaken);
}

/* used: slots of the job table. */
static void archive_ends(struct archive *archive, struct planned_start_book *book, uint32_t used)
{
    ARCHIVE_KNOWS(struct running_end, 16);
    ARCHIVE_ROOM(archive, book->ends, book->end_capacity, book->end_count);
    for (uint32_t e = 0; e < book->end_count; e++) {
        ARCHIVE(archive, book->ends[e].end);
        ARCHIVE(archive, book->ends[e].slot);
        archive_expect(archive, book->ends[e].slot < used && (e == 0 || book->ends[e - 1].end <= book->ends[e].end));
    }
    ARCHIVE(archive, book->endless_count);
    ARCHIVE(archive, book->has_endless);
}

/* A slot beyond the book's arrays has neither an end nor a promise. */
/* Are the ends of jobs, by slot, those in the order of time, each once? */
static bool has_sound_ends(const struct planned_start_book *book, uint32_t used)
{
    uint32_t finite = 0, endless = 0;
    for (uint32_t slot = 0; slot < used; slot++) {
        finite += book->end_of[slot] != 0 && book->end_of[slot] != TIME_NEVER;
        endless += book->end_of[slot] == TIME_NEVER;
    }
    for (uint32_t e = 0; e < book->end_count; e++) {
        const struct running_end *end = &book->ends[e];
        if (book->end_of[end->slot] != end->end || end->end == 0 || end->end == TIME_NEVER ||
            (e > 0 && end[-1].end == end->end && end[-1].slot >= end->slot))
            return false;
    }
    return finite == book->end_count && endless == book->endless_count;
}

static void archive_slots(struct archive *archive, struct sched *sched)
{
    struct planned_start_book *book = sched->planned_starts;
    if (archive_is_reading(archive)) {
        MEM_GROW(book->end_of, book->end_of_capacity, sched->jobs.used);
        MEM_GROW(book->is_promised, book->promised_capacity, book->end_of_capacity);
        MEM_GROW(book->promises, book->promise_capacity, book->end_of_capacity);
    }
    for (uint32_t slot = 0; slot < sched->jobs.used; slot++) {
        time_ns none = 0;
        uint8_t no = 0;
        struct promise never = {0, 0};
        struct promise *promise = slot < book->promise_capacity ? &book->promises[slot] : &never;
        ARCHIVE(archive, *(slot < book->end_of_capacity ? &book->end_of[slot] : &none));
        ARCHIVE(archive, *(slot < book->promised_capacity ? &book->is_promised[slot] : &no));
        ARCHIVE(archive, promise->start);
        ARCHIVE(archive, promise->made_at);
    }
    if (archive_is_reading(archive) && !archive->is_broken)
        archive_expect(archive, has_sound_ends(book, sched->jobs.used));
}

void planned_start_archive(struct archive *archive, struct sched *sched)
{
    struct planned_start_book *book = sched->planned_starts;
    ARCHIVE_KNOWS(struct planned_start_book, 584);
    archive_planned_starts(archive, book);
    archive_ends(archive, book, sched->jobs.used);
    archive_slots(archive, sched);
    if (archive->is_broken)
        return;
    profile_archive(archive, &book->profile, sched->ledger);
    archive_marks(archive, sched, &book->stale);
    archive_marks(archive, sched, &book->eased);
    ARCHIVE(archive, book->outlived_at);
    ARCHIVE(archive, book->cycle);
    ARCHIVE(archive, book->passed_at);
    ARCHIVE(archive, book->passed_change);
    ARCHIVE(archive, book->head);
    ARCHIVE(archive, book->promised_starts);
    ARCHIVE(archive, book->late_starts);
    ARCHIVE(archive, book->units.gpus);
    ARCHIVE(archive, book->units.is_eased);
    ARCHIVE(archive, book->units.has_lost);
    archive_expect(archive, book->units.gpus <= NODE_GPUS_MAX);
    if (archive_is_reading(archive))
        book->units.is_unsure = sched->overtakes;
}

const char *planned_start_check_loaded(const struct sched *sched)
{
    const struct planned_start_book *book = sched->planned_starts;
    for (uint32_t f = 0; f < book->count; f++) {
        const struct planned_start *start = &book->of[f];
        if (start->job == JOB_NONE)
            continue;
        if (start->slot >= sched->jobs.used || start->ask >= sched->request_classes.count) /* the job may be gone */
            return "a planned start is of no job";
        const struct request_class *class = &sched->request_classes.at[start->ask];
        if (start->group != PLANNED_START_MANY && start->group >= class->group_count)
            return "a planned start is of no group";
        if ((start->units > 0) != (book->units.gpus > 0) || (start->units > 0 && start->piece_count > 0) ||
            (start->units > 0 && start->units != planned_units_asked(sched, start->ask)))
            return "a planned start counts other space than its job asks for";
        for (uint32_t p = 0; p < start->piece_count; p++)
            if (!request_class_may_hold(class, &book->pieces[start->first_piece + p], sched->cluster))
                return "a planned start is on what there is not";
    }
    return NULL;
}
