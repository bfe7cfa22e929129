/* base/temp_folder.h -- folders for the files that a process needs for a moment, named after it, so that the next run
 * can clean what a killed one left.
 *
 *   char path[PATH_MAX];
 *   temp_folder_clean("/tmp", "plot", remove_plot);
 *   TRY(temp_folder_make(path, "/tmp", "plot"));        /tmp/windtunnel-plot-4711-AbCdEf
 *
 * Law: cleaned are only folders of this kind and user whose process has ended.  If another process has its number now,
 * the folder stays.
 */
#ifndef BASE_TEMP_FOLDER_H
#define BASE_TEMP_FOLDER_H

#include <limits.h>

#include "base/error.h"

/* parent: at most PATH_MAX - 100 bytes.  kind: a short word. */
struct error temp_folder_make(char path[PATH_MAX], const char *parent, const char *kind) MUST_CHECK;

/* Call `remove` for each folder that was left. */
void temp_folder_clean(const char *parent, const char *kind, void (*remove)(const char *path));

#endif
