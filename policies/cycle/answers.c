/* What the scheduler answers when asked, and changes nothing by it. */
#include "policies/drain/drain.h"
#include "policies/repartition/repartitions.h"
#include "policies/reservation/reservation.h"
#include "policies/state/sched_state.h"

void sched_count(const struct sched *sched, struct sched_counts *counts)
{
    *counts = (struct sched_counts){
        .pending_jobs = sched->pending.job_count + sched->claim_count + sched->held_count,
        .reserved_jobs = sched->claim_count,
        .running_jobs = sched->booked_running,
        .used_gpu_milli = sched->ledger->used_milli,
        .reserved_gpu_milli = sched->claimed_piece_milli - sched->ledger->claimed_milli,
        .releasing_gpu_milli = sched->ledger->coming_milli + sched->ledger->claimed_milli,
        .cycles = sched->cycle,
        .attempts = sched->attempts,
        .plans = sched->plans,
        .plans_tried = sched->plans_tried,
        .recuts = repartitions_told(sched),
        .kept_gpu_ns = sched->kept_nodes.kept_gpu_ns,
    };
    reservation_count(sched, &counts->promised_starts, &counts->late_starts);
    drain_count(sched, &counts->drains, &counts->drains_filled);
}
