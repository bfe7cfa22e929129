/* sim/caches/pulls.h -- jobs wait until their objects are on their nodes: pulls through caches of nodes and of racks.
 *
 * Words.  A rack is a unit of the cluster (struct node).  A pull brings one object to one node: from the cache of its
 * rack, if it is there, else from the registry.
 *
 * Law.
 *  - A node pulls one object at a time, in the order in which jobs asked (as kubelet does by default:
 *    serializeImagePulls of KubeletConfiguration, kubernetes.io).
 *  - An object that the node has costs nothing.  One that it pulls already is pulled once, for all jobs that wait for
 *    it.
 *  - A pull from the registry also fills the cache of the rack.  While it is under way, the other nodes of the rack
 *    wait for that cache, if it could hold the object, and then pull from it.
 *  - The nodes that pull from the registry share registry_bytes_per_s, those that pull from the cache of one rack
 *    rack_bytes_per_s, each at most node_bytes_per_s: max-min fair (sim/storage/storage.h).
 *  - An object counts from the nanosecond in which it is whole.  A node keeps it then, pinned by the jobs that waited
 *    for it until they stop; if it does not fit beside what is pinned, the node does not keep it, and the next job
 *    there pulls it again.  A rack keeps it if it fits.  What goes first: sim/caches/caches.h.
 *  - A job that stops gives up its pulls that have not begun.  One that moves goes on, for the caches.
 *  - Each object of each node of a job counts once for it: as pulled from the registry or the rack, by the job for
 *    which the pull began, or as local, if it was there or came for another job.
 *
 *   if (!pulls_begin(pulls, slot, nodes, count, &objects, now))
 *       push an event at pulls_next(pulls);
 *   ... at that time:
 *   while (pulls_take(pulls, now, &slot))
 *       the objects of the job in `slot` are all there
 *   ... when it does not run any more:
 *   pulls_stop(pulls, slot, now);
 *
 * Cost: a begin or a stop O(nodes of the job x jobs that wait there), the end of a pull O(nodes of the rack + racks).
 *
 * It does not: bring objects to nodes that a job gets later, lay them out in layers, or fail.
 */
#ifndef SIM_CACHES_PULLS_H
#define SIM_CACHES_PULLS_H

#include "base/time.h"
#include "sim/caches/pull_table.h"

struct pulls;

/* Bytes by where they came from. */
enum pull_source { PULL_REGISTRY, PULL_RACK, PULL_LOCAL, PULL_SOURCE_COUNT };
struct pull_counts {
    int64_t bytes[PULL_SOURCE_COUNT];
};

/* The table and the cluster are borrowed. */
struct pulls *pulls_new(const struct pull_table *table, const struct cluster *cluster);
void pulls_free(struct pulls *pulls); /* NULL is allowed */

/* The job in the slot asks for its objects on each of these nodes, which are distinct and in order.  True: all are
 * there.  It has not begun, or has stopped.  `now` never goes back from call to call. */
bool pulls_begin(struct pulls *pulls, uint32_t slot, const node_id *nodes, uint32_t count,
                 const struct job_objects *objects, time_ns now);
/* It uses its objects no more; nothing happens if it has not begun. */
void pulls_stop(struct pulls *pulls, uint32_t slot, time_ns now);

/* When the next pull is whole, if none comes or goes before; TIME_NEVER: none is under way.  O(racks). */
time_ns pulls_next(const struct pulls *pulls);
/* End the pulls that are whole at `now`, and name a job that has all of its objects since; false: there is none. */
bool pulls_take(struct pulls *pulls, time_ns now, uint32_t *slot);

/* What the jobs of the slot pulled since it was cleared. */
struct pull_counts pulls_counts(const struct pulls *pulls, uint32_t slot);
void pulls_clear(struct pulls *pulls, uint32_t slot);
struct pull_counts pulls_moved(const struct pulls *pulls); /* of all jobs, when their pulls began */

bool pulls_has(const struct pulls *pulls, node_id node, uint32_t object); /* does the node keep it? */

#endif
