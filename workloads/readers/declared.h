/* workloads/readers/declared.h -- what the jobs of a source declare to exchange: themselves, or by the table.
 *
 * A source gives each job to declared_add before its consumer sees it.
 */
#ifndef WORKLOADS_READERS_DECLARED_H
#define WORKLOADS_READERS_DECLARED_H

#include "workloads/readers/source.h"
#include "workloads/synth/synth.h"

struct declared {
    const struct communication_table *table; /* borrowed; NULL: none */
    const struct names *users, *classes;     /* borrowed; of the source */
    const struct blocks_users *copies;       /* borrowed; rows name the users of the trace; NULL: no user is a copy */
    struct communication_set set;            /* what jobs point to, kept until the end */
    uint64_t *by_row;                        /* jobs by row of the table */
};

void declared_init(struct declared *declared, const struct communication_table *table, const struct names *users,
                   const struct names *classes);

/* From now on, a row for a user is for the copies of this user too.  copies: borrowed. */
void declared_set_copies(struct declared *declared, const struct blocks_users *copies);

/* The names of a job by which rows of tables choose it. */
struct job_names declared_names(const struct declared *declared, const struct job *job, const struct job_truth *truth);

/* Can the job get what its row says?  what: as of communication_table_apply. */
struct error declared_check(struct declared *declared, const struct job *job, const struct job_truth *truth,
                            const char *what) MUST_CHECK;

/* The same for each size of each class of the mix. */
struct error declared_check_synth(struct declared *declared, const struct synth *synth) MUST_CHECK;

/* The next job: apply the table, and count in the facts. */
struct error declared_add(struct declared *declared, struct job *job, const struct job_truth *truth,
                          struct workload_facts *facts) MUST_CHECK;
void declared_release(struct declared *declared);

#endif
