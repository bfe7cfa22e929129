/* workloads/readers/merge_feed.h -- the jobs of several workloads in one stream, by submission.
 *
 *   "merge": [{"trace": "a.csv", "prefix": "a/"}, {"model": "philly", "duration": "30d", "offset": "7d"}]
 *
 * Each part is a source of its own, with its own tables.  The time 0 of a part is its offset here.  The names of its
 * queues and users and the ids of its jobs get its prefix; equal names are one queue and one user.  A queue keeps its
 * parent and amounts, unless a queue of this name is there already.
 *
 * Laws
 *  - The jobs are those of the parts, in the order of submission; of equal submissions those of the earlier part come
 *    first, each part in its own order.
 *  - A job depends on jobs of its part; arrays of two parts are two arrays.
 *  - Part i draws with a seed that the seed and i give; the first part with the seed itself.
 *
 * Memory: 4 bytes for each job of a part that is a trace, for dependencies.  Cost: O(parts) a job.
 */
#ifndef WORKLOADS_READERS_MERGE_FEED_H
#define WORKLOADS_READERS_MERGE_FEED_H

#include "workloads/readers/feed.h"

/* A feed without parts yet; freed through its ops. */
struct feed *merge_feed_new(uint32_t part_count, struct job_tables *tables, struct workload_facts *facts);

/* Take the next part, index 0 first: its names are added to the tables.  source: an open one, borrowed for the life of
 * the feed.  ERROR_CONFIG: the parts have more workload classes than a workload can have. */
struct error merge_feed_take(struct feed *feed, uint32_t index, const struct workload_part *plan,
                             struct job_source *source) MUST_CHECK;

#endif
