/* policies/booking/told.h -- is a fact one that the scheduler can take?  The preconditions of policies/sched.h.
 *
 * Every fact is tested before it changes anything.  A fact that breaks a precondition is counted and dropped.
 *
 *   if (!told_in_time(sched, now) || !told_well(sched, told_job(sched, job)))
 *       return;
 *
 * Cost: a few comparisons; a job beyond one plain group O(groups + sets), pieces O(n log n).
 *
 * It does not: judge facts that are possible but do not suit a job's state.  The facts themselves ignore these.
 */
#ifndef POLICIES_BOOKING_TOLD_H
#define POLICIES_BOOKING_TOLD_H

#include "policies/state/sched_state.h"

/* Count a fact that is dropped. */
void told_refuse(struct sched *sched, enum wrong_fact wrong) RARE;

static inline bool told_well(struct sched *sched, enum wrong_fact wrong)
{
    if (__builtin_expect(wrong == WRONG_NOTHING, true))
        return true;
    told_refuse(sched, wrong);
    return false;
}

/* Is `now` not before the last fact or cycle, and not beyond what times can be added to? */
static inline bool told_in_time(struct sched *sched, time_ns now)
{
    if (now == sched->now || __builtin_expect(now > sched->now && now <= SCHED_TIME_MAX, true))
        return true;
    told_refuse(sched, WRONG_TIME);
    return false;
}

/* A new job: its id, its queue and what it declares. */
enum wrong_fact told_job(const struct sched *sched, const struct job *job);

/* Where a new job runs already.  The job is valid. */
enum wrong_fact told_pieces(const struct sched *sched, const struct job *job, const struct piece *pieces,
                            uint32_t piece_count);

static inline enum wrong_fact told_known(const struct sched *sched, job_id job)
{
    return job_table_find(&sched->jobs, job) != SLOT_NONE ? WRONG_NOTHING : WRONG_UNKNOWN_JOB;
}

/* Members of a job: their node is of the cluster, the job is known, and it holds pieces of the decision. */
enum wrong_fact told_members(const struct sched *sched, job_id job, struct members which);

enum wrong_fact told_node(const struct sched *sched, node_id node, enum node_state state);
enum wrong_fact told_layout(const struct sched *sched, node_id node, uint32_t gpu_index, mig_layout_id layout);
/* Those before `first` are not looked at. */
enum wrong_fact told_queues(const struct sched *sched, const struct queue_table *queues, queue_id first);
enum wrong_fact told_kinds(const struct sched *sched, const struct job_group *kinds, uint32_t kind_count);

static inline enum wrong_fact told_observation(const struct observation *observation, time_ns now)
{
    if (observation->since < 0 || observation->since > observation->until || observation->until > now)
        return WRONG_TIME;
    return observation->sm_active_milli <= GPU_MILLI ? WRONG_NOTHING : WRONG_VALUE;
}

#endif
