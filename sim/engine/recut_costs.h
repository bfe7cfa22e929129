/* sim/engine/recut_costs.h -- the time that repartitioning a GPU takes.
 *
 * There are two ways.  The driver creates and destroys instances one by one while others on the GPU work, and switches
 * the GPU's mode when it becomes partitioned or whole.  Or an operator does it, for a node without work, in minutes.
 *
 * Sources: NVIDIA's MIG user guide says that the driver needs only the affected instances idle.  The operator's 3 to 5
 * minutes and the driver's seconds are reported by operators, not published as tables: vary them in experiments.
 */
#ifndef SIM_ENGINE_RECUT_COSTS_H
#define SIM_ENGINE_RECUT_COSTS_H

#include "policies/ledger/ledger.h"

enum recut_path { RECUT_BY_DRIVER, RECUT_BY_OPERATOR };

struct recut_costs {
    uint8_t path;                       /* enum recut_path */
    time_ns create, destroy;            /* for one instance */
    time_ns mode_min, mode_max;         /* to partition a whole GPU or make it whole again: uniform between them */
    time_ns operator_min, operator_max; /* for the whole repartition: uniform between them */
};

struct recut_costs recut_costs_default(void);

/* The time of the nth repartition of that GPU in the run.  Each one has its own random stream. */
time_ns recut_duration(const struct recut_costs *costs, const struct gpu_cut *before, const struct gpu_cut *after,
                       uint64_t seed, uint64_t nth);

#endif
