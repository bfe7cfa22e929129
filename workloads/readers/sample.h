/* workloads/readers/sample.h -- a share of the jobs of a trace, by job or by user.
 *
 *   "sample": {"share": 0.1, "by": "users"}
 *
 * Each job, or each user with all jobs, stays with the probability `share`.  A job that has no user is drawn by itself.
 *
 * Laws
 *  - Whether a job stays depends on the seed, on its id (or on the name of its user) and on the share alone: not on the
 *    place of its row, nor on other rows.  Jobs of one id stay or go together.
 *  - The jobs of a share are among those of a larger share.
 */
#ifndef WORKLOADS_READERS_SAMPLE_H
#define WORKLOADS_READERS_SAMPLE_H

#include "base/names.h"
#include "workloads/job.h"

enum sample_by { SAMPLE_JOBS, SAMPLE_USERS };
extern const char *const sample_by_names[]; /* "jobs", "users", NULL */

struct sample_plan {
    double share;      /* above 0, at most 1; 0: there is no sample */
    enum sample_by by; /* what is drawn */
    bool has_seed;
    uint64_t seed; /* if has_seed; else that of the run */
};

/* Does the job stay?  users: of job->user.  seed: of the run. */
bool sample_takes(const struct sample_plan *plan, const struct job *job, const struct names *users, uint64_t seed);

/* A number that the id of the job gives: the entity of random streams. */
uint64_t sample_entity(const struct job *job);

#endif
