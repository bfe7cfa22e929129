/* policies/state/fits.h -- which jobs of a workload could ever start on this cluster, and which GPUs none of them
 * could use.
 *
 *   struct fits *fits = fits_new(sched);
 *   fits_add(fits, &job);                                of each job
 *   fits_count(fits, FIT_NO_MODEL) ...                   jobs by why they never fit
 *   fits_unusable(fits, type, &why) ...                  GPUs of a node of that type
 *
 * Law: a job counts as one that never fits exactly if the scheduler would reject it when it is submitted (NeverFits,
 * GangOnSlices).  The reason is the first of enum fit that stands in its way.  A GPU is usable if a member of a job
 * that fits could be placed on it in the empty cluster, on the piece that the sharing policy makes of what the job
 * asks.
 *
 * It does not: look at quotas (a job above the limit of its queue waits, it is not rejected), nor at what is running.
 * Cost: O(1) a job, memory by kinds of requests; O(kinds) to tell of a type.
 */
#ifndef POLICIES_STATE_FITS_H
#define POLICIES_STATE_FITS_H

#include "policies/sched.h"

enum fit {
    FITS,
    FIT_NO_PIECE,    /* no node has enough GPUs, or an instance of that MIG profile */
    FIT_NO_MODEL,    /* some have, of another GPU model */
    FIT_NO_NODE,     /* labels or taints keep it off those of the model */
    FIT_NO_HOST,     /* these have too few CPUs or too little memory */
    FIT_TOO_MANY,    /* the cluster holds fewer members than the job has */
    FIT_NO_TOPOLOGY, /* it holds them, but not within the domains or next to each other as asked */
    FIT_NOT_SHARED,  /* the policy refuses training gangs on pieces of GPUs (GangOnSlices) */
    FIT_COUNT
};
extern const char *const fit_names[]; /* "fits", "gpus_per_node", ...; by enum fit, NULL-terminated */

struct fits;

/* sched: borrowed; it is told nothing.  Its cluster and queues are those of the jobs. */
struct fits *fits_new(struct sched *sched);
void fits_free(struct fits *fits); /* NULL is fine */
enum fit fits_add(struct fits *fits, const struct job *job);
uint64_t fits_count(const struct fits *fits, enum fit why); /* jobs so far */

/* Why no job uses a GPU.  Of the jobs that fit some other node, the one that comes closest gives the cause. */
enum unused {
    UNUSED_NOT_ASKED, /* no job asks for GPUs, or none that fits */
    UNUSED_MODEL,     /* none asks this model */
    UNUSED_SMALL,     /* they ask more GPUs of one node than it has */
    UNUSED_WHOLE,     /* they ask MIG instances, and it is not cut */
    UNUSED_CUT,       /* it is cut into MIG instances that none asks */
    UNUSED_NODE,      /* labels or taints keep them off */
    UNUSED_HOST,      /* its node has too few CPUs or too little memory */
    UNUSED_COUNT
};
extern const char *const unused_names[]; /* by enum unused, NULL-terminated */

/* GPUs of one node of that type that no job added could use, by why. */
void fits_unusable(const struct fits *fits, uint32_t type, uint32_t count[UNUSED_COUNT]);

#endif
