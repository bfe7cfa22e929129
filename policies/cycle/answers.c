/* Read-only queries: the counts of the scheduler. */
#include "policies/state/sched_state.h"

int64_t sched_waiting_gpu_milli(const struct sched *sched)
{
    return sched->pending.gpu_milli;
}

void sched_count(const struct sched *sched, struct sched_counts *counts)
{
    *counts = (struct sched_counts){
        .pending_jobs = sched->pending.job_count + sched->claims.count + sched->lists.held_count,
        .reserved_jobs = sched->claims.count,
        .running_jobs = sched->lists.booked_count,
        .used_gpu_milli = sched->ledger->used_milli,
        .reserved_gpu_milli = sched->claims.piece_milli - sched->ledger->claimed_milli,
        .releasing_gpu_milli = sched->ledger->coming_milli + sched->ledger->claimed_milli,
        .cycles = sched->cycle,
        .attempts = sched->attempts,
    };
    OBSERVERS_TELL(sched, count, counts);
}
