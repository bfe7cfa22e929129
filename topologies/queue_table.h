/* topologies/queue_table.h -- the organisation: a tree of queues and what each is entitled to.
 *
 * Law: ids are dense; a parent's id is smaller than its children's; entry 0 is the root,
 * named "", without a quota of its own; names are unique.  Only grows while a run goes on.
 * Amounts are milli-GPUs.
 */
#ifndef TOPOLOGIES_QUEUE_TABLE_H
#define TOPOLOGIES_QUEUE_TABLE_H

#include <stdint.h>

#include "base/json.h"
#include "base/names.h"

typedef uint32_t queue_id;

#define QUEUE_ROOT      ((queue_id)0)
#define QUEUE_NONE      UINT32_MAX
#define QUOTA_UNLIMITED INT64_C(-1)

struct queue_spec {
    const char *name;                /* borrowed from the table */
    queue_id parent;                 /* QUEUE_NONE for the root */
    int64_t deserved_milli;          /* QUOTA_UNLIMITED possible */
    int64_t limit_milli;             /* QUOTA_UNLIMITED: none */
    int64_t over_quota_weight_milli; /* 1000 = weight 1; >= 0 */
    int32_t priority;                /* higher goes first; default 100 */
};

struct queue_table {
    struct queue_spec *queues;
    uint32_t count;
    size_t capacity;
    struct names *names; /* id = position; "" is the root */
};

struct queue_table *queue_table_new(void); /* with the root */
void queue_table_free(struct queue_table *table);

/* Add a queue with the defaults of the design: deserved 0, no limit, weight 1, priority 100.
 * The name must be new, the parent known. */
queue_id queue_table_add(struct queue_table *table, struct text name, queue_id parent);

/* The queue of that name, added under the root if unknown. */
queue_id queue_table_of(struct queue_table *table, struct text name);
queue_id queue_table_find(const struct queue_table *table, struct text name); /* QUEUE_NONE */

/* Read an array of {"name", "parent", "quota_gpus", "limit_gpus", "over_quota_weight", "priority"} into the
 * table.  A parent must stand before its children; null is the root.  Fails through the sticky error. */
void queue_table_read(struct queue_table *table, const struct json_value *array);

#endif
