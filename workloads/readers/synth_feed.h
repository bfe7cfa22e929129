/* workloads/readers/synth_feed.h -- the jobs of a mix of classes (workloads/synth/synth.h) as a feed. */
#ifndef WORKLOADS_READERS_SYNTH_FEED_H
#define WORKLOADS_READERS_SYNTH_FEED_H

#include "workloads/readers/feed.h"

/* Make the feed of spec->synth; its tenants are added to the queues.  *out must be freed through its ops, also after
 * an error.  ERROR_CONFIG: the cluster has no GPUs, or cannot hold a size of the mix. */
struct error synth_feed_open(struct feed **out, const struct workload_spec *spec, struct job_tables *tables,
                             struct workload_facts *facts, uint64_t seed) MUST_CHECK;

#endif
