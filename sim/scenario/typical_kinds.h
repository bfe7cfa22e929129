/* sim/scenario/typical_kinds.h -- what the members of a workload usually ask, for schedulers to be told
 * (sched_typical_told).
 *
 *   TRY(typical_kinds_write(source, cluster, &out));        [{"count":1344,"gpu_fraction":0.81,"cpus":3},...]
 *
 * Law: the kinds that TYPICAL_PERCENT of all members are of (policies/jobs/member_kinds.h), the commonest first, with
 * how many there are of each; as policy.typical of a scenario takes it.
 * Cost: the source is read to its end. */
#ifndef SIM_SCENARIO_TYPICAL_KINDS_H
#define SIM_SCENARIO_TYPICAL_KINDS_H

#include "base/buffer.h"
#include "workloads/readers/source.h"

struct error typical_kinds_write(struct job_source *source, const struct cluster *cluster,
                                 struct buffer *out) MUST_CHECK;

#endif
