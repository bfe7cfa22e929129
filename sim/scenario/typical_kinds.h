/* sim/scenario/typical_kinds.h -- the typical members of a workload, for sched_typical_told.
 *
 *   TRY(typical_kinds_write(source, cluster, &out));        [{"count":1344,"gpu_fraction":0.81,"cpus":3},...]
 *
 * Law: the kinds of TYPICAL_PERCENT of all members (policies/jobs/member_kinds.h), the commonest first, with the count
 * of each; in the form of policy.typical of a scenario.
 * Cost: the source is read to its end. */
#ifndef SIM_SCENARIO_TYPICAL_KINDS_H
#define SIM_SCENARIO_TYPICAL_KINDS_H

#include "base/buffer.h"
#include "workloads/readers/source.h"

struct error typical_kinds_write(struct job_source *source, const struct cluster *cluster,
                                 struct buffer *out) MUST_CHECK;

#endif
