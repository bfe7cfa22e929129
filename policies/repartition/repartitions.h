/* policies/repartition/repartitions.h -- GPUs cut anew for jobs that find no place: what is under way, and how often
 * it was done.
 *
 * Part of the scheduler's inside; the seam is policies/geometry/geometry.h.
 *
 * Laws: a GPU is cut anew only if what is destroyed is free, nothing is being made of it, and it rested.  Who a GPU is
 * cut for claims what is made.  In no hour are more cut than the policy allows.
 */
#ifndef POLICIES_REPARTITION_REPARTITIONS_H
#define POLICIES_REPARTITION_REPARTITIONS_H

#include "policies/sched.h"

struct archive;
struct sched;

/* Cut GPUs for heads that wait for nothing but space and have waited long enough. */
void repartitions_seek(struct sched *sched);
/* When somebody will have waited long enough, or another may be cut; TIME_NEVER. */
time_ns repartitions_wake(struct sched *sched);
/* The world does not do it: the GPU is what it was, and who waited for it waits on.  False: no such decision is open.
 */
bool repartitions_refused(struct sched *sched, decision_id decision, time_ns now);
/* Is the node kept until a GPU of it is cut? */
bool repartitions_keep(const struct sched *sched, node_id node);
void repartitions_node_changed(struct sched *sched, node_id node); /* up, or not */
void repartitions_init(struct sched *sched);                       /* if the policy cuts GPUs */
void repartitions_release(struct sched *sched);
void repartitions_archive(struct archive *archive, struct sched *sched);
uint64_t repartitions_told(const struct sched *sched); /* GPUs cut anew so far */
/* NULL: what is remembered of the best places is true. */
const char *repartitions_check(const struct sched *sched);

#endif
