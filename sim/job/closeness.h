/* sim/job/closeness.h -- checks topology requests: slices in one domain, GPUs of a member in one island.
 *
 * Law: it uses pieces and the cluster alone, not the code that places (policies/placement/slices.h).
 */
#ifndef SIM_JOB_CLOSENESS_H
#define SIM_JOB_CLOSENESS_H

#include "policies/sched.h"

/* Does any group ask for one island, or for slices? */
bool closeness_is_asked(const struct job *job);

/* The request for closeness that these pieces of the group break; NULL: none.  The job must hold no other pieces of the
 * group.  O(pieces x domains of its level that hold them). */
const char *closeness_complaint(const struct cluster *cluster, const struct job_group *group, uint32_t index,
                                const struct piece *pieces, uint32_t count);

#endif
