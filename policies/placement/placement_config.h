/* policies/placement/placement_config.h -- the parameters of where: which GPUs of a node a member gets, and what weighs how
 * much for the policies that weigh.
 *
 * Law: what the ledger borrows (struct ledger) is const as long as something is placed in it.
 */
#ifndef POLICIES_PLACEMENT_CONFIG_H
#define POLICIES_PLACEMENT_CONFIG_H

#include "base/json.h"

enum gpu_choice {
    GPU_CHOICE_LOWEST, /* the lowest that are free */
    GPU_CHOICE_NEAR    /* close together (policies/placement/gpu_choice.h) */
};

enum { PLACEMENT_WEIGHT_MAX = 1000 };

struct placement_weights { /* of weighted_binpack; 0..PLACEMENT_WEIGHT_MAX, not all 0 */
    int32_t gpu, cpu, memory;
};

struct placement_config {
    enum gpu_choice gpu_choice;
    struct placement_weights weights;
};

/* The lowest GPUs; weights 5, 1, 1. */
struct placement_config placement_config_default(void);

/* Read "gpu_choice" and "placement_weights" of a policy's object; what is absent stays.  Fails through the sticky error. */
void placement_config_read(struct placement_config *config, struct json_object *object);

#endif
