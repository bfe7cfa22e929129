/* sim/engine/engine_gpus.h -- the layouts of GPUs that were repartitioned, for a policy that takes over
 * (engine_adopt.c). */
#ifndef SIM_ENGINE_ENGINE_GPUS_H
#define SIM_ENGINE_ENGINE_GPUS_H

#include "sim/engine/engine_state.h"

struct sim_gpu {
    node_id node;
    struct gpu_cut cut;  /* its present layout, or the one that is being made */
    int64_t recut_milli; /* of it, if it is being repartitioned: what is in no instance that stays */
};

/* By gpu_id; NULL: no GPU was repartitioned so far. */
const struct sim_gpu *engine_gpus_cut(const struct engine *engine);

#endif
