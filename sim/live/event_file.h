/* sim/live/event_file.h -- events.jsonl.zst: every fact, cycle and decision of a run, in the language of
 * policies/wire.h.
 *
 * The file begins with the header, so that it stands alone: `windtunnel decide` replays it.
 *
 * Law: it appears whole at event_file_commit, or not at all.
 *
 *   TRY(event_file_open(&file, "out/run", cluster, queues, policy));
 *   config.listener = event_file_listener(file);
 *   ... run ...
 *   TRY(event_file_commit(&file));          (or event_file_discard(&file))
 */
#ifndef SIM_LIVE_EVENT_FILE_H
#define SIM_LIVE_EVENT_FILE_H

#include "sim/engine/port.h"

#define EVENT_FILE "events.jsonl.zst"

struct event_file; /* opaque */

/* cluster, queues: borrowed until the end; queues may grow.  policy: on one line, see wire_write_header. */
struct error event_file_open(struct event_file **out, const char *folder, const struct cluster *cluster,
                             const struct queue_table *queues, struct text policy) MUST_CHECK;

/* Borrowed from the file. */
const struct port_outside *event_file_listener(const struct event_file *file);

/* Reserve what the commit needs: an error for lack of space comes here; see output_seal. */
struct error event_file_seal(struct event_file *file) MUST_CHECK;

/* The digest of the sealed file (base/output.h). */
void event_file_digest(const struct event_file *file, char hex[33]);

/* Frees and clears *file, on error too. */
struct error event_file_commit(struct event_file **file) MUST_CHECK;
void event_file_discard(struct event_file **file); /* NULL is allowed */

/* Append the answers of the program that decided in a recorded run, as struct process_options takes them: what stands
 * between a cycle and the end of its answer. */
struct error event_file_answers(const char *folder, struct buffer *out) MUST_CHECK;

#endif
