/* tools/sweep_options.h -- what the verbs of a sweep share: options of workers, their place in an array of jobs, what
 * is shown of a sweep. */
#ifndef TOOLS_SWEEP_OPTIONS_H
#define TOOLS_SWEEP_OPTIONS_H

#include "studies/sweep/sweep_books.h"
#include "studies/sweep/sweep_work.h"
#include "tools/args.h"

enum { SWEEP_STATUS_OPEN = 11 /* a run failed or is missing */ };

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
