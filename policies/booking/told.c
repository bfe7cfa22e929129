/* The preconditions of facts; see policies/booking/told.h. */
#include "policies/booking/told.h"

void told_refuse(struct sched *sched, enum wrong_fact wrong)
{
    sched->refused.count++;
    sched->refused.by[wrong]++;
    sched->refused.last = wrong;
}

/* ---- jobs ---- */

_Static_assert(TIME_NS_MAX == (INT64_C(1) << 61) - 1 && SCHED_TIME_MAX == (INT64_C(1) << 62) - 1,
               "both are one below a power of two");

/* A bit above SCHED_TIME_MAX is set in the result if the time is above it, but not if it is TIME_NEVER. */
static inline uint64_t or_never(time_ns time)
{
    return (uint64_t)time + 1;
}

/* All tests are of bits, since each job comes by here: a negative time has its sign, one that is too long a high bit.
 * */
static inline bool are_times_well(const struct job *job)
{
    const struct checkpoint_plan *plan = &job->checkpoint;
    const int64_t spans = job->submit | plan->interval | plan->duration | plan->restart | job->grace;
    const int64_t signs = spans | job->limit | job->estimate | job->deadline | job->attained_gpu_ns;
    const uint64_t others = or_never(job->limit) | or_never(job->estimate) | or_never(job->deadline) |
                            or_never(job->stale_after) | (uint64_t)job->attained_gpu_ns;
    return signs >= 0 && spans <= TIME_NS_MAX && job->preemption_delay >= JOB_AS_QUEUE &&
           job->preemption_delay <= TIME_NS_MAX && job->stale_after >= JOB_AS_QUEUE &&
           (others & ((uint64_t)SCHED_TIME_MAX + 1)) == 0;
}

/* One group of members with whole GPUs or none, and nothing that names a level, a set or another job.  Most jobs are
 * such; the rest of their declaration needs no further test. */
static inline bool is_plain(const struct job *job)
{
    const struct job_group *group = &job->first;
    const struct request *request = &group->request;
    const uint32_t other = (job->group_count ^ 1u) | job->set_count | job->min_sets | job->after_count |
                           job->topology.required | job->topology.preferred | job->array | job->array_max | group->set |
                           group->slice_level | group->slice_members | request->gpu_milli | request->gpu_memory_mib |
                           request->mig | request->one_island | request->share | request->domain;
    return other == 0 && job->tags == NULL && job->sets == NULL && job->after == NULL &&
           group->min_count - 1 < group->count;
}

static bool are_levels_known(const struct sched *sched, struct topology_ask topology)
{
    return topology.required <= sched->cluster->level_count && topology.preferred <= sched->cluster->level_count;
}

static bool are_groups_known(const struct sched *sched, const struct job *job)
{
    uint64_t members = 0;
    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct job_group *group = job_group(job, g);
        members += group->count;
        if (group->slice_level > sched->cluster->level_count || group->request.share != SHARE_PLAIN ||
            group->request.domain != 0)
            return false;
    }
    return members <= SCHED_MEMBERS_MAX;
}

static bool are_names_known(const struct sched *sched, const struct job *job)
{
    bool are_known = are_levels_known(sched, job->topology) && job->array <= SCHED_ARRAY_MAX;
    for (uint32_t s = 0; s < job->set_count; s++)
        are_known &= are_levels_known(sched, job->sets[s].topology);
    for (uint32_t r = 0; job->tags != NULL && r < job->tags->rule_count; r++)
        are_known &= job->tags->rules[r].level <= sched->cluster->level_count;
    for (uint32_t i = 0; i < job->after_count; i++)
        are_known &= job->after[i].job < job->id;
    return are_known && are_groups_known(sched, job);
}

/* The whole declaration. */
static __attribute__((noinline)) bool is_valid(const struct sched *sched, const struct job *job)
{
    if (job->group_count == 0 || job->group_count > JOB_GROUPS_MAX || (job->group_count > 1 && job->more == NULL))
        return false;
    return job_complaint(job) == NULL && are_names_known(sched, job);
}

enum wrong_fact told_job(const struct sched *sched, const struct job *job)
{
    const struct job_table *jobs = &sched->jobs;
    if (job->queue >= sched->tree.count)
        return WRONG_QUEUE;
    if (job->id < jobs->id_count ? jobs->slot_of[job->id] != SLOT_NONE : job->id > SCHED_JOB_ID_MAX)
        return WRONG_JOB_ID;
    if (sched->trusts_jobs)
        return WRONG_NOTHING;
    if (job->class >= JOB_CLASS_COUNT || !are_times_well(job) || job->limit == 0)
        return WRONG_JOB;
    return is_plain(job) && job->first.count <= SCHED_MEMBERS_MAX ? WRONG_NOTHING
           : is_valid(sched, job)                                 ? WRONG_NOTHING
                                                                  : WRONG_JOB;
}

/* ---- other facts ---- */

enum wrong_fact told_members(const struct sched *sched, job_id job, struct members which)
{
    if (which.node >= sched->cluster->node_count && which.node != NODE_NONE)
        return WRONG_NODE;
    const uint32_t slot = job_table_find(&sched->jobs, job);
    if (slot == SLOT_NONE)
        return WRONG_UNKNOWN_JOB;
    const struct sched_job *own = &sched->jobs.jobs[slot];
    uint32_t i = 0;
    while (which.decision != 0 && i < own->holding_count && sched_job_holding(own, i)->decision != which.decision)
        i++;
    return which.decision == 0 || i < own->holding_count ? WRONG_NOTHING : WRONG_DECISION;
}

enum wrong_fact told_node(const struct sched *sched, node_id node, enum node_state state)
{
    if (node >= sched->cluster->node_count)
        return WRONG_NODE;
    return (unsigned)state <= NODE_ABSENT ? WRONG_NOTHING : WRONG_VALUE;
}

enum wrong_fact told_layout(const struct sched *sched, node_id node, uint32_t gpu_index, mig_layout_id layout)
{
    if (node >= sched->cluster->node_count)
        return WRONG_NODE;
    const struct node_type *type = cluster_node_type(sched->cluster, node);
    if (gpu_index >= type->gpu_count)
        return WRONG_GPU;
    if (layout == MIG_LAYOUT_WHOLE)
        return WRONG_NOTHING;
    const bool is_one = layout < MIG_LAYOUT_COUNT && sched->cluster->models[type->model].mig != MIG_NONE;
    return is_one && sched->ledger->layouts != NULL ? WRONG_NOTHING : WRONG_LAYOUT;
}

enum wrong_fact told_queues(const struct sched *sched, const struct queue_table *queues, queue_id first)
{
    if (queues->count < sched->tree.count || queues->count == 0)
        return WRONG_QUEUES;
    for (queue_id q = first > QUEUE_ROOT ? first : QUEUE_ROOT + 1; q < queues->count; q++)
        if (queues->queues[q].parent >= q ||
            (q < sched->tree.count && queues->queues[q].parent != sched->ledger->parent[q]))
            return WRONG_QUEUES;
    return WRONG_NOTHING;
}

enum wrong_fact told_kinds(const struct sched *sched, const struct job_group *kinds, uint32_t kind_count)
{
    for (uint32_t k = 0; k < kind_count; k++) {
        struct job job = job_default();
        job.first = kinds[k];
        job.first.min_count = job.first.count; /* a kind of members has no minimum */
        if (!is_valid(sched, &job))
            return WRONG_JOB;
    }
    return WRONG_NOTHING;
}
