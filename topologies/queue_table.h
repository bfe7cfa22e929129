/* topologies/queue_table.h -- the organisation: a tree of queues and what each is entitled to.
 *
 * Law: ids are dense; a parent's id is smaller than its children's; entry 0 is the root,
 * named "", without a quota of its own; names are unique.  Only grows while a run goes on.
 * Amounts are milli-GPUs, milli-CPUs and MiB.
 */
#ifndef TOPOLOGIES_QUEUE_TABLE_H
#define TOPOLOGIES_QUEUE_TABLE_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/names.h"
#include "base/time.h"

typedef uint32_t queue_id;

#define QUEUE_ROOT      ((queue_id)0)
#define QUEUE_NONE      UINT32_MAX
#define QUOTA_UNLIMITED INT64_C(-1)

enum resource { RESOURCE_GPU, RESOURCE_CPU, RESOURCE_MEMORY, RESOURCE_COUNT };
extern const char *const resource_names[]; /* "gpus", "cpus", "memory_gb", NULL */

struct queue_spec {
    const char *name;                        /* borrowed from the table */
    queue_id parent;                         /* QUEUE_NONE for the root */
    int64_t deserved[RESOURCE_COUNT];        /* the amount that it is entitled to, or QUOTA_UNLIMITED */
    int64_t limit[RESOURCE_COUNT];           /* the amount that it may hold; QUOTA_UNLIMITED: any */
    int64_t weight_milli[RESOURCE_COUNT];    /* weight for its part of what is left over; 1000 = 1; >= 0 */
    int64_t guarantee[RESOURCE_COUNT];       /* kept for it even while it is idle; never lent */
    int64_t borrowing_limit[RESOURCE_COUNT]; /* beyond its deserved amount; QUOTA_UNLIMITED: any */
    int64_t lending_limit[RESOURCE_COUNT];   /* of its deserved amount, to other queues; QUOTA_UNLIMITED: all */
    int32_t priority;                        /* larger goes first; default 100 */
    time_ns created;                         /* of equal queues the older goes first, then the lower id */
    time_ns reclaim_min_runtime;             /* how long its jobs run before other queues may evict them; -1: not set */
    time_ns preempt_min_runtime;             /* how long before jobs of its own queue may; -1: not set */
    time_ns preemption_delay;                /* before jobs are evicted for a job of it; -1: not set */
    time_ns stale_after; /* time below their minimum after which its gangs lose the rest; -1: not set */
    int64_t usage_ppm;   /* of the cluster, before the start; initial value of time-based policies */
    uint32_t users;      /* how many have a share of it from the start, whether they submit jobs or not */
};

struct queue_table {
    struct queue_spec *queues;
    uint32_t count;
    uint32_t declared_count; /* jobs may be in these first queues only (workloads/readers/known_queues.h); 0: in any */
    size_t capacity;
    struct names *names; /* id = position; "" is the root */
};

struct queue_table *queue_table_new(void);                               /* with the root */
struct queue_spec queue_spec_default(const char *name, queue_id parent); /* QUEUE_NONE: of the root */
void queue_table_free(struct queue_table *table);

/* Add a queue with the defaults: it deserves no GPUs but any CPUs and memory; no limits, weight 1, priority 100.  The
 * name must be new, the parent known. */
queue_id queue_table_add(struct queue_table *table, struct text name, queue_id parent);

/* The queue with that name; it is added under the root if there is none. */
queue_id queue_table_of(struct queue_table *table, struct text name);
queue_id queue_table_find(const struct queue_table *table, struct text name); /* QUEUE_NONE: not known */

/* The time set for the queue, or for the nearest queue above that has one; `otherwise` if none has.  O(depth). */
time_ns queue_table_delay(const struct queue_table *table, queue_id queue, time_ns otherwise);
time_ns queue_table_stale_after(const struct queue_table *table, queue_id queue, time_ns otherwise);

/* Read an array of {"name", "parent", "priority", "quota_gpus", "limit_gpus", "over_quota_weight", ...} into the table;
 * topologies/README.md lists every field.  A parent must stand before its children; null is the root.  Fails through
 * the sticky error. */
void queue_table_read(struct queue_table *table, const struct json_value *array);

/* As above for a table in use: an existing queue keeps its parent, takes the given values, and gets defaults for the
 * others.  Other queues are added. */
void queue_table_merge(struct queue_table *table, const struct json_value *array);

/* Append the queues from `first` on (1: all but the root) as one line of JSON for queue_table_read and _merge. */
void queue_table_write(const struct queue_table *table, queue_id first, struct buffer *out);

/* Read the fields of a queue except its name and parent, for readers that place queues themselves.  The caller opens
 * and closes the object. */
void queue_spec_read(struct queue_spec *queue, struct json_object *object);

#endif
