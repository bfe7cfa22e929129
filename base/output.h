/* base/output.h -- files that appear whole or not at all.
 *
 * Law: bytes go to a file without a name of its own in the same directory (O_TMPFILE, or
 * a temporary name where the file system has none); output_commit flushes, syncs
 * and renames it over the final name.  Until then the old file stays.  Every write
 * error, late ones included, is reported.  The disk follows a long file while it is written, and what it has
 * leaves the page cache.  A file inside a folder of ours replaces what stands in its place, be that a symbolic link, a
 * pipe or a device: it is never followed or opened.
 *
 *   TRY(output_open(&out, "out/jobs.csv.zst", OUTPUT_ZSTD));
 *   buffer_string(output_buffer(out), "job_id,...\n");
 *   TRY(output_flush_if_full(out));
 *   TRY(output_commit(&out));            (frees; on error too)
 *
 * A file that a library writes itself, at any place of it, is OUTPUT_RANDOM: the library reads and writes
 * output_descriptor(out), and nothing is appended to the buffer.
 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include "base/buffer.h"
#include "base/error.h"

enum output_form {
    OUTPUT_PLAIN,
    OUTPUT_ZSTD, /* level 1 */
    OUTPUT_RANDOM,
};

struct output; /* opaque */

/* A file that the user names.  The path must name a regular file, or none; a symbolic link there stays, and the file
 * that it names is replaced.  A device such as /dev/full is written directly, and so is "-", the standard output; but
 * neither can be OUTPUT_RANDOM. */
struct error output_open(struct output **out, const char *path, enum output_form form) MUST_CHECK;

/* The file `name` of a folder that is written as a whole, such as a record.  Only a folder of that name is an error. */
struct error output_open_inside(struct output **out, const char *folder, const char *name,
                                enum output_form form) MUST_CHECK;

/* Append here, and call output_flush_if_full from time to time. */
struct buffer *output_buffer(struct output *out);
struct error output_flush_if_full(struct output *out) MUST_CHECK;

/* Of an OUTPUT_RANDOM: a file descriptor that stays the output's. */
int output_descriptor(const struct output *out);

/* Flush and fsync; nothing may be appended any more.  If several files must appear together, seal all of them before
 * the first commit: then no commit fails for lack of space. */
struct error output_seal(struct output *out) MUST_CHECK;

/* Of a sealed output that is not OUTPUT_RANDOM: the digest of the file, as base/input.h gives it. */
void output_digest(const struct output *out, char hex[33]);

/* Seal if needed, rename, fsync the directory; frees and clears *out in any case. */
struct error output_commit(struct output **out) MUST_CHECK;

/* Discard the file; nothing appears.  NULL is allowed. */
void output_discard(struct output **out);

/* ".windtunnel-PID-N.tmp": the name of a file or folder that has no final name yet. */
enum { OUTPUT_TEMP_BYTES = 64 };
void output_temp_name(char name[OUTPUT_TEMP_BYTES], int number);

/* Is it such a name?  Then *process is the process that made it. */
bool output_is_temp_name(const char *name, long *process);

/* Make a folder and its parents, unless they exist. */
struct error output_make_folder(const char *path) MUST_CHECK;

#endif
