/* Facts about jobs that run on, what they saved and what a monitor measured of them; and about what was before. */
#include "policies/booking/booking.h"
#include "policies/booking/told.h"
#include "policies/state/sched_state.h"

void sched_job_checkpointed(struct sched *sched, job_id id, time_ns now)
{
    if (!told_in_time(sched, now) || !told_well(sched, told_known(sched, id)))
        return;
    uint32_t slot = job_table_find(&sched->jobs, id);
    sched_begin_fact(sched, now);
    sched->jobs.facts[slot].saved_at = now;
    OBSERVERS_TELL(sched, saved, slot);
}

void sched_job_observed(struct sched *sched, job_id id, const struct observation *observation, time_ns now)
{
    if (!told_in_time(sched, now) || !told_well(sched, told_observation(observation, now)) ||
        !told_well(sched, told_known(sched, id)))
        return;
    OBSERVERS_TELL(sched, observed, job_table_find(&sched->jobs, id), observation, now);
}

static bool is_past(time_ns at, time_ns now)
{
    return at >= 0 && at <= now;
}

static enum wrong_fact told_history(const struct job_history *history, time_ns now)
{
    if (!is_past(history->waiting_since, now) || history->ran < 0 || history->ran > SCHED_TIME_MAX ||
        (history->below_since != TIME_NEVER && !is_past(history->below_since, now)) ||
        (history->saved_at != TIME_NEVER && !is_past(history->saved_at, now)))
        return WRONG_TIME;
    return history->attained_gpu_ns < 0 ? WRONG_VALUE : WRONG_NOTHING;
}

void sched_job_history_told(struct sched *sched, job_id id, const struct job_history *history, time_ns now)
{
    if (!told_in_time(sched, now) || !told_well(sched, told_history(history, now)))
        return;
    sched_begin_fact(sched, now);
    sched->told_history.id = id;
    sched->told_history.change = sched->changes;
    sched->told_history.of = *history;
}

void sched_user_usage_told(struct sched *sched, queue_id queue, uint32_t user, int64_t usage_milli, time_ns now)
{
    if (!told_in_time(sched, now) || !told_well(sched, queue < sched->tree.count ? WRONG_NOTHING : WRONG_QUEUE) ||
        !told_well(sched, usage_milli >= 0 ? WRONG_NOTHING : WRONG_VALUE))
        return;
    sched_begin_fact(sched, now);
    OBSERVERS_TELL(sched, usage_told, queue, user, usage_milli);
}
