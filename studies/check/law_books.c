#include "studies/check/law_books.h"

struct book_job *law_books_job(const struct law_books *books, job_id id)
{
    return id < books->job_count && books->jobs[id].state != BOOK_UNKNOWN ? &books->jobs[id] : NULL;
}

uint32_t book_job_asked(const struct book_job *job)
{
    uint32_t asked = 0;
    for (uint32_t g = 0; g < job->job.group_count; g++)
        asked += job_group(&job->job, g)->count;
    return asked;
}

uint32_t book_job_held(const struct book_job *job)
{
    uint32_t held = 0;
    for (uint32_t g = 0; g < job->job.group_count; g++)
        held += job->members[g];
    return held;
}

/* ---- The minimum ---- */

static bool has_sets(const struct book_job *job, uint16_t parent);

static bool is_satisfied(const struct book_job *job, uint16_t set)
{
    uint32_t members = 0;
    for (uint32_t g = 0; g < job->job.group_count; g++)
        members += job_group(&job->job, g)->set == set ? job->members[g] : 0;
    return members >= job->job.sets[set].min_members && has_sets(job, set);
}

/* Are enough of the sets satisfied that lie directly in this one? */
static bool has_sets(const struct book_job *job, uint16_t parent)
{
    uint32_t count = 0, satisfied = 0;
    for (uint16_t s = 0; s < job->job.set_count; s++)
        if (job->job.sets[s].parent == parent) {
            count++;
            satisfied += is_satisfied(job, s);
        }
    const uint32_t needed = parent == SET_NONE ? job->job.min_sets : job->job.sets[parent].min_sets;
    return satisfied >= (needed == 0 ? count : needed);
}

bool book_job_has_minimum(const struct book_job *job)
{
    const struct job *own = &job->job;
    if (own->set_count > 0)
        return has_sets(job, SET_NONE) && book_job_held(job) > 0;
    uint32_t satisfied = 0;
    for (uint32_t g = 0; g < own->group_count; g++)
        satisfied += job->members[g] >= job_group(own, g)->min_count;
    return satisfied >= (own->min_sets == 0 ? own->group_count : own->min_sets);
}

/* ---- Facts ---- */

static void submit(struct law_books *books, const struct job *job)
{
    MEM_GROW(books->jobs, books->job_capacity, (size_t)job->id + 1);
    if (books->job_count <= job->id)
        books->job_count = job->id + 1;
    struct book_job *own = &books->jobs[job->id];
    own->state = BOOK_WAITS;
    own->evicted_for = JOB_NONE;
    own->job = *job;
    own->members = arena_alloc_array(&books->arena, job->group_count, uint32_t);
    if (job->group_count > 1) {
        struct job_group *more = arena_alloc_array(&books->arena, job->group_count - 1u, struct job_group);
        memcpy(more, job->more, (job->group_count - 1u) * sizeof *more);
        own->job.more = more;
    }
    if (job->set_count > 0) {
        struct job_set *sets = arena_alloc_array(&books->arena, job->set_count, struct job_set);
        memcpy(sets, job->sets, job->set_count * sizeof *sets);
        own->job.sets = sets;
    }
}

static void empty(struct book_job *job)
{
    memset(job->members, 0, job->job.group_count * sizeof *job->members);
    job->held.count = 0;
}

static void end(struct book_job *job, enum book_state state)
{
    empty(job);
    job->reserved.count = 0;
    job->state = (uint8_t)state;
}

/* What a decision asked for was counted when it was decided. */
static void leave(struct book_job *job, const struct members *which)
{
    if (job->state == BOOK_LEAVES) {
        job->held.count = 0;
        job->state = BOOK_WAITS;
    } else if (which->decision == 0) {
        empty(job);
        job->was_hurt = true;
        job->state = BOOK_WAITS;
    }
}

static void outside(struct law_books *books)
{
    books->outside++;
    for (uint32_t j = 0; j < books->job_count; j++)
        books->jobs[j].evictions = 0;
}

