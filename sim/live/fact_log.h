/* sim/live/fact_log.h -- a file that grows by whole lines, for a process that may be killed at any time.
 *
 *   TRY(fact_log_open(&log, "facts.jsonl"));
 *   ... read the lines that are there: input_open("facts.jsonl") ...
 *   TRY(fact_log_append(log, lines));
 *   TRY(fact_log_sync(log));
 *   fact_log_close(log);
 *
 * Laws
 *  - Lines that were appended stay, whatever becomes of the process; after fact_log_sync, of the machine.
 *  - A last line without its end is from a process that was killed while it wrote.  Opening cuts it off and says so.
 *  - One process at a time has the file open (flock).
 *
 * It does not: read, or know what the lines say.
 */
#ifndef SIM_LIVE_FACT_LOG_H
#define SIM_LIVE_FACT_LOG_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct fact_log; /* opaque */

/* Open the file, which is made if there is none.  ERROR_IO if another process has it open. */
struct error fact_log_open(struct fact_log **out, const char *path) MUST_CHECK;

bool fact_log_is_empty(const struct fact_log *log); /* it holds no whole line */
uint64_t fact_log_torn(const struct fact_log *log); /* bytes that were cut off by fact_log_open */

/* Append lines, each with its end. */
struct error fact_log_append(struct fact_log *log, struct text lines) MUST_CHECK;
/* What was appended is on the disk. */
struct error fact_log_sync(struct fact_log *log) MUST_CHECK;

void fact_log_close(struct fact_log *log); /* NULL is allowed */

#endif
