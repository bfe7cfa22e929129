/* policies/state/topology_mode.c -- jobs' topology requests under the policy's topology mode. */
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"

static uint32_t request_class_under(struct sched *sched, const struct job *job, enum topology_mode mode)
{
    struct job_set sets[JOB_SETS_MAX];
    struct job own = *job;
    own.topology = topology_ask_under(mode, job->topology);
    own.sets = sets;
    for (uint32_t s = 0; s < job->set_count; s++) {
        sets[s] = job->sets[s];
        sets[s].topology = topology_ask_under(mode, job->sets[s].topology);
    }
    const uint32_t request_class = request_class_of(&sched->request_classes, sched->cluster, &own);
    return mode == TOPOLOGY_REQUIRED && sched->request_classes.at[request_class].never_fits
               ? request_class_of(&sched->request_classes, sched->cluster, job)
               : request_class;
}

uint32_t sched_request_class_for(struct sched *sched, const struct job *job)
{
    const enum topology_mode mode = sched->policy.placement_config.topology.mode;
    return mode == TOPOLOGY_AS_ASKED ? request_class_of(&sched->request_classes, sched->cluster, job)
                                     : request_class_under(sched, job, mode);
}
