/* studies/comparison_show/comparison_folder.h -- the folder of a comparison:
 *
 *   report.html        the page (studies/comparison_show/comparison_show.h); if it is there, the folder is complete
 *   comparison.json    every value that it shows, and all others (COMPARISON_JSON)
 *   SIDE/              of each side that this program runs: the record of its replay, or of its run with the first seed
 *
 *   struct comparison_folder folder;
 *   TRY(comparison_folder_open(&folder, "out/two", sides, side_count));
 *   options.records = folder.records;
 *   ... comparison_run ...
 *   error = comparison_folder_commit(&folder, &comparison, &show);
 *   comparison_folder_release(&folder);                (on error too: without a commit nothing is left of it)
 *
 * Law: the page appears whole or not at all.  Until the commit the runs write into a hidden folder in the same one.  A
 * folder that holds anything but an earlier comparison is refused, and so is one in whose records somebody put files of
 * his own; nothing else is ever removed.
 */
#ifndef STUDIES_COMPARISON_SHOW_COMPARISON_FOLDER_H
#define STUDIES_COMPARISON_SHOW_COMPARISON_FOLDER_H

#include "studies/comparison_show/comparison_show.h"

#define COMPARISON_FILE "comparison.json"

struct comparison_folder {
    char *path;
    struct folder *held; /* another comparison into the folder is refused */
    char *staging;       /* "PATH/.windtunnel-PID.tmp"; NULL: none is made */
    bool is_made;        /* the folder was not there before */
    size_t side_count;
    char *names[COMPARISON_SIDES_MAX];         /* of the folders of sides that are run; else NULL */
    const char *records[COMPARISON_SIDES_MAX]; /* where their runs write; else the record that is the side, or NULL */
    char *run_records[COMPARISON_SIDES_MAX];   /* owns those of `records` that are in `staging` */
};

/* Make the folder, unless it is there.  ERROR_USAGE: it holds something else. */
struct error comparison_folder_open(struct comparison_folder *folder, const char *path,
                                    const struct comparison_side_options *sides, size_t side_count) MUST_CHECK;

/* Write the page and what belongs to it, in place of an earlier comparison. */
struct error comparison_folder_commit(struct comparison_folder *folder, const struct comparison *comparison,
                                      const struct comparison_show *show) MUST_CHECK;

void comparison_folder_release(struct comparison_folder *folder);

/* Names of folders for the names of sides, in their order: letters, digits, '.', '-' and '_', else '-'; they differ in
 * more than case, from each other and from the files.  The caller frees each with mem_free. */
void comparison_folder_names(const char *const *sides, size_t count, char **names);

#endif
