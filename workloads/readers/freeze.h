/* workloads/readers/freeze.h -- a workload as JSON lines that replay it, and a hash that identifies its arrivals.
 *
 * The first line is a header, the others are jobs as read_jsonl.c reads them, one for each job that a source gives:
 *
 *   {"frozen_trace": 1, "origin_s": 0, "preview_jobs": 4000, "fills": false,
 *    "queues": [...], "users": [...], "tags": [...]}
 *
 * origin_s: the time of the file that becomes 0 (without a header: that of the first submission).  preview_jobs: how
 * many of the first jobs are shown before they come (workloads/readers/source.h); 0: as of any trace.  fills: the jobs
 * fill the cluster. queues: as scenarios have them; users, tags: in the order of their numbers.
 *
 * Law: for the same cluster the frozen trace gives jobs with the same arrivals (below) as the original source, and
 * tables of queues, users and tags with the same numbers.
 * It does not keep: GPU classes and claims, which are written as the plain requests that they mean on this cluster; if
 * jobs fill the cluster (fill.h), those of the trace that were not submitted, on which the typical jobs are based.
 *
 * Arrivals: a hash over the jobs in their order: their declarations, run times and ends, but not their names; 0: no
 * jobs.  It depends on the cluster if requests do (GPU models).
 */
#ifndef WORKLOADS_READERS_FREEZE_H
#define WORKLOADS_READERS_FREEZE_H

#include "base/output.h"
#include "workloads/readers/reader.h"

enum { FREEZE_VERSION = 1 };
#define FREEZE_KEY "frozen_trace"

/* Write the header and all jobs of the source, which must not have given one yet.  ERROR_DATA: a line cannot express
 * the job that is named.  lost: what lines do not keep is counted there; NULL: not asked.  The output is not
 * committed. */
struct error freeze_write(struct job_source *source, const struct cluster *cluster, struct output *output,
                          struct reason_tally *lost) MUST_CHECK;

/* Does a line look like the header? */
bool freeze_is_header(struct text line);

/* Read a header into reader->frozen and, unless reader->is_again, into the reader's tables. */
struct error freeze_read_header(struct reader *reader, struct text line) MUST_CHECK;

/* Does the file begin with a header?  False for standard input and for a file that cannot be read. */
bool freeze_is_frozen(const char *path);

/* ---- arrivals ---- */

struct arrivals_print {
    uint64_t hash;
    uint64_t *queue_hash, *user_hash; /* by id: hash of the name; 0: not computed yet */
    size_t queue_capacity, user_capacity;
    job_id *array_first; /* by array: its first job + 1 */
    size_t array_capacity;
}; /* {0} has seen no jobs */

struct job_tables; /* feed.h */

/* Add the next job; its id is set.  O(size of the job). */
void arrivals_print_add(struct arrivals_print *print, const struct job_tables *tables, const struct job *job,
                        const struct job_truth *truth);
void arrivals_print_release(struct arrivals_print *print);

#endif
