/* tests/support/random_sizes.h -- a random size of a cluster over time.
 *
 *   struct capacity_step steps[RANDOM_SIZES];
 *   world.capacity = random_sizes(steps, cluster, seed, span);
 *
 * The first step is at 0 or later.  After `span` all nodes are in service, so that what fits the cluster can start.
 */
#ifndef TESTS_SUPPORT_RANDOM_SIZES_H
#define TESTS_SUPPORT_RANDOM_SIZES_H

#include "sim/capacity/capacity_table.h"

enum { RANDOM_SIZES = 32 };

/* cluster: at most RANDOM_SIZES / 2 pools.  The table borrows the steps. */
struct capacity_table random_sizes(struct capacity_step steps[RANDOM_SIZES], const struct cluster *cluster,
                                   uint64_t seed, time_ns span);

#endif
