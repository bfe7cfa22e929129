/* studies/check/law_books.h -- what a run has told and decided so far, kept apart from the world and the scheduler.
 *
 * Books know how many members each job holds, starting and running, by group.  Of jobs of one group on whole GPUs they
 * also know which GPUs are held, leaving and reserved.  They are built from facts and decisions alone, so they serve
 * for a scheduler in any process.
 *
 *   law_books_fact(&books, fact);             of each fact, in order
 *   law_books_cycle(&books, decisions, count);
 *   law_books_release(&books);
 *
 * It does not: judge (studies/check/law_watch.h).
 */
#ifndef STUDIES_CHECK_LAW_BOOKS_H
#define STUDIES_CHECK_LAW_BOOKS_H

#include "base/mem.h"
#include "policies/wire.h"

enum book_state { BOOK_UNKNOWN, BOOK_WAITS, BOOK_HOLDS, BOOK_LEAVES, BOOK_ENDED, BOOK_REJECTED, BOOK_CANCELLED };

struct book_piece { /* GPUs of a node */
    node_id node;
    uint16_t mask;
};

struct book_pieces {
    struct book_piece *list;
    size_t capacity;
    uint32_t count;
};

struct book_job {
    uint8_t state;                     /* enum book_state */
    bool has_started;                  /* at least once */
    bool was_hurt;                     /* the world took members from it, or some of them move */
    bool is_touched;                   /* by a decision of this cycle */
    bool is_new;                       /* its first START is of this cycle */
    struct job job;                    /* as submitted; its groups and sets lie in the arena */
    uint32_t *members;                 /* by group, starting and running; in the arena */
    struct book_pieces held, reserved; /* of whole GPUs */
    job_id evicted_for;                /* by the last eviction; JOB_NONE */
    uint64_t evicted_cycle, evicted_outside;
    uint32_t evictions; /* since the last fact from outside */
};

struct law_books {
    struct book_job *jobs; /* by id */
    size_t job_capacity;
    uint32_t job_count;
    uint64_t cycles, evictions, starts;
    uint64_t outside; /* facts so far that follow from no decision */
    struct arena arena;
};

void law_books_fact(struct law_books *books, const struct fact *fact);
void law_books_cycle(struct law_books *books, const struct decision *decisions, size_t count);
void law_books_release(struct law_books *books);

/* NULL: no such job was submitted. */
struct book_job *law_books_job(const struct law_books *books, job_id id);

/* How many members the job asks for; how many of them hold space now; whether those are at least its minimum, by the
 * rules of sets in workloads/job.h. */
uint32_t book_job_asked(const struct book_job *job);
uint32_t book_job_held(const struct book_job *job);
bool book_job_has_minimum(const struct book_job *job);

#endif
