/* workloads/readers/sacct_attempt.h -- an attempt of a job as a row of sacct tells it, and how its values are written.
 *
 * Law: a value that cannot be read leaves an error at its field, and the row is dropped.
 *
 *   TRY(sacct_tres_read(&line, &fields[SACCT_ASKED], &attempt));
 *
 * It does not: know columns, or which attempts are of one job (read_sacct.c).
 */
#ifndef WORKLOADS_READERS_SACCT_ATTEMPT_H
#define WORKLOADS_READERS_SACCT_ATTEMPT_H

#include "workloads/job.h"
#include "workloads/readers/fields.h"

/* What a row of a job tells, or the rows of its components together. */
struct sacct_attempt {
    time_ns submit, eligible, start, end; /* TIME_NEVER: not known */
    time_ns first_start;                  /* of the job's first attempt */
    const time_ns *earlier;               /* run times of its attempts before this one */
    uint32_t earlier_count;
    time_ns limit;
    int64_t gpus, nodes, cpu_milli, memory_mib;
    const struct job_group *groups; /* in place of these: group_count of them; NULL: it has no components */
    uint32_t group_count;
    uint32_t user, array;
    queue_id queue;
    uint8_t outcome;
    bool may_go_on;   /* another attempt may follow */
    bool is_requeued; /* another attempt must follow */
};

/* Read "billing=2,cpu=2,gres/gpu=16,gres/gpu:h100=16,mem=2000M,node=2", the totals of the job.  Slurm counts a GPU with
 * a type once more without it, so the types count only where gres/gpu is missing.  A name that is missing leaves its
 * number as it was. */
struct error sacct_tres_read(const struct line *line, const struct field *field,
                             struct sacct_attempt *attempt) MUST_CHECK;

/* Set the outcome, and whether another attempt may or must follow.  False: it is no state of Slurm. */
bool sacct_state_read(struct text state, struct sacct_attempt *attempt);

#endif
