/* sim/engine/recut_costs.h -- how long it takes to cut a GPU anew.
 *
 * Two ways: the driver creates and destroys instances one by one while others on the GPU work, and switches its mode
 * when it is to be partitioned or whole again; or an operator does it, for a node without work, in minutes.
 *
 * Sources: that the driver needs only the instances in question idle: NVIDIA's MIG user guide.  The operator's 3 to 5
 * minutes and the driver's seconds are reported by operators, not published as tables: they are meant to be swept.
 */
#ifndef SIM_ENGINE_RECUT_COSTS_H
#define SIM_ENGINE_RECUT_COSTS_H

#include "policies/ledger/ledger.h"

enum recut_path { RECUT_BY_DRIVER, RECUT_BY_OPERATOR };

struct recut_costs {
    uint8_t path;                       /* enum recut_path */
    time_ns create, destroy;            /* an instance */
    time_ns mode_min, mode_max;         /* to partition a whole GPU, or to make it whole again: uniform between them */
    time_ns operator_min, operator_max; /* all of it: uniform */
};

struct recut_costs recut_costs_default(void);

/* For cutting the GPU for the nth time in the run (a stream each). */
time_ns recut_duration(const struct recut_costs *costs, const struct gpu_cut *before, const struct gpu_cut *after,
                       uint64_t seed, uint64_t nth);

#endif
