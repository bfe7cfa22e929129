/* base/folder.h -- a folder that one process at a time writes as a whole, such as a record.
 *
 * Law: while a process holds the folder, any other that asks for it is refused.  The hold is a lock of the kernel on
 * the folder itself (flock): it leaves no file, and ends with the process, however that ends.  Opening removes what
 * processes that were killed left there under temporary names (base/output.h), and nothing else.
 *
 *   TRY(folder_open(&folder, "out/run"));
 *   TRY(folder_remove(folder, "result.json"));
 *   ... output_open_inside(&out, "out/run", ...) ...
 *   folder_close(&folder);
 *
 * It does not: keep readers away; they check digests (reports/record_check.h).  Where the file system knows no such
 * locks, nobody is refused.
 */
#ifndef BASE_FOLDER_H
#define BASE_FOLDER_H

#include <stdbool.h>

#include "base/error.h"

struct folder; /* opaque */

/* Make the folder and its parents if needed, and hold it.  A path that is a symbolic link to a folder means that
 * folder. ERROR_IO if another process holds it. */
struct error folder_open(struct folder **out, const char *path) MUST_CHECK;

/* Remove a file of the folder for good (fsync), or a symbolic link of that name.  It need not exist. */
struct error folder_remove(struct folder *folder, const char *name) MUST_CHECK;

/* NULL is allowed. */
void folder_close(struct folder **folder);

/* Did the process that made the temporary name end?  False for other names.  If another process has its number now, it
 * counts as alive. */
bool folder_is_of_dead(const char *temp_name);

#endif
