/* base/input.h -- files read as a stream of lines, plain or zstd, with caps.
 *
 * Law: a truncated frame is an error, not an end.  No more than the caps is ever
 * produced, whatever the frame header says.  A directory, a missing or unreadable
 * file is ERROR_IO; bad compression is ERROR_DATA.  A digest is of the bytes that were read, in the same reading: it
 * attests what the program saw, whatever becomes of the file meanwhile.  A file is read at a place of its own, not at
 * that of its descriptor: after fork(2) parent and child read on as if each were alone.
 *
 *   struct input *input;
 *   TRY(input_open(&input, path, NULL));
 *   struct text line;
 *   bool has;
 *   while (true) {
 *       TRY(input_line(input, &line, &has));   (closing is the caller's)
 *       if (!has) break;
 *   }
 *
 * It does not: seek.  To read again, open again, unless input_is_once; then compare the digests of both readings.
 */
#ifndef BASE_INPUT_H
#define BASE_INPUT_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

/* 0 stands for the default. */
struct input_caps {
    uint64_t bytes_max; /* decompressed; default 64 GiB */
    uint64_t ratio_max; /* decompressed / compressed, applied beyond the first 64 MiB; default 200 */
    uint64_t line_max;  /* bytes in one line; default 16 MiB */
};

struct input; /* opaque */

/* zstd is detected by its magic number, not by the name.  "-" is standard input.  caps NULL: the defaults. */
struct error input_open(struct input **out, const char *path, const struct input_caps *caps) MUST_CHECK;

/* The next line without its LF or CRLF; the last may lack one.  Borrowed until the next call.
 * A UTF-8 byte order mark at the start is skipped.  A NUL byte in a line is ERROR_DATA. */
struct error input_line(struct input *input, struct text *line, bool *has) MUST_CHECK;

uint64_t input_line_number(const struct input *input); /* of the line last returned, from 1 */
const char *input_path(const struct input *input);

/* The part of the file that was read, 0..1; 0: not known, as of a pipe. */
double input_done_ratio(const struct input *input);
void input_close(struct input *input); /* NULL is fine */

/* Read what is left of the file, without decompressing it, and give the digest of all its bytes: 128 bits (XXH3) of
 * what is on disk, as 32 hex digits.  Afterwards only input_close may follow. */
struct error input_finish_digest(struct input *input, char hex[33]) MUST_CHECK;

/* The whole file as text (e.g. JSON), at most `bytes_max`; caller frees with mem_free. */
struct error input_read_all(const char *path, uint64_t bytes_max, char **bytes, size_t *length) MUST_CHECK;

/* The same, with the digest of the file. */
struct error input_read_all_digest(const char *path, uint64_t bytes_max, char **bytes, size_t *length,
                                   char hex[33]) MUST_CHECK;

/* An input of bytes that input_read_all gave, which become the input's; path: for messages.  It has no digest. */
struct input *input_of_bytes_new(const char *path, char *bytes, size_t length);

/* The digest of a file that is read by somebody else, such as the dynamic linker. */
struct error input_digest(const char *path, char hex[33]) MUST_CHECK;

/* ERROR_DATA unless the path leads to a regular file itself: for files in a folder of a stranger, where a link would
 * lead out of it, and a pipe would never end.  A missing file is no error here. */
struct error input_check_plain(const char *path) MUST_CHECK;

/* Can it be read only once?  Standard input and pipes can. */
bool input_is_once(const char *path);

/* An ERROR_DATA at the current line and the place of `piece` in it, with excerpt; piece.at NULL: the whole line. */
struct error input_error(const struct input *input, struct text line, struct text piece, const char *format,
                         ...) MUST_CHECK LIKE_PRINTF(4, 5);

#endif
