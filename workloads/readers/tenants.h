/* workloads/readers/tenants.h -- queues and users of a trace folded to fewer, or renamed.
 *
 *   "tenants": {"queues": {"vc-*": "research", "*": "other"}, "users": {"svc-?": "service"}}
 *
 * A name becomes what its rule says (name_rules.h); a name without a rule stays.  A queue that
 * becomes "" is the queue "default"; a user that becomes "" is no user.
 *
 * Law: a job's new queue and user depend on its own names and on the rules alone.
 *
 * It does not: fold the tree of queues that a frozen trace brings.
 */
#ifndef WORKLOADS_READERS_TENANTS_H
#define WORKLOADS_READERS_TENANTS_H

#include "base/names.h"
#include "topologies/queue_table.h"
#include "workloads/job.h"
#include "workloads/readers/name_rules.h"

struct tenants_plan {
    struct name_rules queues, users;
}; /* {0}: all names stay */

static inline bool tenants_plan_is_on(const struct tenants_plan *plan)
{
    return plan->queues.count > 0 || plan->users.count > 0;
}

struct tenants {
    const struct tenants_plan *plan;
    struct queue_table *recorded_queues, *queues; /* of the trace: owned; of the source: borrowed */
    struct names *recorded_users, *users;
    queue_id *queue_of; /* by recorded queue; QUEUE_NONE: not asked yet */
    uint32_t *user_of;  /* by recorded user: the user + 1, NAMES_NONE: none; 0: not asked yet */
    size_t queue_count, queue_capacity, user_capacity;
};

/* The reader of the trace takes recorded_queues and recorded_users. */
void tenants_init(struct tenants *tenants, const struct tenants_plan *plan, struct queue_table *queues,
                  struct names *users);
void tenants_release(struct tenants *tenants); /* {0} is allowed */

/* Give a job with recorded queue and user its own.  O(1) but for names that are new. */
void tenants_apply(struct tenants *tenants, struct job *job);

#endif
