/* policies/reservation/fillers.h -- jobs that run in the gap before a planned start, and give way to it by eviction.
 *
 * Words.  A gap is space that is free now and that a planned start needs later.  A filler is a job that started in a
 * gap though its planned end lies behind the planned start, because the policy may evict it for the job that waits.  It
 * gives way to every job that already waited when it started and for which the policy may evict it.
 *
 * Example: node 0 is busy for 1,000 s, node 1 is free, and a gang waits for both.  A job of lower priority and 10,000 s
 * starts on node 1 as a filler.  When node 0 becomes free, the filler is evicted (reason Gap), writes its checkpoint
 * within its grace, and the gang starts on both nodes.
 *
 * Law 1: a waiting job with a planned start, whose start only fillers that give way to it prevent, claims their space
 *   in the same cycle.  So no job with a planned start starts later because of a filler, but for the grace of the
 *   filler.  Exception: a filler whose START is not confirmed is evicted when it is.
 * Law 2: only jobs that the policy may ever evict for the job of each planned start in their way are fillers: those
 *   that are preemptible, were evicted less than evictions_per_job_max times, and are lower by within_queue or may be
 *   reclaimed.  The minimum run time, the preemption delay and the bound of losses do not protect a filler.
 * Law 3: a filler is worth it.  With
 *     gap     the time until the first planned start in its way
 *     kept    gap, if the filler can save its work within its grace; else the part of gap up to its last checkpoint
 *     useful  kept - the time that its restart takes
 *     leaves  the time that its checkpoint takes, if that is within its grace; else its grace
 *   it starts only if gap is at least its minimum run time (preemption.min_runtime_s) and
 *     GPUs of the filler x useful  >  GPUs of the jobs whose planned starts are in its way x leaves.
 *   So each fill gains GPU time in the plan, and a job is evicted from gaps at most evictions_per_job_max times.
 * Law 4: plans see fillers as what they are.  The planned start of a job counts the fillers that give way to it as
 *   leaving now, all other running jobs with their declared lengths.
 * (tests/property/test_fillers.c checks 1, 2 and 4; tests/unit/test_fillers.c checks 3.)
 *
 * Source: Slurm starts preemptible jobs under backfill and preempts them for the job that was planned (sched/backfill
 * with PreemptType); OAR calls such jobs best effort, HiveD opportunistic.  Departure: there the job fills any idle
 * space and no rule says whether it is worth it.
 *
 * It does not: fill gaps of planned starts that stand (backfill `conservative`); delay a job without a planned start
 * less than any other job that starts; give way before the planned job can start.  A scheduler that adopts running
 * jobs takes fillers for ordinary jobs.
 * Cost: a placement for each waiting job that fits but for planned starts; in each cycle with fillers, two placements
 * for each planned start, and one for each filler in the way of a job that can start.
 */
#ifndef POLICIES_RESERVATION_FILLERS_H
#define POLICIES_RESERVATION_FILLERS_H

#include "policies/state/sched_state.h"

struct filler {
    uint32_t slot;
    bool is_leaving; /* scratch */
};

struct filler_book {
    struct filler *of; /* in the order of their starts */
    size_t capacity;
    uint32_t count;
    uint8_t *is_listed; /* by slot */
    size_t listed_capacity;
    uint64_t landed_change;   /* the state change of the last fillers_land that found nothing */
    struct piece_list pieces; /* scratch */
};

/* Is the job a filler that holds its space and is not being evicted? */
bool fillers_has(const struct sched *sched, uint32_t slot);
/* Is it listed as a filler, also while it leaves? */
bool fillers_lists(const struct sched *sched, uint32_t slot);
/* Does the filler give way to the waiting job? */
bool fillers_gives_way(struct sched *sched, uint32_t filler, uint32_t waiting);
/* Before a planned start of the waiting job is sought in one line: the fillers that do not give way to it stay for
 * their declared lengths.  False: all of them give way.  fillers_hide: the reverse, afterwards. */
bool fillers_show(struct sched *sched, uint32_t waiting);
void fillers_hide(struct sched *sched);

#endif
