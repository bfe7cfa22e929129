/* tools/sweep_options.h -- what the verbs of a sweep share: options of workers, their place in an array of jobs, what
 * is shown of a sweep. */
#ifndef TOOLS_SWEEP_OPTIONS_H
#define TOOLS_SWEEP_OPTIONS_H

#include "studies/sweep/sweep_books.h"
#include "studies/sweep/sweep_work.h"
#include "tools/args.h"

enum { SWEEP_STATUS_OPEN = 11 /* a run failed or is missing */ };

/* The options of a process that makes runs. */
#define SWEEP_WORK_OPTIONS                                                                                             \
    {.name = "timeout",                                                                                                \
     .metavar = "TIME",                                                                                                \
     .help = "The time that a run may take, such as 90s or 10m; a longer one is a failed run. Any by default."},       \
        {.name = "memory",                                                                                             \
         .metavar = "BYTES",                                                                                           \
         .help = "The address space that a run may use, such as 2G; one that needs more is a failed run."},            \
        {.name = "retry", .help = "Make failed runs again; by default only those that were killed from outside."},     \
        {.name = "paths",                                                                                              \
         .metavar = "FOLDER",                                                                                          \
         .help = "The folder to which the paths of traces and plug-ins are relative, if it is not that in which the "  \
                 "plan was made."},                                                                                    \
        {.name = "worker",                                                                                             \
         .metavar = "NAME",                                                                                            \
         .help = "How the names of the files begin in which it records; by default host and process."},                \
    {                                                                                                                  \
        .name = "quiet", .letter = 'q', .help = "No progress."                                                         \
    }

/* Fill version, paths_folder, timeout, memory, retries and worker_count; the rest is the caller's. */
struct error sweep_read_work_options(const struct args *args, int64_t workers_default,
                                     struct sweep_work_options *out) MUST_CHECK;

/* The share of a worker: --shard I/N, or --shards N and the index in the environment of an array of jobs
 * (SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX); SLURM_ARRAY_TASK_COUNT stands in for --shards. */
struct error sweep_read_share(const struct args *args, size_t *index, size_t *count) MUST_CHECK;

/* A line of counts. */
void sweep_show_counts(const struct sweep_plan *plan, const struct sweep_books *books, struct buffer *out);

/* A line for each failed run, of which the first ten are shown unless `is_all`; each begins with `before`. */
void sweep_show_failures(const struct sweep_plan *plan, const struct sweep_books *books, const char *before,
                         bool is_all, struct buffer *out);

#endif
