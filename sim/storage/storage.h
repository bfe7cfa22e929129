/* sim/storage/storage.h -- the storage of checkpoints: transfers share its bandwidth.
 *
 * A transfer moves the bytes of a job to the storage or from it, in equal parts over the job's nodes.  All nodes that
 * transfer have the same rate: what a node can do, or an even share of what the storage can do, if that is less.  So
 * the rates are max-min fair (processor sharing, by nodes).
 *
 * Law.  At every moment the rate of a node is min(node, storage / nodes that transfer) bytes per second, rounded down,
 * at least 1.  A transfer is whole in the first nanosecond in which each of its nodes has moved its part, bytes / nodes
 * rounded up.  Only integers are used.  The transfers keep the order of their ends while others come and go, so no
 * transfer is touched when its rate changes: a begin or an end costs O(log transfers).
 *
 *   storage_begin(storage, slot, 80e9, 4, now);
 *   push an event at storage_next(storage);
 *   ... at that time:
 *   while (storage_take(storage, now, &slot))
 *       the transfer of `slot` is whole
 *
 * It does not: tell reads from writes, hold a cache, or know what is transferred.
 */
#ifndef SIM_STORAGE_STORAGE_H
#define SIM_STORAGE_STORAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

struct storage;

enum { STORAGE_UNLIMITED = 0 }; /* as a rate */

/* bytes_per_s: of the storage; node_bytes_per_s: of a node; STORAGE_UNLIMITED: no limit. */
struct storage *storage_new(int64_t bytes_per_s, int64_t node_bytes_per_s);
void storage_free(struct storage *storage); /* NULL is allowed */

/* A slot has one transfer at a time.  bytes >= 0, nodes >= 1.  `now` never goes back from call to call. */
void storage_begin(struct storage *storage, uint32_t slot, int64_t bytes, uint32_t nodes, time_ns now);
void storage_stop(struct storage *storage, uint32_t slot, time_ns now); /* it is given up */
/* What its nodes have not moved yet is spread anew over `nodes`. */
void storage_resize(struct storage *storage, uint32_t slot, uint32_t nodes, time_ns now);

bool storage_has(const struct storage *storage, uint32_t slot);
bool storage_is_whole(const struct storage *storage, uint32_t slot, time_ns now); /* of a transfer under way */

/* When the next transfer is whole, if none comes or goes before; TIME_NEVER: none is under way.  Found once after each
 * change. */
time_ns storage_next(struct storage *storage);
/* End a transfer that is whole at `now`, those with the least left to move first, then the lowest slot; false: there is
 * none. */
bool storage_take(struct storage *storage, time_ns now, uint32_t *slot);

/* The time that a transfer takes alone. */
time_ns storage_alone(int64_t bytes_per_s, int64_t node_bytes_per_s, int64_t bytes, uint32_t nodes);

#endif
