/* workloads/readers/workload_changes.h -- reads the keys of a workload that change which jobs of a trace come, and how
 * a load is reached: load_by, sample, tenants, growth, loop; and tells whether the work is still that of the trace. */
#ifndef WORKLOADS_READERS_WORKLOAD_CHANGES_H
#define WORKLOADS_READERS_WORKLOAD_CHANGES_H

#include "workloads/readers/workload_spec.h"

/* object: the workload, whose load is read already.  Fails through the sticky error. */
void workload_changes_read(struct workload_spec *spec, struct json_object *object);

/* The key that makes other work of a trace than was recorded, more or less of it or in another order, so that the waits
 * of the record say nothing of the jobs that come: "load", "sample"...; "merge": a part does that, or is no trace.
 * NULL: there is none.  A window, small shifts (`shake`), other names, and what becomes of attempts are none. */
const char *workload_unrecorded(const struct workload_spec *spec);

#endif
