/* studies/sweep/sweep_shard.h -- what became of runs, in files that only grow.
 *
 * A shard belongs to the process that made it.  Its first line names the plan; then records follow, each a line and
 * the bytes that it announces:
 *
 *   windtunnel-shard 1 PLAN
 *   run STATE RUN KEY DIGEST LENGTH CHECKSUM
 *   ...LENGTH bytes...
 *
 * Of a run that is done the bytes are its result.json, compressed (zstd), and DIGEST is that of the text before
 * compression; of a failed one they say what happened.  CHECKSUM covers the line before it and the bytes.
 *
 *   struct shard_writer writer = {0};
 *   TRY(shard_create(&writer, "out/sweep/shards", "host-17", plan_digest));
 *   TRY(shard_append(&writer, &record));
 *   TRY(shard_sync(&writer));
 *   shard_close(&writer);
 *
 * Law: a record that was appended stays, whatever becomes of the process; after shard_sync, of the machine.  An append
 * that fails leaves the file as it was, as far as the disk lets it.  A reader takes the records up to the first that is
 * not whole (a torn tail, from a process that was killed or a disk that was full) and says how many bytes it left out.
 *
 * It does not: compress, or judge which of two records counts (studies/sweep/sweep_books.h).
 */
#ifndef STUDIES_SWEEP_SWEEP_SHARD_H
#define STUDIES_SWEEP_SWEEP_SHARD_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "studies/sweep/sweep_plan.h"

/* What became of a run.  The order of failures is that in which they are preferred if there are several. */
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

#define SHARD_SUFFIX ".shard"

struct shard_record {
    enum run_state state;
    size_t run;                /* its index in the plan */
    char key[SWEEP_KEY_BYTES]; /* of the run */
    char digest[33];
    struct text bytes; /* borrowed */
};

struct shard_writer {
    char *path; /* NULL: not open; owned */
    int fd;
    uint64_t length; /* of the whole records */
    size_t unsynced; /* records that the disk may not have yet */
    bool is_broken;  /* a write failed: nothing more is appended */
};                   /* {0} is not open */

/* Make a new file FOLDER/WORKER-N.shard; N: the first number that is free. */
struct error shard_create(struct shard_writer *writer, const char *folder, const char *worker,
                          const char *plan_digest) MUST_CHECK;
struct error shard_append(struct shard_writer *writer, const struct shard_record *record) MUST_CHECK;
struct error shard_sync(struct shard_writer *writer) MUST_CHECK;
void shard_close(struct shard_writer *writer); /* {0} is allowed */

struct shard_end {
    uint64_t whole_bytes, torn_bytes; /* torn_bytes: behind the last whole record */
};

/* Call on_record for each whole record; offset: where its bytes begin in the file.  ERROR_DATA if the file belongs to
 * another plan, or is no shard; ERROR_IO.  An error of on_record ends the reading. */
typedef struct error shard_record_fn(void *self, const struct shard_record *record, uint64_t offset);
struct error shard_read(const char *path, const char *plan_digest, shard_record_fn *on_record, void *self,
                        struct shard_end *end) MUST_CHECK;

#endif
