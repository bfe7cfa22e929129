/* policies/placement/placement_config.h -- the parameters of placement: which GPUs of a node a member gets, and the
 * weights of the policies that use weights.
 *
 * Law: the configuration that the ledger borrows (struct ledger) does not change while the ledger is used.
 */
#ifndef POLICIES_PLACEMENT_CONFIG_H
#define POLICIES_PLACEMENT_CONFIG_H

#include "base/json.h"
#include "policies/placement/domain_shares.h"
#include "workloads/job.h"

enum gpu_choice {
    GPU_CHOICE_LOWEST, /* the lowest that are free */
    GPU_CHOICE_NEAR,   /* close together (policies/placement/gpu_choice.h) */
    GPU_CHOICE_RAILS   /* the same GPUs on each node of a job, so that its traffic stays on its rails (gpu_choice.h) */
};

enum { PLACEMENT_WEIGHT_MAX = 1000 };

struct placement_weights { /* of weighted_binpack; 0..PLACEMENT_WEIGHT_MAX, not all 0 */
    int32_t gpu, cpu, memory;
};

/* How the levels that jobs and their sets ask for are used.  Slices and islands are always kept. */
enum topology_mode {
    TOPOLOGY_AS_ASKED,
    TOPOLOGY_LOOSE,     /* levels are ignored */
    TOPOLOGY_PREFERRED, /* a required level is only preferred: no job waits for a domain */
    TOPOLOGY_REQUIRED   /* a preferred level is required, for jobs that an empty domain could hold */
};

struct topology_config {
    uint8_t mode;    /* enum topology_mode */
    uint8_t domains; /* enum topology_domains */
    /* the weight of clean units in the policy `topology`, 0..PLACEMENT_WEIGHT_MAX; the rest is the weight of tight
     * packing */
    uint16_t weight;
};

struct placement_config {
    enum gpu_choice gpu_choice;
    struct placement_weights weights;
    struct topology_config topology;
    int32_t warm_weight; /* of policies/placement/prefer_warm.h, 0..PLACEMENT_WEIGHT_MAX; 0: nothing is preferred */
};

/* The lowest GPUs; weights 5, 1, 1; topology as asked, best fit. */
struct placement_config placement_config_default(void);

/* Read "gpu_choice", "placement_weights", "topology" and "warm_weight" of a policy's object; absent fields keep their
 * values.  Fails through the sticky error. */
void placement_config_read(struct placement_config *config, struct json_object *object);

/* The levels to use under the mode. */
struct topology_ask topology_ask_under(enum topology_mode mode, struct topology_ask ask);

#endif
