/* sim/engine/engine_spent.h -- what became of the cluster's GPU time, by cause (enum spent_cause, sim/record/record.h).
 *
 * At every instant each thousandth of a GPU has one cause, or is divided between them.  A part of a GPU that no job
 * holds:
 *
 *   absent       its node is out of service (sim/engine/engine_nodes.h)
 *   repartition  it is being repartitioned; an instance that stays is not
 *   sliced       it belongs to a partitioned GPU, and to none of its instances
 *   reserved     it is claimed by a job that waits for the rest of its space, or whose start has not taken effect
 *   idle         else
 *
 * A job that waits for members holds `reserved`.  Of a job that runs, the first that applies:
 *
 *   restart      it does no work: it pulls, writes, loads, restarts or warms up
 *   idle_held    no SM of its is busy, by its declared activity (workload.activity)
 *   else its speed divides what it holds, in this order: `reserved` of members that hold GPUs and cannot work;
 *                `restart`, what an asynchronous write takes of the rest; `sliced` or `neighbours`, what its slowest
 *                member then loses on an instance or beside other clients; `communication`, what the place and the
 *                network take of the rest, against the best place alone; `useful`, the rest: its speed
 *
 * Communication that the best place alone has, too, is part of the run time of the trace, and so is useful.  A job that
 * runs faster than the trace's speed, on more than it asked for, is useful in all that it holds.  Work that is thrown
 * away moves from `useful` to `lost` when that happens: of the useful time of the job so far the part that its work
 * thrown away is of its work.
 *
 * Laws
 *  - The causes add up to GPUs x time exactly, in units of a thousandth of a GPU / SPENT_ONE x ns.  Each has an account
 *    of its own: none is computed as the rest.  `useful` is what is allocated less what the speed of its job's progress
 *    falls short; the losses are counted from what makes it slow.
 *  - They change no decision, no end and no event.
 *  - Nothing is counted for a job without a pace or phases that runs at full speed from its start to its end.
 *
 * Like activity, a change that no event announces (a warm-up is over) is made when the next row or event needs it.
 * Law: such a change is what was planned when its job's pieces, speed or phase last changed; so a row more or less, or
 * a check, changes no integral.  Test: tests/property/test_observing.c.  It once caught that the busy SMs of a job
 * after its warm-up followed from its speed at the time at which that was noticed.
 *
 * It does not: know why a job is slow (struct sim_speed), or write rows.
 */
#ifndef SIM_ENGINE_ENGINE_SPENT_H
#define SIM_ENGINE_ENGINE_SPENT_H

#include "sim/engine/engine_state.h"

enum { SPENT_ONE = PACE_ONE }; /* units of a thousandth of a GPU, so that a pace is exact */

/* What a job is counted for in LEVEL_HOST to LEVEL_KERNEL: sim/engine/engine_use.h. */
struct sim_use {
    int64_t host, network, unknown, kernel; /* kernel: on whole GPUs */
    int64_t absence;                        /* that each of its parts of GPUs counts: struct gpu_kernels */
};

struct sim_spending {
    bool is_on;         /* it runs, and its parts are counted */
    bool is_listed;     /* in `stopped` */
    int64_t held;       /* units that it holds */
    time_ns works_from; /* before that all it holds is `restart`; TIME_NEVER: until something happens to it */
    int64_t working[SPENT_COUNT], working_short; /* its parts while it works, and what it falls short of full speed */
    int64_t part[SPENT_COUNT], is_short;         /* as they are counted now */
    time_ns since;                               /* since when */
    wide_ns short_ns;                            /* integral of is_short over its life, before that */
    wide_ns lost;                                /* units x ns that it lost */
    /* Its part of LEVEL_ACTIVE, if it is paced or has phases, and its activity is constant. */
    int64_t working_active, active; /* while it works, and now */
    time_ns active_since;           /* since when `active` has that value */
    wide_ns active_ns;              /* integral of `active` before that */
    wide_ns declared_active_ns;     /* likewise, of a declared activity, when it was last counted */
    wide_ns active_lost_ns;         /* of that, what belonged to work thrown away */
    struct sim_use use;             /* if it is counted apart from counts_all of struct sim_job */
};

struct spent {
    struct sim_spending *of; /* by slot; NULL: all jobs ran at full speed so far */
    size_t capacity;
    uint32_t *stopped; /* slots of jobs that warm up, and of some that did so since the last row */
    size_t stopped_capacity;
    uint32_t stopped_count;
    struct level cause[SPENT_COUNT]; /* of jobs that run, in units; no useful or lost ones */
    struct level falls_short;        /* what jobs that run fall short of full speed, by their progress */
    wide_ns lost;
};

/* Does it run at full speed from now on, so that nothing is to be counted? */
static inline bool engine_spent_is_plain(const struct engine *engine, const struct sim_job *job)
{
    const struct progress *progress = &job->progress;
    return progress->speed == (int64_t)job->pieces.held_count * progress->one && progress->works_from <= engine->now &&
           !progress_is_frozen(progress);
}

/* Is engine_spent_counts to be called, when its pieces, its speed or its phase changed? */
static inline bool engine_spent_must_count(const struct engine *engine, uint32_t slot, bool is_held)
{
    if (slot < engine->spent->capacity && engine->spent->of[slot].is_on)
        return true;
    const struct sim_job *job = &engine->jobs[slot];
    return is_held && (engine->has_phases || job->is_paced || !engine_spent_is_plain(engine, job));
}

void engine_spent_open(struct engine *engine); /* before the first job */
void engine_spent_release(struct engine *engine);
void engine_spent_asks(struct engine *engine, uint32_t slot); /* a job was submitted in the slot of another one */

/* Its pieces, its speed or its phase changed: note what it is from now on, and count it; is_held: it runs.  Of a job
 * with declared activity only engine_activity.c calls it. */
void engine_spent_counts(struct engine *engine, uint32_t slot, bool is_held);
/* Count it as it is at `at`, a time from its last change on: is it idle? */
void engine_spent_set(struct engine *engine, uint32_t slot, time_ns at, bool is_idle);
/* From when on it works, as it was counted last; 0: it works, or is not counted. */
time_ns engine_spent_works_from(const struct engine *engine, uint32_t slot);
/* Count its constant activity, if it is paced or has phases: as planned for `at`, or no longer. */
void engine_spent_active(struct engine *engine, uint32_t slot, bool is_held, time_ns at);
/* It throws away `thrown` of its `work`, and is not counted now. */
void engine_spent_lose(struct engine *engine, uint32_t slot, wide_ns thrown, wide_ns work);

/* The life of a paced job, or the run, ends: put its mean activity into its row. */
void engine_spent_close(struct engine *engine, uint32_t slot);

/* Make all changes that are due by `at`. */
void engine_spent_to(struct engine *engine, time_ns at);
/* ---- engine_spent_rows.c: after engine_spent_to, and `carry` of the parts ---- */

/* The integrals until `at`. */
void engine_spent_integrals(const struct engine *engine, time_ns at, gpu_time_ns spent[SPENT_COUNT]);
/* The law that is broken now; NULL: none. */
const char *engine_spent_check(const struct engine *engine);

#endif
