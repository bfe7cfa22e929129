/* workloads/readers/workload_changes.h -- reads the keys of a workload that change which jobs of a trace come, and how
 * a load is reached: load_by, sample, tenants, growth, loop. */
#ifndef WORKLOADS_READERS_WORKLOAD_CHANGES_H
#define WORKLOADS_READERS_WORKLOAD_CHANGES_H

#include "workloads/readers/source.h"

/* object: the workload, whose load is read already.  Fails through the sticky error. */
void workload_changes_read(struct workload_spec *spec, struct json_object *object);

#endif
