/* topologies/queue_fields.h -- the fields of a queue that only some policies read, a bit each.
 *
 * A policy declares which of them it reads (policies/quota/quota.h, policies/order/order.h), and
 * policies/config/reads.h tells the user which of those that are set nothing reads.  A limit is not among them: it
 * holds under every policy.
 */
#ifndef TOPOLOGIES_QUEUE_FIELDS_H
#define TOPOLOGIES_QUEUE_FIELDS_H

#include "topologies/queue_table.h"

enum queue_field { /* the first five have one for each resource: QUEUE_QUOTA + r */
                   QUEUE_QUOTA,
                   QUEUE_GUARANTEE = QUEUE_QUOTA + RESOURCE_COUNT,
                   QUEUE_BORROWING = QUEUE_GUARANTEE + RESOURCE_COUNT,
                   QUEUE_LENDING = QUEUE_BORROWING + RESOURCE_COUNT,
                   QUEUE_WEIGHT = QUEUE_LENDING + RESOURCE_COUNT,
                   QUEUE_PRIORITY = QUEUE_WEIGHT + RESOURCE_COUNT,
                   QUEUE_AGE,
                   QUEUE_RECLAIM_MIN_RUNTIME,
                   QUEUE_PREEMPT_MIN_RUNTIME,
                   QUEUE_PREEMPTION_DELAY,
                   QUEUE_STALE_AFTER,
                   QUEUE_USAGE,
                   QUEUE_USERS,
                   QUEUE_FIELD_COUNT
};

#define QUEUE_READS(field)     (UINT32_C(1) << (field))
#define QUEUE_READS_ALL(field) (((UINT32_C(1) << RESOURCE_COUNT) - 1) << (field)) /* of all resources */

/* By enum queue_field, as a scenario names it: "quota_gpus", ... */
const char *queue_field_name(enum queue_field field);

/* The fields in which the queue differs from one that only has a name. */
uint32_t queue_fields_set(const struct queue_spec *queue);

#endif
