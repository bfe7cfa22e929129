/* workloads/readers/user_loop.h -- who waited for what: the closed loop of users in a trace.
 *
 *   "loop": "closed", "think_max_s": "20m"
 *
 * In an open loop each job is submitted at its recorded time.  In a closed loop a user who waited for the end of a job
 * before he submitted the next one does so in the simulation, too.
 *
 * Words.  A job follows the job of its user that was the last to end before it was submitted, by the record.  Its think
 * time is the time between the two.  Up to think_max it is submitted that long after the simulated end of the job that
 * it follows: earlier than recorded on a faster cluster, later on a slower one.  Above think_max it begins a session:
 * it is submitted at its recorded time, so that days and nights stay, but not before the simulated end of the job that
 * it follows, whose result its user had seen.
 *
 *   Job   submitted  started  runs    recorded end   follows   think time
 *   1     0 s        10 s     100 s   110 s          -
 *   2     50 s       60 s     10 s    70 s           -         (1 and 2 are one batch)
 *   3     120 s      120 s    30 s    150 s          1         10 s
 *   4     9000 s     9000 s   1 s     9001 s         3         8850 s: a session begins
 *
 *   If 1 ends at 250 s in the simulation, 3 is submitted at 260 s.  If 3 ends at 8000 s, 4 is submitted at 9000 s.
 *
 * The recorded end is the recorded start and the run time, or where the trace tells no start, the submission and the
 * run time.  Times are those of the trace before `duration_scale`, `load_by` and `shake` change them: a think time is
 * that of a person.  A load is reached by run times alone, since users make the gaps between arrivals.  A job without a
 * user follows no job, and comes at its recorded time.
 *
 * Where the trace itself says what job a job followed (SWF, fields 17 and 18: job_truth.preceding and .think), that
 * holds, whatever think_max is.  If that job is not among the jobs, the job comes at its recorded time.
 *
 * Laws
 *  - If all jobs end as recorded, all are submitted as recorded.
 *  - A job follows one that stands before it by (submission, place), so there is no circle.
 *  - It is a relation of the record alone: whether the simulated user waits is the engine's part
 *    (sim/engine/engine_loop.h).
 *
 * It does not: guess that a job was cancelled because its user had seen another result, or change think times.
 *
 * Sources: D. G. Feitelson, "Workload Modeling for Computer Systems Performance Evaluation", Cambridge 2015, chapter 8
 * (feedback, sessions); N. Zakay and D. G. Feitelson, "Preserving User Behavior Characteristics in Trace-Based
 * Simulation of Parallel Job Scheduling", MASCOTS 2014.
 */
#ifndef WORKLOADS_READERS_USER_LOOP_H
#define WORKLOADS_READERS_USER_LOOP_H

#include "base/mem.h"
#include "workloads/readers/held.h"

/* 20 minutes.  Source: N. Zakay and D. G. Feitelson, "On Identifying User Session Boundaries in Parallel Workload
 * Logs", JSSPP 2012: longer think times are breaks between sessions. */
#define LOOP_THINK_MAX_DEFAULT (1200 * TIME_NS_PER_S)

struct loop_plan {
    bool is_closed;    /* false: an open loop */
    time_ns think_max; /* longer think times are breaks between sessions */
};

#define LOOP_SESSION INT64_C(-1)

struct loop_link {
    job_id follows; /* JOB_NONE: no job */
    time_ns think;  /* LOOP_SESSION: it begins a session */
};

/* The links of all jobs, by their place in the order of submission, in the arena.  held: as they were added, not sorted
 * or shaken yet.  duration_scale: the factor by which run times were multiplied.  Until loop_order, links have the
 * order of `held` and name its places.  O(n log n); needs 72 bytes per job while it runs. */
struct loop_link *loop_find(const struct held *held, const struct loop_plan *plan, double duration_scale,
                            struct arena *arena);

/* Turn the links to the order in which the jobs come.  order: the present place of each job, in the new order; NULL: it
 * is the present one. */
struct loop_link *loop_order(const struct loop_link *links, const uint64_t *order, size_t count, struct arena *arena);

#endif
