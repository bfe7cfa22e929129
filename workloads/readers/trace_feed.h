/* workloads/readers/trace_feed.h -- the jobs of a trace, in the order of submission.
 *
 * A trace is read once in advance: for its facts, and to see whether it is sorted.  Its jobs then come from memory if
 * they are few or must be changed together (blocks, filling, a closed loop); else from a second reading, by way of a
 * temporary file if they are not sorted (spill.h).
 *
 * What happens to the jobs, in this order:
 *   rows       window, sample, tenants, growth, durations (rows.h)
 *   together   blocks.h; or fill.h
 *   stream     gaps between arrivals, or run times, scaled to a load; time 0 is the begin of the window, else the first
 *              submission; then shake.h
 */
#ifndef WORKLOADS_READERS_TRACE_FEED_H
#define WORKLOADS_READERS_TRACE_FEED_H

#include "workloads/readers/feed.h"

/* Open spec->trace.  tables, facts: of the source.  *out must be freed through its ops, also after an error.
 * ERROR_DATA: a line cannot be read, there are no jobs, or no load can be computed. */
struct error trace_feed_open(struct feed **out, const struct workload_spec *spec, struct job_tables *tables,
                             struct workload_facts *facts, uint64_t seed) MUST_CHECK;

#endif
