/* workloads/readers/sacct_het.h -- the rows of a heterogeneous job of Slurm, gathered into one.
 *
 * Slurm starts all components of such a job together (sbatch(1): "a co-scheduled heterogeneous job"), and sacct lists
 * each in a row of its own: 13+0, 13+1 (sacct(1): HetJobID+HetJobOffset).  They were submitted at once and have
 * consecutive numbers, so they stand next to each other.
 *
 * Laws
 *  - Rows of one job whose offsets ascend, with no row of another job between them, are one attempt of it.  A row that
 *    stands elsewhere begins a gathering of its own: how many components there are is written nowhere.
 *  - The whole has one group a component, all of which must run.  It was submitted with the first of them, could start
 *    when all were eligible, and started when all had.  It runs as long as the longest component, and its limit is the
 *    longest.  If one failed, it failed; else if one was cancelled (as is possible while it runs: scancel(1)), it was.
 *    Queue and user are those of the first row.
 *
 *   if (het->count > 0 && !sacct_het_takes(het, &part))
 *       ...; the whole is het->whole, and a new gathering may begin: het->count = 0
 *   sacct_het_add(het, &part, &attempt, &group);
 *
 * Memory: SACCT_HET_MAX groups.  It does not: wait for components that are missing.
 */
#ifndef WORKLOADS_READERS_SACCT_HET_H
#define WORKLOADS_READERS_SACCT_HET_H

#include "workloads/readers/sacct_attempt.h"

enum { SACCT_HET_MAX = JOB_GROUPS_MAX };

/* "13+1": component 1 of job 13. */
struct sacct_part {
    int64_t job, offset;
};

struct sacct_het {
    uint32_t count; /* components so far; 0: no gathering is open */
    struct sacct_part first, last;
    struct sacct_attempt whole;
    struct job_group groups[SACCT_HET_MAX]; /* whole.groups */
};

/* False: the id is not one of a component. */
bool sacct_part_read(struct text id, struct sacct_part *part);

/* Is the row of the same attempt as those gathered?  part NULL: it is of a job without components. */
bool sacct_het_takes(const struct sacct_het *het, const struct sacct_part *part);

/* Add a component that started and ended; fewer than SACCT_HET_MAX are there.  group: what it asks for. */
void sacct_het_add(struct sacct_het *het, const struct sacct_part *part, const struct sacct_attempt *attempt,
                   const struct job_group *group);

#endif
