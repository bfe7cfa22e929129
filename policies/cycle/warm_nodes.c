/* Where jobs with the same objects started last (policies/jobs/warm.h), for policies that weigh it. */
#include "policies/jobs/warm.h"
#include "policies/state/sched_state.h"

static void *on_init(struct sched *sched)
{
    if (sched->policy.placement_config.warm_weight <= 0)
        return NULL;
    struct warm *warm = mem_zalloc(1, sizeof *warm);
    warm_open(warm);
    sched->ledger->warm = warm;
    return warm;
}

static void on_release(struct sched *sched, void *own)
{
    (void)sched;
    warm_release(own);
    mem_free(own);
}

static void on_enrolled(struct sched *sched, void *own, uint32_t slot, const struct job *job)
{
    (void)sched;
    warm_know(own, slot, job->objects);
}

static void on_runs(struct sched *sched, void *own, uint32_t slot, node_id node)
{
    (void)sched;
    warm_started(own, slot, node);
}

const struct observer warm_nodes_observer = {
    .init = on_init, .release = on_release, .enrolled = on_enrolled, .runs_on = on_runs};
