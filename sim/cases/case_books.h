/* sim/cases/case_books.h -- the holdings of jobs in the world of a case, booked from decisions alone, independently of
 * the scheduler.
 *
 * Law: a function that books a decision returns a static text if the decision gives a GPU twice, evicts members that
 * are not there or starts more members than were requested; NULL: the decision is valid.
 */
#ifndef SIM_CASES_CASE_BOOKS_H
#define SIM_CASES_CASE_BOOKS_H

#include "sim/cases/case.h"
#include "sim/cases/case_state.h"

struct case_held {
    struct piece piece;
    bool is_leaving;
    uint32_t task;        /* number in the text, if it ran at first; CASE_NONE: it was started during the case */
    decision_id decision; /* of the EVICT by which it leaves; 0: it leaves without one */
};

struct case_entry { /* of one job */
    const struct case_job *job;
    struct case_held *held;
    size_t held_capacity;
    uint32_t held_count;
    struct piece *reserved;
    size_t reserved_capacity;
    uint32_t reserved_count;
    int64_t *evicted;        /* members so far, by group */
    uint32_t *evicted_tasks; /* those of them that ran at first, ascending; has room for all */
    uint32_t evicted_task_count;
    enum reason evicted_by;  /* since the last START */
    enum reason rejected_by; /* REASON_NONE: it was not rejected */
    bool is_gone;            /* a leaving part that has left */
};

struct case_books {
    const struct case_spec *spec;
    struct case_entry *entries; /* by job_id */
    struct case_place *places;  /* of the state that was last returned */
    size_t place_capacity;
    struct case_place *reserved_places; /* likewise */
    size_t reserved_place_capacity;
    uint32_t *gpu_milli; /* by gpu_id; scratch of case_books_check */
};

void case_books_init(struct case_books *books, const struct case_spec *spec);
void case_books_release(struct case_books *books);

const char *case_books_decision(struct case_books *books, const struct decision *decision);

/* Members that left by the decision (0: by none) are gone. */
void case_books_left(struct case_books *books, job_id job, decision_id decision);

/* No GPU is given twice. */
const char *case_books_check(struct case_books *books);

/* The state of a job and its leaving part; the caller sets `why`.  Borrowed until the next call. */
struct case_state case_books_state(struct case_books *books, job_id job);

#endif
