/* policies/repartition/repartitions.h -- repartitions GPUs for jobs that find no place.
 *
 * To cut a GPU is to change its MIG layout, or to make it whole.  The seam is policies/geometry/geometry.h.
 *
 * Laws: a GPU is cut only if every instance that is destroyed is free, no other cut of it is open, and it has rested
 * since the last one.  The job that a GPU is cut for claims what is made.  No more GPUs are cut within an hour than the
 * policy allows.
 */
#ifndef POLICIES_REPARTITION_REPARTITIONS_H
#define POLICIES_REPARTITION_REPARTITIONS_H

#include "policies/sched.h"

struct sched;

/* Cut GPUs for heads that wait only for space. */
void repartitions_seek(struct sched *sched);
/* When another GPU may be cut; TIME_NEVER. */
time_ns repartitions_wake(const struct sched *sched);
/* The decision was refused: the GPU keeps its layout, and jobs that claimed the new instances wait again.  False: no
 * such decision is open. */
bool repartitions_refused(struct sched *sched, decision_id decision, time_ns now);
/* The decision has another id. */
void repartitions_renamed(struct sched *sched, decision_id was, decision_id is);
/* The repartition of this number that is not done yet; 0: there is none. */
decision_id repartitions_open(const struct sched *sched, uint64_t number);
/* Is the node kept from new jobs until a GPU of it is cut? */
bool repartitions_keep(const struct sched *sched, node_id node);
void repartitions_node_changed(struct sched *sched, node_id node); /* its state was told */
void repartitions_init(struct sched *sched);                       /* if the policy cuts GPUs */
void repartitions_release(struct sched *sched);
uint64_t repartitions_told(const struct sched *sched); /* count of cuts so far */
/* NULL: the index of the best places agrees with the ledger. */
const char *repartitions_check(const struct sched *sched);

#endif
