/* tools/trace_options.h -- the options by which the verbs of a trace read it. */
#ifndef TOOLS_TRACE_OPTIONS_H
#define TOOLS_TRACE_OPTIONS_H

#include "tools/args.h"
#include "workloads/readers/source.h"

/* The trace that the first operand names, as the options tell.  spec: borrows from args; released with
 * workload_release, also after an error. */
struct error trace_options_read(const struct args *args, struct workload_spec *spec, uint64_t *seed) MUST_CHECK;

/* The cluster of --cluster, or the default; free with cluster_free. */
struct error trace_options_cluster(const struct args *args, struct cluster **cluster) MUST_CHECK;

#endif