void law_books_fact(struct law_books *books, const struct fact *fact)
{
    if (fact->kind == FACT_JOB_SUBMITTED) {
        submit(books, fact->job);
        outside(books);
        return;
    }
    struct book_job *job = law_books_job(books, fact->id);
    if (job == NULL)
        return;
    switch (fact->kind) {
    case FACT_JOB_ENDED:
        end(job, fact->will_retry ? BOOK_WAITS : BOOK_ENDED);
        outside(books);
        break;
    case FACT_JOB_CANCELLED:
        end(job, BOOK_CANCELLED);
        outside(books);
        break;
    case FACT_JOB_RELEASED:
        outside(books);
        break;
    case FACT_JOB_LEAVING: /* a fault took it; no decision did */
        job->was_hurt = true;
        outside(books);
        break;
    case FACT_JOB_EVICTED:
        leave(job, &fact->which);
        break;
    default:
        break;
    }
}

/* ---- Decisions ---- */

static void keep_pieces(struct book_pieces *pieces, const struct decision *decision)
{
    MEM_GROW(pieces->list, pieces->capacity, (size_t)pieces->count + decision->piece_count);
    for (uint32_t p = 0; p < decision->piece_count; p++)
        pieces->list[pieces->count++] = (struct book_piece){decision->pieces[p].node, decision->pieces[p].gpu_mask};
}

static void start(struct law_books *books, struct book_job *job, const struct decision *decision)
{
    for (uint32_t p = 0; p < decision->piece_count; p++)
        job->members[decision->pieces[p].group] += decision->pieces[p].member_count;
    keep_pieces(&job->held, decision);
    job->reserved.count = 0;
    job->state = BOOK_HOLDS;
    job->was_hurt &= !book_job_has_minimum(job);
    job->is_new |= !job->has_started;
    job->has_started = true;
    books->starts++;
}

static void evict(struct law_books *books, struct book_job *job, const struct decision *decision)
{
    books->evictions++;
    job->evictions++;
    if (!decision->is_partial) {
        memset(job->members, 0, job->job.group_count * sizeof *job->members);
        job->state = BOOK_LEAVES;
        return;
    }
    for (uint32_t p = 0; p < decision->piece_count; p++) {
        uint32_t *members = &job->members[decision->pieces[p].group];
        *members -= decision->pieces[p].member_count < *members ? decision->pieces[p].member_count : *members;
    }
    job->was_hurt |= decision->reason == REASON_CONSOLIDATED && !book_job_has_minimum(job);
}

static void take(struct law_books *books, const struct decision *decision)
{
    struct book_job *job = law_books_job(books, decision->job);
    if (job == NULL)
        return;
    job->is_touched = true;
    switch (decision->kind) {
    case DECISION_START:
        start(books, job, decision);
        break;
    case DECISION_EVICT:
        evict(books, job, decision);
        break;
    case DECISION_RESERVE:
        job->reserved.count = 0;
        keep_pieces(&job->reserved, decision);
        break;
    case DECISION_RELEASE:
        job->reserved.count = 0;
        break;
    case DECISION_REJECT:
        end(job, BOOK_REJECTED);
        break;
    default:
        break;
    }
}

void law_books_cycle(struct law_books *books, const struct decision *decisions, size_t count)
{
    books->cycles++;
    for (uint32_t j = 0; j < books->job_count; j++)
        books->jobs[j].is_touched = books->jobs[j].is_new = false;
    for (size_t i = 0; i < count; i++)
        take(books, &decisions[i]);
}

void law_books_release(struct law_books *books)
{
    for (uint32_t j = 0; j < books->job_count; j++) {
        mem_free(books->jobs[j].held.list);
        mem_free(books->jobs[j].reserved.list);
    }
    mem_free(books->jobs);
    arena_release(&books->arena);
    *books = (struct law_books){0};
}
