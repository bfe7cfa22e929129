/* sim/engine/engine_demand.h -- what the members of a job need of their GPUs (topologies/gpu_demand.h), by what the
 * workload tells, and what pieces grant.
 *
 * Services and notebooks are open, training is closed.  Compute is the job's `sm_active`, or else `would_do` of what it
 * asks for; bandwidth its `memory_bandwidth`; the rest is that of its kind.  A share of a GPU that a job asks for is
 * that part of its SMs and of its bandwidth.  What the workload tells is the run time on the piece asked for: so closed
 * jobs are slower or faster than there, and compute of what they do there is less than `sm_active` if the piece is
 * small. */
#ifndef SIM_ENGINE_ENGINE_DEMAND_H
#define SIM_ENGINE_ENGINE_DEMAND_H

#include "sim/engine/engine_state.h"
#include "topologies/gpu_demand.h"

/* It asks for whole GPUs, or for none. */
static inline bool request_is_whole(const struct request *wish)
{
    return wish->mig == 0 && wish->gpu_milli == 0 && wish->gpu_memory_mib == 0;
}

static inline enum gpu_program engine_program(uint8_t class)
{
    return class == JOB_INFERENCE ? GPU_SERVICE : class == JOB_TRAINING ? GPU_TRAINING : GPU_NOTEBOOK;
}

/* Do some jobs get pieces that have a price? */
bool engine_has_clients(const struct engine *engine);

/* Of a member, on each of its GPUs. */
struct gpu_demand engine_demand(const struct engine *engine, const struct job *job, const struct job_truth *truth,
                                const struct request *wish);
/* Of the model's instance, or of a share of a GPU; 1000: a whole GPU.  `model`: not NULL for an instance. */
struct gpu_grant engine_grant(const struct gpu_model *model, uint8_t mig, int64_t gpu_milli);
/* GPUs on which a member has a piece. */
uint32_t engine_member_gpus(const struct request *wish);

/* All members of a job on what they ask for. */
struct engine_asked {
    int64_t gpus_milli; /* GPUs on which they have pieces */
    double served;      /* the part of their compute on whole GPUs that is done there */
    bool is_open;
};
/* Do its members ask for whole GPUs alone, or for none? */
bool engine_asks_whole(const struct job *job);
struct engine_asked engine_asked_of(const struct engine *engine, const struct job *job, const struct job_truth *truth);

/* Parts of the time of its members, alone on what its groups get; NULL: on what they ask for. */
struct gpu_parts engine_parts_of(const struct engine *engine, const struct job *job, const struct job_truth *truth,
                                 const struct job_group *got);

/* Put into the row what an open job was asked for and did not serve; `active`: the mean SM activity of what it held. */
void engine_note_unserved(struct sim_job *job, double active);

#endif
