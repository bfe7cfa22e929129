/* studies/run/unread.h -- the fields of queues and jobs that have no effect under the policy of a scenario.
 *
 * Law: see policies/config/reads.h.  One line for each field, whatever the number of queues and jobs.  Quotas that a
 * synthesized workload gives its tenants are not listed, since nobody wrote them.
 */
#ifndef STUDIES_RUN_UNREAD_H
#define STUDIES_RUN_UNREAD_H

#include "sim/scenario/scenario.h"

/* Call `say` for each field: a sentence without an end.  Of jobs those that were taken from the source count. */
void unread_list(const struct scenario *scenario, const struct job_source *source,
                 void (*say)(void *self, const char *text), void *self);

#endif
