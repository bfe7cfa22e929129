/* workloads/readers/spill.h -- jobs sorted by submission in bounded memory: sorted runs in a temporary file, merged.
 *
 *   struct spill *spill = spill_new(0);
 *   TRY(spill_add(spill, &job, &truth));                     each, in the order of the file
 *   TRY(spill_next(spill, &arena, &job, &truth, &has));      each, in the order of submission
 *   spill_free(spill);
 *
 * Laws
 *  - The order and the jobs are those of held_sort (workloads/readers/held.h): jobs of equal submission keep the order
 *    in which they came, and dependencies are renumbered.
 *  - What a job points to is copied, except for its constraints on nodes and its communication, which their owner
 *    keeps.
 *  - The file has no name, so nothing is left of it, however the program ends.
 *
 * Memory: run_bytes while jobs are added, then about 300 KiB per run; 4 bytes per job if one depends on another.  The
 * file, in $TMPDIR or /tmp, has about 100 bytes per job.  Cost: O(n log n) to sort the runs, O(n runs) to
 * merge them.
 */
#ifndef WORKLOADS_READERS_SPILL_H
#define WORKLOADS_READERS_SPILL_H

#include "base/error.h"
#include "base/mem.h"
#include "workloads/job.h"
#include "workloads/job_truth.h"

struct spill; /* opaque */

/* run_bytes: of a sorted run; 0: 64 MiB. */
struct spill *spill_new(size_t run_bytes);

/* ERROR_IO: the temporary file cannot be made or written. */
struct error spill_add(struct spill *spill, const struct job *job, const struct job_truth *truth) MUST_CHECK;

/* The next job; what it points to lives in `arena`.  After the first call no job may be added. */
struct error spill_next(struct spill *spill, struct arena *arena, struct job *job, struct job_truth *truth,
                        bool *has) MUST_CHECK;

/* The place of the job that was given last, in the order in which jobs were added, from 0. */
uint64_t spill_place(const struct spill *spill);
void spill_free(struct spill *spill); /* NULL is allowed */

#endif
