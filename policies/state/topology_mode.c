/* policies/state/topology_mode.c -- what jobs ask of topology, as the policy's mode has it. */
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"

static uint32_t shape_under(struct sched *sched, const struct job *job, enum topology_mode mode)
{
    struct job_set sets[JOB_SETS_MAX];
    struct job own = *job;
    own.topology = topology_ask_under(mode, job->topology);
    own.sets = sets;
    for (uint32_t s = 0; s < job->set_count; s++) {
        sets[s] = job->sets[s];
        sets[s].topology = topology_ask_under(mode, job->sets[s].topology);
    }
    const uint32_t shape = shape_of(&sched->shapes, sched->cluster, &own);
    return mode == TOPOLOGY_REQUIRED && sched->shapes.shapes[shape].never_fits
               ? shape_of(&sched->shapes, sched->cluster, job)
               : shape;
}

uint32_t sched_shape_for(struct sched *sched, const struct job *job)
{
    const enum topology_mode mode = sched->policy.placement_config.topology.mode;
    return mode == TOPOLOGY_AS_ASKED ? shape_of(&sched->shapes, sched->cluster, job)
                                     : shape_under(sched, job, mode);
}
