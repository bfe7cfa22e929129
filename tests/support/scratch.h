/* tests/support/scratch.h -- a folder of its own for tests that need files.
 *
 *   return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
 *
 * Law: the folder is new, all users may read it, and it is removed with its contents.
 */
#ifndef TESTS_SUPPORT_SCRATCH_H
#define TESTS_SUPPORT_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/* Set-up and tear-down of a cmocka group, with one folder at a time. */
int scratch_make(void **state);
int scratch_remove(void **state);

/* The path of `name` in the folder; "" is the folder.  Borrowed until scratch_remove. */
const char *scratch_path(const char *name);

/* Write a file; returns its path. */
const char *scratch_write(const char *name, const void *bytes, size_t length);
const char *scratch_write_json(const char *name, const char *quoted); /* json_text.h */

/* The bytes of a file; the caller releases them. */
struct buffer scratch_read(const char *name);

bool scratch_exists(const char *name);

/* The number of entries of the folder `name`, including hidden ones. */
size_t scratch_count(const char *name);

/* Remove the contents of the folder. */
void scratch_empty(void);

/* Append one zstd frame that holds the bytes, with or without a check sum. */
void scratch_zstd_frame(struct buffer *out, const void *bytes, size_t length, bool has_checksum);

#endif
