/* studies/sweep/sweep_books.h -- what the shards of a sweep say of its runs, taken together.
 *
 *   TRY(sweep_books_read(&books, &plan, "out/sweep"));
 *   books.entries[run].state
 *   TRY(sweep_books_result(&books, run, &text));      (the result.json of a run that is done)
 *   sweep_books_release(&books);
 *
 * Law: a run that is done counts once, however often it is recorded, and all records of it must be equal, else it is an
 * error that names both.  A run is failed only if no record says that it is done; of several failures the first in the
 * order of enum run_state counts, then of the texts.  So nothing depends on the number or order of shards.
 */
#ifndef STUDIES_SWEEP_SWEEP_BOOKS_H
#define STUDIES_SWEEP_SWEEP_BOOKS_H

#include "studies/sweep/sweep_shard.h"

struct sweep_entry {
    enum run_state state;
    uint32_t shard; /* where its record is */
    uint64_t offset, length;
    char digest[33];
    const char *failure; /* of a failed run; in the arena */
};

struct sweep_books {
    const struct sweep_plan *plan;
    struct sweep_entry *entries; /* by run; runs with the same key have equal entries */
    char **shards;               /* paths, sorted; owned */
    size_t shard_count, shard_capacity;
    uint64_t record_count, torn_bytes;
    const char **torn; /* paths of the shards with torn tails */
    size_t torn_count, torn_capacity;
    size_t counts[RUN_STATES]; /* runs of the plan by state */
    struct arena arena;
};

/* On error nothing needs to be released. */
struct error sweep_books_read(struct sweep_books *out, const struct sweep_plan *plan, const char *folder) MUST_CHECK;

/* Append the result of a run that is done. */
struct error sweep_books_result(const struct sweep_books *books, size_t run, struct buffer *out) MUST_CHECK;
void sweep_books_release(struct sweep_books *books);

/* All runs are done. */
bool sweep_books_is_complete(const struct sweep_books *books);

/* The result of a run as a record holds it: compressed, and its digest.  Appends to `out`. */
struct error sweep_result_pack(struct text result, struct buffer *out, char digest[33]) MUST_CHECK;

#endif
