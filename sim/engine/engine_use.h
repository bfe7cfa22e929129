/* sim/engine/engine_use.h -- what leads from GPU time by cause (engine_spent.h) to SM activity (enum use_kind).
 *
 *   waited    at every instant the smaller of the GPUs that are free (cause `idle`) and those that waiting jobs ask for
 *             (sched_waiting_gpu_milli; if another program decides, those of all pending jobs)
 *   host      of what a job holds that works: the part of its time without a kernel, if it is closed
 *             (topologies/gpu_demand.h), and all while its declared activity is 0; not of an open one
 *   network   likewise, the part that communication makes its work longer by, against the best place alone
 *   unknown   likewise, all, if its SM activity is not known
 *   kernel    of GPUs: the part of the time in which a kernel is on the device.  While a job waits for its network, a
 *             kernel of the collective is there.
 *
 * Laws
 *  - They change no decision, no end and no event.  A row more or less changes no integral.
 *  - On a GPU that jobs share, a job is there with the part of its time that it has a kernel while it works at its mean
 *    activity, from its start to its end: what it costs its neighbours goes by that mean, too.  So these parts change
 *    with events alone.  Under MPS and in turns they are those of the law of clients (engine_clients.c); other parts of
 *    a GPU are independent.
 *  - A job that starts, loads or writes without work, and one with no SM busy, has no kernel on its whole GPUs.
 *
 * It does not: know how many SMs are busy (LEVEL_ACTIVE).
 */
#ifndef SIM_ENGINE_ENGINE_USE_H
#define SIM_ENGINE_ENGINE_USE_H

#include "sim/engine/engine_demand.h"
#include "sim/engine/engine_spent.h"

enum { USE_CONSTANT = -1 };

/* Note what follows from its declaration; got: what its groups get, NULL: what they ask for. */
void engine_use_asks(struct engine *engine, struct sim_job *own, const struct job *job, const struct job_truth *truth,
                     const struct job_group *got);
/* Count it as it is from `at` on; engine_use_turn leaves out calls that change nothing.  is_held: it runs; works: and
 * does work, with an SM busy or not; level: its declared activity in milli, or USE_CONSTANT.  What shares count changes
 * only if `at` is now. */
void engine_use_count(struct engine *engine, uint32_t slot, time_ns at, bool is_held, bool works, int level);
static inline void engine_use_turn(struct engine *engine, uint32_t slot, time_ns at, bool is_held, bool works,
                                   int level)
{
    const struct sim_job *job = &engine->jobs[slot];
    if (job->counts_network && job->speed.network >= 1 && engine->spent->of[slot].use.network == 0)
        return;
    engine_use_count(engine, slot, at, is_held, works, level);
}

/* It holds `held` milli more, or less, and works at a constant activity, at the trace's speed and on whole GPUs: no
 * part of that needs to be kept. */
static inline void engine_use_all(struct engine *engine, const struct sim_job *job, int64_t held)
{
    if (job->row.sm_active_milli == SM_ACTIVE_UNKNOWN) {
        engine_level(engine, LEVEL_UNKNOWN, held * 1000000);
        return;
    }
    if (!job->is_open)
        engine_level(engine, LEVEL_HOST, held * job->parts.host);
    engine_level(engine, LEVEL_KERNEL, held * job->parts.kernel);
}

static inline bool engine_use_is_plain(const struct engine *engine, uint32_t slot)
{
    return !engine->jobs[slot].is_shared && (slot >= engine->spent->capacity || !engine->spent->of[slot].is_on);
}

/* A job that neither is paced nor has phases or a declared activity holds `held` milli from now on, or, if negative,
 * until now. */
static inline void engine_use_held(struct engine *engine, uint32_t slot, int64_t held)
{
    struct sim_job *job = &engine->jobs[slot];
    if (held == 0)
        return;
    if (held > 0)
        job->counts_all = engine_use_is_plain(engine, slot);
    if (job->counts_all)
        engine_use_all(engine, job, held);
    else
        engine_use_count(engine, slot, engine->now, held > 0, engine_spent_works_from(engine, slot) <= engine->now,
                         USE_CONSTANT);
}

/* Likewise, and what makes it slow has changed, while it holds the same. */
static inline void engine_use_again(struct engine *engine, uint32_t slot)
{
    struct sim_job *job = &engine->jobs[slot];
    if (job->counts_all && engine_use_is_plain(engine, slot))
        return;
    if (job->counts_all)
        engine_use_all(engine, job, -job->held_milli);
    job->counts_all = false;
    engine_use_count(engine, slot, engine->now, true, engine_spent_works_from(engine, slot) <= engine->now,
                     USE_CONSTANT);
}

/* It throws away `thrown` of its `work`: count the SM activity of that. */
void engine_use_lose(struct engine *engine, struct sim_spending *own, wide_ns active_ns, wide_ns thrown, wide_ns work);

/* A kernel is on a GPU for this part of the time from now on; *there: what the GPU counts. */
void engine_use_kernels(struct engine *engine, int64_t *there, double part);

/* Time is about to move on. */
void engine_use_wait(struct engine *engine, int64_t asked_milli);
static inline void engine_use_pause(struct engine *engine)
{
    const int64_t asked =
        engine->port.sched != NULL ? sched_waiting_gpu_milli(engine->port.sched) : engine->pending_milli;
    if (asked > 0 || engine->levels[LEVEL_WAITED].value > 0)
        engine_use_wait(engine, asked);
}

void engine_use_integrals(const struct engine *engine, time_ns at, int64_t use_us[USE_COUNT]);

#endif
