/* workloads/readers/side_files.h -- the further files of a trace, by name: tables that tell what the trace itself does
 * not, such as Gavel's throughputs, or the users and submissions of PAI's jobs.
 *
 *   "workload": {"trace": "pai_task_table.csv", "format": "pai", "tables": {"job": "pai_job_table.csv"}}
 *
 *   const struct side_file *file = side_files_ask(sides, "job");          of a format; NULL: it was not given
 *   TRY(side_file_open(file, &input)); ... TRY(side_file_close(file, input));
 *
 * Laws
 *  - A format asks for its files by name when a trace is opened.  A file for which it does not ask is an error, so that
 *    none is ignored.
 *  - Each is read once, before the trace's first row, however often the trace is read: what was made of it is kept as
 *    the `content` until the source is closed.
 *  - The digest of each is recorded as the trace's is.
 *
 * It does not: say what a file means, or bound the memory of what is made of it; the format does.
 */
#ifndef WORKLOADS_READERS_SIDE_FILES_H
#define WORKLOADS_READERS_SIDE_FILES_H

#include "base/error.h"
#include "base/input.h"

enum { SIDE_FILES_MAX = 8 };

struct side_file {
    struct text name;                   /* as the format calls it; borrowed */
    const char *path;                   /* borrowed */
    char digest[33];                    /* "": not read yet */
    bool is_asked;                      /* the format knows it */
    uint64_t row_count, left_out_count; /* of a table; the latter are among the former */
};

struct side_files {
    struct side_file files[SIDE_FILES_MAX];
    uint32_t count;
    const char *asked[SIDE_FILES_MAX]; /* names that the format knows */
    uint32_t asked_count;
    void *content; /* of the format, made of the files; NULL: not made yet */
    void (*on_release)(void *content);
}; /* {0}: there are none */

/* A file as a user names it. */
struct table_path {
    struct text name;
    const char *path;
};

/* count: at most SIDE_FILES_MAX; borrows names and paths. */
void side_files_init(struct side_files *sides, const struct table_path *paths, uint32_t count);

/* Begin a reading of the trace: the format is not known yet. */
void side_files_begin(struct side_files *sides);

/* The file of that name, and note that the format knows it; NULL: it was not given.  name: borrowed until the next
 * side_files_begin. */
struct side_file *side_files_ask(struct side_files *sides, const char *name);

/* ERROR_CONFIG: a file was given that the format did not ask for. */
struct error side_files_check(const struct side_files *sides, const char *format) MUST_CHECK;

/* The error of a format that needs a file, in few words what for. */
struct error side_files_missing(const char *format, const char *name, const char *what) MUST_CHECK;

struct error side_file_open(const struct side_file *file, struct input **input) MUST_CHECK;

/* Close it, after its end or before, and keep the digest of all of it. */
struct error side_file_close(struct side_file *file, struct input *input) MUST_CHECK;

void side_files_release(struct side_files *sides); /* leaves {0} */

#endif
