/* studies/sweep/sweep_books.h -- what became of the runs of a sweep: a file for each, in the folder `runs` of the plan.
 *
 *   runs/KEY.json.zst     the result.json of the run with this key
 *   runs/KEY.failed       the state of a run that failed, and what happened: "timeout: took longer than it may"
 *
 *   TRY(sweep_books_keep(folder, &plan, run, RUN_DONE, result));      (by the process that made the run)
 *
 *   TRY(sweep_books_read(&books, &plan, folder));
 *   books.entries[run].state
 *   TRY(sweep_books_result(&books, run, &path, &text));               (the result of a run that is done)
 *   sweep_books_release(&books);
 *
 * Law: a file appears whole and is on the disk, or it is not there, whatever becomes of the process or the machine.  A
 * run with a result is done, however often it was made and in whatever order; a process that has another result than
 * the one that is there ends with an error.  Of a run without a result the last failure counts.  A key names all that a
 * result depends on, so results may be copied from a sweep to another one.
 */
#ifndef STUDIES_SWEEP_SWEEP_BOOKS_H
#define STUDIES_SWEEP_SWEEP_BOOKS_H

#include "studies/sweep/sweep_plan.h"

enum run_state {
    RUN_MISSING, /* nothing is recorded */
    RUN_DONE,
    RUN_ERROR,   /* the scenario, the trace or a file is wrong */
    RUN_CRASH,   /* a signal ended it */
    RUN_MEMORY,  /* it ran out of memory */
    RUN_TIMEOUT, /* it took longer than it may */
    RUN_KILLED,  /* it was killed from outside; it is tried again */
    RUN_STATES
};
extern const char *const run_state_names[]; /* "missing", "done", "error", "crash", "memory", "timeout", "killed" */

/* text: the result, or what happened. */
struct error sweep_books_keep(const char *folder, const struct sweep_plan *plan, size_t run, enum run_state state,
                              struct text text) MUST_CHECK;

struct sweep_entry {
    enum run_state state;
    const char *failure; /* of a failed run; in the arena */
};

struct sweep_books {
    const struct sweep_plan *plan;
    const char *folder;
    struct sweep_entry *entries; /* by run; runs with the same key have equal entries */
    size_t counts[RUN_STATES];   /* runs of the plan by state */
    struct arena arena;
};

/* On error nothing needs to be released. */
struct error sweep_books_read(struct sweep_books *out, const struct sweep_plan *plan, const char *folder) MUST_CHECK;

/* The result of a run that is done, and the path of its file; the caller releases both, on error too. */
struct error sweep_books_result(const struct sweep_books *books, size_t run, struct buffer *path,
                                struct buffer *text) MUST_CHECK;

void sweep_books_release(struct sweep_books *books);

/* All runs are done. */
bool sweep_books_is_complete(const struct sweep_books *books);

#endif
