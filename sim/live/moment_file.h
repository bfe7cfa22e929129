/* sim/live/moment_file.h -- moments.bin.zst: the moments of a run that others can begin at (sim/engine/moment.h).
 *
 * The file holds one moment after another, each with its time and its lengths.
 *
 * Law: it appears whole at moment_file_commit, or not at all.
 *
 *   TRY(moment_file_open(&file, "out/run"));
 *   config.on_moment = moment_file_add;
 *   config.moment_self = file;
 *   ... run ...
 *   TRY(moment_file_commit(&file));          (or moment_file_discard(&file))
 *
 *   TRY(moment_list_read(&list, "out/run"));
 *   const struct moment *moment = moment_list_find(&list, at);
 *
 * It does not: look into moments; engine_run tests the bytes.
 */
#ifndef SIM_LIVE_MOMENT_FILE_H
#define SIM_LIVE_MOMENT_FILE_H

#include "base/buffer.h"
#include "sim/engine/moment.h"

#define MOMENT_FILE "moments.bin.zst"

enum { MOMENTS_MAX = 1000 }; /* of a file */

struct moment_file; /* opaque */

struct error moment_file_open(struct moment_file **out, const char *folder) MUST_CHECK;

/* self: a moment_file. */
struct error moment_file_add(void *self, const struct moment *moment) MUST_CHECK;

/* Reserve what the commit needs: an error for lack of space comes here; see output_seal. */
struct error moment_file_seal(struct moment_file *file) MUST_CHECK;

/* The digest of the sealed file (base/output.h). */
void moment_file_digest(const struct moment_file *file, char hex[33]);

/* Frees and clears *file, on error too. */
struct error moment_file_commit(struct moment_file **file) MUST_CHECK;
void moment_file_discard(struct moment_file **file); /* NULL is allowed */

/* ---- Reading ---- */

struct moment_list {
    struct moment *moments; /* in the order of the file */
    uint32_t count;
    char *bytes;     /* that they point to */
    char digest[33]; /* of the file */
};

/* ERROR_IO: there is no such file; ERROR_DATA: it is cut off, or is none.  On error nothing needs to be released. */
struct error moment_list_read(struct moment_list *list, const char *folder) MUST_CHECK;
const struct moment *moment_list_find(const struct moment_list *list, time_ns at); /* NULL: none */
void moment_list_release(struct moment_list *list);

#endif
