/* policies/census/fits.h -- which jobs of a workload can ever start on this cluster, and which GPUs none of them can
 * use.
 *
 *   struct fits *fits = fits_new(sched);
 *   fits_add(fits, &job);                                of each job
 *   fits_count(fits, FIT_NO_MODEL) ...                   jobs by the reason that they never fit
 *   fits_unusable(fits, type, &why) ...                  GPUs of a node of that type
 *
 * Law: a job counts as one that never fits exactly if the scheduler would reject it when it is submitted (NeverFits,
 * GangOnSlices).  The reason is the first of enum fit that applies.  A GPU is usable if a member of a job that fits
 * could be placed on it in the empty cluster, on the piece that the sharing policy makes of the job's request.
 *
 * It looks at neither quotas (a job above the limit of its queue waits, it is not rejected) nor running jobs. Cost:
 * O(1) a job, memory by kinds of requests; O(kinds) to answer for a node type.
 */
#ifndef POLICIES_CENSUS_FITS_H
#define POLICIES_CENSUS_FITS_H

#include "policies/sched.h"

enum fit {
    FITS,
    FIT_NO_PIECE,    /* no node has enough GPUs, or an instance of that MIG profile */
    FIT_NO_MODEL,    /* some nodes have, but of another GPU model */
    FIT_NO_NODE,     /* labels or taints keep it off the nodes of the model */
    FIT_NO_HOST,     /* those nodes have too few CPUs or too little memory */
    FIT_TOO_MANY,    /* the cluster holds fewer members than the job has */
    FIT_NO_TOPOLOGY, /* it holds them, but not within the requested domains or next to each other */
    FIT_NOT_SHARED,  /* the policy refuses training gangs on pieces of GPUs (GangOnSlices) */
    FIT_COUNT
};
extern const char *const fit_names[]; /* "fits", "gpus_per_node", ...; by enum fit, NULL-terminated */

struct fits;

/* sched: borrowed, not changed.  Its cluster and queues are those of the jobs. */
struct fits *fits_new(struct sched *sched);
void fits_free(struct fits *fits); /* NULL is allowed */
enum fit fits_add(struct fits *fits, const struct job *job);
uint64_t fits_count(const struct fits *fits, enum fit why); /* jobs counted by now */

/* Why no job uses a GPU.  Of the jobs that fit some other node, the one that comes closest gives the reason. */
enum unused {
    UNUSED_NOT_ASKED, /* no job that fits asks for GPUs */
    UNUSED_MODEL,     /* no job asks for this model */
    UNUSED_SMALL,     /* jobs ask for more GPUs of one node than it has */
    UNUSED_WHOLE,     /* jobs ask for MIG instances, and it is not partitioned */
    UNUSED_CUT,       /* it is partitioned into MIG instances that no job asks for */
    UNUSED_NODE,      /* labels or taints keep the jobs off */
    UNUSED_HOST,      /* its node has too few CPUs or too little memory */
    UNUSED_COUNT
};
extern const char *const unused_names[]; /* by enum unused, NULL-terminated */

/* Counts the GPUs of one node of that type that no added job can use, by reason. */
void fits_unusable(const struct fits *fits, uint32_t type, uint32_t count[UNUSED_COUNT]);

#endif
